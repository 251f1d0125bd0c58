"""The figure of quality against the cost of a solved problem, with the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest.errors import InputError, named
from levelbest.report.figures.curves import (
    Colours,
    LineLook,
    colour_of,
    open_frame,
    plain_text,
    set_budget_axis,
    set_score_label,
    shorten,
    styled,
)
from levelbest.results import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG_FROM = 3.0
"""Costs so many times apart are drawn on a log scale."""


def draw_pareto(ax: Axes, comparison: Comparison, score: str, *, bands: bool, colors: Colours, style: LineLook) -> Axes:
    """The score of each family against its spend per solved problem, each with its interval.

    The broken line joins the estimates that no other one beats in both. A family is hollow where another is better by
    the verdict and its solved problem costs less, interval against interval; filled ones may be on the front.
    """
    spends, rows = {spend.family: spend for spend in comparison.per_solved}, comparison.standings
    if not spends:
        raise InputError(
            "a picture of quality against spend needs the cost of every sample, and scores that are 0 or 1; name the "
            f"costs with {named('cost')}, or price tokens with {named('rate')}"
        )
    finite = [
        end for spend in comparison.per_solved for end in (spend.low, spend.value, spend.high) if 0 < end < np.inf
    ]
    low, high = min(finite, default=1.0), max(finite, default=1.0)
    far = 1.5 * high
    outdone, words, unit = comparison.outdone, comparison.terms.words, comparison.terms.metric.cost_unit
    ax.set_xlim(low / 1.15, far)
    set_budget_axis(ax, over_cost=True, cost_unit=unit, log=high > _LOG_FROM * low)
    for row in rows:
        spend, colour = spends[row.family], colour_of(row.family, comparison.hues, colors)
        value = min(spend.value, far)
        if bands:
            ax.plot([max(spend.low, low / 1.15), min(spend.high, far)], [row.value] * 2, color=colour, lw=2, alpha=0.4)
            ax.plot([value, value], [row.low, row.high], color=colour, lw=2, alpha=0.4)
        look = styled(style, color=colour)
        fill = {"markerfacecolor": "white"} if row.family in outdone else {}
        ax.plot([value], [row.value], **{"marker": "o", "markersize": 5, "linestyle": "none", **fill, **look})
        name = plain_text(shorten(row.family, 22))
        ax.annotate(name, (value, row.value), (5, 4), textcoords="offset points", fontsize=7, color=colour)
    front = _front([(spends[row.family].value, row.value) for row in rows])
    if len(front) > 1:
        ax.step(*zip(*front, strict=True), where="post", color="0.5", linewidth=0.8, linestyle="--", zorder=1)
    ax.set_xlabel(f"{ax.get_xlabel().removeprefix('budget ').strip('()')} per solved problem")
    budget = rows[0].budget if rows else 1
    what = words.measure.format(n=f"{budget:g}") if words.measure else score
    set_score_label(ax, "", what)
    open_frame(ax)
    return ax


def _front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those that no other one beats in cost and score, the cheapest first."""
    front: list[tuple[float, float]] = []
    for cost, score in sorted(points, key=lambda point: (point[0], -point[1])):
        if np.isfinite(cost) and (not front or score > front[-1][1]):
            front.append((cost, score))
    return front
