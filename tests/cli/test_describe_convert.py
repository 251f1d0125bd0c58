"""``levelbest describe`` and ``levelbest convert``: documents, sentences, exit codes."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main

KEYS = [
    "family", "n_trials", "n_failed", "mean", "sd", "median", "iqr", "min", "max", "spearman", "reported_mean",
    "reported_sd",
]  # fmt: skip


@pytest.fixture
def runs(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "runs.csv"
    rows = [f"cnn,{x:.4f},{x + e:.4f},{c:.1f},{x:.2f}" for x, e, c in rng.uniform(size=(30, 3))]
    path.write_text("\n".join(["model,val_acc,test_acc,seconds,lr", *rows, "cnn,nan,,3,0.5", "lr,.5,.4,1,.1"]) + "\n")
    return path


def test_describe_json_has_the_documented_keys_and_right_numbers(runs, capsys):
    assert main(["describe", str(runs), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    cnn, lr = document["families"]
    assert list(cnn)[: len(KEYS)] == KEYS
    trials = lb.read_trials(runs)["cnn"]
    scores = trials.selection[np.isfinite(trials.selection)]
    low, high = np.quantile(scores, [0.25, 0.75])
    assert (cnn["n_trials"], cnn["n_failed"]) == (31, 1)
    assert cnn["mean"] == pytest.approx(scores.mean())
    assert cnn["sd"] == pytest.approx(scores.std(ddof=1))
    assert cnn["iqr"] == pytest.approx(high - low)
    assert sum(cnn["histogram"]["counts"]) == 30
    assert cnn["cost"]["unit"] == "s"
    assert (lr["sd"], lr["spearman"], lr["iqr_error"]) == (None, None, None)
    assert document["skipped"] == []
    assert {warning["code"] for warning in document["warnings"]} >= {"guessed-columns", "failures"}
    assert all(set(warning) == {"code", "family", "value", "message"} for warning in document["warnings"])


def test_describe_text_and_figure(runs, tmp_path, capsys):
    figure = tmp_path / "d.svg"
    assert main(["describe", str(runs), "--out", str(figure)]) == 0
    out = capsys.readouterr().out
    assert "31 trials, 1 failed" in out
    assert "Spearman" in out
    assert "█" in out
    assert "doubt  cnn: 1 of 31 trials have no score (1 diverged)" in out
    first = figure.read_bytes()
    assert main(["describe", str(runs), "--out", str(figure)]) == 0
    assert figure.read_bytes() == first


def test_the_seed_decides_the_bootstrap_error(runs, capsys):
    outputs = []
    for seed in ("0", "0", "1"):
        assert main(["describe", str(runs), "--json", "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_convert_and_back(runs, tmp_path, kind, capsys):
    out = tmp_path / f"tidy.{kind}"
    assert main(["convert", str(runs), "--out", str(out)]) == 0
    assert "written to" in capsys.readouterr().out
    assert main(["describe", str(runs), "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert main(["describe", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["families"] == before["families"]


def test_convert_prints_csv_and_json(runs, capsys):
    assert main(["convert", str(runs), "--hide", "lr"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert (
        lines[0] == "family,selection,reported,cost,status,direction,selection_name,reported_name,cost_name,cost_unit"
    )
    assert len(lines) == 33
    assert "by name:" in printed.err
    assert main(["convert", str(runs), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["trials"]) == 32
    assert document["trials"][30]["selection"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["describe", "nothing-here.csv"], 2, "there is no file or folder 'nothing-here.csv'"),
        (["describe", "RUNS", "--selection", "val_ac"], 2, "did you mean 'val_acc'"),
        (["describe", "RUNS", "--where", "seconds > 1e9"], 1, "leaves none of 32 rows"),
        (["describe", "RUNS", "--bounds", "0", "0.1"], 2, "must lie within the bounds"),
        (["convert", "RUNS", "--to", "parquet"], 2, "--out"),
        (["convert", "RUNS", "--out", "a.docx"], 2, "unknown table format"),
    ],
)
def test_mistakes_are_one_sentence(runs, capsys, arguments, code, sentence):
    assert main([str(runs) if one == "RUNS" else one for one in arguments]) == code
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_many_families_share_a_table(tmp_path, capsys):
    rows = [f"m{family},{score / 40},{score / 50}" for family in range(4) for score in range(20)]
    (tmp_path / "runs.csv").write_text("\n".join(["model,val_acc,test_acc", *rows]) + "\n")
    assert main(["describe", str(tmp_path / "runs.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 20
    assert all(len(line) <= 80 for line in lines)
    (row,) = [line.split() for line in lines if line.startswith("m2 ")]
    assert row[1:3] == ["20", "0"]
    assert float(row[3]) == pytest.approx(sum(range(20)) / 20 / 40, abs=0.005)
    assert sum("ρ 1.00" in line for line in lines) == 4


def test_describe_says_what_was_read_as_what(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    rows = [f"{lr},{seed},{0.5 + lr / 10 + seed / 100},{seed}:30" for lr in (1, 2, 3, 4) for seed in range(5)]
    path.write_text("\n".join(["lr,seed,val_acc,runtime", *rows, "9,9,oops,1:00"]) + "\n")
    assert main(["describe", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["columns"] == {"selection": "val_acc", "cost": "runtime", "seed": "seed"}
    assert (document["metric"]["direction"], document["metric"]["cost_unit"]) == ("max", "s")
    assert document["settings"] == ["lr"]
    assert document["designs"] == [{"family": "runs", "kind": "seeds", "units": 4, "n_trials": 20}]
    assert document["skipped"][0]["where"] == "runs.csv, line 22"
    assert main(["describe", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "read   selection = 'val_acc', cost = 'runtime', seed = 'seed', higher" in printed
    assert "design 20 trials, 4 configurations with several seeds" in printed
    assert len(printed.splitlines()) <= 30
