"""Weighted means of the ranked scores for many budgets at once, in O(m log m) or better.

Weights far from the best trial vanish, so that all budgets 1..m touch O(m log m) of them (`weight_pieces`). With many
trials and n much smaller than m the weights are also smooth: over a block of 512 ranks (of 64, where n is larger) 8
Chebyshev nodes hold them to the last digit, and a budget then costs m / 64 operations on block moments made once by one
matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.best._weights import LONG_PIECE, UNDERFLOW, depth, rank_weights, weight_pieces, weights_below

BEYOND_DIGITS = 37.0  # exp(-37) < 2^-53: what is left out cannot show in a double

_BLOCKS, _NODES = (512, 64), 8
# On a block the weights (about rank^(n-1)) change by a factor exp(c), c = 512 n / rank; 8 nodes leave a relative error
# of 2 (c/4)^8 / 8!, 2e-15 at c = 0.2: blocks serve from rank 2560 n upwards, those of 64 from rank 320 n.
_SMOOTH = 5
_MANY = 1 << 14  # trials from which on blocks pay
_FEW = 1 << 12  # weights that are kept


def refined(
    compute: Callable[[IntArray, float], FloatArray],
    needed: Callable[[FloatArray], FloatArray],
    budgets: IntArray,
    n_trials: int,
    estimator: str,
) -> FloatArray:
    """compute(budgets, cut) with a cut deep enough for each result.

    How little weight may be left out depends on the result: one diverged loss of 1e30 counts at a weight of 1e-40.
    ``needed`` gives the cut that a result asks for; the budgets that asked for more are computed again. Budgets are the
    last axis of both.
    """
    cut = BEYOND_DIGITS + 6
    values = compute(budgets, cut)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        asked = np.nan_to_num(needed(values), nan=UNDERFLOW, posinf=UNDERFLOW).clip(0, UNDERFLOW)
    asked = np.atleast_2d(asked).max(axis=0)
    deepest = float(asked.max())
    short = asked > cut
    if short.any():
        short &= depth(n_trials, budgets, deepest, estimator) > depth(n_trials, budgets, cut, estimator)
    if short.any():
        values[..., short] = compute(budgets[short], deepest)
    return values


def weighted_sums(scores: FloatArray, budgets: IntArray, estimator: str) -> FloatArray:
    """The weighted mean of the scores, best first, for each of the increasing budgets."""
    return np.asarray(sums_of_columns([scores], budgets, estimator)[0])


def sums_of_columns(columns: Sequence[FloatArray], budgets: IntArray, estimator: str) -> FloatArray:
    """The same of several columns that share their weights, (column, budget)."""
    size = columns[0].size
    largest = np.array([[max(float(column.max()), -float(column.min()))] for column in columns])
    if size * budgets.size <= _FEW:
        weights = _all_weights(size, tuple(budgets.tolist()), estimator)
        return np.stack([weights @ column for column in columns])

    def compute(some: IntArray, cut: float) -> FloatArray:
        out = np.zeros((len(columns), some.size))
        singly = np.ones(some.size, dtype=bool)
        deep = depth(size, some, cut, estimator)
        for block in _BLOCKS if size >= _MANY else ():
            # Ranks that are needed and lie below the smooth ones are dear: no more than a sixteenth of them.
            dear = deep - (size - _SMOOTH * block * some)
            by_block = singly & (some <= size // (_SMOOTH * block)) & (dear <= deep // 16)
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
    block = min(_BLOCKS, key=lambda own: deep - whole[own] * (own - _NODES))
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
