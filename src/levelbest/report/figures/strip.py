"""The winner's strip: who is certified best at which budget, under a chart and on its axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from levelbest._plain import show_range
from levelbest.report.figures.curves import lay_out, plain_text, shorten
from levelbest.report.figures.themes import COLOURS
from levelbest.report.leaders import Span, Strip
from levelbest.results import NOT_COMPARABLE, UNDECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_strips(ax: Axes, strips: Sequence[Strip], names: Sequence[str], unit: str | None, axis: str) -> Axes:
    """One row a strip: a family's colour where it is best, hatched where undecided, dashed where nothing is compared.

    ``ax`` shares its budgets with the chart above; families have the colours of their places in ``names``.
    """
    ends = ax.get_xlim()
    drawn = [(row, part) for row, strip in enumerate(strips) for part in _stretched(_merged(strip.spans))]
    for row, (part, start, end) in drawn:
        _draw_part(ax, part, row, start, end, names)
    ax.set_xlim(*ends)
    ax.set_ylim(len(strips) - 0.1, -0.5)
    labels = [shorten(strip.label) for strip in strips]
    ax.set_yticks(range(len(strips)) if any(labels) else [], labels if any(labels) else [], fontsize=6)
    ax.tick_params(length=0, labelbottom=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    lay_out(ax.figure)  # what fits into a part depends on its width
    for row, (part, start, end) in drawn:
        _write_part(ax, part, row, start, end, show_range(part.start, part.end, axis, unit, "–"))
    return ax


def _stretched(parts: Sequence[Span]) -> list[tuple[Span, float, float]]:
    """Each part from the middle between it and the one before to the middle between it and the next."""
    edges = [(before.end + after.start) / 2 for before, after in pairwise(parts)]
    return list(zip(parts, [parts[0].start, *edges], [*edges, parts[-1].end], strict=True))


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Neighbours that look alike are one part: hatched grey does not say who may be the best."""
    parts: list[Span] = []
    for span in spans:
        if parts and parts[-1].verdict == span.verdict:
            parts[-1] = replace(parts[-1], end=span.end)
        else:
            parts.append(span)
    return parts


def _draw_part(ax: Axes, part: Span, row: int, start: float, end: float, names: Sequence[str]) -> None:
    look: dict[str, Any] = {"facecolor": "0.94", "edgecolor": "0.8", "hatch": "/////", "linewidth": 0}
    if part.verdict in names:
        look = {"color": COLOURS[names.index(part.verdict) % len(COLOURS)], "linewidth": 0}
    elif part.verdict == NOT_COMPARABLE:
        look = {"facecolor": "none", "edgecolor": "0.8", "linestyle": (0, (3, 3)), "linewidth": 0.6}
    ax.barh(row, end - start, left=start, height=0.62, **look)


def _write_part(ax: Axes, part: Span, row: int, start: float, end: float, budgets: str) -> None:
    """The name within and the budgets below, where there is room for them."""
    figure: Any = ax.figure
    places = ax.transData.transform([(start, row), (end, row)])
    width = 72 * (places[1][0] - places[0][0]) / figure.dpi  # points
    middle = float(ax.transData.inverted().transform(places.mean(axis=0))[0])
    label = {NOT_COMPARABLE: "too few"}.get(part.verdict, part.verdict)
    ours = part.verdict != NOT_COMPARABLE and part.verdict != UNDECIDED
    ground = None if ours else {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.8}
    if width > 4.2 * len(label) + 4:
        look: dict[str, Any] = {"color": "white", "weight": "bold"} if ours else {"color": "0.35", "bbox": ground}
        ax.text(middle, row, plain_text(label), fontsize=6.5, ha="center", va="center_baseline", **look)
    if part.verdict != NOT_COMPARABLE and width > 3.6 * len(budgets):
        ax.text(middle, row + 0.42, budgets, color="0.35", fontsize=6, ha="center", va="top")
