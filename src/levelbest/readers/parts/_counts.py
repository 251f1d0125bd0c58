"""One pass over the samples that counts problems, samples, failures and successes, and reads attributes of problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest._check import Column, FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.errors import DataError, named
from levelbest.readers.parts._ranking import cut_parts
from levelbest.readers.parts._source import Source, run
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.tables.engine import name_of
from levelbest.trials.problems import about_repeats

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Counted", "KeptCounts", "count_samples", "find_repeats"]

KeptCounts = dict[tuple[str, object], object]
"""The weight, the stratum and the cluster of each problem, as the families counted so far give them."""


@dataclass(frozen=True, eq=False)
class Counted:
    """One family's problems, in the order in which they are read."""

    family: str
    source: Source
    labels: Column
    samples: IntArray
    finished: IntArray
    ones: IntArray
    """Finished samples with a score of exactly 1."""
    binary: bool
    """Every score is 0 or 1."""
    worst: float
    """The worst score observed."""
    weights: FloatArray | None
    strata: Column | None
    clusters: Column | None
    n_nameless: int
    """Rows that belong to no problem, which are left out."""


def count_samples(connection: DuckDBPyConnection, source: Source, family: str, known: KeptCounts) -> Counted:
    """Count the samples of one family, in one pass."""
    score = source.number(source.selection if source.reported is None else source.reported)
    described = [column for column in (source.weight, source.stratum, source.cluster) if column is not None]
    kept = "".join(f", {name_of(column)} AS said{i}" for i, column in enumerate(described))
    ends = "".join(f", min(said{i}), max(said{i})" for i in range(len(described)))
    # r and ok are NULL where the sample failed: counts and extremes leave them out by themselves
    inner = (
        f"SELECT {source.key} AS g, CASE WHEN {source.finished} THEN {score} END AS r, "
        f"CASE WHEN {source.finished} THEN 1 END AS ok{kept} "
        f"FROM {source.relation} WHERE {source.where}"
    )
    query = (
        "SELECT g, count(*), count(ok), count(CASE WHEN isfinite(CAST(r AS DOUBLE)) THEN 1 END), min(r), max(r), "
        "count(CASE WHEN r = 1 THEN 1 END), count(CASE WHEN r = 0 THEN 1 END)"
        f"{ends} FROM ({inner}) GROUP BY g ORDER BY g"
    )
    every = run(connection, query)
    rows = [row for row in every if row[0] is not None]
    _refuse_unscored(source, family, rows)
    counted = np.array([row[1:8] for row in rows], dtype=np.float64)
    samples, finished, ones, zeros = (counted[:, i].astype(np.int64) for i in (0, 1, 5, 6))
    labels = np.array([row[0] for row in rows], dtype=object)
    weights, strata, clusters = _said(source, family, labels, [row[8:] for row in rows], known)
    return Counted(
        family=family,
        source=source,
        labels=labels,
        samples=samples,
        finished=finished,
        ones=ones,
        binary=bool((finished == ones + zeros).all()),
        worst=float(np.nanmin(counted[:, 3]) if source.direction == "max" else np.nanmax(counted[:, 4])),
        weights=weights,
        strata=strata,
        clusters=clusters,
        n_nameless=sum(row[1] for row in every if row[0] is None),
    )


def _refuse_unscored(source: Source, family: str, rows: list[tuple[Any, ...]]) -> None:
    """Of each problem: its name, samples, finished samples and those with a score."""
    if not any(row[2] for row in rows):
        raise DataError(f"{family}: none of {sum(row[1] for row in rows)} samples has a score")
    missing = sum(row[2] - row[3] for row in rows)
    if missing:
        finished = sum(row[2] for row in rows)
        raise DataError(
            f"{family}: the reported score {source.reported!r} is known for {finished - missing} of {finished} "
            f"finished samples; say how to treat the others ({named('missing')} drop, worst or selection)"
        )


def _said(
    source: Source, family: str, labels: Column, ends: list[tuple[object, ...]], known: KeptCounts
) -> tuple[FloatArray | None, Column | None, Column | None]:
    """The weight, the stratum and the cluster of each problem, which all of its rows must give alike, in any family."""
    columns = list(zip(*ends, strict=True))
    weights, labelled = None, {}
    for name, role in ((source.weight, "weight"), (source.stratum, "stratum"), (source.cluster, "cluster")):
        if name is None:
            continue
        low, high = columns.pop(0), columns.pop(0)
        values: Column = np.array(["(none)" if label is None else str(label) for label in low])
        if role == "weight":
            values = weights = as_numbers(np.array(low, dtype=object)).values
        else:
            labelled[role] = values
        for label, first, last, value in zip(labels, low, high, values.tolist(), strict=True):
            if role == "weight" and not np.isfinite(value):
                has = "none" if first is None else repr(first)
                raise DataError(
                    f"{family}: every problem needs a weight, a finite number, and {str(label)!r} has {has} in {name!r}"
                )
            other = known.setdefault((role, label), value)
            if first != last or value != other:
                both = f"{first} and {last}" if first != last else f"{other} in another family and {value} here"
                raise DataError(
                    f"{family}: a problem has one {role}, and {label} has {both} in {name!r}; choose a column that "
                    "says the same in every row of a problem"
                )
    if weights is not None and ((weights < 0).any() or weights.sum() == 0):
        raise DataError(
            f"{family}: weights must be at least 0 and not all 0, got {weights.min():g} in {source.weight!r}"
        )
    return weights, labelled.get("stratum"), labelled.get("cluster")


def find_repeats(connection: DuckDBPyConnection, counted: Counted, limit: int) -> list[Caution]:
    """Refuse sample ids that repeat with their scores; caution where the scores differ."""
    source = counted.source
    if source.sample is None:
        return []
    column = name_of(source.sample)
    ends = run(connection, f"SELECT min({column}), max({column}) FROM {source.relation} WHERE {source.where}")
    if ends[0][0] == ends[0][1]:  # the same in every row tells nothing
        return []
    scores = [source.number(source.selection)] + ([] if source.reported is None else [source.number(source.reported)])
    differ = " OR ".join(f"min({score}) IS DISTINCT FROM max({score})" for score in scores)
    count, other, first = 0, 0, None
    for part in cut_parts(counted.samples, limit // 2):
        low, high = (source.literal(counted.labels[at]) for at in (part[0][0], part[-1][1] - 1))
        inner = (
            f"SELECT {source.key} AS g, {column} AS id, {differ} AS other FROM {source.relation} WHERE "
            f"({source.where}) AND {source.key} >= {low} AND {source.key} <= {high} AND {column} IS NOT NULL "
            f"GROUP BY {source.key}, {column} HAVING count(*) > 1"
        )
        columns = "count(*), count(CASE WHEN other THEN 1 END), min(g), arg_min(CAST(id AS VARCHAR), g)"
        ids, others, problem, sample = run(connection, f"SELECT {columns} FROM ({inner})")[0]
        count, other = count + ids, other + others
        if first is None and ids:
            first = sample, str(problem)
    return [] if first is None else about_repeats(counted.family, count, other == 0, *first)
