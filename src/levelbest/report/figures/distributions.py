"""Distributions and the selection-reported scatter ([B] fig. 1): what the curves are made of, and descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.report.describe import Description
from levelbest.report.figures.curves import COLOURS, ONE_COLUMN, new_figure, open_frame, plain_text, shorten
from levelbest.trials import STATUSES, Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "o^sDvPX"
MOST_RUGS = 12
"""With more families the histograms alone are drawn: single trials could not be seen."""
_MOST_POINTS = 5000
"""Points of a description's scatter: beyond this, an evenly spread part of them is drawn, and the figure says so."""


def distribution_figure(trials: Trials) -> Figure:
    """Histograms, one row a family, and beside them reported against selection scores where the two are apart."""
    rows = len(trials.families)
    figure = new_figure(2 * ONE_COLUMN, max(2.2, min(0.55 * rows, 1.6 + 0.25 * rows) + 0.9))
    if trials.reported is None:
        _draw_histograms(trials, figure.add_subplot())
        return figure
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_histograms(trials, left)
    _draw_scatter(trials, trials.reported, right)
    if rows > 6:
        right.set_box_aspect(1.2)
        right.set_anchor("N")
    return figure


def _draw_histograms(trials: Trials, ax: Axes) -> None:
    """One histogram a family on a common scale, drawn as ridges; ticks below mark the single trials."""
    column = trials.selection if trials.reported is None else trials.reported
    ok = (trials.status == STATUSES.index("ok")) & np.isfinite(column)
    if not ok.any():
        ax.text(0.5, 0.5, "no trial has a score", transform=ax.transAxes, ha="center")
        return
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
    ax.set_xlabel(plain_text(trials.metric.score))
    open_frame(ax, without=("top", "right", "left"))


def _draw_scatter(trials: Trials, reported: FloatArray, ax: Axes) -> None:
    """Reported against selection score, one mark a trial."""
    ok = trials.status == STATUSES.index("ok")
    for i, _ in enumerate(trials.families):
        here = ok & (trials.family == i)
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


def descriptions_figure(descriptions: Sequence[Description]) -> Figure:
    """Each family's histogram, and reported against selection scores where both exist."""
    paired = any(description.pairs is not None for description in descriptions)
    columns = 2 if paired else 1
    figure = new_figure(ONE_COLUMN * columns, 1.7 * len(descriptions))
    axes = figure.subplots(len(descriptions), columns, squeeze=False)
    for i, own in enumerate(descriptions):
        colour = COLOURS[i % len(COLOURS)]
        left, right = axes[i, 0], axes[i, -1]
        if own.histogram.counts.size:
            left.stairs(own.histogram.counts, own.histogram.edges, fill=True, color=colour, alpha=0.8)
            left.axvline(own.median, color="0.2", linewidth=0.8)
        left.set_xlabel(plain_text(own.score))
        left.set_ylabel("trials")
        left.set_title(plain_text(own.family), fontsize=8, loc="left")
        if own.pairs is None:
            if paired:
                right.set_axis_off()
            continue
        step = -(-own.pairs[0].size // _MOST_POINTS)
        right.plot(own.pairs[0][::step], own.pairs[1][::step], ".", color=colour, markersize=3, alpha=0.6, mew=0)
        right.set_xlabel(plain_text(own.score))
        right.set_ylabel(plain_text(own.reported or ""))
        part = "" if step == 1 else f", one trial in {step} drawn"
        rho = f"Spearman {own.spearman:.2f}" if np.isfinite(own.spearman) else "Spearman undefined"
        right.set_title(f"{rho}{part}", fontsize=8, loc="left")
    return figure
