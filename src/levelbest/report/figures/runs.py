"""Every run of every family on one scale, with the mean of a new run and its limits: the picture of seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.report.figures.curves import new_axes, own_style, plain_text, save_figure, shorten
from levelbest.report.figures.themes import COLOURS
from levelbest.results import Comparison
from levelbest.trials import Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_runs", "every_run", "save_runs"]


def draw_runs(
    runs: Mapping[str, Sequence[float] | FloatArray],
    means: Mapping[str, tuple[float, float, float]],
    ax: Axes | None = None,
    *,
    score: str = "score",
    best_first: bool = True,
    published: Mapping[str, float] | None = None,
) -> Axes:
    """One row a family: its runs as small dots, its mean as a large one, with limits where they exist.

    ``means`` holds value, low and high; ``best_first`` puts the largest mean on top, else the smallest. ``published``
    scores are dashed lines, those of a family within its row and in its colour.
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
    for name, value in (published or {}).items():
        own = name in order
        colour = COLOURS[names.index(name) % len(COLOURS)] if own else "0.35"
        foot, head = (order.index(name) + 0.4, order.index(name) - 0.4) if own else (len(order) - 0.4, -0.6)
        ax.plot([value, value], [foot, head], color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        label = plain_text("published" if own else name)
        ax.annotate(label, (value, head), color=colour, fontsize=6, ha="center", va="bottom", annotation_clip=False)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_yticks(range(len(order)), [plain_text(shorten(name)) for name in order])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(plain_text(f"{score}: runs, their mean and its limits"))
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def save_runs(
    trials: Trials, comparison: Comparison, path: Path, *, published: Mapping[str, float] | None = None
) -> Path:
    """Every run with the means that were compared, as PNG, SVG or PDF by the path's ending."""
    runs, metric = every_run(trials, comparison), comparison.terms.metric
    means = {own.family: (own.value, own.low, own.high) for own in comparison.standings}
    with own_style():
        best_first = metric.direction == "max"
        ax = draw_runs(runs, means, score=metric.score, best_first=best_first, published=published)
        return save_figure(ax.figure, path)


def every_run(trials: Trials, comparison: Comparison) -> dict[str, FloatArray]:
    """The scores of the runs that were compared, by family."""
    settings = comparison.terms.settings
    return {
        name: trials[name].scores(settings.failed, missing=settings.missing).curve_of for name in comparison.families
    }
