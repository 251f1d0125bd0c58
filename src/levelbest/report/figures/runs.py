"""Every run of every family on one scale, with the mean of a new run and its limits: the picture of seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import new_axes, plain_text, shorten
from levelbest.report.figures.themes import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_runs"]


def draw_runs(
    runs: Mapping[str, Sequence[float]],
    means: Mapping[str, tuple[float, float, float]],
    ax: Axes | None = None,
    *,
    score: str = "score",
    best_first: bool = True,
) -> Axes:
    """One row a family: its runs as small dots, its mean as a large one, with limits where they exist.

    ``means`` holds value, low and high; ``best_first`` puts the largest mean on top, else the smallest.
    """
    ax = new_axes(height=0.7 + 0.34 * len(runs)) if ax is None else ax
    names = list(runs)
    order = sorted(names, key=lambda name: -means[name][0] if best_first else means[name][0])
    for row, name in enumerate(order):
        colour = COLOURS[names.index(name) % len(COLOURS)]
        scores = np.array(runs[name], dtype=np.float64)
        scores = scores[np.isfinite(scores)]
        # runs with equal scores lie above each other, in the same places every time
        shift = 0.13 * (np.arange(scores.size) % 3 - 1)
        ax.plot(scores, row + shift, ".", color=colour, markersize=4.5, alpha=0.55, markeredgewidth=0)
        value, low, high = means[name]
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [row, row], color=colour, linewidth=1.8, solid_capstyle="round", zorder=3)
        ax.plot([value], [row], "D", color=colour, markersize=5.5, markeredgecolor="white", zorder=4)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_yticks(range(len(order)), [plain_text(shorten(name)) for name in order])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(plain_text(f"{score}: runs, their mean and its limits"))
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax
