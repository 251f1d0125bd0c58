"""Success by a threshold: graded scores as 0 and 1."""

from __future__ import annotations

import operator
import re
from dataclasses import replace

import numpy as np

from levelbest.errors import InputError, named
from levelbest.trials import Trials

__all__ = ["as_success"]

_COMPARED = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "=": operator.eq}
_CONDITION = re.compile(r"\s*(>=|>|<=|<|==?)?\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*")


def as_success(trials: Trials, condition: str) -> Trials:
    """The trials with 1 in place of a score that meets the condition and 0 of one that does not.

    The score that curves are of is judged: the reported one, or the selection score where there is no other.

    Parameters
    ----------
    trials
        With any scores.
    condition
        ``>= 0.8``; a bare number is the least score that is a success (or the greatest, where lower is better).

    Examples
    --------
    >>> trials = Trials.from_arrays([0.7, 0.9], direction="max")
    >>> as_success(trials, ">= 0.8").selection.tolist()
    [0.0, 1.0]
    """
    match = _CONDITION.fullmatch(str(condition))
    if match is None:
        raise InputError(f"{named('success')} is a condition on the score, such as '>= 0.8', got {condition!r}")
    metric = trials.metric
    sign, threshold = match[1] or (">=" if metric.direction == "max" else "<="), float(match[2])
    scores = trials.selection if trials.reported is None else trials.reported
    met = np.where(np.isnan(scores), np.nan, _COMPARED[sign.replace("==", "=")](scores, threshold).astype(np.float64))
    if np.unique(met[~np.isnan(met)]).size < 2:
        every = "every" if np.nansum(met) else "no"
        raise InputError(
            f"{named('success', condition)}: {every} {metric.score!r} is a success; scores lie between "
            f"{np.nanmin(scores):g} and {np.nanmax(scores):g}"
        )
    title = f"{metric.score} {sign} {threshold:g}"
    judged = replace(metric, direction="max", bounds=(0.0, 1.0), natural=(None, None))
    if trials.reported is None:
        return replace(trials, selection=met, metric=replace(judged, selection=title))
    turned = trials.selection if metric.direction == "max" else -trials.selection  # it selects by one direction
    return replace(trials, selection=turned, reported=met, metric=replace(judged, reported=title))
