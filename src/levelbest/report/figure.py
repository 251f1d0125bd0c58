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
from levelbest.report.view import Line, line_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "DASHES",
    "draw_curves",
    "draw_lines",
    "new_axes",
    "plain_text",
    "save_curves",
    "save_figure",
    "shorten",
]

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
    band: str = "interval",
    **options: Any,
) -> Axes:
    """Best score against the budget, one line a family, labelled where it ends.

    ``band`` shades the interval, [D]'s plus or minus one ``spread`` within the observed range, or ``none``; ``options``
    are those of ``draw_lines``.
    """
    first = curves[0]
    score = first.score if first.reported or first.problems is not None else f"{first.score} (validation only)"
    lines = [line_of(one, axis=axis, band=band) for one in curves]
    return draw_lines(lines, ax, score=score, cost_unit=first.cost_unit, **options)


def draw_lines(
    lines: Sequence[Line],
    ax: Axes | None = None,
    *,
    score: str = "score",
    cost_unit: str | None = None,
    log: bool = False,
    published: Mapping[str, float] | None = None,
    certified: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Axes:
    """Lines of a view on one pair of axes. ``published`` scores are drawn dashed; ``certified`` marks the budget ranges
    (family -> ranges) at which a family is better than another, along the foot."""
    ax = new_axes() if ax is None else ax
    for i, line in enumerate(lines):
        x, value = np.array(line.x), np.array(line.value)
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        _fill(ax, x, np.array(line.low), np.array(line.high), value, colour)
        finite = np.isfinite(value)
        ax.plot(x[finite], value[finite], color=colour, linestyle=dash, linewidth=1.6, zorder=3)
    _fit_height(ax, lines, published or {})
    for name, height in (published or {}).items():
        ax.axhline(height, color="0.35", linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        left = ("axes fraction", "data")
        ax.annotate(plain_text(name), (0.01, height), xycoords=left, fontsize=7, color="0.35", va="bottom")
    _frame(ax, lines[0], score, cost_unit, log)
    _label_ends(ax, lines)
    for i, line in enumerate(lines):
        for start, end in (certified or {}).get(line.family, ()):
            foot = 0.012 * i
            ax.axvspan(start, end, ymin=foot, ymax=foot + 0.01, color=COLOURS[i % len(COLOURS)], zorder=4, lw=0)
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


def _fit_height(ax: Axes, lines: Sequence[Line], published: Mapping[str, float]) -> None:
    """The curves fill the picture; a band may stretch it to three times their height and is cut off beyond."""
    values = [v for line in lines for v in line.value if np.isfinite(v)] + list(published.values())
    limits = [v for line in lines for v in (*line.low, *line.high) if np.isfinite(v)]
    low, high = min(values), max(values)
    room = max(high - low, 1e-9 * abs(high), 1e-12)
    low, high = max(low - room, min([low, *limits])), min(high + room, max([high, *limits]))
    pad = 0.03 * (high - low)
    ax.set_ylim(low - pad, high + pad)


def _fill(ax: Axes, x: Any, low: Any, high: Any, value: Any, colour: str) -> None:
    """Shade where both limits are finite; where one is missing, fade from the curve to the finite side."""
    both = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(x, low, high, where=both, color=colour, alpha=0.18, linewidth=0, zorder=2)
    for limit in (low, high):
        open_side = np.isfinite(limit) & ~both
        if open_side.any():
            ax.fill_between(x, limit, value, where=open_side, color=colour, alpha=0.09, linewidth=0, zorder=2)
            ax.plot(np.where(open_side, x, np.nan), limit, color=colour, alpha=0.5, linewidth=0.6, linestyle=":")


def _frame(ax: Axes, first: Line, score: str, cost_unit: str | None, log: bool) -> None:
    if log:
        ax.set_xscale("log")
        ax.margins(x=0.01)
        ax.xaxis.set_minor_formatter(lambda *_: "")
    if first.axis == "cost":
        ax.set_xlabel("budget (cost)")
        ax.xaxis.set_major_formatter(lambda value, _: show_cost(value, cost_unit))
    else:
        ax.set_xlabel(f"budget ({first.word}s)" if first.word == "trial" else f"n, {first.word}s of each problem")
        if log:
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        else:
            from matplotlib.ticker import MaxNLocator

            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    named = {"mean": "expected best", "median": "median best", "all": "chance that all of n succeed,"}
    what = named.get(first.statistic, f"{first.statistic} quantile, best")
    ax.set_ylabel(plain_text(f"{what} {score}"))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def _label_ends(ax: Axes, lines: Sequence[Line]) -> None:
    """Names at the ends of the lines, pushed apart so that none covers another; a legend where there are many."""
    if len(lines) > len(COLOURS):
        ax.legend([plain_text(line.family) for line in lines], fontsize=6)
        return
    ends: list[tuple[float, float, int]] = []
    for i, line in enumerate(lines):
        last = max(k for k, value in enumerate(line.value) if np.isfinite(value))
        ends.append((line.x[last], line.value[last], i))
    low, high = ax.get_ylim()
    gap = 0.055 * (high - low)
    placed = sorted(ends, key=lambda end: end[1])
    heights = [end[1] for end in placed]
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + gap)
    shift = max(0.0, heights[-1] - high)
    for (x, y, which), height in zip(placed, heights, strict=True):
        ax.annotate(
            plain_text(shorten(lines[which].family)),
            (x, y),
            xytext=(1.015, height - shift),
            textcoords=("axes fraction", "data"),
            color=COLOURS[which % len(COLOURS)],
            fontsize=8,
            va="center",
            annotation_clip=False,
        )


def shorten(name: str, width: int = 28) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def plain_text(text: str) -> str:
    """Text as it is: a dollar sign starts no mathematics."""
    return text.replace("$", r"\$")
