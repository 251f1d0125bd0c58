"""The best of n: enumeration, algebra, exact fractions, a naive jackknife, and bad input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats import best_weights, expected_best, quantile_best, spread_of_best, standard_error
from levelbest.stats.order import rank_weights, subset_fraction

levels = st.integers(-3, 3)


@st.composite
def tied_trials(draw, most=8):
    """Few trials with few selection scores: ties are the rule."""
    size = draw(st.integers(1, most))
    selection = draw(st.lists(levels, min_size=size, max_size=size))
    reported = draw(st.none() | st.lists(st.integers(-20, 20), min_size=size, max_size=size))
    return selection, reported


def enumerated(selection, n, reported, estimator, direction):
    """Mean and spread over every draw of n; tied winners share."""
    claimed = selection if reported is None else reported
    everyone = range(len(selection))
    draws = itertools.permutations(everyone, n) if estimator == "u" else itertools.product(everyone, repeat=n)
    best_of = max if direction == "max" else min
    total = square = count = Fraction(0)
    for draw in draws:
        best = best_of(selection[i] for i in draw)
        # A trial drawn twice has two tickets, as the tied group's weight is shared by all its members.
        winners = [claimed[i] for i in draw if selection[i] == best]
        total += Fraction(sum(winners), len(winners))
        square += Fraction(sum(w * w for w in winners), len(winners))
        count += 1
    mean = total / count
    return float(mean), math.sqrt(square / count - mean * mean)


@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize(("estimator", "most"), [("u", 8), ("v", 6)])
def test_equals_enumeration_with_ties(estimator, most, direction):
    rng = np.random.default_rng(5)
    for size in range(1, most + 1):
        for column in (False, True):
            selection = rng.integers(0, 4, size).tolist()
            reported = rng.integers(-9, 9, size).tolist() if column else None
            for n in range(1, min(size, 5) + 1):
                mean, spread = enumerated(selection, n, reported, estimator, direction)
                options = {"estimator": estimator, "direction": direction}
                assert expected_best(selection, n, reported, **options) == pytest.approx(mean, rel=1e-12, abs=1e-14)
                assert spread_of_best(selection, n, reported, **options) == pytest.approx(spread, rel=1e-7, abs=1e-7)


def agrees(values, exact):
    """To the error argued beside the formula: some eps, times the logarithm of the weight."""
    for value, fraction in zip(values, exact, strict=True):
        wanted = float(fraction)
        assert value == wanted or abs(value / wanted - 1) <= 1e-15 * (2 - math.log(wanted))


def test_weights_are_exact_fractions():
    for size in (1, 2, 5, 30, 77, 200):
        for n in {1, min(size, 2), min(size, 40), (size + 1) // 2, max(1, size - 1), size}:
            every = math.comb(size, n)
            agrees(rank_weights(size, n)[0], [Fraction(math.comb(j - 1, n - 1), every) for j in range(1, size + 1)])
            power = [Fraction(j**n - (j - 1) ** n, size**n) for j in range(1, size + 1)]
            agrees(rank_weights(size, n, "v")[0], power)
            shares = [Fraction(math.comb(k, n), every) for k in range(size + 1)]
            agrees(subset_fraction(np.arange(size + 1), size, n), shares)


def jackknife(selection, n, reported, estimator, direction):
    size = len(selection)
    kept = [[i for i in range(size) if i != out] for out in range(size)]
    estimates = np.array(
        [
            expected_best(
                np.take(selection, rows),
                n,
                None if reported is None else np.take(reported, rows),
                estimator=estimator,
                direction=direction,
            )
            for rows in kept
        ]
    )
    return math.sqrt((size - 1) / size * ((estimates - estimates.mean()) ** 2).sum())


@pytest.mark.parametrize("estimator", ["u", "v"])
@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize("values", [3, 12, 10**6])
def test_standard_error_is_the_leave_one_out_jackknife(estimator, direction, values):
    rng = np.random.default_rng(values)
    selection = rng.integers(0, values, 40) / values
    for reported in (None, selection + rng.normal(size=40)):
        n = [1, 2, 3, 10, 25, 38, 39]
        fast = standard_error(selection, n, reported, estimator=estimator, direction=direction)
        slow = [jackknife(selection, k, reported, estimator, direction) for k in n]
        assert fast == pytest.approx(slow, rel=1e-9, abs=1e-14)


@given(tied_trials())
def test_weights_are_shares(trials):
    selection, _ = trials
    for estimator in ("u", "v", "naive"):
        weights = best_weights(selection, np.arange(1, len(selection) + 1), estimator=estimator)
        assert (weights >= 0).all()
        assert weights.sum(axis=1) == pytest.approx(np.ones(len(selection)), rel=1e-14)


def test_n_past_the_trials_is_refused():
    for function in (expected_best, quantile_best, spread_of_best, standard_error):
        with pytest.raises(InputError, match="at most the number of trials, 3, got 4"):
            function([1.0, 2, 3], 4)
