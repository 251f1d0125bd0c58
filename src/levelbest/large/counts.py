"""What one pass over the samples counts: problems, samples, failures, successes, and what is said of each problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.errors import DataError
from levelbest.large.source import Source, run
from levelbest.readers.tables.engine import name_of
from levelbest.trials import Metric

__all__ = ["Counted", "count_samples", "refuse_other_words"]


@dataclass(frozen=True, eq=False)
class Counted:
    """One family's problems, in order of their labels."""

    family: str
    source: Source
    metric: Metric
    labels: npt.NDArray[Any]
    sizes: IntArray
    """Samples that count: with failures as the worst score all of them, else the finished ones."""
    finished: IntArray
    ones: IntArray
    """Samples with a score of exactly 1."""
    binary: bool
    n_failed: int
    weights: FloatArray | None
    strata: npt.NDArray[Any] | None
    failed_in: dict[str, int]
    """Failed samples by stratum, those of problems without any other among them."""
    n_nameless: int
    """Rows that belong to no problem, which are left out."""


def count_samples(connection: Any, source: Source, family: str, metric: Metric) -> Counted:
    """Count one family's samples by problem."""
    chosen = source.number(source.selection)
    told = chosen if source.reported is None else source.number(source.reported)
    said = [one for one in (source.weight, source.stratum) if one is not None]
    kept = "".join(f", {name_of(one)} AS said{i}" for i, one in enumerate(said))
    ends = "".join(f", min(said{i}), max(said{i})" for i in range(len(said)))
    # r and ok are NULL where the sample failed: counts and extremes leave them out by themselves
    inner = (
        f"SELECT {source.key} AS g, CASE WHEN {source.finished} THEN {told} END AS r, "
        f"CASE WHEN {source.finished} THEN 1 END AS ok{kept} "
        f"FROM {source.relation} WHERE {source.where}"
    )
    lost = "count(CASE WHEN isfinite(CAST(r AS DOUBLE)) THEN 1 END)" if source.reported is not None else "count(ok)"
    query = (
        f"SELECT g, count(*), count(ok), {lost}, min(r), max(r), count(CASE WHEN r = 1 THEN 1 END), "
        f"count(CASE WHEN r = 0 THEN 1 END){ends} FROM ({inner}) GROUP BY g ORDER BY g"
    )
    found = run(connection, query)
    rows = [row for row in found if row[0] is not None]
    n_nameless = sum(row[1] for row in found if row[0] is None)
    if not any(row[2] for row in rows):
        raise DataError(f"{family}: none of {sum(row[1] for row in rows)} samples has a score")
    missing = sum(row[2] - row[3] for row in rows)
    if missing:
        raise DataError(
            f"{family}: the reported score {source.reported!r} is missing for {missing} samples that have a selection "
            "score; fill it in, or leave these samples out with --where"
        )
    n_failed = sum(row[1] - row[2] for row in rows)
    failed_in: dict[str, int] = {}
    for row in rows if source.stratum is not None else ():
        label = _stratum(row[-1])
        failed_in[label] = failed_in.get(label, 0) + row[1] - row[2]
    if source.failed == "drop":
        rows = [row for row in rows if row[2]]
    counted = np.array([row[1:8] for row in rows], dtype=np.float64)
    samples, finished, ones, zeros = (counted[:, i].astype(np.int64) for i in (0, 1, 5, 6))
    binary = bool((finished == ones + zeros).all())
    if binary and metric.bounds == (None, None):
        metric = replace(metric, bounds=(0.0, 1.0))
    observed = np.nanmin(counted[:, 3]) if source.direction == "max" else np.nanmax(counted[:, 4])
    worst = float(observed) if metric.worst is None else metric.worst
    labels = np.array([row[0] for row in rows], dtype=object)
    weights, strata = _said(source, family, labels, [row[8:] for row in rows])
    return Counted(
        family=family,
        source=replace(source, worst=worst),
        metric=metric,
        labels=labels,
        sizes=finished if source.failed == "drop" else samples,
        finished=finished,
        ones=ones,
        binary=binary,
        n_failed=n_failed,
        weights=weights,
        strata=strata,
        failed_in=failed_in,
        n_nameless=n_nameless,
    )


def _said(
    source: Source, family: str, labels: npt.NDArray[Any], ends: list[tuple[Any, ...]]
) -> tuple[FloatArray | None, npt.NDArray[Any] | None]:
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
            strata = np.array([_stratum(one) for one in low])
    return weights, strata


def _stratum(label: Any) -> str:
    return "(none)" if label is None else str(label)


def refuse_other_words(counted: list[Counted]) -> None:
    """A problem has one weight and one stratum, whichever family's row says it."""
    for role in ("weight", "stratum"):
        said: dict[Any, Any] = {}
        for one in counted:
            column, values = (one.source.weight, one.weights) if role == "weight" else (one.source.stratum, one.strata)
            if values is None:
                continue
            for label, value in zip(one.labels.tolist(), values.tolist(), strict=True):
                first = said.setdefault(label, value)
                if first != value:
                    raise DataError(
                        f"{one.family}: a problem has one {role}, and {label} has {first} in another family and "
                        f"{value} here in {column!r}; choose a column that says the same in every row of a problem"
                    )


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False
