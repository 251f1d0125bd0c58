"""Gaffke-type limits: against Clopper-Pearson, closed forms and the sum written out."""

import numpy as np
import pytest
from scipy.stats import beta, ks_2samp

from levelbest.stats.bands._gaffke import gaffke_draws, sorted_uniforms, whole_power
from levelbest.stats.bands._limits import order_statistic


def test_sorted_uniforms_are_order_statistics():
    rng = np.random.default_rng(0)
    ours = sorted_uniforms(7, 4000, rng)
    assert (np.diff(ours, axis=1) > 0).all()
    sorts = np.sort(rng.random((4000, 7)), axis=1)
    for j in range(7):
        assert ks_2samp(ours[:, j], sorts[:, j]).pvalue > 1e-4  # fixed seed: a false alarm in 1,400


@pytest.mark.parametrize("wins", [0, 1, 6, 20])
@pytest.mark.parametrize("n", [1, 3, 20])
def test_zero_one_scores_give_clopper_pearson_carried_through_the_best_of_n(wins, n):
    scores = np.r_[np.zeros(20 - wins), np.ones(wins)]
    lower, upper = gaffke_draws(scores, np.array([n]), [0.0], [1.0], 100_000, np.random.default_rng(1))
    lower, upper = lower[0], upper[0]
    p_low = beta.ppf(0.025, wins, 21 - wins) if wins else 0.0
    p_high = beta.ppf(0.975, wins + 1, 20 - wins) if wins < 20 else 1.0
    # the standard error of a 2.5 % quantile among 10^5 draws is below .001 for these densities
    assert order_statistic(lower, 0.025)[0] == pytest.approx(1 - (1 - p_low) ** n, abs=0.005)
    assert order_statistic(upper, 0.975)[0] == pytest.approx(1 - (1 - p_high) ** n, abs=0.005)


def test_draws_are_the_sums_of_the_definition():
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(12))
    n = np.array([1, 2, 3, 7, 12])
    lower, upper = gaffke_draws(x, n, [-0.5], [1.5], 400, np.random.default_rng(3))
    lower, upper = lower[0], upper[0]
    u = sorted_uniforms(12, 400, np.random.default_rng(3))
    edges = np.column_stack([np.zeros(400), u, np.ones(400)])
    for i, k in enumerate(n):
        steps = np.diff(edges**k, axis=1)  # U_{j+1}^n - U_j^n, j = 0..12
        np.testing.assert_allclose(lower[i], steps @ np.r_[-0.5, x], rtol=1e-12)
        np.testing.assert_allclose(upper[i], steps @ np.r_[x, 1.5], rtol=1e-12)


def test_one_trial_has_closed_limits():
    lower, upper = gaffke_draws(np.array([0.3]), np.array([1, 4]), [0.0], [1.0], 200_000, np.random.default_rng(4))
    lower, upper = lower[0], upper[0]
    for i, n in enumerate((1, 4)):
        assert order_statistic(upper, 0.975)[i] == pytest.approx(1 - 0.025**n * 0.7, abs=0.002)
        assert order_statistic(lower, 0.025)[i] == pytest.approx(0.3 - 0.975**n * 0.3, abs=0.002)


def test_several_bounds_share_their_uniforms():
    x, n = np.array([0.2, 0.5, 0.6]), np.array([1, 3])
    both = gaffke_draws(x, n, [0.2, 0.0], [1.0, 2.0], 50, np.random.default_rng(5))
    for i, (below, above) in enumerate([(0.2, 1.0), (0.0, 2.0)]):
        alone = gaffke_draws(x, n, [below], [above], 50, np.random.default_rng(5))
        np.testing.assert_allclose(both[0][i], alone[0][0], rtol=1e-14)
        np.testing.assert_allclose(both[1][i], alone[1][0], rtol=1e-14)
    assert (both[0][0] >= both[0][1]).all()
    assert (both[1][0] <= both[1][1]).all()


def test_whole_powers():
    u = np.random.default_rng(6).random(50)
    for k in (1, 2, 3, 7, 8, 100, 1000):
        np.testing.assert_allclose(whole_power(u, k), u**k, rtol=1e-12)
