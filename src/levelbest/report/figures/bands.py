"""Bands of curves: shaded between their limits, open and fading where a limit is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 8
"""In which a band fades out."""


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
    fade(ax, x, value, low, high, colour, (min(kept.min(), bottom), max(kept.max(), top)))
    ax.dataLim.set(before)
    ax.update_datalim(np.column_stack([np.r_[x[known], x[known]], kept]))
    ax.autoscale_view()


def fade(
    ax: Axes,
    x: FloatArray | IntArray,
    value: FloatArray,
    low: FloatArray,
    high: FloatArray,
    colour: str,
    ends: tuple[float, float],
) -> None:
    """Where a limit is missing the band is open on that side: it fades from the curve to the end of the picture."""
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
