"""The lines of a chart with their bands, names and published scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.report.figures.curves import (
    ONE_COLUMN,
    label_ends,
    new_axes,
    open_frame,
    plain_text,
    set_budget_axis,
    set_score_label,
    statistic_words,
)
from levelbest.report.figures.themes import line_style
from levelbest.report.leaders import Strip
from levelbest.report.view import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_FROM = 30
"""Curves longer than this are drawn over a log scale, where small budgets can be told apart."""
MOST_BANDS = 7


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
    """Of seeds, every run of each family: they are shown instead of curves."""
    means: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Of seeds, the mean of a new run of each family with its limits, the best first."""

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


def draw_lines(panel: Panel, ax: Axes | None = None) -> Axes:
    """The lines of a panel with their names at their ends."""
    lines = panel.lines
    ax = new_axes(height=max(0.62 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(lines))) if ax is None else ax
    plot_lines(panel, ax)
    ends = [[(x, v) for x, v in zip(line.x, line.value, strict=True) if np.isfinite(v)][-1] for line in lines]
    label_ends(ax, [line.family for line in lines], ends, [line_style(i) for i in range(len(lines))])
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
    set_budget_axis(ax, panel.axis, panel.cost_unit, panel.is_log, lines[0].word)
    set_score_label(ax, statistic_words(lines[0].statistic), panel.score)
    open_frame(ax, grid="y")
    return ax


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
