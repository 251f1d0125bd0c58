"""What the battery finds, drawn: coverage, and how often the estimate falls below the truth ([T] figs. 3, 4); and three
ways to sum up m experiments ([B] figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import COLOURS, DASHES, new_axes, open_frame
from levelbest.simulation.battery import Simulation, clopper_pearson
from levelbest.simulation.summaries import BEST_OF_N, SUMMARIES, Summaries

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_coverage(simulation: Simulation) -> Axes:
    """Coverage of each interval against n with exact limits, the nominal one dashed, and P(estimate < truth) dotted."""
    ax = new_axes()
    n = np.array(simulation.plan.n)
    for i, method in enumerate(simulation.plan.methods):
        share = simulation.covered[method]
        limits = np.array([clopper_pearson(covered, simulation.n_samples) for covered in share])
        colour = COLOURS[i % len(COLOURS)]
        ax.plot(n, share, color=colour, linestyle=DASHES[i % len(DASHES)], marker="o", markersize=3, label=method)
        ax.fill_between(n, limits[:, 0], limits[:, 1], color=colour, alpha=0.18, linewidth=0)
    ax.plot(n, simulation.below_truth, color="0.4", linestyle=":", label=f"P({simulation.plan.estimator} < truth)")
    ax.axhline(simulation.plan.confidence, color="0.3", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.axhline(0.5, color="0.8", linewidth=0.6)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("n")
    ax.set_ylabel("share of samples")
    ax.set_title(f"{simulation.plan.distribution.name}, {simulation.plan.n_trials} trials", fontsize=8, loc="left")
    ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax


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
