"""A chart: lines with their bands, names and published scores, and the strip of verdicts below them on one axis; alone
or beside others, one panel per data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import is_cost, show_tick
from levelbest.report.figures.curves import (
    LOG_FROM,
    ONE_COLUMN,
    Style,
    colour_of,
    figure_of,
    label_ends,
    line_style,
    new_axes,
    new_figure,
    open_frame,
    plain_text,
    score_of,
    set_budget_axis,
    set_score_label,
    statistic_words,
)
from levelbest.report.figures.runs import draw_runs
from levelbest.report.figures.verdicts import draw_strips, fade
from levelbest.report.view import Line, View, floats, line_of, ranked_families
from levelbest.results import Comparison, Curve, FamilyCostCurve
from levelbest.results.verdict import Strip, pairs_reach, strips_of_pairs
from levelbest.stats.budgets import Reached, budget_to_reach
from levelbest.trials.colours import GREY, Hues, place_hues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BANDS = 7


@dataclass(frozen=True)
class Panel:
    """What one chart shows."""

    lines: tuple[Line, ...]
    score: str
    strips: tuple[Strip, ...] = ()
    hues: Hues = field(default_factory=dict)
    """By family the place of its colour in the palette; empty: by the order of the lines."""
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

    def __post_init__(self) -> None:
        if not self.hues:
            object.__setattr__(self, "hues", place_hues([line.family for line in self.lines]))

    def style(self, family: str) -> Style:
        """The colour and the dash of a family's line."""
        return line_style(self.hues.get(family, GREY))

    @property
    def colours(self) -> dict[str, str]:
        """Those of all families."""
        return {family: self.colour(family) for family in self.hues}

    def colour(self, family: str) -> str:
        """The colour of a family."""
        return colour_of(family, self.hues)

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
    label_ends(ax, [lines[i].family for i in drawn], ends, [panel.style(lines[i].family) for i in drawn])
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
        colour, dash = panel.style(line.family)
        within = x <= end
        if len(lines) <= MOST_BANDS:
            low, high = np.array(line.low)[within], np.array(line.high)[within]
            both = np.isfinite(low) & np.isfinite(high)
            ax.fill_between(x[within], low, high, where=both, color=colour, alpha=0.18, linewidth=0, zorder=2)
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
    for line in lines if len(lines) <= MOST_BANDS else ():
        within = np.array(line.x) <= end
        columns = [np.array(column)[within] for column in (line.x, line.value, line.low, line.high)]
        fade(ax, columns, panel.colour(line.family), ax.get_ylim())
    colours = {line.family: panel.colour(line.family) for line in lines}
    for name, height in published.items():
        colour, label = colours.get(name, "0.35"), f"{name}, published" if name in colours else name
        ax.axhline(height, color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        left = ("axes fraction", "data")
        ax.annotate(plain_text(label), (0.01, height), xycoords=left, fontsize=7, color=colour, va="bottom")
        for line in lines if name not in colours else [candidate for candidate in lines if candidate.family == name]:
            _mark_crossing(ax, panel, line, height, colours[line.family])
    set_budget_axis(ax, panel.over_cost, panel.cost_unit, panel.is_log, lines[0].words)
    set_score_label(ax, statistic_words(lines[0].statistic, lines[0].words), panel.score)
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


def panel_of_view(view: View, axis: str = "trials") -> Panel:
    """The chart of a report."""
    statistic = view.statistics[0]
    runs = view.units if view.single else {}
    return Panel(
        lines=view.lines_of(statistic, axis),
        score=f"{view.score} (validation only)" if view.unchecked else view.score,
        strips=view.strips(statistic, axis),
        hues=view.hues,
        cost_unit=view.cost_unit,
        reach=view.reach(statistic, axis),
        near=None if is_cost(axis) else float(view.headline),
        log=view.log,
        published=view.published,
        direction="max" if view.scale else view.direction,
        runs=runs,
        means={family.name: family.headline for family in ranked_families(view)} if runs else {},
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
        hues={curve.family: curve.hue for curve in curves if curve.hue is not None},
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
        means = {curve.family: (curve.value, curve.low, curve.high) for curve in comparison.standings}
        return replace(panel, score=terms.metric.score, runs=runs, means=means, hues=comparison.hues)
    return replace(
        panel,
        strips=strips_of_pairs(comparison.pairs, comparison.families),
        hues=comparison.hues,
        reach=pairs_reach(comparison.pairs),
        near=None if terms.headline is None else float(terms.headline),
    )


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
        draw_strips(axes[1], panel.strips, panel.colours, panel.cost_unit, panel.axis)
    return figure
