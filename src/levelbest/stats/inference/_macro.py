"""Problems of several tasks: a mean over tasks of means over problems, each task with its share.

Systems are exchanged within problems, all tasks together; the tasks are taken as they are, so that errors are those
within each task.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import Bounds, Column, FloatArray, IntArray
from levelbest.stats.inference._draws import Draws, apart, averaged, mean_draws, within_bounds
from levelbest.stats.inference._hypotheses import VERDICTS, Pair
from levelbest.stats.inference._means import SignUnits, weighted_mean
from levelbest.stats.inference._units import Evidence, rounding_variance, satterthwaite


class MacroUnits(SignUnits):
    """Problems, or clusters of them, of several tasks that two systems share.

    Parameters
    ----------
    differences, pairs, n
        As of `SignUnits`.
    weights, clusters
        Of the problems; None: all of a task alike, each by itself.
    tasks, shares
        The task of each problem, as codes, and the share of each task in the mean.
    """

    def __init__(
        self,
        differences: Sequence[FloatArray],
        pairs: Sequence[Pair],
        n: IntArray,
        weights: FloatArray | None,
        clusters: Column | None,
        tasks: IntArray,
        shares: FloatArray,
    ) -> None:
        nested = np.arange(tasks.size) if clusters is None else np.unique(clusters, return_inverse=True)[1]
        # a cluster is within one task
        _, unit = np.unique(tasks.astype(np.int64) * (nested.max() + 1) + nested, return_inverse=True)
        super().__init__(differences, pairs, n, weights, unit.ravel())
        self._given = differences, weights, clusters
        self._tasks = tasks, shares
        self.task: dict[Pair, IntArray] = {}
        of_unit = np.zeros(unit.max() + 1, dtype=np.int64)
        of_unit[unit.ravel()] = tasks
        for pair, rows in zip(pairs, differences, strict=True):
            held = np.isin(np.arange(of_unit.size), unit.ravel()[~np.isnan(rows).all(axis=1)])
            if weights is not None:
                held &= np.bincount(unit.ravel(), weights) > 0
            self.task[pair] = of_unit[held]
            self._share_out(pair, shares)

    def _share_out(self, pair: Pair, shares: FloatArray) -> None:
        """Weights of the units so that each task has its share at every budget; none where a task has no problem."""
        totals = np.stack([self.mass[pair][self.task[pair] == t].sum(axis=0) for t in range(shares.size)])
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where((totals > 0).all(axis=0), shares[:, None] / totals, 0.0)[self.task[pair]]
        self.sums[pair], self.mass[pair] = self.sums[pair] * factor, self.mass[pair] * factor

    def at(self, n: int) -> MacroUnits:
        """The same problems at one budget."""
        differences, weights, clusters = self._given
        place = np.flatnonzero(self.nodes == n)
        rows = [table[:, place] for table in differences]
        return MacroUnits(rows, self.pairs, self.nodes[place], weights, clusters, *self._tasks)

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """The mean over tasks; errors are those within each, and a single problem's its distance from the mean."""
        places = np.searchsorted(self.nodes, n)
        sums, mass = self.sums[pair][:, places], self.mass[pair][:, places]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = sums.sum(axis=0) / mass.sum(axis=0)
            values = np.where(mass > 0, sums / mass, np.nan)
        steps = np.array([rounding_variance(np.append(column[~np.isnan(column)], 0.0)) for column in values.T])
        variances, freedoms = [], []
        for t in np.unique(self.task[pair]):
            inside = self.task[pair] == t
            centre, variance, freedom = weighted_mean(values[inside], mass[inside], steps)
            several = (mass[inside] > 0).sum(axis=0) > 1
            share = mass[inside].sum(axis=0) / mass.sum(axis=0)
            variances.append(np.where(several, variance, np.square(centre - mean)) * np.square(share))
            freedoms.append(np.where(several, freedom, 1.0))
        return Evidence(mean, np.sqrt(np.sum(variances, axis=0)), satterthwaite(variances, freedoms))

    def draws(self, pair: Pair, bounds: Bounds = (None, None)) -> Draws:
        """Of each task by itself, averaged."""
        sums, mass = self._inside(pair)
        ends = within_bounds(apart(bounds), sums, mass)
        rng, total = np.random.default_rng(VERDICTS), mass.sum(axis=0)
        parts, shares = [], []
        for t in np.unique(self.task[pair]):
            inside = self.task[pair] == t
            parts.append(mean_draws(sums[inside], mass[inside], rng, ends))
            shares.append((mass[inside].sum(axis=0) / total)[:, None])
        return averaged(parts, shares)

    def shown_draws(self, pair: Pair, bounds: Bounds) -> Draws:
        """The same."""
        return self.draws(pair, bounds)
