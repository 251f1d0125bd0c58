"""What one pass over the samples counts: problems, samples, failures, successes, and what is said of each problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from levelbest._check import Column, FloatArray, IntArray
from levelbest.errors import DataError, named
from levelbest.readers.parts._source import Source, run
from levelbest.readers.tables.engine import name_of

__all__ = ["Counted", "count_samples", "refuse_other_words"]


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
    n_nameless: int
    """Rows that belong to no problem, which are left out."""

    def failed_in(self) -> dict[str, int]:
        """Failed samples by stratum."""
        if self.strata is None:
            return {}
        failed = self.samples - self.finished
        return {str(label): int(failed[self.strata == label].sum()) for label in np.unique(self.strata)}


def count_samples(connection: object, source: Source, family: str) -> Counted:
    """Count the samples of one family, in one pass."""
    told = source.number(source.selection if source.reported is None else source.reported)
    described = [column for column in (source.weight, source.stratum) if column is not None]
    kept = "".join(f", {name_of(column)} AS said{i}" for i, column in enumerate(described))
    ends = "".join(f", min(said{i}), max(said{i})" for i in range(len(described)))
    # r and ok are NULL where the sample failed: counts and extremes leave them out by themselves
    inner = (
        f"SELECT {source.key} AS g, CASE WHEN {source.finished} THEN {told} END AS r, "
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
    if not any(row[2] for row in rows):
        raise DataError(f"{family}: none of {sum(row[1] for row in rows)} samples has a score")
    missing = sum(row[2] - row[3] for row in rows)
    if missing:
        finished = sum(row[2] for row in rows)
        raise DataError(
            f"{family}: the reported score {source.reported!r} is known for {finished - missing} of {finished} "
            f"finished samples; say how to treat the others ({named('missing')} drop, worst or selection)"
        )
    counted = np.array([row[1:8] for row in rows], dtype=np.float64)
    samples, finished, ones, zeros = (counted[:, i].astype(np.int64) for i in (0, 1, 5, 6))
    labels = np.array([row[0] for row in rows], dtype=object)
    weights, strata = _said(source, family, labels, [row[8:] for row in rows])
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
        n_nameless=sum(row[1] for row in every if row[0] is None),
    )


def _said(
    source: Source, family: str, labels: Column, ends: list[tuple[object, ...]]
) -> tuple[FloatArray | None, Column | None]:
    """The weight and the stratum of each problem, which every one of its rows must give alike."""
    columns = list(zip(*ends, strict=True))
    weights, strata = None, None
    for name, role in ((source.weight, "weight"), (source.stratum, "stratum")):
        if name is None:
            continue
        low, high = columns.pop(0), columns.pop(0)
        for label, first, last in zip(labels, low, high, strict=True):
            if role == "weight" and not _is_number(first):
                has = "none" if first is None else repr(first)
                raise DataError(
                    f"{family}: every problem needs a weight, a finite number, and {str(label)!r} has {has} in {name!r}"
                )
            if first != last:
                raise DataError(
                    f"{family}: a problem has one {role}, and {label} has {first} and {last} in {name!r}; choose a "
                    "column that says the same in every row of a problem"
                )
        if role == "weight":
            weights = np.array(low, dtype=np.float64)
            if (weights < 0).any() or weights.sum() == 0:
                raise DataError(
                    f"{family}: weights must be at least 0 and not all 0, got {weights.min():g} in {name!r}"
                )
        else:
            strata = np.array(["(none)" if label is None else str(label) for label in low])
    return weights, strata


def refuse_other_words(counted: Sequence[Counted]) -> None:
    """A problem has one weight and one stratum, whichever family's row says it."""
    for role in ("weight", "stratum"):
        known: dict[Any, Any] = {}
        for own in counted:
            column, values = (own.source.weight, own.weights) if role == "weight" else (own.source.stratum, own.strata)
            if values is None:
                continue
            for label, value in zip(own.labels.tolist(), values.tolist(), strict=True):
                first = known.setdefault(label, value)
                if first != value:
                    raise DataError(
                        f"{own.family}: a problem has one {role}, and {label} has {first} in another family and "
                        f"{value} here in {column!r}; choose a column that says the same in every row of a problem"
                    )


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False
