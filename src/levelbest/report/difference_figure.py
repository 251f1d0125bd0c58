"""Difference curves with their simultaneous bands, and the budgets where they exclude zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._plain import show_cost
from levelbest.report.figure import COLOURS, DASHES, new_axes, plain_text, shorten
from levelbest.report.view import Pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_differences"]


def draw_differences(
    pairs: Sequence[Pair],
    ax: Axes | None = None,
    *,
    score: str = "score",
    cost_unit: str | None = None,
    log: bool = False,
    word: str = "trial",
) -> Axes:
    """First minus second, positive is better; zero is where nobody wins. Certified budgets are drawn thick."""
    ax = new_axes() if ax is None else ax
    ax.axhline(0, color="0.3", linewidth=0.8)
    for i, pair in enumerate(pairs):
        x, value = np.array(pair.x), np.array(pair.difference)
        low, high = np.array(pair.low), np.array(pair.high)
        colour = COLOURS[i % len(COLOURS)]
        known = np.isfinite(low) & np.isfinite(high)
        label = plain_text(f"{shorten(pair.families[0])} - {shorten(pair.families[1])}")
        ax.fill_between(x, low, high, where=known, color=colour, alpha=0.18, linewidth=0)
        ax.plot(x[known], value[known], color=colour, linestyle=DASHES[i % len(DASHES)], linewidth=1.2, label=label)
        certified = known & ((low > 0) | (high < 0))
        ax.plot(np.where(certified, x, np.nan), np.where(certified, value, np.nan), color=colour, linewidth=3)
    if log:
        ax.set_xscale("log")
    if pairs and pairs[0].axis == "cost":
        ax.set_xlabel("budget (cost)")
        ax.xaxis.set_major_formatter(lambda budget, _: show_cost(budget, cost_unit))
    else:
        ax.set_xlabel(f"budget ({word}s)" if word == "trial" else f"n, {word}s of each problem")
        ax.xaxis.set_major_formatter(lambda budget, _: f"{budget:g}")
    ax.set_ylabel(plain_text(f"difference in {score}, positive is better"))
    ax.legend(frameon=False, fontsize=7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
