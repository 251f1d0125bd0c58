"""Sentences of warnings: doubts, and what was chosen for the reader (`cautions` says how they are written)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from levelbest.errors import named
from levelbest.report.words.curves import why_no_interval
from levelbest.report.words.phrases import counted, listed, plural

_OF_A_GRID = (
    "not a random sample of the search space; the best of n is that of n of its points drawn at random, and limits "
    "treat the points as random draws"
)

_ONLY_ASKED = (
    "the best of {n} was registered before the first trial for all trials of all families, so here it does not count "
    "as registered"
)


def _judged(n_labels: int, n_samples: int, judge: float, corrected: float, weight: float, halved: int) -> str:
    more = f"{halved} labels in all would halve the interval" if halved else "labels alone cannot halve the interval"
    return (
        f"{n_labels} of {n_samples} samples have a label: the judge's mean of {judge:.3g} is corrected to "
        f"{corrected:.3g} (weight of the judge {weight:.2f}); {more}. This assumes that the labelled samples were "
        "drawn at random"
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
    ("failures", "flagged"): "{count} trials are marked {mark!r}; those that already had a score keep it",
    ("failures", "not-written"): (
        "{tool} does not record here which trials failed: they are missing, or counted among the others"
    ),
    ("failures", "left-out"): "none of {n_trials} trials has a score: left out",
    ("fixed-sample", "stopped"): (
        "{left} of {planned} planned trials have not run: these limits are valid for a sample fixed in advance, not "
        "for one that stops when the scores look good"
    ),
    ("fixed-sample", "grown"): (
        "{first} trials were planned, and the plan was raised to {planned} after the first had run: these limits are "
        "valid for a sample fixed in advance, not for one that grows until the scores look good"
    ),
    # a headline that was registered, of other trials than those compared
    ("registered", "trials"): f"{{left}} of {{run}} trials are left out here: {_ONLY_ASKED}",
    ("registered", "families"): f"left out here: {{families}}: {_ONLY_ASKED}",
    ("registered", "failed"): f"trials that failed are dropped here ({{n_failed}}): {_ONLY_ASKED}",
    ("registered", "missing"): f"trials without a reported score are not refused here ({{lost}}): {_ONLY_ASKED}",
    ("registered", "baseline"): f"only pairs with {{baseline}} are compared here: {_ONLY_ASKED}",
    ("registered", "statistic"): f"the statistic here is {{statistic}}, not the mean: {_ONLY_ASKED}",
    # is it a random sample?
    ("trend", "sorted"): "the rows are sorted by their score: the order of the trials is lost",
    ("grid", "steps"): f"the values of {{column!r}} lie at equal steps, a grid: {_OF_A_GRID}",
    ("grid", "within"): (
        "within each {by} the configurations are a grid ({inside} of {n_trials} trials): not a random sample"
    ),
    ("grid", "recorded"): f"the source records a grid ({{sampler}}): {_OF_A_GRID}",
    ("grid", "even"): (
        "the source records {sampler}, which spreads its points evenly: it does not learn from earlier trials, but "
        "each point keeps away from the others, so they are not independent draws and intervals need not cover"
    ),
    ("adaptive-sampler", ""): (
        "the source records {sampler}, which learns from earlier trials: later trials are not like earlier ones, and "
        "intervals need not cover; repeat the whole search and compare searches"
    ),
    ("adaptive-sampler", "incumbent"): (
        "the scores never fall from trial to trial and mostly stay the same: they are the best so far of one search, "
        "which is one observation; give the score of each trial ({named[search]} none if these are independent trials)"
    ),
    ("adaptive-sampler", "climbs"): (
        "scores climb with the order of the trials, as in a search that learns from earlier ones: taken as one search, "
        "which is one observation ({named[search]} none if the trials are independent)"
    ),
    ("fixed-configuration", ""): (
        "seeds of one configuration, not a search: the trials it took to find it are not counted"
    ),
    ("fixed-configuration", "point"): "seeds of one configuration of {within}, not a search",
    ("stops-at-success", ""): (
        "in all {problems} problems with a success, the success is the last sample: sampling stopped there, and "
        "pass@k from such samples is biased"
    ),
    ("stops-at-success", "batches"): (
        "in all {problems} problems with a success, the success is among the last {batch} samples: sampling stopped "
        "after a batch with one, and pass@k from such samples is biased"
    ),
    # the scores
    ("few-values", ""): (
        "{n_trials} trials have only {distinct} different scores: bands are less certain than they look"
    ),
    ("beyond-trials", "one-trial"): "one trial ({column} {score:.4g}), too few to compare",
    ("ties", ""): "{share:.0%} of the trials share their score with another",
    ("outlier", ""): (
        "the best score, {score:.6g}, is an outlier: {distance:.1f} interquartile ranges beyond the quartiles, and "
        "{gap:.1f} beyond the second best: check that trial"
    ),
    ("selection-is-reported", ""): "the selection score and the reported score are one column, {column!r}",
    ("selection-is-reported", "identical"): (
        "selection and reported scores are identical: the score that picked the winner is the score claimed"
    ),
    ("selection-uncorrelated", ""): (
        "the selection score hardly predicts the reported score (Spearman {rho:.2f}): picking by it is close to "
        "picking at random"
    ),
    ("selection-uncorrelated", "reversed"): (
        "trials with a good selection score have a bad reported score (Spearman {rho:.2f}): picking by it picks the "
        "wrong trials; check {named[direction]}"
    ),
    ("leaky-reported", ""): (
        "the reported score {reported!r} is, judging by its name, the best of several evaluations on the test set"
    ),
    ("missing-reported", ""): (
        "the reported score {reported!r} is known for {known} of {finished} finished trials: say how to treat the "
        "others before drawing its curve"
    ),
    ("missing-costs", ""): (
        "{lost} of {of} samples have no cost, so that there is no spend per solved problem; leave them out "
        "({named[where]}), or fill them in"
    ),
    ("judged", ""): _judged,
    ("no-reported", ""): (
        "validation only: {selection} both selects the winner and is reported, which flatters it; a score that "
        "played no part in the selection, such as a test score, does not ({named[reported]})"
    ),
    ("no-reported", "oracle"): (
        "{selection} both selects the best of n and is reported, as with an oracle (pass@k for 0/1 scores); give a "
        "verifier's score as {named[selection]} to see what is possible without one"
    ),
    # how far the data reach
    ("beyond-trials", ""): (
        "budgets above the {n_trials} trials observed are left out: the curve ends where the data end"
    ),
    ("beyond-trials", "samples"): "budgets above the {largest} samples of the largest problem are left out",
    ("beyond-horizon", ""): why_no_interval,
    ("extrapolated", ""): (
        "beyond the {n_trials} trials observed the curve is a guess by a fitted {method} distribution, not an estimate"
    ),
    ("light-tails", ""): (
        "with {n_trials} scores the interval assumes light tails: it is too narrow where a few lie far from the "
        "others; bounds on the score help ({named[bounds]})"
    ),
    ("natural-bounds", ""): lambda score, low, high: (
        f"by its name no {score!r} lies below {low:g}{'' if high is None else f' or above {high:g}'}: limits end "
        f"there; {named('bounds')} {low:g} {'B' if high is None else f'{high:g}'} passes this to the statistics"
    ),
    ("not-normal", ""): (
        "the scores are not normal (Anderson-Darling test, p = {p_value:.2g}): the Gaussian estimates are unreliable"
    ),
    ("shared-splits", ""): (
        "{unit}s ({column!r}) share training data: the interval is for these data, and may be too narrow for others"
    ),
    ("shared-splits", "apart"): (
        "not all families have the same {unit}s in {column!r}, so they are not compared {unit} by {unit}: add the runs "
        "that are missing, or leave out the {unit}s that some lack ({named[where]})"
    ),
    ("failures", ""): _failures,
    ("failures", "no-score"): _no_score,
    ("still-running", ""): lambda n_running, unit: (
        f"{plural(n_running, unit)} {'is' if n_running == 1 else 'are'} still running and left out"
    ),
    ("fixed-sample", ""): lambda n_running, unit: (
        f"{plural(n_running, unit)} still run{'s' * (n_running == 1)}: these limits are valid for a number of {unit}s "
        f"fixed in advance, not at every look ({named('while_running')} has limits that are)"
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
    ("repeated-configurations", "runs"): lambda repeated, n_trials: (
        f"{repeated} of {n_trials} rows repeat{'s' * (repeated == 1)} the configuration and seed of another row: each "
        "counts as one more run"
    ),
    ("repeated-configurations", "rows"): lambda copies, n_rows: (
        f"{copies} of {n_rows} rows repeat another row in every cell: a run that is counted twice makes intervals "
        f"too narrow; remove the copies"
    ),
    ("repeated-configurations", "samples"): lambda count, sample, problem: (
        f"{'1 sample id occurs' if count == 1 else f'{count} sample ids occur'} more than once within a problem, "
        f"with different scores (first: {sample} of problem {problem}): they count as separate samples"
    ),
    ("outlier", "worse"): lambda score, distance, count: (
        f"{'1 trial lies' if count == 1 else f'{count} trials lie'} far on the worse side (the worst: {score:.6g}, "
        f"{distance:.2g} interquartile ranges away): runs gone wrong, which pull means towards them; should they "
        "count as failed?"
    ),
    ("unequal-groups", ""): _unequal,
    ("unequal-groups", "left-out"): lambda problems, total: (
        f"{len(problems)} of {total} problems are not in every family ({problems}): they are left out of the comparison"
    ),
    ("beyond-trials", "one-sample"): lambda column: (
        f"every problem{'' if column is None else f' of {column!r}'} has one sample, so the curve is one point, n "
        f"= 1: draw more samples of each for the best of n, or name another column with {named('group')} if these are "
        "samples and not problems"
    ),
}


_HOW = {
    "percent": "with percent signs (divided by 100)",
    "percent-points": "with percent signs (not divided by 100, since numbers without the sign are larger than 1)",
    "thousands": "with thousands commas",
    "decimal-comma": "with decimal commas",
    "thousands-points": "with thousands points, since other columns have decimal commas",
    "clock": "in hours, minutes and seconds (read as seconds)",
    "verdict": "in words (1 for what passed, 0 for what did not)",
}


def _guessed(
    columns: Sequence[tuple[str, str]], direction: str | None = None, by: str | None = None, run_cost: str | None = None
) -> str:
    """Roles with their columns; the direction and the name it is known by; the cost of a run, ``sum`` or ``last``."""
    columns = sorted(columns, key=lambda row: row[0] not in ("selection", "reported"))
    parts = [f"{role} = {column!r}" for role, column in columns]
    if direction is not None:  # beside the scores, which it is read with
        scores = [column for role, column in columns if role in ("selection", "reported")]
        why = "" if by in scores else f" (by the name {by!r})"
        parts.insert(len(scores), f"direction = {direction}{why}")
    if run_cost is not None:
        how = "the sum over its rows" if run_cost == "sum" else "its last value, since it never falls within a run"
        parts.append(f"cost of a run = {how}")
    return f"by name: {', '.join(parts)}"


def _nameless(count: int, what: str) -> str:
    return f"1 row has no {what} and is left out" if count == 1 else f"{count:,} rows have no {what} and are left out"


def _unpaired() -> str:
    """How the reader says that pairs are to be ignored."""
    option = named("paired")
    return option.replace("--", "--un") if option.startswith("--") else f"{option}False"


CHOSEN: dict[tuple[str, str], str | Callable[..., str]] = {
    ("paired-design", "used"): "compared pair by pair: every trial has a partner with the same {by} in every family",
    ("paired-design", "problems"): "compared problem by problem: samples of the same problem in every family",
    ("paired-design", "splits"): lambda count, several, column, unit: (
        f"compared {unit} by {unit}: every family has {'runs' if several else 'one run'} on each of the "
        f"{plural(count, unit)} in {column!r}{', which are averaged' if several else ''} ({_unpaired()} ignores this)"
    ),
    ("averaged-runs", "unequal"): (
        "configurations of {richest} have more runs than those of {fewest}, so chance affects their means less: the "
        "best of n is less optimistic"
    ),
    ("guessed-columns", "checkpoints"): (
        "rows are checkpoints of the {runs} runs in {column!r}, as {counter!r} rises within them: each run is one "
        "trial, at its best checkpoint by the selection score ({named[trial]} none if each row is a trial)"
    ),
    ("guessed-columns", "tied-checkpoints"): lambda count, runs, tied: (
        f"in {count} of {runs} runs checkpoints tie at the best selection score with different reported scores: the "
        f"{tied} one counts ({named('tied')} {'last' if tied == 'first' else 'first'} for the other)"
    ),
    ("guessed-columns", "statuses"): "{words:6} in {column!r}: not a known status, read as finished",
    ("guessed-columns", "one-each"): (
        "{column!r} has {count} values in {n_trials} rows: it identifies trials rather than families, so all rows "
        "are one family ({named[family]} {column} if each is one)"
    ),
    ("guessed-columns", "samples"): ("by name: the {count} columns {first!r} to {last!r} are samples: one trial each"),
    ("guessed-columns", "lists"): "each item of the lists in {column!r} is one sample of its {group}: one trial each",
    ("guessed-columns", "rows"): "each row is one problem, named by {group!r}",
    ("guessed-columns", "episodes"): (
        "each of {count} folders is one run, scored by the mean reward of its last {window} episodes: an episode is "
        "not a trial"
    ),
    ("guessed-columns", "arguments"): (
        "the {count} sources name the same families: each source is a separate family ({named[family]})"
    ),
    ("guessed-columns", "levels"): (
        "the {count} values of {column!r} are conditions, each with a verdict ({named[task]} none if it is a setting)"
    ),
    ("guessed-columns", "counts"): (
        "{successes!r} of {total!r} samples were successes: {count} samples, one trial each"
    ),
    ("guessed-columns", "measured"): lambda columns: (
        f"{columns:6} {'differs' if len(columns) == 1 else 'differ'} between runs of the same settings: measured, and "
        f"no setting{'s' * (len(columns) > 1)} ({named('configuration')} names the settings)"
    ),
    ("guessed-columns", "renamed"): (
        "{source}: {count} columns are named {column!r}; the later ones are read as {column!r} (2) on"
    ),
    ("paired-design", ""): "{families} share {shared} {what}: a paired design, to be compared pair by pair",
    ("averaged-runs", ""): lambda configurations, n_runs, least, most: (
        f"{n_runs} runs are {configurations} configurations with {least if least == most else f'{least} to {most}'} "
        "runs each: n counts configurations, each judged by the mean over its runs"
    ),
    ("averaged-runs", "evaluations"): (
        "{n_rows} rows are {n_runs} runs: each is judged by the mean over its rows, and counts once"
    ),
    ("averaged-runs", "uneven"): (
        "runs have {least} to {most} rows with a score: their means are comparable only if all rows are alike"
    ),
    ("guessed-columns", ""): _guessed,
    ("guessed-columns", "open"): lambda role, columns: (
        f"not chosen, since the names are ambiguous: {columns:12} could be the {role} ({named(role)})"
    ),
    ("guessed-columns", "primary"): "the score of {task} is {column!r}, and not {others:6} ({named[selection]})",
    ("guessed-columns", "searches"): lambda count, n_families: (
        f"{count} studies whose names differ only in a seed, a run number or a time are searches of "
        + ("one family" if n_families == 1 else f"{n_families} families")
        + f" ({named('search', 'none')} if they are trials)"
    ),
    ("guessed-columns", "turned"): lambda column, direction: (
        f"a {'lower' if direction == 'max' else 'higher'} {column!r} is better and the reported score points the other "
        f"way: the selection score is negated, and direction = {direction}"
    ),
    ("guessed-columns", "same-way"): lambda column, reported, direction: (
        f"the name {column!r} does not say which direction is better: "
        f"{'higher' if direction == 'max' else 'lower'} is assumed, as for "
        f"{reported!r} ({named('selection_direction')})"
    ),
    ("guessed-columns", "files"): lambda count, parts: (
        f"each of {count} files is one run, and all are one table"
        + (f", distinguished by {parts:6} in their names" if parts else "")
    ),
    ("guessed-columns", "by-column"): (
        "each column is a family ({columns:6}), and each row one {rows}: a trial of every family"
    ),
    ("guessed-columns", "spread"): lambda column, labels, runs: (
        f"the rows of {column!r} ({labels:6}) are scores of one run each, {runs} runs in all"
    ),
    ("converted-numbers", ""): lambda count, column, how, first: (
        f"{'1 number' if count == 1 else f'{count:,} numbers'} in {column!r} {'is' if count == 1 else 'are'} written "
        f"{_HOW[how]}, e.g. {first!r}"
    ),
    ("skipped-rows", ""): lambda where, why, count: (
        f"left out: {where}: {why}{f', and {count - 1} more' if count > 1 else ''}"
    ),
    ("skipped-rows", "no-family"): lambda count, column: _nameless(count, column),
    ("skipped-rows", "no-problem"): lambda count, column: _nameless(count, f"problem in {column!r}"),
}
