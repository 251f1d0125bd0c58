"""What all figures share: the palette, sizes, frames, labels and files. No global style is touched."""

from __future__ import annotations

import io
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from levelbest import _check
from levelbest._plain import cost_ticks, keeps_unit, says_test, show_count, show_tick
from levelbest._write import write_bytes
from levelbest.results import Curve, DesignWords
from levelbest.trials.colours import DARK, GREY, LIGHT, Hues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Dash = str | tuple[float, tuple[float, ...]]
Style = tuple[str, Dash]
"""The colour and the dash of a line."""

# Dashes tell lines apart in greyscale and for readers who see fewer colours.
DASHES: tuple[Dash, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.6, 1.2, 1.6)), (0, (3, 1)), (0, (8, 2)), "-")
Colours = Mapping[str, str]
"""Colours that were asked for, by family, as matplotlib names them."""
LineLook = Mapping[str, object]
"""How lines are drawn, as of ``Axes.plot``."""
_LONG = {"c": "color", "ls": "linestyle", "lw": "linewidth", "ms": "markersize"}
_GREY = re.compile(r"#(?P<one>[0-9a-f]{2})(?P=one){2}\b")

_BESIDE_LETTERS = re.compile(r"\s*([A-Za-z])\s*")


def line_style(hue: int) -> Style:
    """The colour and the dash at a place of the palette; a line that is grey is whole."""
    return LIGHT[hue], DASHES[hue]


def colour_of(family: str, hues: Hues, colors: Colours = MappingProxyType({})) -> str:
    """The colour of a family: as asked for, else that of its place in the palette."""
    return colors.get(family) or LIGHT[hues.get(family, GREY)]


def themed(svg: bytes) -> bytes:
    """A figure for the page: its colours are variables that a dark scheme overrides, its background is the page's."""
    names = {colour: f"k{i}" for i, colour in enumerate(LIGHT)}
    used: dict[str, str] = {}

    def variable(match: re.Match[str]) -> str:
        colour = match[0].lower()
        if colour in LIGHT:
            used[names[colour]] = DARK[LIGHT.index(colour)]
        elif _GREY.fullmatch(colour):
            names[colour] = f"g{colour[1:3]}"
            used[names[colour]] = _dark_grey(int(colour[1:3], 16))
        else:
            return match[0]
        return f"var(--{names[colour]},{colour})"

    text = re.sub(r"(?<=[:\s])#[0-9a-fA-F]{6}\b", variable, svg.decode())
    text = text.replace("var(--gff,#ffffff)", "var(--gff,transparent)", 1)  # the ground of the whole figure comes first
    dark = "".join(f"--{name}:{colour};" for name, colour in sorted(used.items()))
    style = (
        f"<style>@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} text {{ fill: {_dark_grey(0)} }} }}</style>"
    )
    return re.sub(r"(<svg\b[^>]*>)", lambda match: match[1] + style, text, count=1).encode()


def slim(svg: bytes) -> bytes:
    """The same picture in fewer bytes: hundredths of a point are less than a screen shows.

    Examples
    --------
    >>> slim(b'<path d="M 40.64024 228.430496 \\nL 1 2.50001 \\n"/>').decode()
    '<path d="M40.64 228.43L1 2.5"/>'
    """
    text = re.sub(r"<[^>]+>", lambda tag: _slim_tag(tag[0]), svg.decode())
    return re.sub(r">\s+<", "><", text).encode()


def _slim_tag(tag: str) -> str:
    if "base64," in tag:
        return re.sub(r'(?<=base64,)[^"]*', lambda match: "".join(match[0].split()), tag)
    tag = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), tag)
    tag = re.sub(r"('DejaVu Sans',)[^;]*?(sans-serif)", r"\1\2", " ".join(tag.split()))
    return re.sub(r'(?<= d=")[^"]*', lambda path: _BESIDE_LETTERS.sub(r"\1", path[0]).strip(), tag)


def _dark_grey(level: int) -> str:
    """A grey of the dark scheme: white is the card, black is the ink."""
    card, ink = (22, 29, 37), (232, 237, 242)
    share = 1 - level / 255
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(card, ink, strict=True))


ONE_COLUMN = 3.3
"""Width of a paper's column in inches; figures are legible at it."""
WIDE = 2.8 * ONE_COLUMN
"""Width of a figure over the whole page."""
LOG_FROM = 30
"""Curves longer than this are drawn over a log scale, where small budgets can be told apart."""
PHONE = (3.6, 8.0)
PAPERS = {"neurips": (5.5, 9.0), "icml": (3.25, 8.0), "acl": (3.03, 8.0)}
"""The width of a column in inches, and the size of type that stands beside its text, by the style of a paper."""
_PAPER: ContextVar[tuple[float, float] | None] = ContextVar("paper", default=None)
_SOFT = "0.6"
_DPI = 200
_ROOM_BESIDE = 4.5  # inches: from here on there is room beside the lines


def new_figure(width: float, height: float) -> Figure:
    """A figure without pyplot: nothing is shown, nothing is global."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if (paper := _PAPER.get()) is not None:
        height *= min(1.0, (paper[0] / width) ** 0.5)
        width = paper[0]
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float = 2 * ONE_COLUMN, height: float | None = None) -> Axes:
    """Axes on a figure of their own."""
    return new_figure(width, height or 0.62 * width).add_subplot()


def figure_of(ax: Axes) -> Figure:
    """The figure that an Axes is on: the whole one, where that is divided."""
    from matplotlib.figure import Figure

    return ax.figure if isinstance(ax.figure, Figure) else ax.figure.figure


def open_frame(ax: Axes, *, without: Sequence[str] = ("top", "right"), grid: Literal["x", "y"] | None = None) -> None:
    """Axes without lines at these sides, soft ones at the others, and faint ones across from the ticks of one."""
    ax.spines[list(without)].set_visible(False)
    ax.spines[:].set(color=_SOFT, linewidth=0.7)
    ax.tick_params(which="both", color=_SOFT)
    if grid is not None:
        ax.grid(axis=grid, color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)


def score_of(curve: Curve) -> str:
    """The score of a curve as it is written beside an axis."""
    checked = curve.reported or curve.words.group or says_test(curve.selection)
    return curve.score if checked else f"{curve.score} ({curve.words.badge})"


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the path's ending."""
    return write_bytes(path, figure_bytes(figure, path.suffix.lower().removeprefix(".")))


def figure_bytes(figure: Figure, kind: str) -> bytes:
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


def lay_out(figure: Figure, *, last: bool = True) -> None:
    """Give every part its place, once for all formats; to be drawn a figure would be laid out twice. Where more is to
    come it is not the ``last`` time."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
    if last:
        figure.set_layout_engine("none")


@contextmanager
def own_style() -> Iterator[None]:
    """Small type that stays legible in a paper's column, text that stays text, the same bytes every time."""
    import matplotlib

    size = 8.0 if (paper := _PAPER.get()) is None else paper[1]
    settings = {"svg.hashsalt": "levelbest", "pdf.fonttype": 42, "svg.fonttype": "none", "font.size": size}
    with matplotlib.rc_context(settings | {"axes.titley": 1.0}):  # no labels above: titles need not be placed over them
        yield


@contextmanager
def for_paper(name: str | tuple[float, float] | None) -> Iterator[None]:
    """Within, new figures have the width and the type of a paper's style, or those given; None: those of a page."""
    given = PAPERS[_check.as_choice(name, tuple(PAPERS), "paper")] if isinstance(name, str) else name
    token = _PAPER.set(given)
    try:
        yield
    finally:
        _PAPER.reset(token)


def side_by_side(many: int) -> int:
    """How many small charts of a figure stand in a row: fewer in a paper's narrow column."""
    paper = _PAPER.get()
    return 2 if many in (2, 4) or (paper is not None and paper[0] < 4) else 3


def set_score_label(ax: Axes, what: str, score: str) -> None:
    """What the heights are, on two lines where one would be longer than the axis, and smaller where two would be."""
    figure = figure_of(ax)
    size = float(ax.yaxis.label.get_fontsize())
    room = 0.9 * 72 * figure.get_figheight() * ax.get_position().height / 0.6  # points for letters of width 1
    fits = size * len(f"{what} {score}") < room
    size = min(size, max(5.0, room / max(len(score), 1)))
    ax.set_ylabel(plain_text(f"{what}{' ' if fits else chr(10)}{score}"), fontsize=size)


def fit_label(ax: Axes, text: str) -> None:
    """What the widths are, on several lines where one would be longer than the figure."""
    room = 0.95 * 72 * (figure_of(ax).get_figwidth() - 1.1)  # points beside the names of the rows
    ax.set_xlabel(plain_text(textwrap.fill(text, max(20, int(room / (0.55 * float(ax.xaxis.label.get_fontsize())))))))


def statistic_words(statistic: str, words: DesignWords) -> str:
    """What the heights of a curve are, before the name of their score."""
    if words.measure:
        return words.best_of("k")
    named = {"mean": "expected best", "median": "median best", "all": "pass^k, all of n succeed:"}
    named["majority"] = "majority answer,"
    return named.get(statistic, f"{statistic} quantile, best")


def set_budget_axis(
    ax: Axes, over_cost: bool, cost_unit: str | None, log: bool, words: DesignWords | None = None
) -> None:
    """Round budgets along the foot: whole numbers of trials, costs in units that people use."""
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

    if log:
        ax.set_xscale("log")
        ax.margins(x=0.01)
        low, high = ax.get_xlim()
        # beyond two and a half decades the powers of ten suffice
        subs = (1.0, 2.0, 5.0) if high / low < 300 else (1.0,)
        ax.xaxis.set_major_locator(LogLocator(subs=subs))
        ax.xaxis.set_minor_locator(NullLocator())
    if over_cost:
        if log and (ticks := cost_ticks(*ax.get_xlim(), cost_unit)):
            most = max(3, int(1.3 * figure_of(ax).get_figwidth()))
            ax.xaxis.set_major_locator(FixedLocator(ticks[:: -(-len(ticks) // most)]))
        once = cost_unit if keeps_unit(cost_unit) else None
        what = f"spend on each {words.group}" if words is not None and words.group else "budget"
        ax.set_xlabel(f"{what} ({once or 'cost'})" if once or what == "budget" else what)
        ax.xaxis.set_major_formatter(lambda value, _: show_tick(value, None if once else cost_unit))
        return
    if words is not None:
        ax.set_xlabel(f"n, {words.units} of each {words.group}" if words.group else f"budget ({words.units})")
    ax.xaxis.set_major_formatter(lambda value, _: show_count(value))
    if not log:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def label_ends(ax: Axes, names: Sequence[str], ends: Sequence[tuple[float, float]], styles: Sequence[Style]) -> None:
    """Names at the ends of lines, pushed apart so that none covers another; a legend where there are many.

    ``styles`` holds the colour and the dash of each line.
    """
    low, high = ax.get_ylim()
    size = 8 if len(names) <= 8 else 7
    figure = figure_of(ax)
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
    inside = [min(max(ends[which][1], low), high) for which in placed]
    moved = [abs(height - end) > 0.4 * gap for height, end in zip(heights, inside, strict=True)]
    aside = 1.045 if any(moved) else 1.015
    look: dict[str, Any] = {
        "fontsize": size,
        "va": "center",
        "annotation_clip": False,
        "xycoords": ("axes fraction", "data"),
    }
    leaders = {}
    for which, height, end, far in zip(placed, heights, inside, moved, strict=True):
        colour = styles[which][0]
        ax.annotate(shown[which], (aside, height), color=colour, **look)
        if far:
            leaders[which] = ((1.005, end), (aside - 0.008, height)), colour
    if leaders:
        from matplotlib.collections import LineCollection

        segments, colours = zip(*leaders.values(), strict=True)
        lines = LineCollection(segments, colors=colours, linewidths=0.6, transform=ax.get_yaxis_transform())
        lines.set(clip_on=False, in_layout=False)  # the names beside them have their room
        ax.add_collection(lines, autolim=False)


def label_below(figure: Figure, names: Sequence[str], styles: Sequence[Style]) -> None:
    """One legend below all panels."""
    shown = [plain_text(shorten(name)) for name in names]
    figure.legend(
        _marks(styles), shown, fontsize=7, frameon=False, loc="outside lower center", ncols=min(4, len(names))
    )


def _legend(ax: Axes, names: Sequence[str], styles: Sequence[Style]) -> None:
    figure = figure_of(ax)
    marks = _marks(styles)
    alone = figure.get_layout_engine() is not None and figure.axes == [ax]
    if alone and figure.get_size_inches()[0] < _ROOM_BESIDE:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + 0.12 * -(-len(names) // 3))  # the names get room of their own
        figure.legend(marks, names, fontsize=5.5, frameon=False, loc="outside lower center", ncols=3)
    else:
        ax.legend(marks, names, fontsize=6, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _marks(styles: Sequence[Style]) -> list[Line2D]:
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=colour, linestyle=dash, linewidth=1.4) for colour, dash in styles]


def shorten(name: str, width: int = 28) -> str:
    """A long name without its middle: what tells configurations apart stands at either end.

    Examples
    --------
    >>> shorten("roberta-large-finetuned-lr1e-5-seed3", 20)
    'roberta-la…e-5-seed3'
    """
    return name if len(name) <= width else f"{name[: width // 2]}…{name[-((width - 1) // 2) :]}"


def plain_text(text: str) -> str:
    """Text as it is: a dollar sign starts no mathematics."""
    return text.replace("$", r"\$")


def styled(style: LineLook, **usual: object) -> dict[str, Any]:
    """How a line is drawn: as asked for, else as usual; matplotlib's short names count as the long ones."""
    given = {_LONG.get(name, name): value for name, value in style.items()}
    return {**usual, **given}


def labelled(ax: Axes) -> list[Line2D]:
    """The lines that have names."""
    return [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]


def name_rows(ax: Axes, names: Sequence[str], colours: Sequence[str], **look: Any) -> None:
    """Names of families at the rows of a picture, in their colours."""
    ax.set_yticks(range(len(names)), [plain_text(shorten(name)) for name in names], **look)
    ax.tick_params(axis="y", length=0)
    for label, colour in zip(ax.get_yticklabels(), colours, strict=True):
        label.set_color(colour)


def given_axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    # pyplot keeps every figure it creates until it is closed, so only figures shown with it are created by it.
    pyplot = sys.modules.get("matplotlib.pyplot")
    new: Axes = (Figure if pyplot is None else pyplot.figure)(layout="constrained").add_subplot()
    return new
