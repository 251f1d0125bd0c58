"""Curves carry numbers that are right, and say where they come from."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from levelbest._check import budget_grid
from levelbest.designs.curve import curve, family_curves
from levelbest.errors import DataError, InputError
from levelbest.stats import expected_best
from levelbest.trials import Trials

NAN = float("nan")
SELECTION = [3, 1, 4, 1, 5, 9, 2, 6]
REPORTED = [2, 7, 1, 8, 2, 8, 1, 8]


def _by_enumeration(selection, reported, n):
    """The mean, over all subsets of n trials, of the reported score of the best; ties for best are averaged."""
    total = Fraction(0)
    subsets = list(combinations(range(len(selection)), n))
    for subset in subsets:
        top = max(selection[i] for i in subset)
        winners = [reported[i] for i in subset if selection[i] == top]
        total += Fraction(sum(winners), len(winners))
    return float(total / len(subsets))


@pytest.mark.parametrize("reported", [None, REPORTED])
def test_the_mean_curve_is_the_mean_over_all_subsets(reported):
    found = curve(Trials.from_arrays(SELECTION, reported=reported, direction="max"), n_resamples=199)
    truth = [_by_enumeration(SELECTION, reported or SELECTION, n) for n in range(1, 9)]
    np.testing.assert_allclose(found.value, truth, rtol=1e-13)


def test_an_error_of_zero_has_no_sign():
    trials = Trials.from_arrays([0.2, 0, 0, 0, 0.1, 0, 0.3, 0, 0, 0.1], direction="min", bounds=(0, 1))
    drawn = curve(trials, n=[1, 5, 8], n_resamples=199)
    assert (drawn.value[-1], drawn.low[-1]) == (0, 0)
    assert not np.signbit([drawn.value, drawn.low, drawn.high]).any()


def test_failures_are_counted_in_the_curve_and_said():
    trials = Trials.from_arrays([0.5, NAN, 0.7, 0.9], direction="max", bounds=(0, 1), family="cnn")
    found = curve(trials, n=[1, 2], n_resamples=199)
    np.testing.assert_allclose(found.value, [(0.5 + 0 + 0.7 + 0.9) / 4, (3 * 0.9 + 2 * 0.7 + 0.5) / 6], rtol=1e-13)
    assert (found.n_trials, found.n_failed) == (4, 1)
    codes = {caution.code: caution for caution in found.cautions}
    assert codes["failures"].value == 1
    assert "1 of 4 trials failed" in str(codes["failures"])
    assert "no-reported" in codes


def test_dropping_failures_is_named():
    trials = Trials.from_arrays([0.5, NAN, 0.7, 0.9], direction="max", bounds=(0, 1))
    found = curve(trials, n=[1], failed="drop", n_resamples=199)
    assert found.value[0] == pytest.approx(0.7)
    assert any("1 of 4 trials failed and is dropped" in c.sentence for c in found.cautions)


def test_a_curve_ends_where_the_data_end():
    trials = Trials.from_arrays(np.linspace(0, 1, 12), direction="max")
    found = curve(trials, n=[5, 12, 20], n_resamples=199)
    assert found.n.tolist() == [5, 12]
    assert [c.value for c in found.cautions if c.code == "beyond-trials"] == [20]
    with pytest.raises(InputError, match="at most the number of trials, 12"):
        curve(trials, n=[13], n_resamples=199)


def test_json_form():
    trials = Trials.from_arrays(
        SELECTION, reported=REPORTED, direction="max", cost=[1.0] * 8, cost_unit="h", family="a"
    )
    document = curve(trials, n=[1, 8], n_resamples=199).to_dict()
    assert {"family", "n_trials", "n_failed", "statistic", "estimator", "direction", "interval", "points"} <= set(
        document
    )
    assert set(document["points"][0]) == {"n", "value", "low", "high", "spread", "cost"}
    assert [point["cost"] for point in document["points"]] == [1.0, 8.0]
    assert document["points"][1]["value"] == 8.0
    assert document["interval"]["confidence"] == 0.95


def test_the_seed_decides():
    trials = Trials.from_arrays(np.random.default_rng(1).normal(size=30), direction="max")
    first, again, other = (curve(trials, n=[5], n_resamples=199, rng=seed) for seed in (0, 0, 1))
    assert first.low == again.low
    assert first.low != other.low


def test_one_curve_per_family():
    trials = Trials.from_arrays(SELECTION, family=list("aabbaabb"), direction="min")
    assert [one.family for one in family_curves(trials, n_resamples=199)] == ["a", "b"]
    assert [one.family for one in curve(trials, n_resamples=199)] == ["a", "b"]


def test_it_prints_as_a_sentence():
    trials = Trials.from_arrays(np.linspace(0.5, 0.9, 40), direction="max", bounds=(0, 1), family="cnn")
    text = curve(trials, n=[1, 5], n_resamples=199).sentence(5)
    assert text.startswith("cnn: expected best selection of 5 trials is 0.")
    assert "from 40 trials (validation only)." in text


def test_budget_grid():
    assert budget_grid(5).tolist() == [1, 2, 3, 4, 5]
    long = budget_grid(10**6)
    assert long[0] == 1
    assert long[-1] == 10**6
    assert long.size < 200
    assert (np.diff(long) > 0).all()


@pytest.mark.parametrize("statistic", ["mode", "1.5", 0, 1])
def test_unknown_statistics(statistic):
    with pytest.raises(InputError):
        curve(Trials.from_arrays(SELECTION, direction="max"), statistic=statistic)


def test_nothing_to_estimate():
    with pytest.raises(DataError):
        curve(Trials.from_arrays([NAN, NAN], direction="max"))


def test_notebooks_show_tables_with_names_as_text():
    trials = Trials.from_arrays(SELECTION, direction="max", family="<b>")
    for text in (curve(trials, n=[1], n_resamples=199)._repr_html_(), trials._repr_html_()):
        assert "&lt;b&gt;" in text
        assert "<b>" not in text


def test_one_trial_has_a_value_and_no_interval():
    found = curve(Trials.from_arrays([0.5], direction="max"))
    assert found.value.tolist() == [0.5]
    assert np.isnan(found.low).all()
    assert any("one trial says nothing" in caution.sentence for caution in found.cautions)


@pytest.mark.parametrize("direction", ["max", "min"])
def test_curves_of_very_many_trials_are_those_of_each_family_in_its_own_order(direction):
    rng = np.random.default_rng(1)
    selection, family = rng.normal(size=210_000), np.arange(210_000) % 2
    trials = Trials.from_arrays(selection, direction=direction, family=family, reported=selection**2)
    n = (1, 7, 300)
    for estimator in ("u", "naive"):
        found = family_curves(trials, n=n, estimator=estimator, n_resamples=99)
        for code, one in enumerate(found):
            own = selection[family == code]
            expected = expected_best(own, n, own**2, estimator=estimator, direction=direction)
            assert one.family == str(code)
            assert one.value == pytest.approx(expected, rel=1e-12)
