"""Means, spreads and standard errors of the best of n, from trials that are ranked once.

Each is a weighted sum of ranked scores, for many budgets at once, in O(m log m) or better. Weights far from the best
trial vanish, so that all budgets 1..m touch O(m log m) of them (`weight_pieces`). With many trials and n much smaller
than m the weights are also smooth: over a block of 512 ranks (of 64, where n is larger) 8 Chebyshev nodes hold them to
the last digit, and a budget then costs m / 64 operations on block moments made once by one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best._weights import (
    LONG_PIECE,
    UNDERFLOW,
    depth,
    rank_weights,
    weight_pieces,
    weight_rows,
    weights_below,
)

BEYOND_DIGITS = 37.0  # exp(-37) < 2^-53: what is left out cannot show in a double

_BLOCKS, _NODES = (512, 64), 8
# On a block the weights (about rank^(n-1)) change by a factor exp(c), c = 512 n / rank; 8 nodes leave a relative error
# of 2 (c/4)^8 / 8!, 2e-15 at c = 0.2: blocks serve from rank 2560 n upwards, those of 64 from rank 320 n.
_SMOOTH = 5
BLOCKS_PAY = 1 << 14  # trials from which on blocks pay, and spreads are taken from moments where they can be
KEPT_UP_TO = 1 << 12  # weights of one question that are kept


@dataclass(frozen=True)
class BestFirst:
    """Trials best first."""

    scores: FloatArray
    """Reported scores, averaged within ties in the selection score."""
    scale: float
    """The largest score in absolute value (1 if all are 0): squares are taken in units of it, so that they exist."""
    starts: IntArray | None = None
    """Where each group of tied trials begins; None without ties that matter."""
    within: FloatArray | None = None
    """Sum of squares of the reported scores about their mean, per group, in units of ``scale``."""

    @property
    def counts(self) -> IntArray:
        """How many trials each group of ties has."""
        assert self.starts is not None
        return np.diff(self.starts, append=self.scores.size)

    @property
    def tie_squares(self) -> FloatArray | None:
        """Per trial, the mean square of its group of ties about its mean; None without ties that matter."""
        return None if self.within is None else np.repeat(self.within / self.counts, self.counts)

    @cached_property
    def centre(self) -> float:
        """The mean of all scores, in units of ``scale``."""
        return float(self.scores.mean()) / self.scale

    @cached_property
    def width(self) -> float:
        """How far scores lie apart at most, in units of ``scale``; 0 if all are equal."""
        apart = float(self.scores.max() / self.scale - self.scores.min() / self.scale)
        return apart + (0.0 if self.within is None else math.sqrt(float(self.within.max())))


def best_first(selection: FloatArray, reported: FloatArray | None, direction: str) -> BestFirst:
    """Rank the trials by selection score; ``reported`` None where that is what is reported."""
    claimed = selection if reported is None else reported
    scale = float(max(claimed.max(), -claimed.min())) or 1.0
    # Sorting is expensive, and of very many trials it is done already.
    rising = bool((selection[1:] >= selection[:-1]).all())
    best = slice(None, None, -1 if direction == "max" else 1)
    if reported is None:
        return BestFirst((selection if rising else np.sort(selection))[best], scale)
    order = best if rising else order_of(selection, direction)
    scores = np.ascontiguousarray(reported[order])
    chosen_by = selection[order]
    if (chosen_by[1:] != chosen_by[:-1]).all():
        return BestFirst(scores, scale)
    starts = group_starts(chosen_by)
    counts = np.diff(starts, append=scores.size)
    means = np.repeat(np.add.reduceat(scores, starts) / counts, counts)
    return BestFirst(means, scale, starts, np.add.reduceat(((scores - means) / scale) ** 2, starts))


def order_of(selection: FloatArray, direction: str) -> IntArray:
    """Positions of the trials, best first."""
    order = np.argsort(selection, kind="stable")
    return order[::-1] if direction == "max" else order


def group_starts(ordered: FloatArray) -> IntArray:
    """Where each run of equal scores begins."""
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))


def means_of(ranked: BestFirst, budgets: IntArray, estimator: str) -> FloatArray:
    """The expected best of n for every budget."""
    unique, back = np.unique(budgets, return_inverse=True)
    return np.asarray(sums_of_columns([ranked.scores], unique, estimator)[0, back])


def means_and_spreads(ranked: BestFirst, budgets: IntArray, estimator: str) -> tuple[FloatArray, FloatArray]:
    """The mean and the standard deviation of the best of n for every budget.

    Second moments cost as little as means, where a spread about its own mean touches every trial for each small n. Of
    many trials they are used where at most six digits cancel.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    if ranked.width == 0:
        return means_of(ranked, budgets, estimator), np.zeros(budgets.size)
    if ranked.scores.size < BLOCKS_PAY:
        means = sums_of_columns([ranked.scores], unique, estimator)[0]
        spreads = np.full(unique.size, np.nan)
    else:
        squares = ranked.scores / ranked.scale
        squares -= ranked.centre
        squares *= squares
        if ranked.tie_squares is not None:
            squares += ranked.tie_squares
        means, moments = sums_of_columns([ranked.scores, squares], unique, estimator)
        left = moments - (means / ranked.scale - ranked.centre) ** 2
        spreads = np.sqrt(np.where(left > 1e-6 * moments, left, np.nan))
    cancelled = np.isnan(spreads)
    if cancelled.any():
        spreads[cancelled] = _about(ranked, means[cancelled] / ranked.scale, unique[cancelled], estimator)
    return means[back], spreads[back] * ranked.scale


def _about(ranked: BestFirst, means: FloatArray, budgets: IntArray, estimator: str) -> FloatArray:
    """The spread about ``means``, trial by trial, in units of ``scale``."""
    scores, within = ranked.scores / ranked.scale, ranked.tie_squares

    def compute(some: IntArray, cut: float) -> FloatArray:
        about = means[np.searchsorted(budgets, some)]
        out = np.zeros(some.size)
        for rows, left, piece in weight_pieces(scores.size, some, estimator, cut):
            kept = slice(left, left + piece.shape[1])
            out[rows] += np.einsum("ij,ij->i", piece, (scores[kept] - about[rows, None]) ** 2)
            if within is not None:
                out[rows] += piece @ within[kept]
        return np.asarray(np.sqrt(out))

    def needed(spreads: FloatArray) -> FloatArray:
        return np.asarray(BEYOND_DIGITS + 2 * np.log(ranked.width / spreads))

    return refined(compute, needed, budgets, scores.size, estimator)


def errors_of(ranked: BestFirst, budgets: IntArray, estimator: str) -> FloatArray:
    """Jackknife standard errors for every budget; u has none where n is the number of trials.

    Leaving out the trial at rank i instead of the next better one moves one score across rank i: with the weights w'
    of m - 1 trials the two estimates differ by w'_i times the spacing. Leaving out one of c tied trials also moves
    their mean by (mean - own score) / (c - 1), which carries the weight of the c - 1 left; these shifts sum to zero
    in each group, so that the two parts of the variance add.
    """
    unique, back = np.unique(budgets, return_inverse=True)
    size = ranked.scores.size
    usable = unique[unique < size] if estimator == "u" else unique
    spacings = -np.diff(ranked.scores / ranked.scale)

    def compute(some: IntArray, cut: float) -> FloatArray:
        out = np.empty(some.size)
        for rows, weights in weight_rows(size - 1, some, estimator, cut):
            wide = weights.shape[1]
            # Without the trial that has d better ones, minus without the best: the sum of the steps before d. Past the
            # last weight that counts the sum stays as it is, for size - wide trials.
            shifts = np.cumsum(weights * spacings[:wide], axis=1)
            last = shifts[:, -1:]
            mean = (shifts[:, :-1].sum(axis=1, keepdims=True) + last * (size - wide)) / size
            total = ((last - mean) ** 2 * (size - wide) + mean**2)[:, 0]
            total += ((shifts[:, :-1] - mean) ** 2).sum(axis=1)
            if ranked.within is not None:
                total += _within_ties(weights, ranked)
            out[rows] = np.sqrt(total * (size - 1) / size)
        return out

    def needed(errors: FloatArray) -> FloatArray:
        return np.asarray(BEYOND_DIGITS + np.log(ranked.width / errors) + 0.5 * math.log(size))

    out = np.full(unique.size, np.nan)
    if ranked.width == 0:
        out[: usable.size] = 0.0
    elif usable.size:
        out[: usable.size] = refined(compute, needed, usable, size - 1, estimator) * ranked.scale
    return out[back]


def _within_ties(weights: FloatArray, ranked: BestFirst) -> FloatArray:
    assert ranked.starts is not None
    assert ranked.within is not None
    counts = ranked.counts
    tied = np.flatnonzero((counts > 1) & (ranked.starts < weights.shape[1]))
    if tied.size == 0:
        return np.zeros(weights.shape[0])
    starts, counts = ranked.starts[tied], counts[tied]
    total = np.zeros((weights.shape[0], weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=total[:, 1:])
    stops = np.minimum(starts + counts - 1, weights.shape[1])
    held = total[:, stops] - total[:, starts]
    return np.asarray(held**2 @ (ranked.within[tied] / (counts - 1.0) ** 2))


def refined(
    compute: Callable[[IntArray, float], FloatArray],
    needed: Callable[[FloatArray], FloatArray],
    budgets: IntArray,
    n_trials: int,
    estimator: str,
) -> FloatArray:
    """compute(budgets, cut) with a cut deep enough for each result.

    How little weight may be left out depends on the result: one diverged loss of 1e30 counts at a weight of 1e-40.
    ``needed`` gives the cut that a result needs; the budgets that need more are computed again. Budgets are the
    last axis of both.
    """
    cut = BEYOND_DIGITS + 6
    values = compute(budgets, cut)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wanted = np.nan_to_num(needed(values), nan=UNDERFLOW, posinf=UNDERFLOW).clip(0, UNDERFLOW)
    wanted = np.atleast_2d(wanted).max(axis=0)
    deepest = float(wanted.max())
    short = wanted > cut
    if short.any():
        short &= depth(n_trials, budgets, deepest, estimator) > depth(n_trials, budgets, cut, estimator)
    if short.any():
        values[..., short] = compute(budgets[short], deepest)
    return values


def sums_of_columns(columns: Sequence[FloatArray], budgets: IntArray, estimator: str) -> FloatArray:
    """The weighted means of columns of scores, best first, for each of the increasing budgets: (column, budget)."""
    size = columns[0].size
    largest = np.array([[max(float(column.max()), -float(column.min()))] for column in columns])
    if size * budgets.size <= KEPT_UP_TO:
        weights = _all_weights(size, tuple(budgets.tolist()), estimator)
        return np.stack([weights @ column for column in columns])

    def compute(some: IntArray, cut: float) -> FloatArray:
        out = np.zeros((len(columns), some.size))
        singly = np.ones(some.size, dtype=bool)
        deep = depth(size, some, cut, estimator)
        for block in _BLOCKS if size >= BLOCKS_PAY else ():
            # Ranks that are needed and lie below the smooth ones cost most: no more than a sixteenth of them.
            rough = deep - (size - _SMOOTH * block * some)
            by_block = singly & (some <= size // (_SMOOTH * block)) & (rough <= deep // 16)
            if by_block.any():
                blocks = _Blocks(columns, block, int(deep[by_block].max()))
                out[:, by_block] = blocks.sums(some[by_block], deep[by_block], estimator)
                singly &= ~by_block
        rest = np.zeros((len(columns), int(singly.sum())))
        for rows, left, piece in weight_pieces(size, some[singly], estimator, cut):
            for sums, column in zip(rest, columns, strict=True):
                sums[rows] += piece @ column[left : left + piece.shape[1]]
        out[:, singly] = rest
        return out

    def needed(sums: FloatArray) -> FloatArray:
        return np.where(largest == 0, 0.0, BEYOND_DIGITS + np.log(largest / np.abs(sums)))

    return refined(compute, needed, budgets, size, estimator)


def weight_squares(n_trials: int, n: int) -> float:
    """The sum of the squared U weights of one budget: what variance of every score adds to that of the estimate."""
    deep = int(depth(n_trials, np.array([n]), BEYOND_DIGITS, "u")[0])
    whole = {block: max(0, min(n_trials - _SMOOTH * block * n, deep) // block) for block in _BLOCKS}
    block = min(_BLOCKS, key=lambda size: deep - whole[size] * (size - _NODES))
    smooth = whole[block] * block
    rest = weights_below(n_trials, n, np.arange(smooth, deep, dtype=np.float64), "u")
    if not smooth:
        return float(rest @ rest)
    blocks = _Blocks([np.ones(smooth)], block, smooth)
    return float(rest @ rest + blocks.moments[0] @ np.square(weights_below(n_trials, n, blocks.nodes, "u")))


@lru_cache(maxsize=64)
def _all_weights(n_trials: int, budgets: tuple[int, ...], estimator: str) -> FloatArray:
    """Of few trials and budgets, best first: kept, since simulations ask for the same again and again."""
    return np.ascontiguousarray(rank_weights(n_trials, np.array(budgets), estimator)[:, ::-1])


class _Blocks:
    """Moments of the best ``deepest`` scores over blocks of ranks, against Lagrange polynomials of Chebyshev nodes."""

    def __init__(self, columns: Sequence[FloatArray], block: int, deepest: int) -> None:
        self.columns, self.block, self.size = columns, block, columns[0].size
        angle = (np.arange(_NODES) + 0.5) * (np.pi / _NODES)
        node = np.cos(angle)
        place = (np.arange(block) - (block - 1) / 2) / ((block - 1) / 2)
        # Lagrange polynomials of Chebyshev nodes by discrete orthogonality: 2/K sum' T_i(node) T_i(x).
        order = np.arange(_NODES)[:, None]
        at_node, at_place = np.cos(order * angle), np.cos(order * np.arccos(place))
        at_node[0] *= 0.5
        lagrange = np.ascontiguousarray((2 / _NODES) * (at_place.T @ at_node))
        count = min(self.size // block, -(-deepest // block))
        moments = np.empty((len(columns), count, _NODES))
        step = (1 << 20) // block  # 8 MB, copied in order: the product wants contiguous rows
        for start in range(0, count, step):
            stop = min(start + step, count)
            for of_column, column in zip(moments, columns, strict=True):
                part = np.ascontiguousarray(column[start * block : stop * block]).reshape(-1, block)
                np.matmul(part, lagrange, out=of_column[start:stop])
        self.moments = moments.reshape(len(columns), -1)
        centre = np.arange(count)[:, None] * float(block) + (block - 1) / 2
        self.nodes = (centre + node * ((block - 1) / 2)).ravel()

    def sums(self, budgets: IntArray, deep: IntArray, estimator: str) -> FloatArray:
        """Weighted means for budgets of at most m / (5 block), each over its ``deep`` best scores."""
        size = self.size
        smooth = np.maximum(size - _SMOOTH * self.block * budgets, 0) // self.block
        smooth = np.minimum(smooth, -(-deep // self.block))
        out = np.zeros((len(self.columns), budgets.size))
        used = smooth * _NODES
        first = 0
        if estimator == "u":
            first = int(np.searchsorted(budgets, 64, side="right"))
            self._small(budgets[:first], used[:first], out)
        for row in range(first, budgets.size):
            for left in range(0, int(used[row]), LONG_PIECE):
                right = min(left + LONG_PIECE, int(used[row]))
                weights = weights_below(size, int(budgets[row]), self.nodes[left:right], estimator)
                out[:, row] += self.moments[:, left:right] @ weights
        for row, (edge, end) in enumerate(zip(smooth * self.block, deep, strict=True)):
            for left in range(int(edge), int(end), LONG_PIECE):
                below = np.arange(left, min(left + LONG_PIECE, int(end)), dtype=np.float64)
                weights = weights_below(size, int(budgets[row]), below, estimator)
                out[:, row] += [column[left : left + below.size] @ weights for column in self.columns]
        return out

    def _small(self, budgets: IntArray, used: IntArray, out: FloatArray) -> None:
        """U weights at the nodes for budgets up to 64, each from the one before: two operations for a weight."""
        if budgets.size == 0:
            return
        size = self.size
        wanted = {int(n): row for row, n in enumerate(budgets)}
        for left in range(0, int(used.max()), LONG_PIECE):
            nodes = self.nodes[left : left + LONG_PIECE]
            weights = np.full(nodes.size, 1 / size)
            for n in range(1, int(budgets[-1]) + 1):
                row = wanted.get(n)
                if row is not None and used[row] > left:
                    held = min(int(used[row]) - left, nodes.size)
                    out[:, row] += self.moments[:, left : left + held] @ weights[:held]
                factor = (n + 1) / (n * (size - n))
                weights *= (size - n) * factor - nodes * factor
