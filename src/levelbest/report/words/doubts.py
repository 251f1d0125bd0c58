"""Sentences of warnings that cast a doubt, by subject; `levelbest.report.words.cautions` lists the facts of each."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest.errors import named
from levelbest.report.words.intervals import why_no_interval
from levelbest.report.words.phrases import counted, listed, plural, shortened
from levelbest.report.words.registry import says

__all__: list[str] = []

# ------------------------------------------------------------------------------------- trials that have no score


@says("failures")
def _failures(n_failed: int, of: int, failed: str, unit: str) -> str:
    flatters = "" if failed == "worst" else ", which flatters the family"
    verb = "is" if n_failed == 1 else "are"
    return f"{n_failed} of {plural(of, unit)} failed and {verb} {counted(failed)}{flatters}"


@says("failures", "no-score")
def _no_score(lost: int, n_trials: int, n_failed: int, n_diverged: int, n_pruned: int) -> str:
    kinds = (("failed", n_failed), ("diverged", n_diverged), ("pruned", n_pruned))
    each = ", ".join(f"{count} {kind}" for kind, count in kinds if count)
    return f"{lost} of {n_trials} trials have no score ({each})"


@says("failures", "flagged")
def _flagged(count: int, mark: str) -> str:
    return f"{count} trials are marked {mark!r}; those with a score before that count with it"


@says("failures", "not-written")
def _not_written(tool: str) -> str:
    return f"{tool} does not write here which trials failed: they are missing, or stand among the others"


@says("failures", "left-out")
def _left_out(n_trials: int) -> str:
    return f"none of {n_trials} trials has a score: left out"


@says("still-running")
def _still_running(n_running: int, unit: str) -> str:
    return f"{plural(n_running, unit)} {'is' if n_running == 1 else 'are'} still running and left out"


@says("fixed-sample")
def _fixed_sample(n_running: int, unit: str) -> str:
    return (
        f"{plural(n_running, unit)} still run{'s' * (n_running == 1)}: these limits hold for a number of {unit}s fixed "
        f"in advance, not at every look ({named('while_running')} has limits that do)"
    )


@says("fixed-sample", "stopped")
def _stopped(left: int, planned: int) -> str:
    return (
        f"{left} of {planned} planned trials have not run: these limits hold for a sample fixed in advance, not for "
        "one that stops when the scores look good"
    )


# ------------------------------------------------------------------------------------- is it a random sample?


@says("trend")
def _trend(rho: float, better: bool) -> str:
    way = "better" if better else "worse"
    return (
        f"scores get {way} with the order of the trials (rank correlation {rho:.2f}): later trials are not like "
        "earlier ones, as in a random sample"
    )


@says("trend", "sorted")
def _sorted() -> str:
    return "the rows are sorted by their score: the order of the trials is lost"


_OF_A_GRID = (
    "not a random sample of the search space; the best of n is that of n of its points drawn at random, and limits "
    "treat the points as random draws"
)


@says("grid")
def _grid(levels: Sequence[int], filled: int, cells: int) -> str:
    shape = " x ".join(map(str, levels))
    part = "" if filled == cells else f" ({filled} of {cells} combinations)"
    return f"the configurations are a grid, {shape} values{part}: {_OF_A_GRID}"


@says("grid", "steps")
def _steps(column: str) -> str:
    return f"the values of {column!r} lie at equal steps, a grid: {_OF_A_GRID}"


@says("grid", "within")
def _grid_within(by: str, inside: int, n_trials: int) -> str:
    return f"within each {by} the configurations are a grid ({inside} of {n_trials} trials): not a random sample"


@says("grid", "recorded")
def _recorded_grid(sampler: str) -> str:
    return f"the source records a grid ({sampler}): {_OF_A_GRID}"


@says("grid", "even")
def _even(sampler: str) -> str:
    return (
        f"the source records {sampler}, which spreads its points evenly: it does not learn from earlier trials, but "
        "each point keeps away from the others, so they are not independent draws and intervals need not hold"
    )


@says("adaptive-sampler")
def _adaptive(sampler: str) -> str:
    return (
        f"the source records {sampler}, which learns from earlier trials: later trials are not like earlier ones, and "
        "intervals need not hold; repeat the whole search and compare searches"
    )


@says("adaptive-sampler", "searches")
def _few_searches(n_searches: int) -> str:
    if n_searches == 1:
        return "one search allows no interval: repeat the whole search with other seeds, at least 3 times"
    return f"{plural(n_searches, 'search')}: repeat the whole search with other seeds"


@says("nested-seeds")
def _nested(n_trials: int, configurations: int, several: int, what: Sequence[str]) -> str:
    each = f"with several {listed(what)}"
    each = f"{each} each" if several == configurations else f"{several} of them {each}"
    return (
        f"{n_trials} trials are {configurations} configurations, {each}: the configurations are the random sample, not "
        "the trials"
    )


@says("repeated-configurations")
def _repeated(repeated: int, n_trials: int) -> str:
    verb = "repeats" if repeated == 1 else "repeat"
    return f"{repeated} of {n_trials} trials {verb} a configuration that was run before"


@says("repeated-configurations", "samples")
def _repeated_samples(count: int, sample: str, problem: str) -> str:
    ids = "1 sample id occurs" if count == 1 else f"{count} sample ids occur"
    return (
        f"{ids} more than once within a problem, with other scores (first: {sample} of problem {problem}): they count "
        "as samples of their own"
    )


@says("stops-at-success")
def _stops(problems: int) -> str:
    return (
        f"in all {problems} problems with a success it is the last sample: sampling stopped there, and pass@k from "
        "such samples is biased"
    )


@says("stops-at-success", "batches")
def _stops_in_batches(problems: int, batch: int) -> str:
    return (
        f"in all {problems} problems with a success it is among the last {batch} samples: sampling stopped after a "
        "batch with one, and pass@k from such samples is biased"
    )


# ------------------------------------------------------------------------------------- the scores


@says("few-values")
def _few_values(distinct: int, n_trials: int) -> str:
    return f"{n_trials} trials have only {distinct} different scores: bands are less certain than they look"


@says("few-values", "one-trial")
def _one_trial() -> str:
    return "one trial, too few to compare"


@says("ties")
def _ties(share: float) -> str:
    return f"{share:.0%} of the trials share their score with another"


@says("outlier")
def _outlier(score: float, distance: float, gap: float) -> str:
    return (
        f"the best score, {score:.6g}, stands apart: {distance:.1f} times the range of the middle half of the scores "
        f"beyond that half, and {gap:.1f} times beyond the second best: check that trial"
    )


@says("outlier", "worse")
def _exploded(score: float, distance: float, count: int) -> str:
    trials = "1 trial lies" if count == 1 else f"{count} trials lie"
    return (
        f"{trials} far on the worse side (the worst: {score:.6g}, {distance:.2g} times the range of the middle half of "
        "the scores away): runs gone wrong, which pull means towards them; should they count as failed?"
    )


@says("selection-is-reported")
def _one_column(column: str) -> str:
    return f"the selection score and the reported score are one column, {column!r}"


@says("selection-is-reported", "identical")
def _identical() -> str:
    return "selection and reported scores are identical: the score that picked the winner is the score claimed"


@says("selection-uncorrelated")
def _uncorrelated(rho: float) -> str:
    return (
        f"the selection score hardly tells which trial reports well (Spearman {rho:.2f}): picking by it is close to "
        "picking at random"
    )


@says("selection-uncorrelated", "reversed")
def _reversed(rho: float) -> str:
    return (
        f"trials that are good by the selection score report badly (Spearman {rho:.2f}): picking by it picks the "
        f"wrong way round; check {named('direction')}"
    )


@says("leaky-reported")
def _leaky(reported: str) -> str:
    return f"the reported score {reported!r} is by its name the best over several looks at the test set"


@says("missing-reported")
def _missing(reported: str, known: int, finished: int) -> str:
    return (
        f"the reported score {reported!r} is known for {known} of {finished} finished trials: curves of it need to be "
        "told how to treat the others"
    )


@says("no-reported")
def _no_reported(selection: str) -> str:
    return (
        f"validation only: {selection} both selects the winner and is what is reported, which flatters it; a score "
        f"that had no part in choosing, such as a test score, does not ({named('reported')})"
    )


@says("no-reported", "oracle")
def _oracle(selection: str) -> str:
    return (
        f"{selection} picks the best of n and is what is reported: what an oracle reaches (pass@k for 0/1 scores); a "
        f"verifier's score as {named('selection')} tells what can be reached without one"
    )


# ------------------------------------------------------------------------------------- how far the data reach


@says("unequal-groups")
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
    if ends:
        sentence += "; the curve ends there, as fewer than half have more"
    return sentence


@says("unequal-groups", "left-out")
def _not_shared(problems: Sequence[str], total: int) -> str:
    return (
        f"{len(problems)} of {total} problems are not in every family ({shortened(problems)}): they are left out of "
        "the comparison"
    )


@says("beyond-trials")
def _beyond(n_trials: int) -> str:
    return f"budgets above the {n_trials} trials observed are left out: the curve ends where the data end"


@says("beyond-trials", "samples")
def _beyond_samples(largest: int) -> str:
    return f"budgets above the {largest} samples of the largest problem are left out"


@says("beyond-trials", "one-sample")
def _one_sample(column: str | None) -> str:
    where = "" if column is None else f" of {column!r}"
    return (
        f"every problem{where} has one sample, so that the curve is one point, n = 1: draw more samples of each for "
        f"the best of n, or name another column with {named('group')} if these are samples and not problems"
    )


@says("beyond-horizon")
def _beyond_horizon(
    reasons: Sequence[tuple[str, int, int, bool]], estimator: str = "u", method: str = "default"
) -> str:
    return why_no_interval(reasons, estimator, method)


@says("extrapolated")
def _extrapolated(n_trials: int, method: str) -> str:
    return f"beyond the {n_trials} trials observed the curve is a guess by the {method} law, not an estimate"


@says("not-normal")
def _not_normal(p_value: float) -> str:
    return f"the scores are not normal (Anderson and Darling's test, p = {p_value:.2g}): Gaussian values mislead"
