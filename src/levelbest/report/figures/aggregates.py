"""Figures over tasks, as users of rliable know them: intervals of interquartile means, and performance profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import (
    colour_of,
    figure_of,
    line_style,
    new_axes,
    open_frame,
    plain_text,
    shorten,
)
from levelbest.report.words.tasks import aggregate_budgets, low_is_better, rows_at, scale_words
from levelbest.results import TaskComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def interval_figure(comparison: TaskComparison) -> Figure:
    """A row for each family, the best first: its interquartile mean with its interval, at one run."""
    rows = rows_at(comparison.iqm, aggregate_budgets(comparison)[0])
    order = sorted(rows, key=lambda row: row.value if low_is_better(comparison) else -row.value)
    ax = new_axes(height=0.7 + 0.28 * max(2, len(order)))
    for place, row in enumerate(order):
        colour = colour_of(row.family, comparison.overall.hues)
        if np.isfinite([row.low, row.high]).all():
            ax.barh(place, row.high - row.low, left=row.low, height=0.5, color=colour, alpha=0.5, linewidth=0)
        ax.plot([row.value] * 2, [place - 0.3, place + 0.3], color="black", linewidth=1.5)
    ax.set_yticks(range(len(order)), [plain_text(shorten(row.family, 24)) for row in order])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlabel(plain_text(f"interquartile mean {scale_words(comparison)}"))
    open_frame(ax, grid="x")
    return figure_of(ax)


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
