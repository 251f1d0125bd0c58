"""Results drawn on a matplotlib Axes that the caller owns: Axes in, Axes out, and no style changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from levelbest.errors import InputError
from levelbest.report.figures.curves import (
    Colours,
    LineLook,
    figure_of,
    given_axes,
    label_ends,
    labelled,
    line_style,
    new_axes,
    open_frame,
    own_style,
    plain_text,
    save_figure,
    score_of,
    set_budget_axis,
    set_score_label,
    shorten,
    statistic_words,
    styled,
)
from levelbest.report.figures.verdicts import shade
from levelbest.report.view import line_of
from levelbest.results import Curve, FamilyCostCurve, FamilyVariance, TrialPlan
from levelbest.trials.colours import GREY, LIGHT, place_hues

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 0.22
"""Between families, where sources of variance are one apart."""


def draw_curves(
    ax: Axes | None,
    curves: Sequence[Curve | FamilyCostCurve],
    *,
    bands: bool = True,
    log: bool = True,
    at_ends: bool | None = None,
    colors: Colours = MappingProxyType({}),
    style: LineLook = MappingProxyType({}),
) -> Axes:
    """The best score against the budget, one line a curve with its band, on a new figure where no Axes is given.

    Curves drawn earlier on the same Axes stay; a colour that one of them has is not used again. Names stand
    at the ends of the lines on a new figure, or where asked for; else in a legend. A band that is much wider than the
    curves does not stretch the picture.
    """
    at_ends = ax is None if at_ends is None else at_ends
    ax = given_axes(ax)
    for result, curve in zip(curves, map(line_of, curves), strict=True):
        colour, dash = line_style(_free_hue(ax, result.hue))
        colour = colors.get(curve.family, colour)
        x, value, low, high = map(np.array, (curve.x, curve.value, curve.low, curve.high))
        known = np.isfinite(value)
        look = styled(style, color=colour, linestyle=dash, linewidth=1.8, label=curve.family)
        (line,) = ax.plot(x[known], value[known], **look)
        if bands:
            shade(ax, x, value, low, high, line.get_color())
    first, drawn = curves[0], line_of(curves[0])
    set_budget_axis(ax, drawn.over_cost, first.cost_unit, log, first.words)
    open_frame(ax)
    score = score_of(first) if isinstance(first, Curve) else first.score
    set_score_label(ax, statistic_words(drawn.statistic, first.words), score)
    lines = labelled(ax)
    if at_ends:
        ends = [(float(x), float(y)) for x, y in (np.asarray(line.get_xydata())[-1] for line in lines)]
        styles = [(line.get_color(), line.get_linestyle()) for line in lines]
        label_ends(ax, [str(line.get_label()) for line in lines], ends, styles)
    elif len(lines) > 1:
        ax.legend(frameon=False)
    return ax


def _free_hue(ax: Axes, hue: int | None) -> int:
    """A family's place in the palette, or the next where a line of the Axes has that colour already."""
    taken = [line.get_color() for line in labelled(ax)]
    if hue == GREY or (hue is not None and LIGHT[hue] not in taken):
        return hue
    return next((place for place in range(GREY) if LIGHT[place] not in taken), GREY)


def draw_variances(
    ax: Axes | None, variances: Sequence[FamilyVariance], *, style: LineLook = MappingProxyType({})
) -> Axes:
    """A point with limits for every source, families side by side."""
    ax = new_axes() if ax is None else ax
    names = list(dict.fromkeys(source.name for variance in variances for source in variance.sources))
    middle = (len(variances) - 1) / 2
    hues = place_hues([variance.family for variance in variances])
    for place, variance in enumerate(variances):
        colour = LIGHT[hues[variance.family]]
        for source in variance.sources:
            x = names.index(source.name) + _APART * (place - middle)
            ends = np.sqrt(np.maximum([source.low, source.high], 0.0))
            ax.plot([x, x], ends, **styled(style, color=colour, linewidth=1.5))
            label = variance.family if source is variance.sources[0] else None
            look = {"marker": "o", "markersize": 5, "color": colour, "linestyle": "none", "label": label}
            ax.plot([x], [source.sd], **styled(style, **look))
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(bottom=0)
    set_score_label(ax, "standard deviation of", variances[0].score)
    if len(variances) > 1:
        ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax


def draw_plan(
    ax: Axes | None, plan: TrialPlan, *, bands: bool = True, log: bool = True, style: LineLook = MappingProxyType({})
) -> Axes:
    """The chance to tell each pair apart against what its units cost, those there are included; against their number
    where costs are not known. A dot is where the pilot stands, the dashed line the chance wanted."""
    ax = given_axes(ax)
    for i, (first, second, needed) in enumerate(plan.separations):
        if needed.source is None:
            continue
        colour, dash = line_style(i % GREY)
        most = max(needed.pilot)
        end = min(max(10 * most, 1.5 * needed.needed), 100 * most) if math.isfinite(needed.needed) else 30 * most
        units = np.geomspace(max(min(needed.pilot) / 2, 2), end, 60)
        x = plan.cost_of(first, second, 1.0) * units if plan.costs else units
        mean, low, high = needed.power_at(units)
        label = plain_text(f"{shorten(first)} and {shorten(second)}")
        (line,) = ax.plot(x, mean, **styled(style, color=colour, linestyle=dash, linewidth=1.8, label=label))
        if bands:
            ax.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        here = np.array([float(min(needed.pilot))])
        ax.plot(here * x[0] / units[0], needed.power_at(here)[0], "o", color=line.get_color(), markersize=5)
    ax.axhline(plan.power, color="0.3", linewidth=0.8, linestyle="--")
    ax.set_ylim(0, 1)
    if log:
        ax.set_xscale("log")
    what = f"cost of both families ({plan.cost_unit})" if plan.costs else f"{plan.words.units} of each family"
    ax.set_xlabel(plain_text(what))
    ax.set_ylabel("chance to tell them apart")
    if labelled(ax):
        ax.legend(frameon=False, fontsize="small")
    open_frame(ax)
    return ax


def save_plan(plan: TrialPlan, path: Path) -> Path:
    """Write the picture of a plan as PNG, SVG or PDF, by the path's ending."""
    if all(needed.source is None for *_, needed in plan.separations):
        raise InputError("a power plot needs two families for which a plan exists, and there are none")
    with own_style():
        return save_figure(figure_of(draw_plan(new_axes(), plan)), path)
