"""A chart with the strip of verdicts below it, on one axis; alone or beside others, one panel a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from levelbest.report.figures.curves import (
    ONE_COLUMN,
    figure_of,
    label_below,
    new_figure,
    own_style,
    plain_text,
    save_figure,
    score_of,
    shorten,
)
from levelbest.report.figures.lines import Panel, draw_lines, plot_lines
from levelbest.report.figures.strips import draw_runs, draw_strips
from levelbest.report.figures.themes import line_style
from levelbest.report.leaders import pairs_reach, reach_of, strips_of, strips_of_pairs
from levelbest.report.view import View, line_of
from levelbest.results import Comparison, Curve, FamilyCostCurve
from levelbest.trials import Trials
from levelbest.trials.problems import ProblemTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLATTENED = 2.5
"""A panel's own heights are used where a common scale would be so many times as high."""


def panel_of_view(view: View, axis: str = "trials") -> Panel:
    """The chart of a report."""
    statistic = view.statistics[0]
    seeds = view.by_seeds and view.table and not view.tasks
    runs: dict[str, list[float]] = {line.family: [] for line in view.lines_of(statistic)} if seeds else {}
    for family, value in zip(view.table["family"], view.table[view.score], strict=True) if seeds else ():
        if family in runs and isinstance(value, float):
            runs[str(family)].append(value)
    ranked = sorted(view.families, key=lambda family: family.headline[0], reverse=view.direction == "max")
    return Panel(
        lines=view.lines_of(statistic, axis),
        score=f"{view.score} (validation only)" if view.unchecked else view.score,
        strips=strips_of(view, statistic, axis),
        names=tuple(family.name for family in view.families),
        cost_unit=view.cost_unit,
        reach=reach_of(view, statistic, axis),
        near=float(view.headline) if axis == "trials" else None,
        log=view.log,
        published=view.published,
        runs=runs,
        means={family.name: family.headline for family in ranked} if seeds else {},
    )


def panel_of_curves(
    curves: Sequence[Curve | FamilyCostCurve],
    *,
    band: str = "interval",
    log: bool | None = None,
    published: Mapping[str, float] | None = None,
) -> Panel:
    """Curves alone, with their interval, [D]'s plus or minus one ``spread`` within the observed range, or ``none``."""
    first = curves[0]
    return Panel(
        lines=tuple(line_of(own, band=band) for own in curves),
        score=score_of(first) if isinstance(first, Curve) else first.score,
        names=tuple(own.family for own in curves),
        cost_unit=first.cost_unit,
        log=log,
        published=published or {},
    )


def panel_with_verdicts(panel: Panel, comparison: Comparison, table: Trials | ProblemTable) -> Panel:
    """The curves of the families compared with the verdicts on them; of seeds the runs in the ``table``."""
    terms = comparison.terms
    if terms.design == "seeds" and isinstance(table, Trials):  # the verdict is about one run
        scored = {"failed": terms.settings.failed, "missing": terms.settings.missing}
        runs = {name: table[name].scores(**scored).curve_of for name in comparison.families}
        means = {own.family: (own.value, own.low, own.high) for own in comparison.standings}
        return replace(panel, score=terms.metric.score, runs=runs, means=means)
    return replace(
        panel,
        strips=strips_of_pairs(comparison.pairs, comparison.families),
        names=comparison.families,
        reach=pairs_reach(comparison.pairs),
        near=None if terms.headline is None else float(terms.headline),
    )


def save_panels(panels: Mapping[str, Panel], path: Path) -> Path:
    """Write the chart, or small charts, one a data set, as PNG, SVG or PDF, by the path's ending."""
    with own_style():
        charts = list(panels.values())
        return save_figure(panel_figure(charts[0]) if len(charts) == 1 else panels_figure(panels), path)


def panel_figure(panel: Panel) -> Figure:
    """The chart, and the strip of verdicts below it on the same axis; of seeds every run."""
    if panel.runs:
        return figure_of(draw_runs(panel))
    height = max(0.6 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(panel.lines))
    below = 0.12 + 0.26 * len(panel.strips) if panel.strips else 0.0
    figure = new_figure(2 * ONE_COLUMN, height + below)
    ratios = {"height_ratios": (height, below)} if below else {}
    axes = figure.subplots(1 + bool(below), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    draw_lines(panel, axes[0])
    if panel.strips:
        axes[0].tick_params(labelbottom=True)
        draw_strips(axes[1], panel.strips, panel.names, panel.cost_unit, panel.axis)
    return figure


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
        if by_runs:
            draw_runs(shown[k][1], chart)
            chart.set_xlabel(plain_text(shown[k][1].score))
        else:
            plot_lines(shown[k][1], chart)
            chart.yaxis.label.set_fontsize(7)
        chart.xaxis.label.set_fontsize(7)
        chart.tick_params(labelsize=6)
        chart.set_title(plain_text(shorten(shown[k][0], 30)), fontsize=8, loc="left")
        if k % columns:
            chart.set_ylabel("")
        if k + columns < many:
            chart.set_xlabel("")
        charts.append(chart)
    if not by_runs:
        _common_heights(charts)
        names = [line.family for line in shown[0][1].lines]
        label_below(figure, names, [line_style(i) for i in range(len(names))])
    for k, (_, panel) in enumerate(shown if below else ()):
        strip = axes[step * (k // columns) + 1, k % columns]
        if not panel.strips:
            strip.set_axis_off()
            continue
        strip.set_xscale(charts[k].get_xscale())
        strip.set_xlim(charts[k].get_xlim())
        strip.tick_params(which="both", length=0)
        draw_strips(strip, panel.strips, panel.names, panel.cost_unit, panel.axis)
    return figure


def _common_heights(charts: Sequence[Axes]) -> None:
    """One scale for all where none is flattened by it."""
    limits = [ax.get_ylim() for ax in charts]
    low, high = min(bottom for bottom, _ in limits), max(top for _, top in limits)
    if high - low <= _FLATTENED * min(top - bottom for bottom, top in limits):
        for ax in charts:
            ax.set_ylim(low, high)
