"""Trackers: trials as a table or as runs of MLflow and Weights & Biases, and curves logged to a run of these."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest import _check
from levelbest.errors import InputError, MissingExtra, named
from levelbest.readers.raw import cell_list
from levelbest.readers.tables.tidy import FORMATS, write_table
from levelbest.results import Curve, CurveSet
from levelbest.trials import STATUSES, Trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mlflow.tracking import MlflowClient
    from wandb import Run

TRACKERS = ("mlflow", "wandb")
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
_COLUMNS = ("family", "n", "value", "low", "high")


def write_trials(trials: Trials, path: str | Path, *, kind: str | None = None, hide: tuple[str, ...] = ()) -> Path:
    """Write trials as a tidy table, or to a tracker's files on this machine.

    Parameters
    ----------
    trials
        What to write.
    path
        The file, or for trackers the store or folder: ``mlflow.db`` or ``mlruns``, the folder of W&B's offline runs.
    kind
        ``csv``, ``jsonl`` or ``parquet``, which the path's ending says as well; ``mlflow`` and ``wandb``, a run for
        each trial, which need these packages and send nothing.
    hide
        Configuration columns to leave out.

    Returns
    -------
    Path
        Where it was written. Reading a table back gives the same trials; a file appears whole or not at all.

    Examples
    --------
    >>> import levelbest as lb, tempfile
    >>> trials = lb.read_trials({"model": ["a", "b"], "val_acc": [0.7, 0.9]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lb.write_trials(trials, folder + "/trials.csv")
    ...     print(lb.read_trials(path))
    a: 1 trial; b: 1 trial
    """
    if kind is None or kind in FORMATS:
        return write_table(trials, path, kind=kind, hide=hide)
    _check.as_choice(kind, (*FORMATS, *TRACKERS), "kind")
    return (write_mlflow if kind == "mlflow" else write_wandb)(trials, path, hide=hide)


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
            _run_to_mlflow(client, experiments[run.family], run, begun + k)
    except (OSError, MlflowException) as error:
        why = " ".join(str(error).split()).partition(". ")[0][:160]
        how = "" if database else "; name a database instead, e.g. mlflow.db"
        raise InputError(f"MLflow cannot write to {path.name}: {why}{how}") from None
    return path


def _run_to_mlflow(client: MlflowClient, experiment: str, run: _TrackedRun, begun: int) -> None:
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


def log_curve(
    curves: Curve | Iterable[Curve], run: object = None, *, name: str = "best_of_n", figure: bool = True
) -> None:
    """Log curves to a run of MLflow or Weights & Biases, beside what the run logs itself.

    Each curve becomes three metrics, ``NAME/FAMILY/value``, ``.../low`` and ``.../high``, whose step is n, the number
    of trials; a limit that does not exist is left out. All points become a table and the figure a picture.

    Parameters
    ----------
    curves
        A `Curve`, or several, as `family_curves` returns them.
    run
        A run of MLflow or W&B; where none is given, the one that is active.
    name
        What the names of all that is logged begin with.
    figure
        Whether to log the figure too.

    Raises
    ------
    InputError
        If ``run`` is of neither tool, or none is active.

    Examples
    --------
    >>> import levelbest as lb, mlflow                                                       # doctest: +SKIP
    >>> with mlflow.start_run() as run:                                                      # doctest: +SKIP
    ...     lb.log_curve(lb.family_curves("results.csv"), run)
    """
    drawn = (curves,) if isinstance(curves, Curve) else tuple(curves)
    wrong = next((curve for curve in drawn if not isinstance(curve, Curve)), None)
    if wrong is not None or not drawn:
        raise InputError(f"log_curve takes curves over trials, got {'none' if not drawn else type(wrong).__name__}")
    run = _active() if run is None else run
    if hasattr(run, "info") and hasattr(run.info, "run_id"):
        _curves_to_mlflow(drawn, str(run.info.run_id), name, figure)
    elif hasattr(run, "log") and hasattr(run, "define_metric"):
        _curves_to_wandb(drawn, run, name, figure)
    else:
        raise InputError(f"log_curve needs a run of MLflow or W&B, got {type(run).__name__}")


def _active() -> object:
    """The run that is under way; a tool that was never imported has none."""
    mlflow, wandb = sys.modules.get("mlflow"), sys.modules.get("wandb")
    runs = [mlflow.active_run() if mlflow else None, wandb.run if wandb else None]
    known = [run for run in runs if run is not None]
    if len(known) != 1:
        how = "no run of MLflow or W&B is active" if not known else "a run of MLflow and one of W&B are active"
        raise InputError(f"{how}: give the run to log to")
    return known[0]


def _points(curve: Curve) -> Iterator[tuple[int, dict[str, float]]]:
    """n, and what is finite there."""
    for n, value, low, high in zip(curve.n, curve.value, curve.low, curve.high, strict=True):
        known = {"value": float(value), "low": float(low), "high": float(high)}
        yield int(n), {key: number for key, number in known.items() if np.isfinite(number)}


def _rows(curves: tuple[Curve, ...]) -> list[list[object]]:
    points = [(curve.family, n, point) for curve in curves for n, point in _points(curve)]
    return [[family, n, *(point.get(key) for key in _COLUMNS[2:])] for family, n, point in points]


def _figure(curves: tuple[Curve, ...]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.3), dpi=120, layout="constrained")
    CurveSet(curves).plot(figure.subplots())
    return figure


def _curves_to_mlflow(curves: tuple[Curve, ...], run_id: str, name: str, figure: bool) -> None:
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient

    client = MlflowClient()
    moment = int(1000 * time.time())
    metrics = [
        Metric(metric_name(f"{name}/{curve.family}/{key}"), number, moment, n)
        for curve in curves
        for n, point in _points(curve)
        for key, number in point.items()
    ]
    for start in range(0, len(metrics), 1000):  # what one batch may hold
        client.log_batch(run_id, metrics=metrics[start : start + 1000])
    columns = {column: [row[place] for row in _rows(curves)] for place, column in enumerate(_COLUMNS)}
    client.log_dict(run_id, columns, f"{name}.table.json")
    client.log_dict(run_id, {"families": [curve.to_dict() for curve in curves]}, f"{name}.json")
    if figure:
        client.log_figure(run_id, _figure(curves), f"{name}.png")


def _curves_to_wandb(curves: tuple[Curve, ...], run: Run, name: str, figure: bool) -> None:
    import wandb
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    budget = f"{name}/n"
    run.define_metric(budget, hidden=True)
    for curve in curves:
        run.define_metric(f"{name}/{curve.family}/*", step_metric=budget)
    by_n: dict[int, dict[str, float]] = {}
    for curve in curves:
        for n, point in _points(curve):
            named = {f"{name}/{curve.family}/{key}": number for key, number in point.items()}
            by_n.setdefault(n, {}).update(named)
    for n in sorted(by_n):
        run.log({budget: n, **by_n[n]})
    logged: dict[str, object] = {f"{name}/table": wandb.Table(columns=list(_COLUMNS), data=_rows(curves))}
    if figure:
        canvas = FigureCanvasAgg(_figure(curves))  # W&B takes figures of pyplot alone, and pixels
        canvas.draw()
        logged[f"{name}/figure"] = wandb.Image(np.asarray(canvas.buffer_rgba()))
    run.log(logged)
