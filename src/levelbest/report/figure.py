"""Figures for papers (matplotlib). ``Axes`` in, ``Axes`` out; no global style is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest import _check
from levelbest._plain import show_cost
from levelbest.curves import Curve
from levelbest.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "DASHES", "draw_curves", "new_axes", "save_curves", "save_figure"]

# Okabe & Ito's palette without the yellow that vanishes on white; dashes tell lines apart in greyscale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.6, 1.2, 1.6)), (0, (3, 1)), (0, (8, 2)), "-")
ONE_COLUMN = 3.3
"""Width of a paper's column in inches; figures are legible at it."""


def new_axes(width: float = 2 * ONE_COLUMN, height: float | None = None) -> Axes:
    """Axes on a figure of their own, without pyplot: nothing is shown, nothing is global."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height or 0.62 * width), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def draw_curves(
    curves: Sequence[Curve],
    ax: Axes | None = None,
    *,
    axis: str = "trials",
    log: bool = False,
    band: str = "interval",
    lines: Mapping[str, float] | None = None,
    certified: Mapping[str, tuple[float, float]] | None = None,
) -> Axes:
    """Best score against the budget, one line a family, labelled where it ends.

    ``band`` shades the interval, [D]'s plus or minus one ``spread`` within the observed range, or ``none``; ``lines``
    are published values, drawn dashed; ``certified`` marks budget ranges (family -> from, to) along the foot.
    """
    _check.as_choice(axis, ("trials", "cost"), "axis")
    _check.as_choice(band, ("interval", "spread", "none"), "band")
    ax = new_axes() if ax is None else ax
    for i, one in enumerate(curves):
        x = _budget(one, axis)
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        low, high = _shade(one, band)
        finite = np.isfinite(one.value)
        if band != "none":
            _fill(ax, x, low, high, one.value, colour)
        ax.plot(x[finite], one.value[finite], color=colour, linestyle=dash, linewidth=1.6, zorder=3)
    for name, value in (lines or {}).items():
        ax.axhline(value, color="0.35", linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        ax.annotate(
            _plain_text(name), (0.01, value), xycoords=("axes fraction", "data"), fontsize=7, color="0.35", va="bottom"
        )
    _frame(ax, curves, axis, log)
    _label_ends(ax, curves, axis)
    for i, (name, (start, end)) in enumerate((certified or {}).items()):
        where = [one.family for one in curves].index(name)
        ax.axvspan(start, end, ymin=0.0, ymax=0.02, color=COLOURS[where % len(COLOURS)], zorder=2 + i, lw=0)
    return ax


def save_curves(curves: Sequence[Curve], path: Path, **options: Any) -> Path:
    """Draw the curves and write them as PNG, SVG or PDF by the path's ending."""
    with _own_style():
        return save_figure(draw_curves(curves, **options).figure, path)


def save_figure(figure: Figure | Any, path: Path) -> Path:
    """Write a figure; the same figure gives the same bytes, with fonts embedded and no dates."""
    kind = path.suffix.lower().removeprefix(".")
    _check.as_choice(kind, ("png", "svg", "pdf"), "figure format")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    try:
        with _own_style():
            figure.savefig(path, dpi=200, metadata=metadata)
    except OSError as error:
        raise InputError(f"the figure cannot be written to {path}: {error.strerror}") from error
    return path


@contextmanager
def _own_style() -> Iterator[None]:
    import matplotlib

    settings = {"svg.hashsalt": "levelbest", "pdf.fonttype": 42, "svg.fonttype": "none", "font.size": 8}
    with matplotlib.rc_context(settings):
        yield


def _budget(curve: Curve, axis: str) -> Any:
    if axis == "trials":
        return curve.n
    if curve.cost is None:
        raise InputError(f"{curve.family} has no cost column, which a cost axis needs; name it with --cost")
    return curve.cost


def _shade(curve: Curve, band: str) -> tuple[Any, Any]:
    if band != "spread":
        return curve.low, curve.high
    # [D] 3.3: within the observed range, where a best can lie
    return curve.value - curve.spread, np.minimum(curve.value + curve.spread, np.nanmax(curve.value))


def _fill(ax: Axes, x: Any, low: Any, high: Any, value: Any, colour: str) -> None:
    """Shade where both limits are finite; where one is missing, fade from the curve to the finite side."""
    both = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(x, low, high, where=both, color=colour, alpha=0.18, linewidth=0, zorder=2)
    for limit in (low, high):
        open_side = np.isfinite(limit) & ~both
        if open_side.any():
            ax.fill_between(x, limit, value, where=open_side, color=colour, alpha=0.09, linewidth=0, zorder=2)
            ax.plot(np.where(open_side, x, np.nan), limit, color=colour, alpha=0.5, linewidth=0.6, linestyle=":")


def _frame(ax: Axes, curves: Sequence[Curve], axis: str, log: bool) -> None:
    first = curves[0]
    if log:
        ax.set_xscale("log")
    if axis == "trials":
        ax.set_xlabel("budget (trials)")
        if not log:
            from matplotlib.ticker import MaxNLocator

            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        ax.set_xlabel("budget (mean cost of n trials)")
        ax.xaxis.set_major_formatter(lambda value, _: show_cost(value, first.cost_unit))
    what = {"mean": "expected best", "median": "median best"}.get(first.statistic, f"{first.statistic} quantile, best")
    ax.set_ylabel(_plain_text(f"{what} {first.score}" + ("" if first.reported else " (validation only)")))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def _label_ends(ax: Axes, curves: Sequence[Curve], axis: str) -> None:
    """Names at the ends of the lines, pushed apart so that none covers another; a legend where there are many."""
    if len(curves) > len(COLOURS):
        ax.legend([_plain_text(one.family) for one in curves], fontsize=6)
        return
    ends: list[tuple[float, float, int]] = []
    for i, one in enumerate(curves):
        last = int(np.flatnonzero(np.isfinite(one.value))[-1])
        ends.append((float(_budget(one, axis)[last]), float(one.value[last]), i))
    low, high = ax.get_ylim()
    gap = 0.055 * (high - low)
    placed = sorted(ends, key=lambda end: end[1])
    heights = [end[1] for end in placed]
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + gap)
    shift = max(0.0, heights[-1] - high)
    for (x, y, which), height in zip(placed, heights, strict=True):
        ax.annotate(
            _plain_text(_shorten(curves[which].family)),
            (x, y),
            xytext=(1.015, height - shift),
            textcoords=("axes fraction", "data"),
            color=COLOURS[which % len(COLOURS)],
            fontsize=8,
            va="center",
            annotation_clip=False,
        )


def _shorten(name: str, width: int = 28) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def _plain_text(text: str) -> str:
    """Text as it is: a dollar sign starts no mathematics."""
    return text.replace("$", r"\$")
