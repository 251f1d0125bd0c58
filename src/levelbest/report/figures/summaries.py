"""Three ways to sum up m experiments, drawn as [B] figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import new_axes, open_frame
from levelbest.report.figures.themes import COLOURS, DASHES
from levelbest.simulation.summaries import BEST_OF_N, SUMMARIES, Summaries

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_summaries(summaries: Summaries, ax: Axes | None = None, *, score: str = "score") -> Axes:
    """Each summary's mean against the number of experiments, with the limits that hold 95 % of the samples."""
    ax = new_axes() if ax is None else ax
    for i, name in enumerate(SUMMARIES):
        known = np.isfinite(summaries.mean[name])
        size = summaries.sizes[known]
        label = f"expected best of {summaries.n}" if name == BEST_OF_N else name
        ax.fill_between(
            size, summaries.low[name][known], summaries.high[name][known], color=COLOURS[i], alpha=0.15, linewidth=0
        )
        ax.plot(size, summaries.mean[name][known], color=COLOURS[i], linestyle=DASHES[i], label=label)
    ax.set_xlabel("experiments run")
    ax.set_ylabel(score)
    ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax
