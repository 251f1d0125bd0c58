"""The figures of a report by name, and small charts beside each other, one a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from levelbest.report.figures.aggregates import interval_figure, profile_figure
from levelbest.report.figures.curves import (
    ONE_COLUMN,
    figure_of,
    label_below,
    new_axes,
    new_figure,
    own_style,
    plain_text,
    save_figure,
    shorten,
)
from levelbest.report.figures.distributions import distribution_figure
from levelbest.report.figures.panels import Panel, draw_lines, panel_figure, panel_of_view, plot_lines
from levelbest.report.figures.runs import draw_runs
from levelbest.report.figures.verdicts import difference_figure, draw_comparison, draw_strips
from levelbest.report.view import View, ranked_families
from levelbest.trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLATTENED = 2.5
"""A panel's own heights are used where a common scale would be so many times as high."""


def save_panels(panels: Mapping[str, Panel], path: Path) -> Path:
    """Write the chart, or small charts, one a data set, as PNG, SVG or PDF, by the path's ending."""
    with own_style():
        charts = list(panels.values())
        return save_figure(panel_figure(charts[0]) if len(charts) == 1 else panels_figure(panels), path)


def panels_figure(panels: Mapping[str, Panel]) -> Figure:
    """Small multiples, one panel a data set, with the verdicts below each: heights are common where scores lie close
    enough together for that, else each has its own. Of seeds every run."""
    many = len(panels)
    columns = 2 if many in (2, 4) else 3
    rows = -(-many // columns)
    shown = list(panels.items())
    below = max((0.18 + 0.2 * len(panel.strips) if panel.strips else 0.0) for panel in panels.values())
    by_runs = all(panel.runs for panel in panels.values())
    height = 0.55 + 0.22 * len(shown[0][1].runs) if by_runs else 1.75
    figure = new_figure(2 * ONE_COLUMN, rows * (height + below) + 0.35)
    ratios = [part for _ in range(rows) for part in ((height, below) if below else (height,))]
    step = 1 + bool(below)
    axes = figure.subplots(rows * step, columns, squeeze=False, gridspec_kw={"height_ratios": ratios})
    charts = []
    for k in range(rows * columns):
        place = slice(step * (k // columns), step * (k // columns) + step)
        chart = axes[place, k % columns][0]
        if k >= many:
            for ax in axes[place, k % columns]:
                ax.set_axis_off()
            continue
        _draw_small(chart, *shown[k], by_runs=by_runs)
        if k % columns:
            chart.set_ylabel("")
        if k + columns < many:
            chart.set_xlabel("")
        charts.append(chart)
    if not by_runs:
        _share_heights(charts)
        names = [line.family for line in shown[0][1].lines]
        label_below(figure, names, [shown[0][1].style(name) for name in names])
    for k, (_, panel) in enumerate(shown if below else ()):
        strip = axes[step * (k // columns) + 1, k % columns]
        if not panel.strips:
            strip.set_axis_off()
            continue
        strip.set_xscale(charts[k].get_xscale())
        strip.set_xlim(charts[k].get_xlim())
        strip.tick_params(which="both", length=0)
        draw_strips(strip, panel.strips, panel.colours, panel.cost_unit, panel.axis)
    return figure


def _draw_small(chart: Axes, name: str, panel: Panel, *, by_runs: bool) -> None:
    """One of several panels, with small letters and its name above it."""
    if by_runs:
        draw_runs(panel, chart)
        chart.set_xlabel(plain_text(panel.score))
    else:
        plot_lines(panel, chart)
        chart.yaxis.label.set_fontsize(7)
    chart.xaxis.label.set_fontsize(7)
    chart.tick_params(labelsize=6)
    chart.set_title(plain_text(shorten(name, 30)), fontsize=8, loc="left")


def _share_heights(charts: Sequence[Axes]) -> None:
    """One scale for all, where scores lie close enough together for that."""
    limits = [ax.get_ylim() for ax in charts]
    low, high = min(bottom for bottom, _ in limits), max(top for _, top in limits)
    if high - low <= _FLATTENED * min(top - bottom for bottom, top in limits):
        for ax in charts:
            ax.set_ylim(low, high)


def report_figures(view: View, trials: Trials | None) -> dict[str, Figure]:
    """``curves``, and where there is something to show ``runs``, ``distributions``, ``differences``, ``verifier``,
    ``cost`` and ``panels``, one a data set, with ``iqm`` and ``profiles`` over all of them. Without the trials there is
    no figure of their distribution."""
    panel = panel_of_view(view)
    score, log = panel.score, panel.is_log
    figures: dict[str, Figure | None] = {}
    if panel.runs:
        figures["runs"] = panel_figure(panel)
    figures["curves"] = panel_figure(replace(panel, runs={}))
    if view.tasks:
        if view.over_tasks is not None:
            figures["iqm"] = interval_figure(view.over_tasks)
            figures["profiles"] = profile_figure(view.over_tasks)
        figures["panels"] = panels_figure({name: panel_of_view(task_view) for name, task_view in view.tasks.items()})
    elif trials is not None and not panel.runs:
        ranked = [family.name for family in ranked_families(view) if family.name in trials.families]
        figures["distributions"] = distribution_figure(trials, ranked, view.hues)
    if view.single and view.comparison is not None:
        rows = new_axes(height=0.6 + 0.28 * max(2, len(view.comparison.pairs)))
        figures["differences"] = figure_of(draw_comparison(rows, view.comparison))
    elif compared := view.pairs_of(view.statistics[0]):
        leader = ranked_families(view)[0].name
        figures["differences"] = difference_figure(compared, leader, score=score, log=log, hues=view.hues)
    if view.effect:
        figures["verifier"] = figure_of(draw_lines(Panel(view.effect, view.score, log=log)))
    if any(line.over_cost for line in view.lines):
        figures["cost"] = panel_figure(panel_of_view(view, "cost"))
    return {name: figure for name, figure in figures.items() if figure is not None}
