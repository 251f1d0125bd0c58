"""The interval methods by name, and what each declares: what it needs and what it serves.

A new method is a function in a file of its own, and a line here; outside the package `register_interval` does what the
line does. Every list of methods (`curve`, `compare`, the command line, the docs) is taken from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from levelbest._check import Bounds, as_choice
from levelbest.errors import InputError, named
from levelbest.stats.bands import _methods as methods
from levelbest.stats.bands._work import Limits, Work
from levelbest.stats.best import Mean, Quantile, Sample, Statistic

EXACT = "exact"
ANY = ("mean", "quantile", "other")
SERVED = ("curves", "differences", "problems")


@dataclass(frozen=True)
class IntervalMethod:
    """An interval method: how it is computed, what it needs and what it serves.

    Attributes
    ----------
    limits : callable, optional
        Takes a `Work` and gives `Limits` at every budget of ``work.n``, for scores turned so that higher is better.
        None where what the method serves computes it itself.
    statistics : tuple of str
        Of ``mean``, ``quantile`` and ``other`` (registered statistics).
    estimators : tuple of str
        The estimates beside which its limits may stand.
    serves : tuple of str
        Of ``curves`` (of single trials), ``differences`` and ``problems``.
    needs_bounds : int
        How many bounds of the score it cannot do without: 0, 1 (either of them) or 2.
    one_column : bool
        Whether the selection score must be what is reported.
    simultaneous : bool
        Whether it can cover all budgets at once.
    covers_unseen : bool
        Whether, with both bounds, it covers whatever the trials have not shown.
    """

    limits: Callable[[Work], Limits] | None
    statistics: tuple[str, ...] = ("mean",)
    estimators: tuple[str, ...] = ("u",)
    serves: tuple[str, ...] = ("curves",)
    needs_bounds: int = 0
    one_column: bool = False
    simultaneous: bool = True
    covers_unseen: bool = False

    def lacks(self, statistic: Statistic, sample: Sample, bounds: Bounds, *, simultaneous: bool) -> str:
        """What it lacks for this question, as the rest of a sentence; empty where it serves."""
        kind = "mean" if isinstance(statistic, Mean) else "quantile" if isinstance(statistic, Quantile) else "other"
        if kind not in self.statistics:
            return f"has no interval for statistic {statistic.name!r}"
        if self.one_column and sample.reported is not None:
            return "needs selection and reported score to be one column"
        if (known := sum(bound is not None for bound in bounds)) < self.needs_bounds:
            wanted = "a bound on the score" if self.needs_bounds == 1 else "both bounds of the score"
            return f"needs {wanted}, got {'one' if known else 'none'}: give {named('bounds')}"
        if simultaneous and not self.simultaneous:
            return "covers each budget by itself, not all at once"
        return ""


_KNOWN: dict[str, IntervalMethod] = {
    "default": IntervalMethod(methods.default, ANY, serves=SERVED),
    "gaffke": IntervalMethod(methods.gaffke, serves=SERVED, needs_bounds=1, one_column=True, covers_unseen=True),
    "studentised": IntervalMethod(methods.studentised, serves=("curves", "problems")),
    "percentile": IntervalMethod(methods.percentile, ANY, ("u", "v")),
    "basic": IntervalMethod(methods.basic, ANY, ("u", "v")),
    "bca": IntervalMethod(methods.bca),
    "smoothed": IntervalMethod(methods.smoothed),
    "jackknife": IntervalMethod(methods.jackknife),
    "gaussian": IntervalMethod(methods.gaussian, estimators=("u", "gaussian")),
    EXACT: IntervalMethod(None, ("quantile",), one_column=True),
    "imagined": IntervalMethod(None, serves=("problems",)),
    "t": IntervalMethod(None, serves=("problems",)),
}


def interval_methods(serving: str = "curves", *, estimator: str | None = None) -> tuple[str, ...]:
    """The names of the methods that serve ``curves``, ``differences`` or ``problems``, beside an estimator."""
    as_choice(serving, SERVED, "use of an interval")
    return tuple(
        name
        for name, method in _KNOWN.items()
        if serving in method.serves and (estimator is None or estimator in method.estimators)
    )


def register_interval(name: str, limits: Callable[[Work], Limits], **declared: object) -> None:
    """Make an interval known by name; see CONTRIBUTING.md for an example.

    Parameters
    ----------
    name : str
        What `best_interval` is asked for as ``method``.
    limits : callable
        Takes a `Work` and gives `Limits`.
    **declared
        What the method needs and serves, as of `IntervalMethod`: by default the mean curve of trials beside the U
        estimate, without bounds.
    """
    if name in _KNOWN:
        raise InputError(f"an interval called {name!r} is known already; give the new one another name")
    _KNOWN[name] = IntervalMethod(limits, **declared)  # type: ignore[arg-type]


def method_named(name: str) -> IntervalMethod:
    """The method of curves of that name."""
    return _KNOWN[as_choice(name, interval_methods(), "method")]


def methods_that_serve(statistic: Statistic, sample: Sample, bounds: Bounds, *, simultaneous: bool) -> tuple[str, ...]:
    """The methods that serve the curve of this statistic and sample."""
    names = interval_methods()
    return tuple(n for n in names if not _KNOWN[n].lacks(statistic, sample, bounds, simultaneous=simultaneous))
