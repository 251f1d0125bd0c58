"""The figures of a report, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest.report.figures.axes import draw_comparison
from levelbest.report.figures.curves import ONE_COLUMN, draw_lines, new_axes
from levelbest.report.figures.differences import difference_figure
from levelbest.report.figures.distributions import distribution_figure
from levelbest.report.figures.runs import draw_runs
from levelbest.report.figures.strip import draw_strips
from levelbest.report.strips import by_seeds, reach_of, strips_of
from levelbest.report.view import View
from levelbest.results import Comparison
from levelbest.trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOG_FROM", "report_figures"]

LOG_FROM = 30
"""Curves longer than this are drawn over a log scale, where small budgets can be told apart."""


def report_figures(view: View, trials: Trials | None) -> dict[str, Figure]:
    """``curves``, and where there is something to show ``runs``, ``distributions``, ``differences``, ``verifier`` and
    ``cost``. Without the trials there is no figure of their distribution."""
    score = view.score if view.reported or view.n_groups else f"{view.score} (validation only)"
    log = max(line.x[-1] for line in view.lines_of(view.statistics[0])) > LOG_FROM
    figures: dict[str, Any] = {}
    if by_seeds(view) and view.table:
        figures["runs"] = _runs_figure(view, score)
    figures["curves"] = _curves_figure(view, "trials", score, log)
    if trials is not None and "runs" not in figures:
        figures["distributions"] = distribution_figure(trials)
    if by_seeds(view) and view.comparison is not None:
        figures["differences"] = draw_comparison(_rows_axes(view.comparison), view.comparison).figure
    elif compared := view.pairs_of(view.statistics[0]):
        figures["differences"] = difference_figure(compared, _leader(view), score=score, log=log, word=view.word)
    if view.effect:
        figures["verifier"] = draw_lines(view.effect, log=log, score=view.score).figure
    if "cost" in view.axes:
        figures["cost"] = _curves_figure(view, "cost", score, True)
    return {name: figure for name, figure in figures.items() if figure is not None}


def _curves_figure(view: View, axis: str, score: str, log: bool) -> Figure:
    """The chart, and the strip of verdicts below it on the same axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    statistic = view.statistics[0]
    lines, reach = view.lines_of(statistic, axis), reach_of(view, statistic, axis)
    names = [one.name for one in view.families]
    rows = strips_of(view, statistic, axis)
    height = max(0.6 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(lines))
    strip_height = 0.12 + 0.26 * len(rows)
    figure = Figure(figsize=(2 * ONE_COLUMN, height + strip_height * bool(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    ratios = {"height_ratios": (height, strip_height)} if rows else {}
    axes = figure.subplots(1 + bool(rows), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    near = float(view.headline) if axis == "trials" else None
    options: Mapping[str, Any] = {"cost_unit": view.cost_unit, "published": view.published, "log": log}
    draw_lines(lines, axes[0], score=score, reach=reach, near=near, **options)
    if rows:
        axes[0].tick_params(labelbottom=True)
        draw_strips(axes[1], rows, names, view.cost_unit, axis)
    return figure


def _runs_figure(view: View, score: str) -> Figure:
    """Every run with the means: those of the curves at n = 1."""
    lines = view.lines_of(view.statistics[0])
    columns = zip(view.table["family"], view.table[view.score], strict=True)
    runs: dict[str, list[float]] = {line.family: [] for line in lines}
    for family, value in columns:
        if family in runs and value is not None:
            runs[family].append(float(value))
    means = {line.family: (line.value[0], line.low[0], line.high[0]) for line in lines}
    figure: Figure = draw_runs(runs, means, score=score, best_first=view.direction == "max").figure  # type: ignore[assignment]
    return figure


def _rows_axes(comparison: Comparison) -> Axes:
    """Axes with room for a row for each pair."""
    return new_axes(height=0.6 + 0.28 * max(2, len(comparison.pairs)))


def _leader(view: View) -> str | None:
    sign = 1.0 if view.direction == "max" else -1.0
    known = [one for one in view.families if np.isfinite(one.headline[0])]
    return max(known, key=lambda one: sign * one.headline[0]).name if known else None
