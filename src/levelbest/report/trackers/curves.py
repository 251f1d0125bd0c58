"""``log_curve``: curves into a run of MLflow or W&B, as metrics over n, a table and a figure."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from levelbest.errors import InputError
from levelbest.report.trackers.runs import metric_name
from levelbest.results import Curve, CurveSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from wandb import Run

_COLUMNS = ("family", "n", "value", "low", "high")


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
        _to_mlflow(drawn, str(run.info.run_id), name, figure)
    elif hasattr(run, "log") and hasattr(run, "define_metric"):
        _to_wandb(drawn, run, name, figure)
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


def _to_mlflow(curves: tuple[Curve, ...], run_id: str, name: str, figure: bool) -> None:
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


def _to_wandb(curves: tuple[Curve, ...], run: Run, name: str, figure: bool) -> None:
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
