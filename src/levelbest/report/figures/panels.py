"""A chart: lines with their bands, names and published scores, and the strip of verdicts below them on one axis; alone
or beside others, one panel a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import is_cost, show_tick
from levelbest.report.figures.aggregates import interval_figure, profile_figure
from levelbest.report.figures.axes import difference_figure, draw_comparison
from levelbest.report.figures.curves import (
    LOG_FROM,
    ONE_COLUMN,
    figure_of,
    label_below,
    label_ends,
    line_style,
    new_axes,
    new_figure,
    open_frame,
    own_style,
    plain_text,
    save_figure,
    score_of,
    set_budget_axis,
    set_score_label,
    shorten,
    statistic_words,
)
from levelbest.report.figures.strips import distribution_figure, draw_runs, draw_strips
from levelbest.report.view import Line, View, floats, line_of
from levelbest.results import Comparison, Curve, FamilyCostCurve
from levelbest.results.verdict import Strip, pairs_reach, strips_of_pairs
from levelbest.stats.budgets import Reached, budget_to_reach
from levelbest.trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BANDS = 7
_FLATTENED = 2.5
"""A panel's own heights are used where a common scale would be so many times as high."""


@dataclass(frozen=True)
class Panel:
    """What one chart shows."""

    lines: tuple[Line, ...]
    score: str
    strips: tuple[Strip, ...] = ()
    names: tuple[str, ...] = ()
    """All families, whose places give the colours of the strips."""
    cost_unit: str | None = None
    reach: float | None = None
    """The last budget that verdicts reach; lines are thin beyond."""
    near: float | None = None
    """Heights are chosen for this budget and larger ones."""
    log: bool | None = None
    """Whether budgets stand on a log scale; None: where curves are long, and over cost."""
    published: Mapping[str, float] = field(default_factory=dict)
    """Scores to reach, drawn dashed; where a curve reaches one it is marked."""
    direction: str = "max"
    runs: Mapping[str, Sequence[float] | FloatArray] = field(default_factory=dict)
    """Every unit of each family, where one budget is compared: they are shown instead of curves."""
    means: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """There, the mean of each family with its limits, the best first."""

    @property
    def axis(self) -> str:
        """``trials`` or ``cost``."""
        return self.lines[0].axis

    @property
    def over_cost(self) -> bool:
        """Whether budgets are costs."""
        return self.lines[0].over_cost

    @property
    def is_log(self) -> bool:
        """Whether budgets stand on a log scale."""
        if self.log is not None:
            return self.log
        return self.over_cost or max(line.x[-1] for line in self.lines) > LOG_FROM


def draw_lines(panel: Panel, ax: Axes | None = None) -> Axes:
    """The lines of a panel with their names at their ends."""
    lines = panel.lines
    ax = new_axes(height=max(0.62 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(lines))) if ax is None else ax
    plot_lines(panel, ax)
    drawn = [i for i, line in enumerate(lines) if np.isfinite(line.value).any()]
    ends = [[(x, v) for x, v in zip(lines[i].x, lines[i].value, strict=True) if np.isfinite(v)][-1] for i in drawn]
    label_ends(ax, [lines[i].family for i in drawn], ends, [line_style(i) for i in drawn])
    return ax


def plot_lines(panel: Panel, ax: Axes) -> Axes:
    """The lines of a panel without their names.

    Beyond the budgets that verdicts reach they are thin and have no band. The bands of more than seven families cannot
    be told apart and are left out.
    """
    lines, published = panel.lines, panel.published
    end = np.inf if panel.reach is None else panel.reach * (1 + 1e-9)
    for i, line in enumerate(lines):
        x, value = np.array(line.x), np.array(line.value)
        colour, dash = line_style(i)
        within = x <= end
        if len(lines) <= MOST_BANDS:
            _fill(ax, x[within], np.array(line.low)[within], np.array(line.high)[within], value[within], colour)
        finite = np.isfinite(value)
        inside, last = finite & within, int(within.sum()) - 1
        ax.plot(x[inside], value[inside], color=colour, linestyle=dash, linewidth=1.6, zorder=3)
        if inside.sum() == 1:  # one budget: a point with its limits, beside the others
            place = x[inside] * (1 + 0.02 * (i - (len(lines) - 1) / 2))
            ax.plot(place, value[inside], "o", color=colour, markersize=4, zorder=3)
            ax.vlines(place, np.array(line.low)[inside], np.array(line.high)[inside], color=colour, linewidth=1.2)
        beyond = finite & (np.arange(x.size) >= last)
        if last < x.size - 1:
            ax.plot(x[beyond], value[beyond], color=colour, linestyle=dash, linewidth=0.7, alpha=0.5, zorder=3)
    _fit_height(ax, panel, end)
    colours = {line.family: line_style(i)[0] for i, line in enumerate(lines)}
    for name, height in published.items():
        colour, label = colours.get(name, "0.35"), f"{name}, published" if name in colours else name
        ax.axhline(height, color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        left = ("axes fraction", "data")
        ax.annotate(plain_text(label), (0.01, height), xycoords=left, fontsize=7, color=colour, va="bottom")
        for line in lines if name not in colours else [candidate for candidate in lines if candidate.family == name]:
            _mark_crossing(ax, panel, line, height, colours[line.family])
    set_budget_axis(ax, panel.over_cost, panel.cost_unit, panel.is_log, lines[0].words)
    set_score_label(ax, statistic_words(lines[0].statistic), panel.score)
    open_frame(ax, grid="y")
    return ax


def _mark_crossing(ax: Axes, panel: Panel, line: Line, height: float, colour: str) -> None:
    """Where a curve reaches a score ([D] figures 1 and 3): a dot, the interval of that budget, and the budget."""
    reached = line_reach(line, height, panel.direction)
    if not np.isfinite(reached.budget):
        return
    ends = np.clip([reached.low, reached.high], line.x[0], line.x[-1])
    ax.hlines(height, *ends, color=colour, linewidth=2.4, alpha=0.45, zorder=3)
    ax.plot([reached.budget], [height], "o", color=colour, markersize=4, zorder=4, label="_crossing")
    ax.vlines(reached.budget, ax.get_ylim()[0], height, color=colour, linewidth=0.7, linestyle=":", zorder=2)
    text = show_tick(reached.budget, panel.cost_unit) if line.over_cost else f"{reached.budget:g}"
    ax.annotate(
        plain_text(text),
        (reached.budget, height),
        xytext=(2, -8),
        textcoords="offset points",
        fontsize=7,
        color=colour,
        annotation_clip=True,
    )


def line_reach(line: Line, target: float, direction: str) -> Reached:
    """The budget at which a line reaches a score, with the interval that its limits give."""
    return budget_to_reach(
        line.x,
        line.value,
        line.low,
        line.high,
        target,
        direction=direction,
        simultaneous=line.simultaneous,
        between=line.over_cost,
    )


def _fit_height(ax: Axes, panel: Panel, reach: float) -> None:
    """The curves fill the picture; a band may stretch it by a half on either side and is cut off beyond."""
    lines, near, published = panel.lines, panel.near or 0.0, panel.published.values()
    drawn = lines if len(lines) <= MOST_BANDS else ()
    columns = [(line.x, line.value) for line in lines]
    limits = [(line.x, limit) for line in drawn for limit in (line.low, line.high)]

    def inside(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], start: float) -> list[float]:
        return [v for x, column in pairs for at, v in zip(x, column, strict=True) if start <= at <= reach and v == v]

    values = inside(columns, near) or inside(columns, 0.0) or [v for _, column in columns for v in column if v == v]
    stretch = [v for v in inside(limits, near) if np.isfinite(v)]
    low, high = min(values), max(values)
    room = max((high - low) / 2, 1e-9 * abs(high), 1e-12)
    low, high = max(low - room, min([low, *stretch])), min(high + room, max([high, *stretch]))
    low, high = min([low, *published]), max([high, *published])
    pad = 0.03 * (high - low) or 0.5 * abs(high) or 0.5  # one height alone stands in the middle
    ax.set_ylim(low - pad, high + pad)


def _fill(ax: Axes, x: FloatArray, low: FloatArray, high: FloatArray, value: FloatArray, colour: str) -> None:
    """Shade where both limits are finite; where one is missing, fade from the curve to the finite side."""
    both = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(x, low, high, where=both, color=colour, alpha=0.18, linewidth=0, zorder=2)
    for limit in (low, high):
        open_side = np.isfinite(limit) & ~both
        if open_side.any():
            ax.fill_between(x, limit, value, where=open_side, color=colour, alpha=0.09, linewidth=0, zorder=2)
            ax.plot(np.where(open_side, x, np.nan), limit, color=colour, alpha=0.5, linewidth=0.6, linestyle=":")


def panel_of_view(view: View, axis: str = "trials") -> Panel:
    """The chart of a report."""
    statistic = view.statistics[0]
    runs = view.units if view.single else {}
    ranked = sorted(view.families, key=lambda family: family.headline[0], reverse=view.direction == "max")
    return Panel(
        lines=view.lines_of(statistic, axis),
        score=f"{view.score} (validation only)" if view.unchecked else view.score,
        strips=view.strips(statistic, axis),
        names=tuple(family.name for family in view.families),
        cost_unit=view.cost_unit,
        reach=view.reach(statistic, axis),
        near=None if is_cost(axis) else float(view.headline),
        log=view.log,
        published=view.published,
        direction="max" if view.scale else view.direction,
        runs=runs,
        means={family.name: family.headline for family in ranked} if runs else {},
    )


def panel_of_curves(
    curves: Sequence[Curve | FamilyCostCurve],
    *,
    log: bool | None = None,
    published: Mapping[str, float] | None = None,
    spread: bool = False,
) -> Panel:
    """Curves alone, with their intervals; or with the ``spread`` of the best itself ([D] 3.3, figure 4)."""
    first = curves[0]
    return Panel(
        lines=tuple(_with_spread(curve) if spread and isinstance(curve, Curve) else line_of(curve) for curve in curves),
        direction=first.direction,
        score=score_of(first) if isinstance(first, Curve) else first.score,
        names=tuple(curve.family for curve in curves),
        cost_unit=first.cost_unit,
        log=log,
        published=published or {},
    )


def _with_spread(curve: Curve) -> Line:
    """The line with one standard deviation of the best to either side, within the best and worst scores observed."""
    worst, best = curve.observed or (-np.inf, np.inf)
    low, high = (np.clip(curve.value + side * curve.spread, worst, best) for side in (-1, 1))
    return replace(line_of(curve), low=floats(low), high=floats(high), method="spread", simultaneous=False)


def panel_with_verdicts(panel: Panel, comparison: Comparison, units: Mapping[str, FloatArray]) -> Panel:
    """The curves of the families compared with the verdicts on them; with one budget every one of the ``units``."""
    terms = comparison.terms
    if terms.words.single and units:  # the verdict is about one new unit
        runs = {name: units[name] for name in comparison.families}
        means = {standing.family: (standing.value, standing.low, standing.high) for standing in comparison.standings}
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
        _draw_small(chart, *shown[k], by_runs=by_runs)
        if k % columns:
            chart.set_ylabel("")
        if k + columns < many:
            chart.set_xlabel("")
        charts.append(chart)
    if not by_runs:
        _share_heights(charts)
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
        figures["distributions"] = distribution_figure(trials)
    if view.single and view.comparison is not None:
        rows = new_axes(height=0.6 + 0.28 * max(2, len(view.comparison.pairs)))
        figures["differences"] = figure_of(draw_comparison(rows, view.comparison))
    elif compared := view.pairs_of(view.statistics[0]):
        names = [family.name for family in view.families]
        sign = 1.0 if view.direction == "max" else -1.0
        known = {family.name: sign * family.headline[0] for family in view.families if np.isfinite(family.headline[0])}
        leader = max(known, key=lambda name: known[name]) if known else None
        figures["differences"] = difference_figure(compared, leader, score=score, log=log, names=names)
    if view.effect:
        figures["verifier"] = figure_of(draw_lines(Panel(view.effect, view.score, log=log)))
    if any(line.over_cost for line in view.lines):
        figures["cost"] = panel_figure(panel_of_view(view, "cost"))
    return {name: figure for name, figure in figures.items() if figure is not None}
