"""Relative improvement, and who wins how often."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from levelbest.stats import normal_best
from levelbest.stats.best import Sample
from levelbest.stats.inference import chance_better, relative_improvement
from levelbest.stats.inference._trials import TrialUnits


def wins(a, b, n):
    """Every subset of n against every subset of n, by counting; ties in the selection are shared."""
    total, count = Fraction(0), 0
    for one in combinations(a, n):
        for two in combinations(b, n):
            tops = []
            for part in (one, two):
                best = max(selection for selection, _ in part)
                tops.append([reported for selection, reported in part if selection == best])
            for x in tops[0]:
                for y in tops[1]:
                    score = Fraction(1) if x > y else Fraction(1, 2) if x == y else Fraction(0)
                    total += score / (len(tops[0]) * len(tops[1]))
            count += 1
    return total / count


@pytest.mark.parametrize("n", [1, 2, 3])
def test_chance_is_the_share_of_subsets(n):
    a = [(1, 5), (2, 3), (2, 7), (3, 1), (4, 4)]
    b = [(0, 4), (1, 5), (3, 2), (3, 6)]
    first, second = (Sample(*np.array(x, dtype=float).T.copy()) for x in (a, b))
    assert chance_better(first, second, [n])[0] == pytest.approx(float(wins(a, b, n)), abs=1e-12)
    swapped = chance_better(second, first, [n])[0]
    assert swapped == pytest.approx(1 - float(wins(a, b, n)), abs=1e-12)


def test_chance_turns_with_the_direction():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=8), rng.normal(size=9)
    up = chance_better(Sample(a), Sample(b), [1, 3])
    down = chance_better(Sample(-a), Sample(-b), [1, 3], direction="min")
    assert up == pytest.approx(down)
    assert up[0] == pytest.approx(np.mean(a[:, None] > b))


def test_relative_improvement_covers():
    # 120 samples at nominal .95 and two budgets: fewer than 103 hits have probability 1e-4 each if it holds
    n = np.array([1, 5])
    truth = np.array([(0.8 + 0.02 * normal_best(k)) / (0.6 + 0.02 * normal_best(k)) - 1 for k in (1, 5)])
    hits = np.zeros(2)
    for seed in range(120):
        rng = np.random.default_rng([seed, 0])
        units = TrialUnits([Sample(0.8 + 0.02 * rng.normal(size=40)), Sample(0.6 + 0.02 * rng.normal(size=40))], n)
        value, low, high = relative_improvement(units, (0, 1))
        assert (low <= value).all()
        assert (value <= high).all()
        hits += (low <= truth) & (truth <= high)
    assert (hits >= 103).all()


def test_no_ratio_to_something_near_zero():
    rng = np.random.default_rng(5)
    units = TrialUnits([Sample(rng.normal(1, 1, 30)), Sample(rng.normal(0, 1, 30))], np.array([1]))
    assert np.isnan(relative_improvement(units, (0, 1))).all()
