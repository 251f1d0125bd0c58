"""The certificate over problems: intervals of averages and of paired differences on distributions that hurt.

    python benchmarks/coverage/problems.py run        # goes on where it stopped
    python benchmarks/coverage/problems.py write      # docs/coverage-problems.md

A problem's success rate is drawn from a distribution, its samples from the rate. The truth is known in closed form: for
p ~ beta(a, b), E (1 - s p)^k = 2F1(-k, a; a + b; s). Rivals are a t interval and a percentile bootstrap of problems.
Verdicts over problems are in the certificate of verdicts (`designs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from certificate import Cell, Measures, Results, Tally, main, table
from scipy.special import hyp2f1

import levelbest as lb
from levelbest.stats import pass_at_k

RESAMPLES, SECOND, SAMPLES = 499, 0.7, 16
K = np.array([1, 4, 16])
RIVALS = ("default", "t", "percentile")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Rates:
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
        return np.asarray((1 - self.zeros) * (1 - hyp2f1(-np.asarray(k), self.a, self.a + self.b, scale)))


RATES = (
    Rates("beta(.3,.7)", 0.3, 0.7),
    Rates("beta(2,2)", 2, 2),
    Rates("half zeros", 2, 2, 0.5),
    Rates("beta(.6,.2), a fifth zeros", 0.6, 0.2, 0.2),
)
"""The last one is held out: no constant was chosen on it."""


@dataclass(frozen=True)
class Kind:
    """Problems of one kind: how many of all, what they weigh, and how often they are solved."""

    share: float
    weight: float
    rates: Rates


HARD, EASY, NEVER, ALWAYS = Rates("hard", 1, 4), Rates("easy", 4, 1), Rates("", 1, 1, 1.0), Rates("", 1e6, 1e-3)
MIXED: dict[str, tuple[bool, tuple[Kind, ...]]] = {
    # name: (fixed numbers of each kind: strata; or drawn), kinds
    "a tenth weigh 5, as hard as others": (False, (Kind(0.9, 1, RATES[1]), Kind(0.1, 5, RATES[1]))),
    "a tenth weigh 5, never solved": (False, (Kind(0.9, 1, EASY), Kind(0.1, 5, NEVER))),
    "a tenth weigh 5, always solved": (False, (Kind(0.9, 1, HARD), Kind(0.1, 5, ALWAYS))),
    "a third weigh 3, harder": (False, (Kind(2 / 3, 1, EASY), Kind(1 / 3, 3, HARD))),
    "strata of equal size, half easy, half hard": (True, (Kind(0.5, 1, EASY), Kind(0.5, 1, HARD))),
    "strata weighted 4 to 1, half easy, half hard": (True, (Kind(0.5, 4, EASY), Kind(0.5, 1, HARD))),
}


def tabled(solved: Sequence[np.ndarray], **more: Any) -> lb.Trials:
    """(problem, sample) of each system as trials."""
    rows = [matrix.ravel() for matrix in solved]
    problems, samples = solved[0].shape
    return lb.Trials.from_arrays(
        np.concatenate(rows).astype(float),
        family=np.repeat([f"system {place + 1}" for place in range(len(rows))], problems * samples),
        group=np.tile(np.repeat(np.arange(problems), samples), len(rows)),
        direction="max",
        bounds=(0, 1),
        **more,
    )


def drawn(rates: np.ndarray, samples: int, rng: np.random.Generator) -> np.ndarray:
    """(problem, sample), solved or not."""
    return rng.random((rates.size, samples)) < rates[:, None]


def percentile(solved: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Problems resampled with their weights; the middle 95 %."""
    by_problem = np.asarray(pass_at_k(solved.sum(axis=1), solved.shape[1], K))
    size = len(by_problem)
    counts = rng.multinomial(size, np.full(size, 1 / size), RESAMPLES) * weights
    means = counts @ by_problem / np.maximum(counts.sum(axis=1), 1e-300)[:, None]
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return low, high


def covering(kind: str, low: Any, high: Any, truth: np.ndarray, *, together: bool = False) -> Measures:
    """Whether limits cover at each k, or of a band at all of them, and how wide they are; those that do not exist do
    not cover."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)  # rounding must not decide where a limit is the truth
    inside = np.full(inside.shape, inside.all()) if together else inside
    width = np.nan_to_num(high - low)
    names = [f"{kind}, k = {k}" for k in K]
    return {f"{name} covers": float(x) for name, x in zip(names, inside, strict=True)} | {
        f"{name} width": float(x) for name, x in zip(names, width, strict=True)
    }


def averages(
    solved: np.ndarray, truth: np.ndarray, weights: np.ndarray | None, rng: np.random.Generator, at: int
) -> Measures:
    """The default interval of an average, and its rivals."""
    trials = tabled([solved], weights=None if weights is None else dict(enumerate(weights.tolist())))
    weights = np.ones(len(solved)) if weights is None else weights
    measured: Measures = {}
    for kind in RIVALS[:2]:
        curve = lb.curve(trials, n=K, interval=kind, n_resamples=RESAMPLES, rng=at)
        measured |= covering(kind, curve.low, curve.high, truth)
    measured |= covering("percentile", *percentile(solved, weights, rng), truth)
    band = lb.curve(trials, n=K, simultaneous=True, n_resamples=RESAMPLES, rng=at)
    return measured | covering("default band", band.low, band.high, truth, together=True)


def plain(rates: Rates, problems: int, samples: int) -> Any:
    """Averages, and paired differences: a second system has 0.7 times the rate on the same problems."""

    def measure(rng: np.random.Generator, at: int) -> Measures:
        p = rates.draw(problems, rng)
        first, second = drawn(p, samples, rng), drawn(SECOND * p, samples, rng)
        truth = rates.truth(K) - rates.truth(K, SECOND)
        measured = averages(first, rates.truth(K), None, rng, at)
        trials = tabled([first, second])
        alone = [lb.compare(trials, n=[int(k)], n_resamples=RESAMPLES, rng=at).pairs[0] for k in K]
        band = lb.compare(trials, n=K, n_resamples=RESAMPLES, rng=at).pairs[0]
        measured |= covering("difference", [pair.low[0] for pair in alone], [pair.high[0] for pair in alone], truth)
        return measured | covering("difference band", band.low, band.high, truth, together=True)

    return measure


def mixed(name: str, problems: int) -> Any:
    """Weighted and stratified problems: the average over all."""
    fixed, kinds = MIXED[name]
    shares = np.array([kind.share for kind in kinds])
    masses = shares * [kind.weight for kind in kinds]
    truth = masses @ np.array([kind.rates.truth(K) for kind in kinds]) / masses.sum()

    def measure(rng: np.random.Generator, at: int) -> Measures:
        if fixed:
            of = np.repeat(np.arange(len(kinds)), (shares * problems).astype(int))
        else:
            of = rng.choice(len(kinds), problems, p=shares)
        p = np.choose(of, [kind.rates.draw(of.size, rng) for kind in kinds])
        weights = np.array([kind.weight for kind in kinds], dtype=float)[of]
        return averages(drawn(p, SAMPLES, rng), truth, weights, rng, at)

    return measure


def cells() -> list[Cell]:
    """Every cell."""
    counted = [(size, SAMPLES) for size in (8, 12, 20, 50, 200)] + [(20, 64)]
    return [
        *(
            Cell("averages", f"{rates.name}, {samples} samples", str(size), plain(rates, size, samples))
            for size, samples in counted
            for rates in RATES
        ),
        *(Cell("mixed", name, str(size), mixed(name, size)) for size in (12, 30, 100) for name in MIXED),
    ]


# ---- the page


def lowest(cells: dict[tuple[str, str], Tally], kinds: Sequence[str]) -> list[str]:
    """The lowest coverage of each kind over the cells of each size, with the mean width over them."""
    sizes = sorted({int(size) for _, size in cells})
    body = []
    for kind in kinds:
        row = [kind]
        for size in sizes:
            tallies = [tally for (_, number), tally in cells.items() if int(number) == size]
            covers = min(tally.mean(f"{kind}, k = {k} covers") for tally in tallies for k in K)
            row.append(f"{covers:.3f} ({np.mean([t.mean(f'{kind}, k = {k} width') for t in tallies for k in K]):.2f})")
        body.append(row)
    return table(["interval", *(f"{size} problems" for size in sizes)], body)


def shown(tally: Tally, kind: str, budgets: Sequence[int]) -> list[str]:
    """Coverage with the mean width in brackets."""
    return [
        f"{tally.mean(f'{kind}, k = {k} covers'):.3f} ({tally.mean(f'{kind}, k = {k} width'):.2f})" for k in budgets
    ]


def write(results: Results, page: Path = HERE.parents[1] / "docs" / "coverage-problems.md") -> None:
    """The lowest coverage of each kind by number of problems, and every cell of the default."""
    parts = {key: tally for key, tally in results.items() if tally.samples}
    by_table = {
        name: {tuple(key.split(" | ")[1:]): tally for key, tally in parts.items() if key.startswith(f"{name} |")}
        for name in ("averages", "mixed")
    }
    fewest = min(tally.samples for tally in parts.values())
    budgets = K.tolist()
    lines = [
        "# Coverage over problems",
        "",
        "How often a nominal 95 % interval covers the truth, with the problem as the sampling unit, and its mean "
        f"width in parentheses: {fewest:,} samples or more per cell (standard error {(0.0475 / fewest) ** 0.5:.3f}). "
        "A band counts only where it covers at all k together. `t` is a t interval over problems, "
        "`percentile` a percentile bootstrap of problems, which is what most evaluations print. Verdicts over problems "
        "are in [the certificate of verdicts](coverage-verdicts.md). `python benchmarks/coverage/problems.py run` "
        "repeats the simulation and `... write` this page.",
        "",
        "## Averages and paired differences",
        "",
        f"Success rates drawn from {len(RATES)} distributions ({'; '.join(rates.name for rates in RATES)}; no "
        "constant was chosen on the last one; with `half zeros` half of the problems are never solved, the others "
        f"have beta(2,2)), 16 or 64 samples of each problem, k = 1, 4, 16. Differences are paired: a second "
        "system with 0.7 times the rate on the same problems. Lowest coverage over distributions, samples and k, and "
        "the mean width over them:",
        "",
        *lowest(by_table["averages"], [*RIVALS, "default band", "difference", "difference band"]),
        "Every cell of the default:",
        "",
        *table(
            ["rates", "problems", "k = 1", "k = 4", "k = 16", "difference, k = 1", "k = 4", "k = 16"],
            [
                [row, size, *shown(tally, "default", budgets), *shown(tally, "difference", budgets)]
                for (row, size), tally in by_table["averages"].items()
            ],
        ),
        "## Weighted and stratified problems",
        "",
        "Problems with larger weights may be of another kind, and a small sample may contain none of that kind. "
        "Easy problems are solved with beta(4,1), hard ones with beta(1,4); 16 samples. Lowest coverage over the kinds "
        "of problems and k:",
        "",
        *lowest(by_table["mixed"], [*RIVALS, "default band"]),
        "Every cell at k = 1:",
        "",
        *table(
            ["problems are", "number", *RIVALS],
            [
                [row, size, *(shown(tally, kind, budgets[:1])[0] for kind in RIVALS)]
                for (row, size), tally in by_table["mixed"].items()
            ],
        ),
    ]
    page.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(cells, write, HERE / "problems.json", "the certificate over problems")
