"""Summary numbers against SciPy and against integration of order statistics."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.stats import ttest_ind_from_stats

from levelbest.errors import DataError, InputError
from levelbest.stats.budgets import Summary, judge_summary


@pytest.mark.parametrize("reading", ["sd", "se"])
@pytest.mark.parametrize(
    ("base", "ours"),
    [((76.3, 0.4, 5), (77.0, 0.6, 5)), ((0.81, 0.02, 3), (0.84, 0.001, 12)), ((-3.0, 2.0, 40), (-2.5, 0.5, 2))],
)
def test_the_interval_and_p_value_are_those_of_scipy(base, ours, reading):
    first, second = Summary("base", *base), Summary("ours", *ours)
    judged = judge_summary(first, second, reading=reading, confidence=0.9)
    sds = [s * (math.sqrt(n) if reading == "se" else 1) for _, s, n in (base, ours)]
    test = ttest_ind_from_stats(ours[0], sds[1], ours[2], base[0], sds[0], base[2], equal_var=False)
    assert judged.p_value == pytest.approx(test.pvalue, rel=1e-10)
    # the interval is the one whose ends have p = .1
    for end in (judged.low, judged.high):
        at_end = ttest_ind_from_stats(ours[0] - end, sds[1], ours[2], base[0], sds[0], base[2], equal_var=False)
        assert at_end.pvalue == pytest.approx(0.1, rel=1e-9)
    mirrored = judge_summary(first, second, reading=reading, direction="min", confidence=0.9)
    assert (mirrored.low, mirrored.high) == pytest.approx((-judged.high, -judged.low))


def _gain(n, sd, noise):
    """E[true score of the winner by selection = true + noise], by integrating the density of the largest of n."""
    total = math.hypot(sd, noise)

    def integrand(x):
        # E[true | selection = x] = x sd^2 / total^2
        return x * (sd / total) ** 2 * n * stats.norm.pdf(x, 0, total) * stats.norm.cdf(x, 0, total) ** (n - 1)

    return integrate.quad(integrand, -12 * total, 12 * total, points=[0, 2 * total], limit=400)[0]


@pytest.mark.parametrize("noise", [0.0, 0.3, 2.0])
def test_what_the_larger_search_explains_is_the_difference_of_expected_winners(noise):
    base, ours = Summary("base", 76.3, 0.4, 5, 10), Summary("ours", 77.0, 0.6, 5, 100)
    (search,) = judge_summary(base, ours, reading="sd", noise=noise).searches
    sd = math.sqrt((0.4**2 + 0.6**2) / 2)
    assert search.sd == pytest.approx(sd)
    assert search.gain == pytest.approx(_gain(100, sd, noise) - _gain(10, sd, noise), rel=1e-7)
    assert search.share == pytest.approx(search.gain / 0.7)
    whole = search.explains_all
    assert _gain(100, whole, noise) - _gain(10, whole, noise) == pytest.approx(0.7, rel=1e-7)


def test_without_a_noise_there_is_none_and_as_much_as_the_trials_have():
    base, ours = Summary("base", 76.3, 0.4, 5, 10), Summary("ours", 77.0, 0.6, 7, 100)
    exact, noisy = judge_summary(base, ours, reading="sd").searches
    sd = math.sqrt((4 * 0.4**2 + 6 * 0.6**2) / 10)
    assert (exact.noise, noisy.noise) == pytest.approx((0, sd))
    assert noisy.gain == pytest.approx(_gain(100, sd, sd) - _gain(10, sd, sd), rel=1e-7)
    low, high = (sd * math.sqrt(10 / stats.chi2.ppf(p, 10)) for p in (0.975, 0.025))
    assert (exact.sd_low, exact.sd_high) == pytest.approx((low, high))
    assert (exact.low, exact.high) == pytest.approx((exact.gain * low / sd, exact.gain * high / sd))
    given = judge_summary(base, ours, reading="sd", search_sd=2.0).searches[0]
    assert (given.sd, given.gain) == pytest.approx((2.0, exact.gain * 2 / sd))
    assert (given.low, given.high) == (given.gain, given.gain)


def test_the_smaller_search_of_the_claim_hides_a_gain():
    base, ours = Summary("base", 76.3, 0.4, 5, 100), Summary("ours", 77.0, 0.6, 5, 10)
    exact, _ = judge_summary(base, ours, reading="sd").searches
    assert exact.gain < 0
    assert exact.low < exact.gain < exact.high
    assert math.isnan(exact.explains_all)
    even = judge_summary(Summary("a", 1, 1, 5, 7), Summary("b", 2, 1, 5, 7), reading="sd").searches
    assert [search.gain for search in even] == [0, 0]
    assert judge_summary(Summary("a", 1, 1, 5, 7), Summary("b", 2, 1, 5), reading="sd").searches == ()


def test_the_runs_that_would_show_it_have_the_power():
    """Simulated: 20,000 studies; .80 within .02, of which .004 is the standard error and the rest the normal
    approximation to the noncentral t."""
    base, ours = Summary("base", 76.3, 0.4, 5), Summary("ours", 77.0, 0.6, 5)
    n = int(judge_summary(base, ours, reading="sd").if_true)
    rng = np.random.default_rng(0)
    a, b = rng.normal(76.3, 0.4, (20_000, n)), rng.normal(77.0, 0.6, (20_000, n))
    assert np.mean(stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < 0.05) == pytest.approx(0.815, abs=0.03)


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        ((1.0, 0.1, 1), DataError, "one run has no standard deviation"),
        ((1.0, -0.1, 3), InputError, "must not be negative, got -0.1"),
        ((math.nan, 0.1, 3), InputError, "the mean must be a finite number"),
        ((1.0, 0.1, 2.5), InputError, "the number of runs must be a whole number"),
        ((1.0, 0.1, 3, 0), InputError, "the trials it was tuned with must be a whole number of at least 1"),
    ],
)
def test_numbers_that_cannot_be_are_refused(numbers, error, message):
    with pytest.raises(error, match=message):
        Summary("ours", *numbers)


def test_two_spreads_of_zero_tell_nothing():
    with pytest.raises(DataError, match="both have ± 0"):
        judge_summary(Summary("a", 1, 0, 3), Summary("b", 2, 0, 3), reading="sd")
