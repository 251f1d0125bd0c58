"""The metric, the failure policy, means over seeds, and the settings shared by all public functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import N_RESAMPLES, BoolArray, Bounds, Column, FloatArray, IntArray
from levelbest.errors import DataError, InputError, named

if TYPE_CHECKING:
    from levelbest.trials.table import Trials

STATUSES = ("ok", "failed", "diverged", "pruned", "running")
"""Every status but ``ok`` and ``running`` used up budget without a score: a failure ([S] section 9)."""
OK, RUNNING = STATUSES.index("ok"), STATUSES.index("running")

FailurePolicy = Literal["worst", "drop"]


@dataclass(frozen=True)
class Metric:
    """The metric: the columns of the scores, their direction and their bounds."""

    direction: str
    selection: str = "selection"
    reported: str | None = None
    bounds: Bounds = (None, None)
    """Bounds of the score that curves are of: the reported one, or the selection score where there is no other."""
    cost: str | None = None
    cost_unit: str | None = None
    natural: Bounds = (None, None)
    """Bounds that the name of the score tells (an accuracy is a share): no more than limits are cut at them."""

    def __post_init__(self) -> None:
        _check.as_direction(self.direction)
        object.__setattr__(self, "bounds", _check.as_bounds(self.bounds))

    @property
    def sign(self) -> float:
        """1 where higher is better, -1 where lower is: a score times this is turned so that higher is better."""
        return _check.sign_of(self.direction)

    @property
    def score(self) -> str:
        """The column that curves are of."""
        return self.reported or self.selection

    @property
    def worst(self) -> float | None:
        """The worst possible score, where there is one."""
        return self.bounds[0 if self.direction == "max" else 1]

    def cut(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits of the score, none past what its name says; a limit that does not exist stays infinite."""
        least, most = self.natural
        if least is not None:
            low = np.where(np.isfinite(low), np.maximum(low, least), low)
            high = np.maximum(high, least)
        if most is not None:
            high = np.where(np.isfinite(high), np.minimum(high, most), high)
            low = np.minimum(low, most)
        return low, high

    def cut_differences(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits of differences, none wider than two such scores can differ; infinite ones stay."""
        least, most = self.natural
        if least is None or most is None:
            return low, high
        cut = [np.clip(limit, least - most, most - least) for limit in (low, high)]
        return np.where(np.isinf(low), low, cut[0]), np.where(np.isinf(high), high, cut[1])

    @property
    def turned_bounds(self) -> Bounds:
        """The bounds of scores turned so that higher is better."""
        from levelbest.stats.best import turned_bounds

        return turned_bounds(self.bounds, self.direction)


def as_failure_policy(failed: str) -> FailurePolicy:
    """``worst`` or ``drop``."""
    return cast(FailurePolicy, _check.as_choice(failed, ("worst", "drop"), "failure policy"))


def as_missing_policy(missing: str) -> str:
    """What a trial without a reported score is: refused, dropped, the worst score, or judged by selection alone."""
    known = ("refuse", "drop", "worst", "selection")
    return _check.as_choice(missing, known, "treatment of missing reported scores")


@dataclass(frozen=True)
class Settings:
    """Confidence, policies for failures and missing reported scores, number of random draws, and seed.

    Parameters
    ----------
    confidence
        Of limits and verdicts.
    failed
        ``worst``: a failed trial has the worst score; ``drop``: it is left out, which flatters its family.
    missing
        What a trial without a reported score is: ``refuse``, ``drop``, ``worst`` or ``selection`` (use the selection
        score alone).
    n_resamples
        Random draws behind a limit.
    rng
        The random seed; the same seed gives the same numbers.

    Examples
    --------
    >>> Settings(confidence=0.9).failed
    'worst'
    """

    confidence: float = 0.95
    failed: str = "worst"
    missing: str = "refuse"
    n_resamples: int = N_RESAMPLES
    rng: int | None = 0

    def __post_init__(self) -> None:
        _check.as_confidence(self.confidence)
        as_failure_policy(self.failed)
        as_missing_policy(self.missing)
        _check.as_count(self.n_resamples, "n_resamples")

    @property
    def other_policy(self) -> Settings:
        """The same with failures counted the other way."""
        return replace(self, failed="drop" if self.failed == "worst" else "worst")


@dataclass(frozen=True)
class Scores:
    """One family's finished trials as arrays for ``levelbest.stats``, failures counted by a policy."""

    selection: FloatArray
    reported: FloatArray | None
    cost: FloatArray | None
    rows: IntArray
    """Positions of these trials in the table they came from."""
    n_failed: int
    n_running: int
    failed: FailurePolicy

    @property
    def n_trials(self) -> int:
        """How many trials the arrays hold (with ``worst``, the failed ones too)."""
        return self.selection.size

    @property
    def n_run(self) -> int:
        """How many trials were run: those that the arrays hold, and the failed ones that were dropped."""
        return self.n_trials + (self.n_failed if self.failed == "drop" else 0)

    @property
    def curve_of(self) -> FloatArray:
        """The scores that a curve is of: reported where separate, else selection."""
        return self.selection if self.reported is None else self.reported


def codes_of(values: Iterable[object] | None) -> tuple[tuple[str, ...], npt.NDArray[np.int32] | None]:
    """Names in order of first appearance, and the code of each value."""
    if values is None:
        return (), None
    names: dict[str, int] = {}
    codes = np.array([names.setdefault(str(v), len(names)) for v in values], dtype=np.int32)
    return tuple(names), codes


def scores_of(trials: Trials, failed: str, missing: str) -> Scores:
    """One family's scores; see `Trials.scores`."""
    policy, missing = as_failure_policy(failed), as_missing_policy(missing)
    if missing == "refuse" and "judge" in trials.facts:
        missing = "selection"  # it scores every sample, and only some have a label
    if len(trials.families) != 1:
        raise InputError(
            f"scores belong to one family, and there are {len(trials.families)}: choose one, "
            f"e.g. trials[{trials.families[0] if trials.families else 'name'!r}]"
        )
    finished, ok = trials.status != RUNNING, trials.status == OK
    reported = None if missing == "selection" else trials.reported
    if reported is not None:
        unknown = ok & ~np.isfinite(reported)
        if unknown.any() and missing == "refuse":
            raise _not_reported(trials, int(unknown.sum()), int(ok.sum()))
        if missing == "drop":
            finished = finished & ~unknown
        ok = ok & ~unknown
    if not ok.any():
        raise DataError(
            f"{trials.families[0]}: none of {int(finished.sum())} finished trials has a score: there is nothing to "
            f"estimate; leave this family out ({named('where')}), or run it again"
        )
    rows = np.flatnonzero(ok if policy == "drop" else finished)
    kept = slice(None) if rows.size == len(trials) else rows  # of all rows no copies are made
    selection, claimed = trials.selection[kept], None if reported is None else reported[kept]
    bad = ~ok[kept]
    if bad.any():
        selection, claimed = count_as_worst(selection, claimed, bad, trials.metric.sign, trials.metric.worst)
    return Scores(
        selection=selection,
        reported=claimed,
        cost=None if trials.cost is None else trials.cost[kept],
        rows=rows,
        n_failed=int((finished & ~ok).sum()),
        n_running=trials.n_running,
        failed=policy,
    )


def _not_reported(trials: Trials, unknown: int, finished: int) -> DataError:
    return DataError(
        f"{trials.families[0]}: the reported score {trials.metric.reported!r} is known for {finished - unknown} of "
        f"{finished} finished trials; say how to treat the others ({named('missing')} drop, worst or selection)"
    )


def count_as_worst(
    selection: FloatArray, reported: FloatArray | None, bad: BoolArray, sign: float, worst: float | None
) -> tuple[FloatArray, FloatArray | None]:
    """Failed trials as the worst bound or, where the score has none, as the worst observed."""

    def worst_of(scores: FloatArray) -> float:
        return float(sign * (sign * scores[~bad]).min()) if worst is None else worst

    selection = selection.copy()
    if reported is None:
        selection[bad] = worst_of(selection)
        return selection, None
    # Strictly below every score, so that a failed trial never shares the worst one's weight.
    selection[bad] = sign * np.nextafter((sign * selection[~bad]).min(initial=np.inf), -np.inf)
    reported = reported.copy()
    reported[bad] = worst_of(reported)
    return selection, reported


_SPLITS = (
    *("split", "data_split", "split_id", "split_seed", "data_seed", "cv_split", "bootstrap_seed"),
    *("fold", "folds", "fold_id", "fold_idx", "cv_fold", "data_fold", "test_fold", "kfold", "k_fold", "val_fold"),
    *(
        "fold_no",
        "fold_nr",
        "fold_num",
        "fold_number",
        "cv",
        "outer",
        "outer_fold",
        "outer_split",
        "outer_cv",
        "split_no",
    ),
)
_PREFIXES = ("config.", "params.", "hparams.", "config/")


def is_split_name(name: str) -> bool:
    """Whether a column is by its name one of data splits: ``fold``, ``config.split``, ``data_seed``.

    Examples
    --------
    >>> is_split_name("CV-Fold"), is_split_name("seed")
    (True, False)
    """
    plain = name.lower()
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") in _SPLITS


def split_column(columns: Iterable[str]) -> str | None:
    """The column that by its name tells the data split of each run.

    Examples
    --------
    >>> split_column({"lr": np.array([0.1, 0.2]), "config.Fold": np.array([0, 1])})
    'config.Fold'
    """
    return next((name for name in columns if is_split_name(name)), None)


def data_splits(trials: Trials) -> tuple[str, Column] | None:
    """The column of the data split of each run and what it holds: a seed is one where its name says so."""
    seed = {} if trials.seed is None else {trials.columns.get("seed", "seed"): trials.seed}
    columns = {**seed, **trials.configuration}
    name = split_column(columns)
    return None if name is None else (name, columns[name])


BY_ID, SETTINGS_GIVEN = "by-id", "settings-given"
"""The facts that the configurations were given, so that all other rows are of runs of their own; and that those given
are ids of runs, or seeds: rows with the same one are of one run."""


def has_repeats(trials: Trials) -> bool:
    """Whether some configuration has several runs."""
    return trials.setting is not None and np.unique(trials.setting).size < len(trials)


def few_again(distinct: int, rows: int) -> bool:
    """Whether rows with so many distinct seeds are runs of these of which a few, fewer than half, were run again."""
    return 2 * (rows - distinct) < distinct


def runs_of(table: Trials, scores: Scores) -> IntArray:
    """The configuration of each run that has a score, numbered from 0 in the order of the rows."""
    codes = np.arange(len(table)) if table.setting is None else table.setting
    _, first, inverse = np.unique(codes[scores.rows], return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def by_configuration(table: Trials, scores: Scores) -> Scores:
    """One entry for each configuration of a family: means over its runs, and what they cost together.

    ``rows`` are those of each configuration's first run; ``n_failed`` counts runs.
    """
    runs = runs_of(table, scores)
    count = np.bincount(runs)

    def total(column: FloatArray) -> FloatArray:
        return np.bincount(runs, column).astype(np.float64)

    return replace(
        scores,
        selection=total(scores.selection) / count,
        reported=None if scores.reported is None else total(scores.reported) / count,
        cost=None if scores.cost is None else total(scores.cost),
        rows=scores.rows[np.unique(runs, return_index=True)[1]],
    )


def as_column(values: npt.ArrayLike, name: str) -> FloatArray:
    """A copy of one number per trial."""
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be one number per trial: {error}") from None
    if column.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, one number per trial, got shape {column.shape}; name the family, problem "
            "or search of each trial in a list beside it"
        )
    return column


def status_codes(names: Sequence[str] | None, scores: FloatArray) -> npt.NDArray[np.uint8]:
    """How each trial ended: as told, but a finished one without a finite score has diverged."""
    if names is None:
        codes = np.full(scores.size, OK, dtype=np.uint8)
    else:
        known = [_check.as_choice(str(name), STATUSES, "status") for name in names]
        codes = np.array([STATUSES.index(name) for name in known], dtype=np.uint8)
    codes[(codes == OK) & ~np.isfinite(scores)] = STATUSES.index("diverged")
    return codes
