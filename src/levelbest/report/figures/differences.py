"""Difference curves with their simultaneous bands, and the budgets where they exclude zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest.report.figures.curves import (
    ONE_COLUMN,
    new_axes,
    plain_text,
    set_budget_axis,
    set_score_label,
    shorten,
)
from levelbest.report.figures.themes import COLOURS, line_style
from levelbest.report.view import Pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["difference_figure", "draw_differences"]

MOST_PANELS = 6


def draw_differences(
    pairs: Sequence[Pair],
    ax: Axes | None = None,
    *,
    score: str = "score",
    cost_unit: str | None = None,
    log: bool = False,
    word: str = "trial",
    names: Sequence[str] = (),
) -> Axes:
    """First minus second, above zero the first is better. Budgets at which that is certified are drawn thick: in the
    winner's colour, by its place among ``names``, or in the line's."""
    ax = new_axes() if ax is None else ax
    ax.axhline(0, color="0.3", linewidth=0.8)
    for i, pair in enumerate(pairs):
        x, value = np.array(pair.x), np.array(pair.difference)
        low, high = np.array(pair.low), np.array(pair.high)
        colour, dash = line_style(i) if not names else ("#666666", "-")
        known = np.isfinite(low) & np.isfinite(high)
        label = plain_text(f"{shorten(pair.families[0])} − {shorten(pair.families[1])}")
        ax.fill_between(x, low, high, where=known, color=colour, alpha=0.18, linewidth=0)
        ax.plot(x[known], value[known], color=colour, linestyle=dash, linewidth=1.2, label=label)
        verdicts = np.array([pair.verdict_at(budget) for budget in pair.x])
        for winners in [[name] for name in pair.families] if names else [pair.families]:
            won = np.isin(verdicts, winners)
            shade = COLOURS[names.index(winners[0]) % len(COLOURS)] if names else colour
            ax.plot(np.where(won, x, np.nan), np.where(won, value, np.nan), color=shade, linewidth=3)
    axis = pairs[0].axis if pairs else "trials"
    set_budget_axis(ax, axis, cost_unit, log)
    if axis == "trials":
        ax.set_xlabel(f"n, {word}s of each problem" if word == "sample" else f"budget ({word}s)")
    set_score_label(ax, "difference in", score)
    ax.legend(frameon=False, fontsize=7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def difference_figure(pairs: Sequence[Pair], best: str | None = None, **options: Any) -> Figure | None:
    """One panel a pair on common axes, None where no pair has limits to draw. Of more than six, those of the ``best``
    family, its closest rivals first."""
    shown = [pair for pair in pairs if np.isfinite(pair.low).any() and np.isfinite(pair.high).any()]
    if not shown:
        return None
    if len(shown) > MOST_PANELS:
        of_best = [pair if pair.families[0] == best else _turned(pair) for pair in shown if best in pair.families]
        shown = sorted(of_best or shown, key=_last_difference)[:MOST_PANELS]
    if len(shown) == 1:
        return draw_differences(shown, **options).figure  # type: ignore[return-value]
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = 2 if len(shown) in (2, 4) else 3
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(2 * ONE_COLUMN, 0.5 + 1.75 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, ax in enumerate(axes.ravel()):
        if k >= len(shown):
            ax.set_axis_off()
            continue
        draw_differences([shown[k]], ax, **options)
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


def _turned(pair: Pair) -> Pair:
    """Second minus first."""

    def mirrored(values: Sequence[float]) -> tuple[float, ...]:
        return tuple(-value for value in values)

    return replace(
        pair,
        families=(pair.families[1], pair.families[0]),
        difference=mirrored(pair.difference),
        low=mirrored(pair.high),
        high=mirrored(pair.low),
    )


def _last_difference(pair: Pair) -> float:
    known = [abs(value) for value in pair.difference if np.isfinite(value)]
    return known[-1] if known else np.inf
