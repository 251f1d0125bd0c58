"""Descriptions for the terminal: a table of numbers, a histogram and a scatter per family."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import round_to_uncertainty, show_cost, show_number
from levelbest.report.describe import Description, Histogram, ScoreDistribution
from levelbest.report.tables.table import Table, counts, numbers, texts
from levelbest.report.terminal.console import console, drawn_table, print_text, print_variances
from levelbest.report.words.variances import variance_facts

if TYPE_CHECKING:
    from rich.console import Console

_BAR = 40
_SHADES = " .:+#"
_SPARKS = " ▁▂▃▄▅▆▇█"
_MOST_BARS = 10
_FEWEST_POINTS = 5
"""Fewer points make no picture."""
_IN_FULL = 2
"""More families than these share a table."""


def print_descriptions(descriptions: Sequence[Description]) -> None:
    """One or two families in full; more of them in a table with a row for each score."""
    out = console()
    if len(descriptions) > _IN_FULL:
        rank = "" if descriptions[0].claimed is None else "; ρ: Spearman's, of selection and reported score"
        print_text(f"{descriptions[0].score}, with its counts from the lowest score to the highest{rank}", out, "dim")
        table, styles = _table(descriptions)
        out.print(drawn_table(table, styles=styles))
        out.print()
        print_variances([described.variance for described in descriptions if described.variance is not None], out)
        for described in descriptions:
            if described.winner is not None and described.winner.path:
                _print_winner(described, out, name=described.family)
        return
    for description in descriptions:
        _print_in_full(description, out, alone=len(descriptions) == 1)


def _print_in_full(description: Description, out: Console, *, alone: bool) -> None:
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
        table.add_row(*row)
    if not alone and description.histogram.counts.size:
        scores = [scores for scores in (description, description.claimed) if scores is not None]
        table.add_row("counts", *(spark_line(each.histogram) for each in scores))
    out.print(table)
    _print_winner(description, out)
    if alone and (description.pairs is None or description.pairs[0].size < _FEWEST_POINTS):
        for line in histogram_lines(description.histogram, decimals):
            out.print(Text(line))
    elif alone and description.pairs is not None:
        pictures = RichTable.grid(padding=(0, 3))
        counts = "\n".join(["", *histogram_lines(description.histogram, decimals, _BAR // 2)])
        title = Text(f"{description.reported} (up) against {description.score}", style="dim")
        points = Text("\n").join([title, *map(Text, scatter_lines(*description.pairs))])
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


def _table(descriptions: Sequence[Description]) -> tuple[Table, list[str]]:
    """A row for each family and score, and the style of its name."""
    digits = statistics.median_low([_decimals(described) for described in descriptions])
    rows: list[tuple[str, Description | None, ScoreDistribution, str]] = []
    for described in descriptions:
        rows.append((described.family, described, described, spark_line(described.histogram)))
        if (claimed := described.claimed) is not None:
            rank = f"{spark_line(claimed.histogram, 6):<6} ρ {show_number(described.spearman, 2)}"
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


def spark_line(histogram: Histogram, width: int = 10) -> str:
    """The histogram in one line, at most ``width`` marks."""
    if not histogram.counts.size:
        return ""
    parts = np.array_split(histogram.counts, min(width, histogram.counts.size))
    counts = [int(part.sum()) for part in parts]
    most = max(counts)
    return "".join(_SPARKS[-(-count * (len(_SPARKS) - 1) // most)] for count in counts)


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
        facts.append(("cost", f"{mean} a {description.words.unit}, {total} in all"))
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
    width = f"range {number(scores.iqr)} (error {number(scores.iqr_error)})"
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
