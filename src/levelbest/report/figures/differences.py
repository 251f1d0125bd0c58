"""Difference curves with their simultaneous bands, one panel a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest.report.figures.axes import draw_pairs
from levelbest.report.figures.curves import ONE_COLUMN, new_axes, new_figure, plain_text, shorten
from levelbest.results import PairComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 6


def difference_figure(pairs: Sequence[PairComparison], best: str | None = None, **options: Any) -> Figure | None:
    """One panel a pair on common axes, None where no pair has limits to draw. Of more than six, those of the ``best``
    family, its closest rivals first."""
    shown = [pair for pair in pairs if np.isfinite(pair.low).any() and np.isfinite(pair.high).any()]
    if not shown:
        return None
    if len(shown) > MOST_PANELS:
        of_best = [pair if pair.families[0] == best else pair.mirrored() for pair in shown if best in pair.families]
        shown = sorted(of_best or shown, key=_last_difference)[:MOST_PANELS]
    if len(shown) == 1:
        return draw_pairs(new_axes(), shown, **options).figure  # type: ignore[return-value]
    columns = 2 if len(shown) in (2, 4) else 3
    rows = -(-len(shown) // columns)
    figure = new_figure(2 * ONE_COLUMN, 0.5 + 1.75 * rows)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, ax in enumerate(axes.ravel()):
        if k >= len(shown):
            ax.set_axis_off()
            continue
        draw_pairs(ax, [shown[k]], **options)
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


def _last_difference(pair: PairComparison) -> float:
    known = [abs(value) for value in pair.difference if np.isfinite(value)]
    return known[-1] if known else np.inf
