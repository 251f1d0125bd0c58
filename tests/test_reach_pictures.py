"""[D] figures 1, 3 and 4 as pictures: the budget that reaches a score is marked, spread stays within what was seen."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.report.describe import describe
from levelbest.report.figures.panels import draw_lines, line_reach, panel_of_curves
from levelbest.report.figures.report import descriptions_figure

SCORES = [0.10, 0.35, 0.36, 0.38, 0.40, 0.41, 0.42, 0.50]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    rows = [f"{score},{score - 0.02:.3f},{60 * i + 60}" for i, score in enumerate(SCORES)]
    path.write_text("val_acc,test_acc,seconds\n" + "\n".join(rows) + "\n")
    return path


def _smallest_n(scores, target):
    """By enumeration: the smallest n at which the mean of the best over all subsets of n trials reaches the target."""
    from itertools import combinations

    for n in range(1, len(scores) + 1):
        if np.mean([max(subset) for subset in combinations(scores, n)]) >= target:
            return n
    return None


@pytest.mark.parametrize("target", [0.39, 0.42, 0.45])
def test_the_crossing_is_marked_where_enumeration_has_it(target):
    curve = lb.curve(SCORES, direction="max", n_resamples=199)
    panel = panel_of_curves([curve], published={"Smith 2019": target})
    assert line_reach(panel.lines[0], target, "max").budget == _smallest_n(SCORES, target)
    ax = draw_lines(panel)
    (mark,) = [line for line in ax.get_lines() if line.get_label() == "_crossing"]
    assert mark.get_xdata()[0] == _smallest_n(SCORES, target)
    assert mark.get_ydata()[0] == target
    assert f"{_smallest_n(SCORES, target)}" in [text.get_text() for text in ax.texts]


def test_a_score_that_no_budget_reaches_has_no_mark_and_a_family_only_its_own():
    both = [lb.curve(SCORES, direction="max", family=name, n_resamples=199) for name in ("a", "b")]
    ax = draw_lines(panel_of_curves(both, published={"too high": 0.9, "a": 0.42}))
    assert len([line for line in ax.get_lines() if line.get_label() == "_crossing"]) == 1


@pytest.mark.parametrize("axis", ["trials", "cost"])
def test_reach_draws_and_its_numbers_stay(table, tmp_path, capsys, axis):
    options = [str(table), "--target", "Smith=0.38", "--axis", axis, "--resamples", "199", "--search", "none"]
    assert main(["reach", *options, "--json"]) == 0
    before = capsys.readouterr().out
    assert main(["reach", *options, "--json", "--out", str(tmp_path / "reach.svg")]) == 0
    assert capsys.readouterr().out == before
    assert "curves" not in json.loads(before)
    text = (tmp_path / "reach.svg").read_text()
    assert "Smith" in text
    assert main(["reach", *options, "--out", str(tmp_path / "reach.png")]) == 0
    assert "figure: " in capsys.readouterr().out


def test_spread_is_clipped_at_the_best_and_worst_scores_observed(table, tmp_path):
    curve = lb.curve(SCORES, direction="max", n_resamples=199)
    line = panel_of_curves([curve], spread=True).lines[0]
    wide = curve.value + curve.spread
    assert (wide > max(SCORES)).any()  # unclipped it would pass the best score
    np.testing.assert_allclose(line.high, np.minimum(wide, max(SCORES)))
    np.testing.assert_allclose(line.low, np.maximum(curve.value - curve.spread, min(SCORES)))
    # at n = 1 the spread is the standard deviation of the scores, and the curve's end is not where it is cut
    assert line.high[0] == pytest.approx(min(np.mean(SCORES) + np.std(SCORES), max(SCORES)))
    assert main(["curve", str(table), "--shade", "spread", "--out", str(tmp_path / "s.svg"), "--search", "none"]) == 0


def test_describe_shows_the_test_score_as_well(table):
    (description,) = describe(lb.read_trials(table, search="none"))
    figure = descriptions_figure([description])
    left = figure.axes[0]
    assert left.get_xlabel() == "test_acc"
    assert left.get_legend().get_texts()[0].get_text() == "val_acc"
    filled = left.patches[0].get_data()
    assert filled.values.sum() == len(SCORES)
    assert filled.edges[0] == pytest.approx(min(SCORES) - 0.02)


@pytest.mark.parametrize(
    ("n", "why"), [(2.5, "a part of a trial has no score"), (float("inf"), "no number of trials shows")]
)
def test_a_fraction_of_a_trial_and_the_perfectly_tuned_score_are_refused_with_the_reason(n, why, table, capsys):
    with pytest.raises(InputError, match=why):
        lb.curve(SCORES, direction="max", n=n)
    assert main(["curve", str(table), "--n", str(n)]) == 2
    assert why in " ".join(capsys.readouterr().err.split())
