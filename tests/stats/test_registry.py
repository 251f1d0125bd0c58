"""A new interval and a new statistic, added from outside: one function each and one line of registration."""

import math

import numpy as np
import pytest

from levelbest.errors import InputError
from levelbest.report.words.curves import rule_words
from levelbest.simulation import named_distribution, simulate
from levelbest.stats import best_interval, best_statistic, difference_band
from levelbest.stats.bands import Limits, Work, interval_methods, register_interval
from levelbest.stats.bands import _methods as intervals
from levelbest.stats.best import _statistics as statistics
from levelbest.stats.best import register_statistic

SCORES = np.array([0.3, 0.9, 0.5, 0.7, 0.6])


def best_range(work: Work) -> Limits:
    """From the n-th worst score, which the best of n of these trials cannot be below, to the best of all."""
    ordered = np.sort(work.sample.claimed)
    return Limits(ordered[work.n - 1], np.full(work.n.size, ordered[-1]), "what the best of n trials at hand can be")


@pytest.fixture
def toy_interval(monkeypatch):
    monkeypatch.setattr(intervals, "_METHODS", dict(intervals._METHODS))
    register_interval("range", best_range)


@pytest.mark.usefixtures("toy_interval")
def test_a_toy_interval_is_asked_for_by_name():
    assert "range" in interval_methods()
    found = best_interval(SCORES, [1, 3, 5], method="range")
    assert found.low.tolist() == [0.3, 0.6, 0.9]
    assert found.high.tolist() == [0.9, 0.9, 0.9]
    assert (found.method, rule_words(found.rule)) == ("range", "what the best of n trials at hand can be")
    assert found.coverage is None
    least = best_interval(SCORES, 3, method="range", direction="min")  # turned there and back
    assert (least.low, least.high) == (0.3, 0.6)


@pytest.mark.usefixtures("toy_interval")
def test_a_toy_interval_is_simulated_like_any_other():
    shown = simulate(named_distribution("uniform"), 5, [1, 5], methods="range", n_samples=50)
    # The mean of one uniform, .5, lies within the range of five but for 2 of 32 samples (36 or more of 50 do, but for
    # 3e-7 of runs); that of the best of five, 5/6, is never the best observed.
    assert shown.covered["range"][0] > 0.7
    assert shown.covered["range"][1] == 0


@pytest.mark.usefixtures("toy_interval")
def test_a_toy_interval_is_for_the_mean_unless_it_says_otherwise():
    with pytest.raises(InputError, match="interval 'range' has no interval for statistic 'median'"):
        best_interval(SCORES, 2, method="range", statistic="median", reported=SCORES)
    register_interval("ranges", best_range, statistics=("mean", "quantile"))
    assert best_interval(SCORES, 2, method="ranges", statistic="median").low == 0.5


@pytest.mark.usefixtures("toy_interval")
def test_a_name_is_taken_once():
    for name in ("range", "exact", "default"):
        with pytest.raises(InputError, match="known already"):
            register_interval(name, best_range)


@pytest.mark.usefixtures("toy_interval")
@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"need_bounds": 2}, "did you mean 'needs_bounds'"),
        ({"serves": ("curves", "differences")}, "unknown option of register_interval 'serves'"),  # it would be ignored
        ({"statistics": ("median",)}, "unknown entry of statistics 'median'"),
        ({"estimators": "u, v"}, "unknown entry of estimators ','"),
        ({"needs_bounds": 3}, "needs_bounds must be 0, 1 or 2"),
    ],
)
def test_what_an_interval_declares_is_known(declared, message):
    with pytest.raises(InputError, match=message):
        register_interval("declared", best_range, **declared)
    assert "declared" not in interval_methods()


class Success:
    """The chance that the winner scores at least .7."""

    name = "success"

    def of_distribution(self, scores, weights):
        return weights[:, scores >= 0.7].sum(axis=1)


@pytest.fixture
def toy_statistic(monkeypatch):
    monkeypatch.setattr(statistics, "_STATISTICS", dict(statistics._STATISTICS))
    register_statistic(Success())


@pytest.mark.usefixtures("toy_statistic")
def test_a_toy_statistic_has_a_curve():
    # Two of five trials succeed: pass@n.
    exact = [1 - math.comb(3, n) / math.comb(5, n) for n in (1, 2, 3, 5)]
    assert best_statistic(SCORES, [1, 2, 3, 5], statistic="success") == pytest.approx(exact, rel=1e-12)
    assert best_statistic(SCORES[::-1], 2, statistic="success") == pytest.approx(exact[1], rel=1e-12)
    # Of a reported score: the winner of two by these selection scores reports .9, .5, .7, .6 in 4, 3, 2, 1 of 10 draws.
    picked = best_statistic([1, 5, 4, 3, 2], 2, SCORES, statistic="success")
    assert picked == pytest.approx(0.4 + 0.2, rel=1e-12)


@pytest.mark.usefixtures("toy_statistic")
def test_a_toy_statistic_has_an_interval_and_a_difference():
    rng = np.random.default_rng(0)
    good, bad = rng.uniform(0.6, 0.9, 40), rng.uniform(0.0, 0.72, 40)
    found = best_interval(good, [1, 5], statistic="success", n_resamples=400)
    truth = 2 / 3, 1 - (1 / 3) ** 5
    assert found.statistic == "success"
    assert (found.low <= truth).all()
    assert (truth <= found.high).all()
    band = difference_band(good, bad, [1, 2], statistic="success", n_resamples=400)
    assert (band.statistic, band.method) == ("success", "exchange")
    assert band.certified.tolist() == [1, 1]
    # one family against itself, pair by pair: no difference at all
    same = difference_band(good, good, [1, 2], statistic="success", paired=True, n_resamples=200)
    assert same.difference.tolist() == same.low.tolist() == same.high.tolist() == [0, 0]


@pytest.mark.usefixtures("toy_statistic")
def test_a_statistic_of_its_own_name_only():
    for name in ("success", "mean", "median", "0.9"):
        with pytest.raises(InputError, match="known already"):
            register_statistic(type("Other", (), {"name": name, "of_distribution": Success.of_distribution})())
    with pytest.raises(InputError, match="statistic must be 'mean', 'median' or a probability"):
        best_statistic(SCORES, 2, statistic="failure")
