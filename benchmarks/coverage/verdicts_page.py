"""The page of the certificate of verdicts, from what `verdicts.py run` computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest.stats import claim_gate

if TYPE_CHECKING:
    from verdicts import Cell, Tally

LEVELS = (0.01, 0.05, 0.1, 0.2)
ATTEMPTS = ((20, 1), (50, 5), (200, 10))
GATE_SAMPLES = 2_000


def write_page(results: dict[str, Tally], cells: Sequence[Cell], page: Path) -> None:
    """All tables; a cell without samples is left out."""
    known = [(cell, results[cell.key]) for cell in cells if cell.key in results and results[cell.key].samples]
    lines = [*_HEAD]
    for kind, families, title, text in _EQUAL_TABLES:
        chosen = [(c, t) for c, t in known if c.kind == kind and (len(c.sizes) > 2) == families]
        lines += _equal_table(title, text, chosen)
    for kind, title, text in _UNEQUAL_TABLES:
        lines += _unequal_table(title, text, [(c, t) for c, t in known if c.kind == kind])
    lines += _power_table([(c, t) for c, t in known if c.kind == "power"])
    lines += _seeds_table([(c, t) for c, t in known if c.kind == "seeds"])
    lines += _plan_table([(c, t) for c, t in known if c.kind == "plan"])
    lines += _gate_table()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


_HEAD = (
    "# The certificate of verdicts",
    "",
    "How often a winner is named where there is none, how often limits hold at all budgets and pairs together, how "
    "wide they are, and what is seen, at 95 % confidence. Budgets are all from 1 to half the trials of the smaller "
    "family. Every table says how many samples stand behind a row: with 500, a true .05 shows as .033 to .073 and a "
    "true .95 as .927 to .967; with 1,000 as .037 to .065 and .935 to .963 (95 % of the time). Rivals are measured on "
    "the first 250 samples of a row. A whole run has 2,000 samples a row, fewer where one takes long, and takes hours. "
    "That dealing trials anew is exact under equal laws is a theorem, "
    "and does not rest on these tables. The shares of the error probability that limits use were chosen on samples of "
    "many of these laws: laws that are not here are the better test.",
    "",
    "Written by `python benchmarks/coverage/verdicts.py write` from what `run` computed (seed 2026).",
)
_EQUAL_TABLES = (
    (
        "equal",
        False,
        "Equal laws, two families",
        "Every winner, at any budget, is false. In brackets: Welch's t at one "
        "trial, and percentile bootstrap intervals of the difference at each budget.",
    ),
    (
        "equal",
        True,
        "Equal laws, five families",
        "A winner in any of the ten pairs, at any budget. In brackets: "
        "Welch's t at one trial with Holm over the pairs.",
    ),
    ("equal seeds", False, "Seeds, equal laws, two families", "The mean of a new run. In brackets: Welch's t."),
    (
        "equal seeds",
        True,
        "Seeds, equal laws, five families",
        "A winner in any of the ten pairs. In brackets: Welch's t with Holm.",
    ),
    (
        "equal median",
        False,
        "Medians of a reported score, equal laws",
        "The reported score is the selection score with as much noise again; a winner at any budget.",
    ),
    ("equal cost", False, "Over cost, equal laws", "Exponential costs; a winner at any budget of cost."),
    (
        "equal, better is dearer",
        False,
        "Over cost, equal laws, better trials dearer",
        "The same where the cost of a trial rises with its score.",
    ),
)
_UNEQUAL_TABLES = (
    (
        "free",
        "Unequal laws without bounds",
        "Standardised scores; of five families the limits of all ten pairs hold together. Named: t3 and the lognormal "
        "law have a tail on the "
        "best side that so few trials do not show; ten skewed trials against a hundred are too few for their mean.",
    ),
    (
        "bounded",
        "Unequal laws with bounds 0 and 1",
        "By default limits that imagine a further trial near the others, within the bounds, join in where scores "
        "spread or tie; `gaffke` are limits from the bounds alone, which rest on nothing else.",
    ),
    (
        "rare",
        "Rare modes, with bounds",
        "A mode rarer than 3 in the number of trials may be unseen, and nothing but "
        "the bounds speaks of it. The default's own figure stands beside that of `gaffke`.",
    ),
)


def _rate(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _equal_table(title: str, text: str, cells: list[tuple[Cell, Tally]]) -> list[str]:
    if not cells:
        return []
    sizes = list(dict.fromkeys(cell.sizes for cell, _ in cells))
    heads = [" ".join(str(size) for size in own) for own in sizes]
    lines = ["", f"## {title}", "", text, "", "| law | " + " | ".join(heads) + " |", "|---|" + "---|" * len(sizes)]
    for law in dict.fromkeys(cell.laws[0] for cell, _ in cells):
        row = []
        for own in sizes:
            tally = next((t for c, t in cells if c.laws[0] == law and c.sizes == own), None)
            if tally is None:
                row.append("")
                continue
            rivals = [_rate(tally.mean(name)) for name in ("welch", "percentile") if tally.numbers.get(name)]
            beside = f" ({', '.join(rivals)})" if rivals else ""
            row.append(f"{tally.mean('winner'):.3f}{beside}")
        lines.append(f"| {law} | " + " | ".join(row) + " |")
    samples = sorted({tally.samples for _, tally in cells})
    return [*lines, "", f"Samples a cell: {_between(samples)}."]


def _between(numbers: Sequence[int]) -> str:
    return f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"


def _unequal_table(title: str, text: str, cells: list[tuple[Cell, Tally]]) -> list[str]:
    if not cells:
        return []
    lines = ["", f"## {title}", "", text, ""]
    lines += [
        "| laws | trials | method | held together | wrong family | any verdict | width at 1 and last | samples |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell, tally in cells:
        for method in ("default", "gaffke", "percentile", "opda"):
            if not tally.numbers.get(f"{method} held"):
                continue
            rates = [_rate(tally.mean(f"{method} {name}")) for name in ("held", "wrong", "decided")]
            widths = ", ".join(f"{tally.mean(f'{method} width {end}'):.3g}" for end in ("first", "last"))
            shown = {"percentile": "percentile, each budget", "opda": "two bands of opda"}.get(method, method)
            samples = tally.numbers[f"{method} held"]
            lines.append(
                f"| {', '.join(cell.laws)} | {_sizes(cell)} | {shown} | {' | '.join(rates)} | {widths} | {samples:,} |"
            )
    return lines


def _sizes(cell: Cell) -> str:
    return " ".join(str(size) for size in cell.sizes)


def _rows(head: str, cells: Iterable[tuple[Cell, Tally]], names: Sequence[str]) -> list[str]:
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    for cell, tally in cells:
        rates = " | ".join(_rate(tally.mean(name)) for name in names)
        lines.append(f"| {_sizes(cell)} | {cell.title} | {rates} | {tally.samples:,} |")
    return lines


def _power_table(cells: list[tuple[Cell, Tally]]) -> list[str]:
    head = "| trials | shift | over all budgets | named in advance | Welch at 1 | percentile at 1 | samples |"
    text = "Normal laws, certified at one trial: over all budgets together, and where that budget was named in advance."
    names = ("over all", "named", "welch", "percentile")
    return ["", "## What is seen: random searches", "", text, "", *_rows(head, cells, names)] if cells else []


def _seeds_table(cells: list[tuple[Cell, Tally]]) -> list[str]:
    head = "| seeds | models | decided of different pairs | a wrong verdict | Welch with Holm | samples |"
    text = "Normal laws, the mean of a new run."
    return (
        ["", "## What is seen: seeds", "", text, "", *_rows(head, cells, ("decided", "wrong", "welch"))]
        if cells
        else []
    )


def _plan_table(cells: list[tuple[Cell, Tally]]) -> list[str]:
    head = "| pilots | compared | delivered | mean trials planned | samples |"
    text = (
        "Pilots of 500 trials, normal laws .9 sd apart, n = 5, .80 promised: the share of fresh comparisons of as many "
        "trials as planned, over all their budgets, with the right verdict. The families come in either order by turns."
    )
    lines = [head, "|---|---|---|---|---|"]
    for cell, tally in cells:
        lines.append(
            f"| {_sizes(cell)} | {cell.title} | {_rate(tally.mean('delivered'))} | {tally.mean('planned'):.0f} | "
            f"{tally.samples:,} |"
        )
    return ["", "## The power that a plan promises", "", text, "", *lines] if cells else []


def _gate_table() -> list[str]:
    heads = " | ".join(f"p <= {level:g}" for level in LEVELS)
    lines = [
        "",
        "## The gate under no improvement",
        "",
        f"{GATE_SAMPLES:,} samples a row.",
        "",
        f"| baseline runs | attempts | smallest p | {heads} |",
        "|---|---|---|" + "---|" * len(LEVELS),
    ]
    for baseline, attempts in ATTEMPTS:
        rng = np.random.default_rng([2026, baseline, attempts])
        scores = rng.normal(size=(GATE_SAMPLES, baseline + attempts))
        p = np.array([claim_gate(row[:baseline], float(row[baseline:].max()), attempts).p_value for row in scores])
        shares = " | ".join(f"{np.mean(p <= level):.3f}" for level in LEVELS)
        lines.append(f"| {baseline} | {attempts} | {attempts / (baseline + attempts):.3f} | {shares} |")
    return lines
