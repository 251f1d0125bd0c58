"""Results drawn on a matplotlib Axes that the caller owns: Axes in, Axes out, and no style changed. And the report's
figure of differences, one panel a pair."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.report.figures.curves import (
    COLOURS,
    ONE_COLUMN,
    figure_of,
    label_ends,
    line_style,
    new_axes,
    new_figure,
    open_frame,
    own_style,
    plain_text,
    save_figure,
    score_of,
    set_budget_axis,
    set_score_label,
    shorten,
    statistic_words,
)
from levelbest.report.view import line_of
from levelbest.results import Comparison, Curve, FamilyCostCurve, FamilyVariance, PairComparison, TrialPlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MOST_PAIRS = 6
"""More difference curves than this cannot be told apart: those of the leading family are drawn."""
Style = Mapping[str, object]
"""How lines are drawn, as of ``Axes.plot``."""
_LONG = {"c": "color", "ls": "linestyle", "lw": "linewidth", "ms": "markersize"}
_APART = 0.22
"""Between families, where sources of variance are one apart."""


def draw_curves(
    ax: Axes | None,
    curves: Sequence[Curve | FamilyCostCurve],
    *,
    bands: bool = True,
    log: bool = True,
    at_ends: bool | None = None,
    style: Style = MappingProxyType({}),
) -> Axes:
    """The best score against the budget, one line a curve with its band, on a new figure where no Axes is given.

    Curves drawn earlier on the same Axes stay, and colours go on from them. Names stand at the ends of the lines on a
    new figure, or where asked for; else in a legend. A band that is much wider than the curves does not stretch the
    picture.
    """
    at_ends = ax is None if at_ends is None else at_ends
    ax = _given(ax)
    for i, curve in enumerate(map(line_of, curves), len(_labelled(ax))):
        colour, dash = line_style(i)
        x, value, low, high = map(np.array, (curve.x, curve.value, curve.low, curve.high))
        known = np.isfinite(value)
        look = styled(style, color=colour, linestyle=dash, linewidth=1.8, label=curve.family)
        (line,) = ax.plot(x[known], value[known], **look)
        if bands:
            _shade(ax, x, value, low, high, line.get_color())
    first, drawn = curves[0], line_of(curves[0])
    set_budget_axis(ax, drawn.over_cost, first.cost_unit, log, first.words)
    open_frame(ax)
    set_score_label(ax, statistic_words(drawn.statistic), score_of(first) if isinstance(first, Curve) else first.score)
    lines = _labelled(ax)
    if at_ends:
        ends = [(float(x), float(y)) for x, y in (np.asarray(line.get_xydata())[-1] for line in lines)]
        styles = [(line.get_color(), line.get_linestyle()) for line in lines]
        label_ends(ax, [str(line.get_label()) for line in lines], ends, styles)
    elif len(lines) > 1:
        ax.legend(frameon=False)
    return ax


def draw_comparison(
    ax: Axes | None,
    comparison: Comparison,
    *,
    score: str | None = None,
    bands: bool = True,
    log: bool = True,
    style: Style = MappingProxyType({}),
) -> Axes:
    """Differences between families with their limits, above zero where the first is better.

    Budgets with a verdict are drawn thick. Where there is one budget, as for seeds, each pair is a row with its limits.
    Of more than six pairs those of the leading family are drawn.
    """
    ax = _given(ax)
    score, pairs = score or comparison.terms.metric.score, _shown(comparison)
    if all(pair.budget.size == 1 for pair in pairs):
        return _draw_rows(ax, pairs, comparison, score, style)
    return draw_pairs(ax, pairs, score=score, bands=bands, log=log, style=style)


def draw_pairs(
    ax: Axes,
    pairs: Sequence[PairComparison],
    *,
    score: str = "score",
    bands: bool = True,
    log: bool = False,
    names: Sequence[str] = (),
    style: Style = MappingProxyType({}),
) -> Axes:
    """First minus second, above zero the first is better. Budgets at which that is certified are drawn thick: in the
    winner's colour, by its place among ``names``, or in the line's."""
    ax.axhline(0, color="0.3", linewidth=0.8)
    for i, pair in enumerate(pairs):
        colour, dash = ("#666666", "-") if names else line_style(i)
        known = np.isfinite(pair.low) & np.isfinite(pair.high)
        x, value = np.asarray(pair.budget, dtype=np.float64)[known], pair.difference[known]
        if not x.size:
            continue
        label = plain_text(f"{shorten(pair.families[0])} − {shorten(pair.families[1])}")
        (line,) = ax.plot(x, value, **styled(style, color=colour, linestyle=dash, linewidth=1.2, label=label))
        colour = str(line.get_color())
        if bands:
            _shade(ax, x, value, pair.low[known], pair.high[known], colour)
        verdicts = np.array([pair.verdict_at(float(budget)) for budget in x])
        for winners in [[name] for name in pair.families] if names else [pair.families]:
            won = np.isin(verdicts, winners)
            shade = COLOURS[names.index(winners[0]) % len(COLOURS)] if names else colour
            ax.plot(np.where(won, x, np.nan), np.where(won, value, np.nan), color=shade, linewidth=3)
    terms = pairs[0].terms
    set_budget_axis(ax, terms.over_cost, terms.cost_unit, log, terms.words)
    open_frame(ax)
    set_score_label(ax, "difference in", score)
    if _labelled(ax):
        ax.legend(frameon=False, fontsize="small")
    return ax


def _shown(comparison: Comparison) -> list[PairComparison]:
    """The pairs to draw, the leading family first in each."""
    order = [standing.family for standing in comparison.standings] or list(comparison.families)
    pairs = [
        pair if order.index(pair.families[0]) < order.index(pair.families[1]) else pair.mirrored()
        for pair in comparison.pairs
    ]
    pairs.sort(key=lambda pair: [order.index(name) for name in pair.families])
    if len(pairs) <= MOST_PAIRS or all(pair.budget.size == 1 for pair in pairs):
        return pairs
    of_leader = [pair for pair in pairs if order[0] in pair.families]
    return (of_leader or pairs)[:MOST_PAIRS]


def _draw_rows(ax: Axes, pairs: Sequence[PairComparison], comparison: Comparison, score: str, style: Style) -> Axes:
    """One row a pair: the difference with its limits, in the colour of the better family."""
    ax.axvline(0, color="0.3", linewidth=0.8)
    families = list(comparison.families)
    for row, pair in enumerate(pairs):
        verdict = pair.verdict_at(float(pair.budget[0]))
        colour = COLOURS[families.index(verdict) % len(COLOURS)] if verdict in families else "0.55"
        value, low, high = (float(column[0]) for column in (pair.difference, pair.low, pair.high))
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [row, row], **styled(style, color=colour, linewidth=2, solid_capstyle="round"))
        if np.isfinite(value):
            ax.plot([value], [row], **styled(style, color=colour, marker="o", linestyle="none", markersize=6))
    ax.set_ylim(len(pairs) - 0.5, -0.5)
    names = [plain_text(f"{shorten(pair.families[0], 20)} − {shorten(pair.families[1], 20)}") for pair in pairs]
    ax.set_yticks(range(len(pairs)), names)
    ax.set_xlabel(plain_text(f"difference in {score}, above zero the first is better"))
    open_frame(ax)
    return ax


def _given(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    # pyplot keeps every figure of its own until it is closed: for whoever shows them with it, and for nobody else.
    pyplot = sys.modules.get("matplotlib.pyplot")
    new: Axes = (Figure if pyplot is None else pyplot.figure)(layout="constrained").add_subplot()
    return new


def styled(style: Style, **usual: object) -> dict[str, Any]:
    """How a line is drawn: as asked for, else as usual; matplotlib's short names count as the long ones."""
    given = {_LONG.get(name, name): value for name, value in style.items()}
    return {**usual, **given}


def _labelled(ax: Axes) -> list[Line2D]:
    """The lines that have names."""
    return [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]


def _shade(
    ax: Axes, x: FloatArray | IntArray, value: FloatArray, low: FloatArray, high: FloatArray, colour: str
) -> None:
    """A band that stretches the picture by the height of its curve at most, or by its own usual width."""
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return
    before = ax.dataLim.frozen()
    ax.fill_between(x, low, high, where=known, color=colour, alpha=0.18, linewidth=0)
    ax.dataLim.set(before)
    bottom, top = float(np.nanmin(value)), float(np.nanmax(value))
    room = max(top - bottom, float(np.median((high - low)[known])))
    kept = np.clip(np.r_[low[known], high[known]], bottom - room, top + room)
    ax.update_datalim(np.column_stack([np.r_[x[known], x[known]], kept]))
    ax.autoscale_view()


def difference_figure(
    pairs: Sequence[PairComparison],
    best: str | None = None,
    *,
    score: str = "score",
    log: bool = False,
    names: Sequence[str] = (),
) -> Figure | None:
    """One panel a pair on common axes, None where no pair has limits to draw. Of more than six, those of the ``best``
    family, its closest rivals first."""
    shown = [pair for pair in pairs if np.isfinite(pair.low).any() and np.isfinite(pair.high).any()]
    if not shown:
        return None
    if len(shown) > MOST_PAIRS:
        of_best = [pair if pair.families[0] == best else pair.mirrored() for pair in shown if best in pair.families]
        shown = sorted(of_best or shown, key=lambda pair: abs(pair.difference[np.isfinite(pair.difference)][-1]))
        shown = shown[:MOST_PAIRS]
    if len(shown) == 1:
        return figure_of(draw_pairs(new_axes(), shown, score=score, log=log, names=names))
    columns = 2 if len(shown) in (2, 4) else 3
    rows = -(-len(shown) // columns)
    figure = new_figure(2 * ONE_COLUMN, 0.5 + 1.75 * rows)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, ax in enumerate(axes.ravel()):
        if k >= len(shown):
            ax.set_axis_off()
            continue
        draw_pairs(ax, [shown[k]], score=score, log=log, names=names)
        ax.get_legend().remove()
        first, second = (plain_text(shorten(name, 20)) for name in shown[k].families)
        ax.set_title(
            f"{first} −\n{second}" if len(first + second) > 26 else f"{first} − {second}", fontsize=7, loc="left"
        )
        if k % columns:
            ax.set_ylabel("")
        if k + columns < len(shown):
            ax.set_xlabel("")
        else:
            ax.tick_params(labelbottom=True)
    return figure


def draw_variances(
    ax: Axes | None, variances: Sequence[FamilyVariance], *, style: Style = MappingProxyType({})
) -> Axes:
    """A point with limits for every source, families side by side."""
    ax = new_axes() if ax is None else ax
    names = list(dict.fromkeys(source.name for variance in variances for source in variance.sources))
    middle = (len(variances) - 1) / 2
    for place, variance in enumerate(variances):
        colour = COLOURS[place % len(COLOURS)]
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
    ax: Axes | None, plan: TrialPlan, *, bands: bool = True, log: bool = True, style: Style = MappingProxyType({})
) -> Axes:
    """The chance to tell each pair apart against what its units cost, those there are included; against their number
    where costs are not known. A dot is where the pilot stands, the dashed line the chance wanted."""
    ax = _given(ax)
    for i, (first, second, needed) in enumerate(plan.separations):
        if needed.source is None:
            continue
        colour, dash = line_style(i)
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
    if _labelled(ax):
        ax.legend(frameon=False, fontsize="small")
    open_frame(ax)
    return ax


def save_plan(plan: TrialPlan, path: Path) -> Path:
    """Write the picture of a plan as PNG, SVG or PDF, by the path's ending."""
    if all(needed.source is None for *_, needed in plan.separations):
        raise InputError("a picture of power is of two families that can be planned for, and here are none")
    with own_style():
        return save_figure(figure_of(draw_plan(new_axes(), plan)), path)
