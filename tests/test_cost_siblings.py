"""[D] figure 2: budgets as cost. Curves over cost work like those over trials, and verdicts are where all are known."""

import numpy as np
import pytest

import levelbest as lb
from levelbest._plain import cost_ticks, show_tick
from levelbest.cli.main import main

FAST = {"n_resamples": 199}


def _trials(costs=(1.0, 30.0), n_trials=40, bounds=(0, 1), direction="max"):
    """Two families whose trials cost 1 and 30 on average."""
    rng = np.random.default_rng(8)
    scores = np.concatenate([rng.beta(4, 4, n_trials), rng.beta(8, 4, n_trials)])
    spent = np.concatenate([mean * rng.uniform(0.5, 1.5, n_trials) for mean in costs])
    names = ["cheap"] * n_trials + ["dear"] * n_trials
    return lb.Trials.from_arrays(scores, direction=direction, family=names, cost=spent, cost_unit="s", bounds=bounds)


def test_the_headline_is_a_budget_at_which_the_families_can_be_compared():
    trials = _trials(costs=(1.0, 3.0))
    compared = lb.compare(trials, axis="cost", **FAST)
    pair = compared.pairs[0]
    # both have spent half: 40 trials of cost 1 are 40, so that 20 is the last budget of the cheaper one
    cheap = np.sum(trials["cheap"].cost) / 2
    assert pair.effect.budget <= cheap * (1 + 1e-9)
    assert np.isfinite([pair.effect.difference, pair.effect.low, pair.effect.high]).all()
    assert all(np.isfinite(own.value) for own in compared.standings)


def test_a_family_that_spent_less_has_its_value_carried_on_as_the_least_it_reaches():
    trials = _trials(costs=(1.0, 3.0))
    compared = lb.compare(trials, axis="cost", budget=[60.0], **FAST)  # the cheap one spent 40 in all
    standing = {own.family: own for own in compared.standings}
    cheap = standing["cheap"]
    spent = float(np.sum(trials["cheap"].cost))
    assert cheap.budget == pytest.approx(spent)
    assert cheap.value == pytest.approx(trials["cheap"].selection.max())  # all its trials: the best of them
    assert cheap.high == np.inf
    assert standing["dear"].budget == 60.0
    assert np.isfinite(standing["dear"].high)
    turned = lb.compare(_trials(costs=(1.0, 3.0), direction="min"), axis="cost", budget=[60.0], **FAST)
    assert next(own for own in turned.standings if own.family == "cheap").low == -np.inf


def test_curves_over_cost_are_drawn_framed_and_written_like_their_siblings():
    trials = _trials()
    alone = lb.curve(trials["cheap"], axis="cost", **FAST)
    several = lb.family_curves(trials, axis="cost", **FAST)
    assert [own.family for own in several] == ["cheap", "dear"]
    for drawn, n_lines in ((alone, 1), (several, 2)):
        ax = drawn.plot()
        assert len(ax.get_lines()) == n_lines
        assert ax.get_xlabel() == "budget (cost)"
        first = drawn if n_lines == 1 else drawn[0]
        np.testing.assert_allclose(ax.get_lines()[0].get_xdata(), first.budget)
        assert len(drawn.to_frame()) == (first.budget.size if n_lines == 1 else sum(c.budget.size for c in drawn))
        assert "cheap" in drawn.to_markdown()
        assert "<svg" in drawn._repr_html_() or "<img" in drawn._repr_html_()
        assert "toprule" in drawn.to_latex()
    assert several.to_dict()["families"][1]["family"] == "dear"
    assert lb.curve(trials, axis="cost", **FAST)[1].family == "dear"
    ax = lb.curve(trials["dear"], axis="cost", **FAST).plot(alone.plot())
    assert [line.get_label() for line in ax.get_lines()] == ["cheap", "dear"]


@pytest.mark.parametrize("direction", ["max", "min"])
def test_no_band_lies_beyond_the_bounds(direction):
    for curve in lb.family_curves(_trials(direction=direction, n_trials=12), axis="cost", simultaneous=True, **FAST):
        known = np.isfinite(curve.value)
        assert (curve.low[known] >= 0).all()
        assert (curve.high[known] <= 1).all()


@pytest.mark.parametrize(
    ("low", "high", "unit", "ticks"),
    [
        (0.5, 100, "s", ["1 s", "5 s", "20 s", "1 min"]),
        (600, 864000, "s", ["10 min", "1 h", "8 h", "2 d", "10 d"]),
        (1 / 60, 3, "h", ["1 min", "5 min", "20 min", "1 h"]),
        (3, 400, "GPU hours", ["5 GPU hours", "20 GPU hours", "100 GPU hours"]),
    ],
)
def test_ticks_are_in_units_that_people_use(low, high, unit, ticks):
    shown = [show_tick(tick, unit) for tick in cost_ticks(low, high, unit, most=5)]
    assert set(ticks) <= set(shown) | {show_tick(tick, unit) for tick in cost_ticks(low, high, unit, most=12)}
    assert len(shown) <= 5
    for tick in cost_ticks(low, high, unit, most=12):
        number = float(show_tick(tick, unit).split()[0])
        assert f"{number:e}"[0] in "12458" or number in (3, 30, 12)


def test_the_command_line_says_what_a_cheaper_family_reaches_at_least(tmp_path, capsys):
    table = tmp_path / "t.csv"
    trials = _trials(costs=(1.0, 3.0))
    rows = zip([trials.families[i] for i in trials.family], trials.selection, trials.cost, strict=True)
    table.write_text("model,acc,seconds\n" + "\n".join(f"{f},{s},{c}" for f, s, c in rows))
    options = ["--axis", "cost", "--bounds", "0", "1", "--resamples", "199", "--search", "none"]
    assert main(["compare", str(table), *options, "--budget", "60", "--out", str(tmp_path / "x.svg")]) == 0
    said = capsys.readouterr().out
    assert "within 1.00 min" in said
    assert "∞" in said or "inf" in said
