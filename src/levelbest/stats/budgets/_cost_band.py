"""Limits for cost curves and their differences: those of curves over trials, at the equivalent number of trials.

The orders that gave the curve also tell how the winners within a budget T are distributed over the ranks: R_j(T) is how
often none of the trials above rank j was finished, where any was. The same would be found with nu_j(T) trials drawn
without replacement, C(j, nu) / C(m, nu) = R_j; with equal costs nu is T / cost at every rank, and where good trials
cost more it is smaller at the top. So the draws of `bands` serve as they are, with U_j^nu_j in place of U_j^n: over
random uniforms U_1 < ... < U_m the winner lies at or below rank j with chance U_j^nu_j. What these draws do not have is
how costs decide which trials finish at all; the jackknife error of the curve has it, and where that is larger the draws
are stretched to it. The chance that nothing finishes is the weight of the trials that cost more than T (with one
worker); where T is not far above the most expensive trial, the lower limit's imagined one is too expensive as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import BoolArray, Bounds, FloatArray, IntArray
from levelbest.stats.bands import (
    FEWEST_FREE,
    ReportCells,
    closer_by,
    further_scores,
    hats,
    imagined_reports,
    local_level,
    order_statistic,
    rank_edges,
    sorted_uniforms,
    t_quantile,
    wider_by,
)
from levelbest.stats.best import Sample
from levelbest.stats.budgets._many_trials import WHOLE_ORDERS_UP_TO, expected_of_many
from levelbest.stats.budgets._orders import ROUNDING, Pool, Spent, expected
from levelbest.stats.inference import Band

_COST_UNIFORMS_AT_ONCE = 1 << 17  # uniforms in one piece
_NEWTON_STEPS = 8  # of Newton's: more change nothing
_LEAST_LOG_POWER = -700.0  # logarithm of a power
_SMALL_LOG_POWER = -50.0  # logarithm of the powers that matter
_SEEN = 20  # orders with their winner at or below a rank that tell how often that happens


@dataclass(frozen=True, eq=False)
class CostDraws:
    """Draws of a cost curve, (budget, draw): quantiles of the one are lower limits, of the other upper ones.

    Limits are at least as wide as Student's t with this ``error`` and so many degrees of freedom at each budget.
    """

    lower: FloatArray
    upper: FloatArray
    error: FloatArray
    freedom: FloatArray

    def __sub__(self, other: CostDraws) -> CostDraws:
        """The draws of a difference of two independent families, with Welch and Satterthwaite's degrees of freedom."""
        squares, others = self.error**2, other.error**2
        parts = squares**2 / self.freedom + others**2 / other.freedom
        freedom = np.divide((squares + others) ** 2, parts, out=np.ones(parts.size), where=parts > 0)
        return CostDraws(self.lower - other.upper, self.upper - other.lower, np.sqrt(squares + others), freedom)

    def at(self, chosen: BoolArray) -> CostDraws:
        """The same at some of the budgets."""
        return CostDraws(self.lower[chosen], self.upper[chosen], self.error[chosen], self.freedom[chosen])

    @property
    def finite(self) -> BoolArray:
        """The budgets at which every draw is a number."""
        return np.asarray(np.isfinite(self.lower).all(axis=1) & np.isfinite(self.upper).all(axis=1))

    def stretched(self, spent: Spent, of_trials: FloatArray, bounds: Bounds) -> CostDraws:
        """The same with the standard deviation of the curve, where that is more than theirs and than ``of_trials``.

        The last is the error of the curve over as many trials: what costs add to it, and the draws do not have.
        """

        def wider(side: FloatArray) -> FloatArray:
            middle, known = side.mean(axis=1, keepdims=True), np.maximum(side.std(axis=1), of_trials)
            factor = np.divide(spent.sampling_error, known, out=np.ones(known.size), where=known > 0)
            return np.asarray(np.clip(middle + np.maximum(factor, 1.0)[:, None] * (side - middle), *bounds))

        return CostDraws(wider(self.lower), wider(self.upper), self.error, self.freedom)

    def limits(self, confidence: float, value: FloatArray, *, simultaneous: bool) -> tuple[FloatArray, FloatArray]:
        """Low and high about the curve ``value``, for each budget alone or for all at once."""
        low, high = np.full((2, value.size), np.nan)
        known = np.isfinite(value) & self.finite
        if known.any():
            inside, tail = self.at(known), (1 - confidence) / 2
            tails = [
                local_level(draws, tail, tails=side) if simultaneous else tail
                for draws, side in ((inside.lower, -1), (inside.upper, 1))
            ]
            low[known], high[known] = inside.at_tails((tails[0], tails[1]), tail, value[known])
        return low, high

    def at_tails(
        self, tails: tuple[float, float], pointwise: float, value: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Low and high that leave such tails; ``pointwise`` is the tail of one budget alone."""
        half = t_quantile(self.freedom, pointwise) * self.error
        below, above = (half * wider_by(tail, pointwise) for tail in tails)
        low = np.minimum(order_statistic(self.lower, tails[0]), value - below)
        return low, np.maximum(order_statistic(self.upper, 1 - tails[1]), value + above)


@dataclass(frozen=True, eq=False)
class Spending:
    """One family's trials spent within every budget of a grid, and the draws behind limits where they were asked."""

    pool: Pool
    grid: FloatArray
    orders: Spent
    draws: CostDraws | None

    @property
    def inside(self) -> BoolArray:
        """The budgets at which the curve can be estimated."""
        return self.pool.inside(self.grid)

    def at(self, chosen: BoolArray) -> Spending:
        """The same at some of the budgets."""
        drawn = None if self.draws is None else self.draws.at(chosen)
        return Spending(self.pool, self.grid[chosen], self.orders.at(chosen), drawn)


def spend(pool: Pool, grid: FloatArray, n_orders: int, n_draws: int, rng: np.random.Generator) -> Spending:
    """Spend orders of the trials within every budget; no draws where none are asked for."""
    many = pool.workers == 1 and pool.y.size > WHOLE_ORDERS_UP_TO
    orders = (expected_of_many if many else expected)(pool, grid, n_orders, rng)
    if not n_draws:
        return Spending(pool, grid, orders, None)
    trials = np.maximum(orders.finished / np.maximum(1 - orders.nothing, 1e-12), 1.0)
    alike = bool((pool.y == pool.selection).all())
    source = (_OneColumn if alike else _Reported)(pool, trials)
    lower, upper = source.draws(pool, grid, orders, n_draws, rng)
    # Student's t is for separate reported scores alone, as it is over trials.
    error = np.zeros(grid.size) if alike else orders.sampling_error
    freedom = np.ones(grid.size) if alike else degrees_of_winners(pool, orders)
    drawn = CostDraws(lower, upper, error, freedom)
    whole = np.clip(np.rint(trials), 1, pool.y.size - 1).astype(np.int64)
    trial_counts, back = np.unique(whole, return_inverse=True)
    of_trials = ReportCells.of(Sample(pool.selection[pool.ranked], pool.y[pool.ranked])).errors(trial_counts)[back]
    return Spending(pool, grid, orders, drawn.stretched(orders, of_trials, pool.bounds))


def degrees_of_winners(pool: Pool, spent: Spent) -> FloatArray:
    """Degrees of freedom at each budget: (m - 1) / (m w), w how often the likeliest winner wins; at least 2."""
    trials = np.bincount(pool.rank)
    freedom = np.empty(spent.value.size)
    for i, parts in enumerate(spent.winners):
        won = np.concatenate(parts)
        often = np.bincount(won[won >= 0], minlength=trials.size) / trials
        freedom[i] = (1 - 1 / pool.y.size) * won.size / max(float(often.max()), 1.0)
    return np.maximum(freedom, FEWEST_FREE)


class _Curve:
    """Trials in order of the selection score at some of their ranks, and what a draw of uniforms makes of them."""

    edges: IntArray

    def __init__(self, pool: Pool, trials: FloatArray) -> None:
        order = pool.ranked
        self.y = pool.y[order]
        self.trials, self.m = trials, order.size

    def draws(
        self, pool: Pool, grid: FloatArray, spent: Spent, n_draws: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """The draws at every budget of the grid, for lower and for upper limits."""
        nu = self._worth(spent, pool.rank[pool.ranked[self.edges - 1]])
        nothing = self._nothing(pool, grid, spent, n_draws, rng)
        lower, upper = np.empty((2, grid.size, n_draws))
        piece = max(1, _COST_UNIFORMS_AT_ONCE // self.edges.size)
        for start in range(0, n_draws, piece):
            cut = slice(start, min(start + piece, n_draws))
            logs = self._drawn(cut.stop - start, rng)
            lowest, highest, buffer = logs.min(axis=0), logs.max(axis=0), np.empty(logs.size)
            for i in range(grid.size):
                # exp is slow where it underflows, and what is this small adds nothing
                begin = int(np.argmax(nu[i] * highest > _SMALL_LOG_POWER))
                power = buffer[: logs[:, begin:].size].reshape(len(logs), -1)
                np.multiply(nu[i, begin:], logs[:, begin:], out=power)
                if (nu[i, begin:] * lowest[begin:]).min() < _LEAST_LOG_POWER:
                    np.maximum(power, _LEAST_LOG_POWER, out=power)
                np.exp(power, out=power)
                sides = self._sides(i, power, begin)
                for side, draw, none in zip((lower, upper), sides, nothing, strict=True):
                    side[i, cut] = none[i, cut] * pool.worst + (1 - none[i, cut]) * draw if none[i].any() else draw
        return lower, upper

    def _nothing(
        self, pool: Pool, grid: FloatArray, spent: Spent, n_draws: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """The chance that nothing finishes, (budget, draw), at most and at least.

        With one worker it is the weight of the trials that alone cost more than the budget, and at most that of an
        imagined one too, where the budget is not above what a further trial may cost.
        """
        if pool.workers > 1:
            same = np.repeat(spent.nothing[:, None], n_draws, axis=1)
            return same, same
        cost = np.sort(pool.cost)
        affordable = np.searchsorted(cost, grid * (1 + ROUNDING), side="right")
        highest = further_scores(cost, self.trials)[1]  # imagined as a better score is
        with_imagined = np.where((affordable == self.m) & ~(grid < highest), self.m + 1, affordable)
        ranks = np.stack([with_imagined, affordable + 1])
        edges = np.unique(np.clip(ranks, 1, self.m))
        uniforms = sorted_uniforms(edges, self.m, n_draws, rng).T
        uniforms = np.concatenate([np.zeros((1, n_draws)), uniforms, np.ones((1, n_draws))])
        at = np.where(ranks < 1, 0, np.where(ranks > self.m, edges.size + 1, np.searchsorted(edges, ranks) + 1))
        return 1 - uniforms[at[0]], 1 - uniforms[at[1]]

    def _worth(self, spent: Spent, rank: npt.NDArray[np.int32]) -> FloatArray:
        """nu (budget, edge): with how many trials the winners would lie at or below the edge, of some rank, as often.

        At ranks where hardly any order has its winner it is that of the lowest rank where some have, and for a trial
        better than all observed the mean of the best ones.
        """
        below = spent.at_or_below(rank)
        nu = _trials_for(below, self.edges, self.m)
        seen = np.argmax(below >= _SEEN / spent.counts[:, None], axis=1)
        nu = np.where(np.arange(self.edges.size) < seen[:, None], nu[np.arange(seen.size), seen][:, None], nu)
        best = slice(-1 - max(3, round(self.m**0.5)), -1) if self.edges.size > 1 else slice(None)
        nu[:, -1] = nu[:, best].mean(axis=1)
        return nu

    def _drawn(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Logarithms of the uniforms at the edges, (draw, edge)."""
        raise NotImplementedError

    def _sides(self, i: int, power: FloatArray, begin: int) -> tuple[FloatArray, FloatArray]:
        """Draws at budget i of the powers at the edges from ``begin`` on; those before are 0."""
        raise NotImplementedError


class _OneColumn(_Curve):
    """The selection score is what is reported."""

    def __init__(self, pool: Pool, trials: FloatArray) -> None:
        super().__init__(pool, trials)
        self.edges = rank_edges(self.m)
        gaps, places = np.diff(self.y), np.arange(1, self.m)
        above, below = hats(self.edges, places, gaps), hats(self.edges, places + 1, gaps)
        closer = closer_by(self.y, trials)[:, None]
        self.above, self.below = above + closer * (below - above), below + closer * (above - below)
        self.worst, self.best = further_scores(self.y, trials, pool.bounds)

    def _drawn(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(np.log(sorted_uniforms(self.edges, self.m, n_draws, rng)))

    def _sides(self, i: int, power: FloatArray, begin: int) -> tuple[FloatArray, FloatArray]:
        top = self.y[-1]
        first = 0.0 if begin else power[:, 0]
        low = top - power @ self.below[i, begin:] - first * (self.y[0] - self.worst[i])
        return low, top - power @ self.above[i, begin:] + (1 - power[:, -1]) * (self.best[i] - top)


class _Reported(_Curve):
    """Another score is reported: see `bands._reported`."""

    def __init__(self, pool: Pool, trials: FloatArray) -> None:
        super().__init__(pool, trials)
        ordered = Sample(pool.selection[pool.ranked], self.y)
        self.cells = ReportCells.of(ordered)
        self.edges = self.cells.edges
        self.imagined = np.repeat(np.array(imagined_reports(ordered, pool.bounds))[:, None], trials.size, axis=1)
        self.of_cell = np.empty((0, 0))

    def _drawn(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        self.of_cell, logs = self.cells.drawn(n_draws, rng)
        return logs

    def _sides(self, i: int, power: FloatArray, begin: int) -> tuple[FloatArray, FloatArray]:
        rest = 1 - power[:, -1]
        np.subtract(power[:, 1:], power[:, :-1], out=power[:, 1:])
        mean = np.einsum("bk,bk->b", power, self.of_cell[:, begin:])
        return mean + rest * self.imagined[0, i], mean + rest * self.imagined[1, i]


def _trials_for(share: FloatArray, edges: IntArray, n_trials: int) -> FloatArray:
    """The number nu of trials, not whole, with C(j, nu) / C(n_trials, nu) = share at each edge j.

    By Newton's steps in the logarithm, which is concave, from (j / n_trials)^nu = share, which lies beyond: they fall.
    """
    from scipy.special import gammaln, psi

    most = edges.astype(np.float64)
    fixed = gammaln(most + 1) - gammaln(n_trials + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.log(share)
        nu = np.fmin(wanted / np.log(most / n_trials), most)
        for _ in range(_NEWTON_STEPS):
            logs = fixed + gammaln(n_trials - nu + 1) - gammaln(most - nu + 1)
            nu = np.clip(nu - (wanted - logs) / (psi(n_trials - nu + 1) - psi(most - nu + 1)), 0.0, most)
    return np.where(share >= 1, 0.0, np.where(share > 0, nu, most))


def cost_differences(families: Sequence[Spending], pairs: Sequence[tuple[int, int]], confidence: float) -> list[Band]:
    """Differences of cost curves (turned scores) with limits over all pairs and budgets of one grid.

    The draws of two families are independent: the upper limit of a difference is a quantile of the first's upper draws
    minus the second's lower ones.
    """
    grid = families[0].grid
    values = [np.where(family.inside, family.orders.value, np.nan) for family in families]
    drawn = [family.draws for family in families if family.draws is not None]
    differences = {(a, b): values[a] - values[b] for a, b in pairs}
    known = {(a, b): np.isfinite(differences[a, b]) & drawn[a].finite & drawn[b].finite for a, b in pairs}

    def band(pair: tuple[int, int]) -> CostDraws:
        return (drawn[pair[0]] - drawn[pair[1]]).at(known[pair])

    bands, tail = [], (1 - confidence) / 2
    lowest = highest = tail
    if any(inside.any() for inside in known.values()):
        # A pair at a time: those of many families together would not fit into memory.
        lowest = local_level((row for pair in pairs for row in band(pair).lower), tail, tails=-1)
        highest = local_level((row for pair in pairs for row in band(pair).upper), tail, tails=1)
    for pair in pairs:
        difference, inside = differences[pair], known[pair]
        low, high = np.full((2, grid.size), np.nan)
        if inside.any():
            low[inside], high[inside] = band(pair).at_tails((lowest, highest), tail, difference[inside])
        bands.append(Band.of(grid, difference, low, high))
    return bands
