"""Results drawn on a matplotlib Axes that the caller owns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from levelbest.results import Comparison, Curve

__all__ = ["draw_comparison", "draw_curves"]


def draw_curves(ax: Any, curves: Sequence[Curve], *, bands: bool = True, log: bool = True) -> Any:
    """Each curve with its band; several calls draw on one Axes. ``ax`` None makes a new one."""
    ax = _own(ax)
    for curve in curves:
        (line,) = ax.plot(curve.n, curve.value, label=curve.family)
        if bands:
            ax.fill_between(curve.n, curve.low, curve.high, color=line.get_color(), alpha=0.2, linewidth=0)
    if log:
        ax.set_xscale("log")
    return ax


def draw_comparison(ax: Any, comparison: Comparison, *, bands: bool = True, log: bool = True) -> Any:
    """Each pair's difference with its band, and the line of no difference. ``ax`` None makes a new one."""
    ax = _own(ax)
    ax.axhline(0.0, linewidth=0.8, color="black")
    for pair in comparison.pairs:
        (line,) = ax.plot(pair.budget, pair.difference, label=" - ".join(pair.families))
        if bands:
            ax.fill_between(pair.budget, pair.low, pair.high, color=line.get_color(), alpha=0.2, linewidth=0)
    if log:
        ax.set_xscale("log")
    return ax


def _own(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]
