"""The battery's findings as a figure: coverage, and how often the estimate falls below the truth ([T] figs. 3, 4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest.report.figures.curves import new_axes, open_frame, save_figure
from levelbest.report.figures.themes import COLOURS, DASHES
from levelbest.simulation.battery import Simulation, clopper_pearson

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_coverage(simulation: Simulation, ax: Axes | None = None) -> Axes:
    """Coverage of each interval against n with exact limits, the nominal one dashed, and P(estimate < truth) dotted."""
    ax = new_axes() if ax is None else ax
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
    ax.set_title(f"{simulation.plan.law.name}, {simulation.plan.n_trials} trials", fontsize=8, loc="left")
    ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax


def save_simulation(simulation: Simulation, path: Path) -> Path:
    """Draw and write as PNG, SVG or PDF."""
    return save_figure(draw_coverage(simulation).figure, path)
