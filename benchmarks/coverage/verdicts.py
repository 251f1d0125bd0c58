"""The certificate of verdicts: how often a winner is false, how often limits hold together, and what is seen.

    python benchmarks/coverage/verdicts.py run        # goes on where it stopped; every round adds samples to all cells
    python benchmarks/coverage/verdicts.py write      # docs/coverage-verdicts.md

A law is its quantile function, so that draws and true curves come from one definition. Rivals are Welch's t at one
trial with Holm over the pairs, percentile bootstrap intervals of the difference at each budget and, where bounds are
known, opda's bands of the two families (by `cdf_band`, which is exact where opda simulates; the two agree).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from verdict_laws import LAWS

from levelbest import Trials, compare
from levelbest._grid import budget_grid
from levelbest.stats.bands import Ranked, cdf_band, counts, mean_curve_bounds
from levelbest.stats.budgets import trials_to_separate
from levelbest.stats.contrasts import Contrasts, Question, Sample, search_contrasts, seed_contrasts
from levelbest.stats.contrasts._dealings import nodes_of
from levelbest.stats.contrasts._random_searches import _tests
from levelbest.stats.contrasts._settle import holm

SEED, ALPHA, RIVAL_SAMPLES = 2026, 0.05, 250
EQUAL = (
    "works .5",
    "works .1",
    "5 % failures",
    "30 % failures",
    "arcsine",
    "rounded",
    "digits mlp",
    "normal",
)
LARGE = (100, 1_000)
COUNTS = ((5, 5), (10, 10), (10, 100), (20, 100), (50, 50))
FIVE_COUNTS = ((5,) * 5, (10,) * 5, (10, 10, 10, 10, 100), (20, 20, 20, 20, 100), (50,) * 5)
FREE = (
    ("normal", "uniform", (50, 50)),
    ("exponential", "normal", (50, 50)),
    ("uniform", "mirrored exponential", (50, 50)),
    ("exponential", "normal", (20, 20)),
    ("uniform", "normal", (20, 20)),
    ("exponential", "normal", (20, 100)),
    ("exponential", "normal", (10, 100)),
    ("t3", "normal", (50, 50)),
    ("lognormal", "normal", (50, 50)),
)
BOUNDED = (
    ("triangular", "arcsine", (50, 50)),
    ("triangular", "arcsine", (20, 20)),
    ("triangular", "arcsine", (10, 100)),
    ("works .5", "works .1", (50, 50)),
    ("beta(8,2)", "30 % failures", (50, 50)),
    ("0/1 .3", "0/1 .6", (50, 50)),
    ("0/1 .3", "0/1 .6", (20, 20)),
    ("beta(8,2)", "rounded", (20, 20)),
    ("digits svm", "digits forest", (30, 30)),
    ("beta(8,2)", "narrow", (50, 50)),
)
FIVE_FREE = ("normal", "uniform", "exponential", "mirrored exponential", "normal")
FIVE_BOUNDED = ("triangular", "arcsine", "beta(8,2)", "30 % failures", "narrow")
RARE = (
    (".5, 2 % at .9", "steady .55", (50, 50)),
    ("works .03", "works .1", (30, 30)),
    ("works .5", "works .1", (20, 20)),
    ("5 % failures", "30 % failures", (20, 20)),
)


@dataclass(frozen=True)
class Cell:
    """Families with these laws (plus shifts) and counts."""

    kind: str
    laws: tuple[str, ...]
    sizes: tuple[int, ...]
    shifts: tuple[float, ...] = ()
    bounds: tuple[float | None, float | None] = (None, None)
    most: int = 2_000
    title: str = ""

    @property
    def key(self) -> str:
        """Its name in the results."""
        return " | ".join([self.kind, " / ".join(dict.fromkeys(self.laws)), "-".join(map(str, self.sizes)), self.title])

    @property
    def share(self) -> float:
        """Of the samples of a round: what takes long gets fewer."""
        if len(self.sizes) > 2 and self.kind in ("equal", "free", "bounded"):
            return 0.25
        return {
            "plan": 0.2,
            "equal cost": 0.25,
            "equal, better is dearer": 0.25,
            "free": 0.5,
            "bounded": 0.5,
            "rare": 0.5,
            "power": 0.5,
        }.get(self.kind, 1.0)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of its families."""
        return tuple(combinations(range(len(self.sizes)), 2))

    @property
    def n(self) -> np.ndarray:
        """Every budget up to half the trials of the smallest family; of many those of a comparison."""
        return budget_grid(min(self.sizes) // 2, whole=100, points=60)

    def draw(self, at: int) -> list[np.ndarray]:
        """The scores of sample number ``at``."""
        rng = np.random.default_rng([SEED, at, *self.key.encode()])
        laws = self.laws if len(self.laws) == len(self.sizes) else self.laws * len(self.sizes)
        shifts = self.shifts or (0.0,) * len(self.sizes)
        return [LAWS[law](rng.random(size)) + shift for law, size, shift in zip(laws, self.sizes, shifts, strict=True)]

    def truth(self) -> np.ndarray:
        """The true difference of each pair at every budget."""
        v = (np.arange(400_000) + 0.5) / 400_000
        curves = {law: np.array([LAWS[law](v ** (1 / n)).mean() for n in self.n]) for law in set(self.laws)}
        return np.array([curves[self.laws[a]] - curves[self.laws[b]] for a, b in self.pairs])


def _cells() -> list[Cell]:
    unit = (0.0, 1.0)
    cells = [Cell("equal", (law,), sizes) for sizes in COUNTS for law in EQUAL]
    cells += [Cell("free", (a, b), sizes) for a, b, sizes in FREE]
    cells += [Cell("bounded", (a, b), sizes, bounds=unit) for a, b, sizes in BOUNDED]
    cells += [Cell("rare", (a, b), sizes, bounds=unit) for a, b, sizes in RARE]
    for sizes in ((50,) * 5, (20, 20, 20, 20, 100)):
        cells.append(Cell("free", FIVE_FREE, sizes, most=500))
        cells.append(Cell("bounded", FIVE_BOUNDED, sizes, bounds=unit, most=500))
    cells += [Cell("free", ("exponential", "normal"), (size, size), most=200) for size in (2_000, 20_000)]
    one = {"laws": ("normal",), "kind": "power"}
    cells += [
        Cell(sizes=(50, 50), shifts=(0.5, 0), title=".5 sd", **one),
        Cell(sizes=(20, 20), shifts=(0.8, 0), title=".8 sd", **one),
        Cell(sizes=(10, 100), shifts=(0.8, 0), title=".8 sd", **one),
    ]
    seeds = {"laws": ("normal",), "kind": "seeds"}
    cells += [
        Cell(sizes=(10,) * 5, shifts=(0, 2, 4, 6, 8), title="steps of 2 sd", **seeds),
        Cell(sizes=(5,) * 5, shifts=(0, 4, 8, 12, 16), title="steps of 4 sd", **seeds),
        Cell(sizes=(10,) * 5, shifts=(2, 0, 0, 0, 0), title="one of five 2 sd above", **seeds),
        Cell(sizes=(3, 3), shifts=(8, 0), title="8 sd", **seeds),
        Cell(sizes=(5, 5), shifts=(2, 0), title="2 sd", **seeds),
    ]
    plans = {"laws": ("normal",), "kind": "plan", "shifts": (0.9, 0), "most": 400}
    cells += [Cell(sizes=(500, 500), title="1 pair", **plans), Cell(sizes=(500, 500), title="1 of 10 pairs", **plans)]
    cells += [Cell("equal seeds", (law,), sizes) for sizes in COUNTS for law in EQUAL]
    cells += [Cell("equal seeds", (law,), sizes) for sizes in FIVE_COUNTS for law in EQUAL]
    cells += [Cell("equal", (law,), sizes) for sizes in FIVE_COUNTS for law in EQUAL]
    cells += [Cell("equal", (law,), LARGE, most=1_000) for law in EQUAL]
    by_ten = ((10, 10), (10, 100), (20, 100), (50, 50))
    few = [(law, sizes) for sizes in by_ten for law in ("normal", "works .5", "30 % failures", "rounded")]
    cells += [Cell("equal median", (law,), sizes) for law, sizes in few]
    for kind in ("equal cost", "equal, better is dearer"):
        cells += [Cell(kind, (law,), sizes, bounds=(None, None) if law == "normal" else unit) for law, sizes in few]
    return cells


# ---- what is measured in one sample


def _question(cell: Cell, **more: Any) -> Question:
    return Question(pairs=cell.pairs, bounds=cell.bounds, **more)


def _families(scores: list[np.ndarray]) -> list[Sample]:
    return [Sample(part) for part in scores]


def _welch_winner(scores: list[np.ndarray], pairs: tuple[tuple[int, int], ...]) -> bool:
    with np.errstate(all="ignore"):
        p = np.array([stats.ttest_ind(scores[a], scores[b], equal_var=False).pvalue for a, b in pairs])
    return bool(holm(np.where(np.isnan(p), 1.0, p), ALPHA).any())


def _percentile(scores: list[np.ndarray], n: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap limits of the difference of two families at each budget by itself."""
    curves = []
    for part in scores:
        ranked = Ranked(part, n)
        curves.append(ranked.resampled(counts(part.size, 999, rng))[0])
    low, high = np.quantile(curves[0] - curves[1], [ALPHA / 2, 1 - ALPHA / 2], axis=1)
    return low, high


def _winner(cell: Cell, scores: list[np.ndarray]) -> bool:
    """Whether any pair has a winner at any budget; limits are left out where no dealing can lead to one."""
    question = _question(cell)
    tests = _tests(_families(scores), cell.n, question, paired=False)
    for test in tests.values():
        test.settle(0)
    if all(test.dealings is not None and test.dealt_p().min() > test.level for test in tests.values()):
        return False
    found = search_contrasts(_families(scores), cell.n, question, n_resamples=99)
    return any(pair.certified.any() for pair in found.pairs)


def measure_equal(cell: Cell, scores: list[np.ndarray], at: int, _: np.ndarray) -> dict[str, float]:
    """Equal laws: every winner is false."""
    found = {"winner": float(_winner(cell, scores))}
    if at < RIVAL_SAMPLES:
        found["welch"] = float(_welch_winner(scores, cell.pairs))
        if len(cell.sizes) == 2:
            low, high = _percentile(scores, nodes_of(cell.n), np.random.default_rng(at))
            found["percentile"] = float(((low > 0) | (high < 0)).any())
    return found


def measure_equal_seeds(cell: Cell, scores: list[np.ndarray], at: int, _: np.ndarray) -> dict[str, float]:
    """Seeds of equal laws: every winner is false."""
    found = {"winner": float(_any_winner(seed_contrasts(scores, _question(cell))))}
    if at < RIVAL_SAMPLES:
        found["welch"] = float(_welch_winner(scores, cell.pairs))
    return found


def measure_equal_median(cell: Cell, scores: list[np.ndarray], at: int, _: np.ndarray) -> dict[str, float]:
    """Medians of a reported score that goes half with the selection score: every winner is false."""
    rng = np.random.default_rng([SEED, at, 1])
    scale = np.std(np.concatenate(scores)) or 1.0
    families = [Sample(part, part + scale * rng.normal(size=part.size)) for part in scores]
    contrasts = search_contrasts(families, cell.n, _question(cell), statistic="median", n_resamples=499)
    return {"winner": float(_any_winner(contrasts))}


def measure_equal_cost(cell: Cell, scores: list[np.ndarray], at: int, _: np.ndarray) -> dict[str, float]:
    """Over budgets of cost, alone or with better scores at higher costs: every winner is false."""
    rng = np.random.default_rng([SEED, at, 2])
    pooled = np.concatenate(scores)
    cost = 0.2 + rng.exponential(size=pooled.size)
    if cell.kind == "equal, better is dearer":
        cost += 2 * (pooled - pooled.min()) / (np.ptp(pooled) or 1.0)
    trials = Trials.from_arrays(
        pooled, cost=cost, family=np.repeat(["a", "b"], cell.sizes), direction="max", bounds=cell.bounds
    )
    compared = compare(trials, axis="cost", n_resamples=499)
    return {"winner": float(any(row.verdict in ("a", "b") for row in compared.pairs[0].verdicts))}


def _any_winner(contrasts: Contrasts) -> bool:
    return any(pair.certified.any() for pair in contrasts.pairs)


def measure_unequal(cell: Cell, scores: list[np.ndarray], at: int, truth: np.ndarray) -> dict[str, float]:
    """Unequal laws: whether the limits hold at every budget at once, whether a winner is the wrong one, and widths."""
    methods = ("default", "gaffke") if cell.kind == "rare" or (cell.kind == "bounded" and at < 100) else ("default",)
    measured: dict[str, float] = {}
    for method in methods:
        pairs = search_contrasts(
            _families(scores), cell.n, _question(cell, method=method), n_resamples=999, rng=at
        ).pairs
        low, high = np.array([pair.low for pair in pairs]), np.array([pair.high for pair in pairs])
        certified = np.array([pair.certified for pair in pairs])
        measured |= _against_truth(method, low, high, certified, truth)
    if at < RIVAL_SAMPLES and len(scores) == 2 and max(cell.sizes) < 1_000:
        low, high = _percentile(scores, cell.n, np.random.default_rng(at))
        measured |= _against_truth("percentile", low[None], high[None], None, truth)
        measured |= measure_opda(cell, scores, truth)
    return measured


def measure_opda(cell: Cell, scores: list[np.ndarray], truth: np.ndarray) -> dict[str, float]:
    """opda's way: a band of each family with half of the error; a winner where they lie apart."""
    if cell.bounds[0] is None:
        return {}
    bands = [mean_curve_bounds(cdf_band(part, 1 - ALPHA / 2), cell.n, cell.bounds) for part in scores]
    low, high = bands[0].low - bands[1].high, bands[0].high - bands[1].low
    certified = np.where(low > 0, 1, np.where(high < 0, -1, 0))
    return _against_truth("opda", low[None], high[None], certified[None], truth)


def _against_truth(
    method: str, low: np.ndarray, high: np.ndarray, certified: np.ndarray | None, truth: np.ndarray
) -> dict[str, float]:
    """(pair, n) each: whether all limits hold, whether a winner is wrong, and how wide they are."""
    noise = 1e-5  # of the truth's own integration
    measured = {f"{method} held": float(((low <= truth + noise) & (truth - noise <= high)).all())}
    if certified is not None:
        measured[f"{method} wrong"] = float(((certified != 0) & (certified * truth <= noise)).any())
        measured[f"{method} decided"] = float((certified != 0).any())
    widths = (high - low).mean(axis=0)
    return measured | {f"{method} width first": float(widths[0]), f"{method} width last": float(widths[-1])}


def measure_power(cell: Cell, scores: list[np.ndarray], at: int, _: np.ndarray) -> dict[str, float]:
    """A shift: certified at one trial over all budgets together, and with that budget named in advance."""
    families = _families(scores)
    over_all = search_contrasts(families, cell.n, _question(cell), n_resamples=99).pairs[0]
    named = search_contrasts(families, cell.n, _question(cell, headline=1), n_resamples=99).pairs[0]
    low, _high = _percentile(scores, np.array([1]), np.random.default_rng(at))
    return {
        "over all": float(over_all.certified[0] == 1),
        "named": float(named.effect.certified == 1),
        "welch": float(_welch_winner(scores, cell.pairs)),
        "percentile": float(low[0] > 0),
    }


def measure_seeds(cell: Cell, scores: list[np.ndarray], _at: int, _: np.ndarray) -> dict[str, float]:
    """Seeds: the share of truly different pairs that are decided rightly, and whether a pair is decided wrongly."""
    gaps = np.array([cell.shifts[a] - cell.shifts[b] for a, b in cell.pairs])
    verdicts = np.array([pair.certified[0] for pair in seed_contrasts(scores, _question(cell)).pairs])
    p = np.array([stats.ttest_ind(scores[a], scores[b], equal_var=False).pvalue for a, b in cell.pairs])
    different = gaps != 0
    return {
        "decided": float((verdicts == np.sign(gaps))[different].mean()),
        "wrong": float((verdicts * gaps < 0).any() or verdicts[~different].any()),
        "welch": float(holm(p, ALPHA)[different].mean()),
    }


def measure_plan(cell: Cell, scores: list[np.ndarray], at: int, _: np.ndarray) -> dict[str, float]:
    """Pilots of 500: whether a fresh comparison of as many trials as planned has the verdict promised."""
    n, n_pairs = 5, 10 if "10" in cell.title else 1
    first, second = _families(scores if at % 2 else scores[::-1])
    needed = int(trials_to_separate(first, second, n, n_pairs=n_pairs, n_resamples=200).needed)
    rng = np.random.default_rng([SEED, at, n_pairs])
    fresh = [Sample(rng.normal(shift, 1, needed)) for shift in cell.shifts]
    grid = np.union1d(budget_grid(needed // 2, whole=100, points=60), [n])
    question = Question(((0, 1),), confidence=1 - ALPHA / n_pairs)
    pair = search_contrasts(fresh, grid, question, n_resamples=99).pairs[0]
    return {"delivered": float(pair.certified[int(np.searchsorted(grid, n))] == 1), "planned": float(needed)}


MEASURES = {
    "equal": measure_equal,
    "equal seeds": measure_equal_seeds,
    "equal median": measure_equal_median,
    "equal cost": measure_equal_cost,
    "equal, better is dearer": measure_equal_cost,
    "free": measure_unequal,
    "bounded": measure_unequal,
    "rare": measure_unequal,
    "power": measure_power,
    "seeds": measure_seeds,
    "plan": measure_plan,
}


# ---- running


@dataclass
class Tally:
    """Sums and counts of every measure of a cell."""

    samples: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, found: dict[str, float]) -> None:
        """One more sample."""
        self.samples += 1
        for name, value in found.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.numbers[name] = self.numbers.get(name, 0) + 1

    def add_rival(self, found: dict[str, float]) -> None:
        """What another method makes of a sample that was counted before."""
        self.add(found)
        self.samples -= 1

    def mean(self, name: str) -> float:
        """Of one measure; NaN where it was not taken."""
        return self.sums[name] / self.numbers[name] if self.numbers.get(name) else float("nan")


def load(path: Path) -> dict[str, Tally]:
    """What was computed so far."""
    if not path.exists():
        return {}
    return {key: Tally(**tally) for key, tally in json.loads(path.read_text(encoding="utf-8")).items()}


def save(results: dict[str, Tally], path: Path) -> None:
    """A line for each cell."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(vars(tally))}" for key, tally in results.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def run(path: Path, rounds: tuple[int, ...], minutes: float, kinds: tuple[str, ...] = ()) -> None:
    """Add samples to every cell, round by round, until all have enough or the CPU minutes are over.

    ``kinds`` are those of the cells; all where none is named.
    """
    results = load(path)
    started = time.process_time()
    for aim in rounds:
        for cell in (cell for cell in _cells() if cell.kind in (kinds or MEASURES)):
            tally = results.setdefault(cell.key, Tally())
            target = min(math.ceil(aim * cell.share), cell.most)
            with_opda = cell.bounds[0] is not None and cell.kind in ("bounded", "rare") and len(cell.sizes) == 2
            before = range(tally.numbers.get("opda held", 0), min(tally.samples, RIVAL_SAMPLES) * with_opda)
            if tally.samples >= target and not before:
                continue
            truth = cell.truth() if cell.kind in ("free", "bounded", "rare") else np.zeros(0)
            for at in before:
                tally.add_rival(measure_opda(cell, cell.draw(at), truth))
            for at in range(tally.samples, target):
                tally.add(MEASURES[cell.kind](cell, cell.draw(at), at, truth))
            save(results, path)
            if time.process_time() - started > 60 * minutes:
                return
        print(f"{aim} samples: {(time.process_time() - started) / 60:.1f} CPU minutes", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run or write the certificate of verdicts.")
    parser.add_argument("what", choices=["run", "write"])
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "verdicts.json")
    parser.add_argument("--rounds", type=int, nargs="+", default=[200, 500, 1_000, 2_000, 4_000, 8_000])
    parser.add_argument("--kinds", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    parser.add_argument("--minutes", type=float, default=60)
    given = parser.parse_args()
    if given.what == "run":
        run(given.results, tuple(given.rounds), given.minutes, tuple(given.kinds))
    else:
        from verdicts_page import write_page

        write_page(load(given.results), _cells(), Path(__file__).parents[2] / "docs" / "coverage-verdicts.md")
