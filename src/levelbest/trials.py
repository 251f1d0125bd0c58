"""Trials: a frozen table, one row per trial, with the metric it is judged by and how failures count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn, cast

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, FloatArray, IntArray
from levelbest._plain import html_table
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError

__all__ = ["STATUSES", "Metric", "Scores", "Skipped", "Trials"]

STATUSES = ("ok", "failed", "diverged", "pruned", "running")
"""Every status but ``ok`` and ``running`` used up budget without a score: a failure ([S] section 9)."""
_OK, _RUNNING = STATUSES.index("ok"), STATUSES.index("running")

FailurePolicy = Literal["worst", "drop"]
MissingPolicy = Literal["refuse", "drop", "worst", "selection"]


@dataclass(frozen=True)
class Metric:
    """What the scores are: which columns, which way is better, and between which bounds they lie."""

    direction: str
    selection: str = "selection"
    reported: str | None = None
    bounds: Bounds = (None, None)
    """Bounds of the score that curves are of: the reported one, or the selection score where there is no other."""
    cost: str | None = None
    cost_unit: str | None = None

    def __post_init__(self) -> None:
        _check.as_direction(self.direction)
        object.__setattr__(self, "bounds", _check.as_bounds(self.bounds))

    @property
    def worst(self) -> float | None:
        """The worst possible score, where there is one."""
        return self.bounds[0 if self.direction == "max" else 1]


@dataclass(frozen=True)
class Skipped:
    """One thing a reader left out: where it stood, and why."""

    where: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """The form that ``--json`` prints."""
        return {"where": self.where, "why": self.why}


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
    def curve_of(self) -> FloatArray:
        """The scores that a curve is of: reported where separate, else selection."""
        return self.selection if self.reported is None else self.reported


@dataclass(frozen=True, eq=False)
class Trials:
    """A frozen table of trials. ``trials["cnn"]`` is one family, ``trials.scores()`` its arrays.

    ``family``, ``group``, ``search`` and ``status`` are codes into ``families``, ``groups``, ``searches`` and
    ``STATUSES``; a score that does not exist is NaN.
    """

    metric: Metric
    families: tuple[str, ...]
    family: npt.NDArray[np.int32]
    selection: FloatArray
    status: npt.NDArray[np.uint8]
    reported: FloatArray | None = None
    cost: FloatArray | None = None
    order: IntArray | None = None
    """When the trial ran, within its family; None: the order of the rows."""
    group: npt.NDArray[np.int32] | None = None
    groups: tuple[str, ...] = ()
    search: npt.NDArray[np.int32] | None = None
    searches: tuple[str, ...] = ()
    seed: npt.NDArray[Any] | None = None
    sample: npt.NDArray[Any] | None = None
    """Which sample of its problem a trial is, where the source says so: it must not occur twice in one problem."""
    weights: FloatArray | None = None
    """One weight for each of ``groups``; None: all count the same."""
    strata: tuple[str, ...] = ()
    """One label (difficulty, source) for each of ``groups``; empty: they are not divided."""
    configuration: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Hyperparameters by column; None or NaN where a trial has no such parameter."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Role -> the column it was read from."""
    source: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    """What the source recorded about itself, e.g. ``sampler:<family>``; for diagnostics and the checklist."""
    skipped: tuple[Skipped, ...] = ()
    cautions: tuple[Caution, ...] = ()

    def __post_init__(self) -> None:
        size = self.family.size
        for name in ("selection", "status", "reported", "cost", "order", "group", "search", "seed", "sample"):
            column = getattr(self, name)
            if column is not None and column.size != size:
                raise InputError(f"every column needs one value per trial: {name} has {column.size} of {size}")
            if column is not None:
                column.setflags(write=False)
        self.family.setflags(write=False)
        for name, size in (("weights", 0 if self.weights is None else self.weights.size), ("strata", len(self.strata))):
            if size and size != len(self.groups):
                raise InputError(f"{name} must be one per group, got {size} for {len(self.groups)} groups")
        if len(set(self.families)) != len(self.families):
            raise InputError("family names must be unique; join the rows of one family before building Trials")

    @classmethod
    def from_arrays(
        cls,
        selection: npt.ArrayLike,
        *,
        direction: str,
        family: str | Sequence[Any] | npt.NDArray[Any] = "trials",
        reported: npt.ArrayLike | None = None,
        cost: npt.ArrayLike | None = None,
        cost_unit: str | None = None,
        group: Sequence[Any] | npt.NDArray[Any] | None = None,
        search: Sequence[Any] | npt.NDArray[Any] | None = None,
        seed: Sequence[Any] | npt.NDArray[Any] | None = None,
        sample: Sequence[Any] | npt.NDArray[Any] | None = None,
        weights: Mapping[Any, float] | None = None,
        strata: Mapping[Any, Any] | None = None,
        status: Sequence[str] | None = None,
        configuration: Mapping[str, Any] | None = None,
        bounds: Any = None,
        **more: Any,
    ) -> Trials:
        """Trials from plain arrays, one value per trial. A score of NaN or infinity is a diverged trial.

        ``weights`` and ``strata`` are by group.
        """
        scores = np.array(selection, dtype=np.float64).ravel()
        claimed = None if reported is None else np.array(reported, dtype=np.float64).ravel()
        if status is None:
            code = np.full(scores.size, _OK, dtype=np.uint8)
            code[~np.isfinite(scores)] = STATUSES.index("diverged")
        else:
            code = np.array([_status_code(one) for one in status], dtype=np.uint8)
            code[(code == _OK) & ~np.isfinite(scores)] = STATUSES.index("diverged")
        families, family_code = _codes([family] * scores.size if isinstance(family, str) else family)
        groups, group_code = _codes(group)
        searches, search_code = _codes(search)
        metric = Metric(
            direction=direction,
            reported=None if claimed is None else "reported",
            bounds=_check.as_bounds(bounds),
            cost=None if cost is None else "cost",
            cost_unit=cost_unit,
        )
        return cls(
            metric=metric,
            families=families,
            family=cast(npt.NDArray[np.int32], family_code),
            selection=scores,
            status=code,
            reported=claimed,
            cost=None if cost is None else np.array(cost, dtype=np.float64).ravel(),
            group=group_code,
            groups=groups,
            search=search_code,
            searches=searches,
            seed=None if seed is None else np.asarray(seed),
            sample=None if sample is None else np.asarray(sample),
            weights=None if weights is None else np.array(_each_group(weights, groups, "weights"), dtype=np.float64),
            strata=() if strata is None else tuple(map(str, _each_group(strata, groups, "strata"))),
            configuration={key: np.asarray(value) for key, value in (configuration or {}).items()},
            **more,
        )

    def __len__(self) -> int:
        return self.family.size

    def __iter__(self) -> NoReturn:
        # Without it Python would try trials[0], and name neither families nor rows in its complaint.
        raise TypeError(
            "a table of trials has no single order to go through: take one family at a time, "
            "for name in trials.families: trials[name], or the columns, such as trials.selection"
        )

    def __getitem__(self, name: str | Sequence[str]) -> Trials:
        """The trials of one family, or of several in the order given."""
        names = (name,) if isinstance(name, str) else tuple(name)
        for one in names:
            if one not in self.families:
                raise InputError(f"there is no family {one!r}; {_check.nearest_first(one, self.families)}")
        kept = tuple(c for c in self.cautions if c.family is None or c.family in names)
        if len(names) == 1:
            part = self.take(np.flatnonzero(self.family == self.families.index(names[0])))
            return replace(part, families=names, family=np.zeros(len(part), dtype=np.int32), cautions=kept)
        codes = {self.families.index(one): place for place, one in enumerate(names)}
        new_code = np.full(len(self.families), -1, dtype=np.int32)
        for old, new in codes.items():
            new_code[old] = new
        mapped = new_code[self.family]
        part = self.take(np.flatnonzero(mapped >= 0))
        return replace(part, families=names, family=new_code[part.family], cautions=kept)

    def take(self, rows: npt.NDArray[Any]) -> Trials:
        """The trials at these positions, families and groups named as before."""

        def pick(column: npt.NDArray[Any] | None) -> Any:
            return None if column is None else column[rows]

        return replace(
            self,
            family=self.family[rows],
            selection=self.selection[rows],
            status=self.status[rows],
            reported=pick(self.reported),
            cost=pick(self.cost),
            order=pick(self.order),
            group=pick(self.group),
            search=pick(self.search),
            seed=pick(self.seed),
            sample=pick(self.sample),
            configuration={key: column[rows] for key, column in self.configuration.items()},
        )

    @property
    def n_failed(self) -> int:
        """Trials that ended without a score: failed, diverged or pruned."""
        return int(np.count_nonzero((self.status != _OK) & (self.status != _RUNNING)))

    @property
    def n_running(self) -> int:
        """Trials that have not ended."""
        return int(np.count_nonzero(self.status == _RUNNING))

    @property
    def n_trials(self) -> int:
        """Trials that ended, failed ones included."""
        return len(self) - self.n_running

    @property
    def validation_only(self) -> bool:
        """Whether the selection score is all there is: outputs then say so."""
        return self.reported is None

    def scores(self, failed: str = "worst", *, missing: str = "refuse") -> Scores:
        """One family's scores, with failed trials as the worst score (default) or dropped.

        ``worst`` ranks a failed trial below every score and reports it as the worst bound or, where the score has
        none, the worst observed. ``missing`` says what a trial without a reported score is: refused, dropped,
        the worst score, or (``selection``) that the selection score alone is used.
        """
        _check.as_choice(failed, ("worst", "drop"), "failure policy")
        _check.as_choice(missing, ("refuse", "drop", "worst", "selection"), "treatment of missing reported scores")
        if len(self.families) != 1:
            raise InputError(
                f"scores are of one family, and here are {len(self.families)}: choose one, "
                f"e.g. trials[{self.families[0] if self.families else 'name'!r}]"
            )
        finished = self.status != _RUNNING
        ok = self.status == _OK
        reported = None if missing == "selection" else self.reported
        if reported is not None:
            unknown = ok & ~np.isfinite(reported)
            if unknown.any():
                known = int(np.count_nonzero(ok & ~unknown))
                if missing == "refuse":
                    raise DataError(
                        f"{self.families[0]}: the reported score {self.metric.reported!r} is known for {known} of "
                        f"{int(ok.sum())} finished trials; say how to treat the others (--missing-reported drop, worst "
                        "or selection; missing= in Python)"
                    )
                if missing == "drop":
                    finished = finished & ~unknown
                ok = ok & ~unknown
        if not ok.any():
            raise DataError(
                f"{self.families[0]}: none of {int(finished.sum())} finished trials has a score: there is nothing to "
                "estimate; leave this family out (--where), or run it again"
            )
        lost = finished & ~ok
        rows = np.flatnonzero(ok if failed == "drop" else finished)
        selection, claimed = self.selection[rows], None if reported is None else reported[rows]
        bad = ~ok[rows]
        if bad.any():
            selection, claimed = self._count_as_worst(selection, claimed, bad)
        return Scores(
            selection=selection,
            reported=claimed,
            cost=None if self.cost is None else self.cost[rows],
            rows=rows,
            n_failed=int(lost.sum()),
            n_running=self.n_running,
            failed=cast(FailurePolicy, failed),
        )

    def _count_as_worst(
        self, selection: FloatArray, reported: FloatArray | None, bad: npt.NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray | None]:
        sign = 1.0 if self.metric.direction == "max" else -1.0

        def worst_of(scores: FloatArray) -> float:
            bound = self.metric.worst
            return float(sign * (sign * scores[~bad]).min()) if bound is None else bound

        selection = selection.copy()
        if reported is None:
            selection[bad] = worst_of(selection)
            return selection, None
        # Strictly below every score, so that a failed trial never shares the worst one's weight.
        selection[bad] = sign * np.nextafter((sign * selection[~bad]).min(), -np.inf)
        reported = reported.copy()
        reported[bad] = worst_of(reported)
        return selection, reported

    def _repr_html_(self) -> str:
        """How a notebook shows it: one row a family."""
        rows = []
        for name in self.families:
            one = self[name]
            rows.append([name, str(one.n_trials), str(one.n_failed), str(one.n_running)])
        score = self.metric.reported or f"{self.metric.selection} (validation only)"
        return html_table(["family", "trials", "failed", "running"], rows, caption=f"Trials; score: {score}")

    def __str__(self) -> str:
        parts = []
        for name in self.families:
            one = self[name]
            failed = f", {one.n_failed} failed" if one.n_failed else ""
            running = f", {one.n_running} still running" if one.n_running else ""
            parts.append(f"{name}: {one.n_trials} trials{failed}{running}")
        return "; ".join(parts)


def _status_code(name: str) -> int:
    return STATUSES.index(_check.as_choice(str(name), STATUSES, "status"))


def _each_group(given: Mapping[Any, Any], groups: tuple[str, ...], name: str) -> list[Any]:
    """What a mapping says of each group, in the order of the groups."""
    if not groups:
        raise InputError(f"{name} are of problems: name the problem of each trial with group=")
    known = {str(key): value for key, value in given.items()}
    missing = [one for one in groups if one not in known]
    if missing:
        listed = ", ".join(missing[:5])
        raise InputError(f"{name} must name every group, and {len(missing)} of {len(groups)} are missing: {listed}")
    return [known[one] for one in groups]


def _codes(values: Any) -> tuple[tuple[str, ...], npt.NDArray[np.int32] | None]:
    """Names in order of first appearance, and the code of each value."""
    if values is None:
        return (), None
    names: dict[str, int] = {}
    codes = np.array([names.setdefault(str(v), len(names)) for v in values], dtype=np.int32)
    return tuple(names), codes
