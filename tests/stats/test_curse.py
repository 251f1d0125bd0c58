"""The winner's curse: against enumeration, and its interval."""

from itertools import combinations

import numpy as np
import pytest

from levelbest.errors import InputError
from levelbest.stats import normal_best, winners_curse


def test_against_every_subset():
    selection = np.array([0.3, 0.9, 0.5, 0.7, 0.7])
    reported = np.array([0.2, 0.6, 0.55, 0.65, 0.5])

    def drop(n):
        drops = []
        for subset in combinations(range(5), n):
            best = max(selection[list(subset)])
            tied = [i for i in subset if selection[i] == best]
            drops.append(np.mean([selection[i] - reported[i] for i in tied]))
        return np.mean(drops)

    found = winners_curse(selection, reported, [1, 2, 3, 5], n_resamples=200)
    assert found.curse == pytest.approx([drop(n) - drop(1) for n in (1, 2, 3, 5)])
    assert found.drop_at_one == pytest.approx(drop(1))
    assert found.low[-1] < found.curse[-1] < found.high[-1]
    assert found.curse[0] == 0


def test_direction_is_a_mirror():
    rng = np.random.default_rng(0)
    selection, reported = rng.normal(size=(2, 30))
    up = winners_curse(selection, reported, [3, 9], n_resamples=200)
    down = winners_curse(-selection, -reported, [3, 9], direction="min", n_resamples=200)
    assert up.curse == pytest.approx(down.curse)
    assert up.low == pytest.approx(down.low)


def test_interval_covers_the_truth():
    # selection = skill + noise, reported = skill + .3: the curse is the noise's part of the best of n, sd 1 of sqrt(2).
    # 150 samples at nominal .95: fewer than 131 hits have probability 1e-4 if it holds
    n = np.array([2, 8, 20, 39, 40])
    truth = np.array([normal_best(int(k)) / np.sqrt(2) for k in n])
    hits = np.zeros(5)
    for seed in range(150):
        rng = np.random.default_rng([seed, 1])
        skill = rng.normal(size=40)
        found = winners_curse(skill + rng.normal(size=40), skill + 0.3, n, n_resamples=300, rng=seed)
        hits += (found.low <= truth) & (truth <= found.high)
    assert (hits >= 131).all()
    assert "overstates" in str(found)


def test_needs_two_columns():
    with pytest.raises(InputError, match="needs a reported score that is not the selection score"):
        winners_curse([1.0, 2, 3, 4], None, [2])
    with pytest.raises(InputError, match="at least 4 trials"):
        winners_curse([1.0, 2, 3], [1.0, 2, 3], [2])
