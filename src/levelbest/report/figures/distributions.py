"""Distributions: one row a family on a common axis, sorted by rank; reported against selection scores ([B] fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest.report.describe import Description
from levelbest.report.figures.curves import ONE_COLUMN, new_figure, open_frame, plain_text, shorten
from levelbest.trials import STATUSES, Trials
from levelbest.trials.colours import GREY, LIGHT, Hues, place_hues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "o^sDvPX"
MOST_RUGS = 12
"""With more families the histograms alone are drawn: single trials could not be seen."""
_MOST_POINTS = 5000
"""Points of a description's scatter: beyond this, an evenly spread part of them is drawn, and the figure says so."""


def distribution_figure(trials: Trials, order: Sequence[str], hues: Hues) -> Figure:
    """Histograms, one row a family in the ``order`` given, over the whole width; below them reported against selection
    scores where the two are apart."""
    rows = len(order)
    height = max(1.6, min(0.55 * rows, 1.6 + 0.25 * rows) + 0.6)
    if trials.reported is None:
        figure = new_figure(2 * ONE_COLUMN, height)
        _draw_histograms(trials, figure.add_subplot(), order, hues)
        return figure
    figure = new_figure(2 * ONE_COLUMN, height + 2.6)
    above, below = figure.subplots(2, 1, height_ratios=(height, 2.6))
    _draw_histograms(trials, above, order, hues)
    _draw_scatter(trials, trials.reported, below, order, hues)
    return figure


def _draw_histograms(trials: Trials, ax: Axes, order: Sequence[str], hues: Hues) -> None:
    """One histogram a family on a common scale, drawn as ridges; ticks below mark the single trials."""
    column = trials.selection if trials.reported is None else trials.reported
    ok = (trials.status == STATUSES.index("ok")) & np.isfinite(column)
    if not ok.any():
        ax.text(0.5, 0.5, "no trial has a score", transform=ax.transAxes, ha="center")
        return
    edges = np.histogram_bin_edges(column[ok], bins=min(40, max(10, int(np.sqrt(ok.sum()) * 2))))
    names = []
    for i, family in enumerate(order):
        scores = column[ok & (trials.family == trials.families.index(family))]
        base = -float(i)
        counts, _ = np.histogram(scores, edges)
        heights = 0.8 * counts / max(1, counts.max())
        colour = LIGHT[hues.get(family, GREY)]
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


def _draw_scatter(trials: Trials, reported: FloatArray, ax: Axes, order: Sequence[str], hues: Hues) -> None:
    """Reported against selection score, one mark a trial; grey ones first, so that they cover nothing."""
    ok = trials.status == STATUSES.index("ok")
    for family in sorted(order, key=lambda name: -hues.get(name, GREY)):
        here, hue = ok & (trials.family == trials.families.index(family)), hues.get(family, GREY)
        ax.plot(
            trials.selection[here],
            reported[here],
            linestyle="none",
            marker=_MARKERS[hue],
            markersize=3,
            alpha=0.5,
            color=LIGHT[hue],
            markeredgewidth=0,
            rasterized=True,
        )
    ax.set_xlabel(plain_text(trials.metric.selection))
    ax.set_ylabel(plain_text(trials.metric.reported or ""))
    open_frame(ax)


def descriptions_figure(descriptions: Sequence[Description]) -> Figure:
    """Each family's histogram, of the reported score where there is one ([B] figure 1), with the selection score as an
    outline; and reported against selection scores."""
    paired = any(description.pairs is not None for description in descriptions)
    columns = 2 if paired else 1
    figure = new_figure(ONE_COLUMN * columns, 1.7 * len(descriptions))
    axes = figure.subplots(len(descriptions), columns, squeeze=False)
    hues = place_hues([description.family for description in descriptions])
    for i, description in enumerate(descriptions):
        colour = LIGHT[hues[description.family]]
        left, right = axes[i, 0], axes[i, -1]
        shown = description if description.claimed is None else description.claimed
        if shown.histogram.counts.size:
            left.stairs(shown.histogram.counts, shown.histogram.edges, fill=True, color=colour, alpha=0.8)
            left.axvline(shown.median, color="0.2", linewidth=0.8)
        if description.claimed is not None and description.histogram.counts.size:
            label = plain_text(description.score)
            left.stairs(
                description.histogram.counts, description.histogram.edges, color="0.35", linestyle="--", label=label
            )
            left.legend(frameon=False, fontsize=6)
        left.set_xlabel(plain_text(shown.score))
        left.set_ylabel("trials")
        left.set_title(plain_text(description.family), fontsize=8, loc="left")
        if description.pairs is None:
            if paired:
                right.set_axis_off()
            continue
        step = -(-description.pairs[0].size // _MOST_POINTS)
        right.plot(
            description.pairs[0][::step],
            description.pairs[1][::step],
            ".",
            color=colour,
            markersize=3,
            alpha=0.6,
            mew=0,
        )
        right.set_xlabel(plain_text(description.score))
        right.set_ylabel(plain_text(description.reported or ""))
        part = "" if step == 1 else f", one trial in {step} drawn"
        rho = f"Spearman {description.spearman:.2f}" if np.isfinite(description.spearman) else "Spearman undefined"
        right.set_title(f"{rho}{part}", fontsize=8, loc="left")
    return figure
