"""Variance by source drawn: the standard deviation that each source adds, with its limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from levelbest.report.figures.curves import new_axes, open_frame, set_score_label
from levelbest.report.figures.themes import COLOURS
from levelbest.results import FamilyVariance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 0.22


def draw_variances(ax: Axes | None, variances: Sequence[FamilyVariance]) -> Axes:
    """A point with limits for every source, families side by side."""
    ax = new_axes() if ax is None else ax
    names = list(dict.fromkeys(source.name for own in variances for source in own.sources))
    middle = (len(variances) - 1) / 2
    for place, own in enumerate(variances):
        colour = COLOURS[place % len(COLOURS)]
        for source in own.sources:
            x = names.index(source.name) + _APART * (place - middle)
            low, high = (math.sqrt(max(limit, 0.0)) for limit in (source.low, source.high))
            ax.plot([x, x], [low, high], color=colour, linewidth=1.5)
            label = own.family if source is own.sources[0] else None
            ax.plot([x], [source.sd], marker="o", markersize=5, color=colour, linestyle="none", label=label)
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(bottom=0)
    set_score_label(ax, "standard deviation of", variances[0].score)
    if len(variances) > 1:
        ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax
