"""Validators: each names the rule, the value it got and the remedy."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from levelbest.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Column = npt.NDArray[np.generic]
"""A column of a table: numbers, text or objects."""
Bounds = tuple[float | None, float | None]
Budgets = IntArray | FloatArray
"""Numbers of units, or what they may cost."""
Seed = int | Sequence[int] | np.random.Generator | None
N_RESAMPLES = 2_000
"""Random draws behind a limit, everywhere: their noise moves a 95 % limit by 3 % of its distance from the estimate."""

_EXPLODED = 1e150
"""A score of this size has no square that is a number, so that nothing can be said of its spread."""


def exploded_as_infinite(scores: FloatArray) -> FloatArray:
    """The scores, one of 1e150 and more in size as an infinite one: such a run has diverged."""
    exploded = np.abs(scores) >= _EXPLODED
    return np.where(exploded, np.copysign(np.inf, scores), scores) if exploded.any() else scores


def known_or_missing(reported: FloatArray) -> FloatArray:
    """Reported scores, one of that size or infinite as missing."""
    known = np.abs(reported) < _EXPLODED
    return reported if known.all() else np.where(known, reported, np.nan)


def as_scores(scores: npt.ArrayLike, name: str = "scores", *, at_least: int = 1) -> FloatArray:
    """A one-dimensional array of finite scores."""
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {short(scores)}: {error}") from error
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, got shape {array.shape}; for several families or problems call once each"
        )
    if array.size < at_least:
        what = "is empty" if array.size == 0 else f"has {array.size}"
        raise InputError(f"{name} needs at least {at_least} trial{'s' * (at_least != 1)}, and it {what}")
    finite = np.isfinite(array)
    if not finite.all():
        bad = int(array.size - finite.sum())
        raise InputError(
            f"{name} must be finite, got {bad} NaN or infinite of {array.size} (first at position "
            f"{int(np.argmin(finite))}); count a failed trial as the worst score, or read the results with read_trials,"
            " which does so"
        )
    return array


def as_pair(
    selection: npt.ArrayLike, reported: npt.ArrayLike | None, *, at_least: int = 1
) -> tuple[FloatArray, FloatArray | None]:
    """Selection scores, and reported scores of the same trials where they are separate."""
    chosen_by = as_scores(selection, "selection", at_least=at_least)
    if reported is None:
        return chosen_by, None
    claimed = as_scores(reported, "reported", at_least=at_least)
    if claimed.size != chosen_by.size:
        raise InputError(
            f"selection and reported must have one score per trial each, got {chosen_by.size} and {claimed.size}; "
            "pass them in the same order, and drop failed trials from both"
        )
    return chosen_by, claimed


def as_budgets(n: npt.ArrayLike, n_trials: int | None = None) -> tuple[IntArray, bool]:
    """Whole numbers of trials, at least 1 and at most ``n_trials`` where given; and whether n was a scalar."""
    array = np.asarray(n)
    if array.ndim > 1:
        raise InputError(f"n must be a number or a one-dimensional list, got shape {array.shape}")
    flat = np.atleast_1d(array)
    if flat.size == 0:
        raise InputError("n must hold at least one budget, got an empty list")
    if flat.dtype.kind not in "iuf":
        raise InputError(f"n must be a whole number of trials, got {short(n)}")
    if flat.dtype.kind == "f" and not (np.isfinite(flat).all() and (flat == np.floor(flat)).all()):
        bad = next(v for v in flat if not (np.isfinite(v) and v == np.floor(v)))
        raise InputError(f"n must be a whole number of trials, got {bad:g}; {no_such_budget(bad)}")
    if float(flat.min()) < 1:
        raise InputError(f"n must be at least 1, got {flat.min():g}; the best of no trials does not exist")
    if n_trials is not None and float(flat.max()) > n_trials:
        raise InputError(
            f"n must be at most the number of trials, {n_trials}, got {flat.max():g}; run more trials or ask for a "
            "smaller budget (the best observed score is not an estimate past the data)"
        )
    if float(flat.max()) > 2**53:
        raise InputError(f"n must be at most 2^53, got {flat.max():g}; no one tries that many")
    return flat.astype(np.int64), array.ndim == 0


def no_such_budget(n: object) -> str:
    """Why a budget that is no whole number has no value."""
    number = as_number(n)
    if math.isnan(number):
        return "write 1,2,5 or 1-20"
    if math.isinf(number):
        return (
            "the score of a perfectly tuned model is the end of its distribution, which no number of trials shows: it "
            "is at least as good as the best trial, and a bound on the score is all that limits it on the other side"
        )
    return "a part of a trial has no score; round it to the budget you mean, or count in cost, which may be any number"


def as_count(value: object, name: str, *, at_least: int = 1) -> int:
    """A whole number of at least ``at_least``."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        whole = math.isfinite(value) and int(value) == value
        if whole and value >= at_least:
            return int(value)
    raise InputError(f"{name} must be a whole number of at least {at_least}, got {value!r}")


def as_direction(direction: object) -> str:
    """``max`` or ``min``."""
    if isinstance(direction, str) and direction in ("max", "min"):
        return direction
    raise InputError(f"direction must be 'max' (higher is better) or 'min' (lower is better), got {direction!r}")


def sign_of(direction: str) -> float:
    """1 where higher is better, -1 where lower is: a score times this is turned so that higher is better."""
    return 1.0 if as_direction(direction) == "max" else -1.0


def as_confidence(confidence: float) -> float:
    """A probability strictly between 0 and 1."""
    value = as_number(confidence)
    if not 0 < value < 1:
        hint = f"; did you mean {value / 100:g}?" if 1 < value < 100 else "; 0.95 is the usual choice"
        raise InputError(f"confidence must lie in (0, 1), got {confidence}{hint}")
    return value


def as_quantile(q: float) -> float:
    """A probability strictly between 0 and 1, counted from worse to better."""
    value = as_number(q)
    if not 0 < value < 1:
        raise InputError(f"q must lie in (0, 1), got {q}; 0.5 is the median")
    return value


def as_number(value: object) -> float:
    """A number, NaN for what is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def as_statistic(statistic: str | float) -> float | None:
    """The probability that ``median`` or a number names, None for ``mean``: the one reading of a statistic."""
    named = {"mean": None, "median": 0.5}
    if isinstance(statistic, str):
        if statistic in named:
            return named[statistic]
        try:
            statistic = float(statistic)
        except ValueError:
            raise InputError(
                f"statistic must be 'mean', 'median' or a probability such as 0.9, got {statistic!r}"
            ) from None
    return as_quantile(statistic)


def statistic_name(q: float | None) -> str:
    """``mean``, ``median`` or the probability: the name under which results carry what `as_statistic` read."""
    return "mean" if q is None else "median" if q == 0.5 else f"{q:g}"


def as_choice(value: str, known: Iterable[str], name: str) -> str:
    """One of the known names; the error lists them, nearest first."""
    names = list(known)
    if value in names:
        return value
    raise InputError(f"unknown {name} {value!r}; {nearest_first(str(value), names)}")


def nearest_first(value: str, names: Sequence[str], limit: int = 10) -> str:
    """A phrase that lists the known names, nearest to ``value`` first, and at most ``limit`` of them.

    A name that ends in the value, or holds it as a word, is nearer than one that is spelled like it: ``rmse`` means
    ``metrics.rmse`` and not ``name``.
    """
    typed = value.lower()

    def distance(name: str) -> tuple[bool, bool, float]:
        low = name.lower()
        words = re.split(r"[^0-9a-z]+", low)
        likeness = difflib.SequenceMatcher(None, typed, low).ratio()
        return not (low.endswith(typed) and typed != ""), typed not in words, -likeness

    ranked = sorted(names, key=distance)
    near = bool(ranked) and (distance(ranked[0])[:2] != (True, True) or distance(ranked[0])[2] <= -0.5)
    hint = f"did you mean {ranked[0]!r}? " if near else ""
    more = f" and {len(ranked) - limit} more" if len(ranked) > limit else ""
    return f"{hint}known: {', '.join(ranked[:limit] if near else names[:limit])}{more}"


def as_bounds(bounds: Sequence[float | None] | None, scores: FloatArray | None = None, name: str = "scores") -> Bounds:
    """(lowest, highest) possible score, either None where there is no such bound; scores must lie within."""
    if bounds is None:
        return None, None
    try:
        low, high = bounds
        low = None if low is None or not np.isfinite(float(low)) else float(low)
        high = None if high is None or not np.isfinite(float(high)) else float(high)
    except (TypeError, ValueError) as error:
        raise InputError(f"bounds must be two numbers such as (0, 1), got {bounds!r}") from error
    if low is not None and high is not None and not low < high:
        raise InputError(f"bounds must be (lowest, highest) with lowest < highest, got ({low:g}, {high:g})")
    if scores is not None and scores.size:
        if low is not None and scores.min() < low:
            raise InputError(f"{name} must lie within the bounds; the smallest, {scores.min():g}, is below {low:g}")
        if high is not None and scores.max() > high:
            hint = "; are these percentages? then the bounds are (0, 100)" if high == 1 and scores.max() <= 100 else ""
            raise InputError(
                f"{name} must lie within the bounds; the largest, {scores.max():g}, is above {high:g}{hint}"
            )
    return low, high


def as_rng(rng: Seed) -> np.random.Generator:
    """A generator from a seed, a generator, or None (fresh entropy)."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InputError(f"rng must be a seed, a numpy Generator or None, got {rng!r}") from error


def short(value: object, width: int = 60) -> str:
    """A value as a message quotes it."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."


def budget_grid(last: int, *, whole: int = 300, points: int = 150) -> IntArray:
    """Every budget up to ``last`` where they are at most ``whole``, else ``points`` log-spaced ones, ends included.

    Examples
    --------
    >>> budget_grid(5).tolist()
    [1, 2, 3, 4, 5]
    """
    if last <= whole:
        return np.arange(1, last + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, last, points).round().astype(np.int64))


def cost_grid(low: float, high: float, points: int) -> FloatArray:
    """``points`` budgets of cost from ``low`` to ``high``, log-spaced."""
    return np.geomspace(low, high, points)
