"""Known distributions against closed forms, exact fractions and other quadrature; the Gaussian estimate; the fit
test."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from levelbest.errors import DataError, InputError
from levelbest.stats import gaussian_best, law_best, normal_best, normality

N = np.array([1, 2, 5, 10, 100, 1000, 10**6])


def test_normal_best_small_cases_are_known():
    # E max of 2 and 3 standard normals: 1/sqrt(pi), 3/(2 sqrt(pi)).
    assert normal_best(2) == pytest.approx(1 / math.sqrt(math.pi), rel=1e-14)
    assert normal_best(3) == pytest.approx(1.5 / math.sqrt(math.pi), rel=1e-14)
    assert normal_best(1) == 0
    curve = normal_best(np.arange(1, 2000))
    assert (np.diff(curve) > 0).all()
    assert normal_best(10**15) == pytest.approx(gumbel_guess(10**15), rel=0.01)


def gumbel_guess(n):
    place = stats.norm.isf(1 / n)
    return place + 0.5772156649 / (n * stats.norm.pdf(place))


def test_continuous_laws_with_a_closed_form():
    assert law_best(stats.uniform(), N) == pytest.approx(N / (N + 1), rel=1e-13)
    assert law_best(stats.uniform(), N, direction="min") == pytest.approx(1 / (N + 1), rel=1e-13)
    harmonic = [math.fsum(1 / k for k in range(1, n + 1)) for n in N]
    assert law_best(stats.expon(), N) == pytest.approx(harmonic, rel=1e-12)
    assert law_best(stats.expon(scale=3), N, direction="min") == pytest.approx(3 / N, rel=1e-12)
    assert law_best(stats.norm(2, 3), N) == pytest.approx(2 + 3 * normal_best(N), rel=1e-12)
    assert law_best(stats.norm(2, 3), N, direction="min") == pytest.approx(2 - 3 * normal_best(N), rel=1e-12)
    # Power distribution on (0, 1) and Pareto: products of n factors.
    assert law_best(stats.powerlaw(0.5), N) == pytest.approx(N * 0.5 / (N * 0.5 + 1), rel=1e-12)
    pareto = [math.exp(math.fsum(math.log1p((2 / 3) / (k - 2 / 3)) for k in range(1, n + 1))) for n in N]
    assert law_best(stats.pareto(1.5), N) == pytest.approx(pareto, rel=1e-11)
    assert law_best(stats.gumbel_r(), N) == pytest.approx(np.euler_gamma + np.log(N), rel=1e-12)


DISTRIBUTIONS = [
    stats.t(3),
    stats.beta(0.5, 0.5),
    stats.beta(8, 2),
    stats.lognorm(1),
    stats.gamma(0.3),
    stats.weibull_min(0.5),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda distribution: distribution.dist.name)
@pytest.mark.parametrize("n", [1, 4, 30])
def test_continuous_laws_against_the_distribution_function(distribution, n):
    """E best = c + integral of 1 - F^n above c - integral of F^n below, by another rule and in the score itself."""
    low, high = distribution.support()
    c = distribution.ppf(0.5)
    cuts = [c, distribution.isf(0.1), distribution.isf(1e-3), distribution.isf(1e-6), high]
    above = [
        integrate.quad(lambda x: -math.expm1(n * math.log1p(-distribution.sf(x))), a, b, limit=200, epsabs=1e-12)[0]
        for a, b in itertools.pairwise(cuts)
    ]
    below = integrate.quad(lambda x: distribution.cdf(x) ** n, low, c, limit=200, epsabs=1e-12)[0]
    assert law_best(distribution, n) == pytest.approx(c + sum(above) - below, rel=1e-8, abs=1e-9)


def histogram():
    counts, edges = np.histogram(np.random.default_rng(0).normal(size=500), bins=40)
    assert (counts == 0).any(), "a gap is part of the test"
    return counts, edges


def histogram_best(n):
    """max = last edge - integral of F^n, F piecewise linear."""
    counts, edges = histogram()
    share = np.concatenate([[0], np.cumsum(counts) / counts.sum()])
    total = edges[-1]
    for width, a, b in zip(np.diff(edges), share[:-1], share[1:], strict=True):
        total -= width * ((b ** (n + 1) - a ** (n + 1)) / ((n + 1) * (b - a)) if b > a else a**n)
    return total


class Hidden:
    """A distribution that does not say where its kinks are."""

    def __init__(self, distribution):
        for name in ("cdf", "sf", "ppf", "isf", "support", "pdf"):
            setattr(self, name, getattr(distribution, name))


def test_laws_with_kinks_and_gaps():
    distribution = stats.rv_histogram(histogram())
    exact = [histogram_best(int(n)) for n in N]
    assert law_best(distribution, N) == pytest.approx(exact, rel=1e-12, abs=1e-13)
    assert law_best(distribution(loc=3, scale=2), N) == pytest.approx(3 + 2 * np.array(exact), rel=1e-12)
    assert law_best(Hidden(distribution), N) == pytest.approx(exact, rel=1e-10, abs=1e-10)
    counts, edges = histogram()
    mirrored = stats.rv_histogram((counts[::-1], -edges[::-1]))
    assert law_best(mirrored, N, direction="min") == pytest.approx(-np.array(exact), rel=1e-12, abs=1e-13)


def test_discrete_laws_are_exact_sums():
    chance = Fraction(3, 10)
    mass = [math.comb(10, k) * chance**k * (1 - chance) ** (10 - k) for k in range(11)]
    for n in (1, 2, 7, 40):
        upto = [sum(mass[: k + 1]) ** n for k in range(11)]
        best = sum(k * (upto[k] - (upto[k - 1] if k else 0)) for k in range(11))
        assert law_best(stats.binom(10, 0.3), n) == pytest.approx(float(best), rel=1e-12)
        assert law_best(stats.binom(10, 0.7), n, direction="min") == pytest.approx(float(10 - best), rel=1e-12)
    # 0/1: pass@n
    assert law_best(stats.bernoulli(0.01), [1, 10, 500]) == pytest.approx(1 - 0.99 ** np.array([1, 10, 500]), rel=1e-12)
    assert law_best(stats.randint(1, 7), 2) == pytest.approx(161 / 36, rel=1e-14)


def test_discrete_laws_without_end():
    # Geometric: E max = sum over k of 1 - (1 - q^k)^n; E min = 1 / (1 - q^n).
    n, q = 6, 0.8
    tail = math.fsum(-math.expm1(n * math.log1p(-(q**k))) for k in range(1, 500))
    assert law_best(stats.geom(0.2), n) == pytest.approx(1 + tail, rel=1e-12)
    assert law_best(stats.geom(0.2), n, direction="min") == pytest.approx(1 / (1 - q**n), rel=1e-12)
    assert law_best(stats.poisson(4), 1) == pytest.approx(4, rel=1e-12)
    # Symmetric about 0, both ends open.
    distribution = stats.skellam(3, 3)
    assert law_best(distribution, 5) == pytest.approx(-law_best(distribution, 5, direction="min"), rel=1e-9)


def test_listed_values():
    distribution = stats.rv_discrete(values=([1, 2, 7], [0.5, 0.3, 0.2]))
    wanted = 1 * 0.25 + 2 * (0.64 - 0.25) + 7 * (1 - 0.64)
    assert law_best(distribution, 2) == pytest.approx(wanted, rel=1e-14)
    assert law_best(distribution(loc=3), 2) == pytest.approx(wanted + 3, rel=1e-14)


def test_reported_given_selection():
    # Linear: the expectation passes through ([B] eq. 5 and 6).
    assert law_best(stats.norm(), N, lambda x: 0.3 + 0.5 * x) == pytest.approx(0.3 + 0.5 * normal_best(N), rel=1e-12)
    # E[X^2] of the best of n uniforms: n / (n + 2).
    assert law_best(stats.uniform(), N, np.square) == pytest.approx(N / (N + 2), rel=1e-12)
    assert law_best(stats.randint(1, 7), 1, lambda x: x**2) == pytest.approx(91 / 6, rel=1e-13)
    assert law_best(stats.uniform(), 3, lambda x: 0.7) == pytest.approx(0.7, rel=1e-12)  # noqa: ARG005
    with pytest.raises(InputError, match="one expected reported score per selection score"):
        law_best(stats.norm(), 3, lambda x: x[:2])


@pytest.mark.parametrize("distribution", [stats.cauchy(), stats.pareto(1), stats.pareto(0.5), stats.zipf(2)])
def test_a_missing_expectation_is_said(distribution):
    with pytest.raises(DataError, match="not finite, or its tail is too heavy"):
        law_best(distribution, 5)


def test_a_heavy_tail_on_the_other_side_does_not_matter():
    # The smallest of 5 Pareto(1) scores is Pareto(5): mean 5/4.
    assert law_best(stats.pareto(1), 5, direction="min") == pytest.approx(1.25, rel=1e-11)
    # Zipf(2) likewise: sum over k >= 1 of P(X >= k)^5, the far part of each tail by Euler and Maclaurin.
    k = 20000.0
    rest = 1 / k + 1 / (2 * k**2) + 1 / (6 * k**3)
    tail = np.cumsum((np.arange(1, k) ** -2)[::-1])[::-1] + rest
    exact = math.fsum((tail / (math.pi**2 / 6)) ** 5)
    assert law_best(stats.zipf(2), 5, direction="min") == pytest.approx(exact, rel=1e-11)


def test_too_many_points_are_refused():
    with pytest.raises(DataError, match="more than 2000000 points"):
        law_best(stats.randint(0, 10**12), 2)


def test_gaussian_best_is_equation_6():
    rng = np.random.default_rng(2)
    selection = rng.normal(0.7, 0.1, 30)
    reported = 0.5 * selection + rng.normal(0, 0.05, 30)
    n = np.array([1, 5, 200])  # 200 > 30: extrapolation is what it is for
    rho = np.corrcoef(selection, reported)[0, 1]
    one = selection.mean() + selection.std(ddof=1) * normal_best(n)
    two = reported.mean() + rho * reported.std(ddof=1) * normal_best(n)
    assert gaussian_best(selection, n) == pytest.approx(one, rel=1e-13)
    assert gaussian_best(selection, n, reported) == pytest.approx(two, rel=1e-12)
    assert gaussian_best(-selection, n, -reported, direction="min") == pytest.approx(-two, rel=1e-12)
    assert isinstance(gaussian_best(selection, 5), float)


def test_gaussian_best_refuses_what_it_cannot_know():
    with pytest.raises(InputError, match="at least 2 trials"):
        gaussian_best([0.5], 3)
    with pytest.raises(DataError, match="all equal"):
        gaussian_best([0.5, 0.5, 0.5], 3, [0.1, 0.2, 0.3])
    assert gaussian_best([0.5, 0.5, 0.5], 3) == 0.5


def test_normality_statistic_and_published_critical_values():
    x = np.random.default_rng(4).standard_t(4, 60)
    z = np.sort((x - x.mean()) / x.std(ddof=1))
    raw = -60 - np.mean([(2 * i + 1) * (stats.norm.logcdf(z[i]) + stats.norm.logsf(z[59 - i])) for i in range(60)])
    result = normality(x)
    assert result.statistic == pytest.approx(raw * (1 + 0.75 / 60 + 2.25 / 3600), rel=1e-12)
    # Stephens' points for the modified statistic, both parameters estimated.
    from levelbest.stats.best._normality import _anderson_p

    for level, point in [(0.15, 0.561), (0.10, 0.631), (0.05, 0.752), (0.025, 0.873), (0.01, 1.035)]:
        assert _anderson_p(point) == pytest.approx(level, rel=0.03)
    pieces = [_anderson_p(a) for a in np.linspace(0.05, 12, 4000)]
    assert all(0 < p <= 1 for p in pieces)


def test_normality_rejects_at_its_level():
    """2,000 normal samples at 5 %: the count lies in 62..138 (four standard deviations, false alarm 1e-4)."""
    rng = np.random.default_rng(11)
    rejected = sum(normality(rng.normal(size=30)).rejected for _ in range(2000))
    assert 62 <= rejected <= 138
    skewed = normality(rng.exponential(size=200))
    assert skewed.rejected
    assert "rejected" in str(skewed)


def test_normality_says_why_it_does_not_exist():
    few = normality([1.0, 2, 3])
    same = normality([0.1] * 10)
    assert math.isnan(few.p_value)
    assert few.reason == "it needs at least 8 trials, and there are 3"
    assert same.reason == "all scores are equal"
    assert not few.rejected
    assert str(same) == "normality was not tested: all scores are equal"


@pytest.mark.parametrize("n", [0, -1, 1.5, math.nan, [], [[1]]])
def test_bad_n(n):
    for call in (normal_best, lambda n: law_best(stats.norm(), n), lambda n: gaussian_best([1.0, 2], n)):
        with pytest.raises(InputError, match=r"^n must"):
            call(n)


def test_bad_law():
    with pytest.raises(InputError, match="law must be a frozen SciPy distribution"):
        law_best([1, 2, 3], 2)
    with pytest.raises(InputError, match="direction must be"):
        law_best(stats.norm(), 2, direction="up")
    with pytest.raises(InputError, match="conditional must be a function"):
        law_best(stats.norm(), 2, 0.5)
