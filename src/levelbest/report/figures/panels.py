"""A chart with the strip of verdicts below it, on one axis; alone or beside others, one panel a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from levelbest.report.figures.curves import ONE_COLUMN, draw_lines, own_style, save_figure, score_of
from levelbest.report.figures.strip import draw_strips
from levelbest.report.leaders import Strip, pairs_reach, reach_of, strips_of, strips_of_pairs
from levelbest.report.view import Line, View, cost_line, line_of
from levelbest.results import Comparison, Curve, FamilyCostCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOG_FROM", "Panel", "panel_figure", "panel_of_comparison", "panel_of_curves", "panel_of_view", "save_panel"]

LOG_FROM = 30
"""Curves longer than this are drawn over a log scale, where small budgets can be told apart."""


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
        score=view.score if view.reported or view.n_groups else f"{view.score} (validation only)",
        strips=strips_of(view, statistic, axis),
        names=tuple(family.name for family in view.families),
        cost_unit=view.cost_unit,
        reach=reach_of(view, statistic, axis),
        near=float(view.headline) if axis == "trials" else None,
        log=view.log,
        published=view.published,
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
        lines=tuple(line_of(own, band=band) if isinstance(own, Curve) else cost_line(own) for own in curves),
        score=score_of(first) if isinstance(first, Curve) else first.score,
        names=tuple(own.family for own in curves),
        cost_unit=first.cost_unit,
        log=log,
        published=published or {},
    )


def panel_of_comparison(comparison: Comparison, curves: Sequence[Curve | FamilyCostCurve], **options: Any) -> Panel:
    """The curves of the families compared, and the verdicts on them; ``options`` are those of `panel_of_curves`."""
    panel, terms = panel_of_curves(curves, **options), comparison.terms
    if terms.design == "seeds":  # the verdict is about one run
        return panel
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


def panel_figure(panel: Panel) -> Figure:
    """The chart, and the strip of verdicts below it on the same axis."""
    height = max(0.6 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(panel.lines))
    below = _strip_height(panel)
    figure = _new_figure(2 * ONE_COLUMN, height + below)
    ratios = {"height_ratios": (height, below)} if below else {}
    axes = figure.subplots(1 + bool(below), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    _draw(panel, list(axes))
    return figure


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
