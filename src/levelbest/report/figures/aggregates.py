"""Figures over tasks, as users of rliable know them: intervals of interquartile means, and performance profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import (
    WIDE,
    colour_of,
    figure_of,
    line_style,
    new_axes,
    new_figure,
    open_frame,
    plain_text,
    shorten,
)
from levelbest.report.words.tasks import aggregate_budgets, low_is_better, rows_at, scale_words
from levelbest.results import OverTasks, TaskComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def interval_figure(comparison: TaskComparison) -> Figure:
    """A row for each family, the best first: its interquartile mean and its mean rank with their intervals."""
    budget = aggregate_budgets(comparison)[0]
    rows, ranks = rows_at(comparison.iqm, budget), {row.family: row for row in rows_at(comparison.ranks, budget)}
    order = sorted(rows, key=lambda row: row.value if low_is_better(comparison) else -row.value)
    figure = new_figure(WIDE, 0.75 + 0.3 * max(2, len(order)))
    left, right = figure.subplots(1, 2, sharey=True) if ranks else (figure.add_subplot(), None)
    _draw_intervals(left, order, comparison)
    left.set_xlabel(plain_text(f"interquartile mean {scale_words(comparison)}"))
    left.set_yticks(range(len(order)), [plain_text(shorten(row.family, 24)) for row in order])
    left.set_ylim(len(order) - 0.5, -0.5)
    if right is not None:
        _draw_intervals(right, [ranks[row.family] for row in order], comparison)
        right.set_xlabel(f"mean rank over {len(comparison.tasks)} tasks, 1 is best")
    return figure


def _draw_intervals(ax: Axes, rows: Sequence[OverTasks], comparison: TaskComparison) -> None:
    for place, row in enumerate(rows):
        colour = colour_of(row.family, comparison.overall.hues)
        if np.isfinite([row.low, row.high]).all():
            ax.barh(place, row.high - row.low, left=row.low, height=0.4, color=colour, alpha=0.4, linewidth=0)
        ax.plot([row.value], [place], "o", color=colour, markersize=5)
    ax.tick_params(axis="y", length=0)
    open_frame(ax, without=("top", "right", "left"), grid="x")


def profile_figure(comparison: TaskComparison) -> Figure | None:
    """The share of runs beyond each score, a line a family with its limits."""
    if not comparison.profiles:
        return None
    ax = new_axes()
    for profile in comparison.profiles:
        colour, dash = line_style(comparison.overall.hues[profile.family])
        ax.plot(
            profile.score,
            profile.value,
            color=colour,
            linestyle=dash,
            linewidth=1.8,
            label=plain_text(shorten(profile.family)),
        )
        ax.fill_between(profile.score, profile.low, profile.high, color=colour, alpha=0.18, linewidth=0)
    below = low_is_better(comparison)
    ax.set_xlabel(plain_text(f"score s ({scale_words(comparison)})"))
    ax.set_ylabel(f"share of runs that score {'less' if below else 'more'} than s")
    ax.set_ylim(0, 1)
    ax.legend(frameon=False, fontsize="small")
    open_frame(ax)
    return figure_of(ax)
