"""Tables that tools export, known by their columns: runs of W&B, results of Ray Tune, AMLTK and scikit-learn's search.

Syne Tune's own experiments are such a table too (results.csv.zip), with metadata.json beside it. ``mean_test_score`` of
scikit-learn's ``cv_results_`` is the mean over the held-out folds of cross-validation: a score to select by. Nothing in
``cv_results_`` is a test score of the winner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, columns_of, flatten, seed_of
from levelbest.readers.formats._searches import each_search
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.formats.plain import read_table
from levelbest.readers.raw import RawTable, Reader, texts
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.tables.files import Json, has_marks, head_of, header_of, kind_of
from levelbest.trials import Skipped

__all__ = ["READERS", "is_cv_results", "known_export", "mapping_table", "with_export", "with_roles"]

_RESULTS, _METADATA = "results.csv.zip", "metadata.json"
_MOMENT = re.compile(r"-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d(-\d+)?$")
"""What Syne Tune puts after the name of an experiment."""
_SPLIT = re.compile(r"split(\d+)_test_(.+)")
_MEAN = "mean_test_"
_COST = "total_time_s"


@dataclass(frozen=True)
class Export:
    """One tool's table: the columns it is known by, and what they are."""

    name: str
    about: str
    format: str
    marks: frozenset[str]
    roles: dict[str, str]
    settings: str | None = None
    """What the names of hyperparameters begin with; None: they are what is left over."""
    created: str | None = None
    """The column that tells when a run began."""
    private: frozenset[str] = field(default_factory=frozenset)
    """Columns about where a trial ran: unrelated to the model, and they identify the machine."""
    cost_unit: str | None = "s"
    tells_failures: bool = True
    finish: Callable[[RawTable], None] | None = None
    """What else the names of the columns tell."""


_METRIC = re.compile(r"metric:(?P<name>.+?)(?: \[(?P<low>[^,\]]+), (?P<high>[^\]]+)\])? \((?P<way>min|max)imize\)")
_CLOCK = re.compile(r"profile:.+:time:duration")


def _amltk(table: RawTable) -> None:
    """AMLTK writes a metric's bounds and direction in its name: ``metric:accuracy [0.0, 1.0] (maximize)``."""
    metrics = {name: match for name in table.columns if (match := _METRIC.fullmatch(name))}
    short = {name: f"metric:{match['name']}" for name, match in metrics.items()}
    table.columns = {short.get(name, name): column for name, column in table.columns.items()}
    for name, match in metrics.items():
        table.facts[f"direction:{short[name]}"] = match["way"]
    if len(metrics) == 1:
        ((name, match),) = metrics.items()
        table.roles["selection"] = short[name]
        table.direction = match["way"]
        if match["low"]:
            table.facts |= {"bounds:low": match["low"], "bounds:high": match["high"]}
    clocks = [name for name in table.columns if _CLOCK.fullmatch(name)]
    if len(clocks) == 1:
        table.roles["cost"] = clocks[0]
        table.cost_unit = "s"


def _sweeps(table: RawTable) -> None:
    """Several sweeps are searches, where every run belongs to one."""
    if "Sweep" in table.columns:
        sweeps = {str(name or "").strip() for name in texts(table.columns["Sweep"])}
        if len(sweeps) > 1 and not sweeps & {"", "nan", "-"}:
            table.roles["search"] = "Sweep"


_WANDB = Export(
    "wandb-csv",
    "table of runs exported from Weights & Biases as CSV",
    "Weights & Biases CSV export",
    frozenset({"State", "Created", "Runtime"}),
    {"status": "State", "cost": "Runtime"},
    created="Created",
    finish=_sweeps,
)
_RAY = Export(
    "ray-table",
    "table of Ray Tune's results (ResultGrid.get_dataframe)",
    "Ray Tune's table of results",
    frozenset({"trial_id", "training_iteration", "time_total_s"}),
    {"cost": "time_total_s", "trial": "trial_id"},
    settings="config/",
    private=frozenset(
        {"hostname", "node_ip", "pid", "logdir", "experiment_id", "date", "timestamp", "checkpoint_dir_name"}
    ),
    tells_failures=False,
)
_SYNE_TUNE = Export(
    "syne-tune",
    "Syne Tune's reports (results.csv.zip)",
    "Syne Tune's table of reports",
    frozenset({"trial_id", "st_worker_time", "st_tuner_time"}),
    {"cost": "st_worker_time", "trial": "trial_id"},
    settings="config_",
    private=frozenset({"st_worker_timestamp", "st_tuner_time", "st_worker_iter", "st_worker_cost", "st_decision"}),
    tells_failures=False,
)
_AMLTK = Export(
    "amltk",
    "AMLTK's history (History.df().to_csv)",
    "AMLTK history",
    frozenset({"status", "trial_seed", "exception", "created_at", "reported_at"}),
    {"status": "status", "seed": "trial_seed"},
    settings="config:",
    created="created_at",
    private=frozenset({"bucket", "traceback"}),
    cost_unit=None,
    finish=_amltk,
)
_EXPORTS = (_WANDB, _RAY, _SYNE_TUNE, _AMLTK)


def known_export(names: Iterable[str]) -> Export | None:
    """The tool whose table has these columns."""
    columns = set(names)
    return next((export for export in _EXPORTS if export.marks <= columns), None)


def with_export(table: RawTable, export: Export) -> RawTable:
    """The table with the parts that its columns play."""
    columns = {name: column for name, column in table.columns.items() if name not in export.private}
    table.roles |= {role: name for role, name in export.roles.items() if name in columns}
    if export.created is not None:
        moments = np.array([str(value or "") for value in texts(columns[export.created])])
        columns["created_order"] = np.argsort(np.argsort(moments, kind="stable"), kind="stable").astype(float)
        table.roles["order"] = "created_order"
    table.columns = columns
    if export.settings is not None:
        table.configuration = [name for name in columns if name.startswith(export.settings)]
    table.cost_unit = export.cost_unit
    table.facts["format"] = export.format
    if not export.tells_failures:
        table.cautions.append(Caution.of("failures", kind="not-written", tool=export.format))
    if export.finish is not None:
        export.finish(table)
    return table


def _recogniser(export: Export) -> Callable[[Path], bool]:
    """Whether a path is a table with the columns of the export."""
    return lambda path: known_export(header_of(path)) is export


def _reader(export: Export) -> Callable[..., list[RawTable]]:
    def read(path: Path) -> list[RawTable]:
        tables = read_table(path)
        return [with_export(table, export) if export.marks <= set(table.columns) else table for table in tables]

    return read


def _experiments(tree: Tree) -> list[RawTable]:
    """A table for each experiment of Syne Tune; experiments of one name are searches of one family."""
    return each_search(tree, [tree.given] if tree.given else tree.named(_RESULTS), _experiment, "experiment")


def _experiment(tree: Tree, name: str) -> RawTable:
    """The table, with the metrics, their direction and the scheduler, which Syne Tune writes beside it."""
    (table,) = read_table(tree.path(name))
    if not set(table.columns) >= _SYNE_TUNE.marks:
        raise DataError(f"{name} is not a table of Syne Tune's reports")
    path = PurePosixPath(name)
    folder = (tree.place / path).parent.name
    table.source = (_MOMENT.sub("", folder) or folder) if path.name == _RESULTS else name
    with_export(table, _SYNE_TUNE)
    written = tree.document(str(path.with_name(_METADATA)))
    metrics, modes = written.get("metric_names"), written.get("metric_mode")
    metrics = metrics if isinstance(metrics, list) else []
    modes = modes if isinstance(modes, list) else [modes] * len(metrics)
    table.facts |= {f"direction:{m}": way for m, way in zip(metrics, modes, strict=False) if way in ("min", "max")}
    if len(metrics) == 1 and metrics[0] in table.columns:
        table.roles["selection"] = metrics[0]
        table.direction = table.facts.get(f"direction:{metrics[0]}")
    if isinstance(written.get("tuner_name"), str):
        table.source = _MOMENT.sub("", written["tuner_name"]) or table.source
    if isinstance(written.get("scheduler_name"), str):
        table.facts[f"sampler:{table.source}"] = written["scheduler_name"]
    return table


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


def _is_saved_search(path: Path) -> bool:
    if not path.is_file():
        return False
    if kind_of(path) != "json":
        return is_cv_results(header_of(path))
    return has_marks(path, "mean_fit_time", "mean_score_time") and f'"{_MEAN}'.encode() in head_of(path)


def _read_search(path: Path) -> list[RawTable]:
    """One table, one row per candidate."""
    return [with_roles(table) if is_cv_results(table.columns) else table for table in read_table(path)]


READERS = (
    tool(
        "syne-tune",
        "Syne Tune's experiments (results.csv.zip), or their folder",
        _experiments,
        "results of Syne Tune",
        files=(_RESULTS, _METADATA),
        known=(_RESULTS,),
        file=_recogniser(_SYNE_TUNE),
        beside=(_METADATA,),
    ),
    *(Reader(export.name, export.about, _recogniser(export), _reader(export)) for export in (_WANDB, _RAY, _AMLTK)),
    Reader("sklearn", "scikit-learn cv_results_ saved as CSV or JSON", _is_saved_search, _read_search),
)
