"""The figures of a report, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.axes import difference_figure, draw_comparison
from levelbest.report.figures.curves import figure_of, new_axes
from levelbest.report.figures.distributions import distribution_figure
from levelbest.report.figures.panels import Panel, draw_lines, panel_figure, panel_of_view, panels_figure
from levelbest.report.view import View
from levelbest.trials import Trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report_figures(view: View, trials: Trials | None) -> dict[str, Figure]:
    """``curves``, and where there is something to show ``runs``, ``distributions``, ``differences``, ``verifier``,
    ``cost`` and ``panels``, one a data set. Without the trials there is no figure of their distribution."""
    panel = panel_of_view(view)
    score, log = panel.score, panel.is_log
    figures: dict[str, Figure | None] = {}
    if panel.runs:
        figures["runs"] = panel_figure(panel)
    figures["curves"] = panel_figure(replace(panel, runs={}))
    if view.tasks:
        figures["panels"] = panels_figure({name: panel_of_view(own) for name, own in view.tasks.items()})
    elif trials is not None and "runs" not in figures:
        figures["distributions"] = distribution_figure(trials)
    if view.single and view.comparison is not None:
        rows = new_axes(height=0.6 + 0.28 * max(2, len(view.comparison.pairs)))
        figures["differences"] = figure_of(draw_comparison(rows, view.comparison))
    elif compared := view.pairs_of(view.statistics[0]):
        names = [own.name for own in view.families]
        sign = 1.0 if view.direction == "max" else -1.0
        known = {own.name: sign * own.headline[0] for own in view.families if np.isfinite(own.headline[0])}
        leader = max(known, key=lambda name: known[name]) if known else None
        figures["differences"] = difference_figure(compared, leader, score=score, log=log, names=names)
    if view.effect:
        figures["verifier"] = figure_of(draw_lines(Panel(view.effect, view.score, log=log)))
    if "cost" in view.axes:
        figures["cost"] = panel_figure(panel_of_view(view, "cost"))
    return {name: figure for name, figure in figures.items() if figure is not None}
