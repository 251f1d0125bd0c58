"""Trials: a frozen table, one row per trial, with the metric it is judged by and how failures count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Column, FloatArray, IntArray
from levelbest._plain import as_frame
from levelbest._shown import presenter
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, InputError, named, named_condition
from levelbest.stats.checks._diagnostics import rank_correlation
from levelbest.trials.colours import MOST_COLOURED, Hues, ranked_hues
from levelbest.trials.nested import cluster_names, each_group
from levelbest.trials.scores import OK, RUNNING, STATUSES, Metric, Scores, as_column, codes_of, scores_of, status_codes

__all__ = ["Skipped", "Trials"]


@dataclass(frozen=True)
class Skipped:
    """One thing a reader left out: where it stood, and why."""

    where: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """The form that ``--json`` prints."""
        return {"where": self.where, "why": self.why}


@dataclass(frozen=True)
class Registered:
    """A headline budget that a ledger holds since before the first trial, and the trials that it is about."""

    n: int
    trials: Mapping[str, tuple[int, ...]]
    """Family -> how many of its trials were run, and how many of these did not fail."""


_ALWAYS = ("family", "selection", "status")
_COLUMNS = (
    *_ALWAYS,
    "reported",
    "cost",
    "order",
    "task",
    "group",
    "search",
    "seed",
    "sample",
    "answer",
    "setting",
    "path",
)


@dataclass(frozen=True, eq=False)
class Trials:
    """A frozen table of trials. ``trials["cnn"]`` is one family, ``trials.scores()`` its arrays.

    ``family``, ``task``, ``group``, ``search`` and ``status`` are codes into ``families``, ``tasks``, ``groups``,
    ``searches`` and ``STATUSES``; a score that does not exist is NaN.
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
    task: npt.NDArray[np.int32] | None = None
    """The task (game, data set, benchmark) that a trial is of; they are compared one by one, never pooled."""
    tasks: tuple[str, ...] = ()
    group: npt.NDArray[np.int32] | None = None
    groups: tuple[str, ...] = ()
    search: npt.NDArray[np.int32] | None = None
    searches: tuple[str, ...] = ()
    seed: Column | None = None
    sample: Column | None = None
    """Which sample of its problem a trial is, where the source says so: it must not occur twice in one problem."""
    answer: Column | None = None
    """The answer that a sample gives, where the answers of a problem vote; empty where it gives none."""
    setting: IntArray | None = None
    """Which configuration a trial ran, where several share one (seeds within configurations); None: each its own."""
    path: Column | None = None
    """Where the files of a trial are, below what was read; never a path of a machine."""
    weights: FloatArray | None = None
    """One weight for each of ``groups``; None: all count the same."""
    strata: tuple[str, ...] = ()
    """One label (difficulty, source) for each of ``groups``; empty: they are not divided."""
    by_task: bool = False
    """Whether the strata are tasks (benchmarks), which are averaged over after their problems."""
    clusters: tuple[str, ...] = ()
    """What each of ``groups`` is nested in (a repository, a passage, a template); empty: each stands by itself."""
    configuration: Mapping[str, Column] = field(default_factory=dict)
    """Hyperparameters by column; None or NaN where a trial has no such parameter."""
    others: Mapping[str, Column] = field(default_factory=dict)
    """Columns that play no part, as they were read, where they were asked for; a status in the words of the source."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Role -> the column it was read from."""
    source: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    """What the source recorded about itself, e.g. ``sampler:<family>``; for diagnostics and the checklist."""
    skipped: tuple[Skipped, ...] = ()
    cautions: tuple[Caution, ...] = ()
    kept_hues: Hues = field(default_factory=dict)
    """The colours of the table that these families were taken from; see `hues`."""

    def __post_init__(self) -> None:
        named_columns = {name: getattr(self, name) for name in _COLUMNS} | dict(self.configuration) | dict(self.others)
        for name, column in named_columns.items():
            if column is None:
                continue
            if column.shape != (self.family.size,):
                given = column.size if column.ndim == 1 else f"the shape {column.shape}"
                raise InputError(f"every column needs one value per trial: {name} has {given} of {self.family.size}")
            column.setflags(write=False)
        lengths = {"weights": self.weights is not None and self.weights.size, "strata": len(self.strata)}
        for name, size in {**lengths, "clusters": len(self.clusters)}.items():
            if size and size != len(self.groups):
                raise InputError(f"{name} must be one per group, got {size} for {len(self.groups)} groups")
        if self.weights is not None and not (self.weights.min(initial=0) >= 0 and 0 < self.weights.sum() < np.inf):
            raise InputError("weights must be finite, at least 0 and not all 0; leave out a group by a weight of 0")
        if len(set(self.families)) != len(self.families):
            raise InputError("family names must be unique; join the rows of one family before building Trials")

    @classmethod
    def from_arrays(
        cls,
        selection: npt.ArrayLike,
        *,
        direction: str,
        family: str | Sequence[object] | Column = "trials",
        reported: npt.ArrayLike | None = None,
        cost: npt.ArrayLike | None = None,
        cost_unit: str | None = None,
        group: Sequence[object] | Column | None = None,
        search: Sequence[object] | Column | None = None,
        seed: Sequence[object] | Column | None = None,
        sample: Sequence[object] | Column | None = None,
        answer: Sequence[object] | Column | None = None,
        weights: Mapping[Any, float] | None = None,
        strata: Mapping[Any, Any] | None = None,
        cluster: Sequence[object] | Column | None = None,
        status: Sequence[str] | None = None,
        configuration: Mapping[str, npt.ArrayLike] | None = None,
        setting: Sequence[object] | Column | None = None,
        order: npt.ArrayLike | None = None,
        bounds: Sequence[float | None] | None = None,
    ) -> Trials:
        """Trials from plain arrays, which are copied. Every column of a table is a parameter.

        Parameters
        ----------
        selection
            The score that chooses among trials; NaN or infinity is a diverged trial.
        direction
            ``max`` where higher is better, ``min`` where lower is.
        family
            One name for all trials, or the name of each.
        reported, cost, search, seed, sample, answer, order, status
            One value per trial each; see the fields of `Trials`.
        group
            The problem of each trial; ``weights`` and ``strata`` say more of each problem.
        cluster
            What the problem of each trial is nested in (a repository, a passage): then that is the unit.
        configuration
            Hyperparameters: one value per trial for each name.
        setting
            Which configuration each trial ran, where several trials of a family share one (seeds of a configuration).
        bounds
            Lowest and highest possible score that curves are of, None where there is no such bound.

        Examples
        --------
        >>> trials = Trials.from_arrays([0.7, 0.9, 0.8], direction="max", family=["a", "b", "a"])
        >>> print(trials)
        a: 2 trials; b: 1 trial
        """
        scores = _check.exploded_as_infinite(as_column(selection, "selection"))
        claimed = None if reported is None else _check.known_or_missing(as_column(reported, "reported"))
        given = {"family": None if isinstance(family, str) else family, "status": status, "setting": setting}
        for name, column in given.items():
            if column is not None and len(column) != scores.size:
                raise InputError(f"every column needs one value per trial: {name} has {len(column)} of {scores.size}")
        families, family_code = codes_of([family] * scores.size if isinstance(family, str) else family)
        groups, group_code = codes_of(group)
        searches, search_code = codes_of(search)
        settings = None if setting is None else codes_of(list(zip(np.asarray(family_code), setting, strict=True)))[1]
        labels = (("seed", seed), ("sample", sample), ("answer", answer))
        return cls(
            metric=Metric(
                direction=direction,
                reported=None if claimed is None else "reported",
                bounds=_check.as_bounds(bounds),
                cost=None if cost is None else "cost",
                cost_unit=cost_unit,
            ),
            families=families,
            family=cast(npt.NDArray[np.int32], family_code),
            selection=scores,
            status=status_codes(status, scores),
            reported=claimed,
            cost=None if cost is None else as_column(cost, "cost"),
            order=None if order is None else np.array(order, dtype=np.int64),
            group=group_code,
            groups=groups,
            search=search_code,
            searches=searches,
            **cast(Any, {name: np.array(column) for name, column in labels if column is not None}),
            weights=None if weights is None else np.array(each_group(weights, groups, "weights"), dtype=np.float64),
            strata=() if strata is None else tuple(map(str, each_group(strata, groups, "strata"))),
            clusters=() if cluster is None else cluster_names(cluster, group_code, groups),
            setting=None if settings is None else settings.astype(np.int64),
            configuration={key: np.array(value) for key, value in (configuration or {}).items()},
        )

    def __len__(self) -> int:
        return self.family.size

    def __iter__(self) -> NoReturn:
        # Without it Python would try trials[0], and name neither families nor rows in its complaint.
        raise TypeError(
            "a table of trials cannot be iterated over: take one family at a time, "
            "for name in trials.families: trials[name], or the columns, such as trials.selection"
        )

    def __getitem__(self, name: str | Sequence[str]) -> Trials:
        """The trials of one family, or of several in the order given."""
        names = (name,) if isinstance(name, str) else tuple(name)
        for wanted in names:
            if wanted not in self.families:
                raise InputError(f"there is no family {wanted!r}; {_check.nearest_first(wanted, self.families)}")
        if len(names) == 1:
            kept = _CUT_OUT.setdefault(self, {})
            if names[0] not in kept:
                kept[names[0]] = self.cut_out(names[0])
            return kept[names[0]]
        new_code = np.full(len(self.families), -1, dtype=np.int32)
        new_code[[self.families.index(wanted) for wanted in names]] = np.arange(len(names))
        mapped = new_code[self.family]
        part = self.take(np.flatnonzero(mapped >= 0))
        family, cautions = new_code[part.family], self._cautions_of(names)
        return replace(part, families=names, family=family, cautions=cautions, kept_hues=self.hues)

    def cut_out(self, name: str) -> Trials:
        """The trials of one family, not cached: for a single use of a large family."""
        part = self.take(np.flatnonzero(self.family == self.families.index(name)))
        alone, cautions = np.zeros(len(part), dtype=np.int32), self._cautions_of((name,))
        return replace(part, families=(name,), family=alone, cautions=cautions, kept_hues=self.hues)

    def _cautions_of(self, names: tuple[str, ...]) -> tuple[Caution, ...]:
        return tuple(c for c in self.cautions if c.family is None or c.family in names)

    def take(self, rows: Column) -> Trials:
        """The trials at these positions, families and groups named as before."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in _COLUMNS}
        part: dict[str, Any] = {name: column[rows] for name, column in columns.items() if column is not None}
        part |= {
            kind: {key: column[rows] for key, column in getattr(self, kind).items()}
            for kind in ("configuration", "others")
        }
        return replace(self, **part)

    def refuse_tasks(self) -> None:
        """Raise where trials of several tasks would be taken as one: the best over tasks is the best at none."""
        if self.task is None or np.unique(self.task).size < 2:
            return
        column = self.columns.get("task", "task")
        first = self.tasks[int(self.task[0])]
        raise Ambiguous(
            f"the trials are of {len(self.tasks)} tasks in {column!r}, and the best over tasks is the best at none: "
            f"choose one ({named_condition(column, str(first))}), compare over them (levelbest compare, "
            f"lb.compare_tasks), or say {named('group', column)} if they are problems over which scores are averaged, "
            f"{named('task', 'none')} if {column!r} is a setting of the models"
        )

    @property
    def registered(self) -> Registered | None:
        """The budget that the study of every family registered for these scores before its first trial, if one was."""
        plans = [json.loads(self.facts.get(f"headline:{name}", "{}")) for name in self.families]
        budgets = {plan.get("n") for plan in plans}
        if len(budgets) != 1 or None in budgets:
            return None
        judged = {role: self.columns.get(role) for role in ("selection", "reported")}
        judged["direction"] = self.metric.direction
        if any(plan[role] not in (None, judged[role]) for plan in plans for role in judged):
            return None
        return Registered(int(budgets.pop()), {name: tuple(n) for plan in plans for name, n in plan["trials"].items()})

    @cached_property
    def hues(self) -> Hues:
        """By family its place in the palette, the same in every figure, table and page."""
        if self.kept_hues and all(name in self.kept_hues for name in self.families):
            return self.kept_hues
        if len(self.families) <= MOST_COLOURED:
            return {name: place for place, name in enumerate(self.families)}
        return ranked_hues(self.families, self.family, self.metric.sign * self.selection)

    @property
    def n_failed(self) -> int:
        """Trials that ended without a score: failed, diverged or pruned."""
        return int(np.count_nonzero((self.status != OK) & (self.status != RUNNING)))

    @property
    def spearman(self) -> float:
        """The rank correlation of selection and reported score over the trials that have both; NaN without them."""
        if self.reported is None:
            return float("nan")
        both = (self.status == OK) & np.isfinite(self.reported)
        return rank_correlation(self.selection[both], self.reported[both]) if both.any() else float("nan")

    @property
    def n_running(self) -> int:
        """Trials that have not ended."""
        return int(np.count_nonzero(self.status == RUNNING))

    @property
    def n_trials(self) -> int:
        """Trials that ended, failed ones included."""
        return len(self) - self.n_running

    def scores(self, failed: str = "worst", *, missing: str = "refuse") -> Scores:
        """One family's scores, with failed trials as the worst score (default) or dropped.

        ``worst`` ranks a failed trial below every score and reports it as the worst bound or, where the score has
        none, the worst observed. ``missing`` says what a trial without a reported score is: refused, dropped,
        the worst score, or (``selection``) that the selection score alone is used.
        """
        return scores_of(self, failed, missing)

    def to_frame(self) -> object:
        """One row per trial, as a dataframe of pandas where it is installed, else of polars.

        Examples
        --------
        >>> Trials.from_arrays([0.7, 0.9], direction="max").to_frame().shape
        (2, 3)
        """
        columns: dict[str, Sequence[object]] = {
            "family": [self.families[code] for code in self.family],
            self.metric.selection: self.selection.tolist(),
        }
        if self.reported is not None:
            columns[self.metric.reported or "reported"] = self.reported.tolist()
        if self.cost is not None:
            columns[self.metric.cost or "cost"] = self.cost.tolist()
        columns["status"] = [STATUSES[code] for code in self.status]
        coded = (
            ("task", self.task, self.tasks),
            ("group", self.group, self.groups),
            ("search", self.search, self.searches),
        )
        for role, codes, names in coded:
            if codes is not None:
                columns[self.columns.get(role, role)] = [names[code] for code in codes]
        if self.seed is not None:
            columns[self.columns.get("seed", "seed")] = self.seed.tolist()
        return as_frame({key: value.tolist() for key, value in self.configuration.items()} | columns)

    def _repr_html_(self) -> str:
        """How a notebook shows it: every family's scores, and how many trials it has."""
        return presenter().html(self)

    def __repr__(self) -> str:
        metric, n_families = self.metric, len(self.families)
        who = f"{n_families} families" if n_families != 1 else self.families[0]
        score = f"{metric.reported} by {metric.selection}" if metric.reported else metric.selection
        return f"Trials({who}, {self.n_trials} trials, {self.n_failed} failed; {score}, {metric.direction})"

    def __str__(self) -> str:
        parts = []
        for name in self.families:
            family = self[name]
            failed = f", {family.n_failed} failed" if family.n_failed else ""
            running = f", {family.n_running} still running" if family.n_running else ""
            parts.append(f"{name}: {family.n_trials} trial{'s' * (family.n_trials != 1)}{failed}{running}")
        return "; ".join(parts)


_CUT_OUT: WeakKeyDictionary[Trials, dict[str, Trials]] = WeakKeyDictionary()
"""Cached families of a table: several callers need them, and ten million rows take a while."""
