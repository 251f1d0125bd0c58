"""Every run of every family on one scale, with the mean of a new run and its limits: the picture of seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import new_axes, open_frame, plain_text, shorten
from levelbest.report.figures.lines import Panel
from levelbest.report.figures.themes import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_runs(panel: Panel, ax: Axes | None = None) -> Axes:
    """One row a family: its runs as small dots, its mean as a large one, with limits where they exist.

    Published scores are dashed lines, those of a family within its row and in its colour.
    """
    names = list(panel.runs)
    ax = new_axes(height=0.7 + 0.34 * len(names)) if ax is None else ax
    order = list(panel.means)
    for row, (name, (value, low, high)) in enumerate(panel.means.items()):
        colour = COLOURS[names.index(name) % len(COLOURS)]
        scores = np.array(panel.runs[name], dtype=np.float64)
        scores = scores[np.isfinite(scores)]
        # runs with equal scores lie above each other, in the same places every time
        shift = 0.13 * (np.arange(scores.size) % 3 - 1)
        ax.plot(scores, row + shift, ".", color=colour, markersize=4.5, alpha=0.55, markeredgewidth=0)
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [row, row], color=colour, linewidth=1.8, solid_capstyle="round", zorder=3)
        ax.plot([value], [row], "D", color=colour, markersize=5.5, markeredgecolor="white", zorder=4)
    for name, value in panel.published.items():
        own = name in order
        colour = COLOURS[names.index(name) % len(COLOURS)] if own else "0.35"
        foot, head = (order.index(name) + 0.4, order.index(name) - 0.4) if own else (len(order) - 0.4, -0.6)
        ax.plot([value, value], [foot, head], color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        label = plain_text("published" if own else name)
        ax.annotate(label, (value, head), color=colour, fontsize=6, ha="center", va="bottom", annotation_clip=False)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_yticks(range(len(order)), [plain_text(shorten(name)) for name in order])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(plain_text(f"{panel.score}: runs, their mean and its limits"))
    open_frame(ax, without=("top", "right", "left"), grid="x")
    return ax
