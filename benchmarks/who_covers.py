"""Who covers? This product beside its rivals: coverage and mean width on distributions whose truth is known.

    pip install opda scorio ppi-python evalstats pandas
    python benchmarks/who_covers.py --samples 1000          # about 15 minutes; writes docs/who-covers-tables.md

Four questions, one table each: the best of n of one family, pass@k over problems, pass@1 and a judge as users write
them, and the verdicts of families that differ in nothing. Every cell is an independent draw with its own seed, so that
a part of the table can be run alone.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats as distributions

from levelbest.stats import best_interval
from levelbest.stats.inference import Hypotheses, run_contrasts
from levelbest.stats.problems import expected_best_by_group, group_interval

PAGE = Path(__file__).resolve().parents[1] / "docs" / "who-covers-tables.md"
N_TRIALS = 50
BUDGETS = (1, 5, 25)
Limits = tuple[float, float]
RIVALS = ("opda", "scorio", "ppi-python", "evalstats")

DISTRIBUTIONS = {
    "accuracies of a random search (beta 6, 2)": distributions.beta(6, 2),
    "most trials fail to learn (0.1 or near 0.9)": None,
}


def draw(distribution: str, rng: np.random.Generator, size: int) -> np.ndarray:
    """Scores between 0 and 1."""
    known = DISTRIBUTIONS[distribution]
    if known is not None:
        return np.asarray(known.rvs(size, random_state=rng))
    learned = rng.random(size) < 0.3
    return np.where(learned, rng.beta(60, 6, size), 0.1 + 0.02 * rng.random(size))


def truth(distribution: str, n: int) -> float:
    """The expected best of n, from many draws (error below .0003)."""
    rng = np.random.default_rng(1)
    return float(
        np.mean([draw(distribution, rng, 400_000 // 40 * n).reshape(-1, n).max(axis=1).mean() for _ in range(40)])
    )


def percentile(scores: np.ndarray, rng: np.random.Generator) -> list[Limits]:
    """What papers do: resample the trials, take the expected best of n with replacement, and its percentiles."""
    ranks = np.arange(1, scores.size + 1) / scores.size
    weights = np.array([ranks**n - (ranks - 1 / scores.size) ** n for n in BUDGETS])
    drawn = np.sort(scores[rng.integers(scores.size, size=(1000, scores.size))], axis=1) @ weights.T
    return [(float(low), float(high)) for low, high in np.quantile(drawn, [0.025, 0.975], axis=0).T]


def opda_band(scores: np.ndarray, rng: np.random.Generator) -> list[Limits]:  # noqa: ARG001
    """opda's simultaneous band for the mean, within the bounds of the score."""
    from opda.nonparametric import EmpiricalDistribution

    low, _, high = EmpiricalDistribution.confidence_bands(scores, 0.95, a=0.0, b=1.0, method="ld_equal_tailed")
    ends = [sorted(float(end.average_tuning_curve(float(n))) for end in (low, high)) for n in BUDGETS]
    return [(lowest, highest) for lowest, highest in ends]


def ours(bounds: tuple[float, float] | None, *, simultaneous: bool) -> Callable[..., list[Limits]]:
    """The default interval, for one budget or as a band over all of them."""

    def limits(scores: np.ndarray, rng: np.random.Generator) -> list[Limits]:
        budgets = list(range(1, scores.size // 2 + 1)) if simultaneous else list(BUDGETS)
        band = best_interval(scores, budgets, bounds=bounds, simultaneous=simultaneous, rng=int(rng.integers(2**31)))
        places = [budgets.index(n) for n in BUDGETS]
        return [(float(band.low[at]), float(band.high[at])) for at in places]

    return limits


METHODS: dict[str, tuple[str, Callable[..., list[Limits]]]] = {
    "levelbest, bounds given": ("one budget", ours((0.0, 1.0), simultaneous=False)),
    "levelbest, no bounds": ("one budget", ours(None, simultaneous=False)),
    "percentile bootstrap": ("one budget", percentile),
    "levelbest band, bounds given": ("all budgets", ours((0.0, 1.0), simultaneous=True)),
    "opda band, bounds given": ("all budgets", opda_band),
}


def best_of_n(samples: int) -> Iterator[str]:
    """Coverage and mean width of limits for the expected best of n of 50 trials."""
    yield "| distribution | method | covers | " + " | ".join(f"n = {n}" for n in BUDGETS) + " |"
    yield "|---|---|---|" + "---|" * len(BUDGETS)
    for number, distribution in enumerate(DISTRIBUTIONS):
        truths = {n: truth(distribution, n) for n in BUDGETS}
        for name, (scope, method) in METHODS.items():
            held, width = dict.fromkeys(BUDGETS, 0), dict.fromkeys(BUDGETS, 0.0)
            for i in range(samples):
                rng = np.random.default_rng([number, i])
                scores = draw(distribution, rng, N_TRIALS)
                for n, (low, high) in zip(BUDGETS, method(scores, rng), strict=True):
                    held[n] += low <= truths[n] <= high
                    width[n] += (min(high, 1.0) - max(low, 0.0)) / samples
            cells = " | ".join(f"{held[n] / samples:.3f} ({width[n]:.3f})" for n in BUDGETS)
            yield f"| {distribution} | {name} | {scope} | {cells} |"


def pass_at_k(samples: int) -> Iterator[str]:
    """pass@k over problems that are a sample of a benchmark's population; some are never solved."""
    from scorio.eval import pass_at_k_ci

    n_samples, budgets = 8, (1, 4, 8)
    yield "| problems | method | " + " | ".join(f"k = {k}" for k in budgets) + " |"
    yield "|---|---|" + "---|" * len(budgets)
    solvable, distribution = 0.7, distributions.beta(0.8, 2)
    grid = distribution.ppf((np.arange(200_000) + 0.5) / 200_000)
    truths = {k: solvable * float(np.mean(1 - (1 - grid) ** k)) for k in budgets}
    for n_problems in (30, 164):
        names = ("levelbest", "percentile bootstrap", "scorio", "scorio, of exactly these problems")
        held = {name: dict.fromkeys(budgets, 0) for name in names}
        width = {name: dict.fromkeys(budgets, 0.0) for name in held}
        for i in range(samples):
            rng = np.random.default_rng([9, n_problems, i])
            chance = np.where(rng.random(n_problems) < solvable, distribution.rvs(n_problems, random_state=rng), 0.0)
            right = (rng.random((n_problems, n_samples)) < chance[:, None]).astype(float)
            problem = np.repeat(np.arange(n_problems), n_samples)
            best = expected_best_by_group(right.ravel(), problem, list(budgets))
            over = group_interval(best, bounds=(0.0, 1.0), rng=int(rng.integers(2**31)))
            drawn = rng.integers(n_problems, size=(1000, n_problems))
            for place, k in enumerate(budgets):
                _, _, low, high = pass_at_k_ci(right.astype(int), k)
                resampled = np.quantile(best.by_group[drawn, place].mean(axis=1), [0.025, 0.975])
                ends = {
                    "levelbest": (float(np.asarray(over.low)[place]), float(np.asarray(over.high)[place])),
                    "scorio": (low, high),
                    "scorio, of exactly these problems": (low, high),
                    "percentile bootstrap": (float(resampled[0]), float(resampled[1])),
                }
                for name, (lowest, highest) in ends.items():
                    true = float(np.mean(1 - (1 - chance) ** k)) if "exactly" in name else truths[k]
                    held[name][k] += lowest <= true <= highest
                    width[name][k] += (highest - lowest) / samples
        for name, counts in held.items():
            cells = " | ".join(f"{counts[k] / samples:.3f} ({width[name][k]:.3f})" for k in budgets)
            yield f"| {n_problems} | {name} | {cells} |"


PASS_AT_1 = {
    "levelbest": """
from levelbest.stats import expected_best_by_group, group_interval
limits = group_interval(expected_best_by_group(right.ravel(), problem, [1]), bounds=(0, 1))
low, high = limits.low[0], limits.high[0]""",
    "scorio": """
from scorio.eval import pass_at_k_ci
_, _, low, high = pass_at_k_ci(right.astype(int), 1)""",
    "evalstats": """
import evalstats
_, low, high, *_ = evalstats.mean_ci(right.mean(axis=1), score_range=(0, 1))""",
    "standard error over samples": """
error = right.std(ddof=1) / right.size**0.5
low, high = right.mean() - 1.96 * error, right.mean() + 1.96 * error""",
}
"""pass@1 of a table (problem, sample), by what a user writes."""
JUDGED = {
    "levelbest": """
import pandas as pd
import levelbest as lb
table = pd.DataFrame({"problem": problem, "judge": judge, "human": label})
curve = lb.curve(table, group="problem", judge="judge", label="human", direction="max")
low, high = curve.low[0], curve.high[0]""",
    "ppi-python": """
from ppi_py import ppi_mean_ci
low, high = (end.item() for end in ppi_mean_ci(label[known], judge[known], judge[~known], alpha=0.05))""",
    "evalstats": """
import evalstats
interval = evalstats.judge_debias_mean_ci(judge, label)
low, high = interval.ci_low, interval.ci_high""",
    "the labels alone": """
error = label[known].std(ddof=1) / known.sum()**0.5
low, high = label[known].mean() - 1.96 * error, label[known].mean() + 1.96 * error""",
    "the judge alone": """
error = judge.std(ddof=1) / judge.size**0.5
low, high = judge.mean() - 1.96 * error, judge.mean() + 1.96 * error""",
}
"""The mean label, from a judge's score of every sample and labels of some."""


def language_models(samples: int) -> Iterator[str]:
    """50 problems, 6 samples of each, success rates beta(.8, 1.2); a judge that is lenient; a fifth labelled."""
    warnings.simplefilter("ignore")  # evalstats warns in every call that labels must be drawn at random
    n_problems, n_samples, truth_of = 50, 6, 0.4
    yield "| question | method | covers | width | ms | lines |"
    yield "|---|---|---|---|---|---|"
    for question, snippets in (("pass@1", PASS_AT_1), ("a judge, 60 of 300 labelled", JUDGED)):
        compiled = {name: compile(text, name, "exec") for name, text in snippets.items()}
        covered, width, spent = (dict.fromkeys(snippets, 0.0) for _ in range(3))
        for i in range(samples):
            rng = np.random.default_rng([11, i])
            rates = rng.beta(0.8, 1.2, n_problems)
            right = (rng.random((n_problems, n_samples)) < rates[:, None]).astype(float)
            label, problem = right.ravel().copy(), np.repeat(np.arange(n_problems), n_samples)
            judge = np.where((label == 0) & (rng.random(label.size) < 0.3), 1.0, label)
            known = rng.permutation(label.size) < label.size // 5
            label[~known] = np.nan
            for name, code in compiled.items():
                given = {"right": right, "problem": problem, "judge": judge, "label": label, "known": known, "np": np}
                begun = time.process_time()
                exec(code, given)
                spent[name] += time.process_time() - begun
                low, high = float(given["low"]), float(given["high"])
                covered[name] += low <= truth_of <= high
                width[name] += high - low
        for name, text in snippets.items():
            figures = f"{covered[name] / samples:.3f} | {width[name] / samples:.3f} | {1e3 * spent[name] / samples:.2g}"
            yield f"| {question} | {name} | {figures} | {len(text.strip().splitlines())} |"


def false_verdicts(samples: int) -> Iterator[str]:
    """How often some family is called better where all have one distribution: runs with other seeds, five families."""
    n_families = 5
    pairs = tuple(combinations(range(n_families), 2))
    yield "| runs of each | distribution | levelbest | Welch for each pair | Welch with Holm |"
    yield "|---|---|---|---|---|"
    for n_runs in (3, 5, 10):
        for number, (name, distribution) in enumerate(
            (("normal", distributions.norm()), ("lognormal", distributions.lognorm(1)))
        ):
            wrong = [0, 0, 0]
            for i in range(samples):
                rng = np.random.default_rng([5, n_runs, number, i])
                scores = [np.asarray(distribution.rvs(n_runs, random_state=rng)) for _ in range(n_families)]
                contrasts = run_contrasts(scores, Hypotheses(pairs))
                wrong[0] += any(contrast.certified.any() for contrast in contrasts.pairs)
                p = np.sort([distributions.ttest_ind(scores[a], scores[b], equal_var=False).pvalue for a, b in pairs])
                wrong[1] += bool(p[0] < 0.05)
                wrong[2] += bool(p[0] < 0.05 / len(pairs))
            yield f"| {n_runs} | {name} | " + " | ".join(f"{count / samples:.3f}" for count in wrong) + " |"


LANGUAGE_MODELS = """50 problems with six samples of each, success rates from beta(.8, 1.2), and a judge that accepts
three in ten wrong answers; the true value is that of the population of problems. Time is processor time for one
interval, and lines are the lines of code that a user writes for it. evalstats is given the mean of each problem for
pass@1, as its manual recommends; with a judge it treats samples as independent, as ppi-python does."""


def page(samples: int) -> str:
    """The page."""
    error = 1.96 * np.sqrt(0.95 * 0.05 / samples)
    parts = [
        "# Who covers? The tables",
        f"""[Who covers?](who-covers.md) has the picture. Here are its numbers: how often each interval covers the
truth, and in parentheses its mean width, on distributions whose true values are known. {samples:,} samples a cell;
the Monte Carlo error of a coverage near .95 is {error:.3f}.""",
        "## The best of n of 50 trials",
        """Limits for one budget should cover .95 there. Bands cover all budgets at once, and so cover more than .95
at each. The percentile bootstrap is what most papers use: it resamples the trials, so no
resample contains a trial better than the best observed.""",
        "\n".join(best_of_n(samples)),
        "## pass@k over problems",
        """Eight samples of each problem; 30 % of the problems are never solved. The true value is that of the
population from which the problems are drawn. scorio's interval is for exactly these problems: its second row is for
that question, the first for the population. Its uniform prior on success probabilities does not fit problems that are
never solved.""",
        "\n".join(pass_at_k(samples)),
        "## Language models: coverage, width, time and lines",
        LANGUAGE_MODELS,
        "\n".join(language_models(samples)),
        "## Verdicts between families that do not differ",
        """Five families with the same distribution, a few runs of each: the share of samples in which some family is
called better than another. It should be at most .05.""",
        "\n".join(false_verdicts(samples)),
        f"Written by `python benchmarks/who_covers.py` with {', '.join(f'{name} {version(name)}' for name in RIVALS)}.",
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    # a folder beside this file is called coverage, which numba (of ppi-python) would take for the package
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=PAGE)
    arguments = parser.parse_args()
    arguments.out.write_text(page(arguments.samples), encoding="utf-8")
