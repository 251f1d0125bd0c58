"""The weights of the best of n: exact fractions, logarithms summed term by term, and sizes at which others overflow."""

import math
from fractions import Fraction

import numpy as np
import pytest

from levelbest.stats import expected_best
from levelbest.stats.best._moments import sums_of_columns
from levelbest.stats.best._weights import depth, log_share, rank_weights, subset_fraction, weight_pieces, weight_rows


def agrees(values, exact):
    """To the error argued beside the formula: some eps, times the logarithm of the weight."""
    for value, fraction in zip(values, exact, strict=True):
        wanted = float(fraction)
        assert value == wanted or abs(value / wanted - 1) <= 1e-15 * (2 - math.log(wanted))


@pytest.mark.parametrize("size", [1, 2, 5, 16, 33, 77, 200])
def test_weights_are_exact_fractions(size):
    for n in {1, min(size, 2), min(size, 40), (size + 1) // 2, max(1, size - 1), size}:
        every = math.comb(size, n)
        agrees(rank_weights(size, n)[0], [Fraction(math.comb(j - 1, n - 1), every) for j in range(1, size + 1)])
        power = [Fraction(j**n - (j - 1) ** n, size**n) for j in range(1, size + 1)]
        agrees(rank_weights(size, n, "v")[0], power)
        shares = [Fraction(math.comb(k, n), every) for k in range(size + 1)]
        agrees(subset_fraction(np.arange(size + 1), size, n), shares)


def test_all_budgets_at_once_are_the_same_weights():
    """Consecutive budgets follow from each other; single ones are computed afresh."""
    for estimator in ("u", "v"):
        alone = np.vstack([rank_weights(150, n, estimator) for n in range(1, 151)])
        together = rank_weights(150, np.arange(1, 151), estimator)
        np.testing.assert_allclose(together, alone, rtol=1e-13, atol=1e-290)
        shuffled = rank_weights(150, [7, 150, 7, 1], estimator)
        np.testing.assert_allclose(shuffled, alone[[6, 149, 6, 0]], rtol=1e-13, atol=1e-290)


@pytest.mark.parametrize(
    ("size", "h", "d"),
    [
        (10**6, 1, 999_999), (10**6, 1, 17), (10**6, 59, 10**5), (10**6, 3000, 3001), (10**6, 500_000, 40),
        (10**7, 20_000, 18_000), (10**7, 9_999_000, 900), (10**12, 10**5, 10**7), (10**15, 3, 7 * 10**14),
        (1029, 514, 500), (100, 60, 39), (10**5, 90_000, 10_000),
    ],
)  # fmt: skip
def test_log_share_is_the_sum_of_its_logarithms(size, h, d):
    """Q = product over i < min(h, d) of 1 - max(h, d) / (size - i): each term and the sum exact to an ulp."""
    few, many = min(h, d), max(h, d)
    exact = math.fsum(log_left(many, size - i) for i in range(few))
    assert float(log_share(size, h, d)) == pytest.approx(exact, rel=2e-15, abs=0)
    assert float(log_share(size, d, h)) == pytest.approx(exact, rel=2e-15, abs=0)


def log_left(part, whole):
    return math.log1p(-part / whole) if 2 * part < whole else math.log((whole - part) / whole)


def test_shares_outside_are_zero():
    assert subset_fraction([0, 1, 2, 3], 3, 2) == pytest.approx([0, 0, 1 / 3, 1], rel=1e-15)
    assert (subset_fraction([3, 4], 10, 5) == 0).all()


def test_cut_leaves_out_no_more_than_it_says():
    for size in (10, 1000):
        budgets = np.unique(np.geomspace(1, size, 40).astype(int))
        for estimator in ("u", "v"):
            full = rank_weights(size, budgets, estimator)[:, ::-1]
            for cut in (1.0, 10.0, 37.0):
                for n, kept, row in zip(budgets, depth(size, budgets, cut, estimator), full, strict=True):
                    assert row[kept:].sum() <= math.exp(-cut) * (1 + 1e-12), (size, n, estimator)
            for rows, part in weight_rows(size, budgets, estimator, 37.0):
                assert part == pytest.approx(full[rows, : part.shape[1]], rel=1e-12)


def test_pieces_of_a_whole_curve_are_few():
    """O(m log m): the numbers made for all budgets, against m^2."""

    def made(size):
        return sum(piece.size for _, _, piece in weight_pieces(size, np.arange(1, size + 1), "u", 43.0))

    assert made(8000) < 2.4 * made(4000) < 0.2 * 8000**2


def exact_mean(scores, n):
    """U by integers: the numerator sum C(j-1, n-1) x_j, x_j whole, over C(m, n)."""
    weight, total = 1, 0
    for j, score in enumerate(sorted(scores), start=1):
        if j >= n:
            total += weight * score
            weight = weight * j // (j - n + 1)
    return float(Fraction(total, math.comb(len(scores), n)))


@pytest.mark.parametrize(("size", "n"), [(100, 10), (1000, 10), (1030, 515), (3000, 1500), (3000, 61), (3000, 2990)])
def test_where_others_overflow(size, n):
    """int64 overflows at m = 100, n = 10; C(1030, 515) is not a double."""
    scores = np.random.default_rng(size).integers(-1000, 1000, size)
    exact = exact_mean([int(s) for s in scores], n)
    assert expected_best(scores, n) == pytest.approx(exact, rel=1e-13)
    assert expected_best(-scores, n, direction="min") == pytest.approx(-exact, rel=1e-13)


SIZES = [4096, 65_535, 65_536, 200_000, 1_000_003]


@pytest.mark.parametrize("size", SIZES)
def test_ranks_have_a_closed_form(size):
    """Scores 1..m: E best = n (m+1) / (n+1); j (j+1): n (m+1) (m+2) / (n+2). Through blocks of ranks and without."""
    n = np.unique(np.geomspace(1, size, 60).astype(np.int64))
    j = np.arange(1.0, size + 1)
    assert expected_best(j, n) == pytest.approx(n * (size + 1.0) / (n + 1), rel=3e-14)
    assert expected_best(j * (j + 1), n) == pytest.approx(n * (size + 1.0) * (size + 2.0) / (n + 2), rel=3e-14)
    assert expected_best(-j, n, direction="min") == pytest.approx(-n * (size + 1.0) / (n + 1), rel=3e-14)


def test_blocks_hold_for_noisy_scores_and_v():
    """Reported scores unrelated to the rank; against the weights themselves."""
    rng = np.random.default_rng(1)
    size = 70_000
    scores = rng.normal(size=size) + 3
    n = np.array([1, 2, 3, 7, 20, 26, 27, 28, 300, 60_000])
    for estimator in ("u", "v"):
        slow = [math.fsum(row * scores[::-1]) for row in rank_weights(size, n, estimator)]
        assert sums_of_columns([scores], n, estimator)[0] == pytest.approx(slow, rel=2e-14)


@pytest.mark.parametrize("size", [500, 66_000])
def test_a_diverged_loss_still_counts(size):
    """One loss of 1e30 among losses of about 1: a weight of 1e-25 is not nothing, and an exact 0 is."""
    losses = np.random.default_rng(3).integers(1, 1000, size).astype(float)
    losses[7] = 1e30
    whole = [int(loss) for loss in losses]
    for n in (1, 2, 3, 40, 90, 400):
        exact = -exact_mean([-loss for loss in whole], n)
        assert expected_best(losses, n, direction="min") == pytest.approx(exact, rel=1e-13)
        # V gives the diverged trial (1/m)^n.
        exact = math.fsum(rank_weights(size, n, "v")[0] * np.sort(losses)[::-1])
        assert expected_best(losses, n, estimator="v", direction="min") == pytest.approx(exact, rel=1e-13)


def test_zero_at_the_top_and_something_far_below():
    """The best trials report 0, the others 1: the answer is the tiny weight of the others, not 0."""
    size, n = 3000, 700
    selection = np.arange(size)
    reported = (selection < 2800).astype(float)
    exact = float(Fraction(math.comb(2800, n), math.comb(size, n)))
    assert exact < 1e-23
    assert expected_best(selection, n, reported) == pytest.approx(exact, rel=1e-12)
