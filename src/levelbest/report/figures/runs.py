"""The figure of seeds: each family's mean with limits, and below it every run as a dot without overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.report.figures.curves import WIDE, figure_of, name_rows, new_axes, open_frame, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from levelbest.report.figures.panels import Panel

_ABOVE, _LANE = 0.2, 0.1
"""Of a row's middle: where the mean stands, and where the lane of the runs begins."""
_DOTS = 110
"""So many dots side by side fill a row."""


def draw_runs(panel: Panel, ax: Axes | None = None) -> Axes:
    """One row a family, the best first: its mean with limits where they exist, below it every run as a dot.

    Published scores are dashed lines, those of a family within its row and in its colour.
    """
    order = list(panel.means)
    ax = new_axes(WIDE, 0.7 + 0.46 * len(order)) if ax is None else ax
    runs = {name: _known(panel.runs[name]) for name in order}
    ends = np.concatenate([*runs.values(), [0.0] * (not any(scores.size for scores in runs.values()))])
    inches = float(figure_of(ax).get_size_inches()[0])
    step = max(float(np.ptp(ends)), 1e-12) / (_DOTS * min(1.0, inches / 6.6))
    for row, (name, (value, low, high)) in enumerate(panel.means.items()):
        colour = panel.colour(name)
        ax.plot(runs[name], row + _LANE + _stacked(runs[name], step), "o", color=colour, markersize=3.4, mew=0)
        draw_limits(ax, row - _ABOVE, value, low, high, colour)
        ax.plot([value], [row - _ABOVE], "D", color=colour, markersize=5, markeredgecolor="white", zorder=4)
    for name, value in panel.published.items():
        within = name in order
        colour = panel.colour(name) if within else "0.35"
        foot, head = (order.index(name) + 0.4, order.index(name) - 0.4) if within else (len(order) - 0.4, -0.6)
        ax.plot([value, value], [foot, head], color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        label = plain_text("published" if within else name)
        ax.annotate(label, (value, head), color=colour, fontsize=6, ha="center", va="bottom", annotation_clip=False)
    ax.set_ylim(len(order) - 0.45, -0.55)
    name_rows(ax, order, [panel.colour(name) for name in order])
    ax.set_xlabel(plain_text(f"{panel.score}: {panel.lines[0].words.units}, their mean and its limits"))
    open_frame(ax, without=("top", "right", "left"), grid="x")
    return ax


def _known(scores: object) -> FloatArray:
    column = np.asarray(scores, dtype=np.float64)
    return column[np.isfinite(column)]


def _stacked(scores: FloatArray, step: float) -> FloatArray:
    """How far below the lane's beginning each dot lies, so that those within a ``step`` do not cover each other; at
    most a third of a row, in the same places every time.

    Examples
    --------
    >>> _stacked(np.array([1.0, 1.01, 2.0]), 0.1).tolist()
    [0.0, 0.09, 0.0]
    """
    depth = np.zeros(scores.size)
    last: list[float] = []  # of every level, the last score on it
    for place in np.argsort(scores, kind="stable"):
        score = float(scores[place])
        level = next((k for k, end in enumerate(last) if score - end >= step), len(last))
        if level == len(last):
            last.append(score)
        last[level] = score
        depth[place] = level
    return depth * min(0.09, 0.32 / max(1, len(last) - 1))


def draw_limits(ax: Axes, place: float, value: float, low: float, high: float, colour: str) -> None:
    """An interval as a line; towards an end that does not exist it fades from the value on and ends in an arrowhead."""
    known = [value if not np.isfinite(end) else end for end in (low, high)]
    if np.isfinite(known).all():
        ax.plot(known, [place, place], color=colour, linewidth=2.4, alpha=0.5, solid_capstyle="round")
    for end, side, mark in ((low, -1, "<"), (high, 1, ">")):
        if np.isfinite(end) or not np.isfinite(value):
            continue
        reach = [abs(value - other) for other in (low, high) if np.isfinite(other)] or [0.05 * abs(value) or 1.0]
        steps = value + side * 1.3 * max(reach[0], 1e-12) * np.linspace(0, 1, 9)
        for k in range(8):
            ax.plot(
                steps[k : k + 2], [place, place], color=colour, linewidth=2.4, alpha=0.5 * (1 - k / 8), label="_open"
            )
        ax.plot([steps[-1]], [place], mark, color=colour, markersize=3.5, alpha=0.6, label="_open")
