"""Pairs of systems over many problems: differences problem by problem, their bands, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from levelbest._check import Bounds, IntArray
from levelbest.comparisons import sentences
from levelbest.comparisons.plan import scope_words
from levelbest.comparisons.results import PairComparison, Verdict, crossings, verdict_ranges
from levelbest.stats.contrasts import Difference, Question
from levelbest.stats.problems import WHY, GroupBest, problem_contrasts

__all__ = ["LISTED", "System", "adjustment_words", "at_budgets", "differences_of", "left_out", "pair_of"]

LISTED = 5
Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class System:
    """One family's values by problem, and the samples behind them."""

    name: str
    best: GroupBest
    n_trials: int
    n_failed: int


def left_out(family: str, names: Sequence[str], total: int) -> str:
    """Which problems of a family not every family has, in words."""
    listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    return f"{len(names)} of {total} problems of {family} are not in every family ({listed})"


def at_budgets(best: GroupBest, budgets: IntArray) -> GroupBest:
    """The same with a column of NaN for every budget that no problem allows."""
    if best.n.size == budgets.size:
        return best
    missing = budgets.size - best.n.size
    blank = np.full((best.groups.size, missing), np.nan)
    return replace(
        best, n=budgets, value=np.r_[best.value, np.full(missing, np.nan)], by_group=np.hstack([best.by_group, blank]),
        n_groups=np.r_[best.n_groups, np.zeros(missing, dtype=np.int64)],
    )  # fmt: skip


def differences_of(
    systems: Sequence[System],
    pairs: Pairs,
    *,
    paired: bool,
    bounds: Bounds,
    confidence: float,
    n_resamples: int,
    rng: int | None,
) -> list[Difference]:
    """The difference of each pair with its band, over the same problems or (not ``paired``) each over its own."""
    best = [one.best for one in systems]
    low, high = bounds
    if best[0].direction == "min":
        low, high = None if high is None else -high, None if low is None else -low
    question = Question(tuple(pairs), confidence, (low, high))
    found = problem_contrasts(best, question, paired=paired, n_resamples=n_resamples, rng=rng)
    return [
        Difference(
            n=one.n,
            difference=one.difference,
            low=one.low,
            high=one.high,
            certified=one.certified,
            method=found.method,
            confidence=confidence,
            simultaneous=True,
            paired=paired,
            n_trials=one.n_trials,
            statistic="mean",
            direction=best[0].direction,
            n_resamples=n_resamples,
            reason="; ".join(WHY[code] for code in one.reasons if code in WHY) or None,
            basis=one.basis,
        )
        for one in found.pairs
    ]


def adjustment_words(n_pairs: int, *, paired: bool, weighted: bool) -> str:
    """What the bands hold for."""
    words = (
        f"simultaneous over budgets and {n_pairs} pair{'s' * (n_pairs > 1)}, systems swapped within problems"
        if paired
        else "each family's band at an adjusted level"
    )
    return words + (", problems weighted" if weighted else "")


def pair_of(
    systems: Sequence[System],
    pairs: Pairs,
    at: int,
    found: Difference,
    *,
    other: dict[tuple[str, str], tuple[Verdict, ...]] | None,
    confidence: float,
    failed: str,
    statistic: str,
) -> PairComparison:
    """One pair with its verdicts, and the sentence that says them."""
    both = [systems[i] for i in pairs[at]]
    names = both[0].name, both[1].name
    comparable = ~(np.isnan(found.low) | np.isnan(found.high))
    verdicts = verdict_ranges(found.n, found.certified, comparable, names, found.reason or "")
    words = tuple(
        sentences.of_trials(one.name, one.n_trials, one.n_failed, failed).replace(
            " trials", f" samples of {one.best.groups.size} problems", 1
        )
        for one in both
    )
    survives, extra = None, []
    if statistic == "all":
        extra.append("Compared is the chance that all of n samples succeed (pass^k).")
    if other is not None:
        survives = sentences.same_verdicts(verdicts, other[names])
        how = "dropped" if failed == "worst" else "counted as the worst score"
        extra.append(f"The verdict {'is the same' if survives else 'changes'} with failed samples {how}.")
    return PairComparison(
        families=names,
        budget=found.n,
        difference=found.difference,
        low=found.low,
        high=found.high,
        verdicts=verdicts,
        sentence=sentences.pair_sentence(
            names, verdicts, axis="trials", unit=None, confidence=confidence, scope=scope_words(len(pairs)),
            trials=(words[0], words[1]), extra=extra, word="sample",
        ),
        method=found.method,
        paired=found.paired,
        n_trials=(both[0].n_trials, both[1].n_trials),
        n_failed=(both[0].n_failed, both[1].n_failed),
        crossings=crossings(found.n, found.difference, found.certified),
        survives=survives,
    )  # fmt: skip
