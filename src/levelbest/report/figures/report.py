"""The figures of a report by name: small charts, one per data set, and distributions ([B] fig. 1), sorted by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.report.describe import Description
from levelbest.report.figures.aggregates import interval_figure, profile_figure
from levelbest.report.figures.curves import (
    ONE_COLUMN,
    PHONE,
    WIDE,
    figure_of,
    for_paper,
    label_below,
    new_axes,
    new_figure,
    open_frame,
    own_style,
    plain_text,
    save_figure,
    shorten,
    side_by_side,
)
from levelbest.report.figures.panels import Panel, draw_lines, panel_figure, panel_of_view, plot_lines
from levelbest.report.figures.runs import draw_runs
from levelbest.report.figures.verdicts import difference_figure, draw_comparison, draw_strips
from levelbest.report.view import View, ranked_families
from levelbest.trials import STATUSES, Trials
from levelbest.trials.colours import GREY, LIGHT, Hues, place_hues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "o^sDvPX"
MOST_RUGS = 12
"""With more families the histograms alone are drawn: single trials could not be seen."""
_DECADES = 8
"""Scores above zero whose largest is so many times their median are drawn on a log scale."""
_MOST_POINTS = 5000
"""Points of a description's scatter: beyond this, an evenly spread part of them is drawn, and the figure says so."""
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
    columns = side_by_side(many)
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
    """Every figure of a report, by the name of its file: one line each, None where there is nothing to show.

    ``panels`` has one chart for each of several data sets; ``iqm`` and ``profiles`` are over all of them. Without the
    trials there is no figure of their distribution.
    """
    panel = panel_of_view(view)
    figures = {
        "runs": panel_figure(panel) if panel.runs else None,
        "curves": _curves_figure(view, panel),
        "iqm": None if view.over_tasks is None else interval_figure(view.over_tasks),
        "profiles": None if view.over_tasks is None else profile_figure(view.over_tasks),
        "panels": _tasks_figure(view),
        "distributions": None if trials is None else _ranked_distributions(view, panel, trials),
        "differences": _differences_figure(view, panel),
        "verifier": figure_of(draw_lines(Panel(view.effect, view.score, log=panel.is_log))) if view.effect else None,
        "pareto": _pareto_figure(view),
        "cost": panel_figure(panel_of_view(view, "cost")) if any(line.over_cost for line in view.lines) else None,
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _curves_figure(view: View, panel: Panel) -> Figure | None:
    """Over tasks only where some line has several budgets: a single budget makes no curve."""
    if panel.runs or (view.tasks and all(len(line.x) <= 1 for line in panel.lines)):
        return None
    return panel_figure(panel)


def _tasks_figure(view: View) -> Figure | None:
    panels = {name: panel_of_view(task_view) for name, task_view in view.tasks.items()}
    return panels_figure(panels) if panels else None


def _ranked_distributions(view: View, panel: Panel, trials: Trials) -> Figure | None:
    if view.tasks or panel.runs:
        return None
    ranked = [family.name for family in ranked_families(view) if family.name in trials.families]
    return distribution_figure(trials, ranked, view.hues)


def _differences_figure(view: View, panel: Panel) -> Figure | None:
    if view.single and view.comparison is not None:
        rows = new_axes(WIDE, 0.6 + 0.28 * max(2, len(view.comparison.pairs)))
        return figure_of(draw_comparison(rows, view.comparison, score=_scale(view)))
    compared = view.pairs_of(view.statistics[0])
    if not compared:
        return None
    leader = ranked_families(view)[0].name
    return difference_figure(compared, leader, score=panel.score, log=panel.is_log, hues=view.hues)


def _pareto_figure(view: View) -> Figure | None:
    if view.comparison is None or len(view.comparison.per_solved) < 2:
        return None
    return figure_of(draw_comparison(new_axes(WIDE, 2.6), view.comparison, kind="pareto"))


def _scale(view: View) -> str | None:
    """What differences over tasks are measured in; None: in the score."""
    return "standard deviations of each task's scores" if view.scale else None


def phone_figures(view: View) -> dict[str, Figure]:
    """Those that stand open on the page, as wide as a phone."""
    with for_paper(PHONE), own_style():
        panel, figures = panel_of_view(view), {}
        if panel.runs:
            figures["runs"] = panel_figure(panel)
            figures["runs"].set_figheight(1.4 * figures["runs"].get_figheight())
        if view.over_tasks is not None:
            figures["iqm"] = interval_figure(view.over_tasks)
        return figures


def distribution_figure(trials: Trials, order: Sequence[str], hues: Hues) -> Figure:
    """Histograms, one row a family in the ``order`` given, over the whole width; below them reported against selection
    scores where the two are apart."""
    rows = len(order)
    height = max(1.6, min(0.55 * rows, 1.6 + 0.25 * rows) + 0.6)
    if trials.reported is None:
        figure = new_figure(WIDE, height)
        _draw_histograms(trials, figure.add_subplot(), order, hues)
        return figure
    figure = new_figure(WIDE, height + 2.6)
    above, below = figure.subplots(2, 1, height_ratios=(height, 2.6))
    _draw_histograms(trials, above, order, hues)
    _draw_scatter(trials, trials.reported, below, order, hues)
    return figure


def _draw_histograms(trials: Trials, ax: Axes, order: Sequence[str], hues: Hues) -> None:
    """One histogram a family on a common scale, drawn as ridges; ticks below mark the single trials."""
    by_family = {family: _shown_scores(trials, family) for family in order}
    pooled = np.concatenate(list(by_family.values()))
    if not pooled.size:
        ax.text(0.5, 0.5, "no trial has a score", transform=ax.transAxes, ha="center")
        return
    bins = min(40, max(10, int(np.sqrt(pooled.size) * 2)))
    edges = np.histogram_bin_edges(pooled, bins)
    if pooled.min() > 0 and pooled.max() > _DECADES * np.median(pooled):  # losses: nearly all would be in one bar
        edges = np.geomspace(pooled.min(), pooled.max(), bins + 1)
        ax.set_xscale("log")
    names = []
    for i, (family, scores) in enumerate(by_family.items()):
        base = -float(i)
        counts, _ = np.histogram(scores, edges)
        heights = 0.8 * counts / max(1, counts.max())
        colour = LIGHT[hues.get(family, GREY)]
        ax.stairs(base + heights, edges, baseline=base, fill=True, color=colour, alpha=0.55, lw=0)
        if len(trials.families) <= MOST_RUGS:
            ticks = np.full(scores.size, base - 0.06)
            ax.plot(scores, ticks, "|", color=colour, markersize=4, alpha=0.5, mew=0.6, rasterized=True)
        failed = trials[family].n_failed
        names.append(plain_text(shorten(family, 22)) + (f"\n{failed} failed" if failed else ""))
    ax.set_yticks([0.3 - i for i in range(len(names))], names, fontsize=7)
    for label, family in zip(ax.get_yticklabels(), order, strict=True):
        label.set_color(LIGHT[hues.get(family, GREY)])
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel(plain_text(trials.metric.score + (", mean of each problem" if trials.group is not None else "")))
    open_frame(ax, without=("top", "right", "left"))


def _shown_scores(trials: Trials, family: str) -> FloatArray:
    """The scores of a family's trials; of samples of problems, the mean of each problem."""
    column = trials.selection if trials.reported is None else trials.reported
    ok = (trials.status == STATUSES.index("ok")) & np.isfinite(column)
    here = ok & (trials.family == trials.families.index(family))
    scores: FloatArray = column[here]
    if trials.group is None:
        return scores
    codes = trials.group[here]
    counts = np.bincount(codes)
    means: FloatArray = np.bincount(codes, scores)[counts > 0] / counts[counts > 0]
    return means


def _draw_scatter(trials: Trials, reported: FloatArray, ax: Axes, order: Sequence[str], hues: Hues) -> None:
    """Reported against selection score, one mark a trial; grey ones first, so that they cover nothing."""
    ok = trials.status == STATUSES.index("ok")
    for family in sorted(order, key=lambda name: -hues.get(name, GREY)):
        here, hue = ok & (trials.family == trials.families.index(family)), hues.get(family, GREY)
        ax.plot(
            trials.selection[here],
            reported[here],
            linestyle="none",
            marker=_MARKERS[hue],
            markersize=3,
            alpha=0.5,
            color=LIGHT[hue],
            markeredgewidth=0,
            rasterized=True,
        )
    ax.set_xlabel(plain_text(trials.metric.selection))
    ax.set_ylabel(plain_text(trials.metric.reported or ""))
    open_frame(ax)


def descriptions_figure(descriptions: Sequence[Description]) -> Figure:
    """Each family's histogram, of the reported score where there is one ([B] figure 1), with the selection score as an
    outline; and reported against selection scores."""
    paired = any(description.pairs is not None for description in descriptions)
    columns = 2 if paired else 1
    figure = new_figure(ONE_COLUMN * columns, 1.7 * len(descriptions))
    axes = figure.subplots(len(descriptions), columns, squeeze=False)
    hues = place_hues([description.family for description in descriptions])
    for i, description in enumerate(descriptions):
        colour = LIGHT[hues[description.family]]
        left, right = axes[i, 0], axes[i, -1]
        shown = description if description.claimed is None else description.claimed
        if shown.histogram.counts.size:
            left.stairs(shown.histogram.counts, shown.histogram.edges, fill=True, color=colour, alpha=0.8)
            left.axvline(shown.median, color="0.2", linewidth=0.8)
        if description.claimed is not None and description.histogram.counts.size:
            label = plain_text(description.score)
            left.stairs(
                description.histogram.counts, description.histogram.edges, color="0.35", linestyle="--", label=label
            )
            left.legend(frameon=False, fontsize=6)
        left.set_xlabel(plain_text(shown.score))
        left.set_ylabel("trials")
        left.set_title(plain_text(description.family), fontsize=8, loc="left")
        if description.pairs is None:
            if paired:
                right.set_axis_off()
            continue
        step = -(-description.pairs[0].size // _MOST_POINTS)
        right.plot(
            description.pairs[0][::step],
            description.pairs[1][::step],
            ".",
            color=colour,
            markersize=3,
            alpha=0.6,
            mew=0,
        )
        right.set_xlabel(plain_text(description.score))
        right.set_ylabel(plain_text(description.reported or ""))
        part = "" if step == 1 else f", one trial in {step} drawn"
        rho = f"Spearman {description.spearman:.2f}" if np.isfinite(description.spearman) else "Spearman undefined"
        right.set_title(f"{rho}{part}", fontsize=8, loc="left")
    return figure
