"""The weights of the best of n: what share each rank has in the expectation, without forming C(m, n).

Trials are ranked by selection score. ``below`` counts the better ones: 0 is the best trial, m - 1 the worst.
With U weights (without replacement, [T]) the trial that has ``below`` better ones wins in a share

    w = C(m-1-below, n-1) / C(m, n) = (n / m) Q(m-1; n-1, below)
    Q(M; h, d) = C(M-d, h) / C(M, h) = (M-d)! (M-h)! / (M! (M-d-h)!)

of the draws, and the best of n lies below rank k in a share C(k, n) / C(m, n) = Q(m; n, m-k). Q is symmetric in h and
d, and everything here is computed from its logarithm, `log_share`. With V weights (with replacement, [B] eq. 7,
[D] eq. 8) the shares are powers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

ROWS = 128  # consecutive budgets that share one evaluation of `log_share`
UNDERFLOW = 746.0  # exp(-746) is 0 in a double
LONG_PIECE = 8192  # ranks at a time for one budget
PIECE = 2048  # ranks at a time: 128 rows of them stay in the cache

_STIRLING_FROM = 16
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
# log Gamma(z) - [(z - 1/2) log z - z + log(2 pi) / 2] at z = 0 (unused), 1..15, where the series is not yet exact
_REMAINDER = np.array(
    [
        np.nan,
        0.08106146679532726,
        0.0413406959554093,
        0.02767792568499834,
        0.020790672103765093,
        0.016644691189821193,
        0.013876128823070748,
        0.01189670994589177,
        0.010411265261972096,
        0.009255462182712733,
        0.00833056343336287,
        0.007573675487951841,
        0.00694284010720953,
        0.006408994188004207,
        0.0059513701127588475,
        0.005554733551962801,
    ],
)


def _remainder(z: FloatArray) -> FloatArray:
    """What Stirling's formula lacks of log Gamma(z), z >= 1; exact to 1e-17 from z = 16 on and at integers below."""
    u = 1 / z
    square = u * u
    total = _STIRLING[-1] * square
    for term in _STIRLING[-2:0:-1]:
        total += term
        total *= square
    total += _STIRLING[0]
    total *= u
    if z.ndim == 0:
        return np.asarray(_REMAINDER[int(z)] if z < _STIRLING_FROM else total)
    small = z < _STIRLING_FROM
    if small.any():
        total[small] = _REMAINDER[z[small].astype(np.intp)]
    return np.asarray(total)


def _log1p_minus(x: FloatArray) -> FloatArray:
    """log(1 + x) - x for x >= 0, to full relative precision."""
    # log(1+x) = 2 artanh(r), r = x/(2+x), and 2r - x = -x r; below x = 0.1, r^2 < 0.0023 and six terms suffice.
    r = x / (2 + x)
    square = r * r
    series = square * (2 / 13)
    for k in (11, 9, 7, 5, 3):
        series += 2 / k
        series *= square
    series -= x
    series *= r
    large = x > 0.1
    if large.any():
        series[large] = np.log1p(x[large]) - x[large]
    return np.asarray(series)


def _log_left(part: FloatArray, whole: FloatArray | float) -> FloatArray:
    """log(1 - part / whole), from the small one of the two pieces: the ratio's rounding must not be magnified."""
    ratio = np.asarray(part / whole)
    out = np.asarray(np.log1p(-ratio))
    most = ratio > 0.5
    if most.any():
        out[most] = np.log(((whole - part) / whole)[most])
    return out


def log_share(size: npt.ArrayLike, h: npt.ArrayLike, d: npt.ArrayLike) -> FloatArray:
    """log Q(size; h, d) elementwise; -inf where h + d > size. ``d`` need not be whole where size - h - d >= 15.

    With top = size + 1, lo = min(h, d), hi = max(h, d), a = top - lo - hi, p = top - lo, Stirling's formula for the
    four factorials gives, with phi(x) = log(1+x) - x and delta its remainder,

        (a-1/2) phi(lo/a) - (p-1/2) phi(lo/p) - lo hi / (2 a p) + lo log(1 - hi/top)
        + delta(top-h) + delta(top-d) - delta(a) - delta(top).

    Terms of size lo have cancelled on paper: none that is left exceeds the result by more than a small factor, so its
    relative error is a few 1e-16, and that of the share is |log Q| times as much: nothing overflows at any size.
    """
    top = np.asarray(np.asarray(size, dtype=np.float64) + 1)
    h, d = np.asarray(h, dtype=np.float64), np.asarray(d, dtype=np.float64)
    shape = np.broadcast_shapes(top.shape, h.shape, d.shape)
    d = np.atleast_1d(d)
    lo, hi = np.minimum(h, d), np.maximum(h, d)
    p = top - lo
    a = p - hi
    outside = a < 1
    if outside.any():
        a = np.maximum(a, 1)
        p = np.maximum(p, 1)
        hi = np.minimum(hi, top - 1)
    total = (a - 0.5) * _log1p_minus(lo / a)
    total -= (p - 0.5) * _log1p_minus(lo / p)
    total -= (0.5 * lo / a) * (hi / p)
    total += lo * _log_left(hi, top)
    # delta of each factorial at its own shape: two of the four are one number per budget
    total += _remainder(np.asarray(np.maximum(top - h, 1))) - _remainder(top)
    total += _remainder(np.maximum(top - d, 1)) - _remainder(a)
    if outside.any():
        total[outside] = -np.inf
    return np.asarray(total.reshape(shape))


def subset_fraction(k: npt.ArrayLike, n_trials: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """C(k, n) / C(n_trials, n), elementwise: the share of draws of n whose best is among the k worst; 0 where k < n.

    Needs 0 <= k <= n_trials and 1 <= n <= n_trials.
    """
    return np.exp(log_share(n_trials, n, np.asarray(n_trials, dtype=np.float64) - np.asarray(k, dtype=np.float64)))


@lru_cache(maxsize=64)
def kept_weights(n_trials: int, n: tuple[int, ...], estimator: str = "u") -> FloatArray:
    """As `rank_weights`, read-only and cached."""
    unique, back = np.unique(np.array(n, dtype=np.int64), return_inverse=True)
    out = np.zeros((unique.size, n_trials))
    for rows, left, piece in weight_pieces(n_trials, unique, estimator):
        out[rows, n_trials - left - piece.shape[1] : n_trials - left] = piece[:, ::-1]
    out = out if np.array_equal(back.ravel(), np.arange(unique.size)) else out[back.ravel()]
    out.setflags(write=False)
    return out


def rank_weights(n_trials: int, n: npt.ArrayLike, estimator: str = "u") -> FloatArray:
    """Weights by rank, worst to best, one row per budget: shape (len(n), n_trials). For ties see `best_weights`."""
    weights = kept_weights.__wrapped__(n_trials, tuple(np.asarray(n).ravel().tolist()), estimator)
    weights.setflags(write=True)
    return weights


def weights_below(n_trials: int, n: int, below: FloatArray, estimator: str) -> FloatArray:
    """The weight of the trials that have ``below`` better ones; of U weights 0 where fewer than n - 1 are worse."""
    if estimator == "u":
        return np.asarray((n / n_trials) * np.exp(log_share(n_trials - 1, n - 1, below)))
    # (j/m)^n - ((j-1)/m)^n = (j/m)^n [1 - (1 - 1/j)^n] with j = m - below: no difference of near-equal powers.
    with np.errstate(divide="ignore"):
        lost = -np.expm1(n * np.log1p(-1 / (n_trials - below)))
    return np.asarray(np.exp(n * _log_left(below, n_trials)) * lost)


def depth(n_trials: int, budgets: IntArray, cut: float, estimator: str) -> IntArray:
    """How many trials, from the best one, hold all but exp(-cut) of the weight of each budget.

    The rest holds Q(m; n, d) <= min((1 - d/m)^n, (1 - n/m)^d) with U weights, (1 - d/m)^n with V weights.
    """
    enough = -n_trials * np.expm1(-cut / budgets)
    if estimator == "u":
        with np.errstate(divide="ignore"):
            enough = np.minimum(enough, -cut / np.log1p(-budgets / n_trials))
        enough = np.minimum(enough, n_trials - budgets + 1)
    return np.asarray(np.clip(np.ceil(enough), 1, n_trials), dtype=np.int64)


def weight_pieces(
    n_trials: int, budgets: IntArray, estimator: str, cut: float = UNDERFLOW
) -> Iterator[tuple[slice, int, FloatArray]]:
    """For increasing budgets: (rows, left, weights), weights[i, k] being that of budgets[rows][i] at rank left + k.

    Ranks count from the best trial, 0, to where all but exp(-cut) of the weight is held: O(m log m) numbers for all
    budgets 1..m. A piece is overwritten by the next one. In a run of consecutive budgets the weights follow from the
    first ones by w' = w (n+1)/n (m-n-below)/(m-n); 128 such steps add less than 4e-14 to the relative error.
    """
    deep = depth(n_trials, budgets, cut, estimator)
    follows = np.concatenate([np.diff(budgets) == 1, [False]])
    buffer = np.empty(ROWS * PIECE)
    start = 0
    while start < budgets.size:
        breaks = np.flatnonzero(~follows[start : start + ROWS - 1])
        stop = start + 1 + (int(breaks[0]) if breaks.size else min(ROWS, budgets.size - start) - 1)
        first, wide = int(budgets[start]), int(deep[start])
        step = PIECE if stop - start > 1 else LONG_PIECE
        for left in range(0, wide, step):
            below = np.arange(left, min(left + step, wide), dtype=np.float64)
            piece = buffer[: (stop - start) * below.size].reshape(stop - start, below.size)
            if estimator == "u":
                piece[0] = (first / n_trials) * np.exp(log_share(n_trials - 1, first - 1, below))
                _follow(piece, n_trials, first, below)
            else:
                for row in range(stop - start):
                    piece[row] = weights_below(n_trials, first + row, below, estimator)
            yield slice(start, stop), left, piece
        start = stop


def _follow(piece: FloatArray, n_trials: int, first: int, below: FloatArray) -> None:
    """Fill the rows after the first for the budgets first + 1, ...; a weight that has reached 0 stays there."""
    n = np.arange(first, first + piece.shape[0] - 1, dtype=np.float64)
    rest = piece[1:]
    np.subtract((n_trials - n)[:, None], below, out=rest)
    rest *= ((n + 1) / (n * (n_trials - n)))[:, None]
    if below.size <= 256:
        np.multiply.accumulate(piece, axis=0, out=piece)
    else:  # accumulating down long columns misses the cache
        for row in range(1, piece.shape[0]):
            piece[row] *= piece[row - 1]


def weight_rows(n_trials: int, budgets: IntArray, estimator: str, cut: float) -> Iterator[tuple[slice, FloatArray]]:
    """As `weight_pieces`, whole rows: (rows, weights from the best trial on), to be read before the next one."""
    deep = depth(n_trials, budgets, cut, estimator)
    whole, current = np.empty((0, 0)), slice(0, 0)
    for rows, left, piece in weight_pieces(n_trials, budgets, estimator, cut):
        wide = int(deep[rows.start])
        if rows != current:
            whole, current = np.empty((rows.stop - rows.start, wide)), rows
        whole[:, left : left + piece.shape[1]] = piece
        if left + piece.shape[1] == wide:
            yield rows, whole


class TiedShares(NamedTuple):
    """The chance that a member of a group of tied trials is the best of n, which its size and the number of trials
    drawn up to it tell: looked up in a table of both, or of all groups where those are fewer."""

    m: int
    top: IntArray
    size: IntArray
    entry: IntArray
    """Of each (trial, resample) in the table."""

    @classmethod
    def of(cls, sizes: IntArray, m: int, groups: IntArray) -> TiedShares:
        """From the sizes of the groups in each resample, and the group of each (trial, resample)."""
        top, most = np.cumsum(sizes, axis=1), int(sizes.max()) + 1
        if (m + 1) * most > sizes.size:
            return cls(m, top.ravel(), sizes.ravel(), groups)
        every, size = (both.ravel() for both in np.indices((m + 1, most)))
        return cls(m, every, np.minimum(size, every), (top * most + sizes).ravel().take(groups))

    def at(self, n: int) -> FloatArray:
        """(trial, resample)."""
        below = _found_below(self.m, n)
        share = (below.take(self.top) - below.take(self.top - self.size)) * (1 / np.maximum(self.size, 1))
        return share.take(self.entry)


@lru_cache(maxsize=256)
def _found_below(m: int, n: int) -> FloatArray:
    """The chance that the best of n of m lies among the k worst, k = 0 to m."""
    return subset_fraction(np.arange(m + 1), m, n)
