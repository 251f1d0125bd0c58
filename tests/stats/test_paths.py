"""Path probabilities against sums over all outcomes, a determinant, SciPy's Kolmogorov law and simulation."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from whole_paths import order_probability

from levelbest.stats.bands import _paths as paths


def multinomial_sum(m, levels, low, high):
    """P(low_k <= N(levels_k) <= high_k) by adding up every way to put m points into the cells."""
    cells = [b - a for a, b in zip([Fraction(0), *levels], [*levels, Fraction(1)], strict=True)]
    total = Fraction(0)
    for counts in product(range(m + 1), repeat=len(levels)):
        last = m - sum(counts)
        reached = np.cumsum(counts)
        if last < 0 or any(not a <= r <= b for a, r, b in zip(low, reached, high, strict=True)):
            continue
        term = Fraction(math.factorial(m))
        for cell, count in zip(cells, [*counts, last], strict=True):
            term *= cell**count / Fraction(math.factorial(count))
        total += term
    return float(total)


def determinant(lower, upper):
    """Steck (1971): P(lower_i <= U_(i) <= upper_i) = m! det[(upper_i - lower_j)_+^(j-i+1) / (j-i+1)!], in fractions."""
    m = len(lower)

    def entry(i, j):
        power = j - i + 1
        if power <= 0:
            return Fraction(int(power == 0))
        return max(upper[i] - lower[j], Fraction(0)) ** power / Fraction(math.factorial(power))

    rows = [[entry(i, j) for j in range(m)] for i in range(m)]
    value = Fraction(math.factorial(m))
    for k in range(m):
        pivot = next((r for r in range(k, m) if rows[r][k] != 0), None)
        if pivot is None:
            return 0.0
        if pivot != k:
            rows[k], rows[pivot], value = rows[pivot], rows[k], -value
        value *= rows[k][k]
        for r in range(k + 1, m):
            factor = rows[r][k] / rows[k][k]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[k], strict=True)]
    return float(value)


@given(st.data())
def test_equals_the_sum_over_all_outcomes(data):
    m = data.draw(st.integers(1, 6))
    parts = sorted(data.draw(st.lists(st.integers(1, 59), min_size=1, max_size=4)))
    levels = [Fraction(t, 60) for t in parts]
    low = [data.draw(st.integers(0, m)) for _ in levels]
    high = [data.draw(st.integers(a, m)) for a in low]
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    got = paths.path_probability(m, np.array([float(t) for t in levels]), low, high)
    assert got == pytest.approx(multinomial_sum(m, levels, low, high), abs=1e-14, rel=1e-12)


@given(st.data())
def test_order_statistics_equal_a_determinant(data):
    m = data.draw(st.integers(1, 7))
    points = st.lists(st.integers(0, 100), min_size=m, max_size=m).map(sorted)
    one, two = data.draw(points), data.draw(points)
    lower = [Fraction(min(a, b), 100) for a, b in zip(one, two, strict=True)]
    upper = [Fraction(max(a, b), 100) for a, b in zip(one, two, strict=True)]
    got = order_probability(m, np.array(lower, dtype=float), np.array(upper, dtype=float))
    assert got == pytest.approx(determinant(lower, upper), abs=1e-13, rel=1e-11)


def kolmogorov(m, distance):
    """P(D_m < distance) by Durbin's matrix as in Marsaglia, Tsang & Wang (2003), scaled step by step."""
    k = math.floor(m * distance) + 1
    size, h = 2 * k - 1, k - m * distance
    matrix = np.array(
        [[1 / math.factorial(i - j + 1) if i >= j - 1 else 0.0 for j in range(size)] for i in range(size)]
    )
    for i in range(size):
        matrix[i, 0] -= h ** (i + 1) / math.factorial(i + 1)
        matrix[-1, i] -= h ** (size - i) / math.factorial(size - i)
    matrix[-1, 0] += max(2 * h - 1, 0) ** size / math.factorial(size)
    row = np.arange(size) == k - 1
    for _ in range(m):
        row = row @ matrix * math.exp(math.lgamma(m + 1) / m - math.log(m))
    return row[k - 1]


@pytest.mark.parametrize("m", [1, 2, 7, 50, 400, 3000])
@pytest.mark.parametrize("scaled", [0.5, 0.8, 1.36, 2.0])
def test_equals_the_kolmogorov_law(m, scaled):
    distance, i = min(scaled / math.sqrt(m), 0.999), np.arange(1, m + 1)
    lower, upper = np.maximum(i / m - distance, 0), np.minimum((i - 1) / m + distance, 1)
    whole = order_probability(m, lower, upper)
    assert paths.symmetric_order_probability(m, lower, upper) == pytest.approx(whole, abs=1e-12)
    if m * distance < 80:  # the matrix is too large for doubles beyond
        assert whole == pytest.approx(kolmogorov(m, distance), abs=1e-11)  # lgamma(3001) alone is off by 4e-12
    # SciPy is exact up to 140 trials, then asymptotic in the middle (Simard & L'Ecuyer 2011).
    assert whole == pytest.approx(stats.kstwo.cdf(distance, m), abs=1e-12 if m <= 140 else 1e-6)


@pytest.mark.parametrize("m", [2, 3, 10, 101])
@pytest.mark.parametrize("level", [0.5, 0.01, 1e-6])
def test_half_the_path_is_enough_for_symmetric_limits(m, level):
    i = np.arange(1, m + 1)
    lower = special.betaincinv(i, m + 1 - i, level / 2)
    upper = 1 - lower[::-1]
    whole = order_probability(m, lower, upper)
    assert paths.symmetric_order_probability(m, lower, upper) == pytest.approx(whole, abs=1e-13)


@pytest.mark.parametrize(("m", "p"), [(50, 0.9), (5_000, 0.5), (100_000, 0.5), (1_000_000, 0.99)])
def test_one_level_is_binomial(m, p):
    sd = math.sqrt(m * p * (1 - p))
    low, high = math.ceil(m * p - 1.5 * sd), math.floor(m * p + sd)
    want = stats.binom.cdf(high, m, p) - stats.binom.cdf(low - 1, m, p)
    got = paths.path_probability(m, np.array([p]), np.array([low]), np.array([high]))
    assert got == pytest.approx(want, abs=1e-10)


def test_wide_windows_hold_everything_and_crossed_ones_nothing():
    levels = np.array([0.1, 0.5, 0.5, 0.9])
    full = np.full(4, 3000)
    assert paths.path_probability(3000, levels, 0 * full, full) == pytest.approx(1, abs=1e-12)
    assert paths.path_probability(3000, levels, full, full - 1) == 0
    assert paths.path_probability(3000, levels[:0], full[:0], full[:0]) == 1
    # 3,000 of 3,000 points below 0.1: 1e-3000 is zero in doubles, and nothing else breaks
    assert paths.path_probability(3000, levels, full, full) == 0


@pytest.mark.parametrize(("m", "top"), [(6, 4), (30, 12), (80, 40)])
def test_losses_are_what_a_tighter_limit_costs(m, top):
    p = 0.5 ** (1 / np.arange(1, top + 1))
    low = stats.binom.ppf(0.02, m, p).astype(int)
    high = np.minimum(stats.binom.ppf(0.98, m, p).astype(int), m)
    total, lose_low, lose_high = paths.limit_losses(m, p, low, high)
    assert total == pytest.approx(paths.path_probability(m, p, low, high), abs=1e-14)
    for k in range(top):
        one = np.arange(top) == k
        assert total - lose_low[k] == pytest.approx(paths.path_probability(m, p, low + one, high), abs=1e-13)
        assert total - lose_high[k] == pytest.approx(paths.path_probability(m, p, low, high - one), abs=1e-13)


def test_agrees_with_simulation():
    # 200,000 samples: sd 0.0010; five sd are crossed by chance once in 1.7 million seeds.
    m, levels = 40, np.array([0.2, 0.4, 0.5, 0.8, 0.95])
    low, high = np.array([4, 11, 15, 28, 35]), np.array([12, 20, 24, 36, 39])
    draws = np.random.default_rng(20240601).random((200_000, m))
    counts = np.stack([(draws <= t).sum(axis=1) for t in levels])
    inside = ((counts >= low[:, None]) & (counts <= high[:, None])).all(axis=0).mean()
    want = paths.path_probability(m, levels, low, high)
    assert abs(inside - want) < 5 * math.sqrt(want * (1 - want) / 200_000)


@given(st.integers(2, 60), st.floats(0.02, 0.98), st.floats(0.001, 0.5))
def test_tighter_limits_cover_less(m, p, level):
    levels = np.array([p / 2, p])
    wide = np.array([0, 0]), np.array([m, m])
    tight = stats.binom.ppf(level / 2, m, levels).astype(int), stats.binom.ppf(1 - level / 2, m, levels).astype(int)
    covered = paths.path_probability(m, levels, *tight)
    assert 0 <= covered <= paths.path_probability(m, levels, *wide) + 1e-12
    assert covered >= 1 - 2 * level - 1e-12  # Bonferroni


@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("guess", [1e-8, 0.01, 0.99])
def test_finds_the_level_of_independent_intervals(confidence, guess):
    # Twenty independent intervals at local level g cover together with (1 - g)^20.
    level = paths.largest_level(lambda g: (1 - g) ** 20, confidence, guess)
    assert level == pytest.approx(1 - confidence ** (1 / 20), rel=1e-9)
