"""Curves: the expected or quantile best score against the budget."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Literal, overload

import numpy.typing as npt

from levelbest.designs._input import as_table, with_scores
from levelbest.designs._protocol import Design, Request, Table, design_of
from levelbest.designs.problems import ProblemsDesign
from levelbest.errors import InputError, named
from levelbest.results import CostCurveSet, Curve, CurveSet, FamilyCostCurve
from levelbest.trials import Settings

_ASKING = ("n", "statistic", "estimator", "interval", "simultaneous", "axis", "budget", "workers", "about")
"""What a curve is asked, beside the settings of every verb."""


@overload
def curve(trials: object, *, axis: Literal["cost"], **options: Any) -> FamilyCostCurve: ...


@overload
def curve(
    trials: object,
    *,
    axis: Literal["trials"] = "trials",
    budget: None = None,
    n: npt.ArrayLike | None = None,
    statistic: str | float = "mean",
    estimator: str = "u",
    confidence: float = Settings.confidence,
    interval: str = "default",
    simultaneous: bool = False,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    workers: int = 1,
    about: str = "problems",
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> Curve:
    """Its parameters are those of the function itself, over numbers of trials, and the trials those of one family."""


def curve(
    trials: object,
    *,
    n: npt.ArrayLike | None = None,
    statistic: str | float = "mean",
    estimator: str = "u",
    interval: str = "default",
    simultaneous: bool = False,
    about: str = "problems",
    axis: str = "trials",
    budget: npt.ArrayLike | None = None,
    workers: int = 1,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> Curve | FamilyCostCurve | CurveSet | CostCurveSet:
    """The curve of a family: the reported score of the best of n by selection score, with an interval.

    For several families there is one curve each, as in `family_curves`. Every option of the command line is a parameter
    of the same name.

    Parameters
    ----------
    trials
        Trials of one family or several, a list of scores (with ``direction=``), or whatever `read_trials` takes, with
        its arguments as ``reading``.
    n
        Budgets; None: all up to the number of trials. Those above it are left out and said.
    statistic
        ``mean``, ``median``, a quantile's probability or a registered statistic; over problems ``mean`` or ``all``.
    estimator
        ``u`` (unbiased), ``v``, ``naive`` or ``gaussian``.
    interval
        A method of `levelbest.stats.bands.interval_methods`; an estimator that has no such interval has none printed.
    simultaneous
        Whether the limits hold over all budgets at once, or for each alone.
    axis, budget, workers
        ``cost`` asks for the best within budgets of cost, with so many trials at once, instead of numbers of trials.
    about
        Over problems: intervals for other ``problems`` like these, or for the ``suite``, exactly these.
    confidence, failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    Curve
        Where trials belong to problems, the best of n samples of each problem is averaged over problems, and intervals
        are over problems; where they belong to repeated searches it is the mean best so far. On the cost axis it is a
        `FamilyCostCurve`. Of several families a `CurveSet`.

    Examples
    --------
    >>> drawn = curve([0.71, 0.74, 0.76, 0.77, 0.79], direction="max")
    >>> round(float(drawn.value[1]), 4)
    0.773
    >>> table = {"model": ["a", "a", "b", "b"], "val_acc": [0.7, 0.8, 0.6, 0.9]}
    >>> curve(table, n=2)
    CurveSet(a, b)
    """
    request = Request.of(
        n=n,
        statistic=statistic,
        estimator=estimator,
        interval=interval,
        simultaneous=simultaneous,
        axis=axis,
        budget=budget,
        workers=workers,
        about=about,
        settings=Settings(confidence, failed, missing, n_resamples, rng),
    )
    table = as_table(trials, reading)
    return drawn_curves(design_of(table, request), request)[0] if len(table.families) == 1 else _curves(table, request)


@overload
def family_curves(trials: object, *, axis: Literal["cost"], **options: Any) -> CostCurveSet: ...


@overload
def family_curves(trials: object, **options: Any) -> CurveSet: ...


def family_curves(trials: object, **options: Any) -> CurveSet | CostCurveSet:
    """One curve for each family that has a score.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes.
    options
        Those of `curve`.

    Returns
    -------
    CurveSet
        A tuple of curves; notebooks show them as one figure. On the cost axis a `CostCurveSet`.

    Examples
    --------
    >>> table = {"model": ["a", "a", "b", "b"], "acc": [0.7, 0.8, 0.6, 0.9]}
    >>> [drawn.family for drawn in family_curves(table, family="model", selection="acc", direction="max")]
    ['a', 'b']
    """
    settings = {field.name: options.pop(field.name) for field in fields(Settings) if field.name in options}
    asking = {name: options.pop(name) for name in _ASKING if name in options}
    request = Request.of(**asking, settings=Settings(**settings))
    return _curves(as_table(trials, options), request)


def _curves(table: Table, request: Request) -> CurveSet | CostCurveSet:
    drawn = drawn_curves(design_of(with_scores(table), request), request)
    if request.axis == "cost":
        return CostCurveSet(curve for curve in drawn if isinstance(curve, FamilyCostCurve))
    return CurveSet(curve for curve in drawn if isinstance(curve, Curve))


def drawn_curves(design: Design, request: Request) -> list[Curve | FamilyCostCurve]:
    """The curves of a design in the colours of their families; a band that it does not have is refused.

    The advice to compare in pairs is left out: nothing is compared.
    """
    drawn: list[Curve | FamilyCostCurve] = []
    for curve in design.curves(request):
        cautions = tuple(caution for caution in curve.cautions if caution.code != "paired-design")
        drawn.append(replace(curve, hue=design.hues[curve.family], cautions=cautions))
    if request.simultaneous and not all(curve.simultaneous for curve in drawn):
        raise InputError(f"{design.where or 'here'} there is no {named('simultaneous')}; leave it out")
    return drawn


def curves_beside(design: ProblemsDesign) -> list[Curve]:
    """Where scores are 0 and 1: the chance that all of n samples succeed (pass^k), and the answer of most (maj@k)."""
    if design.metric.direction != "max" or not all(problems.binary for problems in design.problems):
        return []
    answered = all(problems.pool is not None and problems.pool.answered for problems in design.problems)
    drawn: list[Curve] = []
    for statistic in ("all", "majority") if answered else ("all",):
        if statistic in design.statistics:
            request = replace(design.request, statistic=statistic)
            curves = design_of(design.trials, request).curves(request)
            drawn += [curve for curve in curves if isinstance(curve, Curve) and curve.n[-1] > 1]
    return drawn
