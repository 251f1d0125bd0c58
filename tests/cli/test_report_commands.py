"""report, demo, checklist, curve and simulate from the command line: output, exit codes, one line for a mistake."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(2)
    rows = ["model,dev_acc,test_acc,gpu_hours,lr"]
    for name, a in (("cnn", 8), ("lr", 6)):
        for _ in range(20):
            dev, test = rng.beta(a, 2, 2)
            rows.append(f"{name},{dev:.4f},{test:.4f},{rng.uniform(1, 2):.3f},{rng.random():.3f}")
    path = tmp_path / "results.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_report(table, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["report", str(table), "--bounds", "0", "1", "--out", str(out), "--resamples", "199", "--details"]) == 0
    text = capsys.readouterr()
    assert "test_acc of the best of 3 trials, which dev_acc chooses (mean)" in text.out
    assert f"page   {out}" in text.out.replace("\n", "")
    assert text.out.count("by name:") == 1
    assert text.err == ""  # nothing is said twice
    assert "always lies between" not in text.out  # they are given
    assert "<h1>" in out.read_text()
    assert main(["report", str(table), "--out", str(out)]) == 2
    assert "exists and is kept" in capsys.readouterr().err


def test_bounds_are_hinted_at_and_never_guessed(table, capsys):
    assert main(["compare", str(table), "--resamples", "199", "--details"]) == 0
    assert "If test_acc always lies between 0 and 1, say so" in " ".join(capsys.readouterr().out.split())
    table.write_text(table.read_text().replace("0.", "80."))  # in percent
    assert main(["compare", str(table), "--resamples", "199", "--details"]) == 0
    assert "If test_acc always lies between 0 and 100, say so" in " ".join(capsys.readouterr().out.split())
    table.write_text(table.read_text().replace("80.", "180."))
    assert main(["compare", str(table), "--resamples", "199", "--details"]) == 0
    assert "always lies between" not in capsys.readouterr().out


def test_bounds_are_not_hinted_at_where_a_score_lies_beyond_them(tmp_path, capsys):
    losses = tmp_path / "losses.csv"  # the best of 5 lies between 0 and 1, the worst losses of each model do not
    rows = [f"{name},{loss / 10}" for name in "ab" for loss in range(1, 21)]
    losses.write_text("\n".join(["model,val_loss", *rows]) + "\n")
    assert main(["compare", str(losses), "--direction", "min", "--resamples", "199"]) == 0
    assert "always lies between" not in capsys.readouterr().out


def test_report_json_is_one_document(table, tmp_path, capsys):
    arguments = ["report", str(table), "--out", str(tmp_path / "p.html"), "--resamples", "199", "--json"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["page"].endswith("p.html")
    assert {"verdict", "families", "warnings"} <= set(document)


def test_checklist(table, tmp_path, capsys):
    answers = tmp_path / "answers.yaml"
    answers.write_text("infrastructure: one laptop\n")
    assert main(["checklist", str(table), "--answers", str(answers)]) == 0
    text = capsys.readouterr().out
    assert "- [x] **What computing infrastructure was used?**" in text
    assert "one laptop" in text
    assert "- [ ] **Where is the code?**" in text
    assert main(["checklist", str(table), "--format", "html", "--out", str(tmp_path / "c.html")]) == 0
    assert (tmp_path / "c.html").read_text().startswith("<dl>")


def test_curve_json_has_the_pinned_form(table, capsys):
    assert main(["curve", str(table), "--n", "1,5,20", "--bounds", "0", "1", "--resamples", "199", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["family"] for one in document["families"]] == ["cnn", "lr"]
    one = document["families"][0]
    assert (one["n_trials"], one["n_failed"], one["statistic"], one["estimator"]) == (20, 0, "mean", "u")
    assert set(one["interval"]) >= {"method", "confidence", "simultaneous"}
    assert [point["n"] for point in one["points"]] == [1, 5, 20]
    assert set(one["points"][0]) == {"n", "value", "low", "high", "spread", "cost"}
    for warning in document["warnings"]:
        assert set(warning) == {"code", "family", "value", "message"}


def test_curve_table_figure_and_both_policies(table, tmp_path, capsys):
    table.write_text(table.read_text() + "cnn,nan,nan,1.0,0.5\n")
    figure = tmp_path / "c.svg"
    arguments = ["curve", str(table), "--failed", "both", "--n", "1-3", "--out", str(figure), "--resamples", "199"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    lines = [line.strip() for line in text.splitlines()]
    counts = [line.split("  ")[0] for line in lines if line.startswith(("21 trials", "20 trials", "1 failed"))]
    assert counts[:2] == ["21 trials", "1 failed (worst)"]  # under the family's name
    assert "1 failed (dropped)" in counts
    assert figure.read_text().startswith("<?xml")


def test_simulate(capsys):
    arguments = ["simulate", "--law", "uniform", "--trials", "12", "--n", "1,6", "--samples", "60", "--resamples", "99"]
    assert main([*arguments, "--interval", "percentile,default", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["law"] == "uniform"
    wanted = {
        "n",
        "truth",
        "mean_estimate",
        "bias",
        "below_truth",
        "coverage",
        "coverage_low",
        "coverage_high",
        "mean_width",
    }
    assert wanted <= set(document["points"][0])
    assert document["points"][0]["truth"] == pytest.approx(0.5)
    assert main(arguments) == 0
    assert "95 % interval: default" in capsys.readouterr().out
    assert main(["simulate", "--law", "norm", "--against", "norm(0.5)", "--trials", "10", "--samples", "50"]) == 0
    assert "wrong winner" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["curve", "none.csv"], 2, "none.csv"),
        (["curve", "FILE", "--selection", "dev_ac"], 2, "dev_acc"),
        (["curve", "FILE", "--confidence", "95"], 2, "did you mean 0.95"),
        (["curve", "FILE", "--n", "0"], 2, "at least 1 trial"),
        (["curve", "FILE", "--n", "99"], 2, "at most the number of trials"),
        (["curve", "FILE", "--statistic", "mode"], 2, "neither mean, median"),
        (["curve", "FILE", "--interval", "percentil"], 2, "percentile"),
        (["curve", "FILE", "--bounds", "0", "0.5"], 2, "within the bounds"),
        (["curve", "FILE", "--seed", "-1"], 2, "--seed"),
        (["curve", "FILE", "--task", "tasks"], 2, "no column 'tasks' for --task"),
        (["compare", "FILE", "--task", "tasks"], 2, "no column 'tasks' for --task"),
        (["report", "FILE", "--task", "tasks"], 2, "no column 'tasks' for --task"),
        (["report", "FILE", "--published", "0.9"], 2, "NAME=SCORE"),
        (["simulate"], 2, "name one distribution"),
        (["simulate", "--law", "nrom"], 2, "did you mean 'norm'"),
        (["comapre"], 2, "there is no command 'comapre'; did you mean 'compare'?"),
    ],
)
def test_a_mistake_is_one_sentence(table, tmp_path, capsys, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    assert main([str(table) if one == "FILE" else one for one in arguments]) == code
    text = capsys.readouterr().err
    assert message in text
    assert "Traceback" not in text


def test_all_failed_is_exit_code_1(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("model,val_acc\n" + "a,nan\n" * 4)
    assert main(["curve", str(path)]) == 1
    assert "has a score" in capsys.readouterr().err


def test_demo_runs_a_small_study_and_reports_it(tmp_path, capsys):
    assert main(["demo", "--run", "--out", str(tmp_path), "--seed", "1"]) == 0
    told = capsys.readouterr()
    assert "plain: 40 of 40 trials" in told.out
    assert "(finished)" in told.out
    assert f"levelbest serve {tmp_path / 'live' / 'study.db'}" in told.out
    page = (tmp_path / "live" / "report.html").read_text()
    assert "Three descent rules" in page
    assert all(f'<th scope="row">{name}<' in page for name in ("plain", "momentum", "sign"))
    before = (tmp_path / "live" / "study.db").read_bytes()
    assert main(["demo", "--run", "--out", str(tmp_path)]) == 2
    assert "already exists and is kept" in capsys.readouterr().err
    assert (tmp_path / "live" / "study.db").read_bytes() == before
