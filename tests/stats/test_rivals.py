"""Relative improvement, who wins how often, and permutation p-values."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from levelbest.stats import expected_best, normal_best
from levelbest.stats.best import Sample
from levelbest.stats.contrasts._rivals import Relative, chance_better, permutation_p


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


@pytest.mark.parametrize("paired", [False, True])
def test_relative_improvement_covers(paired):
    # 120 samples at nominal .95 and two budgets: fewer than 103 hits have probability 1e-4 each if it holds
    n = np.array([1, 5])
    truth = np.array([(0.8 + 0.02 * normal_best(k)) / (0.6 + 0.02 * normal_best(k)) - 1 for k in (1, 5)])
    hits = np.zeros(2)
    for seed in range(120):
        rng = np.random.default_rng([seed, paired])
        shared = rng.normal(size=40)
        noise = shared if paired else rng.normal(size=40)
        samples = [Sample(0.8 + 0.02 * shared), Sample(0.6 + 0.02 * (0.6 * noise + 0.8 * rng.normal(size=40)))]
        value, low, high = Relative(samples, paired=paired, n_resamples=400, rng=seed).of((0, 1), n)
        hits += (low <= truth) & (truth <= high)
    a, b = (expected_best(one.selection, n) for one in samples)
    assert value == pytest.approx(a / b - 1)
    assert (hits >= 103).all()


def test_no_ratio_to_something_near_zero():
    rng = np.random.default_rng(1)
    samples = [Sample(rng.normal(5, 1, 30)), Sample(rng.normal(0, 1, 30))]
    value, low, high = Relative(samples, n_resamples=200).of((0, 1), np.array([1]))
    assert np.isnan([value[0], low[0], high[0]]).all()


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_permutation_p_is_calibrated_under_equal_laws(paired, ties):
    # 200 samples: P(p <= .1) > .175 has probability 4e-4 if p is exact
    small = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, paired, ties])
        a, b = rng.normal(size=(2, 14)) + paired * rng.normal(size=14)
        if ties:
            a, b = np.round(a), np.round(b)
        p = permutation_p(Sample(a), Sample(b), np.arange(1, 8), paired=paired, n_permutations=99, rng=seed)
        small += p <= 0.1
    assert small <= 35


def test_permutation_p_finds_a_difference_that_pairs_show():
    rng = np.random.default_rng(3)
    shared = rng.normal(size=20)
    a, b = Sample(shared + 0.3), Sample(shared + 0.05 * rng.normal(size=20))
    n = np.arange(1, 8)
    assert permutation_p(a, b, n, paired=True, n_permutations=199) == pytest.approx(1 / 200)
    assert permutation_p(a, b, n, n_permutations=199) > 0.1


def test_permutation_p_against_every_permutation():
    a, b = Sample(np.array([3.0, 1.0, 4.0, 1.5])), Sample(np.array([2.0, 0.5, 0.7, 0.1]))
    n = np.array([1, 2])
    pool = np.concatenate([a.selection, b.selection])

    def largest(mine):
        other = [i for i in range(8) if i not in mine]
        t = []
        for k in n:
            values, variances = [], []
            for part in (list(mine), other):
                x = pool[part]
                left = np.array([expected_best(np.delete(x, i), k) for i in range(4)])
                values.append(expected_best(x, k))
                variances.append(3 / 4 * ((left - left.mean()) ** 2).sum())
            t.append(abs(values[0] - values[1]) / np.sqrt(sum(variances)))
        return max(t)

    every = np.array([largest(mine) for mine in combinations(range(8), 4)])
    exact = np.mean(every >= largest((0, 1, 2, 3)) - 1e-9)
    found = permutation_p(a, b, n, n_permutations=4000, rng=0)
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000)  # false alarm 6e-5
