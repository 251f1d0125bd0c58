"""scikit-learn's ``cv_results_``: the dictionary itself, a dataframe of it, or either saved as CSV, JSON or Parquet.

``mean_test_score`` is the mean over the held-out folds of cross-validation: a score to select by. Nothing in
``cv_results_`` is a test score of the winner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from levelbest.readers.formats._rows import Record, columns_of, flatten, seed_of
from levelbest.readers.formats.plain import read_table
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.steps.numbers import as_numbers
from levelbest.readers.tables.files import Json, has_marks, head_of, header_of, kind_of
from levelbest.trials import Skipped

__all__ = ["READERS", "is_cv_results", "mapping_table", "with_roles"]

_SPLIT = re.compile(r"split(\d+)_test_(.+)")
_MEAN = "mean_test_"
_COST = "total_time_s"


def is_cv_results(names: Iterable[object]) -> bool:
    """Whether these are the columns of a ``cv_results_``."""
    known = {str(name) for name in names}
    return {"mean_fit_time", "mean_score_time"} <= known and any(name.startswith(_MEAN) for name in known)


def mapping_table(results: Mapping[str, Json]) -> RawTable:
    """A search's ``cv_results_``: a parameter that a candidate does not have is masked there, and empty here."""
    columns: Record = {}
    for name, values in results.items():
        if isinstance(values, np.ma.MaskedArray):
            columns[str(name)] = values.tolist()
        elif name != "params":
            columns[str(name)] = np.asarray(values).tolist() if hasattr(values, "dtype") else list(values)
    size = len(next(iter(columns.values())))
    rows: list[Record] = [{} for _ in range(size)]
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value if value is None or isinstance(value, str | bool | int | float) else str(value)
    if not any(name.startswith("param_") for name in columns):
        for row, params in zip(rows, results.get("params", []), strict=True):
            row.update({f"param_{key}": value for key, value in flatten(dict(params)).items()})
    return with_roles(RawTable("cv_results_", columns_of(rows, list(columns))))


def with_roles(table: RawTable) -> RawTable:
    """The table with the parts that its columns play: scores, what a fit cost, parameters, failed fits."""
    metrics = [name for name in table.columns if name.startswith(_MEAN)]
    splits = {match[1] for name in table.columns if (match := _SPLIT.fullmatch(name))}
    columns = dict(table.columns)
    # Times are means over the splits, so that a candidate used up their number times as much.
    times = [as_numbers(columns[name]).values for name in ("mean_fit_time", "mean_score_time")]
    columns[_COST] = (times[0] + times[1]) * max(len(splits), 1)
    # error_score: a fit that raised has NaN in its split, and so has the mean.
    failed = np.all(np.isnan([as_numbers(columns[name]).values for name in metrics]), axis=0)
    columns["status"] = np.where(failed, "failed", "ok").astype(object)
    configuration = [name for name in columns if name.startswith("param_")]
    configuration = configuration or [name for name in columns if name.startswith("params.")]
    roles = {"cost": _COST, "status": "status"} | seed_of(configuration)
    if len(metrics) == 1:
        roles["selection"] = metrics[0]
    facts = table.facts | {f"direction:{name}": "max" for name in metrics}  # scikit-learn turns losses around
    facts["format"] = "scikit-learn cv_results_"
    if splits:
        facts["splits"] = str(len(splits))
    if {"iter", "n_resources"} <= set(columns):
        facts["sampler"] = "HalvingSearchCV"
    parts = [as_numbers(columns[name]).values for name in columns if _SPLIT.fullmatch(name)]
    partly = failed & np.any(np.isfinite(parts), axis=0)
    why = "the fit failed in some of its splits; its mean score is not defined"
    table.skipped = [*table.skipped, *(Skipped(table.at(row), why) for row in np.flatnonzero(partly).tolist())]
    table.columns, table.roles, table.configuration, table.facts = columns, roles, configuration, facts
    table.direction = "max" if len(metrics) == 1 else None
    table.cost_unit = "s"
    return table


def _recognises(path: Path) -> bool:
    if kind_of(path) != "json":
        return is_cv_results(header_of(path))
    return has_marks(path, "mean_fit_time", "mean_score_time") and f'"{_MEAN}'.encode() in head_of(path)


def _read(path: Path) -> list[RawTable]:
    """One table, one row per candidate."""
    return [with_roles(table) if is_cv_results(table.columns) else table for table in read_table(path)]


READERS = (Reader("sklearn", "scikit-learn cv_results_ saved as CSV or JSON", _recognises, _read),)
