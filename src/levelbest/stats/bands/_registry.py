"""Which intervals there are: a new one is a function in a file of its own, and a line here.

A method takes a `Work` (the sample, turned so that higher is better, the budgets, and draws on demand) and gives
`Limits` at every budget. Outside the package `register_interval` does what the line does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from levelbest._check import as_choice
from levelbest.errors import InputError
from levelbest.stats.bands import _methods as methods
from levelbest.stats.bands._work import Limits, Work
from levelbest.stats.best import Mean, Statistic

EXACT = "exact"
"""The one name that is not here: limits of a quantile of one score column, which need no draws."""


class IntervalMethod(Protocol):
    """An interval: limits at every budget of ``work.n``, for scores turned so that higher is better."""

    def __call__(self, work: Work, /) -> Limits:
        """The limits; where there are none, the reason."""


@dataclass(frozen=True)
class _Entry:
    method: IntervalMethod
    any_statistic: bool = False
    """Whether it serves quantiles and other statistics too, or the mean alone."""


_KNOWN: dict[str, _Entry] = {
    "default": _Entry(methods.default, any_statistic=True),
    "gaffke": _Entry(methods.gaffke),
    "studentised": _Entry(methods.studentised),
    "percentile": _Entry(methods.percentile, any_statistic=True),
    "basic": _Entry(methods.basic, any_statistic=True),
    "bca": _Entry(methods.bca),
    "smoothed": _Entry(methods.smoothed),
    "jackknife": _Entry(methods.jackknife),
    "gaussian": _Entry(methods.gaussian),
}


def interval_methods() -> tuple[str, ...]:
    """The names that `best_interval` takes as ``method``."""
    return *_KNOWN, EXACT


def register_interval(name: str, method: IntervalMethod, *, any_statistic: bool = False) -> None:
    """Make an interval known by name; see CONTRIBUTING.md for an example.

    Parameters
    ----------
    name : str
        What `best_interval` is asked for as ``method``.
    method : callable
        Takes a `Work` and gives `Limits`.
    any_statistic : bool
        Whether the method serves every statistic, through ``work.shown_estimates``, or the mean alone.
    """
    if name in interval_methods():
        raise InputError(f"an interval called {name!r} is known already; give the new one another name")
    _KNOWN[name] = _Entry(method, any_statistic)


def method_named(name: str, statistic: Statistic) -> IntervalMethod:
    """The method of that name, which must serve the statistic."""
    entry = _KNOWN[as_choice(name, _KNOWN, "method")]
    if not isinstance(statistic, Mean) and not entry.any_statistic:
        serving = [known for known, other in _KNOWN.items() if other.any_statistic]
        raise InputError(
            f"method {name!r} has no interval for statistic {statistic.name!r}; known there: {', '.join(serving)}"
        )
    return entry.method
