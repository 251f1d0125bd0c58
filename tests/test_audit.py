"""Finished keep/discard logs: what they hold, what survives, and what is not claimed of them."""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous, DataError, InputError
from levelbest.readers.attempt_words import decision
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
    assert (other.metric, other.kind, other.left_out, other.claimed) == ("loss", ("", "loss"), 1, 1)
    assert lb.audit(tmp_path / "m.tsv", selection="val_bpb").metric == "val_bpb"


def test_labels_that_name_nothing_are_no_versions(tmp_path):
    """``n/a`` and ``HEAD`` stand under every row of real logs: the rows are not runs of one version."""
    for word in ("n/a", "HEAD", "unknown"):
        lines = ["commit\tval_loss\tstatus\tdescription", f"{word}\t2.0\tkeep\tbaseline"]
        lines += [f"{word}\t{2 - 0.1 * i:.2f}\tkeep\tidea {i}" for i in range(1, 4)]
        audit = lb.audit(log(tmp_path / "r.tsv", *lines, f"{word}\t2.2\tdiscard\twider"))
        assert (audit.n_attempts, len(audit.keeps), audit.sd) == (4, 3, None)
        assert [keep.label for keep in audit.keeps] == ["idea 1", "idea 2", "idea 3"]


def test_several_ideas_under_one_commit_are_attempts(tmp_path):
    lines = ["commit\tval_loss\tstatus\tdescription", "a\t2.0\tkeep\tbaseline", "a\t2.1\tkeep\tbaseline seed 2"]
    lines += ["b\t1.9\tkeep\twider", "b\t1.95\tkeep\twider, verified", "b\t1.8\tkeep\tdeeper"]
    audit = lb.audit(log(tmp_path / "r.tsv", *lines))
    assert [(version.label, version.n_runs) for version in audit.versions] == [("a", 2), ("b", 2), ("line 6", 1)]
    assert (audit.on_top, audit.df) == (1, 2)
    assert audit.sd == pytest.approx(np.sqrt((0.1**2 / 2 + 0.05**2 / 2) / 2))


def test_scores_that_stand_for_a_crash(tmp_path):
    lines = ["commit\tscore\tstatus", "a\t-999\tBASELINE", "b\t1.0\tKEEP", "c\t1.1\tKEEP", "d\t-999.0\tREVERT"]
    audit = lb.audit(log(tmp_path / "r.tsv", *lines))
    assert [version.decision for version in audit.versions] == ["crash", "baseline", "keep", "crash"]
    assert audit.claimed == pytest.approx(0.1)
    far = log(tmp_path / "f.tsv", "commit\tloss\tstatus", "a\t1200\tkeep", "b\t999\tkeep", "c\t1100\tdiscard")
    assert len(lb.audit(far).keeps) == 1  # among other scores, 999 is one


def test_a_score_of_0_among_scores_of_both_signs_is_a_score(tmp_path):
    lines = ["commit\tval_sharpe\tstatus", "a\t-0.2\tkeep", "b\t0.1\tkeep", "c\t0.0\tdiscard", "d\t0.2\tkeep"]
    audit = lb.audit(log(tmp_path / "r.tsv", *lines))
    assert (audit.count("discard"), audit.count("crash")) == (1, 0)
    with pytest.raises(DataError, match="none of its 2 runs has a score"):
        lb.audit(log(tmp_path / "c.tsv", "commit\tval_loss\tstatus", "a\t0\tcrash", "b\t0\tcrash"))


def test_the_best_so_far_is_no_score_of_an_attempt(tmp_path):
    lines = [
        "commit\tbest_val_loss\tval_loss\tstatus",
        "a\t2.0\t2.0\tkeep",
        "b\t2.0\t2.1\tdiscard",
        "c\t1.9\t1.9\tkeep",
    ]
    assert lb.audit(log(tmp_path / "r.tsv", *lines)).metric == "val_loss"


def test_rows_of_another_kind_are_left_out_and_said(tmp_path):
    """A second, larger evaluation of each kept version is no further run of it."""
    lines = ["commit\tsplit\tval_loss\tstatus"]
    for i in range(6):
        lines.append(f"c{i}\tproxy\t{2 - 0.1 * i:.2f}\tkeep")
        lines += [f"c{i}\tconfirm\t{1.5 - 0.1 * i:.2f}\tkeep"] * (i % 2)
    audit = lb.audit(log(tmp_path / "r.tsv", *lines))
    assert (audit.n_attempts, audit.sd, audit.left_out, audit.kind) == (5, None, 3, ("split", "proxy"))
    assert "Only the rows with split proxy are judged; 3 rows of another kind are left out" in str(audit)


def test_a_budget_is_what_was_set_and_not_what_was_measured(tmp_path):
    head = "commit\tval_loss\tminutes\tstatus"
    measured = [f"a{i}\t{2 - 0.1 * i:.1f}\t{5 + 0.01 * i:.2f}\tkeep" for i in range(6)]
    assert lb.audit(log(tmp_path / "m.tsv", head, *measured)).changes == ()
    later = ["commit\tval_loss\tstatus", "a\t2.0\tkeep", "b\t1.9\tkeep", head, "c\t1.5\t10\tkeep", "d\t1.4\t10\tkeep"]
    audit = lb.audit(log(tmp_path / "l.tsv", *later))
    assert (audit.changes, len(audit.keeps)) == (("budget",), 2)
    assert audit.claimed == pytest.approx(0.2)


def test_a_new_baseline_begins_a_part(tmp_path):
    rows = ["a\t2.0\tbaseline", "b\t1.9\tkeep", "c\t3.0\tbaseline", "d\t2.9\tkeep", "e\t3.1\tdiscard"]
    audit = lb.audit(log(tmp_path / "r.tsv", "commit\tval_loss\tstatus", *rows))
    assert (audit.changes, [keep.label for keep in audit.keeps]) == (("baseline",), ["b", "d"])
    assert audit.claimed == pytest.approx(0.2)


def test_a_run_that_ended_was_not_kept_for_that(tmp_path):
    rows = ["a\t2.0\tok", "b\t2.1\tok", "c\t1.9\tok", "d\t\tfailed"]
    audit = lb.audit(log(tmp_path / "o.tsv", "commit\tval_loss\tstatus", *rows))
    assert audit.inferred
    assert [version.decision for version in audit.versions] == ["baseline", "discard", "keep", "crash"]
    mixed = ["a\t2.0\tPASS", "b\t2.1\tREVERT", "c\t1.9\tPASS", "d\t0\tFAIL"]
    audit = lb.audit(log(tmp_path / "p.tsv", "commit\tval_loss\tcorrectness", *mixed))
    assert not audit.inferred
    assert [version.decision for version in audit.versions] == ["baseline", "discard", "keep", "crash"]


@pytest.mark.parametrize(
    ("word", "decided"),
    [
        ("screen_discard", "discard"),
        ("not kept", "discard"),
        ("not better", "discard"),
        ("promising, but dropped", "discard"),
        ("keep (simpler)", "keep"),
        ("NEW BEST!", "keep"),
        ("CUDA error", "crash"),
        ("iterate", ""),
    ],
)
def test_words_of_a_status(word, decided):
    assert decision(word) == decided


def test_a_diverged_attempt_changes_nothing_of_the_others(tmp_path):
    """A discarded attempt 10,000 standard deviations away says nothing of the keeps."""
    rng = np.random.default_rng(4)
    rows, level = [f"base\t{1.2 + 0.003 * x:.5f}\tkeep" for x in rng.standard_normal(6)], 1.2
    for i in range(20):
        level -= 0.02 * (i % 4 == 0)
        score = level + 0.02 * (i % 4 != 0) + 0.003 * rng.standard_normal()
        rows.append(f"v{i}\t{score:.5f}\t{'discard' if i % 4 else 'keep'}")
    head = "commit\tval_loss\tstatus"
    plain = lb.audit(log(tmp_path / "a.tsv", head, *rows))
    with_one = lb.audit(log(tmp_path / "b.tsv", head, *rows, "lost\t57.3\tdiscard"))
    assert len(plain.survivors) == len(with_one.survivors) == 5  # all keeps, of seven standard deviations each
    for keep in (*plain.keeps, *with_one.keeps):
        assert abs(keep.gain - 0.02) < 0.006  # two standard deviations of a run


def test_few_runs_leave_the_noise_uncertain(tmp_path):
    """A keep two standard deviations ahead is less sure where these are known from two runs than from thirty."""
    false = {}
    for runs in (2, 30):
        spread = 0.01 * np.array([-1, 1] * (runs // 2)) * np.sqrt((runs - 1) / runs)  # both estimate an sd of .01
        rows = [f"base\t{1 + x:.8f}\tkeep" for x in spread]
        rows += [f"v{i}\t{1.01:.8f}\tdiscard" for i in range(10)]
        audit = lb.audit(log(tmp_path / "r.tsv", "commit\tval_loss\tstatus", *rows, "w\t0.95\tkeep"))
        assert audit.sd == pytest.approx(0.01)
        false[runs] = audit.keeps[0].false
    assert false[2] > 2 * false[30]


def test_lines_that_are_no_rows_are_said(tmp_path):
    rows = ["a\t2.0\tkeep\tbaseline", "b\t1.9\tkeep\twider\tand\tdeeper", "c\t1.8\tkeep\tlonger"]
    audit = lb.audit(log(tmp_path / "r.tsv", "commit\tval_loss\tstatus\tdescription", *rows))
    assert "1 line could not be read (r.tsv, line 3)" in str(audit)
    bare = log(tmp_path / "b.tsv", *(f"HEAD\tmodel\t397.0\t{x}\tkeep" for x in (3.3, 5.3, 2.8)))
    with pytest.raises(DataError, match="no header"):
        lb.audit(bare)


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
