"""The figure of a loop: every attempt in order, what was kept, and which keeps survive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from levelbest.report.figures.curves import figure_of, new_axes, open_frame, own_style, plain_text, save_figure
from levelbest.results import Audit, LoopState
from levelbest.trials.colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KEPT, _DOUBTED, _DISCARDED = LIGHT[0], LIGHT[1], "0.65"
BarStyle = Mapping[str, object]


class Mark(NamedTuple):
    """One attempt of the picture."""

    x: int
    y: float | None
    kind: str
    """``keep``, ``doubt`` (kept, and does not survive), ``discard`` or ``crash``."""
    part: int = 0


@singledispatch
def marks_of(result: object) -> list[Mark]:
    """The attempts of a result in their order."""
    raise TypeError(f"{type(result).__name__} has no attempts")


@marks_of.register
def _(result: Audit) -> list[Mark]:
    survive = {(keep.label, keep.line) for keep in result.survivors}
    marks = []
    for place, version in enumerate(result.versions):
        kind = {"baseline": "keep", "keep": "doubt", "crash": "crash"}.get(version.decision, "discard")
        kind = "keep" if (version.label, version.line) in survive else kind
        marks.append(Mark(place, version.score, kind, version.part))
    return marks


@marks_of.register
def _(result: LoopState) -> list[Mark]:
    kinds = {"keep": "keep", "discard": "discard", "again": "discard"}
    return [
        Mark(place, row.score, "crash" if row.score is None else kinds[row.answer])
        for place, row in enumerate(result.attempts, 1)
    ]


def draw_attempts(
    ax: Axes | None, result: Audit | LoopState, *, style: BarStyle = MappingProxyType({}), **_: object
) -> Axes:
    """Scores against the number of the attempt; a step line joins what was kept, crashes stand at the foot."""
    ax = new_axes() if ax is None else ax
    marks = marks_of(result)
    unknown = isinstance(result, Audit) and result.sd is None
    labels = {
        "discard": ("discarded", _DISCARDED, "o", 9.0),
        "doubt": ("kept, noise unknown" if unknown else "kept, may be luck", _DOUBTED, "D", 26.0),
        "keep": ("kept" if isinstance(result, LoopState) else "first, or kept and survives", _KEPT, "o", 34.0),
    }
    for kind, (label, colour, shape, size) in labels.items():
        chosen = [(mark.x, mark.y) for mark in marks if mark.kind == kind and mark.y is not None]
        if chosen:
            x, y = zip(*chosen, strict=True)
            ax.scatter(x, y, s=size, marker=shape, color=colour, label=label, zorder=3, linewidths=0)
    _draw_steps(ax, marks, style)
    ax.set_xlabel("attempt")
    better = "higher" if result.direction == "max" else "lower"
    ax.set_ylabel(plain_text(f"{result.metric} ({better} is better)"))
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small")
    open_frame(ax)
    return ax


def _draw_steps(ax: Axes, marks: Sequence[Mark], style: BarStyle) -> None:
    """The line of what was kept in each part, and the crashes."""
    for part in sorted({mark.part for mark in marks}):
        kept = [(m.x, m.y) for m in marks if m.part == part and m.kind in ("keep", "doubt") and m.y is not None]
        if kept:
            x, y = zip(*kept, strict=True)
            last = max(mark.x for mark in marks if mark.part == part)
            line = {"color": "0.4", "linewidth": 1.0, "zorder": 2, **style}
            ax.step([*x, last], [*y, y[-1]], where="post", **line)
    if crashes := [mark.x for mark in marks if mark.kind == "crash"]:
        foot = ax.get_xaxis_transform()
        ax.plot(crashes, [0.02] * len(crashes), "x", color="0.3", markersize=4, transform=foot, label="crashed")


def save_attempts(result: Audit | LoopState, path: Path) -> Path:
    """Write the picture as PNG, SVG or PDF, by the path's ending."""
    with own_style():
        return save_figure(figure_of(draw_attempts(new_axes(), result)), path)
