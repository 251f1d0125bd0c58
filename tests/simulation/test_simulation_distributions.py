"""Distributions: the true curve is the true curve."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from levelbest.errors import InputError
from levelbest.simulation.distributions import JointDistribution, kde_distribution, named_distribution

# Expected maximum of n standard normals, 30-digit quadrature.
NORMAL = {1: 0.0, 2: 0.5641895835477563, 5: 1.1629644736405196, 10: 1.538752730835173, 1000: 3.241435769133441}


def test_normal_constants():
    np.testing.assert_allclose(named_distribution("norm").true_mean(list(NORMAL)), list(NORMAL.values()), atol=1e-11)


@pytest.mark.parametrize("n", [1, 5, 50])
def test_the_mean_is_the_integral_of_the_density(n):
    for text, distribution in (("t(3)", stats.t(3)), ("beta(8, 2)", stats.beta(8, 2)), ("expon", stats.expon())):
        low, high = distribution.support()
        truth, _ = integrate.quad(
            lambda x, f=distribution: x * n * f.pdf(x) * f.cdf(x) ** (n - 1), low, high, epsabs=1e-11
        )
        assert named_distribution(text).true_mean(n)[0] == pytest.approx(truth, abs=1e-6)


def test_uniform_has_closed_forms():
    distribution = named_distribution("uniform")
    np.testing.assert_allclose(distribution.true_mean([1, 4, 9]), [1 / 2, 4 / 5, 9 / 10], rtol=1e-12)
    np.testing.assert_allclose(distribution.true_quantile([1, 2], 0.5), [0.5, np.sqrt(0.5)], rtol=1e-12)
    assert distribution.bounds == (0.0, 1.0)


def test_mirror_rounding_and_failures():
    assert named_distribution("-expon").bounds == (None, 0.0)
    # best of n of minus an exponential: minus the smallest of n, mean -1/n
    np.testing.assert_allclose(named_distribution("-expon").true_mean([1, 4]), [-1, -0.25], atol=1e-9)
    # uniform rounded to halves: P(1) = 1/4, P(1/2) = 1/2
    np.testing.assert_allclose(named_distribution("uniform").rounded(0.5).true_mean(1), [0.5], atol=1e-3)
    # a third fails and scores 0, the others are uniform: mean 1/3, and best of 2: 1 - E[...]
    failing = named_distribution("uniform").failing(0.25, 0.0)
    np.testing.assert_allclose(failing.true_mean(1), [0.375], atol=1e-3)
    draws, reported = failing.draw(np.random.default_rng(0), (100, 400))
    assert reported is None
    # 40,000 draws at 25 %: 5 standard errors, false alarm 6e-7
    assert abs((draws == 0).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 40_000)


def test_discrete_laws_are_sums():
    np.testing.assert_allclose(named_distribution("bernoulli(0.2)").true_mean([1, 3]), [0.2, 1 - 0.8**3], rtol=1e-14)
    truth = 0.8 * (1 - (2 / 3) ** 2) + 0.5 * ((2 / 3) ** 2 - (1 / 3) ** 2) + 0.2 * (1 / 3) ** 2
    np.testing.assert_allclose(named_distribution("three_point").true_mean(2), [truth], rtol=1e-14)


def test_the_kernel_density_has_the_stated_bandwidth_and_bins():
    scores = np.random.default_rng(3).normal(size=200)
    distribution = kde_distribution(scores)
    iqr = np.subtract(*np.percentile(scores, [75, 25]))
    bandwidth = 1.06 * min(scores.std(ddof=1), iqr / 1.349) * 200**-0.2
    width = (np.ptp(scores) + 6 * bandwidth) / 511
    assert distribution.support.size == 511
    assert distribution.support[0] == pytest.approx(scores.min() - 3 * bandwidth + width / 2, abs=1e-12)
    assert distribution.true_mean(1)[0] == pytest.approx(scores.mean(), abs=1e-3)


def test_joint_law_against_the_gaussian_formula():
    # [B] eq. 6: the reported score of the best of n has mean rho c_n
    distribution = JointDistribution("normal", lambda v, w: 0.6 * stats.norm.ppf(v) + 0.8 * stats.norm.ppf(w))
    np.testing.assert_allclose(distribution.truth([1, 5, 10]), [0, 0.6 * NORMAL[5], 0.6 * NORMAL[10]], atol=2e-4)


@pytest.mark.parametrize("levels", [None, 5])
def test_joint_law_against_drawing(levels):
    distribution = JointDistribution("bent", lambda v, w: np.sin(3 * v) + 0.3 * w, levels=levels)
    rng = np.random.default_rng(7)
    selection, reported = distribution.draw(rng, (200_000, 4))
    winner = np.argmax(selection + 1e-9 * rng.random(selection.shape), axis=1)  # ties broken at random
    won = reported[np.arange(winner.size), winner]
    # 5 standard errors: false alarm 6e-7 each
    assert abs(won.mean() - distribution.truth(4)[0]) < 5 * won.std() / np.sqrt(won.size)
    assert abs((won < distribution.truth(4, 0.3)[0]).mean() - 0.3) < 5 * np.sqrt(0.21 / won.size) + 2e-3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nrom", "did you mean 'norm'"),
        ("beta(a)", "brackets hold numbers"),
        ("beta", "takes a, b"),
        ("beta(-1,2)", "out of range"),
        ("beta 8 2", "such as beta"),
    ],
)
def test_unknown_distributions(text, message):
    with pytest.raises(InputError, match=message):
        named_distribution(text)


def test_a_kernel_density_of_one_value():
    with pytest.raises(InputError, match=r"two distinct scores, got 3 times 0\.5"):
        kde_distribution([0.5, 0.5, 0.5])


@pytest.mark.parametrize("text", ["norm(2, 0.3)", "expon", "beta(8, 2)", "three_point", "bernoulli(0.3)"])
def test_the_lowest_of_n_is_the_mirror_image(text):
    distribution, n = replace(named_distribution(text), direction="min"), [1, 3, 20]
    frozen = {"norm(2, 0.3)": stats.norm(2, 0.3), "expon": stats.expon(), "beta(8, 2)": stats.beta(8, 2)}.get(text)
    if frozen is None:
        values, below = distribution.support, distribution.below
        chance = [1 - (1 - below) ** one for one in n]  # of the lowest being at most each value
        truth = [values @ np.diff(c, prepend=0) for c in chance]
    else:
        low, high = frozen.support()
        truth = [
            integrate.quad(lambda x, m=m: x * m * frozen.pdf(x) * frozen.sf(x) ** (m - 1), low, high, epsabs=1e-11)[0]
            for m in n
        ]
    np.testing.assert_allclose(distribution.true_mean(n), truth, atol=1e-7)
    assert (np.diff(distribution.true_mean(n)) < 0).all()
    if frozen is not None:  # the 0.9-quantile from worse to better: one repetition in ten is lower still
        np.testing.assert_allclose(frozen.sf(distribution.true_quantile(n, 0.9)) ** n, 0.9, rtol=1e-9)


def test_the_lowest_of_n_of_a_kernel_density():
    scores = np.random.default_rng(3).normal(2, 0.3, 60)
    up, down = kde_distribution(-scores), kde_distribution(scores, direction="min")
    np.testing.assert_allclose(down.true_mean([1, 5, 20]), -up.true_mean([1, 5, 20]), rtol=1e-12)
    coarse = down.rounded(0.5)
    assert coarse.true_mean([20])[0] < coarse.true_mean([1])[0]


def test_a_failed_trial_is_the_highest_loss():
    distribution = replace(named_distribution("uniform"), direction="min").failing(0.25, 3.0)
    assert distribution.bounds == (0.0, 3.0)
    # alone: 3/4 of 1/2 and 1/4 of 3; of two: both fail 1/16 (3), one 6/16 (1/2), none 9/16 (1/3)
    np.testing.assert_allclose(distribution.true_mean([1, 2]), [0.375 + 0.75, 3 / 16 + 3 / 16 + 3 / 16], atol=1e-3)


def test_laws_of_our_own_have_a_mirror_image_and_any_order():
    best = named_distribution("-bernoulli(0.3)").true_mean([1, 2])
    assert best == pytest.approx([-0.3, -(0.3**2)], abs=1e-12)  # the best of two is -1 where both are
    assert named_distribution("-quadratic").true_mean(1) == pytest.approx(
        -named_distribution("quadratic").true_mean(1), abs=1e-9
    )
    assert (named_distribution("-three_point(0, 1, 4)").draw(np.random.default_rng(0), (1, 50))[0] <= 0).all()
    shuffled = named_distribution("three_point(0.8, 0.2, 0.5)").true_mean([1, 2])
    assert shuffled == pytest.approx([0.5, (0.2 + 3 * 0.5 + 5 * 0.8) / 9])


@pytest.mark.parametrize("text", ["quadratic(1)", "quadratic(0, 1, 0)", "bernoulli(0.2, 3)", "bernoulli(2)"])
def test_numbers_that_are_no_law_of_our_own_are_refused(text):
    with pytest.raises(InputError, match=f"{text.partition('(')[0]} takes the "):
        named_distribution(text)


def test_a_kernel_density_ends_at_the_bounds_of_the_score():
    scores = np.random.default_rng(0).beta(8, 1, 30)
    free = kde_distribution(scores)
    held = kde_distribution(scores, bounds=(0, 1))
    ends = np.array([1e-9, 1 - 1e-9])
    assert free.quantile(ends)[1] > 1 >= held.quantile(ends)[1]
    assert held.bounds == (0, 1)
    assert held.true_mean([20])[0] < 1 < free.true_mean([20])[0]
