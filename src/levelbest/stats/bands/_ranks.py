"""Which order statistics limit a quantile curve: exact for every continuous distribution, conservative for any other.

The q-quantile of the best of n is F^-1(p_n), p_n = q^(1/n). With N(p) = how many of the trials' uniform ranks
U = F(X) are at most p, l <= N(p) < u gives U_(l) <= p < U_(u), hence X_(l) <= F^-1(p) <= X_(u): with equality of the
two probabilities for a continuous F, and at least that coverage for any F, ties and failures included.
So an interval is a pair of order statistics that depends on the number of trials alone, not on the scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from levelbest._check import BoolArray, FloatArray, IntArray, as_budgets, as_choice, as_confidence, as_quantile
from levelbest.errors import InputError
from levelbest.stats.bands._paths import limit_losses, path_probability

SHAPES = ("narrow", "long")
_LONG_COST = 1.05  # how much wider in ranks, on average, the long shape may be than the narrow one
_LEAST_SHARE = 0.2  # of the error rate, what the long shape leaves to the other limit of a pointwise interval
_EVERY_BUDGET = 200  # beyond so many budgets only whole runs of equal limits are tightened


@dataclass(frozen=True, eq=False)
class RankBand:
    """Which order statistics (counted from the worst) limit the curve: 0 and n_trials + 1 stand for no limit.

    ``coverage`` is exact for a continuous distribution: one number for a simultaneous band, one per budget otherwise.
    ``local_level`` is the error rate of each budget alone before the remainder was spent, and ``horizon`` the
    largest budget with a limit on the side that is best (0: none).
    """

    n: IntArray
    low: IntArray
    high: IntArray
    n_trials: int
    q: float
    confidence: float
    simultaneous: bool
    shape: str
    coverage: float | FloatArray
    local_level: float
    horizon: int


def rank_band(
    n_trials: int,
    n: npt.ArrayLike,
    q: float = 0.5,
    *,
    confidence: float = 0.95,
    pointwise: bool = False,
    shape: str = "narrow",
) -> RankBand:
    """The order statistics that limit the q-quantile curve, without any scores: for planning.

    Pointwise, each limit has half of the error rate. Simultaneous, binomial intervals with one common local level,
    the largest with which the exact joint coverage is enough; what the steps of the counts leave over goes to the
    limits that narrow the band most for it. ``shape="long"`` gives the best order statistic as the
    limit up to a budget further out and pays with a smaller level elsewhere: simultaneous, as far as the mean
    width in ranks grows by at most 5 %; pointwise, as long as a fifth of the error rate is left for the other limit.

    Parameters
    ----------
    n_trials
        How many trials there are or will be.
    n
        How many trials one may try.
    q
        Which quantile; .5 is the median.
    confidence
        Of the limits, 0.95 and not 95.
    pointwise
        Whether the limits hold for each n separately: a band's hold for all of them together.
    shape
        ``narrow`` or ``long``.

    Returns
    -------
    RankBand
        Which order statistics limit the curve at each n, and the exact coverage.

    Examples
    --------
    >>> band = rank_band(50, [1, 5])
    >>> band.low.tolist(), band.high.tolist()
    ([18, 38], [33, 49])
    """
    if n_trials < 2:
        raise InputError(f"an interval needs at least 2 trials, got {n_trials}; run more trials")
    budgets, _ = as_budgets(n)
    as_choice(shape, SHAPES, "shape")
    level, covered = as_quantile(q), as_confidence(confidence)
    distinct, where = np.unique(budgets, return_inverse=True)
    solve = _pointwise if pointwise else _simultaneous
    low, high, coverage, local, reach = solve(n_trials, tuple(distinct.tolist()), level, covered, shape)
    return RankBand(
        n=budgets,
        low=np.asarray(low)[where],
        high=np.asarray(high)[where],
        n_trials=n_trials,
        q=level,
        confidence=covered,
        simultaneous=not pointwise,
        shape=shape,
        coverage=coverage if isinstance(coverage, float) else np.asarray(coverage)[where],
        local_level=local,
        horizon=reach,
    )


_Solution = tuple[tuple[int, ...], tuple[int, ...], float | tuple[float, ...], float, int]


@lru_cache(maxsize=256)
def _pointwise(n_trials: int, n: tuple[int, ...], q: float, confidence: float, shape: str) -> _Solution:
    budgets = np.asarray(n, dtype=np.int64)
    error = (1 - confidence) * (1 + 1e-12)  # a tail that equals its share is small enough, whatever the rounding
    p = np.exp(math.log(q) / budgets)
    all_below = np.exp(n_trials * math.log(q) / budgets)  # P(N(p_n) = n_trials): the best trial is below the quantile
    low, high = _binomial_limits(n_trials, p, np.full(p.size, error / 2), np.full(p.size, error / 2))
    share = 0.5
    if shape == "long":
        share = 1 - _LEAST_SHARE
        far = (high > n_trials) & (all_below <= share * error)
        high[far] = n_trials
        low[far] = _binomial_limits(n_trials, p[far], error - all_below[far], all_below[far])[0]
    coverage = _at_most(high - 1, n_trials, p) - _at_most(low - 1, n_trials, p)
    # all_below <= share * error  <=>  n <= n_trials log(1/q) / log(1/(share * error))
    reach = math.floor(n_trials * math.log(q) / math.log(share * error) + 1e-12)
    return tuple(low.tolist()), tuple(high.tolist()), tuple(coverage.tolist()), error, reach


@lru_cache(maxsize=256)
def _simultaneous(n_trials: int, n: tuple[int, ...], q: float, confidence: float, shape: str) -> _Solution:
    budgets = np.asarray(n, dtype=np.int64)
    p = np.exp(math.log(q) / budgets)
    # Bonferroni's level is small enough without a forced horizon, and far smaller ones with it.
    tails = _Tails(n_trials, p, math.log((1 - confidence) / p.size) - (12.0 if shape == "long" else 0.0))
    low, high, local = _common_level(tails, confidence, 0)
    low, high = _spend_error(n_trials, budgets, p, low, high, confidence)
    held = int((high <= n_trials).sum())
    if shape == "long":
        # The horizon is bought by the count of budgets that have the limit: bisect for the most that is cheap enough.
        # P(best trial below p_n) alone must leave something of the error rate.
        few, many = held, int((n_trials * math.log(q) / budgets < math.log1p(-confidence)).sum())
        width = (high - low)[:held].sum()
        while few < many:
            tried = (few + many + 1) // 2
            wider = _common_level(tails, confidence, tried)
            limits = _spend_error(n_trials, budgets, p, wider[0], wider[1], confidence)
            if wider[2] > 0 and (limits[1] - limits[0])[:held].sum() <= _LONG_COST * width:
                few, (low, high), local = tried, limits, wider[2]
            else:
                many = tried - 1
        held = int((high <= n_trials).sum())
    covered = _joint(n_trials, p, low, high)
    return tuple(low.tolist()), tuple(high.tolist()), covered, local, int(budgets[held - 1]) if held else 0


def _common_level(tails: _Tails, confidence: float, n_limited: int) -> tuple[IntArray, IntArray, float]:
    """Binomial limits at the largest common local level with enough joint coverage.

    The first ``n_limited`` budgets have the best trial as their limit whatever the level. The level returned is 0
    where no level is small enough.
    """
    n_trials, p = tails.n_trials, tails.p

    def limits(log_level: float) -> tuple[IntArray, IntArray]:
        low, high = tails.limits(0.5 * math.exp(log_level))
        high[:n_limited] = np.minimum(high[:n_limited], n_trials)
        return low, high

    error = 1 - confidence
    below, above = tails.least, 0.0
    best = limits(below)
    if _joint(n_trials, p, *best) < confidence:
        return *best, 0.0
    use_secant, tail_below, tail_above = True, -math.inf, math.inf
    while above - below > 1e-9:
        x = 0.5 * (below + above)
        if use_secant and math.isfinite(tail_below) and math.isfinite(tail_above):
            # log(1 - coverage) is nearly straight in the log of the level, but in steps: halve every other time.
            part = (math.log(error) - tail_below) / (tail_above - tail_below)
            x = below + (above - below) * min(max(part, 0.01), 0.99)
        use_secant = not use_secant
        tried = limits(x)
        covered = _joint(n_trials, p, *tried)
        tail = math.log(max(1 - covered, 1e-300))
        if covered >= confidence:
            below, tail_below, best = x, tail, tried
            if covered - confidence < 1e-6 * error:
                break
        else:
            above, tail_above = x, tail
    return *best, math.exp(below)


def _spend_error(
    n_trials: int, budgets: IntArray, p: FloatArray, low: IntArray, high: IntArray, confidence: float
) -> tuple[IntArray, IntArray]:
    """Tighten single limits while the joint coverage stays enough, those first that narrow the band most per loss.

    The curve never falls with n, so a limit from below holds for all larger budgets and one from above for all
    smaller ones: tightening one moves its neighbours at no cost. Ranks are valued as they lie apart in a normal
    sample, far apart at the ends, and at budget n by 1/n, so that each doubling of the budget counts alike. A longer
    horizon is taken where nothing else fits.
    """
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1].copy()
    before = np.append(0.0, np.cumsum(1 / budgets))
    apart = np.diff(scipy.special.ndtri(np.arange(1, n_trials + 1) / (n_trials + 1)))
    step = np.concatenate([[1.0], apart, [1.0, 1.0]])  # from rank r to r + 1; nothing lies beyond the first and last
    while True:
        unlimited = int(np.searchsorted(high, n_trials, side="right"))  # the first budget without an upper limit
        at = np.arange(p.size)
        if p.size > _EVERY_BUDGET:
            at = np.flatnonzero(_binding(n_trials, low, high) | (at == unlimited))
        total, lose_low, lose_high = limit_losses(n_trials, p[at], low[at], high[at] - 1)
        spare = total - confidence
        # The budgets that move along: from here on with the same lower limit, up to here with the same upper one.
        gain_low = step[low[at]] * (before[np.searchsorted(low, low[at], side="right")] - before[at])
        gain_high = step[high[at] - 1] * (before[at + 1] - before[np.searchsorted(high, high[at], side="left")])
        rate_low = np.where(lose_low <= spare, gain_low / np.maximum(lose_low, 1e-300), 0.0)
        rate_high = np.where((lose_high <= spare) & (at < unlimited), gain_high / np.maximum(lose_high, 1e-300), 0.0)
        best_low, best_high = int(np.argmax(rate_low)), int(np.argmax(rate_high))
        if max(rate_low[best_low], rate_high[best_high]) > 0:
            if rate_low[best_low] >= rate_high[best_high]:
                k = int(at[best_low])
                low[k:] = np.maximum(low[k:], low[k] + 1)
            else:
                k = int(at[best_high])
                high[: k + 1] = np.minimum(high[: k + 1], high[k] - 1)
        elif (lose_high[at == unlimited] <= spare).any():
            high[unlimited] = n_trials
        else:
            return low, high


def _binding(n_trials: int, low: IntArray, high: IntArray) -> BoolArray:
    """Of a run of equal limits from below the first implies the others, and from above the last."""
    return (low > np.insert(low[:-1], 0, 0)) | (high < np.append(high[1:], n_trials + 1))


def _joint(n_trials: int, p: FloatArray, low: IntArray, high: IntArray) -> float:
    """P(low_k <= N(p_k) < high_k for every k)."""
    binds = _binding(n_trials, low, high)
    return path_probability(n_trials, p[binds], low[binds], high[binds] - 1)


class _Tails:
    """Binomial tails of N(p_k), tabulated once for all local levels between exp(least) and 1."""

    def __init__(self, n_trials: int, p: FloatArray, least: float) -> None:
        self.n_trials, self.p, self.least = n_trials, p, least
        outer, inner = np.full(p.size, 0.5 * math.exp(least)), np.full(p.size, 0.5)
        self._low, self._high = _binomial_limits(n_trials, p, outer, outer)
        last_low, last_high = _binomial_limits(n_trials, p, inner, inner)
        # Per level the tails that decide each further step inwards; one more than needed, so that no run is empty.
        self._low_starts, steps, which = _runs(last_low - self._low + 1)
        self._below = _at_most(self._low[which] + steps, n_trials, p[which])  # P(N < low + steps + 1)
        self._high_starts, steps, which = _runs(self._high - last_high + 1)
        self._above = _at_least(self._high[which] - steps - 1, n_trials, p[which])

    def limits(self, half: float) -> tuple[IntArray, IntArray]:
        """The largest l with P(N < l) <= half and the smallest u with P(N >= u) <= half, at every p."""
        inwards = np.add.reduceat((self._below <= half).astype(np.int64), self._low_starts)
        downwards = np.add.reduceat((self._above <= half).astype(np.int64), self._high_starts)
        return self._low + inwards, self._high - downwards


def _runs(sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Runs of the given sizes laid end to end: where each starts, and for every entry its place and its run."""
    ends = np.cumsum(sizes)
    which = np.repeat(np.arange(sizes.size), sizes)
    return ends - sizes, np.arange(ends[-1]) - (ends - sizes)[which], which


def _binomial_limits(n_trials: int, p: FloatArray, below: FloatArray, above: FloatArray) -> tuple[IntArray, IntArray]:
    """The largest l with P(N(p) < l) <= below, and the smallest u with P(N(p) >= u) <= above (n_trials + 1: none)."""
    low = _last_where(lambda count: _at_most(count - 1, n_trials, p) <= below, n_trials, p.size)
    return low, 1 + _last_where(lambda count: _at_least(count, n_trials, p) > above, n_trials, p.size)


def _last_where(holds: Callable[[IntArray], BoolArray], n_trials: int, size: int) -> IntArray:
    """The largest count from 0 to n_trials for which it holds, as it does for all smaller ones; by halving."""
    last, beyond = np.zeros(size, dtype=np.int64), np.full(size, n_trials + 1)
    while (beyond - last > 1).any():
        middle = (last + beyond) // 2
        held = holds(middle)
        last, beyond = np.where(held, middle, last), np.where(held, beyond, middle)
    return last


def _at_most(count: IntArray, n_trials: int, p: FloatArray) -> FloatArray:
    """P(N(p) <= count), count from -1 to n_trials."""
    inside = np.clip(count, 0, n_trials - 1)
    value = scipy.special.betaincc(inside + 1, n_trials - inside, p)
    return np.where(count < 0, 0.0, np.where(count >= n_trials, 1.0, value))


def _at_least(count: IntArray, n_trials: int, p: FloatArray) -> FloatArray:
    """P(N(p) >= count), count from 0 to n_trials + 1: directly, since 1 - P(N < count) loses the small tails."""
    inside = np.clip(count, 1, n_trials)
    value = scipy.special.betainc(inside, n_trials + 1 - inside, p)
    return np.where(count <= 0, 1.0, np.where(count > n_trials, 0.0, value))
