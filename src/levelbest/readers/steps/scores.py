"""Direction and bounds of scores, and scores that are probably not what they seem.

For two scales in one column, for crashes written as 0, and for scores of one run counted as several, the user is asked;
``bounds`` confirms that all scores are intended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, FloatArray
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, InputError, named, named_condition
from levelbest.readers.raw import Coded, as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.kinds import PLACES, Look, never_setting
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.planned import cell_codes
from levelbest.readers.steps.roles import ReadRequest, Roles
from levelbest.trials import BY_ID, OK, SETTINGS_GIVEN, Trials

__all__ = ["Judged", "ask_about_repeats", "ask_about_scores", "judged_by", "said_of_runs"]

_FACTOR = 20.0
"""So many times larger scores of one family than another's shares are percent."""
_GAP = 5.0
"""Within a family the smallest percentage is so many times the largest share: none lies between."""
_MARKS = {0.0: 2, -1.0: 1} | dict.fromkeys((-99.0, -999.0, -9999.0, 999.0, 9999.0, 99999.0, 999999.0), 1)
"""Numbers that stand for no score, and how many of them raise the question."""
_FEW = 5
_BEST_GRADE = 10
_IDS = names.word_set("seed id uid uuid run job ckpt checkpoint policy path dir folder file hash commit sha")
_OF_SETTINGS = names.word_set("config cfg configuration candidate arm hparams hparam hp setting settings")
_JOBS = names.word_set("job job_id job_name jobid slurm_job_id slurm_array_task_id array_task_id")
_OF_RUNS = ("identifier", "path", "hash", "numbers-runs")
_COMPARED_UP_TO = 100_000
"""Rows of a table in which rows of one run are looked for."""


@dataclass(frozen=True)
class Judged:
    """How the score that curves are of is judged."""

    direction: str
    bounds: Bounds
    turned: bool
    """Whether the selection score points the other way, and is negated."""

    @property
    def selected(self) -> str:
        """Which way the selection score is better as it stands in the table."""
        return self.direction if not self.turned else "min" if self.direction == "max" else "max"


def judged_by(table: Merged, roles: Roles, wanted: ReadRequest) -> Judged:
    """The direction of the score that curves are of, its bounds, and whether the selection score must be turned."""
    shown = roles.reported or roles.selection
    alone = shown == roles.selection
    recorded = table.direction(roles.selection, table.roles.get("selection") == roles.selection)
    selection = recorded or _by_name_or_words(table, roles.selection) or _by_grades(table, roles)
    if wanted.selection_direction is not None:
        selection = _check.as_direction(wanted.selection_direction)
    reported = selection if alone else table.direction(shown, chosen=False) or _by_name_or_words(table, shown)
    same_metric = names.rest(shown) == names.rest(roles.selection)
    if wanted.direction is not None:
        direction = _agreed(wanted.direction, recorded if alone else None)
    else:
        direction = _told(shown, reported or (selection if same_metric or recorded else None))
        if not recorded or not (alone or reported is None):
            roles.direction_by = shown
    bounds = _written_bounds(table, shown) if wanted.bounds is None else _check.as_bounds(wanted.bounds)
    if alone:
        return Judged(direction, bounds, turned=False)
    if selection is None and not (same_metric or names.is_neutral(roles.selection)):
        caution = Caution.of(
            "guessed-columns", kind="same-way", column=roles.selection, reported=shown, direction=direction
        )
        roles.notes.append(caution)
    return Judged(direction, bounds, turned=selection not in (None, direction))


def _agreed(given: str, recorded: str | None) -> str:
    direction = _check.as_direction(given)
    if recorded not in (None, direction):
        raise InputError(f"{named('direction', direction)} contradicts the source, which recorded {recorded}")
    return direction


def _told(score: str, way: str | None) -> str:
    if way is None:
        raise Ambiguous(
            f"is a higher {score!r} better, or a lower one? Its name does not say: give {named('direction')} max or min"
        )
    return way


def _by_name_or_words(table: Merged, column: str) -> str | None:
    """Which way a score is better by its name, or since it is written as PASS and FAIL, or is true or false."""
    way = names.direction_of(column)[0]
    if way is not None or column not in table.columns:
        return way
    cells = table.columns[column]
    truths = not isinstance(cells, Coded) and cells.dtype.kind == "b" and names.is_neutral(column)
    return "max" if truths or "verdict" in as_numbers(cells).converted else None


def _by_grades(table: Merged, roles: Roles) -> str | None:
    """A score of answers to problems in whole numbers up to ten is a grade, and a higher one is better."""
    if roles.group is None or roles.selection not in table.columns or not names.is_neutral(roles.selection):
        return None
    values = as_numbers(table.columns[roles.selection]).values
    known = values[np.isfinite(values)]
    grades = known.size > 0 and bool(((known == np.floor(known)) & (known >= 0) & (known <= _BEST_GRADE)).all())
    return "max" if grades else None


def _written_bounds(table: Merged, column: str) -> Bounds:
    """Bounds that a tidy table or a ledger remembers, else those in the column's name."""
    sides = [{part.facts.get(f"bounds:{side}") for part in table.present()} for side in ("low", "high")]
    scored = {part.roles.get("reported", part.roles.get("selection")) for part in table.present()}
    bounded = column in ("selection", "reported") or (scored == {column} and any(side != {None} for side in sides))
    if bounded and all(len(side) == 1 for side in sides):
        low, high = (next(iter(side)) for side in sides)
        return (None if low is None else float(low)), (None if high is None else float(high))
    return names.direction_of(column)[1]


def ask_about_scores(trials: Trials, wanted: ReadRequest) -> None:
    """Raise a question where scores are on two scales, or crashes may be among them."""
    if wanted.bounds is not None or trials.metric.bounds != (None, None):
        return
    for scores, name in _scores(trials):
        if names.is_share(name) and (scores > 1).any():  # nothing is in percent where no score is above 1
            _ask_about_families(trials, scores, name)
            _ask_about_percent(scores[np.isfinite(scores) & (trials.status == OK)], name)
        if trials.group is None:
            _ask_about_marks(scores[np.isfinite(scores) & (trials.status == OK)], name)


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
    if small.size < 2 or not large.size or scores.min() < 0 or scores.max() > 100 or not small.any():
        return
    if large.min() >= _GAP * small.max() and np.median(large) >= _FACTOR * np.median(small[small > 0]):
        raise Ambiguous(
            f"{name!r} lies between {small.min():g} and {small.max():g} in {small.size} rows and between "
            f"{large.min():g} and {large.max():g} in {large.size}: are some in percent? bring them to one scale, or "
            f"say with {named('bounds')} that all are meant"
        )


def _ask_about_marks(scores: FloatArray, name: str) -> None:
    """Zeros, -1 or -999 far from all other scores are perhaps crashes; as a loss they would be the best."""
    for mark, fewest in _MARKS.items():
        marked = int(np.count_nonzero(scores == mark))
        others = scores[scores != mark]
        if marked < fewest or others.size < max(_FEW, marked) or np.unique(others).size < _FEW:
            continue
        nearest, spread = float(np.abs(others - mark).min()), float(np.ptp(others))
        if nearest >= spread and (others > 0).all():
            many = f"{marked} scores of {name!r} are" if marked > 1 else f"1 score of {name!r} is"
            raise Ambiguous(
                f"{many} exactly {mark:g} and all others between {others.min():g} and {others.max():g}: are they "
                f"crashes ({named_condition(name, f'{mark:g}', '<>')} leaves them out; or name a column that says so, "
                f"{named('status')}), or scores ({named('bounds')} with the lowest and highest possible)?"
            )


def said_of_runs(table: Merged, trials: Trials, roles: Roles, wanted: ReadRequest) -> dict[str, str]:
    """That the configurations were given, and whether they are ids of runs or seeds."""
    if wanted.configuration is None:
        return {}
    ids = [name for name in trials.configuration if _tells_runs_apart(table, name)]
    by_id = any(not are_configurations(table, trials, roles, name) for name in ids)
    return {SETTINGS_GIVEN: "yes"} | ({BY_ID: "yes"} if by_id else {})


def are_configurations(table: Merged, trials: Trials, roles: Roles, name: str) -> bool:
    """Whether an id is of configurations (or of models, versions) by its name, or since its rows have seeds, the same
    as those of other ids: each of them is a run of its own."""
    if set(names.tokens(name)) & _OF_SETTINGS:
        return True
    if roles.seed in (None, name):
        return False
    cells = cell_codes(trials)
    seeds = joint_codes([cells, as_codes(table.columns[str(roles.seed)])[1]])
    rows = np.unique(joint_codes([seeds, as_codes(table.columns[name])[1]])).size
    return rows == len(trials) and 3 * np.unique(seeds).size <= 2 * rows


def _tells_runs_apart(table: Merged, name: str) -> bool:
    """Whether a column is by its name or cells of seeds or of the ids of runs."""
    if names.spelled(name) in PLACES - _JOBS:
        return False
    return bool(set(names.tokens(name)) & _IDS) or never_setting(Look(name, table.columns[name])) in _OF_RUNS


def ask_about_repeats(table: Merged, trials: Trials, roles: Roles, wanted: ReadRequest) -> None:
    """Ask where rows that share an id, a seed or a cluster score alike, and would count as independent."""
    if trials.search is not None or roles.trial or wanted.trial or not 6 <= len(trials) <= _COMPARED_UP_TO:
        return
    guessed = {roles.seed} if wanted.seed_column is None else set()
    free = [name for name in table.columns if name not in roles.used() - guessed]
    if trials.group is None and wanted.configuration is None and (ids := _again(table, trials, free)):
        from levelbest.readers.steps.alike import ask_about_runs  # for such tables alone

        ask_about_runs(table, trials, ids, [name for name in ids if are_configurations(table, trials, roles, name)])
    if trials.group is not None and not trials.clusters and wanted.cluster is None and roles.stratum is None:
        from levelbest.readers.steps.alike import ask_about_clusters  # for such tables alone

        ask_about_clusters(table, trials, free)


def _again(table: Merged, trials: Trials, free: Sequence[str]) -> list[str]:
    """The columns of seeds and of the ids of runs whose values come again within families and tasks."""
    cells = cell_codes(trials)
    counts = {name: np.unique(joint_codes([cells, as_codes(table.columns[name])[1]])).size for name in free}
    return [name for name in free if 3 * counts[name] <= 2 * len(trials) and _tells_runs_apart(table, name)]
