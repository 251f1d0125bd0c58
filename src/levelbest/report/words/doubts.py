"""Sentences of warnings that cast a doubt (`levelbest.report.words.cautions` says how they are written)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from levelbest.errors import named
from levelbest.report.words.intervals import why_no_interval
from levelbest.report.words.phrases import counted, listed, plural

_OF_A_GRID = (
    "not a random sample of the search space; the best of n is that of n of its points drawn at random, and limits "
    "treat the points as random draws"
)


def _failures(n_failed: int, of: int, failed: str, unit: str) -> str:
    flatters = "" if failed == "worst" else ", which flatters the family"
    verb = "is" if n_failed == 1 else "are"
    return f"{n_failed} of {plural(of, unit)} failed and {verb} {counted(failed)}{flatters}"


def _no_score(lost: int, n_trials: int, n_failed: int, n_diverged: int, n_pruned: int) -> str:
    kinds = (("failed", n_failed), ("diverged", n_diverged), ("pruned", n_pruned))
    each = ", ".join(f"{count} {kind}" for kind, count in kinds if count)
    return f"{lost} of {n_trials} trials have no score ({each})"


def _grid(levels: Sequence[int], filled: int, cells: int) -> str:
    shape = " x ".join(map(str, levels))
    part = "" if filled == cells else f" ({filled} of {cells} combinations)"
    return f"the configurations are a grid, {shape} values{part}: {_OF_A_GRID}"


def _nested(n_trials: int, configurations: int, several: int, what: Sequence[str]) -> str:
    """``several`` of the configurations have more than one seed, data split or run: ``what``."""
    each = f"with several {listed(what)}"
    each = f"{each} each" if several == configurations else f"{several} of them {each}"
    return (
        f"{n_trials} trials are {configurations} configurations, {each}: the configurations are the random sample, not "
        "the trials"
    )


def _unequal(
    smallest: int,
    largest: int,
    last: int | None = None,
    total: int | None = None,
    n: int | None = None,
    ends: bool = False,
) -> str:
    sentence = f"problems have between {smallest} and {largest} samples: each n is averaged over those with n"
    if last is not None:
        sentence += f", {last} of {total} at n = {n}"
    return sentence + ("; the curve ends there, as fewer than half have more" if ends else "")


DOUBTS: dict[tuple[str, str], str | Callable[..., str]] = {
    # trials that have no score
    ("failures", "flagged"): "{count} trials are marked {mark!r}; those with a score before that count with it",
    ("failures", "not-written"): (
        "{tool} does not write here which trials failed: they are missing, or stand among the others"
    ),
    ("failures", "left-out"): "none of {n_trials} trials has a score: left out",
    ("fixed-sample", "stopped"): (
        "{left} of {planned} planned trials have not run: these limits hold for a sample fixed in advance, not for "
        "one that stops when the scores look good"
    ),
    # is it a random sample?
    ("trend", "sorted"): "the rows are sorted by their score: the order of the trials is lost",
    ("grid", "steps"): f"the values of {{column!r}} lie at equal steps, a grid: {_OF_A_GRID}",
    ("grid", "within"): (
        "within each {by} the configurations are a grid ({inside} of {n_trials} trials): not a random sample"
    ),
    ("grid", "recorded"): f"the source records a grid ({{sampler}}): {_OF_A_GRID}",
    ("grid", "even"): (
        "the source records {sampler}, which spreads its points evenly: it does not learn from earlier trials, but "
        "each point keeps away from the others, so they are not independent draws and intervals need not hold"
    ),
    ("adaptive-sampler", ""): (
        "the source records {sampler}, which learns from earlier trials: later trials are not like earlier ones, and "
        "intervals need not hold; repeat the whole search and compare searches"
    ),
    ("stops-at-success", ""): (
        "in all {problems} problems with a success it is the last sample: sampling stopped there, and pass@k from "
        "such samples is biased"
    ),
    ("stops-at-success", "batches"): (
        "in all {problems} problems with a success it is among the last {batch} samples: sampling stopped after a "
        "batch with one, and pass@k from such samples is biased"
    ),
    # the scores
    ("few-values", ""): (
        "{n_trials} trials have only {distinct} different scores: bands are less certain than they look"
    ),
    ("few-values", "one-trial"): "one trial, too few to compare",
    ("ties", ""): "{share:.0%} of the trials share their score with another",
    ("outlier", ""): (
        "the best score, {score:.6g}, stands apart: {distance:.1f} times the range of the middle half of the scores "
        "beyond that half, and {gap:.1f} times beyond the second best: check that trial"
    ),
    ("selection-is-reported", ""): "the selection score and the reported score are one column, {column!r}",
    ("selection-is-reported", "identical"): (
        "selection and reported scores are identical: the score that picked the winner is the score claimed"
    ),
    ("selection-uncorrelated", ""): (
        "the selection score hardly tells which trial reports well (Spearman {rho:.2f}): picking by it is close to "
        "picking at random"
    ),
    ("selection-uncorrelated", "reversed"): (
        "trials that are good by the selection score report badly (Spearman {rho:.2f}): picking by it picks the "
        "wrong way round; check {named[direction]}"
    ),
    ("leaky-reported", ""): (
        "the reported score {reported!r} is by its name the best over several looks at the test set"
    ),
    ("missing-reported", ""): (
        "the reported score {reported!r} is known for {known} of {finished} finished trials: curves of it need to be "
        "told how to treat the others"
    ),
    ("no-reported", ""): (
        "validation only: {selection} both selects the winner and is what is reported, which flatters it; a score "
        "that had no part in choosing, such as a test score, does not ({named[reported]})"
    ),
    ("no-reported", "oracle"): (
        "{selection} picks the best of n and is what is reported: what an oracle reaches (pass@k for 0/1 scores); a "
        "verifier's score as {named[selection]} tells what can be reached without one"
    ),
    # how far the data reach
    ("beyond-trials", ""): (
        "budgets above the {n_trials} trials observed are left out: the curve ends where the data end"
    ),
    ("beyond-trials", "samples"): "budgets above the {largest} samples of the largest problem are left out",
    ("beyond-horizon", ""): why_no_interval,
    ("extrapolated", ""): (
        "beyond the {n_trials} trials observed the curve is a guess by the {method} law, not an estimate"
    ),
    ("not-normal", ""): (
        "the scores are not normal (Anderson and Darling's test, p = {p_value:.2g}): Gaussian values mislead"
    ),
    ("failures", ""): _failures,
    ("failures", "no-score"): _no_score,
    ("still-running", ""): lambda n_running, unit: (
        f"{plural(n_running, unit)} {'is' if n_running == 1 else 'are'} still running and left out"
    ),
    ("fixed-sample", ""): lambda n_running, unit: (
        f"{plural(n_running, unit)} still run{'s' * (n_running == 1)}: these limits hold for a number of {unit}s fixed "
        f"in advance, not at every look ({named('while_running')} has limits that do)"
    ),
    ("trend", ""): lambda rho, better: (
        f"scores get {'better' if better else 'worse'} with the order of the trials (rank correlation {rho:.2f}): "
        "later trials are not like earlier ones, as in a random sample"
    ),
    ("grid", ""): _grid,
    ("adaptive-sampler", "searches"): lambda n_searches: (
        "one search allows no interval: repeat the whole search with other seeds, at least 3 times"
        if n_searches == 1
        else f"{plural(n_searches, 'search')}: repeat the whole search with other seeds"
    ),
    ("nested-seeds", ""): _nested,
    ("repeated-configurations", ""): lambda repeated, n_trials: (
        f"{repeated} of {n_trials} trials repeat{'s' * (repeated == 1)} a configuration that was run before"
    ),
    ("repeated-configurations", "samples"): lambda count, sample, problem: (
        f"{'1 sample id occurs' if count == 1 else f'{count} sample ids occur'} more than once within a problem, with "
        f"other scores (first: {sample} of problem {problem}): they count as samples of their own"
    ),
    ("outlier", "worse"): lambda score, distance, count: (
        f"{'1 trial lies' if count == 1 else f'{count} trials lie'} far on the worse side (the worst: {score:.6g}, "
        f"{distance:.2g} times the range of the middle half of the scores away): runs gone wrong, which pull means "
        "towards them; should they count as failed?"
    ),
    ("unequal-groups", ""): _unequal,
    ("unequal-groups", "left-out"): lambda problems, total: (
        f"{len(problems)} of {total} problems are not in every family ({problems}): they are left out of the comparison"
    ),
    ("beyond-trials", "one-sample"): lambda column: (
        f"every problem{'' if column is None else f' of {column!r}'} has one sample, so that the curve is one point, n "
        f"= 1: draw more samples of each for the best of n, or name another column with {named('group')} if these are "
        "samples and not problems"
    ),
}
