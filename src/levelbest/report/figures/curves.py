"""Figures for papers (matplotlib). ``Axes`` in, ``Axes`` out; no global style is touched."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest import _check
from levelbest._check import FloatArray
from levelbest._plain import show_cost
from levelbest._write import write_bytes
from levelbest.report.figures.themes import line_style
from levelbest.report.view import Line
from levelbest.results import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_lines",
    "figure_bytes",
    "label_below",
    "label_ends",
    "lay_out",
    "new_axes",
    "own_style",
    "plain_text",
    "plot_lines",
    "save_figure",
    "score_of",
    "set_budget_axis",
    "set_score_label",
    "shorten",
]

ONE_COLUMN = 3.3
"""Width of a paper's column in inches; figures are legible at it."""
MOST_BANDS = 7
_DPI = 200
_WIDE = 4.5  # inches: from here on there is room beside the lines


def new_axes(width: float = 2 * ONE_COLUMN, height: float | None = None) -> Axes:
    """Axes on a figure of their own, without pyplot: nothing is shown, nothing is global."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height or 0.62 * width), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def draw_lines(
    lines: Sequence[Line],
    ax: Axes | None = None,
    *,
    score: str = "score",
    cost_unit: str | None = None,
    log: bool = False,
    published: Mapping[str, float] | None = None,
    reach: float | None = None,
    near: float | None = None,
) -> Axes:
    """Lines of a view on one pair of axes.

    ``published`` scores are drawn dashed. Beyond the budgets that verdicts ``reach`` the lines are thin and have no
    band; heights are chosen for budgets ``near`` that one and larger. The bands of more than seven families cannot be
    told apart and are left out. (Nine parameters: each is a part of the picture that some caller leaves out.)
    """
    ax = new_axes(height=max(0.62 * 2 * ONE_COLUMN, 0.9 + 0.17 * len(lines))) if ax is None else ax
    plot_lines(lines, ax, score=score, cost_unit=cost_unit, log=log, published=published, reach=reach, near=near)
    ends = []
    for line in lines:
        last = max(k for k, value in enumerate(line.value) if np.isfinite(value))
        ends.append((line.x[last], line.value[last]))
    label_ends(ax, [line.family for line in lines], ends, [line_style(i) for i in range(len(lines))])
    return ax


def plot_lines(
    lines: Sequence[Line],
    ax: Axes,
    *,
    score: str,
    cost_unit: str | None,
    log: bool,
    published: Mapping[str, float] | None,
    reach: float | None,
    near: float | None,
) -> Axes:
    """The lines of `draw_lines`, with all its parameters, but without their names."""
    end = np.inf if reach is None else reach * (1 + 1e-9)
    for i, line in enumerate(lines):
        x, value = np.array(line.x), np.array(line.value)
        colour, dash = line_style(i)
        within = x <= end
        if len(lines) <= MOST_BANDS:
            _fill(ax, x[within], np.array(line.low)[within], np.array(line.high)[within], value[within], colour)
        finite = np.isfinite(value)
        inside, last = finite & within, int(within.sum()) - 1
        ax.plot(x[inside], value[inside], color=colour, linestyle=dash, linewidth=1.6, zorder=3)
        if inside.sum() == 1:  # one budget: a point with its limits, beside the others
            place = x[inside] * (1 + 0.02 * (i - (len(lines) - 1) / 2))
            ax.plot(place, value[inside], "o", color=colour, markersize=4, zorder=3)
            ax.vlines(place, np.array(line.low)[inside], np.array(line.high)[inside], color=colour, linewidth=1.2)
        beyond = finite & (np.arange(x.size) >= last)
        if last < x.size - 1:
            ax.plot(x[beyond], value[beyond], color=colour, linestyle=dash, linewidth=0.7, alpha=0.5, zorder=3)
    _fit_height(ax, lines, published or {}, end, 0.0 if near is None else near)
    colours = {line.family: line_style(i)[0] for i, line in enumerate(lines)}
    for name, height in (published or {}).items():
        colour, label = colours.get(name, "0.35"), f"{name}, published" if name in colours else name
        ax.axhline(height, color=colour, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1)
        left = ("axes fraction", "data")
        ax.annotate(plain_text(label), (0.01, height), xycoords=left, fontsize=7, color=colour, va="bottom")
    _frame(ax, lines[0], score, cost_unit, log)
    return ax


def score_of(curve: Curve) -> str:
    """The score of a curve as it is written beside an axis."""
    return curve.score if curve.reported or curve.problems is not None else f"{curve.score} (validation only)"


def save_figure(figure: Figure | object, path: Path) -> Path:
    """Write a figure in the format of the path's ending."""
    return write_bytes(path, figure_bytes(figure, path.suffix.lower().removeprefix(".")))


def figure_bytes(figure: Figure | Any, kind: str) -> bytes:
    """A figure as PNG, SVG or PDF; the same figure gives the same bytes, with fonts embedded and no dates."""
    _check.as_choice(kind, ("png", "svg", "pdf"), "figure format")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    out = io.BytesIO()
    with own_style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a box stands for it
        lay_out(figure)
        if kind == "svg":
            from matplotlib.backends.backend_svg import FigureCanvasSVG

            figure.set_dpi(_DPI)  # of clouds of trials, which are pixels
            FigureCanvasSVG(figure).print_svg(out, metadata=metadata)  # `savefig` draws a figure twice
        else:
            figure.savefig(out, format=kind, dpi=_DPI, metadata=metadata)
    return out.getvalue()


def lay_out(figure: Figure | Any) -> None:
    """Give every part its place, once for all formats; to be drawn a figure would be laid out twice."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
    figure.set_layout_engine("none")


@contextmanager
def own_style() -> Iterator[None]:
    """Small type that stays legible in a paper's column, text that stays text, the same bytes every time."""
    import matplotlib

    settings = {"svg.hashsalt": "levelbest", "pdf.fonttype": 42, "svg.fonttype": "none", "font.size": 8}
    with matplotlib.rc_context(settings):
        yield


def _fit_height(ax: Axes, lines: Sequence[Line], published: Mapping[str, float], reach: float, near: float) -> None:
    """The curves fill the picture; a band may stretch it by a half on either side and is cut off beyond."""
    drawn = lines if len(lines) <= MOST_BANDS else ()
    columns = [(line.x, line.value) for line in lines]
    limits = [(line.x, limit) for line in drawn for limit in (line.low, line.high)]

    def inside(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], start: float) -> list[float]:
        return [v for x, column in pairs for at, v in zip(x, column, strict=True) if start <= at <= reach and v == v]

    values = inside(columns, near) or inside(columns, 0.0) or [v for _, column in columns for v in column if v == v]
    stretch = [v for v in inside(limits, near) if np.isfinite(v)]
    low, high = min(values), max(values)
    room = max((high - low) / 2, 1e-9 * abs(high), 1e-12)
    low, high = max(low - room, min([low, *stretch])), min(high + room, max([high, *stretch]))
    low, high = min([low, *published.values()]), max([high, *published.values()])
    pad = 0.03 * (high - low) or 0.5 * abs(high) or 0.5  # one height alone stands in the middle
    ax.set_ylim(low - pad, high + pad)


def _fill(ax: Axes, x: FloatArray, low: FloatArray, high: FloatArray, value: FloatArray, colour: str) -> None:
    """Shade where both limits are finite; where one is missing, fade from the curve to the finite side."""
    both = np.isfinite(low) & np.isfinite(high)
    ax.fill_between(x, low, high, where=both, color=colour, alpha=0.18, linewidth=0, zorder=2)
    for limit in (low, high):
        open_side = np.isfinite(limit) & ~both
        if open_side.any():
            ax.fill_between(x, limit, value, where=open_side, color=colour, alpha=0.09, linewidth=0, zorder=2)
            ax.plot(np.where(open_side, x, np.nan), limit, color=colour, alpha=0.5, linewidth=0.6, linestyle=":")


def _frame(ax: Axes, first: Line, score: str, cost_unit: str | None, log: bool) -> None:
    set_budget_axis(ax, first.axis, cost_unit, log)
    if first.axis == "trials":
        ax.set_xlabel(f"n, {first.word}s of each problem" if first.word == "sample" else f"budget ({first.word}s)")
    named = {"mean": "expected best", "median": "median best", "all": "chance that all of n succeed,"}
    set_score_label(ax, named.get(first.statistic, f"{first.statistic} quantile, best"), score)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def set_score_label(ax: Axes, what: str, score: str) -> None:
    """What the heights are, on two lines where one would be longer than the axis, and smaller where two would be."""
    figure: Any = ax.figure
    size: Any = ax.yaxis.label.get_fontsize()
    room = 0.7 * 72 * figure.get_size_inches()[1] / 0.6  # points for letters of width 1
    fits = size * len(f"{what} {score}") < room
    size = min(size, max(5.0, room / max(len(score), 1)))
    ax.set_ylabel(plain_text(f"{what}{' ' if fits else chr(10)}{score}"), fontsize=size)


def set_budget_axis(ax: Axes, axis: str, cost_unit: str | None, log: bool) -> None:
    """Round budgets along the foot: whole numbers of trials, costs in units that people use."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    if log:
        ax.set_xscale("log")
        ax.margins(x=0.01)
        low, high = ax.get_xlim()
        # beyond two and a half decades (fewer for costs, whose labels are longer) the powers of ten suffice
        subs = (1.0, 2.0, 5.0) if high / low < (300 if axis == "trials" else 60) else (1.0,)
        ax.xaxis.set_major_locator(LogLocator(subs=subs))
        ax.xaxis.set_minor_locator(NullLocator())
    if axis == "cost":
        ax.set_xlabel("budget (cost)")
        ax.xaxis.set_major_formatter(lambda value, _: _tick(show_cost(value, cost_unit)))
        return
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if not log:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _tick(text: str) -> str:
    """``10.0 min`` is ``10 min`` on an axis."""
    number, _, unit = text.partition(" ")
    if "." in number and "e" not in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}".strip()


def label_ends(ax: Axes, names: Sequence[str], ends: Sequence[tuple[float, float]], styles: Sequence[Any]) -> None:
    """Names at the ends of lines, pushed apart so that none covers another; a legend where there are many.

    ``styles`` holds the colour and the dash of each line.
    """
    low, high = ax.get_ylim()
    size = 8 if len(names) <= 8 else 7
    figure: Any = ax.figure
    points = 72 * figure.get_size_inches()[1] * (1 if ax.get_subplotspec() is None else ax.get_position().height)
    gap = 1.25 * size / max(points, 1.0) * (high - low)
    shown = [plain_text(shorten(name)) for name in names]
    if (len(names) - 1) * gap > high - low:
        _legend(ax, shown, styles)
        return
    placed = sorted(range(len(names)), key=lambda which: ends[which][1])
    heights = [min(max(ends[which][1], low), high) for which in placed]
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + gap)
    heights[-1] = min(heights[-1], high)
    for k in range(len(heights) - 2, -1, -1):
        heights[k] = min(heights[k], heights[k + 1] - gap)
    for which, height in zip(placed, heights, strict=True):
        ax.annotate(
            shown[which],
            ends[which],
            xytext=(1.015, height),
            textcoords=("axes fraction", "data"),
            color=styles[which][0],
            fontsize=size,
            va="center",
            annotation_clip=False,
        )


def label_below(figure: Figure | Any, names: Sequence[str], styles: Sequence[Any]) -> None:
    """One legend below all panels."""
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=colour, linestyle=dash, linewidth=1.4) for colour, dash in styles]
    shown = [plain_text(shorten(name)) for name in names]
    figure.legend(marks, shown, fontsize=7, frameon=False, loc="outside lower center", ncols=min(4, len(names)))


def _legend(ax: Axes, names: Sequence[str], styles: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    figure: Any = ax.figure
    marks = [Line2D([], [], color=colour, linestyle=dash, linewidth=1.4) for colour, dash in styles]
    alone = figure.get_layout_engine() is not None and figure.axes == [ax]
    if alone and figure.get_size_inches()[0] < _WIDE:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + 0.12 * -(-len(names) // 3))  # the names get room of their own
        figure.legend(marks, names, fontsize=5.5, frameon=False, loc="outside lower center", ncols=3)
    else:
        ax.legend(marks, names, fontsize=6, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def shorten(name: str, width: int = 28) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def plain_text(text: str) -> str:
    """Text as it is: a dollar sign starts no mathematics."""
    return text.replace("$", r"\$")
