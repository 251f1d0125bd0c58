"""The attack on every design through the public interface: tables in memory, `compare`, and what its verdicts say.

    python benchmarks/coverage/designs.py run --cells 'equal' --samples 200 --results /tmp/results.json
    python benchmarks/coverage/designs.py write       # docs/coverage-verdicts.md

This module draws one sample of a design and measures its verdicts; `cells` lists what is certified, `designs_page`
writes the page, and `certificate` runs.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from certificate import Measures, main
from distributions import QUANTILES, Quantile, expected_bests
from scipy import stats

import levelbest as lb
from levelbest.designs._assemble import assemble
from levelbest.designs._protocol import Request
from levelbest.designs.tasks import Tasks
from levelbest.stats import best_weights, cdf_band

ALPHA, RIVALS, NOISE = 0.05, 250, 1e-5
"""The level; how many samples other methods are measured on; the error of integrating the truth."""
Compare = Callable[[list[np.ndarray]], Any]
"""Scores by family to a comparison."""
HERE = Path(__file__).parent


# ---- one table of each design


def _names(sizes: Sequence[int]) -> np.ndarray:
    return np.repeat([f"family {chr(97 + place)}" for place in range(len(sizes))], sizes)


def joined(scores: list[np.ndarray]) -> dict[str, Any]:
    """Scores by family as arguments of `Trials.from_arrays`."""
    return {"selection": np.concatenate(scores), "family": _names([part.size for part in scores]), "direction": "max"}


def trials(scores: list[np.ndarray], bounds: Any = None, **asked: Any) -> Any:
    """Independent trials."""
    return lb.compare(lb.Trials.from_arrays(**joined(scores), bounds=bounds), **asked)


def seeds(scores: list[np.ndarray], bounds: Any = None, **asked: Any) -> Any:
    """Runs of one configuration each."""
    numbers = np.concatenate([np.arange(part.size) for part in scores])
    return lb.compare(lb.Trials.from_arrays(**joined(scores), seed=numbers, bounds=bounds), **asked)


def searches(scores: list[np.ndarray], length: int = 4) -> Any:
    """Whole searches of so many trials; ``scores`` hold all trials of a family."""
    label = [f"{place}-{at // length}" for place, part in enumerate(scores) for at in range(part.size)]
    return lb.compare(lb.Trials.from_arrays(**joined(scores), search=label))


def tasks(scores: list[np.ndarray], number: int) -> Any:
    """The trials of each family dealt to so many tasks, in equal parts; the verdict over all of them.

    It is `lb.compare_tasks(tables).overall`, without what that says of each task, which takes four times as long.
    """
    parts = [np.split(part, number) for part in scores]
    tables = {f"task {at}": lb.Trials.from_arrays(**joined([part[at] for part in parts])) for at in range(number)}
    return assemble(Tasks(tables, Request.of(paired=False)), survival=False)


def pairs(scores: list[np.ndarray], **asked: Any) -> Any:
    """Configurations that every family ran: trial i of all families has the same."""
    setting = np.concatenate([np.arange(part.size) * 0.125 for part in scores])
    return lb.compare(lb.Trials.from_arrays(**joined(scores), configuration={"learning_rate": setting}), **asked)


def folds(scores: list[np.ndarray], runs: int = 1) -> Any:
    """So many runs on every fold; fold i of all families is the same."""
    fold = np.concatenate([np.arange(part.size) // runs for part in scores])
    return lb.compare(lb.Trials.from_arrays(**joined(scores), configuration={"fold": fold}))


def problems(
    scores: list[np.ndarray], samples: int = 1, bounds: Any = (0, 1), about: str = "problems", **more: Any
) -> Any:
    """So many samples of every problem; problem i of all families is the same."""
    group = np.concatenate([np.arange(part.size) // samples for part in scores])
    return lb.compare(lb.Trials.from_arrays(**joined(scores), group=group, bounds=bounds, **more), about=about)


def configurations(scores: list[np.ndarray], runs: int, **asked: Any) -> Any:
    """So many runs of every configuration."""
    setting = np.concatenate([np.arange(part.size) // runs for part in scores])
    return lb.compare(lb.Trials.from_arrays(**joined(scores), setting=setting), paired=False, **asked)


def cost(scores: list[np.ndarray], rng: np.random.Generator, rising: float) -> Any:
    """Exponential costs that rise with the score by ``rising``."""
    pooled = np.concatenate(scores)
    spent = 0.2 + rng.exponential(size=pooled.size) + rising * (pooled - pooled.min()) / (np.ptp(pooled) or 1.0)
    return lb.compare(lb.Trials.from_arrays(**joined(scores), cost=spent), axis="cost", n_resamples=499)


# ---- what its verdicts say


def label(sizes: Sequence[int]) -> str:
    """Counts in words: 10-100, or 5 x 10."""
    even = len(set(sizes)) == 1 and len(sizes) > 2
    return f"{len(sizes)} x {sizes[0]}" if even else "-".join(map(str, sizes))


def solved(rng: np.random.Generator, rates: np.ndarray, samples: int) -> np.ndarray:
    """0 or 1 for so many samples of each problem."""
    return (rng.random((rates.size, samples)) < rates[:, None]).astype(float).ravel()


def draw(rng: np.random.Generator, names: Sequence[str], sizes: Sequence[int]) -> list[np.ndarray]:
    """Scores of each family; one name is that of all."""
    distributions = list(names) * (len(sizes) if len(names) == 1 else 1)
    return [QUANTILES[name](rng.random(size)) for name, size in zip(distributions, sizes, strict=True)]


def certified(pair: Any) -> np.ndarray:
    """At each budget of a pair: 1 and -1 for its families, 0 where undecided."""
    signs = {pair.families[0]: 1, pair.families[1]: -1}
    return np.array([signs.get(pair.verdict_at(float(budget)), 0) for budget in pair.budget])


def winner_among(compared: Any, families: Sequence[str] | None = None) -> float:
    """Whether any pair of these families (all where none is named) has a winner at any budget."""
    chosen = [pair for pair in compared.pairs if families is None or set(pair.families) <= set(families)]
    return float(any(pair.decided for pair in chosen))


def welch(scores: list[np.ndarray]) -> np.ndarray:
    """Which pairs Welch's t decides at one trial, with Holm over the pairs."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        p = [stats.ttest_ind(a, b, equal_var=False).pvalue for a, b in combinations(scores, 2)]
    p = np.nan_to_num(np.array(p), nan=1.0)
    order = np.argsort(p)
    failed = np.cumsum(p[order] > ALPHA / np.arange(p.size, 0, -1)) > 0
    decided = np.zeros(p.size, dtype=bool)
    decided[order[~failed]] = True
    return decided


def percentile(scores: list[np.ndarray], n: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap limits of the difference of two families at each budget by itself."""
    curves = []
    for part in scores:
        weights = np.atleast_2d(best_weights(np.arange(part.size), n))
        curves.append(np.sort(part[rng.integers(0, part.size, (999, part.size))], axis=1) @ weights.T)
    low, high = np.quantile(curves[0] - curves[1], [ALPHA / 2, 1 - ALPHA / 2], axis=0)
    return low, high


def two_bands(scores: list[np.ndarray], n: np.ndarray, bounds: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Limits from a band of each distribution with half of the error (opda's way)."""
    ends = []
    for part in scores:
        band = cdf_band(part, 1 - ALPHA / 2)
        below, above = (_mean_bests(np.asarray(side), np.asarray(band.x), n, bounds) for side in (band.high, band.low))
        ends.append((below, above))
    return ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]


def _mean_bests(cdf: np.ndarray, x: np.ndarray, n: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """The expected best of n under a step function: upper bound minus the integral of F^n."""
    points = np.concatenate([[bounds[0]], x, [bounds[1]]])
    at = np.concatenate([[cdf[0] if cdf.size > x.size else 0.0], cdf[-x.size :]])
    return bounds[1] - (np.diff(points) * at ** n[:, None]).sum(axis=1)


def equal(names: Sequence[str], sizes: Sequence[int], compare: Compare, *, rivals: bool = False) -> Any:
    """Equal distributions: every winner is false."""

    def measure(rng: np.random.Generator, at: int) -> Measures:
        scores = draw(rng, names, sizes)
        measured = {"winner": winner_among(compare(scores))}
        if rivals and at < RIVALS:
            measured["welch"] = float(welch(scores).any())
        return measured

    return measure


def partial_null(name: str, sizes: Sequence[int], far: int, compare: Compare) -> Any:
    """Equal families beside ``far`` more that lie far below: any winner among the equal ones is false."""

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        scores = draw(rng, [name], sizes)
        span = 20 * (np.ptp(QUANTILES[name](np.linspace(0.01, 0.99, 99))) or 1.0)
        for place in range(far):
            scores[-1 - place] = scores[-1 - place] - span * (place + 1)
        compared = compare(scores)
        same = [f"family {chr(97 + place)}" for place in range(len(sizes) - far)]
        return {"winner": winner_among(compared, same)}

    return measure


def unequal(
    distributions: Sequence[Quantile], sizes: Sequence[int], *, bounds: Any = None, rivals: bool = False, **asked: Any
) -> Any:
    """Unequal distributions: a winner at a true difference of zero or the wrong one, bands that cover all at once."""

    @cache
    def differences() -> np.ndarray:
        curves = [expected_bests(distribution, np.arange(1, min(sizes) // 2 + 1)) for distribution in distributions]
        return np.array([curves[a] - curves[b] for a, b in combinations(range(len(sizes)), 2)])

    @cache
    def noise() -> float:
        return NOISE * max(float(np.ptp(distribution(np.array([0.01, 0.99])))) for distribution in distributions)

    def measure(rng: np.random.Generator, at: int) -> Measures:
        scores = [distribution(rng.random(size)) for distribution, size in zip(distributions, sizes, strict=True)]
        compared = trials(scores, bounds, **asked).pairs
        places = compared[0].budget.astype(int) - 1
        truth = differences()[:, places]
        low, high = (np.array([getattr(pair, side) for pair in compared]) for side in ("low", "high"))
        named = np.array([certified(pair) for pair in compared])
        measured = _against_truth("default", low, high, named, truth, noise())
        if rivals and at < RIVALS and len(sizes) == 2:
            low, high = percentile(scores, places + 1, np.random.default_rng(at))
            measured |= _against_truth("percentile", low[None], high[None], None, truth, noise())
            if bounds is not None:
                low, high = two_bands(scores, places + 1, bounds)
                named = np.where(low > 0, 1, np.where(high < 0, -1, 0))[None]
                measured |= _against_truth("opda", low[None], high[None], named, truth, noise())
        return measured

    return measure


def _against_truth(
    method: str, low: np.ndarray, high: np.ndarray, named: np.ndarray | None, truth: np.ndarray, noise: float
) -> Measures:
    """(pair, n) each: whether all limits cover, whether a winner is wrong, and how wide they are."""
    measured = {f"{method} covered": float(((low <= truth + noise) & (truth - noise <= high)).all())}
    if named is not None:
        measured[f"{method} wrong"] = float(((named != 0) & (named * truth <= noise)).any())
        measured[f"{method} decided"] = float((named != 0).any())
    widths = (high - low).mean(axis=0)
    ends = {"first": widths[0], "last": widths[-1]}
    return measured | {f"{method} width {end}": float(x) if np.isfinite(x) else math.nan for end, x in ends.items()}


def meeting(distribution: Quantile, rival: Quantile, n: int) -> Quantile:
    """``rival`` shifted so that both have the same expected best of n."""

    @cache
    def gap() -> float:
        return float((expected_bests(distribution, np.array([n])) - expected_bests(rival, np.array([n])))[0])

    return lambda u: rival(u) + gap()


def at_zero(compare: Compare, sample: Callable[[np.random.Generator], list[np.ndarray]], budget: int = 1) -> Any:
    """A true difference of zero at ``budget``: a winner there is wrong."""

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        pair = compare(sample(rng)).pairs[0]
        return {"winner": float(pair.verdict_at(budget) in pair.families)}

    return measure


def collapsing(sizes: tuple[int, int], budget: int, share: float = 0.1, **asked: Any) -> Any:
    """A reported score that collapses in some trials, whatever the selection score, against a steady one at the true
    value at ``budget``: a winner there is wrong; whether there is a verdict to speak of; and how much may be unseen."""
    best = float(expected_bests(lambda u: 0.8 + 0.03 * stats.norm.ppf(u), np.array([budget]))[0])
    truth = (1 - share) * best + share * 0.1

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        chosen = 0.8 + 0.03 * rng.normal(size=sizes[0])
        shown = np.where(rng.random(sizes[0]) < share, 0.1, chosen)
        rival = truth + 0.002 * rng.normal(size=sizes[1])
        table = lb.Trials.from_arrays(**joined([chosen, rival]), reported=np.concatenate([shown, rival]), bounds=(0, 1))
        compared = lb.compare(table, **asked).pairs[0]
        return {
            "winner": float(compared.verdict_at(budget) in compared.families),
            "anywhere": float(compared.decided),
            "ended": float(compared.verdict_at(budget) == "not comparable"),
        }

    return measure


def negligible(compare: Compare, sample: Callable[[np.random.Generator], list[np.ndarray]]) -> Any:
    """A true difference above what is worth having: saying that there is none is false."""

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        pair = compare(sample(rng)).pairs[0]
        return {"negligible": float(any(part.negligible for part in pair.verdicts) or pair.effect.negligible)}

    return measure


def power(
    shifts: Sequence[float],
    sizes: Sequence[int],
    compare: Compare,
    *,
    distribution: str = "normal",
    budgets: Sequence[int] = (1,),
    named: Compare | None = None,
) -> Any:
    """Shifted families: the share of different pairs decided rightly, whether any pair is decided wrongly, and Welch's
    t with Holm; ``named`` compares with the first budget named in advance."""

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        scores = [part + shift for part, shift in zip(draw(rng, [distribution], sizes), shifts, strict=True)]
        gaps = np.array([a - b for a, b in combinations(shifts, 2)])
        compared = compare(scores)
        measured = {}
        for budget in budgets:
            signs = np.array([_sign_at(pair, budget) for pair in compared.pairs])
            measured[f"decided at {budget}"] = float((signs == np.sign(gaps))[gaps != 0].mean())
            measured[f"wrong at {budget}"] = float(((signs != np.sign(gaps)) & (signs != 0)).any())
        measured["welch"] = float(welch(scores)[gaps != 0].mean())
        if named is not None:
            signs = np.array([_sign_at(pair, budgets[0]) for pair in named(scores).pairs])
            measured["named"] = float((signs == np.sign(gaps))[gaps != 0].mean())
        return measured

    return measure


def _sign_at(pair: Any, budget: float) -> int:
    return {pair.families[0]: 1, pair.families[1]: -1}.get(pair.verdict_at(budget), 0)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    from cells import all_cells
    from designs_page import write_page

    main(all_cells, write_page, HERE / "verdicts.json", "the certificate of verdicts")
