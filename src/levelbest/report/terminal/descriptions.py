"""Descriptions for the terminal: a table of numbers, a histogram and a scatter per family."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import round_to_uncertainty, show_cost, show_number
from levelbest.report.describe import Description, Histogram
from levelbest.report.terminal.curves import console

__all__ = ["histogram_lines", "print_descriptions", "scatter_lines"]

_BAR = 40
_SHADES = " .:+#"


def print_descriptions(descriptions: Sequence[Description]) -> None:
    """One block per family."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    for one in descriptions:
        decimals = _decimals(one)
        failed = f", {one.n_failed} failed" if one.n_failed else ""
        running = f", {one.n_running} still running" if one.n_running else ""
        title = Text.assemble((one.family, "bold"), f"  {one.n_trials} {one.word}s{failed}{running}; {one.score}")
        out.print(title)
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="dim")
        table.add_column()
        for name, text in _facts(one, decimals):
            table.add_row(name, text)
        out.print(table)
        for line in histogram_lines(one.histogram, decimals):
            out.print(Text(line))
        if one.pairs is not None and one.pairs[0].size > 2:
            out.print(Text(f"{one.reported} (up) against {one.score}", style="dim"))
            for line in scatter_lines(*one.pairs):
                out.print(Text(line))
        out.print()


def _decimals(one: Description) -> int:
    error = one.sd / np.sqrt(max(one.n_trials - one.n_failed, 1))
    return round_to_uncertainty(one.mean, one.mean - error, one.mean + error)


def _facts(one: Description, decimals: int) -> list[tuple[str, str]]:
    def number(value: float) -> str:
        return show_number(value, decimals)

    low, high = one.quantiles[0.25], one.quantiles[0.75]
    facts = [
        ("mean, sd", f"{number(one.mean)}, {number(one.sd)}"),
        ("median", number(one.median)),
        ("quartiles", f"{number(low)} to {number(high)}, range {number(one.iqr)} (error {number(one.iqr_error)})"),
        ("5 to 95 %", f"{number(one.quantiles[0.05])} to {number(one.quantiles[0.95])}"),
        ("min, max", f"{number(one.min)}, {number(one.max)}"),
        ("normality", str(one.normality or "no trial has a score")),
    ]
    if one.reported is not None:
        facts.append(("reported", f"{one.reported}: mean {number(one.reported_mean)}, sd {number(one.reported_sd)}"))
        facts.append(("Spearman", f"{show_number(one.spearman, 3)} between selection and reported"))
    if np.isfinite(one.cost_mean):
        mean, total = show_cost(one.cost_mean, one.cost_unit), show_cost(one.cost_total, one.cost_unit)
        facts.append(("cost", f"{mean} a {one.word}, {total} in all"))
    counts = [("problems", one.n_groups), ("searches", one.n_searches)]
    if one.n_configurations is not None and 1 < one.n_configurations < one.n_trials:
        counts.append(("settings", one.n_configurations))
    return facts + [(what, f"{count}") for what, count in counts if count is not None]


def histogram_lines(histogram: Histogram, decimals: int) -> list[str]:
    """One line per step: where it begins, a bar, the count."""
    if not histogram.counts.size:
        return []
    labels = [show_number(float(edge), decimals) for edge in histogram.edges[:-1]]
    wide = max(map(len, labels))
    most = int(histogram.counts.max())
    lines = []
    for label, count in zip(labels, histogram.counts.tolist(), strict=True):
        bar = "█" * (round(_BAR * count / most) or int(count > 0))
        lines.append(f"{label:>{wide}} {bar:<{_BAR}} {count}")
    return lines


def scatter_lines(x: FloatArray, y: FloatArray, width: int = 44, height: int = 10) -> list[str]:
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
