"""Finished keep/discard logs: what they hold, what survives, and what is not claimed of them."""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous, InputError
from levelbest.readers.attempts import read_attempts
from levelbest.stats.budgets import expected_records, likely_count, true_steps

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "gates"))
import audits


def log(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_records_by_chance_are_those_of_all_orders():
    for n in (1, 2, 4):
        orders = list(itertools.permutations(range(n + 1)))
        records = sum(sum(order[i] > max(order[:i]) for i in range(1, n + 1)) for order in orders)
        assert np.isclose(expected_records(n), records / len(orders))


def test_clear_steps_survive_and_equal_ones_do_not():
    """Steps of 20 standard deviations are true, and what is left of the noise is a hundredth of the gain."""
    rng = np.random.default_rng(0)
    steps = np.array([0, 20, 0, 0, 20, -20, 0, 20, -20, 0])
    kept = np.array([True, True, False, False, True, False, False, True, False, False])
    parents = np.array([-1, 0, 1, 1, 1, 4, 4, 4, 7, 7])
    true = np.zeros(10)
    for i in range(1, 10):
        true[i] = true[parents[i]] + steps[i]
    judged = true_steps(true + 0.5 * rng.standard_normal(10), np.full(10, 0.5), parents, kept, 0.5)
    assert (judged.false < 0.01).all()
    assert abs(judged.total - 60) < 2
    none = rng.standard_normal(40)
    records = np.array([i == 0 or none[i] > none[:i].max() for i in range(40)])
    before = [-1, *(int(np.flatnonzero(records[:i])[-1]) for i in range(1, 40))]
    judged = true_steps(none, np.ones(40), np.array(before), records, 1.0)
    assert (judged.false > 0.3).all()  # none survives at 95 %
    assert judged.total < none.max() - none[0]


def test_false_keeps_are_counted_where_runs_are_repeated():
    """25 logs: about 160 false keeps, whose number has a standard error of 8 %; the long table has it within 14 %."""
    row = audits.cell("10 % at +1 sd, 40 % at -1 sd, 3 runs", 25, 5)
    assert (
        row["within"] >= 0.8
    )  # the true number is in the range in .96 of logs: 20 of 25 or fewer in .2 % of such runs
    assert 0.8 <= row["ratio"] <= 1.2
    assert abs(row["gain"] - row["true_gain"]) < 0.2 * row["true_gain"]


SHAPES = {
    "results.tsv": (
        "commit\tval_bpb\tmemory_gb\tstatus\tdescription",
        "a1b2c3d\t0.997900\t44.0\tkeep\tbaseline",
        "b2c3d4e\t0.993200\t44.2\tkeep\tincrease LR to 0.04",
        "c3d4e5f\t1.005000\t44.0\tdiscard\tswitch to GeLU activation",
        "d4e5f6g\t0.000000\t0.0\tcrash\tdouble model width (OOM)",
    ),
    "log.csv": (
        "name,score,decision",
        "base,0.70,baseline",
        "wide,0.74,best",
        "deep,0.69,reverted",
        "broken,,error",
    ),
    "runs.jsonl": (
        json.dumps({"id": "base", "accuracy": 0.70, "status": "accepted"}),
        json.dumps({"id": "wide", "accuracy": 0.74, "status": "tentative"}),
        json.dumps({"id": "deep", "accuracy": 0.69, "status": "rejected"}),
        json.dumps({"id": "broken", "accuracy": None, "status": "timeout"}),
    ),
    "flags.csv": ("experiment,val_loss,improved", "base,2.50,yes", "wide,2.40,yes", "deep,2.60,no", "broken,,no"),
    "config.jsonl": (
        json.dumps({"type": "config", "name": "tests", "metricName": "total_ms", "bestDirection": "higher"}),
        json.dumps({"run": 1, "commit": "a", "metric": 40, "metrics": {"compile_ms": 4}, "status": "keep"}),
        json.dumps({"run": 2, "commit": "b", "metric": 44, "metrics": {"compile_ms": 5}, "status": "keep"}),
        json.dumps({"run": 3, "commit": "c", "metric": 39, "metrics": {"compile_ms": 4}, "status": "discard"}),
        json.dumps({"run": 4, "commit": "d", "metric": 0, "metrics": {}, "status": "checks_failed"}),
    ),
    "head.tsv": (  # discarded attempts under the commit that the loop went back to
        "commit\tval_bpb\tstatus\tdescription",
        "a\t1.20\tkeep\tbaseline",
        "b\t1.19\tkeep\twider",
        "b\t1.22\tdiscard\tdeeper",
        "b\t0.00\tcrash\tmuch deeper",
    ),
    "notes.tsv": (
        "# autoresearch/mar5",
        "",
        "commit\tval_bpb\tmemory_gb\tstatus\tdescription",
        "a1b2c3d\t0.9979\t44.0\tKEEP\tbaseline",
        "b2c3d4e\t0.9932\t44.2\tKEEP\twider",
        "",
        "c3d4e5f\t1.0050\t44.0\tDISCARD\tdeeper",
        "d4e5f6a\t0.0000\t0.0\tCRASH\tmuch deeper",
    ),
    "percent.csv": ("commit,acc,status", "a,70.0%,keep", "b,74.0%,keep", "c,69.0%,discard", "d,,crash"),
    "digits.csv": ("id,accuracy,decision", "0,0.70,best", "1,0.74,tentative", "2,0.69,reverted", "3,0,crashed"),
    "silent.csv": ("experiment,accuracy", "base,0.70", "wide,0.74", "deep,0.69", "broken,nan"),
    "zero.tsv": ("commit\tloss\tstatus", "a\t2.5\tkeep", "b\t2.4\tkeep", "c\t2.6\tdiscard", "d\t0\tdiscard"),
    "again.tsv": (
        "commit\tval_bpb\tstatus",
        "a\t1.20\tkeep",
        "b\t1.19\tkeep",
        "commit\tval_bpb\tmemory_gb\tstatus",
        "c\t1.21\t40\tdiscard",
        "d\t0.00\t0\tcrash",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_read(tmp_path, name, capsys):
    path = log(tmp_path / name, *SHAPES[name])
    audit = lb.audit(path)
    assert (audit.n_attempts, len(audit.keeps), audit.count("discard"), audit.count("crash")) == (3, 1, 1, 1)
    assert audit.direction == ("min" if "bpb" in audit.metric or "loss" in audit.metric else "max")
    assert audit.inferred == (name == "silent.csv")
    assert audit.on_top == (2 if name == "head.tsv" else 0)
    assert audit.by_noise == pytest.approx(1 / 2 + 1 / 3)  # two attempts have a score
    assert audit.sd is None
    assert audit.claimed > 0
    picture = tmp_path / "picture.png"
    assert main(["audit", str(path), "--out", str(picture)]) == 0
    screen = capsys.readouterr().out
    assert len(screen.splitlines()) <= 24
    assert max(map(len, screen.splitlines())) <= 80 + len(str(tmp_path))
    plain = " ".join(screen.split())
    assert "noise of one run is unknown" in plain
    assert "an assumption, not a finding" in plain
    assert "first and the last version, with 5 fresh seeds" in plain
    assert not any(word in plain.lower() for word in ("sound", "survive at", "verified"))
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert main(["audit", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kept"], document["crashed"], document["sd"], document["false_keeps"]) == (1, 1, None, None)


def test_what_has_not_ended_is_no_crash(tmp_path):
    lines = ("commit\tval_bpb\tstatus", "a\t1.0\tkeep", "b\t\tpending", "c\t0.9\trunning", "d\t\t", "e\t0.8\ttimeout")
    audit = lb.audit(log(tmp_path / "r.tsv", *lines))
    assert [version.decision for version in audit.versions] == ["baseline", "", "", "crash", "crash"]
    assert audit.unknown == ("pending", "running")


def test_the_likely_number_of_false_keeps_is_that_of_all_outcomes():
    chances = np.array([0.9, 0.2, 0.5, 0.05])
    shares = np.zeros(5)
    for happened in itertools.product((0, 1), repeat=4):
        shares[sum(happened)] += np.prod(np.where(happened, chances, 1 - chances))
    low, high = likely_count(chances)
    assert shares[:low].sum() < 0.002 <= shares[: low + 1].sum()
    assert shares[high + 1 :].sum() <= 0.002 < shares[high:].sum()


def test_parts_are_compared_within_themselves(tmp_path):
    """A longer budget makes every score better: that is no improvement of the first attempt with it."""
    lines = ["commit\tval_bpb\tminutes\tstatus"]
    lines += [f"a{i}\t{1.2 - 0.001 * i:.3f}\t5\t{'keep' if i < 2 else 'discard'}" for i in range(4)]
    lines += [f"b{i}\t{1.0 - 0.001 * i:.3f}\t10\t{'keep' if i < 2 else 'discard'}" for i in range(4)]
    audit = lb.audit(log(tmp_path / "r.tsv", *lines))
    assert audit.changes == ("budget",)
    assert [keep.label for keep in audit.keeps] == ["a1", "b1"]
    assert audit.claimed == pytest.approx(0.002)
    assert "the budget changes once" in " ".join(str(audit).split())
    other = lb.audit(
        log(
            tmp_path / "m.tsv",
            "commit\tloss\tstatus",
            "a\t2\tkeep",
            "b\t1\tkeep",
            "commit\tval_bpb\tstatus",
            "c\t9\tkeep",
        )
    )
    assert other.changes == ("metric",)
    assert other.claimed == 1


def test_repeats_without_noise_are_said_to_be_so(tmp_path, capsys):
    lines = ["name,acc,status", *("base,0.7,keep", "base,0.7,keep", "wide,0.8,keep", "wide,0.8,keep")]
    audit = lb.audit(log(tmp_path / "l.csv", *lines))
    assert audit.sd == 0
    assert [keep.false for keep in audit.keeps] == [0.0]
    assert "overfitting the validation set" in str(audit)
    assert main(["audit", str(tmp_path / "l.csv")]) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert "on data that no attempt has seen" in screen
    assert not any(words in screen for words in ("seeds", "no improvement", "from noise alone"))


def test_what_cannot_be_known_is_asked(tmp_path):
    two = log(tmp_path / "two.csv", "name,val_acc,test_acc,status", "a,.7,.6,keep", "b,.8,.7,keep")
    with pytest.raises(Ambiguous, match="which column decided"):
        lb.audit(two)
    assert lb.audit(two, selection="test_acc").metric == "test_acc"
    neutral = log(tmp_path / "n.csv", "name,score,status", "a,.7,keep", "b,.8,keep", "c,.6,keep")
    with pytest.raises(InputError, match="direction"):
        lb.audit(neutral)
    odd = log(tmp_path / "o.csv", "name,acc,status", "a,.7,keep", "b,.8,perhaps", "c,.9,keep")
    assert lb.audit(odd).unknown == ("perhaps",)
    assert [run.decision for run in read_attempts(odd).runs] == ["keep", "", "keep"]
