"""Descriptions as a figure: each family's histogram, and reported against selection scores where both exist."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from levelbest.report.describe import Description
from levelbest.report.figures.curves import ONE_COLUMN, new_figure, plain_text, save_figure
from levelbest.report.figures.themes import COLOURS

_MOST = 5000
"""Points of a scatter: beyond this, an evenly spread part of them is drawn, and the figure says so."""


def save_descriptions(descriptions: Sequence[Description], path: Path) -> Path:
    """Write the figure as PNG, SVG or PDF by the path's ending."""
    paired = any(description.pairs is not None for description in descriptions)
    columns = 2 if paired else 1
    figure = new_figure(ONE_COLUMN * columns, 1.7 * len(descriptions))
    axes = figure.subplots(len(descriptions), columns, squeeze=False)
    for i, own in enumerate(descriptions):
        colour = COLOURS[i % len(COLOURS)]
        left = axes[i, 0]
        if own.histogram.counts.size:
            left.stairs(own.histogram.counts, own.histogram.edges, fill=True, color=colour, alpha=0.8)
            left.axvline(own.median, color="0.2", linewidth=0.8)
        left.set_xlabel(plain_text(own.score))
        left.set_ylabel("trials")
        left.set_title(plain_text(own.family), fontsize=8, loc="left")
        if not paired:
            continue
        right = axes[i, 1]
        if own.pairs is None:
            right.set_axis_off()
            continue
        step = -(-own.pairs[0].size // _MOST)
        right.plot(own.pairs[0][::step], own.pairs[1][::step], ".", color=colour, markersize=3, alpha=0.6, mew=0)
        right.set_xlabel(plain_text(own.score))
        right.set_ylabel(plain_text(own.reported or ""))
        part = "" if step == 1 else f", one trial in {step} drawn"
        rho = f"Spearman {own.spearman:.2f}" if np.isfinite(own.spearman) else "Spearman undefined"
        right.set_title(f"{rho}{part}", fontsize=8, loc="left")
    return save_figure(figure, path)
