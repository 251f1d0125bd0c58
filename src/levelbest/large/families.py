"""The best of n by problem, one result per family, from samples that are never held as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Bounds, IntArray
from levelbest.cautions import Caution
from levelbest.errors import DataError, InputError
from levelbest.group_curves import about_sizes, as_group_statistic, group_budgets, one_sample_each
from levelbest.large.counts import Counted, count_samples, refuse_other_words
from levelbest.large.parts import values_in_parts
from levelbest.large.repeats import find_repeats
from levelbest.large.source import Source, as_memory, find_families, parquet_paths
from levelbest.readers.tables.engine import connect
from levelbest.stats.problems import GroupBest, all_of_k, average_over_groups, pass_at_k
from levelbest.trials import Metric

__all__ = ["ENGINES", "LargeFamily", "best_by_group_large"]

ENGINES = ("local", "ray")
WHOLE, POINTS = 100, 60  # budgets at which families are compared


@dataclass(frozen=True, eq=False)
class LargeFamily:
    """One family's best of n by problem, with what was counted on the way."""

    family: str
    best: GroupBest
    metric: Metric
    n_samples: int
    n_failed: int
    failed: str
    cautions: tuple[Caution, ...] = ()
    binary: bool = False
    """Whether every score that curves are of is 0 or 1."""
    failed_in: Mapping[str, int] = field(default_factory=dict)
    """Failed samples by stratum."""


def best_by_group_large(
    source: Any,
    *,
    group: str,
    selection: str,
    direction: str,
    reported: str | None = None,
    family: str | None = None,
    weight: str | None = None,
    stratum: str | None = None,
    sample: str | None = None,
    n: npt.ArrayLike | None = None,
    statistic: str = "mean",
    together: bool = False,
    common: bool = False,
    also: int | None = None,
    bounds: Bounds | None = None,
    failed: str = "worst",
    where: str | None = None,
    known_by: str | None = None,
    memory: str | int = "4GB",
    engine: str = "local",
    workers: int = 2,
) -> tuple[LargeFamily, ...]:
    """The best of n by problem of samples in Parquet files, within ``memory``; one result per family.

    ``weight`` and ``stratum`` are columns that say the same in every row of a problem, ``sample`` one that tells the
    samples of a problem apart (default: an obvious name). ``where`` is a condition. Samples without the score
    ``known_by`` count as failed as well. ``together`` uses one list of budgets for all families, with
    ``common`` for the problems that all of them have; ``also`` is a budget to have in a list that was not asked for.

    With ``engine="ray"`` the parts are tasks of a Ray cluster: the one that the environment names, else ``workers``
    processes on this machine. The files must be readable from every worker.
    """
    _check.as_direction(direction)
    _check.as_choice(engine, ENGINES, "engine")
    _check.as_choice(failed, ("worst", "drop"), "failure policy")
    as_group_statistic(statistic)
    limit = as_memory(memory)
    metric = Metric(direction, selection, reported, _check.as_bounds(bounds))
    files = tuple(parquet_paths(source))
    base = Source(files, group, selection, reported, where or "", direction, failed, weight, stratum, sample, known_by)
    asked = None if n is None else np.unique(_check.as_budgets(n)[0])
    connection = connect()
    connection.execute(f"SET memory_limit='{limit // 2_000_000}MB'")
    try:
        named, n_without = find_families(connection, base, family)
        counted = [count_samples(connection, one, name, metric) for name, one in named]
        refuse_other_words(counted)
        grids = _grids(counted, asked, also, together=together, common=common)
        found = [
            _of_family(connection, one, asked, grid, statistic, limit, engine, workers)
            for one, grid in zip(counted, grids, strict=True)
        ]
    finally:
        connection.execute("RESET memory_limit")  # the engine serves the whole process
    if n_without:
        said = Caution("skipped-rows", f"{_rows(n_without)} no {family} and are left out", None, float(n_without))
        found[0] = replace(found[0], cautions=(said, *found[0].cautions))
    return tuple(found)


def _rows(number: int) -> str:
    return "1 row has" if number == 1 else f"{number:,} rows have"


def _grids(
    counted: list[Counted], asked: IntArray | None, also: int | None, *, together: bool, common: bool
) -> list[IntArray | None]:
    """Each family's budgets; None where they are what was asked for."""
    if together and len(counted) > 1:
        joint = _joint(counted, asked, common=common)
        if asked is None:
            joint = _with(joint, also)
            return [joint[joint <= one.sizes.max()] for one in counted]
        return [_budgets(one, joint, []) for one in counted]
    if asked is not None:
        return [None] * len(counted)
    return [_with(group_budgets(one.sizes), also) for one in counted]


def _with(grid: IntArray, also: int | None) -> IntArray:
    return grid if also is None or also > grid[-1] else np.union1d(grid, [also]).astype(np.int64)


def _of_family(
    connection: Any,
    one: Counted,
    asked: IntArray | None,
    grid: IntArray | None,
    statistic: str,
    limit: int,
    engine: str,
    workers: int,
) -> LargeFamily:
    source = one.source
    cautions = find_repeats(connection, one, limit)
    if one.n_nameless:
        message = f"{_rows(one.n_nameless)} no problem in {source.group!r} and are left out"
        cautions.append(Caution("skipped-rows", message, one.family, float(one.n_nameless)))
    if grid is not None:
        budgets = grid
    else:
        assert asked is not None
        budgets = _budgets(one, asked, cautions)
    by_group = _values(one, budgets, statistic, limit, engine, workers)
    value, n_groups = average_over_groups(by_group, one.weights)
    best = GroupBest(
        budgets, value, by_group, n_groups, one.labels, one.sizes, one.weights, source.direction, one.strata
    )
    cautions += about_sizes(best, one.family, source.group, asked=asked is not None)
    n_samples = int(one.sizes.sum())
    return LargeFamily(
        one.family, best, one.metric, n_samples, one.n_failed, source.failed, tuple(cautions), one.binary, one.failed_in
    )


def _budgets(one: Counted, asked: IntArray, cautions: list[Caution]) -> IntArray:
    most = int(one.sizes.max())
    inside = asked[asked <= most]
    if not inside.size:
        if most == 1:
            raise DataError(one_sample_each(one.family, one.source.group, one.sizes.size, int(asked.min())))
        raise InputError(
            f"{one.family}: n must be at most the samples of a problem, {most}, got {asked.min()}; draw more samples "
            "(past them the best of n is unknown, not the best observed)"
        )
    if inside.size < asked.size:
        message = f"budgets above the {most} samples of the largest problem are left out"
        cautions.append(Caution("beyond-trials", message, one.family, float(asked.max())))
    return inside


def _joint(counted: list[Counted], asked: IntArray | None, *, common: bool) -> IntArray:
    """Budgets that two families at least have samples for, of the problems that are compared."""
    sizes = [one.sizes for one in counted]
    shared = set.intersection(*(set(one.labels.tolist()) for one in counted)) if common else set()
    if shared:
        sizes = [one.sizes[[label in shared for label in one.labels.tolist()]] for one in counted]
    if asked is not None:
        most = sorted(int(one.max()) for one in sizes)[-2]
        inside = asked[asked <= most]
        if not inside.size:
            _check.as_budgets(asked, most)
        return inside
    last = sorted(int(group_budgets(one)[-1]) for one in sizes)[-2]
    if last <= WHOLE:
        return np.arange(1, last + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, last, POINTS).round().astype(np.int64))


def _values(one: Counted, budgets: IntArray, statistic: str, limit: int, engine: str, workers: int) -> Any:
    source = one.source
    if statistic == "all":
        score = source.reported or source.selection
        if not one.binary or source.direction != "max":
            raise InputError(
                f"{one.family}: all of n succeed (pass^k) is of scores 0 and 1 with direction max, and {score!r} is "
                "not such; use statistic 'mean', the expected best of n, which any score has"
            )
        return np.asarray(all_of_k(one.ones, one.sizes, budgets))
    if one.binary and source.reported is None:
        # the best score is 0 where lower is better; a failed sample counts as 1 and is not among them
        right = one.ones if source.direction == "max" else one.finished - one.ones
        chance = np.asarray(pass_at_k(right, one.sizes, budgets))
        return chance if source.direction == "max" else 1 - chance
    return np.concatenate(list(values_in_parts(source, one.labels, one.sizes, budgets, limit, engine, workers)))
