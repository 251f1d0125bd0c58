"""The coverage certificate over problems: intervals, paired differences and verdicts on laws that hurt.

    python benchmarks/coverage/problems.py run        # some ten minutes; goes on where it stopped
    python benchmarks/coverage/problems.py write      # docs/coverage-problems.md

A problem's success rate is drawn from a law, its samples from the rate. The truth is known in closed form: for
p ~ beta(a, b), E (1 - s p)^k = 2F1(-k, a; a + b; s). Rivals are a t interval and a percentile bootstrap of problems.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from levelbest.stats.problems import GroupBest, average_over_groups, group_difference, group_interval, pass_at_k

SEED, SETS, RESAMPLES = 2026, 2000, 499
K = np.array([1, 4, 16])
SECOND = 0.7
RIVALS = ("default", "t", "percentile")


@dataclass(frozen=True)
class RateLaw:
    """Success rates: beta(a, b), with a share of problems that are never solved."""

    name: str
    a: float
    b: float
    zeros: float = 0.0

    def draw(self, n_problems: int, rng: np.random.Generator) -> np.ndarray:
        """One rate per problem."""
        rates = rng.beta(self.a, self.b, n_problems)
        return np.where(rng.random(n_problems) < self.zeros, 0.0, rates)

    def truth(self, k: Any, scale: float = 1.0) -> np.ndarray:
        """The expected pass@k of a system with ``scale`` times the rate."""
        from scipy.special import hyp2f1

        return np.asarray((1 - self.zeros) * (1 - hyp2f1(-np.asarray(k), self.a, self.a + self.b, scale)))


LAWS = (RateLaw("beta(.3,.7)", 0.3, 0.7), RateLaw("beta(2,2)", 2, 2), RateLaw("half zeros", 2, 2, 0.5))


@dataclass(frozen=True)
class Kind:
    """Problems of one kind: how many of all, what they weigh, and how often they are solved."""

    share: float
    weight: float
    law: RateLaw


HARD, EASY, NEVER, ALWAYS = RateLaw("hard", 1, 4), RateLaw("easy", 4, 1), RateLaw("", 1, 1, 1.0), RateLaw("", 1e6, 1e-3)
MIXED: dict[str, tuple[bool, tuple[Kind, ...]]] = {
    # name: (fixed numbers of each kind: strata; or drawn), kinds
    "a tenth weigh 5, as hard as others": (False, (Kind(0.9, 1, LAWS[1]), Kind(0.1, 5, LAWS[1]))),
    "a tenth weigh 5, never solved": (False, (Kind(0.9, 1, EASY), Kind(0.1, 5, NEVER))),
    "a tenth weigh 5, always solved": (False, (Kind(0.9, 1, HARD), Kind(0.1, 5, ALWAYS))),
    "a third weigh 3, harder": (False, (Kind(2 / 3, 1, EASY), Kind(1 / 3, 3, HARD))),
    "strata of equal size, half easy, half hard": (True, (Kind(0.5, 1, EASY), Kind(0.5, 1, HARD))),
    "strata weighted 4 to 1, half easy, half hard": (True, (Kind(0.5, 4, EASY), Kind(0.5, 1, HARD))),
}


@dataclass(frozen=True)
class Cell:
    """One row of the certificate: ``what`` is ``verdict``, ``mixed`` or ``plain``."""

    what: str
    law: str
    problems: int
    samples: int
    lift: float = 0.0

    @property
    def key(self) -> str:
        """Its place in the file of results."""
        return " | ".join(map(str, asdict(self).values()))


LIFTS = ((15, 0.2), (50, 0.1), (200, 0.05), (8, 0.0), (15, 0.0), (50, 0.0), (200, 0.0))
CELLS = (
    *(Cell("mixed", name, size, 16) for size in (12, 30, 100) for name in MIXED),
    *(Cell("plain", law.name, size, 16) for size in (8, 12, 20, 50, 200) for law in LAWS),
    *(Cell("plain", law.name, 20, 64) for law in LAWS),
    *(Cell("verdict", law, size, 10, lift) for law in ("beta(2,2)", "uniform") for size, lift in LIFTS),
)


def best_of(correct: Any, samples: int, k: np.ndarray, weights: np.ndarray | None = None) -> GroupBest:
    """Counts of correct samples as values by problem."""
    by_group = np.asarray(pass_at_k(correct, samples, k))
    value, n_groups = average_over_groups(by_group, weights)
    places = np.arange(by_group.shape[0])
    return GroupBest(k, value, by_group, n_groups, places, np.full(places.size, samples), weights, "max")


def percentile(best: GroupBest, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Problems resampled with their weights; the middle 95 %."""
    n_problems = best.by_group.shape[0]
    counts = rng.multinomial(n_problems, np.full(n_problems, 1 / n_problems), RESAMPLES).astype(float)
    counts *= np.ones(n_problems) if best.weights is None else best.weights
    means = counts @ best.by_group / np.maximum(counts.sum(axis=1), 1e-300)[:, None]
    return tuple(np.quantile(means, [0.025, 0.975], axis=0))


class Tally:
    """How often each kind of limits held the truth, and how wide they were on average where they exist."""

    def __init__(self) -> None:
        self.hits: dict[str, Any] = {}
        self.widths: dict[str, Any] = {}

    def add(self, kind: str, low: Any, high: Any, truth: Any, *, together: bool = False) -> None:
        """One data set; an interval that does not exist does not cover. ``together``: of a band, all budgets."""
        # rounding must not decide where a limit is the truth
        inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        inside = np.full(np.shape(inside), inside.all()) if together else inside
        self.hits[kind] = self.hits.get(kind, 0.0) + inside
        self.widths[kind] = self.widths.get(kind, 0.0) + np.nan_to_num(high - low)

    def shares(self, n_sets: int) -> dict[str, Any]:
        """Coverage and mean width of each kind."""
        return {
            name: {kind: np.round(column / n_sets, 4).tolist() for kind, column in columns.items()}
            for name, columns in (("coverage", self.hits), ("width", self.widths))
        }


def intervals(tally: Tally, best: GroupBest, truth: Any, rng: np.random.Generator) -> None:
    """The default interval of an average, and its rivals."""
    options: dict[str, Any] = {"bounds": (0, 1), "n_resamples": RESAMPLES}
    for kind in RIVALS[:2]:
        one = group_interval(best, method=kind, rng=rng, **options)
        tally.add(kind, np.asarray(one.low), np.asarray(one.high), truth)
    tally.add("percentile", *percentile(best, rng), truth)
    band = group_interval(best, simultaneous=True, rng=rng, **options)
    tally.add("default band", np.asarray(band.low), np.asarray(band.high), truth, together=True)


def run_plain(cell: Cell, n_sets: int, seed: int) -> dict[str, Any]:
    """Intervals and paired differences: a second system has 0.7 times the rate on the same problems."""
    law = next(one for one in LAWS if one.name == cell.law)
    first, second = law.truth(K), law.truth(K, SECOND)
    tally = Tally()
    for at in range(n_sets):
        rng = np.random.default_rng([seed, LAWS.index(law), cell.problems, cell.samples, at])
        rates = law.draw(cell.problems, rng)
        a, b = (best_of(rng.binomial(cell.samples, scale * rates), cell.samples, K) for scale in (1.0, SECOND))
        intervals(tally, a, first, rng)
        options: dict[str, Any] = {"bounds": (0, 1), "n_resamples": RESAMPLES, "rng": rng}
        for kind, more in (
            ("difference", {"pointwise": True}),
            ("difference band", {}),
            ("difference t", {"method": "t", "pointwise": True}),
        ):
            one = group_difference(a, b, **options, **more)
            tally.add(kind, one.low, one.high, first - second, together=kind.endswith("band"))
    return tally.shares(n_sets)


def run_mixed(cell: Cell, n_sets: int, seed: int) -> dict[str, Any]:
    """Weighted and stratified problems: the average over all, and over the problems of each stratum alone."""
    fixed, kinds = MIXED[cell.law]
    shares = np.array([kind.share for kind in kinds])
    masses = shares * [kind.weight for kind in kinds]
    each = np.array([kind.law.truth(K) for kind in kinds])
    truth = masses @ each / masses.sum()
    tally = Tally()
    for at in range(n_sets):
        rng = np.random.default_rng([seed, 50 + list(MIXED).index(cell.law), cell.problems, at])
        if fixed:
            of = np.repeat(np.arange(len(kinds)), (shares * cell.problems).astype(int))
        else:
            of = rng.choice(len(kinds), cell.problems, p=shares)
        rates = np.choose(of, [kind.law.draw(of.size, rng) for kind in kinds])
        weights = np.array([kind.weight for kind in kinds], dtype=float)[of]
        correct = rng.binomial(cell.samples, rates)
        even = bool((weights == weights[0]).all()) and len({kind.weight for kind in kinds}) == 1
        intervals(tally, best_of(correct, cell.samples, K, None if even else weights), truth, rng)
        if fixed:
            for place in range(len(kinds)):
                part = best_of(correct[of == place], cell.samples, K)
                one = group_interval(part, bounds=(0, 1), n_resamples=RESAMPLES, rng=rng)
                tally.add(f"stratum {place + 1}", np.asarray(one.low), np.asarray(one.high), each[place])
    return tally.shares(n_sets)


def run_verdict(cell: Cell, n_sets: int, seed: int) -> dict[str, Any]:
    """How often a winner is named at n = 1, and at any n up to 10; the rival is a paired t test at n = 1 alone."""
    from scipy.stats import ttest_rel

    budgets = np.arange(1, cell.samples + 1)
    at_one, anywhere, wrong, rival = 0, 0, 0, 0
    for at in range(n_sets):
        rng = np.random.default_rng([seed, 90, len(cell.law), cell.problems, int(1000 * cell.lift), at])
        rates = rng.random(cell.problems) if cell.law == "uniform" else rng.beta(2, 2, cell.problems)
        rates = rates * (1 - cell.lift)
        a, b = (best_of(rng.binomial(cell.samples, p), cell.samples, budgets) for p in (rates + cell.lift, rates))
        found = group_difference(a, b, bounds=(0, 1), n_resamples=49, rng=rng)
        at_one += int(found.certified[0] != 0)
        anywhere += int((found.certified != 0).any())
        wrong += int((found.certified < 0).any())
        rival += int(ttest_rel(a.by_group[:, 0], b.by_group[:, 0]).pvalue <= 0.05)
    counts = {"at n = 1": at_one, "at any n": anywhere, "wrong": wrong, "paired t": rival}
    return {"named": {kind: round(count / n_sets, 4) for kind, count in counts.items()}}


RUN: dict[str, Callable[[Cell, int, int], dict[str, Any]]] = {
    "plain": run_plain,
    "mixed": run_mixed,
    "verdict": run_verdict,
}


def run_cell(cell: Cell, *, n_sets: int = SETS, seed: int = SEED) -> dict[str, Any]:
    """One row of the certificate."""
    return asdict(cell) | {"n_sets": n_sets} | RUN[cell.what](cell, n_sets, seed)


def run_certificate(out: Path, *, n_sets: int, progress: Callable[[str], None]) -> None:
    """Run what is not there yet; the file holds one entry per cell."""
    results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    for cell in CELLS:
        if cell.key not in results or results[cell.key]["n_sets"] != n_sets:
            results[cell.key] = run_cell(cell, n_sets=n_sets)
            out.write_text(json.dumps(results, indent=0, allow_nan=False), encoding="utf-8")
            progress(f"{cell.key}: {results[cell.key].get('coverage') or results[cell.key]['named']}")


def shown(one: dict[str, Any], kind: str) -> list[str]:
    """Coverage with the mean width in parentheses, by k."""
    return [f"{hit:.3f} ({width:.2f})" for hit, width in zip(one["coverage"][kind], one["width"][kind], strict=True)]


def named(one: dict[str, Any], *parts: str) -> list[str]:
    """What tells a cell apart."""
    return [f"{one[part]:g}" if isinstance(one[part], float) else str(one[part]) for part in parts]


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of Markdown."""
    return ["| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows)] + [""]


def lowest(cells: list[dict[str, Any]], kinds: list[str], head: str) -> list[str]:
    """The lowest coverage of each kind over the cells of each size, with the mean width over them."""
    sizes = sorted({one["problems"] for one in cells})
    rows = []
    for kind in kinds:
        row = [kind]
        for size in sizes:
            mine = [one for one in cells if one["problems"] == size and kind in one["coverage"]]
            width = np.mean([one["width"][kind] for one in mine])
            row.append(f"{min(min(one['coverage'][kind]) for one in mine):.3f} ({width:.2f})")
        rows.append(row)
    return table([head, *(f"{size} problems" for size in sizes)], rows)


def write_certificate(source: Path, page: Path) -> None:
    """The page: the lowest coverage of each kind by number of problems, every cell of the default, and verdicts."""
    cells = list(json.loads(source.read_text(encoding="utf-8")).values())
    plain, mixed, verdicts = ([one for one in cells if one["what"] == what] for what in RUN)
    fewest = min(one["n_sets"] for one in cells)
    lines = [
        "# Coverage over problems",
        "",
        "How often a nominal 95 % interval holds the truth, where the unit that varies is the problem, with its mean "
        f"width in parentheses: {fewest:,} simulated data sets or more per cell (standard error at most "
        f"{(0.0475 / fewest) ** 0.5:.3f} at .95). A band counts only where it holds at all k together. `t` is a t "
        "interval over problems, `percentile` a percentile bootstrap of problems, which is what most evaluations "
        "print. `python benchmarks/coverage/problems.py run` repeats the simulation and `... write` this page.",
        "",
        "## Averages and paired differences",
        "",
        "Success rates drawn from three laws (beta(.3,.7); beta(2,2); half of the problems never solved, the others "
        "beta(2,2)), 16 samples of each problem (64 in three cells), k = 1, 4, 16. Differences are "
        "paired: a second system with 0.7 "
        f"times the rate on the same problems. Lowest coverage over laws, samples and k in the {len(plain)} cells "
        "listed below, and the mean width over them:",
        "",
        *lowest(plain, [*RIVALS, "default band", "difference", "difference band", "difference t"], "interval"),
        "The default is `gaffke` where the score has bounds, and for differences limits of the same type with a "
        "further problem imagined near the others; `t` is there by name. Every cell of the default:",
        "",
        *table(
            ["law", "problems", "samples", "k = 1", "k = 4", "k = 16", "difference, k = 1", "k = 4", "k = 16"],
            [
                [*named(one, "law", "problems", "samples"), *shown(one, "default"), *shown(one, "difference")]
                for one in sorted(plain, key=lambda one: (one["problems"], one["law"], one["samples"]))
            ],
        ),
        "## Weighted and stratified problems",
        "",
        "Problems that weigh more may be of another kind, and with few problems none of that kind may have been drawn. "
        "Easy problems are solved with beta(4,1), hard ones with beta(1,4); 16 samples. Lowest coverage over the kinds "
        "of problems and k:",
        "",
        *lowest(mixed, [*RIVALS, "default band", "stratum 1", "stratum 2"], "interval"),
        "Every cell at k = 1:",
        "",
        *table(
            ["problems are", "number", *RIVALS],
            [
                [*named(one, "law", "problems"), *(shown(one, kind)[0] for kind in RIVALS)]
                for one in sorted(mixed, key=lambda one: (one["law"], one["problems"]))
            ],
        ),
        "## Verdicts",
        "",
        "How often a winner is named between two systems on the same problems with 10 samples of each, by swapping "
        "systems within problems, at n = 1 and at any n up to 10, all tested together; where the rates are equal every "
        "one is false. The rival is a paired t test that looks at n = 1 alone.",
        "",
        *table(
            ["rates", "problems", "difference", "named at n = 1", "at any n", "the worse one named", "paired t, n = 1"],
            [
                [
                    *named(one, "law", "problems", "lift"),
                    # of equal systems none is the worse
                    *("" if one["lift"] == 0 and kind == "wrong" else f"{x:.3f}" for kind, x in one["named"].items()),
                ]
                for one in sorted(verdicts, key=lambda one: (one["law"], one["lift"] == 0, one["problems"]))
            ],
        ),
    ]
    page.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description="Run or write the coverage certificate over problems.")
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--results", type=Path, default=here / "problems.json")
    parser.add_argument("--sets", type=int, default=SETS)
    given = parser.parse_args()
    if given.what == "run":
        run_certificate(given.results, n_sets=given.sets, progress=lambda text: print(text, flush=True))
    else:
        write_certificate(given.results, here.parents[1] / "docs" / "coverage-problems.md")
