"""Figures over tasks, as users of rliable know them: intervals of interquartile means, and performance profiles."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import (
    WIDE,
    colour_of,
    figure_of,
    fit_label,
    line_style,
    name_rows,
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

_BESIDE = 5.0  # inches: from here on two panels stand side by side


def interval_figure(comparison: TaskComparison) -> Figure:
    """A row for each family, the best first: its interquartile mean and its mean rank with their intervals."""
    budget = aggregate_budgets(comparison)[0]
    rows, ranks = rows_at(comparison.iqm, budget), {row.family: row for row in rows_at(comparison.ranks, budget)}
    order = sorted(rows, key=lambda row: row.value if low_is_better(comparison) else -row.value)
    figure = new_figure(WIDE, 0.75 + 0.3 * max(2, len(order)))
    narrow = figure.get_figwidth() < _BESIDE
    if narrow:
        figure.set_figheight(2.4 * figure.get_figheight())
    shape = (2, 1) if narrow else (1, 2)
    first, second = figure.subplots(*shape) if ranks else (figure.add_subplot(), None)
    _draw_intervals(first, order, comparison)
    first.set_xlabel(plain_text(textwrap.fill(f"interquartile mean {scale_words(comparison)}", 44 if narrow else 64)))
    if second is not None:
        _draw_intervals(second, [ranks[row.family] for row in order], comparison)
        second.set_xlabel(f"mean rank over {len(comparison.tasks)} tasks, 1 is best")
        second.tick_params(axis="y", labelleft=narrow)
        figure.set_layout_engine("constrained", wspace=0.08)
    return figure


def _draw_intervals(ax: Axes, rows: Sequence[OverTasks], comparison: TaskComparison) -> None:
    ax.use_sticky_edges = False
    for place, row in enumerate(rows):
        colour = colour_of(row.family, comparison.overall.hues)
        if np.isfinite([row.low, row.high]).all():
            ax.barh(place, row.high - row.low, left=row.low, height=0.4, color=colour, alpha=0.4, linewidth=0)
        ax.plot([row.value], [place], "o", color=colour, markersize=5)
    name_rows(ax, [row.family for row in rows], [colour_of(row.family, comparison.overall.hues) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
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
    fit_label(ax, f"score s ({scale_words(comparison)})")
    ax.set_ylabel(f"share of runs that score {'less' if below else 'more'} than s")
    ax.set_ylim(0, 1)
    ax.legend(frameon=False, fontsize="small")
    open_frame(ax)
    return figure_of(ax)
