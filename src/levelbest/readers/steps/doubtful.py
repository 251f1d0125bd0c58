"""Scores that are probably not what they seem, and are asked about: two scales in one column, and crashes written as 0.

``bounds`` says that all scores are meant as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import Ambiguous, named
from levelbest.readers.steps import names
from levelbest.readers.steps.roles import Wanted
from levelbest.trials import OK, Trials

__all__ = ["ask_about_scores"]

_FACTOR = 20.0
"""So many times larger scores of one family than another's shares are percent."""
_GAP = 5.0
"""Within a family the smallest percentage is so many times the largest share: none lies between."""
_FEW = 5


def ask_about_scores(trials: Trials, wanted: Wanted) -> None:
    """Raise a question where scores are on two scales, or crashes may be among them."""
    if wanted.bounds is not None or trials.metric.bounds != (None, None):
        return
    for scores, name in _scores(trials):
        if names.is_share(name) and (scores > 1).any():  # nothing is in percent where no score is above 1
            _ask_about_families(trials, scores, name)
            _ask_about_percent(scores[np.isfinite(scores) & (trials.status == OK)], name)
        if trials.group is None:
            _ask_about_zeros(scores[np.isfinite(scores) & (trials.status == OK)], name)


def _scores(trials: Trials) -> Iterator[tuple[FloatArray, str]]:
    for column, name in ((trials.selection, trials.metric.selection), (trials.reported, trials.metric.reported)):
        if column is not None and name is not None:
            yield column, name


def _ask_about_families(trials: Trials, column: FloatArray, name: str) -> None:
    """One family's scores as shares and another's in percent would be compared as they stand."""
    scores = {family: column[trials.family == code] for code, family in enumerate(trials.families)}
    scores = {family: values[np.isfinite(values)] for family, values in scores.items()}
    scores = {family: values for family, values in scores.items() if values.size and values.min() >= 0}
    middle = {family: float(np.median(values)) for family, values in scores.items()}
    shares = [family for family, values in scores.items() if 0 < values.max() <= 1]
    percent = [
        family
        for family, values in scores.items()
        if values.max() <= 100 and shares and middle[family] > max(1.0, _FACTOR * middle[shares[0]])
    ]
    if percent:
        a, b = scores[shares[0]], scores[percent[0]]
        raise Ambiguous(
            f"{name!r} lies between {a.min():g} and {a.max():g} in {shares[0]!r} and between {b.min():g} and "
            f"{b.max():g} in {percent[0]!r}: are some in percent? bring them to one scale, or say with "
            f"{named('bounds')} that both are meant"
        )


def _ask_about_percent(scores: FloatArray, name: str) -> None:
    """Shares and percentages in one column, with nothing between them."""
    small, large = scores[scores <= 1], scores[scores > 1]
    if min(small.size, large.size) < 2 or scores.min() < 0 or scores.max() > 100 or not small.any():
        return
    if large.min() >= _GAP * small.max() and np.median(large) >= _FACTOR * np.median(small[small > 0]):
        raise Ambiguous(
            f"{name!r} lies between {small.min():g} and {small.max():g} in {small.size} rows and between "
            f"{large.min():g} and {large.max():g} in {large.size}: are some in percent? bring them to one scale, or "
            f"say with {named('bounds')} that all are meant"
        )


def _ask_about_zeros(scores: FloatArray, name: str) -> None:
    """Zeros far from all other scores are perhaps crashes; as a loss they would be the best."""
    zeros = int(np.count_nonzero(scores == 0))
    others = scores[scores != 0]
    if zeros < 2 or others.size < max(_FEW, zeros) or np.unique(others).size < _FEW:
        return
    nearest, spread = float(np.abs(others).min()), float(np.ptp(others))
    if nearest >= spread and (others > 0).all():
        column = name if name.isidentifier() else f'"{name}"'
        raise Ambiguous(
            f"{zeros} scores of {name!r} are exactly 0 and all others between {others.min():g} and {others.max():g}: "
            f"are they crashes ({named('where')} '{column} <> 0', or a column that says so, {named('status')}), or "
            f"scores ({named('bounds')} with the lowest and highest possible)?"
        )
