"""Numbers over several tasks, against SciPy, against rliable's own, by enumeration, and their limits on known
distributions."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from levelbest.errors import InputError
from levelbest.stats.bands import Terms
from levelbest.stats.inference import Sample, interquartile_mean, probability_of_improvement

FEW = Terms(n_resamples=99)


def _samples(rows):
    return [Sample(np.asarray(row, dtype=float)) for row in rows]


@pytest.mark.parametrize(("k", "m"), [(1, 4), (2, 3), (3, 5), (5, 8), (7, 11)])
def test_one_run_is_the_trimmed_mean_and_mann_whitney(k, m):
    rng = np.random.default_rng([k, m])
    a, b = rng.normal(size=(k, m)).round(1), rng.normal(size=(k, m + 2)).round(1)  # with ties
    trimmed = scipy_stats.trim_mean(a.ravel(), 0.25)
    assert interquartile_mean(_samples(a), terms=FEW).value == pytest.approx(trimmed, abs=1e-12)
    u = [scipy_stats.mannwhitneyu(x, y).statistic / (x.size * y.size) for x, y in zip(a, b, strict=True)]
    assert probability_of_improvement(_samples(a), _samples(b), terms=FEW).value == pytest.approx(np.mean(u), abs=1e-12)


def test_what_rliable_says():
    # rliable 1.2.0: metrics.aggregate_iqm(x.T) and metrics.probability_of_improvement(x.T, y.T)
    rng = np.random.default_rng(0)
    theirs = [
        (-0.17555824735846023, 0.619047619047619),
        (0.30709953811379825, 0.6666666666666667),
        (-0.05732635562211013, 0.6372023809523809),
    ]
    for (k, m), (iqm, chance) in zip(((3, 5), (4, 7), (10, 40)), theirs, strict=True):
        x, y = rng.normal(size=(k, m)), rng.normal(size=(k, m + 2)) - 0.5
        assert interquartile_mean(_samples(x), terms=FEW).value == pytest.approx(iqm, abs=1e-12)
        assert probability_of_improvement(_samples(x), _samples(y), terms=FEW).value == pytest.approx(chance, abs=1e-12)


def _every_best(sample, n):
    """The reported score of the winner of every subset of n trials; tied winners share, here by repetition."""
    found = []
    for rows in combinations(range(sample.n_trials), n):
        best = max(sample.selection[i] for i in rows)
        tied = [i for i in rows if sample.selection[i] == best]
        found += [sample.claimed[i] for i in tied for _ in range(12 // len(tied))]
    return found


def test_the_best_of_two_by_every_pair_of_trials():
    rng = np.random.default_rng(4)
    tasks = [Sample(rng.integers(0, 4, 8).astype(float), rng.normal(size=8)) for _ in range(2)]
    others = [Sample(rng.integers(0, 4, 9).astype(float), rng.normal(size=9)) for _ in range(2)]
    pooled = np.sort(np.concatenate([_every_best(task, 2) for task in tasks]))
    quarter = pooled.size // 4  # 28 pairs, 12 times each, of 2 tasks: a multiple of 4
    expected = pooled[quarter:-quarter].mean()
    assert interquartile_mean(tasks, 2, terms=FEW).value == pytest.approx(expected, abs=1e-12)
    chances = []
    for a, b in zip(tasks, others, strict=True):
        first, second = np.array(_every_best(a, 2)), np.array(_every_best(b, 2))
        chances.append(np.mean(first[:, None] > second) + np.mean(first[:, None] == second) / 2)
    assert probability_of_improvement(tasks, others, 2, terms=FEW).value == pytest.approx(np.mean(chances), abs=1e-12)


def test_no_order_matters_and_the_mirror_image_is_the_other_family():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(4, 6)), rng.normal(size=(4, 7))
    shuffled = [rng.permutation(row) for row in a[::-1]]
    assert interquartile_mean(_samples(shuffled)) == interquartile_mean(_samples(a))
    other = probability_of_improvement(_samples([rng.permutation(row) for row in b[::-1]]), _samples(shuffled))
    same = probability_of_improvement(_samples(a), _samples(b))
    assert (1 - other.value, 1 - other.high, 1 - other.low) == pytest.approx((same.value, same.low, same.high))


def test_a_family_that_always_wins_may_yet_lose():
    a, b = _samples(np.arange(15.0).reshape(3, 5) + 100), _samples(np.arange(15.0).reshape(3, 5))
    chance = probability_of_improvement(a, b)
    assert chance.value == chance.high == 1.0
    # 15 pairs of runs that share no run were all won: were the chance 0.78, that would happen in 2.5 % of samples
    assert 0.78 < chance.low < 0.95
    lost = probability_of_improvement(b, a)
    assert (lost.value, lost.low) == (0.0, 0.0)
    assert lost.high == pytest.approx(1 - chance.low)


def test_refusals():
    short = _samples(np.ones((2, 7)))
    with pytest.raises(InputError, match="4 times the budget n = 2, got 7"):
        interquartile_mean(short, 2)
    with pytest.raises(InputError, match="less than the trials of every task, 7, got 7"):
        probability_of_improvement(short, short, 7)
    with pytest.raises(InputError, match="the same tasks, got 2 and 1"):
        probability_of_improvement(short, short[:1])


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "30 % fail": lambda rng, shape: np.where(rng.random(shape) < 0.3, 0.0, rng.beta(8, 2, shape)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("k", "m", "n"), [(5, 5, 1), (3, 20, 5)])
def test_limits_cover(law, k, m, n):
    # nominal .95: at a true rate of .93 fewer than 102 of 120 samples are covered with probability 7e-4, at .95 1e-5
    draw, rng = LAWS[law], np.random.default_rng(7)
    shift = 0.4 * draw(rng, 100_000).std() * np.linspace(0, 2, k)
    bests = [draw(rng, (80_000, n)).max(axis=1) + own for own in shift]
    plain = [draw(rng, (80_000, n)).max(axis=1) for _ in shift]
    iqm = scipy_stats.trim_mean(np.concatenate(bests), 0.25)
    chance = np.mean([np.mean(a > b) + np.mean(a == b) / 2 for a, b in zip(bests, plain, strict=True)])
    covered = np.zeros(2, dtype=int)
    for sample in range(120):
        own = np.random.default_rng([11, sample])
        a = _samples(draw(own, (k, m)) + shift[:, None])
        b = _samples(draw(own, (k, m)))
        middle = interquartile_mean(a, n, Terms(n_resamples=300))
        better = probability_of_improvement(a, b, n, Terms(n_resamples=300))
        covered += [middle.low <= iqm <= middle.high, better.low <= chance <= better.high]
    assert covered.min() >= 102, covered / 120
