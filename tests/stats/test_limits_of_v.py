"""Percentile and basic limits of V, the estimator of the papers."""

import numpy as np
import pytest

from levelbest.errors import InputError
from levelbest.report.words.curves import rule_words
from levelbest.simulation.distributions import named_distribution
from levelbest.stats import best_interval, expected_best
from levelbest.stats.bands import Terms, all_intervals

SCORES = np.random.default_rng(5).normal(size=15)
REPORTED = np.round(SCORES + np.random.default_rng(6).normal(size=15), 1)
N = np.array([1, 4, 15])


def naive(selection, reported, seed, n_resamples=199):
    """Resample with indices, estimate one by one; the draws are those of the first stream of the seed."""
    stream = np.random.default_rng(np.random.default_rng(seed).integers(0, 2**63, 6)[0])
    order = np.lexsort((reported, selection))
    drawn = order[stream.integers(0, selection.size, (n_resamples, selection.size))]
    return np.array([expected_best(selection[rows], N, reported[rows], estimator="v") for rows in drawn])


@pytest.mark.parametrize("selection", [SCORES, np.round(SCORES)], ids=["distinct", "tied"])
def test_against_a_plain_loop(selection):
    found = best_interval(selection, N, REPORTED, method="percentile", n_resamples=199, rng=3, estimator="v")
    draws = np.sort(naive(selection, REPORTED, 3), axis=0)
    # 200 gaps between 199 draws: the 2.5 % limits are the 5th from either end
    np.testing.assert_allclose(found.low, draws[4], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.high, draws[-5], rtol=1e-12, atol=1e-12)
    basic = best_interval(selection, N, REPORTED, method="basic", n_resamples=199, rng=3, estimator="v")
    value = expected_best(selection, N, REPORTED, estimator="v")
    np.testing.assert_allclose(basic.low, 2 * value - draws[-5], rtol=1e-12, atol=1e-12)
    assert rule_words(found.rule).endswith("estimator V")
    assert found.coverage is None  # the certificate is that of U


def test_v_and_u_agree_at_one_trial_and_not_beyond():
    u, v = (best_interval(SCORES, N, method="percentile", rng=0, estimator=name) for name in "uv")
    assert v.low[0] == pytest.approx(u.low[0], rel=1e-12)
    assert (v.high[1:] < u.high[1:]).all() or (v.low[1:] < u.low[1:]).all()


def test_in_company_only_the_resampled_limits_are_of_v():
    u, v = (all_intervals(SCORES, N, terms=Terms(n_resamples=199, estimator=name), rng=1) for name in "uv")
    alone = best_interval(SCORES, N, method="percentile", n_resamples=199, rng=1, estimator="v")
    np.testing.assert_array_equal(v["percentile"].low, alone.low)
    for name in set(u) - {"percentile", "basic"}:
        np.testing.assert_array_equal(u[name].low, v[name].low)


def test_a_quantile_has_no_limits_of_v():
    with pytest.raises(InputError, match="a quantile curve has one estimator, 'u', got 'v'"):
        best_interval(SCORES, N, method="percentile", statistic="median", estimator="v")


def test_the_battery_tells_them_apart():
    from levelbest.simulation.battery import simulate

    options = {"n_samples": 60, "n_resamples": 199, "methods": ("percentile",)}
    u, v = (simulate(named_distribution("norm"), 20, [1, 15], estimator=name, **options) for name in "uv")
    assert u.mean_width["percentile"][0] == pytest.approx(v.mean_width["percentile"][0], rel=1e-12)
    # the best of 15 of 20 by U is nearly the maximum of a resample; V averages over more of it
    assert u.mean_width["percentile"][1] != pytest.approx(v.mean_width["percentile"][1], rel=1e-3)
