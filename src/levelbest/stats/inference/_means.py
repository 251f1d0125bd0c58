"""Units whose difference is one of means: runs, whole searches, problems and clusters of problems."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np

from levelbest._check import Bounds, Column, FloatArray, IntArray
from levelbest.stats.inference._draws import (
    HEAVIER,
    Draws,
    apart,
    imagined_ends,
    mean_draws,
    normal_sums,
    within_bounds,
)
from levelbest.stats.inference._hypotheses import VERDICTS, Pair
from levelbest.stats.inference._units import (
    Evidence,
    Families,
    IndependentUnits,
    Labels,
    Units,
    rounding_variance,
    satterthwaite,
)

DOMINATES = 1e-3
"""Where no unit holds more than this share of the sum of squares, sums of random signs are drawn from their normal
limit: the fourth cumulant is then below 2e-3, which moves a p-value by less than a hundredth of itself.
Sums over the problems of a suite likewise (`_suite`): of a thousand problems and more."""
_SIGNS_AT_ONCE = 1 << 20


class MeanUnits(IndependentUnits):
    """The mean over units, each with a value at every budget: runs (one budget), or whole searches.

    Parameters
    ----------
    rows
        Of each family, (unit, budget), turned so that higher is better.
    n
        The budgets, increasing.
    weights
        Of the units of each family; None: all alike.
    """

    def __init__(self, rows: Sequence[FloatArray], n: IntArray, weights: Sequence[FloatArray] | None = None) -> None:
        self.rows, self.nodes = rows, n
        self.weights = [np.ones(table.shape[0]) for table in rows] if weights is None else weights
        self.sizes = tuple(table.shape[0] for table in rows)
        held = sorted(range(len(rows)), key=lambda f: _content(rows[f]))
        self.order = {f: place for place, f in enumerate(held)}
        self._draws: dict[tuple[int, Bounds, int], Draws] = {}
        self._moments: dict[tuple[int, bytes], tuple[FloatArray, FloatArray, FloatArray]] = {}

    @cached_property
    def rounding(self) -> FloatArray:
        """The variance that rounding alone gives a unit, at each budget."""
        pooled = np.concatenate(self.rows)
        return np.array([rounding_variance(column[~np.isnan(column)]) for column in pooled.T])

    def furthest(self, f: int) -> int:
        """To the last budget that the family has."""
        return self._furthest[f]

    @cached_property
    def _furthest(self) -> list[int]:
        known = [np.flatnonzero(~np.isnan(table).all(axis=0)) for table in self.rows]
        return [int(self.nodes[budgets[-1]]) if budgets.size else 0 for budgets in known]

    def at(self, n: int) -> MeanUnits:
        """The same units at one budget."""
        place = np.flatnonzero(self.nodes == n)
        return MeanUnits([table[:, place] for table in self.rows], self.nodes[place], self.weights)

    def moments(self, f: int, places: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, its squared standard error and degrees of freedom at some budgets: once for all pairs of a family."""
        key = f, places.tobytes()
        if key not in self._moments:
            self._moments[key] = weighted_mean(self.rows[f][:, places], self.weights[f], self.rounding[places])
        return self._moments[key]

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """Welch's (1938) difference of means."""
        places = np.searchsorted(self.nodes, n)
        (a, va, fa), (b, vb, fb) = (self.moments(f, places) for f in pair)
        return Evidence(a - b, np.sqrt(va + vb), satterthwaite((va, vb), (fa, fb)))

    def estimate(self, pair: Pair, n: IntArray) -> FloatArray:
        """The difference of the means."""
        return self.evidence(pair, n).difference

    def curves(self, families: Families, k: int, labels: Labels) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
        """Means and their squared standard errors from sums over the units assigned."""
        held = np.concatenate([self.rows[f][:, :k] for f in families])
        weights = np.concatenate([self.weights[f] for f in families])
        known = ~np.isnan(held)
        mass = known * weights[:, None]
        centre = np.nansum(held * weights[:, None], axis=0) / mass.sum(axis=0)
        widest = np.nanmax(np.abs(held - centre), axis=0)
        scale = np.where(widest > 0, widest, 1.0)
        off = np.where(known, (held - centre) / scale, 0.0)  # no digit is lost to a common offset
        once, twice = off * mass, np.square(off * mass)
        values, variances = [], []
        for place in range(len(families)):
            chosen = (labels == place).astype(np.float64)
            total, number = chosen @ mass, chosen @ known.astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = chosen @ once / total
                squares = chosen @ twice - 2 * mean * (chosen @ (once * mass)) + mean**2 * (chosen @ np.square(mass))
                spread = np.maximum(squares, 0) * number / (number - 1) / total**2
                floor = self.rounding[:k] / scale**2 * (chosen @ np.square(mass)) / total**2
            values.append((mean * scale).T)
            variances.append((np.maximum(spread, floor) * scale**2).T)
        return values, variances

    def family_draws(self, f: int, bounds: Bounds = (None, None), stream: int = 0) -> Draws:
        """Of one family's mean at every budget."""
        if (f, bounds, stream) not in self._draws:
            known = ~np.isnan(self.rows[f])
            mass = known * self.weights[f][:, None]
            rng = np.random.default_rng([VERDICTS, stream])
            sums = np.where(known, self.rows[f], 0.0) * mass
            self._draws[f, bounds, stream] = mean_draws(sums, mass, rng, within_bounds(bounds, sums, mass))
        return self._draws[f, bounds, stream]

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """Of the two means."""
        places = np.flatnonzero(self.nodes == n)
        first, second = (float(self.moments(f, places)[1][0]) for f in pair)
        return first, second


class SignUnits(Units):
    """Problems, or clusters of problems, that two systems share: under equal distributions signs are exchanged.

    Parameters
    ----------
    differences
        Of each pair, (problem, budget): first minus second, turned; NaN where a system has too few samples.
    pairs
        Whose they are.
    n
        The budgets, increasing.
    weights, clusters
        Of the problems; None: all alike, each by itself. The cluster is what is exchanged and drawn.
    """

    exchange = "swaps"

    def __init__(
        self,
        differences: Sequence[FloatArray],
        pairs: Sequence[Pair],
        n: IntArray,
        weights: FloatArray | None = None,
        clusters: Column | None = None,
    ) -> None:
        self.nodes, self.pairs = n, tuple(pairs)
        self._given = differences, weights, clusters
        self.sums, self.mass = {}, {}
        for pair, rows in zip(pairs, differences, strict=True):
            each = np.ones(rows.shape[0]) if weights is None else weights / weights.max()
            known = ~np.isnan(rows)
            sums, mass = np.where(known, rows, 0.0) * each[:, None], known * each[:, None]
            if clusters is not None:
                _, code = np.unique(clusters, return_inverse=True)
                sums, mass = (_by_cluster(column, code) for column in (sums, mass))
            held = (mass > 0).any(axis=1)
            self.sums[pair], self.mass[pair] = sums[held], mass[held]

    def sizes_of(self, families: Families) -> tuple[int, ...]:
        """The problems that the two share."""
        return (self.sums[self._pair(families)].shape[0],) * 2

    def counts(self, f: int) -> Hashable:  # noqa: ARG002
        """Pairs alone are exchanged."""
        return None

    def reach(self, families: Families) -> int:
        """The last budget at which two problems are known."""
        enough = np.flatnonzero((self.mass[self._pair(families)] > 0).sum(axis=0) >= 2)
        return int(self.nodes[enough[-1]]) if enough.size else 0

    def _pair(self, families: Families) -> Pair:
        return next(pair for pair in self.pairs if set(pair) == set(families))

    def at(self, n: int) -> SignUnits:
        """The same problems at one budget."""
        differences, weights, clusters = self._given
        place = np.flatnonzero(self.nodes == n)
        return SignUnits([table[:, place] for table in differences], self.pairs, self.nodes[place], weights, clusters)

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """The mean difference and its jackknife error over units."""
        places = np.searchsorted(self.nodes, n)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(self.mass[pair] > 0, self.sums[pair] / self.mass[pair], np.nan)[:, places]
        # equal differences have not variance 0 but an unknown one, of the order of a step between them and zero
        steps = [rounding_variance(np.append(column[~np.isnan(column)], 0.0)) for column in values.T]
        mean, variance, freedom = weighted_mean(values, self.mass[pair][:, places], np.array(steps))
        return Evidence(mean, np.sqrt(variance), freedom)

    def estimate(self, pair: Pair, n: IntArray) -> FloatArray:
        """The mean difference."""
        return self.evidence(pair, n).difference

    def assignments(self, families: Families) -> float:
        """Every pattern of signs of the units that differ somewhere."""
        return float(2 ** min(int((self.sums[self._pair(families)] != 0).any(axis=1).sum()), 1000))

    def observed(self, pair: Pair, n: IntArray) -> FloatArray:
        """The sum over the root of the sum of squares, which no sign changes: it grows with the paired t."""
        rows = self._scaled(pair)[:, np.searchsorted(self.nodes, n)]
        return np.asarray(np.abs(rows.sum(axis=0)))

    def _scaled(self, pair: Pair) -> FloatArray:
        """Units that differ somewhere, in proportion to the root of the sum of squares at each budget."""
        sums = self.sums[pair]
        sums = sums[(sums != 0).any(axis=1)]
        scale = np.sqrt(np.square(sums).sum(axis=0))
        return np.asarray(sums / np.where(scale > 0, scale, np.inf))

    def exchanged(self, families: Families, size: int | None, rng: np.random.Generator) -> FloatArray:
        """The statistic with signs exchanged."""
        rows = self._scaled(self._pair(families))[:, : self.inside(families)]
        units = rows.shape[0]
        if size is None:
            signs = 1.0 - 2.0 * (np.arange(2**units)[:, None] >> np.arange(units) & 1)
            return np.asarray(np.abs(signs @ rows).T[None])
        if units and float(np.square(rows).max()) <= DOMINATES:
            return np.abs(normal_sums(rows.T @ rows, size, rng)).T[None]
        parts, piece = [], max(1, _SIGNS_AT_ONCE // max(units, 1))
        for start in range(0, size, piece):
            signs = 2.0 * rng.integers(0, 2, (min(piece, size - start), units), dtype=np.int8) - 1.0
            parts.append(np.abs(signs @ rows).T)
        return np.concatenate(parts, axis=1)[None]

    def draws(self, pair: Pair, bounds: Bounds = (None, None)) -> Draws:
        """Weights of units; ``bounds`` are those of a score, so that a difference lies within their distance."""
        sums, mass = self._inside(pair)
        return mean_draws(sums, mass, np.random.default_rng(VERDICTS), within_bounds(apart(bounds), sums, mass))

    def shown_draws(self, pair: Pair, bounds: Bounds) -> Draws:
        """With the unobserved problem near the others, or at the bounds where few problems decide."""
        sums, mass = self._inside(pair)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = sums / mass
        ends = [imagined_ends(np.sort(column[~np.isnan(column)]), apart(bounds)) for column in values.T]
        below, above = np.array(ends, dtype=np.float64).T
        further = mass.max(axis=0)
        if any(given is not None for given in self._given[1:]):
            further = np.maximum(further, HEAVIER * mass.sum(axis=0) / (mass > 0).sum(axis=0))
        return mean_draws(sums, mass, np.random.default_rng(VERDICTS), (below, above), further=further)

    def _inside(self, pair: Pair) -> tuple[FloatArray, FloatArray]:
        """Weighted values and weights of the units at the budgets within reach."""
        k = self.inside(pair)
        return self.sums[pair][:, :k], self.mass[pair][:, :k]

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """All of it: against a constant."""
        return float(self.evidence(pair, np.array([n])).error[0]) ** 2, 0.0


def weighted_mean(
    values: FloatArray, weights: FloatArray, rounding: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each column over its known units: the mean, its squared jackknife error, and effective degrees of freedom.

    ``weights`` are one for each unit, or (unit, column); no variance is below that of rounding.
    """
    known = ~np.isnan(values)
    mass = known * (weights if weights.ndim == 2 else weights[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        total, squares = mass.sum(axis=0), np.square(mass).sum(axis=0)
        mean = (np.where(known, values, 0.0) * mass).sum(axis=0) / total
        off = np.where(known, values - mean, 0.0) * mass
        off[np.abs(off) < 1e-14 * np.maximum(np.abs(mean), 1e-300)] = 0.0  # rounding of equal values is not spread
        number = (mass > 0).sum(axis=0)
        variance = np.square(off).sum(axis=0) * number / (number - 1) / total**2
        least = rounding * squares / total**2
        return mean, np.maximum(variance, least), np.maximum(total**2 / squares - 1, 1e-9)


def _by_cluster(column: FloatArray, code: IntArray) -> FloatArray:
    out = np.zeros((code.max() + 1, column.shape[1]))
    np.add.at(out, code, column)
    return out


def _content(rows: FloatArray) -> tuple[int, float, bytes]:
    ordered = rows[np.lexsort(rows.T[::-1])]
    return rows.shape[0], float(np.nanmean(ordered)), ordered.tobytes()
