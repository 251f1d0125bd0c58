"""An interval for the best of n, by name or by default: one door to every method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import (
    Bounds,
    FloatArray,
    IntArray,
    Seed,
    as_bounds,
    as_budgets,
    as_choice,
    as_confidence,
    as_direction,
    as_pair,
    as_rng,
    as_statistic,
    sign_of,
    statistic_name,
)
from levelbest.errors import InputError
from levelbest.stats.bands._batches import BATCHES, LARGE, batch_limits, batch_size
from levelbest.stats.bands._certificate import certified_coverage
from levelbest.stats.bands._default import default, share_of_far
from levelbest.stats.bands._methods import Found, Work, methods
from levelbest.stats.bands._results import Interval

__all__ = ["METHODS", "all_intervals", "best_interval"]

METHODS = (
    "default", "gaffke", "studentised", "percentile", "basic", "bca", "smoothed", "jackknife", "gaussian", "exact",
)  # fmt: skip

OF_V = ("percentile", "basic")
"""Methods that also have limits for the estimator V."""


def best_interval(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    statistic: str | float = "mean",
    method: str | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    direction: str = "max",
    bounds: Bounds | None = None,
    n_resamples: int = 10_000,
    rng: Seed = None,
    estimator: str = "u",
) -> Interval:
    """Limits for the expected (or median, or any quantile) reported score of the best of n trials.

    ``statistic`` is ``"mean"``, ``"median"`` or a probability q. Without ``method`` the default of the statistic is
    used, and the result says which rule that was. ``simultaneous`` limits hold over all the budgets in ``n`` at once.
    ``bounds`` are those of the reported score, None for a side that has none; with them the default is defined up to
    n = n_trials. ``rng`` decides every random draw; exact methods draw none. ``estimator`` "v" gives the percentile or
    basic limits of V, as the papers have them, instead of U.
    """
    name = as_choice("default" if method is None else method, METHODS, "method")
    q = as_statistic(statistic)
    if as_choice(estimator, ("u", "v"), "estimator") == "v" and (q is not None or name not in OF_V):
        raise InputError(f"estimator 'v' has limits by {' or '.join(OF_V)} for the mean; {name!r} is for 'u'")
    asked = _Asked(selection, n, reported, confidence, simultaneous, direction, bounds, n_resamples, estimator)
    if q is not None:
        return _quantile_interval(asked, q, name, as_rng(rng))
    if name == "exact":
        raise InputError("method 'exact' is for quantile curves, got statistic 'mean'; use statistic='median'")
    if name == "default" and asked.n_trials >= LARGE:
        return asked.interval(name, asked.batched(as_rng(rng)))
    return asked.interval(name, _mean_methods()[name](asked.work(as_rng(rng))))


def all_intervals(
    selection: npt.ArrayLike,
    n: npt.ArrayLike,
    reported: npt.ArrayLike | None = None,
    *,
    only: Iterable[str] | None = None,
    confidence: float = 0.95,
    simultaneous: bool = False,
    direction: str = "max",
    bounds: Bounds | None = None,
    n_resamples: int = 10_000,
    rng: Seed = None,
    estimator: str = "u",
) -> dict[str, Interval]:
    """Every interval for the mean curve that these data allow, from one shared set of draws: for simulations.

    Each is what `best_interval` gives for the same ``rng``. With ``estimator`` "v" the percentile and basic limits are
    those of V; the others stay those of U.
    """
    as_choice(estimator, ("u", "v"), "estimator")
    asked = _Asked(selection, n, reported, confidence, simultaneous, direction, bounds, n_resamples, estimator)
    known = _mean_methods()
    if asked.reported is not None or asked.bounds == (None, None):
        known.pop("gaffke")
    names = list(known) if only is None else [as_choice(name, known, "method") for name in only]
    work = asked.work(as_rng(rng))
    return {name: asked.interval(name, known[name](work)) for name in names}


def _mean_methods() -> dict[str, Callable[[Work], Found]]:
    return {"default": default, **methods()}


class _Asked:
    """The arguments, checked, and turned so that higher is better."""

    def __init__(
        self,
        selection: npt.ArrayLike,
        n: npt.ArrayLike,
        reported: npt.ArrayLike | None,
        confidence: float,
        simultaneous: bool,
        direction: str,
        bounds: Bounds | None,
        n_resamples: int,
        estimator: str = "u",
    ) -> None:
        self.estimator = estimator
        self.direction = as_direction(direction)
        self.selection, self.reported = as_pair(selection, reported, at_least=2)
        self.n_trials = self.selection.size
        self.n, self.scalar = as_budgets(n, self.n_trials)
        self.budgets, self.place = np.unique(self.n, return_inverse=True)
        self.confidence = as_confidence(confidence)
        self.simultaneous = bool(simultaneous)
        claimed = self.selection if self.reported is None else self.reported
        self.bounds = as_bounds(bounds, claimed, "selection" if self.reported is None else "reported")
        if isinstance(n_resamples, bool) or int(n_resamples) != n_resamples:
            raise InputError(f"n_resamples must be a whole number, got {n_resamples!r}")
        self.n_resamples = int(n_resamples)

    def work(self, rng: np.random.Generator) -> Work:
        """The sample, turned, with its draws still to come."""
        sign = sign_of(self.direction)
        ends = [None if end is None else sign * end for end in self.bounds]
        lowest, highest = ends if self.direction == "max" else ends[::-1]
        return Work(
            sign * self.selection,
            self.budgets,
            None if self.reported is None else sign * self.reported,
            confidence=self.confidence,
            simultaneous=self.simultaneous,
            lowest=lowest,
            highest=highest,
            n_resamples=self.n_resamples,
            rng=rng,
            estimator=self.estimator,
        )

    def batched(self, rng: np.random.Generator) -> Found:
        """The default for very many trials."""
        sign = sign_of(self.direction)
        claimed = None if self.reported is None else sign * self.reported
        low, high = batch_limits(
            sign * self.selection,
            self.budgets,
            claimed,
            alpha=1 - self.confidence,
            simultaneous=self.simultaneous,
            rng=rng,
        )
        found = Found(low, high, f"t interval of {BATCHES} batches of the {self.n_trials} trials", "batches")
        last = batch_size(self.n_trials)
        why = f"the interval of so many trials ends at n = {last}, the size of a batch; name a method for larger n"
        return found.drop(np.isnan(low), why)

    def interval(self, method: str, found: Found, *, statistic: str = "mean", kind: str | None = None) -> Interval:
        """The result, turned back."""
        low, high = found.low, found.high
        if self.simultaneous and statistic == "mean" and self.reported is None:
            low, high = _never_falling(low, high)
        if self.direction == "min":
            low, high = -high, -low
        low, high = (np.clip(side, *self.bounds) if self.bounds != (None, None) else side for side in (low, high))
        if kind is None:
            bounded = self.bounds != (None, None)
            kind = "reported mean" if self.reported is not None else "bounded mean" if bounded else "mean"
        of_v = self.estimator == "v" and method in OF_V
        certified = [] if of_v else [certified_coverage(method, self.n_trials, int(k), kind=kind) for k in self.budgets]
        known = [value for value in certified if value is not None]
        return Interval(
            n=int(self.n[0]) if self.scalar else self.n,
            low=self._shaped(low),
            high=self._shaped(high),
            method=found.name or method,
            confidence=self.confidence,
            simultaneous=self.simultaneous,
            n_trials=self.n_trials,
            statistic=statistic,
            direction=self.direction,
            reason=_reason(self.budgets, found.why),
            note=f"{found.note}, estimator V" if of_v else found.note,
            n_resamples=self.n_resamples,
            coverage=min(known) if known else None,
        )

    def _shaped(self, values: FloatArray) -> float | FloatArray:
        return float(values[0]) if self.scalar else values[self.place]


def _never_falling(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The expected best of one score column never falls with n, so a band may be cut to what a rising curve can use."""
    rising = np.fmax.accumulate(low)
    bounded = np.fmin.accumulate(high[::-1])[::-1]
    return np.where(np.isnan(low), np.nan, rising), np.where(np.isnan(high), np.nan, bounded)


def _reason(budgets: IntArray, why: list[str | None]) -> str | None:
    """One sentence per reason, with the budgets that it concerns unless it concerns all."""
    parts = []
    for reason in dict.fromkeys(text for text in why if text is not None):
        concerned = [int(k) for k, text in zip(budgets, why, strict=True) if text == reason]
        if len(concerned) == budgets.size:
            parts.append(f"no interval: {reason}")
        else:
            named = f"n = {concerned[0]}" + (f" to {concerned[-1]}" if len(concerned) > 1 else "")
            parts.append(f"no interval for {named}: {reason}")
    return "; ".join(parts) or None


def _quantile_interval(asked: _Asked, q: float, name: str, rng: np.random.Generator) -> Interval:
    """Exact for one score column; a bootstrap where the reported score is another."""
    from levelbest.stats.bands._quantiles import quantile_interval

    if asked.reported is not None and name == "exact":
        raise InputError(
            "method 'exact' needs selection and reported score to be one column: nothing exact is known for a separate "
            "reported score; use the default, a bootstrap"
        )
    if asked.reported is None and name in ("default", "exact"):
        options: dict[str, Any] = {"simultaneous": asked.simultaneous, "direction": asked.direction}
        n: Any = int(asked.n[0]) if asked.scalar else asked.n
        return quantile_interval(asked.selection, n, q, confidence=asked.confidence, bounds=asked.bounds, **options)
    from levelbest.stats.bands._reported import quantile_methods

    known = quantile_methods(q, share_of_far)
    statistic = statistic_name(q)
    if name not in known:
        raise InputError(
            f"method {name!r} has no interval for quantile curves; known there: {', '.join(known)}"
            + (", exact" if asked.reported is None else "")
        )
    found = known[name](asked.work(rng))
    return asked.interval(name, found, statistic=statistic, kind="reported median")
