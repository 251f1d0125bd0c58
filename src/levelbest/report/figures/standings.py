"""A comparison at a glance: the strip of who is best over the budgets, and the families at one budget with limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import new_figure, open_frame, plain_text, set_budget_axis, shorten
from levelbest.report.figures.lines import LOG_FROM
from levelbest.report.figures.strip import draw_strips
from levelbest.report.figures.themes import COLOURS
from levelbest.report.leaders import Span, Strip, leading_spans
from levelbest.results import Comparison, Standing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def standings_figure(comparison: Comparison, *, width: float = 6.6) -> Figure | None:
    """The figure, without pyplot; None where there is nothing to draw."""
    spans = leading_spans(comparison) if comparison.baseline is None else ()
    over_budgets = len(spans) > 0 and spans[0].start < spans[-1].end
    rows = comparison.standings
    if not rows and not over_budgets:
        return None
    heights = [0.7] * over_budgets + [0.5 + 0.24 * len(rows)] * bool(rows)
    figure = new_figure(width, sum(heights))
    axes = list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    if rows:
        _draw_rows(axes[-1], rows, comparison)
    if over_budgets:
        _draw_spans(axes[0], spans, comparison)
    return figure


def _draw_spans(ax: Axes, spans: Sequence[Span], comparison: Comparison) -> None:
    terms = comparison.terms
    ax.set_xlim(spans[0].start, spans[-1].end)
    set_budget_axis(ax, terms.axis, terms.cost_unit, log=spans[-1].end > LOG_FROM or terms.axis == "cost")
    ax.set_xlim(spans[0].start, spans[-1].end)
    what = "cost" if terms.axis == "cost" else f"number of {terms.unit}s"
    ax.set_title(f"best of all by {what}", fontsize=7, loc="left", pad=2)
    draw_strips(ax, [Strip("", tuple(spans))], comparison.families, terms.cost_unit, terms.axis)


def _draw_rows(ax: Axes, rows: Sequence[Standing], comparison: Comparison) -> None:
    names = list(comparison.families)
    for place, row in enumerate(rows):
        colour = COLOURS[names.index(row.family) % len(COLOURS)]
        if np.isfinite([row.low, row.high]).all():
            ax.plot([row.low, row.high], [place, place], color=colour, linewidth=2.4, alpha=0.5, solid_capstyle="round")
        ax.plot([row.value], [place], "o", color=colour, markersize=5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_yticks(range(len(rows)), [plain_text(shorten(row.family)) for row in rows], fontsize=8)
    ax.tick_params(axis="both", length=0)
    terms, budget = comparison.terms, rows[0].budget
    score = terms.metric.reported or terms.metric.selection
    what = score if budget == 1 else f"best {score} of {budget:g} {terms.unit}s"
    ax.set_xlabel(plain_text(what), fontsize=8)
    open_frame(ax, without=("top", "right", "left"), grid="x")
