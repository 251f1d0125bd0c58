"""The page of the certificate of verdicts, from its results alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from certificate import Results, Tally, rate, samples_words, table
from distributions import HELD_OUT

__all__ = ["write_page"]

EARLIER = Path(__file__).parent / "earlier.json"
PAGE = Path(__file__).parents[2] / "docs" / "coverage-verdicts.md"
Figures = Mapping[str, Mapping[str, float]]
"""By cell and measure, of an earlier version."""


@dataclass(frozen=True)
class Grid:
    """One measure, rows by columns; in brackets others, where they were taken."""

    name: str
    title: str
    text: str
    measure: str = "winner"
    beside: tuple[str, ...] = ()

    def lines(self, cells: Mapping[tuple[str, str], Tally], _: Figures) -> list[str]:
        """Its table."""
        columns = list(dict.fromkeys(column for _, column in cells))
        body = []
        for row in dict.fromkeys(row for row, _ in cells):
            figures = [self._figure(cells.get((row, column))) for column in columns]
            body.append([_starred(row), *figures])
        return table(["distribution", *columns], body)

    def _figure(self, tally: Tally | None) -> str:
        if tally is None:
            return ""
        others = [rate(tally.mean(name)) for name in self.beside if tally.numbers.get(name)]
        return rate(tally.mean(self.measure)) + (f" ({', '.join(others)})" if others else "")


@dataclass(frozen=True)
class List:
    """Several measures of each cell, one cell a row; ``earlier`` shows the figure of an earlier version beside."""

    name: str
    title: str
    text: str
    measures: Mapping[str, str]
    """Measure to heading."""
    heads: tuple[str, str] = ("distributions", "counts")
    earlier: str | None = None

    def lines(self, cells: Mapping[tuple[str, str], Tally], before: Figures) -> list[str]:
        """Its table."""
        known = {key: head for key, head in self.measures.items() if any(t.numbers.get(key) for t in cells.values())}
        shown = {key: [head] for key, head in known.items()}
        if self.earlier in shown:
            shown[self.earlier].append("(version 0.1)")
        heads = [*self.heads, *(" ".join(words) for words in shown.values()), "samples"]
        body = []
        for (row, column), tally in cells.items():
            figures = [_number(key, tally.mean(key)) for key in known]
            old = before.get(" | ".join((self.name, row, column)), {})
            if self.earlier in old:
                figures[list(known).index(self.earlier)] += f" ({rate(old[self.earlier])})"
            body.append([_starred(row), column, *figures, f"{tally.samples:,}"])
        return table(heads, body)


def _number(key: str, value: float) -> str:
    return f"{value:.3g}" if "width" in key and not math.isnan(value) else rate(value)


def _starred(row: str) -> str:
    """A star where a distribution is held out."""
    return f"{row} \\*" if any(name in row for name in HELD_OUT) else row


_WRONG = {
    "default wrong": "wrong winner",
    "default decided": "any winner",
    "default covered": "band covers",
    "default width first": "width at 1",
    "default width last": "width at last",
}
_METHODS = _WRONG | {
    "percentile covered": "percentile covers",
    "opda covered": "two bands cover",
    "opda decided": "two bands, any winner",
}
_DECIDED = {"decided at 1": "decided at 1", "named": "n = 1 named in advance", "wrong at 1": "wrong", "welch": "Welch"}
TABLES: tuple[Grid | List, ...] = (
    Grid(
        "equal: trials",
        "Equal distributions: independent trials",
        "A winner at any budget; in parentheses Welch's t at n = 1.",
        beside=("welch",),
    ),
    Grid(
        "equal: seeds",
        "Equal distributions: seeds",
        "Families are compared by the mean of a run; families x runs.",
    ),
    Grid("equal: searches", "Equal distributions: repeated searches", "The unit is a whole search of four trials."),
    Grid(
        "equal: tasks",
        "Equal distributions: several tasks",
        "The verdict over all tasks; trials of each family on each task.",
    ),
    Grid(
        "partial null",
        "Equal families beside others far below",
        "A winner among the equal families, with one or two more families far below.",
    ),
    Grid(
        "equal: several families",
        "Equal distributions: families of mixed counts",
        "A winner in any pair.",
    ),
    Grid("equal: pairs", "Equal distributions: paired configurations", "The same configurations in both families."),
    Grid(
        "equal: folds",
        "Equal distributions: shared folds",
        "The same folds in all families, which differ much; with several runs, a fold counts once. Folds are "
        "independent here: what those of one data set share is not in these figures.",
    ),
    Grid("equal: configurations", "Equal distributions: configurations with several seeds", "Configurations x seeds."),
    Grid("equal: problems", "Equal distributions: problems", "Two systems on the same problems."),
    Grid(
        "equal: clusters of problems",
        "Equal distributions: clusters of problems",
        "Clusters x problems, one sample of each.",
    ),
    Grid("equal: medians", "Equal distributions: medians", "The median best of n, at any budget."),
    Grid("equal: cost", "Equal distributions: budgets of cost", "Exponential costs."),
    Grid(
        "equal: cost, better trials more expensive",
        "Equal distributions: budgets of cost, better trials more expensive",
        "The cost of a trial rises with its score.",
    ),
    List(
        "unequal",
        "Unequal distributions whose curves meet",
        "The second family is shifted so that both have the same expected best at the budget named: a winner there, or "
        "the wrong one elsewhere, is wrong.",
        _WRONG,
    ),
    List(
        "unequal: several families",
        "Five families of two unequal distributions whose curves meet",
        "As above, with three families of the first distribution and two of the second.",
        _WRONG,
    ),
    List(
        "collapse",
        "Reported scores that sometimes collapse",
        "The reported score of a trial sometimes collapses, independently of its selection score; the other family "
        "always has the true value at n. A winner at n is wrong; verdicts may end before n instead.",
        {"winner": "wrong winner at n", "ended": "no verdict at n", "anywhere": "any winner"},
    ),
    List(
        "skewed problems",
        "Equal means, skewed differences",
        "Most problems a little better, a few much worse, the mean difference zero: any winner is wrong.",
        {"winner": "wrong winner"},
    ),
    List(
        "no difference worth having",
        "No difference worth having",
        "The true difference is worth having, but the runs that cause it may not have been observed.",
        {"negligible": "false"},
    ),
    List(
        "power: trials",
        "Power: random searches",
        "Normal distributions; the share of different pairs decided.",
        _DECIDED,
        ("shift", "trials"),
        "decided at 1",
    ),
    List(
        "power: seeds",
        "Power: seeds",
        "Normal distributions; the share of different pairs decided.",
        _DECIDED,
        ("models", "seeds"),
        "decided at 1",
    ),
    List(
        "power: medians",
        "Power: medians",
        "Normal distributions.",
        {"decided at 1": "decided at 1", "decided at 5": "decided at 5", "wrong at 1": "wrong"},
        ("shift", "trials"),
        "decided at 1",
    ),
    List(
        "power: means",
        "Power: means, the same samples' size",
        "For comparison with medians.",
        {"decided at 1": "decided at 1", "decided at 5": "decided at 5"},
        ("shift", "trials"),
        "decided at 1",
    ),
    List(
        "power: searches",
        "Power: repeated searches",
        "Whole searches of four trials.",
        {"decided at 1": "decided at 1", "decided at 4": "decided at 4"},
        ("shift", "searches"),
        "decided at 4",
    ),
    List(
        "power: tasks",
        "Power: tasks",
        "Normal distributions.",
        {"decided at 1": "decided at 1"},
        ("shift", "trials"),
        "decided at 1",
    ),
    List(
        "power: later budgets",
        "Power: later budgets",
        "The wider family is better at every budget past 1.",
        _WRONG,
        ("distributions", "trials"),
        "default decided",
    ),
    List(
        "power: problems",
        "Power: problems",
        "Ten samples of each problem, two systems on the same problems; where the difference is 0 every winner is "
        "false. The alternative is a paired t test at n = 1 only. The loss of power compared with version 0.1, which "
        "used swaps only, was measured on the same samples. With swaps alone, at 1: beta(2,2), 50 problems .864, 200 "
        "problems .848; uniform, 50 problems .897, 200 problems .914. Version 0.1 was measured on 500 other samples.",
        {"at 1": "named at 1", "at any n": "at any n", "the worse": "the worse named", "paired t": "paired t"},
        ("rates, difference", "problems"),
        "at any n",
    ),
    List(
        "power: configurations",
        "Power: configurations with several seeds",
        "Where the shift is 0 every winner is false; taking each run for a trial shows what that would do.",
        {"decided": "a winner", "each run a trial": "each run a trial"},
        ("distribution, shift", "configurations x seeds"),
        "decided",
    ),
    List(
        "bands without bounds",
        "Bands of the difference, no bounds",
        "All budgets and pairs at once, compared with percentile bootstrap intervals at each budget.",
        _METHODS,
        earlier="default decided",
    ),
    List(
        "bands with bounds 0 and 1",
        "Bands of the difference, bounds 0 and 1",
        "Compared with the percentile bootstrap, and with a confidence band of each distribution.",
        _METHODS,
        earlier="default decided",
    ),
    List(
        "bands, rare modes",
        "Bands of the difference, rare modes",
        "A mode with a probability below 3 / trials may not be observed.",
        _METHODS,
        earlier="default decided",
    ),
    List(
        "plan",
        "The power that a plan promises",
        "A pilot is drawn and used to plan for a power of .80, and the planned number of fresh units is compared: "
        "the share of correct verdicts, over pilots that give a number. Pilots below 30 units give none.",
        {"right": "delivered", "number": "has a number", "too small": "called too small"},
        ("distributions", "pilot"),
    ),
    List("bands, rare modes, gaffke", "The same with the interval gaffke", "It uses the bounds only.", _WRONG),
)


def write_page(results: Results, before: Figures | None = None, page: Path = PAGE) -> None:
    """All tables; what was not measured is left out. ``before`` are the figures of version 0.1."""
    if before is None:
        before = json.loads(EARLIER.read_text(encoding="utf-8"))
    lines = [*_HEAD]
    for part in TABLES:
        cells = {(row, column): tally for (name, row, column), tally in _split(results) if name == part.name}
        if cells:
            lines += [
                "",
                f"## {part.title}",
                "",
                part.text,
                "",
                *part.lines(cells, before),
                samples_words(cells.values()),
            ]
    lines += _invariance(results)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _split(results: Results) -> list[tuple[tuple[str, str, str], Tally]]:
    parts = [(key.split(" | "), tally) for key, tally in results.items() if tally.samples]
    return [((name, row, column), tally) for (name, row, column), tally in parts]


def _invariance(results: Results) -> list[str]:
    cells = [(row, column, tally) for (name, row, column), tally in _split(results) if name == "invariance"]
    if not cells:
        return []
    changes = [name for name in cells[0][2].sums if name not in ("decided", "repeated rows")]
    heads = ["changed", *(f"{_starred(row)} {column}" for row, column, _ in cells)]
    body: list[Sequence[str]] = [[name, *(rate(tally.mean(name)) for _, _, tally in cells)] for name in changes]
    body += [
        ["(decided)", *(rate(tally.mean("decided")) for _, _, tally in cells)],
        ["(copies called repeated rows)", *(rate(tally.mean("repeated rows")) for _, _, tally in cells)],
    ]
    text = (
        "The share of samples, near the edge of a verdict, in which some budget of it changes where nothing that "
        "matters does. The order of rows plays no part unless scores climb with it by chance as in a search that "
        "learns, which is then taken for one. A third family that differs everywhere passes its share of the error on, "
        "and the other two are tested by themselves."
    )
    lines = ["", "## Invariance", "", text, "", *table(heads, body), samples_words(tally for _, _, tally in cells)]
    designs = [(row, column, tally) for (name, row, column), tally in _split(results) if name == "invariance by design"]
    if not designs:
        return lines
    measures = ("below", "above", "decided")
    rows = [[row, column, *(rate(tally.mean(name)) for name in measures)] for row, column, tally in designs]
    heads = ["design", "trials of a family", "far below", "far above", "(decided)"]
    note = (
        "A third family, by design (normal distributions). With 5 trials each and two budgets, sets of families are "
        "tested in place of pairs. Over cost, without bounds, the worst score of any family is what counts where no "
        "trial finishes, so that a family far below does change the curves of the others; and within the smallest "
        "budgets, where often no trial finishes, even a family far above may not be decided, and keeps its share."
    )
    return [*lines, "", note, "", *table(heads, rows), samples_words(tally for _, _, tally in designs)]


_HEAD = (
    "# The certificate of verdicts",
    "",
    "How often a winner is named where there is none, how often the wrong one is named, how often the bands of a "
    "difference cover it at all budgets and pairs at once, and the power to find a difference, at 95 % confidence, "
    "through `compare` as users call it. Budgets are all from 1 to half the trials of the smaller family. With 500 "
    "samples a true rate of .05 is estimated as .033 to .073, with 2,000 as .041 to .060 (95 % of the time). Under "
    "equal distributions the permutation test is exact in theory; these tables check the implementation.",
    "",
    "Distributions with a star are held out: no constant of the package was chosen on them. All others are those of "
    "earlier certificates, on which constants were chosen.",
    "",
    "Written by `python benchmarks/coverage/designs.py write` from what `run` computed (seed 2026).",
)
