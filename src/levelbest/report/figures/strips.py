"""Figures beside the curves: the winner's strip (who is certified best at which budget), families in rows, every run of
seeds, distributions and the selection-reported scatter ([B] fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import show_range
from levelbest.report.describe import Description
from levelbest.report.figures.curves import (
    COLOURS,
    LOG_FROM,
    ONE_COLUMN,
    figure_of,
    lay_out,
    new_axes,
    new_figure,
    open_frame,
    plain_text,
    set_budget_axis,
    shorten,
)
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison
from levelbest.results.verdict import Span, Strip, leading_spans
from levelbest.trials import STATUSES, Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from levelbest.report.figures.panels import Panel

Look = dict[str, Any]


def draw_strips(ax: Axes, strips: Sequence[Strip], names: Sequence[str], unit: str | None, axis: str) -> Axes:
    """One row a strip: a family's colour where it is best, hatched where undecided, dashed where nothing is compared.

    ``ax`` shares its budgets with the chart above; families have the colours of their places in ``names``.
    """
    limits = ax.get_xlim()
    drawn = []
    for row, strip in enumerate(strips):
        parts = _merged(strip.spans)
        # each from the middle between it and the one before to the middle between it and the next
        edges = [(before.end + after.start) / 2 for before, after in pairwise(parts)]
        for part, start, end in zip(parts, [parts[0].start, *edges], [*edges, parts[-1].end], strict=True):
            look: Look = {"facecolor": "0.94", "edgecolor": "0.8", "hatch": "/////", "linewidth": 0}
            if part.verdict in names:
                look = {"color": COLOURS[names.index(part.verdict) % len(COLOURS)], "linewidth": 0}
            elif part.verdict == NOT_COMPARABLE:
                look = {"facecolor": "none", "edgecolor": "0.8", "linestyle": (0, (3, 3)), "linewidth": 0.6}
            ax.barh(row, end - start, left=start, height=0.62, **look)
            drawn.append((row, part, start, end))
    ax.set_xlim(*limits)
    ax.set_ylim(len(strips) - 0.1, -0.5)
    labels = [shorten(strip.label) for strip in strips]
    ax.set_yticks(range(len(strips)) if any(labels) else [], labels if any(labels) else [], fontsize=6)
    ax.tick_params(length=0, labelbottom=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    lay_out(figure_of(ax))  # what fits into a part depends on its width
    for row, part, start, end in drawn:
        _write_part(ax, part, row, start, end, show_range(part.start, part.end, axis, unit, "–"))
    return ax


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Neighbours that look alike are one part: hatched grey does not say who may be the best."""
    parts: list[Span] = []
    for span in spans:
        if parts and parts[-1].verdict == span.verdict:
            parts[-1] = replace(parts[-1], end=span.end)
        else:
            parts.append(span)
    return parts


def _write_part(ax: Axes, part: Span, row: int, start: float, end: float, budgets: str) -> None:
    """The name within and the budgets below, where there is room for them."""
    places = ax.transData.transform([(start, row), (end, row)])
    width = 72 * (places[1][0] - places[0][0]) / figure_of(ax).dpi  # points
    middle = float(ax.transData.inverted().transform(places.mean(axis=0))[0])
    label = {NOT_COMPARABLE: "too few"}.get(part.verdict, part.verdict)
    ours = part.verdict != NOT_COMPARABLE and part.verdict != UNDECIDED
    ground = None if ours else {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.8}
    if width > 4.2 * len(label) + 4:
        look: Look = {"color": "white", "weight": "bold"} if ours else {"color": "0.35", "bbox": ground}
        ax.text(middle, row, plain_text(label), fontsize=6.5, ha="center", va="center_baseline", **look)
    if part.verdict != NOT_COMPARABLE and width > 3.6 * len(budgets):
        ax.text(middle, row + 0.42, budgets, color="0.35", fontsize=6, ha="center", va="top")


def standings_figure(comparison: Comparison, score: str | None = None) -> Figure | None:
    """A comparison at a glance: the strip of who is best over the budgets, and the families at one budget with limits.
    None where there is nothing to draw."""
    terms, rows, names = comparison.terms, comparison.standings, list(comparison.families)
    spans = leading_spans(comparison) if comparison.baseline is None else ()
    over_budgets = len(spans) > 0 and spans[0].start < spans[-1].end
    if not rows and not over_budgets:
        return None
    heights = [0.7] * over_budgets + [0.5 + 0.24 * len(rows)] * bool(rows)
    figure = new_figure(6.6, sum(heights))
    axes = list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    if rows:
        ax = axes[-1]
        for place, row in enumerate(rows):
            look = {"color": COLOURS[names.index(row.family) % len(COLOURS)]}
            if np.isfinite([row.low, row.high]).all():
                ax.plot([row.low, row.high], [place, place], linewidth=2.4, alpha=0.5, solid_capstyle="round", **look)
            ax.plot([row.value], [place], "o", markersize=5, **look)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_yticks(range(len(rows)), [plain_text(shorten(row.family)) for row in rows], fontsize=8)
        ax.tick_params(axis="both", length=0)
        budget, score = rows[0].budget, score or terms.metric.score
        words = terms.words
        at_one = f"{score} of {words.single}" if words.single else score
        what = at_one if budget == 1 else f"best {score} of {budget:g} {words.units}"
        ax.set_xlabel(plain_text(what), fontsize=8)
        open_frame(ax, without=("top", "right", "left"), grid="x")
    if over_budgets:
        ax = axes[0]
        ax.set_xlim(spans[0].start, spans[-1].end)
        set_budget_axis(ax, terms.over_cost, terms.cost_unit, log=spans[-1].end > LOG_FROM or terms.over_cost)
        ax.set_xlim(spans[0].start, spans[-1].end)
        what = "cost" if terms.over_cost else f"number of {terms.words.units}"
        ax.set_title(f"best of all by {what}", fontsize=7, loc="left", pad=2)
        draw_strips(ax, [Strip("", tuple(spans))], names, terms.cost_unit, terms.axis)
    return figure


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
        is_family = name in order
        colour = COLOURS[names.index(name) % len(COLOURS)] if is_family else "0.35"
        foot, head = (order.index(name) + 0.4, order.index(name) - 0.4) if is_family else (len(order) - 0.4, -0.6)
        ax.plot([value, value], [foot, head], color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        label = plain_text("published" if is_family else name)
        ax.annotate(label, (value, head), color=colour, fontsize=6, ha="center", va="bottom", annotation_clip=False)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_yticks(range(len(order)), [plain_text(shorten(name)) for name in order])
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(plain_text(f"{panel.score}: {panel.lines[0].words.units}, their mean and its limits"))
    open_frame(ax, without=("top", "right", "left"), grid="x")
    return ax


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
    """Each family's histogram, of the reported score where there is one ([B] figure 1), with the selection score as an
    outline; and reported against selection scores."""
    paired = any(description.pairs is not None for description in descriptions)
    columns = 2 if paired else 1
    figure = new_figure(ONE_COLUMN * columns, 1.7 * len(descriptions))
    axes = figure.subplots(len(descriptions), columns, squeeze=False)
    for i, description in enumerate(descriptions):
        colour = COLOURS[i % len(COLOURS)]
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
