"""Paired designs: leave-one-out estimates of every resample, so that differences keep what the pairs share.

A pair is one configuration, seed or problem tried in two families. A resample draws pairs; the standard error of the
difference is the jackknife's over pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.bands import Ranked, statistic_draws
from levelbest.stats.best import Sample, Statistic
from levelbest.stats.inference._draws import Draws, paired_draws
from levelbest.stats.inference._hypotheses import VERDICTS, Pair
from levelbest.stats.inference._trials import TrialUnits, content, effective_freedom, pooled
from levelbest.stats.inference._units import Evidence, Families, Labels, across, t_statistic


class PairedTrials(TrialUnits):
    """Trials whose entry i is the same configuration in every family: swapped within pairs, and drawn as pairs."""

    exchange = "swaps"
    compressed = False

    def __init__(
        self, samples: Sequence[Sample], nodes: IntArray, statistic: Statistic | None = None, task: int | None = None
    ) -> None:
        # in an order of their own, however the pairs were given
        held = sorted(range(len(samples)), key=lambda f: content(samples[f]))
        rows = np.lexsort([column for f in held for column in (samples[f].claimed, samples[f].selection)])
        super().__init__([_taken(sample, rows) for sample in samples], nodes, statistic, task)

    def skew(self, pair: Pair) -> FloatArray:
        """Not known: it would take all leave-one-out differences again."""
        return np.full(self.inside(pair), np.nan)

    def assignments(self, families: Families) -> float:
        """Every pattern of swaps."""
        return float(2 ** min(self.sizes[families[0]], 1000))

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """With the standard error over pairs, computed at the nodes."""
        unpaired = super().evidence(pair, n)
        if not self.studentised:
            return unpaired
        nodes = self.nodes[: self.inside(pair)]
        labels = np.zeros((1, self.sizes[pair[0]]), dtype=np.int8)
        variance = np.square(self._swapped(pair, labels)[1][:, 0])
        with np.errstate(divide="ignore"):
            error = np.sqrt(np.exp(across(n, nodes, np.log(variance))))
        return Evidence(unpaired.difference, error, effective_freedom(self.sizes[pair[0]], n))

    def exchanged(self, families: Families, size: int | None, rng: np.random.Generator) -> FloatArray:
        """Families swapped within pairs of trials."""
        first, second = sorted(families, key=lambda f: self.order[f])
        m = self.sizes[first]
        if size is None:
            patterns = (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(np.int8)
        else:
            patterns = rng.integers(0, 2, (size, m), dtype=np.int8)
        piece = max(1, (1 << 16) // (m * max(1, self.inside(families))))
        parts = []
        for start in range(0, patterns.shape[0], piece):
            difference, error = self._swapped((first, second), patterns[start : start + piece])
            parts.append(np.abs(t_statistic(difference, np.square(error))))
        return np.concatenate(parts, axis=1)[None]

    def _swapped(self, pair: Pair, swaps: Labels) -> tuple[FloatArray, FloatArray]:
        """The difference and its standard error, (node, pattern), with the pairs swapped that are marked."""
        k, m = self.inside(pair), self.sizes[pair[0]]
        key = (*pair, -1)
        if key not in self._pools:
            both = pooled([self.samples[f] for f in pair])
            self._pools[key] = [Ranked(both.selection, self.nodes[:k], both.reported, size=m)]
        (ranked,) = self._pools[key]
        back = np.argsort(ranked.order)
        values, left = [], []
        for flipped in (swaps, 1 - swaps):
            chosen = np.concatenate([1 - flipped, flipped], axis=1).astype(np.int64)
            counts = chosen[:, ranked.order]
            if not self.studentised:
                values.append(statistic_draws(ranked, self.statistic, counts))
                continue
            values.append(ranked.resampled(counts)[0])
            alone = leave_one_out(ranked, counts)[..., back]
            left.append(np.where(flipped.astype(bool), alone[..., m:], alone[..., :m]))
        if not self.studentised:
            return values[0] - values[1], np.ones(values[0].shape)
        error = jackknife_errors(left[0] - left[1])
        floor = 2 * self.rounding * np.square(ranked.weights).sum(axis=1)
        return values[0] - values[1], np.sqrt(np.maximum(np.square(error), floor[:, None]))

    def draws(self, pair: Pair, bounds: Bounds = (None, None)) -> Draws:
        """Both sides with the same weights of pairs."""
        rng = np.random.default_rng([VERDICTS, *sorted(self.order[f] for f in pair)])
        nodes = self.nodes[: self.inside(pair)]
        return paired_draws((self.samples[pair[0]], self.samples[pair[1]]), nodes, self.statistic, rng, bounds)

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """Half of the squared error of the difference each."""
        half = float(self.evidence(pair, np.array([n])).error[0]) ** 2 / 2
        return half, half


def _taken(sample: Sample, rows: IntArray) -> Sample:
    return Sample(sample.selection[rows], None if sample.reported is None else sample.reported[rows])


def leave_one_out(trials: Ranked, counts: IntArray) -> FloatArray:
    """Leave-one-out estimates of resamples, up to a constant per budget and resample: (n, resample, trial).

    ``counts`` and the result are in the ranked order of ``trials``; n must be below the size of a resample. Leaving
    out a trial below rank k instead of one above changes the estimate by w'_k times the gap there, w' the weights of
    one trial fewer: see `Ranked`. A trial that was not drawn has an entry too, without meaning.
    """
    n_rows = trials.fewer.shape[0]
    # w'_k at column k; a gap below the first or above the last drawn trial moves nothing
    weights = np.concatenate([np.zeros((n_rows, 1)), trials.fewer, np.zeros((n_rows, 1))], axis=1)
    if not trials.grouped:
        above = np.cumsum(counts, axis=1)[:, :-1]
        return _from_the_best(weights[:, above] * np.diff(trials.values))
    sizes = np.add.reduceat(counts, trials.starts, axis=1)
    means = np.add.reduceat(counts * trials.values, trials.starts, axis=1) / np.maximum(sizes, 1)
    above = np.cumsum(sizes, axis=1)
    between = _from_the_best(weights[:, above[:, :-1]] * np.diff(means, axis=1))
    sums = np.concatenate([np.zeros((n_rows, 1)), np.cumsum(trials.fewer, axis=1)], axis=1)
    several = sizes > 1
    last = np.where(several, above - 1, 0)
    first = np.where(several, above - sizes, 0)
    share = (sums[:, last] - sums[:, first]) / np.maximum(sizes - 1, 1)
    # leaving out y_i lowers its group's mean: see Ranked._within
    moved: FloatArray = between[..., trials.groups] - share[..., trials.groups] * (
        trials.values - means[:, trials.groups]
    )
    return moved


def _from_the_best(steps: FloatArray) -> FloatArray:
    out = np.zeros((*steps.shape[:-1], steps.shape[-1] + 1))
    np.cumsum(steps[..., ::-1], axis=-1, out=out[..., -2::-1])
    return out


def jackknife_errors(left: FloatArray) -> FloatArray:
    """Jackknife standard errors (n, resample) from leave-one-out estimates (n, resample, trial); overwrites them."""
    m = left.shape[2]
    left -= left.mean(axis=2, keepdims=True)
    errors: FloatArray = np.sqrt((m - 1) / m * np.einsum("nbi,nbi->nb", left, left))
    return errors
