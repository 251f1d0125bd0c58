"""The certificate of evaluations: exactly these problems, clusters of problems, several benchmarks, plans, broken ones.

    python benchmarks/coverage/suites.py run --samples 1000      # goes on where it stopped
    python benchmarks/coverage/suites.py write                   # docs/coverage-suites.md

A problem's success rate is drawn from a distribution, its samples from the rate. For the suite the truth is the mean
over the rates drawn; over problems it is that of the distribution. A winner under equal rates is a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from certificate import Cell, Measures, Results, main, rate, samples_words, table

from levelbest.stats.best import Sample
from levelbest.stats.inference import Contrasts, CountSamples, Hypotheses, ScoreSamples
from levelbest.stats.problems import (
    GroupBest,
    JudgedMean,
    average_over_groups,
    expected_spend,
    group_interval,
    judged_mean,
    pass_at_k,
    problem_contrasts,
    ratio_interval,
    suite_contrasts,
    suite_interval,
)

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "coverage-suites.md"
RESAMPLES = 499
Rates = Callable[[np.random.Generator, int], np.ndarray]
RATES: dict[str, Rates] = {
    "beta(2,2)": lambda rng, size: rng.beta(2, 2, size),
    "beta(.3,.7)": lambda rng, size: rng.beta(0.3, 0.7, size),
    "half never solved": lambda rng, size: np.where(rng.random(size) < 0.5, 0.0, rng.beta(2, 2, size)),
    "nearly all solved": lambda rng, size: rng.beta(9, 0.3, size),
}
PAIR = Hypotheses(pairs=((0, 1),), bounds=(0, 1))
GRADED = "graded, beta(2,2) about the rate"


HALF = 2
"""Budgets are compared up to half the samples."""


def won(rng: np.random.Generator, rates: np.ndarray, samples: int) -> np.ndarray:
    """Successes among so many samples of each problem."""
    return rng.binomial(samples, rates)


def budgets_of(samples: int) -> np.ndarray:
    """As `compare` has them."""
    return np.arange(1, max(samples // HALF, 1) + 1)


def counted(successes: np.ndarray, samples: int) -> CountSamples:
    """The samples of one system, 0 or 1."""
    return CountSamples(successes, np.full(successes.size, samples), budgets_of(samples), pass_at_k)


def graded(rng: np.random.Generator, rates: np.ndarray, samples: int) -> ScoreSamples:
    """Scores in [0, 1] whose mean is the rate."""
    means = 4 * rates[:, None]
    scores = rng.beta(means + 1e-9, 4 - means + 1e-9, (rates.size, samples))
    return ScoreSamples(Sample(scores.ravel()), np.full(rates.size, samples), budgets_of(samples))


def bests(successes: np.ndarray, samples: int, **more: Any) -> GroupBest:
    """The same by problem."""
    n = budgets_of(samples)
    by_group = np.asarray(pass_at_k(successes, samples, n)).reshape(successes.size, n.size)
    value, n_groups = average_over_groups(by_group, None)
    sizes = np.full(successes.size, samples)
    return GroupBest(n, value, by_group, n_groups, np.arange(successes.size), sizes, None, "max", **more)


def winner(contrasts: Contrasts) -> Measures:
    """Whether the pair is decided at n = 1, and anywhere."""
    certified = contrasts.pairs[0].certified
    return {"winner": float(certified[0] != 0), "anywhere": float(certified.any())}


def intervals(rates: Rates, size: int, samples: int) -> Callable[[np.random.Generator, int], Measures]:
    """Coverage of intervals for the suite at n = 1 and at half the samples, and their width over that over problems."""

    def measure(rng: np.random.Generator, _at: int) -> Measures:
        p = rates(rng, size)
        successes = won(rng, p, samples)
        best = bests(successes, samples)
        inside = suite_interval(best, counted(successes, samples), bounds=(0, 1))
        over = group_interval(best, bounds=(0, 1), n_resamples=RESAMPLES)
        truth = np.array([np.mean(1 - (1 - p) ** n) for n in best.n])
        covers = (inside.low <= truth + 1e-12) & (truth <= inside.high + 1e-12)
        ratio = float((inside.high[0] - inside.low[0]) / (over.high[0] - over.low[0]))
        return {"pass@1": float(covers[0]), "pass@half": float(covers[-1]), "width": ratio}

    return measure


def interval_cells() -> Iterator[Cell]:
    """20 to 200 problems."""
    for size in (20, 50, 200):
        for samples in (4, 16):
            for name, rates in RATES.items():
                yield Cell("suite: intervals", name, f"{size} x {samples}", intervals(rates, size, samples))


def equal_cells() -> Iterator[Cell]:
    """Two systems with the same rates on exactly these problems."""
    for size, samples in ((20, 3), (20, 10), (50, 4), (100, 10), (200, 4)):
        for name, rates in {**RATES, GRADED: RATES["beta(2,2)"]}.items():

            def measure(rng, _at, *, rates=rates, size=size, samples=samples, name=name):
                p = rates(rng, size)
                if name == GRADED:
                    systems = [graded(rng, p, samples) for _ in range(2)]
                else:
                    systems = [counted(won(rng, p, samples), samples) for _ in range(2)]
                return winner(suite_contrasts(systems, PAIR))

            yield Cell("suite: equal systems", name, f"{size} x {samples}", measure)


BEFORE, AFTER = np.array([0.9, 1.0, 0.85, *[0.95] * 17]), np.array([0.4, 0.35, 0.2, *[0.95] * 17])
"""Three of 20 tests broken: of 20 runs 18 to 8, 20 to 7 and 17 to 4."""


def broken_cells() -> Iterator[Cell]:
    """The tests of a project before and after a change."""
    for runs in (5, 10, 20):
        for about in ("suite", "problems"):

            def measure(rng, _at, *, runs=runs, about=about):
                decided = {}
                for name, after in (("broken", AFTER), ("A/A", BEFORE)):
                    successes = [won(rng, rates, runs) for rates in (BEFORE, after)]
                    if about == "suite":
                        answer = suite_contrasts([counted(column, runs) for column in successes], PAIR)
                    else:
                        answer = problem_contrasts([bests(column, runs) for column in successes], PAIR)
                    decided |= {name: winner(answer)["winner"], f"{name}, anywhere": winner(answer)["anywhere"]}
                return decided

            yield Cell("three of 20 tests broken", f"--about {about}", f"{runs} runs", measure)


EFFECTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, size: rng.normal(0, 0.15, size),
    "three values": lambda rng, size: 0.3 * rng.integers(-1, 2, size),
    "one in eight differs": lambda rng, size: 0.4 * (rng.random(size) < 0.125),
}
"""What each system adds to the success rate of a cluster."""
SIZES = {
    "20 x 20": np.full(20, 20),
    "40 x 5": np.full(40, 5),
    "30 of 1 to 30": np.repeat([1, 2, 3, 4, 5, 7, 10, 14, 18, 24, 30], [5, 5, 3, 3, 3, 3, 2, 2, 2, 1, 1]),
}


def cluster_cells() -> Iterator[Cell]:
    """Equal systems on problems that are nested in clusters, which each finds easy or hard in its own way."""
    for column, sizes in SIZES.items():
        for name, effect in EFFECTS.items():

            def measure(rng, _at, *, sizes=sizes, effect=effect):
                cluster = np.repeat(np.arange(sizes.size), sizes)
                rates = [np.clip(0.5 + effect(rng, sizes.size)[cluster], 0, 1) for _ in range(2)]
                systems = [bests(won(rng, p, 4), 4, clusters=cluster) for p in rates]
                alone = [replace(system, clusters=None) for system in systems]
                return {
                    "winner": winner(problem_contrasts(systems, PAIR))["anywhere"],
                    "one by one": winner(problem_contrasts(alone, PAIR))["anywhere"],
                }

            yield Cell("clusters: equal systems", name, column, measure)


def macro_cells() -> Iterator[Cell]:
    """Equal systems on eight benchmarks of unequal size; in one, each system leads on half of them."""
    sizes = np.array([10, 15, 20, 25, 30, 40, 60, 100])
    task = np.repeat(np.arange(sizes.size), sizes)
    leads = np.where(np.arange(sizes.size) % 2, 0.1, -0.1)
    for name, rates in RATES.items():
        for column in ("equal on each", "each leads on four"):

            def measure(rng, _at, *, rates=rates, column=column):
                p = rates(rng, task.size)
                shift = leads[task] if column != "equal on each" else np.zeros(task.size)
                # as much up as down, so that the means over tasks stay equal
                pair = [0.15 + 0.7 * p + sign * shift for sign in (0.5, -0.5)]
                shown = [bests(won(rng, column_rates, 4), 4, stratum=task, macro=True) for column_rates in pair]
                return {"winner": winner(problem_contrasts(shown, PAIR))["anywhere"]}

            yield Cell("macro: equal systems", name, column, measure)


SPREADS = (0.5, 1.0)
"""Of the logarithm of what problems cost; that of a sample about its problem is .5."""


def spent_and_solved(
    rng: np.random.Generator, rates: Rates, size: int, spread: float, n: int
) -> tuple[np.ndarray, ...]:
    """Of each problem, four samples: what up to n of them cost with a stop at the first success, and pass@n.

    Problems that are solved less often cost more.
    """
    p = rates(rng, size)
    scale = np.exp(rng.normal(0, spread, size)) * (2 - p)
    cost = scale[:, None] * np.exp(rng.normal(0, 0.5, (size, 4)))
    right = rng.random((size, 4)) < p[:, None]
    ones, sizes = right.sum(axis=1), np.full(size, 4)
    spent = expected_spend((cost * right).sum(axis=1), (cost * ~right).sum(axis=1), ones, sizes, n)
    return spent, np.asarray(pass_at_k(ones, 4, [n])).ravel()


def spend_truth(rates: Rates, spread: float, n: int) -> float:
    """The same of the distribution, from a million problems: its error is below .002 of it."""
    p = rates(np.random.default_rng(0), 1_000_000)
    solved = 1 - (1 - p) ** n
    draws = np.where(p > 0, solved / np.where(p > 0, p, 1), n)
    return float(np.exp((spread**2 + 0.25) / 2) * ((2 - p) * draws).mean() / solved.mean())


def spend_cells() -> Iterator[Cell]:
    """Spend per solved problem: one sample, and up to four with a stop at the first success."""
    for size in (20, 50, 200):
        for spread in SPREADS:
            for name, rates in RATES.items():

                def measure(rng, _at, *, rates=rates, size=size, spread=spread, truths={}):  # noqa: B006
                    shown = {}
                    for n, what in ((1, "one sample"), (4, "stop at success")):
                        if n not in truths:
                            truths[n] = spend_truth(rates, spread, n)
                        ratio = ratio_interval(*spent_and_solved(rng, rates, size, spread, n), n_resamples=RESAMPLES)
                        shown[what] = float(ratio.low <= truths[n] <= ratio.high)
                        shown[f"{what}, width"] = ratio.high / ratio.low if ratio.low > 0 else float("nan")
                    return {key: value if np.isfinite(value) else float("nan") for key, value in shown.items()}

                yield Cell("spend per solved", f"{name}, costs {spread}", f"{size} problems", measure)


MEANS = {"beta(2,2)": 0.5, "beta(.3,.7)": 0.3, "half never solved": 0.25, "nearly all solved": 9 / 9.3}


def judged(rng: np.random.Generator, p: np.ndarray, share: float, kind: str) -> tuple[GroupBest, JudgedMean]:
    """Six samples of each problem, a judge's score of each, and labels of some drawn at random; ten at least."""
    code, sizes = np.repeat(np.arange(p.size), 6), np.full(p.size, 6)
    label = (rng.random(code.size) < p[code]).astype(float)
    wrong = {"wrong in .2": np.full(code.size, 0.2), "lenient": np.where(label == 0, 0.4, 0.0)}.get(kind)
    if wrong is None:  # another share of each problem
        wrong = rng.beta(0.5, 1.5, p.size)[code]
    judge = np.where(rng.random(code.size) < wrong, 1 - label, label)
    known = rng.permutation(code.size) < max(round(share * code.size), 10)
    mean = judged_mean(judge, np.where(known, label, np.nan), code, sizes, bounds=(0, 1))
    values = mean.by_problem[:, None]
    best = GroupBest(np.array([1]), np.array([mean.value]), values, sizes[:1] * 0 + p.size, sizes, sizes, None, "max")
    return replace(best, groups=np.arange(p.size)), mean


def judge_cells() -> Iterator[Cell]:
    """A judge with labels of some samples: one system, and the difference of two that are equal."""
    for size in (20, 50, 200):
        for share in (0.1, 0.2):
            for kind in ("wrong in .2", "lenient", "wrong unevenly"):
                for name, rates in RATES.items():

                    def measure(rng, _at, *, rates=rates, size=size, share=share, kind=kind, name=name):
                        p = rates(rng, size)
                        (first, mean), (second, _) = (judged(rng, p, share, kind) for _ in range(2))
                        method, bounds = mean.interval
                        alone = group_interval(first, method=method, bounds=bounds, n_resamples=RESAMPLES)
                        pair = problem_contrasts([first, second], Hypotheses(pairs=((0, 1),))).pairs[0]
                        return {
                            "one system": float(alone.low[0] <= MEANS[name] <= alone.high[0]),
                            "difference": float(pair.low[0] <= 0 <= pair.high[0]),
                            "width": float(alone.high[0] - alone.low[0]),
                        }

                    yield Cell("judges", f"{name}, {kind}, {share:.0%} labelled", f"{size} problems", measure)


MOST_PLANNED = 2_000
"""Problems that are drawn at the most: of more planned ones, fewer are compared."""


def planned_cells() -> Iterator[Cell]:
    """A pilot, its plan, and a study of as many problems; and plans of equal systems."""
    for name in ("beta(2,2)", "beta(.3,.7)", "half never solved"):
        for size in (50, 200):
            for lift in (0.0, 0.05, 0.1):

                def measure(rng, _at, *, rates=RATES[name], size=size, lift=lift):
                    def contrasts(number, hypotheses):
                        p = 0.9 * rates(rng, number)
                        return problem_contrasts([bests(won(rng, part, 4), 4) for part in (p, p + lift)], hypotheses)

                    needed = contrasts(size, replace(PAIR, planned=1)).pairs[0].needed
                    told = {
                        "number": float(not needed.decided and not needed.without_promise.code),
                        "decided": float(needed.decided),
                    }
                    if not lift:
                        return told
                    study = contrasts(int(min(needed.needed, MOST_PLANNED)), PAIR).pairs[0]
                    return told | {"right": float(study.certified[0] == -1)}

                apart = "equal" if not lift else f"{lift} apart"
                yield Cell("plans", f"{name}, {apart}", f"pilot of {size}", measure)


def all_cells() -> list[Cell]:
    """Every cell, in the order of the page."""
    before = [*broken_cells(), *interval_cells(), *equal_cells(), *cluster_cells(), *macro_cells()]
    return [*before, *spend_cells(), *judge_cells(), *planned_cells()]


HEAD = """# Coverage of evaluations

Error rates and coverage of verdicts and intervals for exactly these problems, for clusters of problems, over several
benchmarks, with costs and with judges, and the power of plans. Nominal 95 %;
{samples} Written by `python benchmarks/coverage/suites.py write` from what
`python benchmarks/coverage/suites.py run --samples 1000` computed (seed 2026), which continues where it stopped.
Columns such as `20 x 4` are problems and samples of each.
"""
TABLES = {
    "three of 20 tests broken": (
        "Three of 20 tests broken",
        "The share of samples with a verdict at n = 1, and in brackets at any n: a change that breaks three of 20 "
        "tests (of 20 runs 18 to 8, 20 to 7 and 17 to 4 pass), and none (A/A).",
        (("broken", "broken, anywhere"), ("A/A", "A/A, anywhere")),
    ),
    "suite: intervals": (
        "Intervals for exactly these problems",
        "Coverage of pass@1, of pass@k at half the samples, and the width of the first over that of an interval over "
        "problems. Success rates are drawn for each suite, and the truth is their mean. That ratio is about "
        "sqrt(w / (w + m b)), with b the variance of success rates over problems, w the mean variance of a sample "
        "within its problem and m the samples: a third of the width takes m = 8 w / b samples of each problem, 8 with "
        "rates from beta(.3, .7), 9 where half are never solved, 32 with beta(2, 2) and 75 where nearly all are "
        "solved. With fewer no interval can be that narrow.",
        (("pass@1",), ("pass@half",), ("width",)),
    ),
    "suite: equal systems": (
        "Equal systems on exactly these problems",
        "The share of samples in which a winner is named at n = 1, and in brackets at any n up to half the samples.",
        (("winner", "anywhere"),),
    ),
    "clusters: equal systems": (
        "Equal systems on clusters of problems",
        "The share of samples in which a winner is named at any n with the cluster as the unit; beside it the share "
        "if problems are treated as independent. Which clusters are easy differs between the systems.",
        (("winner",), ("one by one",)),
    ),
    "macro: equal systems": (
        "Equal systems over eight benchmarks",
        "The share of samples in which a winner is named at any n for the mean over eight benchmarks of 10 to 100 "
        "problems: where the systems are equal on each, and where each leads by .1 on four of them and the means are "
        "equal.",
        (("winner",),),
    ),
    "spend per solved": (
        "Spend per solved problem",
        "Coverage of the spend per solved problem, and in brackets the mean of the upper over the lower limit: with "
        "one sample of each problem, and with up to four and a stop at the first success. Four samples of each problem "
        "were drawn; costs are lognormal, over problems with the spread shown (of logarithms) and within problems "
        "with .5, and higher where a problem is solved less often.",
        (("one sample", "one sample, width"), ("stop at success", "stop at success, width")),
    ),
    "judges": (
        "A judge, and labels of some samples",
        "Coverage of the mean label of one system, with its mean width, and of the difference of two equal systems on "
        "the same problems; six samples of each problem, of which a share (at least ten samples) has labels, drawn "
        "at random.",
        (("one system",), ("width",), ("difference",)),
    ),
    "plans": (
        "The power of plans",
        "A pilot with the given number of problems and four samples each is planned for a power of .80, followed by "
        "a study with the planned number of fresh problems (at most 2,000): the share of studies that name the "
        "better system. Beside it the share of undecided pilots that give a number of problems (others say `120 or "
        "more`), and of pilots that are already decided.",
        (("right",), ("number",), ("decided",)),
    ),
}


def write_page(results: Results) -> None:
    """docs/coverage-suites.md, from the results alone."""
    lines = [HEAD.format(samples=samples_words(results.values()).lower())]
    for name, (title, text, measures) in TABLES.items():
        cells = {key: tally for key, tally in results.items() if key.startswith(f"{name} | ")}
        if not cells:
            continue
        rows = []
        for key, tally in cells.items():
            _, row, column = key.split(" | ")
            figures = []
            for first, *others in measures:
                beside = f" ({', '.join(rate(tally.mean(other)) for other in others)})" if others else ""
                figures.append(f"{rate(tally.mean(first))}{beside}")
            rows.append([row, column, *figures, f"{tally.samples:,}"])
        heads = ["distribution", "size", *(first for first, *_ in measures), "samples"]
        lines += [f"## {title}", "", text, "", *table(heads, rows)]
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(all_cells, write_page, HERE / "suites.json", "the certificate of evaluations")
