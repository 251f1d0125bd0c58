"""Pictures of a verdict: who is best over the budgets (ribbon), the families at one budget (forest), and differences of
pairs over the budgets or in rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest._plain import show_range
from levelbest.report.figures.curves import (
    DASHES,
    LOG_FROM,
    ONE_COLUMN,
    Colours,
    LineLook,
    colour_of,
    figure_of,
    fit_label,
    given_axes,
    labelled,
    lay_out,
    name_rows,
    new_axes,
    new_figure,
    open_frame,
    plain_text,
    set_budget_axis,
    set_score_label,
    shorten,
    side_by_side,
    styled,
)
from levelbest.report.figures.runs import draw_limits
from levelbest.report.figures.spending import draw_pareto
from levelbest.report.words.phrases import listed
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison, PairComparison
from levelbest.results.verdict import Span, Strip, leading_spans, strips_of_pairs
from levelbest.trials.colours import GREY, LIGHT, Hues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PAIRS_DRAWN = 6
"""More difference curves than this cannot be told apart: those of the leading family are drawn."""
PLOT_KINDS = ("difference", "ribbon", "forest", "pareto")
_UNDECIDED = LIGHT[GREY]
DrawOptions = dict[str, Any]
MOST_STRIPES = 3
"""Of more contenders than this the stripes could not be told apart: such a part is hatched in grey."""
_STRIPE = 4.0  # points
_STEPS = 8  # in which a band fades out


def draw_comparison(
    ax: Axes | None,
    comparison: Comparison,
    *,
    kind: str = "difference",
    score: str | None = None,
    bands: bool = True,
    log: bool = True,
    colors: Colours = MappingProxyType({}),
    style: LineLook = MappingProxyType({}),
) -> Axes:
    """Differences between families with their limits, above zero where the first is better; or, by ``kind``, who is
    best at which budget, the families at one budget, or their scores against what a solved problem costs.

    Budgets with a verdict are drawn thick, in the winner's colour. Where there is one budget, as for seeds, each pair
    is a row with its limits. Of more than six pairs those of the leading family are drawn.
    """
    _check.as_choice(kind, PLOT_KINDS, "kind")
    ax = given_axes(ax)
    score, pairs = score or comparison.terms.metric.score, _shown(comparison)
    one_budget = all(pair.budget.size == 1 for pair in pairs)
    if kind == "forest" or (kind == "ribbon" and one_budget):  # of one budget the forest is the ribbon
        return draw_forest(ax, comparison, score, bands=bands, colors=colors, style=style)
    if kind == "pareto":
        return draw_pareto(ax, comparison, score, bands=bands, colors=colors, style=style)
    if kind == "ribbon":
        return draw_ribbon(ax, comparison, log=log, colors=colors)
    if one_budget:
        return _draw_rows(ax, pairs, comparison, score, colors, style)
    return draw_pairs(ax, pairs, score=score, bands=bands, log=log, hues=comparison.hues, colors=colors, style=style)


def draw_ribbon(ax: Axes, comparison: Comparison, *, log: bool = True, colors: Colours = MappingProxyType({})) -> Axes:
    """Who is best at which budget: a family's colour where it is, stripes of those who may be, dashed where nothing can
    be compared; against a baseline a row for each rival."""
    terms, strips = comparison.terms, strips_of_pairs(comparison.pairs, comparison.families)
    first, last = strips[0].spans[0].start, strips[0].spans[-1].end
    ax.set_xlim(first, last)
    set_budget_axis(ax, terms.over_cost, terms.cost_unit, log=log and last > LOG_FROM and first > 0, words=terms.words)
    ax.set_xlim(first, last)
    looks = {name: colour_of(name, comparison.hues, colors) for name in comparison.families}
    return draw_strips(ax, strips, looks, terms.cost_unit, terms.axis, labelled=True)


def draw_forest(
    ax: Axes,
    comparison: Comparison,
    score: str,
    *,
    bands: bool = True,
    colors: Colours = MappingProxyType({}),
    style: LineLook = MappingProxyType({}),
) -> Axes:
    """The families at one budget, the best first: each value with its interval; an end that does not exist is open."""
    rows, words = comparison.standings, comparison.terms.words
    for place, row in enumerate(rows):
        look = styled(style, color=colour_of(row.family, comparison.hues, colors))
        if bands:
            draw_limits(ax, place, row.value, row.low, row.high, str(look["color"]))
        ax.plot([row.value], [place], **{"marker": "o", "markersize": 5, "linestyle": "none", **look})
    ax.set_ylim(len(rows) - 0.5, -0.5)
    name_rows(ax, [row.family for row in rows], [colour_of(row.family, comparison.hues, colors) for row in rows])
    if rows:
        budget, at_one = rows[0].budget, f"{score} of {words.single}" if words.single else score
        ax.set_xlabel(plain_text(at_one if budget == 1 else f"best {score} of {budget:g} {words.units}"))
    open_frame(ax, without=("top", "right", "left"), grid="x")
    return ax


def draw_pairs(
    ax: Axes,
    pairs: Sequence[PairComparison],
    *,
    score: str = "score",
    bands: bool = True,
    log: bool = False,
    hues: Hues = MappingProxyType({}),
    colors: Colours = MappingProxyType({}),
    style: LineLook = MappingProxyType({}),
) -> Axes:
    """First minus second, above zero the first is better: grey where that is undecided, thick and in the winner's
    colour where it is decided. Several lines differ by their dashes."""
    ax.axhline(0, color="0.3", linewidth=0.8)
    for i, pair in enumerate(pairs):
        colour, dash = _UNDECIDED, DASHES[i % GREY]
        known = np.isfinite(pair.low) & np.isfinite(pair.high)
        x, value = np.asarray(pair.budget, dtype=np.float64)[known], pair.difference[known]
        if not x.size:
            continue
        label = plain_text(f"{shorten(pair.families[0])} − {shorten(pair.families[1])}")
        (line,) = ax.plot(x, value, **styled(style, color=colour, linestyle=dash, linewidth=1.2, label=label))
        colour = str(line.get_color())
        if bands:
            shade(ax, x, value, pair.low[known], pair.high[known], colour)
        verdicts = np.array([pair.verdict_at(float(budget)) for budget in x])
        for name in pair.families:
            won = verdicts == name
            if won.any():
                winner = colour_of(name, hues, colors)
                ax.plot(np.where(won, x, np.nan), np.where(won, value, np.nan), color=winner, linewidth=3)
    terms = pairs[0].terms
    set_budget_axis(ax, terms.over_cost, terms.cost_unit, log, terms.words)
    open_frame(ax)
    set_score_label(ax, "difference in", score)
    if labelled(ax):
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
    if len(pairs) <= MOST_PAIRS_DRAWN or all(pair.budget.size == 1 for pair in pairs):
        return pairs
    of_leader = [pair for pair in pairs if order[0] in pair.families]
    return (of_leader or pairs)[:MOST_PAIRS_DRAWN]


def _draw_rows(
    ax: Axes, pairs: Sequence[PairComparison], comparison: Comparison, score: str, colors: Colours, style: LineLook
) -> Axes:
    """One row a pair: the difference with its limits, in the colour of the better family."""
    ax.axvline(0, color="0.3", linewidth=0.8)
    for row, pair in enumerate(pairs):
        verdict = pair.verdict_at(float(pair.budget[0]))
        colour = colour_of(verdict, comparison.hues, colors) if verdict in pair.families else _UNDECIDED
        value, low, high = (float(column[0]) for column in (pair.difference, pair.low, pair.high))
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [row, row], **styled(style, color=colour, linewidth=2, solid_capstyle="round"))
        if np.isfinite(value):
            ax.plot([value], [row], **styled(style, color=colour, marker="o", linestyle="none", markersize=6))
    ax.set_ylim(len(pairs) - 0.5, -0.5)
    names = [plain_text(f"{shorten(pair.families[0], 20)} − {shorten(pair.families[1], 20)}") for pair in pairs]
    ax.set_yticks(range(len(pairs)), names)
    ax.tick_params(axis="y", length=0)
    fit_label(ax, f"difference in {score}, above zero the first is better")
    open_frame(ax, without=("top", "right", "left"), grid="x")
    return ax


def difference_figure(
    pairs: Sequence[PairComparison],
    best: str | None = None,
    *,
    score: str = "score",
    log: bool = False,
    hues: Hues = MappingProxyType({}),
) -> Figure | None:
    """One panel a pair on common axes, None where no pair has limits to draw. Of more than six, those of the ``best``
    family, its closest rivals first."""
    shown = [pair for pair in pairs if np.isfinite(pair.low).any() and np.isfinite(pair.high).any()]
    if not shown:
        return None
    if len(shown) > MOST_PAIRS_DRAWN:
        of_best = [pair if pair.families[0] == best else pair.mirrored() for pair in shown if best in pair.families]
        shown = sorted(of_best or shown, key=lambda pair: abs(pair.difference[np.isfinite(pair.difference)][-1]))
        shown = shown[:MOST_PAIRS_DRAWN]
    if len(shown) == 1:
        return figure_of(draw_pairs(new_axes(), shown, score=score, log=log, hues=hues))
    columns = side_by_side(len(shown))
    rows = -(-len(shown) // columns)
    figure = new_figure(2 * ONE_COLUMN, 0.5 + 1.75 * rows)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, ax in enumerate(axes.ravel()):
        if k >= len(shown):
            ax.set_axis_off()
            continue
        draw_pairs(ax, [shown[k]], score=score, log=log, hues=hues)
        ax.get_legend().remove()
        first, second = (plain_text(shorten(name, 20)) for name in shown[k].families)
        between = "\n" if len(first + second) > 12 * figure.get_figwidth() / columns else " "
        ax.set_title(f"{first} −{between}{second}", fontsize=7, loc="left")
        if k % columns:
            ax.set_ylabel("")
        if k + columns < len(shown):
            ax.set_xlabel("")
        else:
            ax.tick_params(labelbottom=True)
    return figure


def standings_figure(
    comparison: Comparison, score: str | None = None, colors: Colours = MappingProxyType({})
) -> Figure | None:
    """A comparison at a glance: the ribbon of who is best over the budgets, and the families at one budget with limits.
    None where there is nothing to draw."""
    rows, terms = comparison.standings, comparison.terms
    spans = leading_spans(comparison) if comparison.baseline is None else ()
    over_budgets = len(spans) > 0 and spans[0].start < spans[-1].end
    if not rows and not over_budgets:
        return None
    heights = [0.8] * over_budgets + [0.5 + 0.24 * len(rows)] * bool(rows)
    figure = new_figure(6.6, sum(heights))
    axes = list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    if rows:
        draw_forest(axes[-1], comparison, score or terms.metric.score, colors=colors)
    if over_budgets:
        what = "cost" if terms.over_cost else f"number of {terms.words.units}"
        axes[0].set_title(f"best of all by {what}", fontsize=7, loc="left", pad=2)
        draw_ribbon(axes[0], comparison, colors=colors)
        axes[0].set_xlabel("")
    return figure


def draw_strips(
    ax: Axes,
    strips: Sequence[Strip],
    colours: Mapping[str, str],
    unit: str | None,
    axis: str,
    *,
    labelled: bool = False,
) -> Axes:
    """One row a strip: a family's colour where it is best, stripes of those who may be, dashed where none is compared.

    ``ax`` has the budgets, or shares them with the chart above; one that stands alone is ``labelled`` with them."""
    limits = ax.get_xlim()
    drawn = []
    for row, strip in enumerate(strips):
        parts = merged_spans(strip.spans)
        # each from the middle between it and the one before to the middle between it and the next
        edges = [(before.end + after.start) / 2 for before, after in pairwise(parts)]
        for part, start, end in zip(parts, [parts[0].start, *edges], [*edges, parts[-1].end], strict=True):
            look: DrawOptions = {"facecolor": "0.94", "edgecolor": "0.8", "hatch": "/////", "linewidth": 0}
            if part.verdict in colours:
                look = {"color": colours[part.verdict], "linewidth": 0}
            elif part.verdict == NOT_COMPARABLE:
                look = {"facecolor": "none", "edgecolor": "0.8", "linestyle": (0, (3, 3)), "linewidth": 0.6}
            (bar,) = ax.barh(row, end - start, left=start, height=0.62, **look)
            drawn.append((row, part, start, end, bar))
    ax.set_xlim(*limits)
    ax.set_ylim(len(strips) - 0.1, -0.5)
    labels = [shorten(strip.label) for strip in strips]
    ax.set_yticks(range(len(strips)) if any(labels) else [], labels if any(labels) else [], fontsize=6)
    ax.tick_params(length=0)
    ax.xaxis.set_visible(labelled)
    ax.spines[:].set_visible(False)
    lay_out(figure_of(ax), last=not labelled)  # what fits into a part depends on its width
    for row, part, start, end, bar in drawn:
        if part.verdict == UNDECIDED and len(part.contenders) <= MOST_STRIPES:
            _draw_stripes(ax, bar, row, start, end, [colours[name] for name in part.contenders])
        label = _label_of(part, with_contenders=labelled)
        _write_part(ax, part, row, start, end, label, show_range(part.start, part.end, axis, unit, "–"))
    return ax


def merged_spans(spans: Sequence[Span]) -> list[Span]:
    """Neighbours that look alike are one part: hatched grey does not say who may be the best."""
    parts: list[Span] = []
    for span in spans:
        if parts and _appearance(parts[-1]) == _appearance(span):
            parts[-1] = replace(parts[-1], end=span.end)
        else:
            parts.append(span)
    return parts


def _appearance(span: Span) -> tuple[str, ...]:
    few = span.verdict == UNDECIDED and len(span.contenders) <= MOST_STRIPES
    return (span.verdict, *(span.contenders if few else ()))


def _draw_stripes(ax: Axes, bar: Any, row: int, start: float, end: float, colours: Sequence[str]) -> None:
    """Slanted stripes within a bar, one colour after the other; their corners are data, so that any format agrees."""
    from matplotlib.collections import PolyCollection

    (left, foot), (right, head) = ax.transData.transform([(start, row + 0.31), (end, row - 0.31)])
    step, rise = _STRIPE * figure_of(ax).dpi / 72, head - foot
    to_data = ax.transData.inverted().transform
    for k, colour in enumerate(colours):
        corners = []
        x = left - abs(rise) + k * step
        while x < right:
            corners.append(to_data([(x, foot), (x + step, foot), (x + step + rise, head), (x + rise, head)]))
            x += step * len(colours)
        stripes = PolyCollection(corners, facecolors=colour, linewidths=0, label="_stripes")
        ax.add_collection(stripes, autolim=False)
        stripes.set_clip_path(bar)


def _label_of(part: Span, *, with_contenders: bool) -> str:
    """The best family, or the contenders where no legend tells their colours."""
    if part.verdict != UNDECIDED or len(part.contenders) > MOST_STRIPES:
        return {NOT_COMPARABLE: "too few"}.get(part.verdict, part.verdict)
    return listed([shorten(name, 20) for name in part.contenders], "or") if with_contenders else ""


def _write_part(ax: Axes, part: Span, row: int, start: float, end: float, label: str, budgets: str) -> None:
    """The name within and the budgets below, where there is room for them."""
    places = ax.transData.transform([(start, row), (end, row)])
    width = 72 * (places[1][0] - places[0][0]) / figure_of(ax).dpi  # points
    middle = float(ax.transData.inverted().transform(places.mean(axis=0))[0])
    ours = part.verdict not in (NOT_COMPARABLE, UNDECIDED)
    label = shorten(label, max(4, int((width - 4) / 4.2))) if ours and width > 26 else label
    if label and width > 4.2 * len(label) + 4:
        ground = {"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.8}
        look: DrawOptions = {"color": "white", "weight": "bold"} if ours else {"color": "0.25", "bbox": ground}
        ax.text(middle, row, plain_text(label), fontsize=6.5, ha="center", va="center_baseline", **look)
    if part.verdict != NOT_COMPARABLE and width > 3.6 * len(budgets):
        ax.text(middle, row + 0.42, plain_text(budgets), color="0.35", fontsize=6, ha="center", va="top")


def shade(
    ax: Axes, x: FloatArray | IntArray, value: FloatArray, low: FloatArray, high: FloatArray, colour: str
) -> None:
    """A band that stretches the picture by the height of its curve at most, or by its own usual width."""
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return
    before = ax.dataLim.frozen()
    ax.fill_between(x, low, high, where=known, color=colour, alpha=0.18, linewidth=0)
    bottom, top = float(np.nanmin(value)), float(np.nanmax(value))
    room = max(top - bottom, float(np.median((high - low)[known])))
    kept = np.clip(np.r_[low[known], high[known]], bottom - room, top + room)
    fade(ax, (x, value, low, high), colour, (min(kept.min(), bottom), max(kept.max(), top)))
    ax.dataLim.set(before)
    ax.update_datalim(np.column_stack([np.r_[x[known], x[known]], kept]))
    ax.autoscale_view()


def fade(ax: Axes, curve: Sequence[FloatArray | IntArray], colour: str, ends: tuple[float, float]) -> None:
    """Where a limit is missing the band is open on that side: it fades from the curve to the end of the picture."""
    x, value, low, high = curve
    for limit, other, end in ((low, high, ends[0]), (high, low, ends[1])):
        missing = ~np.isfinite(limit) & np.isfinite(value)
        if not missing.any():
            continue
        where = missing | np.append(missing[1:], False) | np.append(False, missing[:-1])
        ax.fill_between(x, value, other, where=missing & np.isfinite(other), color=colour, alpha=0.1, linewidth=0)
        for k in range(_STEPS):
            near, far = (value + (end - value) * share / _STEPS for share in (k, k + 1))
            near, far = (np.where(missing, edge, np.where(np.isfinite(limit), limit, edge)) for edge in (near, far))
            ax.fill_between(x, near, far, where=where, color=colour, alpha=0.14 * (1 - k / _STEPS), linewidth=0)
