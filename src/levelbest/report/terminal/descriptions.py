"""Descriptions for the terminal: a table of numbers, a histogram and a scatter per family."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import round_to_uncertainty, show_cost, show_number
from levelbest.report.describe import Description, Histogram, ScoreDistribution
from levelbest.report.tables.table import Table, counts, numbers, texts
from levelbest.report.terminal.console import console, drawn_table, print_text, print_variances, screen_lines
from levelbest.report.words.variances import variance_facts

if TYPE_CHECKING:
    from rich.console import Console

_BAR = 40
_SHADES = " .:+#"
_SPARKS = " ▁▂▃▄▅▆▇█"
_MOST_BARS = 10
_FEWEST_POINTS = 5
"""Fewer points make no picture."""
_DETAILS = ("5 to 95 %", "normality")
_BESIDE = 11
"""Lines of a screen beside the rows of the table: its heads, how the table was read, doubts."""
_IN_FULL = 2
"""More families than these share a table."""


def print_descriptions(descriptions: Sequence[Description], *, details: bool = False) -> None:
    """One or two families in full; more of them in a table with a row for each score, ``details`` of all of them."""
    out = console()
    if len(descriptions) > _IN_FULL:
        room = screen_lines() - _BESIDE
        shown = descriptions if details else descriptions[:room]
        reported = details or 2 * len(descriptions) <= room
        rank = "" if descriptions[0].claimed is None or not reported else "; ρ: Spearman's, of both scores"
        low, high = _axis_of(descriptions)
        axis = f"histogram from {low:.3g} to {high:.3g}" if low < high else "histogram"
        print_text(f"{descriptions[0].score}, with {axis}{rank}", out, "dim")
        table, styles = _table(shown, reported=reported)
        out.print(drawn_table(table, styles=styles))
        if len(shown) < len(descriptions):
            out.print(f"... and {len(descriptions) - len(shown)} more")
        out.print()
        if details:
            print_variances([described.variance for described in descriptions if described.variance is not None], out)
        for described in descriptions if details else ():
            if described.winner is not None and described.winner.path:
                _print_winner(described, out, name=described.family)
        return
    for description in descriptions:
        _print_in_full(description, out, alone=len(descriptions) == 1, details=details)


def _print_in_full(description: Description, out: Console, *, alone: bool, details: bool) -> None:
    """All facts; pictures of a family that is described alone, so that two fit on a screen."""
    from rich.table import Table as RichTable
    from rich.text import Text

    decimals = _decimals(description)
    failed = f", {description.n_failed} failed" if description.n_failed else ""
    running = f", {description.n_running} still running" if description.n_running else ""
    count = f"  {description.words.count(description.n_trials)}{failed}{running}; {description.score}"
    out.print(Text.assemble((description.family, "bold"), count))
    table = RichTable(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    if description.claimed is not None:
        table.add_column()
        table.add_row("", Text(description.score, style="bold"), Text(description.claimed.score, style="bold"))
    for row in description_facts(description):
        if details or row[0] not in _DETAILS:
            table.add_row(*row)
    if not alone and description.histogram.counts.size:
        scores = [scores for scores in (description, description.claimed) if scores is not None]
        table.add_row("counts", *(spark_line(each.histogram, _ends(each.histogram)) for each in scores))
    out.print(table)
    _print_winner(description, out)
    if alone and (description.pairs is None or description.pairs[0].size < _FEWEST_POINTS):
        for line in histogram_lines(description.histogram, decimals):
            out.print(Text(line))
    elif alone and description.pairs is not None:
        pictures = RichTable.grid(padding=(0, 3))
        counts = "\n".join(["", *histogram_lines(description.histogram, decimals, _BAR // 2)])
        title = Text(f"{description.reported} (up) against {description.score}", style="dim")
        height = 8 if details else 6
        points = Text("\n").join([title, *map(Text, scatter_lines(*description.pairs, height=height))])
        pictures.add_row(Text(counts), points)
        out.print(pictures)
    out.print()


def _print_winner(description: Description, out: Console, name: str = "") -> None:
    """The best trial's settings, those that were searched, and where its files are."""
    winner = description.winner
    if winner is None or not (winner.searched or winner.path):
        return
    settings = [f"{key} = {winner.configuration[key]}" for key in winner.searched if key in winner.configuration]
    parts = [", ".join(settings), winner.path]
    label = f"best {description.words.unit}" + (f" of {name}" if name else "")
    print_text(f"{label}: {'; '.join(part for part in parts if part)}", out, "dim")


def _axis_of(descriptions: Sequence[Description]) -> tuple[float, float]:
    """From the lowest to the highest selection score, of all families."""
    known = [described.histogram.edges for described in descriptions if described.histogram.counts.size]
    return (float(min(edges[0] for edges in known)), float(max(edges[-1] for edges in known))) if known else (0.0, 0.0)


def _claimed_axis(descriptions: Sequence[Description]) -> tuple[float, float]:
    """The same of the reported scores: that of the selection scores, where they lie within it."""
    low, high = _axis_of(descriptions)
    histograms = [described.claimed.histogram for described in descriptions if described.claimed is not None]
    known = [histogram.edges for histogram in histograms if histogram.counts.size]
    if not known:
        return low, high
    first, last = float(min(edges[0] for edges in known)), float(max(edges[-1] for edges in known))
    margin = 0.1 * (high - low)
    return (low, high) if low - margin <= first and last <= high + margin else (first, last)


def _table(descriptions: Sequence[Description], *, reported: bool = True) -> tuple[Table, list[str]]:
    """A row for each family and score, and the style of its name; all pictures of a score share an axis."""
    axis, claimed_axis = _axis_of(descriptions), _claimed_axis(descriptions)
    digits = statistics.median_low([_decimals(described) for described in descriptions])
    rows: list[tuple[str, Description | None, ScoreDistribution, str]] = []
    for described in descriptions:
        rows.append((described.family, described, described, spark_line(described.histogram, axis)))
        if (claimed := described.claimed) is not None and reported:
            rank = f"{spark_line(claimed.histogram, claimed_axis)} ρ {show_number(described.spearman, 2)}"
            rows.append((f" {claimed.score}", None, claimed, rank))
    columns = [
        texts("family", [name for name, *_ in rows]),
        counts(descriptions[0].words.units, [None if family is None else family.n_trials for _, family, _, _ in rows]),
        counts("failed", [None if family is None else family.n_failed for _, family, _, _ in rows]),
        *(
            numbers(name, [getattr(scores, name) for _, _, scores, _ in rows], digits)
            for name in ("mean", "sd", "median", "max")
        ),
        texts("", [picture for *_, picture in rows]),
    ]
    return Table(tuple(columns)), ["dim" if family is None else "bold" for _, family, _, _ in rows]


def spark_line(histogram: Histogram, axis: tuple[float, float], width: int = 10) -> str:
    """The histogram in one line of ``width`` marks along an axis; a step that lies in two marks counts for both."""
    counts, edges = histogram.counts, histogram.edges
    if not counts.size:
        return ""
    (low, high), most = axis, int(counts.max())
    if not high > low or most == 0:
        return _SPARKS[-1]
    marks = low + (high - low) * np.linspace(0, 1, width + 1)
    heights = []
    for first, last in pairwise(marks):
        inside = np.clip(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0, None)
        heights.append(float((counts * inside / np.maximum(edges[1:] - edges[:-1], 1e-300)).sum()))
    top = max(heights) or 1.0
    return "".join(_SPARKS[math.ceil(height / top * (len(_SPARKS) - 1) - 1e-9)] for height in heights)


def _ends(histogram: Histogram) -> tuple[float, float]:
    return float(histogram.edges[0]), float(histogram.edges[-1])


def _decimals(description: Description) -> int:
    error = description.sd / np.sqrt(max(description.n_trials - description.n_failed, 1))
    return round_to_uncertainty(description.mean, description.mean - error, description.mean + error)


def description_facts(description: Description) -> list[tuple[str, ...]]:
    """Each fact of the selection scores, and beside it that of the reported ones."""
    decimals = _decimals(description)
    columns = [_numbers(scores, decimals) for scores in (description, description.claimed) if scores is not None]
    measured = bool(description.histogram.counts.size)
    named = ("mean, sd", "median", "quartiles", "5 to 95 %", "min, max", "normality") if measured else ("normality",)
    facts: list[tuple[str, ...]] = [("" if not measured else name, *(each[name] for each in columns)) for name in named]
    if description.claimed is not None and measured:
        facts.append(("Spearman", f"{show_number(description.spearman, 3)} between them"))
    if np.isfinite(description.cost_mean):
        spent = (description.cost_mean, description.cost_total)
        mean, total = (show_cost(cost, description.cost_unit) for cost in spent)
        facts.append(("cost", f"{mean} per {description.words.unit}, {total} total"))
    counts = [("problems", description.n_groups), ("searches", description.n_searches)]
    if description.n_configurations is not None and 1 < description.n_configurations < description.n_trials:
        counts.append(("settings", description.n_configurations))
    by_source: list[tuple[str, ...]] = []
    if description.variance is not None:
        beside = () if description.claimed is None else ("",)
        by_source = [(name, *beside, text) for name, text in variance_facts(description.variance)]
    return [*facts, *((what, f"{count}") for what, count in counts if count is not None), *by_source]


def _numbers(scores: ScoreDistribution, decimals: int) -> dict[str, str]:
    def number(value: float) -> str:
        return show_number(value, decimals)

    low, high = scores.quantiles[0.25], scores.quantiles[0.75]
    error = f" ± {number(scores.iqr_error)}" if math.isfinite(scores.iqr_error) else ""
    width = f"IQR {number(scores.iqr)}{error}"
    return {
        "mean, sd": f"{number(scores.mean)}, {number(scores.sd)}",
        "median": number(scores.median),
        "quartiles": f"{number(low)} to {number(high)}, {width}",
        "5 to 95 %": f"{number(scores.quantiles[0.05])} to {number(scores.quantiles[0.95])}",
        "min, max": f"{number(scores.min)}, {number(scores.max)}",
        "normality": str(scores.normality or "no trial has a score"),
    }


def histogram_lines(histogram: Histogram, decimals: int, longest: int = _BAR) -> list[str]:
    """One line per step, or per few steps of many: where it begins, a bar, the count."""
    if not histogram.counts.size:
        return []
    together = -(-histogram.counts.size // _MOST_BARS)
    starts = np.arange(0, histogram.counts.size, together)
    counts = np.add.reduceat(histogram.counts, starts)
    labels = [show_number(float(edge), decimals) for edge in histogram.edges[starts]]
    wide = max(map(len, labels))
    most = int(counts.max())
    lines = []
    for label, count in zip(labels, counts.tolist(), strict=True):
        bar = "█" * (round(longest * count / most) or int(count > 0))
        lines.append(f"{label:>{wide}} {bar:<{longest}} {count}")
    return lines


def scatter_lines(x: FloatArray, y: FloatArray, width: int = 36, height: int = 8) -> list[str]:
    """Points as shades in a frame: the darker, the more trials."""
    across = _cells(x, width)
    up = _cells(y, height)
    counts = np.zeros((height, width), dtype=np.int64)
    np.add.at(counts, (height - 1 - up, across), 1)
    most = int(counts.max())
    shade = np.where(counts > 0, 1 + (counts - 1) * (len(_SHADES) - 1) // max(most, 1), 0)
    rows = ["".join(_SHADES[level] for level in row) for row in shade.clip(0, len(_SHADES) - 1).tolist()]
    return ["┌" + "─" * width + "┐", *(f"│{row}│" for row in rows), "└" + "─" * width + "┘"]


def _cells(values: FloatArray, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return np.full(values.size, count // 2, dtype=np.int64)
    place = ((values - low) / (high - low) * count).astype(np.int64)
    return np.minimum(place, count - 1)
