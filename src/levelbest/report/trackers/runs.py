"""Trials as runs of a tracker, a run for each: to a local store of MLflow, or as offline runs of Weights & Biases."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest.errors import InputError, MissingExtra, named
from levelbest.readers.raw import cell_list
from levelbest.trials import STATUSES, Trials

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_PREFIX = re.compile(r"^(config[./_:]|params[._]|(hyper)?parameters\.|metrics\.|metric:)(?=.)")
"""What other trackers put before a name."""
_MLFLOW = {"ok": "FINISHED", "diverged": "FINISHED", "failed": "FAILED", "pruned": "KILLED", "running": "RUNNING"}
_HEADER = 7
"""Bytes of a file of W&B that holds nothing yet."""
_MOST_WAITS = 100
_QUIET = {
    "silent": True,
    "console": "off",
    "disable_git": True,
    "disable_code": True,
    "disable_job_creation": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
    "host": "unknown",
}
"""Neither the machine nor the code is recorded: these runs happened elsewhere."""


@dataclass(frozen=True)
class _TrackedRun:
    """One trial, as a tracker takes it."""

    family: str
    name: str
    status: str
    scores: dict[str, float]
    settings: dict[str, object]
    seconds: float
    """How long it took, NaN where the cost is no time."""


def _runs_of(trials: Trials, tool: str, hide: tuple[str, ...]) -> Iterator[_TrackedRun]:
    """Each trial as a run; samples of problems are refused, since a run for each sample is of no use in a tracker."""
    if trials.group is not None:
        raise InputError(
            f"these are samples of problems, and {tool} would get a run for each: write them as csv or parquet "
            f"({named('kind')})"
        )
    metric = trials.metric
    columns = (
        (metric.selection, trials.selection),
        (metric.reported or "reported", trials.reported),
        (metric.cost or "cost", trials.cost),
    )
    scores = {_PREFIX.sub("", name): column for name, column in columns if column is not None}
    settings: dict[str, list[object]] = {
        _PREFIX.sub("", name): cell_list(column) for name, column in trials.configuration.items() if name not in hide
    }
    if trials.seed is not None:
        settings.setdefault("seed", cell_list(trials.seed))
    if trials.search is not None:
        settings.setdefault("search", [trials.searches[code] for code in trials.search])
    cost = np.full(len(trials), np.nan) if trials.cost is None else trials.cost
    seconds = cost * _SECONDS.get(metric.cost_unit or "", np.nan)
    counts = [0] * len(trials.families)
    for row, (code, status) in enumerate(zip(trials.family, trials.status, strict=True)):
        counts[code] += 1
        diverged = STATUSES[status] == "diverged"
        yield _TrackedRun(
            family=trials.families[code],
            name=f"{trials.families[code]} {counts[code]}",
            status=STATUSES[status],
            scores={
                name: float(values[row])
                for name, values in scores.items()
                if not np.isnan(values[row]) or (diverged and values is scores[_PREFIX.sub("", metric.selection)])
            },
            settings={name: cells[row] for name, cells in settings.items() if cells[row] is not None},
            seconds=float(seconds[row]),
        )


def metric_name(name: str) -> str:
    """A name that MLflow takes: letters, digits, and ``_ - . : / `` and spaces."""
    return re.sub(r"[^\w\-./: ]", "_", name)[:250] or "score"


def write_mlflow(trials: Trials, out: str | Path, *, hide: tuple[str, ...] = ()) -> Path:
    """Write an experiment for each family to a store on this machine, and to no server.

    A file ``.db`` or ``.sqlite`` is an SQLite store, anything else a folder such as ``mlruns``, which newer versions of
    MLflow refuse. An experiment of a family's name that is there already is added to.
    """
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError:
        raise MissingExtra("mlflow", "mlflow") from None
    path = Path(out).absolute()
    runs = list(_runs_of(trials, "MLflow", hide))
    path.parent.mkdir(parents=True, exist_ok=True)
    database = path.suffix in (".db", ".sqlite")
    try:
        client = MlflowClient(tracking_uri=f"sqlite:///{path}" if database else path.as_uri())
        artifacts = (path.with_suffix(".artifacts") if database else path).as_uri()
        experiments = {}
        for name in trials.families:
            known = client.get_experiment_by_name(name)
            place = f"{artifacts}/{metric_name(name).replace('/', '_')}"
            made = client.create_experiment(name, artifact_location=place) if known is None else known.experiment_id
            experiments[name] = str(made)
        begun = int(1000 * time.time())
        for k, run in enumerate(runs):
            _to_mlflow(client, experiments[run.family], run, begun + k)
    except (OSError, MlflowException) as error:
        why = " ".join(str(error).split()).partition(". ")[0][:160]
        how = "" if database else "; name a database instead, e.g. mlflow.db"
        raise InputError(f"MLflow cannot write to {path.name}: {why}{how}") from None
    return path


def _to_mlflow(client: MlflowClient, experiment: str, run: _TrackedRun, begun: int) -> None:
    from mlflow.entities import Metric, Param

    made = client.create_run(experiment, start_time=begun, run_name=run.name, tags={"levelbest.status": run.status})
    metrics = [Metric(metric_name(name), value, begun, 0) for name, value in run.scores.items()]
    params = [Param(metric_name(name), str(value)) for name, value in run.settings.items()]
    client.log_batch(made.info.run_id, metrics=metrics, params=params)
    if run.status != "running":
        ended = begun + int(1000 * run.seconds) if np.isfinite(run.seconds) else begun
        client.set_terminated(made.info.run_id, status=_MLFLOW[run.status], end_time=ended)


def write_wandb(trials: Trials, out: str | Path, *, hide: tuple[str, ...] = ()) -> Path:
    """Write offline runs, a project for each family, below ``wandb`` in a folder; only ``wandb sync`` sends them."""
    try:
        import wandb
    except ImportError:
        raise MissingExtra("wandb", "wandb") from None
    folder = Path(out)
    runs = list(_runs_of(trials, "W&B", hide))
    folder.mkdir(parents=True, exist_ok=True)
    known = getattr(wandb.Settings, "model_fields", _QUIET)  # what this version has of the quiet settings
    quiet = {key: value for key, value in _QUIET.items() if key in known}
    ids = set()
    for run in runs:
        made = wandb.init(
            project=re.sub(r"[/\\#?%:]", "_", run.family)[:128],
            group=run.family,
            name=run.name,
            config=run.settings,
            dir=str(folder),
            mode="offline",
            reinit="create_new",
            settings=wandb.Settings(**quiet),
        )
        made.log({**run.scores, "levelbest_status": run.status})
        made.finish(exit_code=0 if run.status in ("ok", "diverged", "running") else 1)
        ids.add(str(made.id))
    sizes: dict[Path, int] = {}
    for _ in range(_MOST_WAITS):  # W&B writes a moment after it says that it has finished
        before = sizes
        sizes = {path: path.stat().st_size for path in folder.glob("wandb/*/run-*.wandb")}
        run_sizes = [size for path, size in sizes.items() if path.stem.removeprefix("run-") in ids]
        if sizes == before and all(size > _HEADER for size in run_sizes):
            break
        time.sleep(0.05)
    return folder
