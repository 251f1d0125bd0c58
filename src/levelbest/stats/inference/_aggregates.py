"""Several tasks at once: the interquartile mean of a family's scores and the chance that one family beats another.

Both are of the best of n trials, n = 1 being what Agarwal et al. 2021 (rliable) report of runs. Every task counts the
same, however many trials it has. Trials are resampled within tasks, m - 1 of m of them: a sample of m would have a
spread that is too small by (m - 1) / m, which is a third for three runs (McCarthy and Snowden 1985).

The percentile limits of rliable cover .83-.95 over five distributions at 3 tasks x 5 runs and 10 x 3, nominal .95.
These are the wider of percentile and t limits (interquartile mean), of percentile and Newcombe's limits (chance):
.87-1.00 and .94-1.00 over seven distributions, families little or far apart, 2 tasks x 3 runs to 6 x 40, n up to a
quarter of the trials (98 cells of 200 samples); the lowest are lognormal distributions that lie far apart. The
interquartile mean past a quarter of the trials would cover .79-.97: it is not given there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import scipy

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed
from levelbest.errors import InputError
from levelbest.stats.bands import Terms, counts, order_statistic
from levelbest.stats.best import Sample, best_weights
from levelbest.stats.inference._contrasts import share_of_wins

_TRIALS_AT_ONCE = 1 << 20
TERMS = Terms()


@dataclass(frozen=True)
class Aggregate:
    """A number over tasks with pointwise limits."""

    value: float
    low: float
    high: float


def interquartile_mean(tasks: Sequence[Sample], n: int = 1, terms: Terms = TERMS, *, rng: Seed = 0) -> Aggregate:
    """The mean of the middle half of the best of ``n`` over all tasks together.

    Parameters
    ----------
    tasks
        One family's trials on each task, on one scale that all tasks share and turned so that higher is better.
    n
        The budget, at most a quarter of the trials of any task (or 1).
    terms, rng
        Of the limits: their confidence, and how many resamples.

    Returns
    -------
    Aggregate
        With equal numbers of trials and n = 1 the value is ``scipy.stats.trim_mean(scores, 0.25)`` of all scores.

    Notes
    -----
    Agarwal, Schwarzer, Castro, Courville and Bellemare 2021, Deep Reinforcement Learning at the Edge of the
    Statistical Precipice, NeurIPS.

    Examples
    --------
    >>> tasks = [Sample(np.array([0.1, 0.4, 0.5, 0.6])), Sample(np.array([0.2, 0.5, 0.6, 0.9]))]
    >>> round(interquartile_mean(tasks).value, 4)
    0.5
    """
    least = min(sample.n_trials for sample in tasks)
    if n > max(1, least // 4) or least < 2:
        raise InputError(
            f"an interquartile mean needs 2 trials of every task, and 4 times the budget n = {n}, got {least}"
        )
    sides = sorted((_Side(sample) for sample in tasks), key=lambda side: side.content)
    claimed = np.concatenate([side.claimed for side in sides])
    order = np.argsort(claimed, kind="stable")
    total = claimed.size
    cut = (total // 4) / total  # as trim_mean, which leaves out whole scores

    def middle(weights: FloatArray) -> FloatArray:
        below = np.concatenate([np.zeros((weights.shape[0], 1)), np.cumsum(weights[:, order], axis=1)], axis=1)
        kept = np.diff(np.clip(below, cut, 1 - cut), axis=1)
        return np.asarray(kept @ claimed[order] / (1 - 2 * cut))

    share = 1 / len(sides)
    value = float(middle(np.concatenate([side.weights(n) for side in sides], axis=1) * share)[0])
    base = int(_check.as_rng(rng).integers(2**62))
    streams = [(side, side.stream(base, place)) for place, side in enumerate(sides)]
    drawn = np.concatenate(
        [
            middle(np.concatenate([side.drawn(n, size, stream) for side, stream in streams], axis=1) * share)
            for size in _piece_sizes(terms.n_resamples, total)
        ]
    )
    tail = (1 - terms.confidence) / 2
    reach = float(scipy.special.stdtrit(sum(side.n_trials - 1 for side in sides), 1 - tail) * drawn.std())
    low, high = (float(order_statistic(drawn[None], p)[0]) for p in (tail, 1 - tail))
    return Aggregate(value, min(low, value - reach), max(high, value + reach))


def probability_of_improvement(
    first: Sequence[Sample], second: Sequence[Sample], n: int = 1, terms: Terms = TERMS, *, rng: Seed = 0
) -> Aggregate:
    """The chance that the best of ``n`` of the first family beats that of the second, averaged over tasks.

    Parameters
    ----------
    first, second
        The trials of each family on each task, in one order of the tasks, turned so that higher is better.
    n
        The budget, less than the trials of any task.
    terms, rng
        Of the limits: their confidence, and how many resamples.

    Returns
    -------
    Aggregate
        A tie counts half. At n = 1 each task's part is Mann and Whitney's U over the number of pairs.

    Notes
    -----
    Agarwal et al. 2021; limits of Newcombe 2006 (method 5) where they are wider: where one family wins every time,
    resamples all agree and say nothing of the next run.

    Examples
    --------
    >>> a, b = Sample(np.array([3.0, 4.0, 5.0])), Sample(np.array([1.0, 2.0, 4.5]))
    >>> round(probability_of_improvement([a, a], [b, b]).value, 4)
    0.7778
    """
    if len(first) != len(second) or not first:
        raise InputError(f"both families need the same tasks, got {len(first)} and {len(second)}")
    sides = [(_Side(a), _Side(b)) for a, b in zip(first, second, strict=True)]
    least = min(side.n_trials for pair in sides for side in pair)
    if not 1 <= n < least:
        raise InputError(f"n must be less than the trials of every task, {least}, got {n}")
    contents = [b"".join(pair[which].content for pair in sides) for which in (0, 1)]
    if contents[1] < contents[0]:  # the limits do not depend on the order of the families
        other = probability_of_improvement(second, first, n, terms, rng=rng)
        return Aggregate(1 - other.value, 1 - other.high, 1 - other.low)
    shares = [share_of_wins(a.claimed, b.claimed, a.weights(n), b.weights(n))[0] for a, b in sides]
    value = min(max(float(np.mean(shares)), 0.0), 1.0)
    base = int(_check.as_rng(rng).integers(2**62))
    ordered = sorted(range(len(sides)), key=lambda k: (sides[k][0].content, sides[k][1].content))
    chances = np.zeros(terms.n_resamples)
    for place, k in enumerate(ordered):
        a, b = sides[k]
        streams = a.stream(base, 2 * place), b.stream(base, 2 * place + 1)
        chances += np.concatenate(
            [
                share_of_wins(a.claimed, b.claimed, a.drawn(n, size, streams[0]), b.drawn(n, size, streams[1]))
                for size in _piece_sizes(terms.n_resamples, a.n_trials + b.n_trials)
            ]
        ) / len(sides)
    tail = (1 - terms.confidence) / 2
    low, high = (float(order_statistic(chances[None], p)[0]) for p in (tail, 1 - tail))
    least_low, most_high = _newcombe(value, [(a.n_trials / n, b.n_trials / n) for a, b in sides], 1 - tail)
    return Aggregate(value, max(0.0, min(low, least_low)), min(1.0, max(high, most_high)))


class _Side:
    """One family's trials on one task, from worst to best, with what a resample of them weighs."""

    def __init__(self, sample: Sample) -> None:
        order = np.lexsort((sample.claimed, sample.selection))
        selection = sample.selection[order]
        self.claimed: FloatArray = sample.claimed[order]
        self.n_trials = sample.n_trials
        self.starts = np.flatnonzero(np.r_[True, np.diff(selection) > 0])
        self.sizes = np.diff(np.r_[self.starts, selection.size])
        self.content = selection.tobytes() + self.claimed.tobytes()

    def stream(self, base: int, place: int) -> np.random.Generator:
        """Of its own, whatever the order of tasks, families and trials."""
        return np.random.default_rng([base, crc32(self.content), place])

    def weights(self, n: int) -> FloatArray:
        """Of the trials themselves, in one row."""
        return self._weigh(np.ones((1, self.n_trials), dtype=np.int64), n, self.n_trials)

    def drawn(self, n: int, size: int, rng: np.random.Generator) -> FloatArray:
        """Of ``size`` resamples of all trials but one: (resample, trial)."""
        return self._weigh(counts(self.n_trials, size, rng, self.n_trials - 1), n, self.n_trials - 1)

    def _weigh(self, drawn: IntArray, n: int, m: int) -> FloatArray:
        """The chance of each trial to be the best of n of a sample that holds it so often; ties share alike."""
        reached = np.concatenate([[0.0], np.cumsum(best_weights(np.arange(m, dtype=np.float64), n))])
        held = np.add.reduceat(drawn, self.starts, axis=1)
        below = np.concatenate([np.zeros((drawn.shape[0], 1), dtype=np.int64), np.cumsum(held, axis=1)], axis=1)
        of_group = np.diff(reached[below], axis=1) / np.maximum(held, 1)
        return np.asarray(drawn * np.repeat(of_group, self.sizes, axis=1))


def _piece_sizes(n_resamples: int, n_trials: int) -> Iterator[int]:
    step = max(1, _TRIALS_AT_ONCE // max(1, n_trials))
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)


def _newcombe(value: float, sizes: Sequence[tuple[float, float]], level: float) -> tuple[float, float]:
    """Score limits with the variance of Hanley and McNeil at the limit itself, averaged over tasks; a best of n counts
    as one run of m / n."""
    from scipy.optimize import brentq  # a third of a second, paid where there are tasks

    quantile = float(scipy.special.ndtri(level))

    def excess(chance: float) -> float:
        shared = (1 - chance) / (2 - chance) + chance / (1 + chance)
        variance = sum(chance * (1 - chance) * (1 + ((a + b) / 2 - 1) * shared) / (a * b) for a, b in sizes)
        return (chance - value) ** 2 - quantile**2 * variance / len(sizes) ** 2

    aside = 1e-9  # at 0 and 1 the estimate itself is a root, and not the one wanted
    low = 0.0 if value <= aside else float(brentq(excess, 0.0, min(value, 1 - aside)))
    high = 1.0 if value >= 1 - aside else float(brentq(excess, max(value, aside), 1.0))
    return low, high


def performance_profile(
    tasks: Sequence[Sample], scores: FloatArray, terms: Terms = TERMS, *, rng: Seed = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The share of runs that score more than each of ``scores``, every task counting the same, with pointwise limits.

    Agarwal et al. 2021 call it the run-score distribution. Runs are resampled within tasks, m - 1 of m.

    Examples
    --------
    >>> tasks = [Sample(np.array([0.1, 0.4])), Sample(np.array([0.2, 0.6]))]
    >>> performance_profile(tasks, np.array([0.0, 0.15, 0.5]))[0].tolist()
    [1.0, 0.75, 0.25]
    """
    generator, tail = _check.as_rng(rng), (1 - terms.confidence) / 2
    runs = [sample.claimed for sample in tasks]
    shares = [(scored[:, None] > scores).mean(axis=0) for scored in runs]
    value = np.mean(shares, axis=0)
    shape = (terms.n_resamples, scores.size)
    drawn = np.zeros(shape)
    for scored, share in zip(runs, shares, strict=True):
        size = max(scored.size - 1, 1)
        drawn += generator.binomial(size, share, shape) / (size * len(runs))
    low, high = np.quantile(drawn, (tail, 1 - tail), axis=0)
    return value, np.minimum(low, value), np.maximum(high, value)
