"""[T] figure 2 from files, meanmax's tables of power, and the lesson, against numbers that are known otherwise."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.report.lesson import write_lesson
from levelbest.simulation.distributions import named_distribution
from levelbest.simulation.power import verdict_power


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(4)
    rows = [("mlp", score, 1) for score in rng.normal(0.78, 0.01, 60)]
    rows += [("lstm", score, 1) for score in rng.normal(0.70, 0.05, 60)] + [("lstm", 0.1, 0)] * 9
    path = tmp_path / "runs.csv"
    path.write_text("model,val_f1,kept\n" + "\n".join(f"{m},{s:.5f},{k}" for m, s, k in rows) + "\n")
    return path


def _points(capsys, *arguments):
    assert main(["simulate", *map(str, arguments), "--samples", "100", "--n", "1,5", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_second_kernel_density_comes_from_a_family_or_a_file(table, tmp_path, capsys):
    options = ["--kde", table, "--family", "model", "--where", "kept = 1", "--bounds", "0", "1"]
    first = _points(capsys, *options, "--of", "mlp", "--against", "lstm")
    assert first["law"] == "kernel density of mlp"
    assert first["against"] == "kernel density of lstm"
    assert first["points"][0]["true_difference"] == pytest.approx(0.08, abs=0.01)  # .78 against .70
    other = tmp_path / "lstm.csv"
    lines = table.read_text().splitlines()
    other.write_text("\n".join([lines[0], *(line for line in lines if line.startswith("lstm"))]) + "\n")
    second = _points(capsys, *options, "--of", "mlp", "--against", other)  # one family: it needs no name
    assert second["points"] == first["points"]


def test_a_family_may_still_be_named_by_its_name(table, capsys):
    assert _points(capsys, "--kde", table, "--family", "lstm", "--where", "kept = 1")["law"] == "kernel density of lstm"


def test_a_figure_of_two_shows_where_the_mean_estimates_name_the_wrong_winner(tmp_path, capsys):
    # [T] figure 2: V is too low where scores spread, so that the better of two looks worse. The best of n uniform
    # scores has the mean n / (n + 1), the j-th of m the mean j / (m + 1); V weighs it by (j / m)^n - ((j - 1) / m)^n.
    picture = tmp_path / "f.svg"
    options = ["--law", "uniform(0,1)", "--against", "uniform(0.85,0.04)", "--estimator", "v", "--trials", "10"]
    assert main(["simulate", *options, "--samples", "2000", "--out", str(picture), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["points"]
    assert [row["n"] for row in rows] == list(range(1, 11))  # a figure shows the whole curve
    ranks = np.arange(1, 11)
    for row in rows:
        n = row["n"]
        v = ((ranks / 10) ** n - ((ranks - 1) / 10) ** n) @ (ranks / 11)
        assert row["truth"] == pytest.approx(n / (n + 1))
        assert row["against_truth"] == pytest.approx(0.85 + 0.04 * n / (n + 1))
        assert row["mean_estimate"] == pytest.approx(v, abs=5 * 0.3 / np.sqrt(2000))  # false alarm 6e-7 each
        assert row["against_mean_estimate"] == pytest.approx(0.85 + 0.04 * v, abs=0.0015)
    wrong = [r["n"] for r in rows if (r["mean_estimate"] - r["against_mean_estimate"]) * r["true_difference"] < 0]
    assert wrong == [8, 9, 10]  # truly .889 to .909 against .886; V says .840 to .861 against .884
    assert main(["simulate", *options, "--power", "--out", str(picture)]) == 2


def test_power_and_false_alarms_are_what_exchange_allows():
    # 3 sd apart, 12 trials each: always told apart; equal: at most 5 %, and with 60 samples at most 9 (p < .002)
    rows = verdict_power(named_distribution("norm(3,1)"), named_distribution("norm(0,1)"), 12, [1], n_samples=60)
    assert rows[0]["true_difference"] == pytest.approx(3.0, abs=1e-6)
    assert rows[0]["power"] == 1.0
    assert rows[0]["wrong"] == 0.0
    assert rows[0]["type1"] <= 9 / 60


def test_power_is_printed(capsys):
    options = ["--law", "norm(3,1)", "--against", "norm(0,1)", "--power", "--trials", "10", "--samples", "20"]
    assert main(["simulate", *options, "--n", "1"]) == 0
    said = capsys.readouterr().out
    assert "power: the better one is named" in " ".join(said.split())
    assert "1.000" in said


def test_the_estimators_are_explained(capsys):
    assert main(["simulate", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in ("unbiased mean over all subsets", "with replacement", "the best of the first n trials"):
        assert words in said


def test_the_lesson_has_three_figures_and_the_numbers_of_the_papers(tmp_path):
    page = write_lesson(tmp_path / "lesson", n_samples=100)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert sorted(path.name for path in page.parent.iterdir()) == [
        "bias.svg",
        "coverage.svg",
        "lesson.html",
        "rises.svg",
    ]
    assert "1.163" in text  # [B] 3.1.1: the expected best of 5 and of 10 standard normal scores
    assert "1.539" in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")
