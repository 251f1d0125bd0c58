"""A table of samples that is never in memory as a whole: one result per family, from counts and parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock

import numpy as np

from levelbest import _check
from levelbest._check import Bounds, Budgets, Column, FloatArray, IntArray
from levelbest._cores import ENGINES
from levelbest.cautions import Caution
from levelbest.readers.parts._counts import Counted, KeptCounts, count_samples, find_repeats
from levelbest.readers.parts._ranking import BestOf, Computed, DrawnWithin, Groups, SpentOn, Workers, values_in_parts
from levelbest.readers.parts._source import (
    Source,
    as_memory,
    costs_above,
    find_families,
    has_answers,
    limited,
    parquet_paths,
    score_ends,
)
from levelbest.readers.steps.names import natural_bounds
from levelbest.readers.steps.priced import SPENT, as_rates
from levelbest.readers.steps.problems import prefixes_of
from levelbest.trials import Metric, Settings
from levelbest.trials.nested import PREFIX, UNCLUSTERED
from levelbest.trials.pools import SamplePool, checked_spend, remembered
from levelbest.trials.problems import Problems, Values, name_order

__all__ = ["PartedTable", "read_in_parts"]


def read_in_parts(
    source: object,
    *,
    group: str,
    selection: str,
    direction: str,
    reported: str | None = None,
    family: str | None = None,
    weight: str | None = None,
    stratum: str | None = None,
    cluster: str | None = None,
    sample: str | None = None,
    cost: str | Mapping[str, float] | None = None,
    answer: str | None = None,
    bounds: Bounds | None = None,
    where: str | None = None,
    memory: str | int = "4GB",
    engine: str = "local",
    workers: int = 2,
) -> PartedTable:
    """Samples of many problems in Parquet files, to be read in parts that fit the memory.

    The parameters are more than eight because they are the columns and options of `read_trials`.

    Parameters
    ----------
    source
        Parquet files: a path or several.
    group, selection, direction, reported, family, weight, stratum, cluster, sample, cost, answer, bounds, where
        Columns and options as of `read_trials`; nothing is guessed but ``sample``, from an obvious name.
    memory
        What may be held at once, such as ``4GB``.
    engine, workers
        ``local``, this process, or ``ray``: the parts are tasks of the cluster that the environment names, else of so
        many processes on this machine. The files must be readable from every worker.

    Returns
    -------
    PartedTable
        Every verb takes it where it takes trials with problems.

    Examples
    --------
    >>> table = read_in_parts("samples.parquet", group="problem", selection="verifier", reported="correct",
    ...     direction="max", memory="1GB")                                                        # doctest: +SKIP
    >>> lb.compare(table)                                                                         # doctest: +SKIP
    """
    _check.as_direction(direction)
    alone = {UNCLUSTERED: "yes"} if cluster == "none" else {}
    by_name, cluster = cluster == PREFIX, None if cluster in ("none", PREFIX) else cluster
    reading = Workers(as_memory(memory), _check.as_choice(engine, ENGINES, "engine"), workers)
    base = Source(
        parquet_paths(source),
        group,
        selection,
        reported,
        where or "",
        direction,
        weight=weight,
        stratum=stratum,
        cluster=cluster,
        sample=sample,
        cost=as_rates(cost) if isinstance(cost, Mapping) else cost,
        answer=answer,
    )
    with limited(reading.limit) as connection:
        families, n_without = find_families(connection, base, family)
        ends = score_ends(connection, families)
    cautions = []
    if n_without:
        facts = {"count": n_without, "column": str(family)}
        cautions.append(Caution.of("skipped-rows", None, n_without, kind="no-family", **facts))
    priced = isinstance(cost, Mapping)
    roles = {"family": family, "group": group, "selection": selection, "reported": reported, "answer": answer}
    roles |= {"weight": weight, "stratum": stratum, "cluster": cluster, "cost": SPENT if priced else cost}  # type: ignore[dict-item]
    columns = {role: name for role, name in roles.items() if name}
    metric = Metric(
        direction, selection, reported, _check.as_bounds(bounds), columns.get("cost"), "$" if priced else None
    )
    if metric.bounds == (None, None):
        metric = replace(metric, natural=natural_bounds(metric.score, *ends))
    return PartedTable(families, metric, columns, reading, cautions, facts=alone, by_name=by_name)


class PartedTable:
    """Samples of problems by family, in files; nothing of them is held but counts by problem."""

    def __init__(
        self,
        families: Sequence[tuple[str, Source]],
        metric: Metric,
        columns: dict[str, str],
        workers: Workers,
        cautions: Sequence[Caution],
        *,
        facts: Mapping[str, str] | None = None,
        by_name: bool = False,
    ) -> None:
        self.families = tuple(name for name, _ in families)
        self.metric = metric
        self.facts = dict(facts or {})
        self._by_name = by_name
        self.columns: Mapping[str, str] = columns
        self.cautions = tuple(cautions)
        self.source = tuple(dict.fromkeys(Path(path).name for _, described in families for path in described.files))
        self._sources = tuple(source for _, source in families)
        self._workers = workers
        self._one_at_a_time = Lock()
        self._problems: dict[tuple[str, str], tuple[Problems, ...]] = {}
        self._counted: dict[str, list[tuple[Counted, list[Caution]]]] = {}

    def __repr__(self) -> str:
        return f"PartedTable({', '.join(self.families)}: {len(self.source)} files)"

    def problems(self, settings: Settings) -> tuple[Problems, ...]:
        """Of each family, failures and missing reported scores counted as the settings say."""
        policies = settings.failed, settings.missing
        with self._one_at_a_time:
            if policies not in self._problems:
                counted = self._count(settings.missing)
                self._problems[policies] = tuple(self._of_family(*family, settings.failed) for family in counted)
            return self._problems[policies]

    def _count(self, missing: str) -> list[tuple[Counted, list[Caution]]]:
        """One pass over the samples, whichever way failures count."""
        if missing not in self._counted:
            known: KeptCounts = {}
            with limited(self._workers.limit) as connection:
                counted = [
                    count_samples(connection, source.with_missing(missing), name, known)
                    for name, source in zip(self.families, self._sources, strict=True)
                ]
                limit = self._workers.limit
                self._counted[missing] = [(family, find_repeats(connection, family, limit)) for family in counted]
        return self._counted[missing]

    def _clusters(self, counted: Counted, order: IntArray) -> Column | None:
        """By a column, or by what stands before a mark in the names of the problems."""
        if not self._by_name:
            return None if counted.clusters is None else counted.clusters[order]
        return np.array(prefixes_of(tuple(map(str, counted.labels[order])), counted.source.group))

    def _of_family(self, counted: Counted, cautions: list[Caution], failed: str) -> Problems:
        """One family's problems: counts where they say all, else values that are read when they are asked for."""
        metric = replace(self.metric, reported=counted.source.reported)
        if counted.binary and metric.bounds == (None, None):
            metric = replace(metric, bounds=(0.0, 1.0))
        worst = counted.worst if metric.worst is None else metric.worst
        source = replace(counted.source, failed=failed, worst=worst)
        lost, strata = counted.samples - counted.finished, counted.strata
        sizes = counted.finished if failed == "drop" else counted.samples
        ones = counted.ones + lost if failed == "worst" and worst == 1 else counted.ones
        # in the order of the names; problems that have no sample left are none
        order = name_order([str(label) for label in counted.labels])
        order = order[sizes[order] > 0]
        read = np.flatnonzero(sizes > 0)
        place = np.searchsorted(read, order)
        if counted.n_nameless:
            count = counted.n_nameless
            facts = {"kind": "no-problem", "column": source.group}
            cautions = [*cautions, Caution.of("skipped-rows", counted.family, count, count=count, **facts)]

        numbers = np.empty(read.size, dtype=np.int64)
        numbers[place] = np.arange(place.size)
        groups = Groups(counted.labels[read], sizes[read], numbers)

        def computed(what: Computed, reading: Source = source) -> FloatArray:
            return values_in_parts(reading, groups, what, self._workers)[place]

        def values_of(reading: Source, budgets: IntArray) -> FloatArray:
            return computed(BestOf(budgets), reading)

        pool = self._pool(counted.family, source, sizes[order], computed)
        return Problems(
            family=counted.family,
            metric=metric,
            labels=np.array([str(label) for label in counted.labels[order]], dtype=object),
            sizes=sizes[order],
            ones=ones[order],
            binary=counted.binary and (failed == "drop" or not lost.any() or worst in (0.0, 1.0)),
            weights=None if counted.weights is None else counted.weights[order],
            strata=None if strata is None else strata[order],
            clusters=self._clusters(counted, order),
            n_failed=int(lost.sum()),
            n_running=0,
            values=_remembered(partial(values_of, source)),
            reported_alone=_remembered(partial(values_of, source.reported_alone())),
            mean_cost=None if pool.spent is None else float(pool.spent.sum() / sizes.sum()),
            pool=pool,
            failed_in={} if strata is None else {str(s): int(lost[strata == s].sum()) for s in np.unique(strata)},
            cautions=tuple(cautions),
        )

    def _pool(
        self, family: str, source: Source, sizes: IntArray, computed: Callable[[Computed], FloatArray]
    ) -> SamplePool:
        """The same to draw from, read when it is asked for."""

        def draw(budgets: Budgets, vote: bool, spend: bool) -> tuple[FloatArray, FloatArray]:
            both = computed(DrawnWithin(budgets, vote, spend, int(sizes.sum())))
            return both[:, : budgets.size], both[:, budgets.size :]

        def above(spends: FloatArray) -> FloatArray:
            with limited(self._workers.limit) as connection:
                return np.array(costs_above(connection, source, spends.tolist()))

        spent, unpriced = None, 0
        if source.cost is not None:
            lost, paid, least, lacking = computed(SpentOn()).T
            unpriced = int(lacking.sum()) % int(sizes.sum())  # none has a cost: there are no costs
            if np.isfinite(lost).all():
                checked_spend(family, float(least.min()))
                spent = np.stack([lost, paid], axis=1)
        with limited(self._workers.limit) as connection:
            answered = has_answers(connection, source)
        return SamplePool(family, sizes, remembered(draw), above, answered, spent, source.worst, unpriced=unpriced)


def _remembered(read: Values) -> Values:
    """Caches the last budgets and allows one reader at a time, because the memory limit is for one."""
    last: list[tuple[IntArray, FloatArray]] = []
    one_at_a_time = Lock()

    def values(budgets: IntArray) -> FloatArray:
        with one_at_a_time:
            if not last or not np.isin(budgets, last[0][0]).all():
                last[:] = [(budgets, read(budgets))]
            known, columns = last[0]
        return columns if known.size == budgets.size else columns[:, np.searchsorted(known, budgets)]

    return values
