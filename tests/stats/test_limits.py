"""From draws to limits, against NumPy and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.stats.bands import _limits as limits
from levelbest.stats.bands._resample import Ranked, bootstrap


@settings(deadline=None, max_examples=80)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.001, 0.999))
def test_order_statistics_are_weibull_quantiles(values, p):
    draws = np.array([values, values[::-1]])
    expected = np.quantile(values, p, method="weibull")
    np.testing.assert_allclose(limits.order_statistic(draws, p), expected, rtol=1e-12, atol=1e-12)
    by_row = limits.order_statistic(draws, np.array([p, 1 - p]))
    assert by_row[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert by_row[1] == pytest.approx(np.quantile(values, 1 - p, method="weibull"), rel=1e-12, abs=1e-12)


def test_infinite_draws_give_infinite_limits_and_never_nan():
    draws = np.array([[-np.inf, -np.inf, 0.0, 1.0, np.inf]])
    assert limits.order_statistic(draws, 1 / 6) == -np.inf
    assert limits.order_statistic(draws, 0.25) == -np.inf
    assert limits.order_statistic(draws, 0.5) == 0
    assert limits.order_statistic(draws, 0.99) == np.inf


def test_one_budget_has_the_pointwise_level():
    draws = np.random.default_rng(0).normal(size=(1, 999))
    assert limits.local_level(draws, 0.05) == pytest.approx(0.025)
    assert limits.local_level(draws, 0.025, tails=1) == pytest.approx(0.025)
    assert limits.local_level(draws, 0.025, tails=-1) == pytest.approx(0.025)
    assert limits.local_level(np.repeat(draws, 5, axis=0), 0.05) == pytest.approx(0.025)


@pytest.mark.parametrize("tails", [2, 1, -1])
def test_the_local_level_keeps_the_share_of_draws_inside(tails):
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(6, 1999)).cumsum(axis=0)
    level = limits.local_level(draws, 0.1, tails=tails)
    low, high = limits.percentile_limits(draws, level)
    outside = np.zeros(1999, dtype=bool)
    if tails != 1:
        outside |= (draws < low[:, None]).any(axis=0)
    if tails != -1:
        outside |= (draws > high[:, None]).any(axis=0)
    assert outside.mean() == pytest.approx(0.1, abs=0.003)  # the level is an order statistic: one step either side
    assert 0.1 / 12 < level < 0.1


def test_independent_budgets_share_the_error_as_sidak_says():
    draws = np.random.default_rng(2).normal(size=(4, 40_000))
    each = 1 - 0.95 ** (1 / 4)
    # standard error of the level: sqrt(.05 .95 / 40000) / (.05 / level) = 1.4e-4
    assert limits.local_level(draws, 0.05) == pytest.approx(each / 2, abs=6e-4)


def test_percentile_basic_and_bca_agree_with_scipy_on_the_mean():
    from scipy.stats import bootstrap as scipys

    x = np.random.default_rng(3).gamma(1.5, size=40)
    trials = Ranked(x, np.array([1]))
    draws, _ = bootstrap(trials, 40_000, np.random.default_rng(4))
    ours = {
        "percentile": limits.percentile_limits(draws, 0.025),
        "basic": limits.basic_limits(draws, trials.estimate, 0.025),
        "BCa": limits.bca_limits(draws, trials.estimate, trials.leave_one_out(), 0.025),
    }
    for name, (low, high) in ours.items():
        theirs = scipys((x,), np.mean, n_resamples=40_000, method=name, rng=np.random.default_rng(5))
        # quantiles of 40,000 resamples: standard error about .012 standard errors of the mean each
        width = 0.1 * theirs.standard_error
        assert low[0] == pytest.approx(theirs.confidence_interval.low, abs=width)
        assert high[0] == pytest.approx(theirs.confidence_interval.high, abs=width)


def test_studentised_draws_of_a_mean_are_students_t_of_each_resample():
    x = np.random.default_rng(6).normal(size=15)
    trials = Ranked(x, np.array([1]))
    t = limits.studentise(*bootstrap(trials, 200, np.random.default_rng(7), errors=True), trials.estimate)
    drawn = np.random.default_rng(7).integers(0, 15, (200, 15))
    rows = np.sort(x)[drawn]
    expected = (rows.mean(axis=1) - x.mean()) / (rows.std(axis=1, ddof=1) / np.sqrt(15))
    np.testing.assert_allclose(t[0], expected, rtol=1e-9)


def test_resamples_without_spread_are_infinite_or_zero():
    t = limits.studentise(
        np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[0.0, 0, 0], [1, np.nan, 1]]), np.array([2.0, 1])
    )
    assert t[0].tolist() == [-np.inf, 0, np.inf]
    assert np.isnan(t[1, 1])
