"""A chart with the strip of verdicts below it, on one axis; alone or beside others, one panel a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from levelbest._check import FloatArray
from levelbest.report.figures.curves import (
    ONE_COLUMN,
    draw_lines,
    label_below,
    own_style,
    plain_text,
    plot_lines,
    save_figure,
    score_of,
    shorten,
)
from levelbest.report.figures.runs import draw_runs, every_run
from levelbest.report.figures.strip import draw_strips
from levelbest.report.figures.themes import line_style
from levelbest.report.leaders import Strip, pairs_reach, reach_of, strips_of, strips_of_pairs
from levelbest.report.view import Line, View, cost_line, line_of
from levelbest.results import Comparison, Curve, FamilyCostCurve
from levelbest.trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "LOG_FROM",
    "Panel",
    "panel_figure",
    "panel_of_comparison",
    "panel_of_curves",
    "panel_of_view",
    "panels_figure",
    "runs_of",
    "save_panel",
    "save_panels",
]

LOG_FROM = 30
"""Curves longer than this are drawn over a log scale, where small budgets can be told apart."""
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
    runs: Mapping[str, Sequence[float] | FloatArray] = field(default_factory=dict)
    """Of seeds, every run of each family: a small panel shows them instead of curves."""
    best_first: bool = True
    """Of seeds: whether the largest mean stands on top."""

    @property
    def axis(self) -> str:
        """``trials`` or ``cost``."""
        return self.lines[0].axis

    @property
    def is_log(self) -> bool:
        """Whether budgets stand on a log scale."""
        if self.log is not None:
            return self.log
        return self.axis == "cost" or max(line.x[-1] for line in self.lines) > LOG_FROM


def panel_of_view(view: View, axis: str = "trials") -> Panel:
    """The chart of a report."""
    statistic = view.statistics[0]
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
        runs=runs_of(view) if view.by_seeds and view.table and not view.tasks else {},
        best_first=view.direction == "max",
    )


def runs_of(view: View) -> dict[str, list[float]]:
    """Every run of every family that has a curve."""
    runs: dict[str, list[float]] = {line.family: [] for line in view.lines_of(view.statistics[0])}
    for family, value in zip(view.table["family"], view.table[view.score], strict=True):
        if family in runs and value is not None:
            runs[family].append(float(value))
    return runs


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
        lines=tuple(line_of(own, band=band) if isinstance(own, Curve) else cost_line(own) for own in curves),
        score=score_of(first) if isinstance(first, Curve) else first.score,
        names=tuple(own.family for own in curves),
        cost_unit=first.cost_unit,
        log=log,
        published=published or {},
    )


def panel_of_comparison(
    comparison: Comparison, curves: Sequence[Curve | FamilyCostCurve], *, trials: Trials | None = None, **options: Any
) -> Panel:
    """The curves of the families compared, and the verdicts on them; ``options`` are those of `panel_of_curves`.

    Where the families differ by seeds, a small panel shows the runs of the ``trials``.
    """
    panel, terms = panel_of_curves(curves, **options), comparison.terms
    if terms.design == "seeds":  # the verdict is about one run
        runs = {} if trials is None else every_run(trials, comparison)
        return replace(panel, score=terms.metric.score, runs=runs, best_first=terms.metric.direction == "max")
    return replace(
        panel,
        strips=strips_of_pairs(comparison.pairs, comparison.families, over_cost=terms.axis == "cost"),
        names=comparison.families,
        reach=pairs_reach(comparison.pairs),
        near=None if terms.headline is None else float(terms.headline),
    )


def save_panel(panel: Panel, path: Path) -> Path:
    """Write the chart as PNG, SVG or PDF, by the path's ending."""
    with own_style():
        return save_figure(panel_figure(panel), path)


def save_panels(panels: Mapping[str, Panel], path: Path) -> Path:
    """The same of one panel a data set."""
    with own_style():
        return save_figure(panels_figure(panels), path)


def panel_figure(panel: Panel) -> Figure:
    """The chart, and the strip of verdicts below it on the same axis."""
    height = max(0.6 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(panel.lines))
    below = _strip_height(panel)
    figure = _new_figure(2 * ONE_COLUMN, height + below)
    ratios = {"height_ratios": (height, below)} if below else {}
    axes = figure.subplots(1 + bool(below), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    _draw(panel, list(axes))
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
    figure = _new_figure(2 * ONE_COLUMN, rows * (height + below) + 0.35)
    ratios = [part for _ in range(rows) for part in ((height, below) if below else (height,))]
    step = 1 + bool(below)
    axes = figure.subplots(rows * step, columns, squeeze=False, gridspec_kw={"height_ratios": ratios})
    charts = []
    for k in range(rows * columns):
        chart = axes[step * (k // columns), k % columns]
        strip = axes[step * (k // columns) + 1, k % columns] if below else None
        if k >= many:
            for ax in (chart, strip):
                if ax is not None:
                    ax.set_axis_off()
            continue
        _draw_small(shown[k][1], chart, by_runs=by_runs)
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
    for k, (_, panel) in enumerate(shown):
        if below:
            strip = axes[step * (k // columns) + 1, k % columns]
            _draw_strip(panel, charts[k], strip)
    return figure


def _draw_small(panel: Panel, ax: Axes, *, by_runs: bool) -> None:
    if by_runs:
        means = {line.family: (line.value[0], line.low[0], line.high[0]) for line in panel.lines}
        options: dict[str, Any] = {"best_first": panel.best_first, "published": panel.published}
        draw_runs(panel.runs, means, ax, score=panel.score, **options)
        ax.set_xlabel(plain_text(panel.score), fontsize=7)
        ax.tick_params(labelsize=6)
        return
    options = {"cost_unit": panel.cost_unit, "published": panel.published, "log": panel.is_log}
    plot_lines(panel.lines, ax, score=panel.score, reach=panel.reach, near=panel.near, **options)
    ax.tick_params(labelsize=6)
    ax.xaxis.label.set_fontsize(7)
    ax.yaxis.label.set_fontsize(7)


def _common_heights(charts: Sequence[Axes]) -> None:
    """One scale for all where none is flattened by it."""
    limits = [ax.get_ylim() for ax in charts]
    low, high = min(bottom for bottom, _ in limits), max(top for _, top in limits)
    if high - low <= _FLATTENED * min(top - bottom for bottom, top in limits):
        for ax in charts:
            ax.set_ylim(low, high)


def _draw_strip(panel: Panel, chart: Axes, strip: Axes) -> None:
    if not panel.strips:
        strip.set_axis_off()
        return
    strip.set_xscale(chart.get_xscale())
    strip.set_xlim(chart.get_xlim())
    strip.tick_params(which="both", length=0)
    draw_strips(strip, panel.strips, panel.names, panel.cost_unit, panel.axis)


def _draw(panel: Panel, axes: Sequence[Axes]) -> None:
    options: Mapping[str, Any] = {"cost_unit": panel.cost_unit, "published": panel.published, "log": panel.is_log}
    draw_lines(panel.lines, axes[0], score=panel.score, reach=panel.reach, near=panel.near, **options)
    if panel.strips:
        axes[0].tick_params(labelbottom=True)
        draw_strips(axes[1], panel.strips, panel.names, panel.cost_unit, panel.axis)


def _strip_height(panel: Panel) -> float:
    return 0.12 + 0.26 * len(panel.strips) if panel.strips else 0.0


def _new_figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
