"""Trials to a local store of MLflow: an experiment for each family, a run for each trial."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from levelbest.errors import InputError, MissingExtra
from levelbest.report.trackers.runs import TrialRun, runs_of
from levelbest.trials import Trials

__all__ = ["metric_name", "write_mlflow"]

_STATUS = {"ok": "FINISHED", "diverged": "FINISHED", "failed": "FAILED", "pruned": "KILLED", "running": "RUNNING"}
_LONGEST = 250


def metric_name(name: str) -> str:
    """A name that MLflow takes: letters, digits, and ``_ - . : / `` and spaces."""
    return re.sub(r"[^\w\-./: ]", "_", name)[:_LONGEST] or "score"


def write_mlflow(trials: Trials, out: str | Path, *, hide: tuple[str, ...] = ()) -> Path:
    """Write each trial as a run to a store on this machine, and to no server.

    Parameters
    ----------
    trials
        What to write; their configurations become parameters.
    out
        A file ``.db`` or ``.sqlite`` is an SQLite store, anything else a folder such as ``mlruns``, which newer
        versions of MLflow refuse. An experiment of a family's name that is there already is added to.
    hide
        Configuration columns to leave out.
    """
    try:
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError:
        raise MissingExtra("mlflow", "mlflow") from None
    path = Path(out).absolute()
    runs = list(runs_of(trials, "MLflow", hide))
    path.parent.mkdir(parents=True, exist_ok=True)
    database = path.suffix in (".db", ".sqlite")
    try:
        client = MlflowClient(tracking_uri=f"sqlite:///{path}" if database else path.as_uri())
        artifacts = (path.with_suffix(".artifacts") if database else path).as_uri()
        experiments = {name: _experiment(client, name, artifacts) for name in trials.families}
        begun = int(1000 * time.time())
        for place, run in enumerate(runs):
            _write_run(client, experiments[run.family], run, begun + place, (Metric, Param))
    except (OSError, MlflowException) as error:
        why = " ".join(str(error).split()).partition(". ")[0][:160]
        how = "" if database else "; name a database instead, e.g. mlflow.db"
        raise InputError(f"MLflow cannot write to {path.name}: {why}{how}") from None
    return path


def _experiment(client: Any, name: str, artifacts: str) -> str:
    known = client.get_experiment_by_name(name)
    if known is not None:
        return str(known.experiment_id)
    return str(client.create_experiment(name, artifact_location=f"{artifacts}/{metric_name(name).replace('/', '_')}"))


def _write_run(client: Any, experiment: str, run: TrialRun, begun: int, kinds: tuple[Any, Any]) -> None:
    metric, param = kinds
    made = client.create_run(experiment, start_time=begun, run_name=run.name, tags={"levelbest.status": run.status})
    metrics = [metric(metric_name(name), value, begun, 0) for name, value in run.scores.items()]
    params = [param(metric_name(name), str(value)) for name, value in run.settings.items()]
    client.log_batch(made.info.run_id, metrics=metrics, params=params)
    if run.status != "running":
        ended = begun + int(1000 * run.seconds) if run.seconds is not None else begun
        client.set_terminated(made.info.run_id, status=_STATUS[run.status], end_time=ended)
