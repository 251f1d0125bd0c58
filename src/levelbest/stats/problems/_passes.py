"""pass@k and pass^k from counts: k samples of a problem, of which at least one, or all, are correct."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best import log_share

_TABLE = 1 << 18  # entries of a table computed together


def pass_at_k(correct: npt.ArrayLike, samples: npt.ArrayLike, k: npt.ArrayLike) -> float | FloatArray:
    """The chance that at least one of k samples is correct, of ``samples`` of which ``correct`` are ([C] eq. 1).

    The shape is that of the problems followed by that of ``k``. Where k exceeds a problem's samples it is NaN (a
    single such k is an error): it is unknown, not 1. Average over problems with ``numpy.nanmean(..., axis=0)``.

    Parameters
    ----------
    correct, samples
        Of each problem: how many samples are correct, of how many.
    k
        How many samples one may draw.

    Returns
    -------
    float or array
        Of the shape said above.

    Examples
    --------
    >>> pass_at_k(3, 10, 1)
    0.3
    """
    return _chances(correct, samples, k, every=False)


def all_of_k(correct: npt.ArrayLike, samples: npt.ArrayLike, k: npt.ArrayLike) -> float | FloatArray:
    """The chance that all of k samples are correct (pass^k): C(correct, k) / C(samples, k). Shapes as `pass_at_k`.

    Parameters
    ----------
    correct, samples
        Of each problem: how many samples are correct, of how many.
    k
        How many samples one draws.

    Returns
    -------
    float or array
        NaN where k exceeds a problem's samples.

    Examples
    --------
    >>> round(all_of_k(3, 10, 2), 12) == round(3 / 45, 12)
    True
    """
    return _chances(correct, samples, k, every=True)


def _chances(correct: npt.ArrayLike, samples: npt.ArrayLike, k: npt.ArrayLike, *, every: bool) -> float | FloatArray:
    right, drawn = np.broadcast_arrays(_whole(correct, "correct"), _whole(samples, "samples"))
    budgets, scalar = _check.as_budgets(k)
    if right.ndim > 1:
        raise InputError(f"correct must be one number per problem, got shape {right.shape}; sum the 0/1 scores first")
    if right.size == 0:
        raise InputError("correct must hold at least one problem, and it is empty")
    if (drawn < 1).any():
        raise InputError(
            f"samples must be at least 1 for every problem, got {int(drawn.min())}; leave such problems out"
        )
    if (right > drawn).any():
        at = int(np.argmax(np.atleast_1d(right > drawn)))
        have, of = int(np.atleast_1d(right)[at]), int(np.atleast_1d(drawn)[at])
        raise InputError(f"correct must be at most samples, got {have} of {of} at position {at}")
    if int(budgets.min()) > int(drawn.max()) or (right.ndim == 0 and scalar and budgets[0] > drawn):
        raise InputError(
            f"k must be at most the number of samples, {int(drawn.max())}, got {int(budgets.min())}; draw more samples "
            "(past them pass@k is unknown, not 1)"
        )
    flat_right, flat_drawn = np.atleast_1d(right), np.atleast_1d(drawn)
    codes = flat_drawn.astype(np.int64) * (int(flat_drawn.max()) + 1) + flat_right
    pairs, back = np.unique(codes, return_inverse=True)
    size, won = np.divmod(pairs, int(flat_drawn.max()) + 1)
    table = _table(won, size, budgets, every)
    shaped = table[back.ravel()].reshape((*right.shape, *(() if scalar else (budgets.size,))))
    return float(shaped) if shaped.ndim == 0 else shaped


def _table(correct: IntArray, samples: IntArray, k: IntArray, every: bool) -> FloatArray:
    """One row per distinct pair of counts, NaN where k > samples.

    C(c, k) / C(m, k) and C(m-c, k) / C(m, k) come from their logarithms, whose relative error is a few 1e-16, and
    1 - C(m-c, k) / C(m, k) from expm1, so that small chances keep their digits too.
    """
    out = np.empty((samples.size, k.size))
    step = max(1, _TABLE // k.size)
    for start in range(0, samples.size, step):
        rows = slice(start, start + step)
        size, won = samples[rows, None], correct[rows, None]
        inside = np.minimum(k[None], size)
        logs = log_share(size, inside, size - won if every else won)
        out[rows] = np.exp(logs) if every else 0.0 - np.expm1(logs)  # 0 - 0 is 0, and -(0) is -0
        out[rows][k[None] > size] = np.nan
    return out


def _whole(counts: npt.ArrayLike, name: str) -> IntArray:
    array = np.asarray(counts)
    if array.dtype.kind == "b":
        raise InputError(f"{name} must be how many samples, one number per problem, got True/False; sum them first")
    if array.dtype.kind not in "iuf" or not np.isfinite(array.astype(np.float64)).all():
        raise InputError(f"{name} must be whole numbers, got {_check.short(counts)}")
    if (array != np.floor(array)).any() or (array < 0).any():
        bad = array[(array != np.floor(array)) | (array < 0)].flat[0]
        raise InputError(
            f"{name} must be whole numbers of at least 0, got {bad:g}; for scores that are not 0 or 1 use "
            "expected_best_by_group, the expected maximum"
        )
    return array.astype(np.int64)
