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

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray

__all__ = ["depth", "log_share", "rank_weights", "subset_fraction", "weight_rows", "weights_below"]

ROWS = 64  # consecutive budgets that share one evaluation of `log_share`
PIECE = 1 << 15  # ranks evaluated at a time: temporaries stay in the cache
_CELLS = 1 << 21  # largest block of weights held at once (16 MB), unless one row is longer

_SMALL = 16
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
# log Gamma(z) - [(z - 1/2) log z - z + log(2 pi) / 2] at z = 0 (unused), 1..15, where the series is not yet exact
_REMAINDER = np.array(
    [
        np.nan, 0.08106146679532726, 0.0413406959554093, 0.02767792568499834, 0.020790672103765093,
        0.016644691189821193, 0.013876128823070748, 0.01189670994589177, 0.010411265261972096, 0.009255462182712733,
        0.00833056343336287, 0.007573675487951841, 0.00694284010720953, 0.006408994188004207, 0.0059513701127588475,
        0.005554733551962801,
    ]
)  # fmt: skip


def _remainder(z: FloatArray) -> FloatArray:
    """What Stirling's formula lacks of log Gamma(z), z >= 1; exact to 1e-17 from z = 16 on and at integers below."""
    u = 1 / z
    square = u * u
    total = np.full_like(z, _STIRLING[-1])
    for term in _STIRLING[-2::-1]:
        total *= square
        total += term
    total *= u
    small = z < _SMALL
    if small.any():
        total[small] = _REMAINDER[z[small].astype(np.intp)]
    return total


def _log1p_minus(x: FloatArray) -> FloatArray:
    """log(1 + x) - x for x >= 0, to full relative precision."""
    # log(1+x) = 2 artanh(r), r = x/(2+x), and 2r - x = -x r; below x = 0.1, r^2 < 0.0023 and six terms suffice.
    r = x / (2 + x)
    square = r * r
    series = np.full_like(x, 2 / 13)
    for k in (11, 9, 7, 5, 3):
        series *= square
        series += 2 / k
    series *= square
    series -= x
    series *= r
    large = x > 0.1
    if large.any():
        series[large] = np.log1p(x[large]) - x[large]
    return series


def log_share(size: npt.ArrayLike, h: npt.ArrayLike, d: npt.ArrayLike) -> FloatArray:
    """log Q(size; h, d) elementwise; -inf where h + d > size. ``d`` need not be whole where size - h - d >= 15.

    With top = size + 1, lo = min(h, d), hi = max(h, d), a = top - lo - hi, p = top - lo, b = a + lo, Stirling's formula
    for the four factorials gives, with phi(x) = log(1+x) - x and delta its remainder,

        (a-1/2) phi(lo/a) - (p-1/2) phi(lo/p) - lo hi / (2 a p) + lo log(1 - hi/top) + delta(b) - delta(a)
        - delta(top) + delta(p).

    Terms of size lo have cancelled on paper: none that is left exceeds the result by more than a small factor, so its
    relative error is a few 1e-16, and that of the share is |log Q| times as much: nothing overflows at any size.
    """
    top, h_, d_ = np.broadcast_arrays(
        np.asarray(size, dtype=np.float64) + 1, np.asarray(h, dtype=np.float64), np.asarray(d, dtype=np.float64)
    )
    lo, hi = np.minimum(h_, d_), np.maximum(h_, d_)
    inside = top - lo - hi >= 1
    if not inside.all():
        out = np.full(inside.shape, -np.inf)
        out[inside] = _log_share(top[inside], lo[inside], hi[inside])
        return out
    return _log_share(top, lo, hi)


def _log_share(top: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    p = top - lo
    a = p - hi
    total = (a - 0.5) * _log1p_minus(lo / a)
    total -= (p - 0.5) * _log1p_minus(lo / p)
    total -= 0.5 * (lo / a) * (hi / p)
    total += lo * np.log1p(-hi / top)
    total += _remainder(a + lo) - _remainder(a)
    total += _remainder(p) - _remainder(np.ascontiguousarray(top))
    return np.asarray(total)


def subset_fraction(k: npt.ArrayLike, n_trials: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """C(k, n) / C(n_trials, n), elementwise: the share of draws of n whose best is among the k worst; 0 where k < n.

    Needs 0 <= k <= n_trials and 1 <= n <= n_trials.
    """
    return np.exp(log_share(n_trials, n, np.asarray(n_trials, dtype=np.float64) - np.asarray(k, dtype=np.float64)))


def rank_weights(n_trials: int, n: npt.ArrayLike, estimator: str = "u") -> FloatArray:
    """Weights by rank, worst to best, one row per budget: shape (len(n), n_trials). For ties see `best_weights`."""
    budgets = np.atleast_1d(np.asarray(n, dtype=np.int64))
    out = np.zeros((budgets.size, n_trials))
    for row, budget in enumerate(budgets):
        for start in range(0, n_trials, PIECE):
            below = np.arange(start, min(start + PIECE, n_trials), dtype=np.float64)
            out[row, n_trials - start - below.size : n_trials - start] = weights_below(
                n_trials, int(budget), below, estimator
            )[::-1]
    return out


def weights_below(n_trials: int, n: int, below: FloatArray, estimator: str) -> FloatArray:
    """The weight of the trials that have ``below`` better ones; of U weights 0 where fewer than n - 1 are worse."""
    if estimator == "u":
        return np.asarray((n / n_trials) * np.exp(log_share(n_trials - 1, n - 1, below)))
    # (j/m)^n - ((j-1)/m)^n = (j/m)^n [1 - (1 - 1/j)^n] with j = m - below: no difference of near-equal powers.
    with np.errstate(divide="ignore"):
        lost = -np.expm1(n * np.log1p(-1 / (n_trials - below)))
    return np.asarray(np.exp(n * np.log1p(-below / n_trials)) * lost)


def depth(n_trials: int, n: int, cut: float, estimator: str) -> int:
    """How many trials from the best one hold all but exp(-cut) of the weight.

    The rest holds Q(m; n, d) <= min((1 - d/m)^n, (1 - n/m)^d) with U weights, (1 - d/m)^n with V weights.
    """
    enough = -n_trials * math.expm1(-cut / n)
    if estimator == "u":
        if n >= n_trials:
            return 1
        enough = min(enough, -cut / math.log1p(-n / n_trials), n_trials - n + 1)
    return min(n_trials, math.ceil(enough))


def weight_rows(n_trials: int, budgets: IntArray, estimator: str, cut: float) -> Iterator[tuple[slice, FloatArray]]:
    """For increasing budgets: blocks (rows, weights), weights[i, below] of budgets[rows][i], best trial first.

    Only as many trials as hold all but exp(-cut) of the weight: O(m log m) numbers for all budgets 1..m. In a run of
    consecutive budgets the weights follow from the first by n -> n + 1, w' = w (n+1)/n (m-n-below)/(m-n); 64 steps add
    at most 1.5e-14 to the relative error.
    """
    start = 0
    while start < budgets.size:
        first = int(budgets[start])
        wide = depth(n_trials, first, cut, estimator)
        stop = start + 1
        most = max(1, min(ROWS, _CELLS // wide))
        while stop < budgets.size and stop - start < most and budgets[stop] == budgets[stop - 1] + 1:
            stop += 1
        rows = np.empty((stop - start, wide))
        for left in range(0, wide, PIECE):
            below = np.arange(left, min(left + PIECE, wide), dtype=np.float64)
            piece = rows[:, left : left + below.size]
            piece[0] = weights_below(n_trials, first, below, estimator)
            _extend(piece, n_trials, first, below, estimator)
        yield slice(start, stop), rows
        start = stop


def _extend(piece: FloatArray, n_trials: int, first: int, below: FloatArray, estimator: str) -> None:
    """Fill rows 1.. of ``piece`` for the budgets first + 1, ... from its row 0."""
    if piece.shape[0] == 1:
        return
    n = np.arange(first, first + piece.shape[0] - 1, dtype=np.float64)
    if estimator == "u":
        np.subtract((n_trials - n)[:, None], below, out=piece[1:])
        np.maximum(piece[1:], 0, out=piece[1:])
        piece[1:] *= ((n + 1) / (n * (n_trials - n)))[:, None]
        np.multiply.accumulate(piece, axis=0, out=piece)
    else:
        for row, budget in enumerate(n + 1, start=1):
            piece[row] = weights_below(n_trials, int(budget), below, estimator)
