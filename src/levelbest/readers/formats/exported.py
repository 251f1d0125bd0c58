"""Tables that trackers export, known by their columns: runs of W&B, results of Ray Tune and of AMLTK.

Syne Tune's own experiments are such a table too (results.csv.zip), with metadata.json beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.columns import texts
from levelbest.readers.formats._searches import each_search
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.formats.plain import read_table
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import header_of

__all__ = ["READERS", "known_export", "with_export"]

_RESULTS, _METADATA = "results.csv.zip", "metadata.json"
_MOMENT = re.compile(r"-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d(-\d+)?$")
"""What Syne Tune puts after the name of an experiment."""


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
    """Where a trial ran says nothing of the model, and names the machine."""
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
    own = set(names)
    return next((export for export in _EXPORTS if export.marks <= own), None)


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
        raise DataError(f"{name} is no table of Syne Tune's reports")
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
)
