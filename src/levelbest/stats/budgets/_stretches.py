"""What the weights of a draw make of the costs: the mean cost, and the share of trials that alone are too dear.

A draw weighs stretches of trials that follow one another in rank. Within a stretch of k trials the weights are those of
k - 1 further uniforms: they leave its mean cost where it is on average, with the variance of its costs over k + 1. Over
many stretches that is a normal number for the mean cost and one for each budget, whose covariances are summed here.
"""

from __future__ import annotations

import numpy as np

from levelbest._check import FloatArray, IntArray


class StretchCosts:
    """The costs of trials in order of rank, in stretches of so many of them, and budgets."""

    def __init__(self, cost: FloatArray, counts: IntArray, budgets: FloatArray) -> None:
        self.counts = counts
        self.overall = float(cost.mean())
        self.mean = np.add.reduceat(cost, np.cumsum(counts) - counts) / counts
        rising, place = np.unique(budgets, return_inverse=True)
        width = rising.size + 1
        # Trials by stretch and by how many of the budgets they exceed.
        cell = np.repeat(np.arange(counts.size) * width, counts) + np.searchsorted(rising, cost)
        often = np.bincount(cell, minlength=counts.size * width).reshape(counts.size, width)
        self.too_dear = (counts[:, None] - np.cumsum(often, axis=1))[:, place] / counts[:, None]
        self.factor: FloatArray | None = None
        if counts.max() > 1:
            away = cost - self.overall
            sums = np.bincount(cell, away, minlength=often.size).reshape(often.shape)
            share = counts / (counts + 1.0) / cost.size**2
            squares = float(np.repeat(share, counts) @ away**2)
            self.factor = self._factor(share, share @ often, share @ sums, squares, place)

    def _factor(
        self, share: FloatArray, often: FloatArray, sums: FloatArray, squares: float, place: IntArray
    ) -> FloatArray:
        """The covariance of the mean cost and of the share too dear at each budget is this matrix times itself."""
        # A trial exceeds the first k budgets or more: sums over the later columns.
        dearer, with_cost = (part[::-1].cumsum()[::-1] - part for part in (often, sums))
        both = np.empty((place.size + 1, place.size + 1))
        both[0, 0], both[0, 1:], both[1:, 0] = squares, with_cost[place], with_cost[place]
        both[1:, 1:] = dearer[np.maximum.outer(place, place)]
        means = np.column_stack([self.mean - self.overall, self.too_dear])
        values, vectors = np.linalg.eigh(both - (means.T * (share * self.counts)) @ means)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def drawn(self, weights: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """The mean cost in each draw times what all weights sum to, and (budget, draw) the share too dear."""
        mean, dear = weights @ self.mean, (weights @ self.too_dear).T
        if self.factor is not None:
            further = rng.standard_normal((weights.shape[0], self.factor.shape[0])) @ self.factor.T
            mean, dear = mean + further[:, 0], np.clip(dear + further[:, 1:].T, 0.0, 1.0)
        return mean, dear
