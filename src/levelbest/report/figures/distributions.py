"""Distributions and the selection-reported scatter ([B] fig. 1): what the curves are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest.report.figures.curves import ONE_COLUMN, new_figure, open_frame, plain_text, shorten
from levelbest.report.figures.themes import COLOURS
from levelbest.trials import STATUSES, Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "o^sDvPX"
MOST_RUGS = 12
"""With more families the histograms alone are drawn: single trials could not be seen."""


def distribution_figure(trials: Trials, *, width: float = 2 * ONE_COLUMN) -> Figure:
    """Histograms, one row a family, and beside them reported against selection scores where the two are apart."""
    rows = len(trials.families)
    figure = new_figure(width, max(2.2, min(0.55 * rows, 1.6 + 0.25 * rows) + 0.9))
    if trials.reported is None:
        draw_distributions(trials, figure.add_subplot())
        return figure
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    draw_distributions(trials, left)
    draw_scatter(trials, right)
    if rows > 6:
        right.set_box_aspect(1.2)
        right.set_anchor("N")
    return figure


def draw_distributions(trials: Trials, ax: Axes) -> Axes:
    """One histogram a family on a common scale, drawn as ridges; ticks below mark the single trials."""
    name = trials.metric.reported or trials.metric.selection
    column = trials.selection if trials.reported is None else trials.reported
    ok = (trials.status == STATUSES.index("ok")) & np.isfinite(column)
    if not ok.any():
        ax.text(0.5, 0.5, "no trial has a score", transform=ax.transAxes, ha="center")
        return ax
    edges = np.histogram_bin_edges(column[ok], bins=min(40, max(10, int(np.sqrt(ok.sum()) * 2))))
    names = []
    for i, family in enumerate(trials.families):
        scores = column[ok & (trials.family == i)]
        base = -float(i)
        counts, _ = np.histogram(scores, edges)
        heights = 0.8 * counts / max(1, counts.max())
        colour = COLOURS[i % len(COLOURS)]
        ax.stairs(base + heights, edges, baseline=base, fill=True, color=colour, alpha=0.55, lw=0)
        if len(trials.families) <= MOST_RUGS:
            ticks = np.full(scores.size, base - 0.06)
            ax.plot(scores, ticks, "|", color=colour, markersize=4, alpha=0.5, mew=0.6, rasterized=True)
        failed = trials[family].n_failed
        names.append(plain_text(shorten(family, 22)) + (f"\n{failed} failed" if failed else ""))
    ax.set_yticks([0.3 - i for i in range(len(names))], names, fontsize=7)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(plain_text(name))
    open_frame(ax, without=("top", "right", "left"))
    return ax


def draw_scatter(trials: Trials, ax: Axes) -> Axes:
    """Reported against selection score, one mark a trial."""
    ok = trials.status == STATUSES.index("ok")
    for i, _ in enumerate(trials.families):
        here = ok & (trials.family == i)
        reported: Any = trials.reported
        ax.plot(
            trials.selection[here],
            reported[here],
            linestyle="none",
            marker=_MARKERS[i % len(_MARKERS)],
            markersize=3,
            alpha=0.5,
            color=COLOURS[i % len(COLOURS)],
            markeredgewidth=0,
            rasterized=True,
        )
    ax.set_xlabel(plain_text(trials.metric.selection))
    ax.set_ylabel(plain_text(trials.metric.reported or ""))
    open_frame(ax)
    return ax
