"""Warnings in words: one sentence for each code and kind, from its facts.

A function below is the sentence of one (code, kind), and its parameters are the facts that
``Caution.of(code, family, value, kind=kind, **facts)`` must give:

    failures                 ""           n_failed, of, failed ("worst" or "drop"), unit
                             no-score     lost, n_trials, n_diverged, n_failed, n_pruned
                             flagged      count, mark
                             left-out     n_trials
    still-running            ""           n_running, unit
    fixed-sample             ""           n_running, unit
                             stopped      left, planned
    trend                    ""           rho, better
                             sorted       -
    grid                     ""           levels, filled, cells
                             steps        column
                             within       by, inside, n_trials
                             recorded     sampler
                             even         sampler
    adaptive-sampler         ""           sampler
                             searches     n_searches
    nested-seeds             ""           n_trials, configurations
    repeated-configurations  ""           repeated, n_trials
                             samples      count, sample, problem
    stops-at-success         ""           problems
    few-values               ""           distinct, n_trials
    ties                     ""           share
    outlier                  ""           score, distance, gap
    selection-is-reported    ""           column
                             identical    -
    selection-uncorrelated   ""           rho
                             reversed     rho
    leaky-reported           ""           reported
    missing-reported         ""           reported, known, finished
    no-reported              ""           selection
                             oracle       selection
    unequal-groups           ""           smallest, largest, last=None, total=None, n=None, ends=False
                             left-out     problems (names), total
    beyond-trials            ""           n_trials
                             samples      largest
                             one-sample   column (None where it has no name)
    beyond-horizon           ""           reason (as the interval gives it)
    extrapolated             ""           n_trials, method
    not-normal               ""           p_value
    paired-design            ""           families (names), shared, what ("configurations", "problems", "seeds")
                             used         by ("configuration", "seed", "configuration and seed")
                             problems     -
    guessed-columns          ""           columns ((role, column) pairs, none where nothing was guessed by name),
                                          direction=None, by=None (the name that tells the direction),
                                          run_cost=None ("sum": over the rows of a run, "last": it never falls)
                             open         role (the argument's name: "reported", "seed_column"), columns
                             checkpoints  runs, column
                             turned       column, direction
                             samples      first, last, count
                             lists        column, group
                             rows         group
                             renamed      source, column, count
    converted-numbers        ""           count, column, how ("percent", "percent-points", "thousands",
                                          "decimal-comma"), first
    skipped-rows             ""           where, why, count
                             no-family    count, column
                             no-problem   count, column
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from levelbest.cautions import Caution
from levelbest.errors import named
from levelbest.report.words.phrases import counted, plural, shortened

__all__ = ["CHOICES", "SENTENCES", "caution_sentence", "severity"]

Sentence = Callable[..., str]
SENTENCES: dict[tuple[str, str], Sentence] = {}
"""(code, kind) -> the sentence, a function of the facts."""

CHOICES = ("guessed-columns", "converted-numbers", "skipped-rows", "paired-design")
"""What was chosen for the reader and need not worry anybody who agrees."""
_SERIOUS = (
    "stops-at-success",
    "leaky-reported",
    "selection-is-reported",
    "adaptive-sampler",
    "trend",
    "selection-uncorrelated",
    "nested-seeds",
    "outlier",
    "missing-reported",
    "failures",
    "repeated-configurations",
    "grid",
)


def severity(code: str) -> int:
    """0 for doubts about the conclusion, the gravest first where sorted stably; 1 for limits of it; 2 for choices."""
    return 2 if code in CHOICES else 0 if code in _SERIOUS else 1


def caution_sentence(caution: Caution) -> str:
    """What a warning says, without the family's name."""
    return SENTENCES[caution.code, caution.kind](**dict(caution.facts))


def _says(code: str, kind: str = "") -> Callable[[Sentence], Sentence]:
    def register(sentence: Sentence) -> Sentence:
        SENTENCES[code, kind] = sentence
        return sentence

    return register


# ------------------------------------------------------------------------------------- trials that have no score


@_says("failures")
def _failures(n_failed: int, of: int, failed: str, unit: str) -> str:
    flatters = "" if failed == "worst" else ", which flatters the family"
    return f"{n_failed} of {plural(of, unit)} failed and are {counted(failed)}{flatters}"


@_says("failures", "no-score")
def _no_score(lost: int, n_trials: int, n_failed: int, n_diverged: int, n_pruned: int) -> str:
    kinds = (("failed", n_failed), ("diverged", n_diverged), ("pruned", n_pruned))
    each = ", ".join(f"{count} {kind}" for kind, count in kinds if count)
    return f"{lost} of {n_trials} trials have no score ({each})"


@_says("failures", "flagged")
def _flagged(count: int, mark: str) -> str:
    return f"{count} trials are marked {mark!r}; those with a score before that count with it"


@_says("failures", "left-out")
def _left_out(n_trials: int) -> str:
    return f"none of {n_trials} trials has a score: left out"


@_says("still-running")
def _still_running(n_running: int, unit: str) -> str:
    return f"{plural(n_running, unit)} {'is' if n_running == 1 else 'are'} still running and left out"


@_says("fixed-sample")
def _fixed_sample(n_running: int, unit: str) -> str:
    return (
        f"{plural(n_running, unit)} still run{'s' * (n_running == 1)}: these limits hold for a number of {unit}s fixed "
        f"in advance, not at every look ({named('while_running')} has limits that do)"
    )


@_says("fixed-sample", "stopped")
def _stopped(left: int, planned: int) -> str:
    return (
        f"{left} of {planned} planned trials have not run: these limits hold for a sample fixed in advance, not for "
        "one that stops when the scores look good"
    )


# ------------------------------------------------------------------------------------- is it a random sample?


@_says("trend")
def _trend(rho: float, better: bool) -> str:
    way = "better" if better else "worse"
    return (
        f"scores get {way} with the order of the trials (rank correlation {rho:.2f}): later trials are not like "
        "earlier ones, as in a random sample"
    )


@_says("trend", "sorted")
def _sorted() -> str:
    return "the rows are sorted by their score: the order of the trials is lost"


@_says("grid")
def _grid(levels: Sequence[int], filled: int, cells: int) -> str:
    shape = " x ".join(map(str, levels))
    part = "" if filled == cells else f" ({filled} of {cells} combinations)"
    return f"the configurations are a grid, {shape} values{part}: not a random sample of the search space"


@_says("grid", "steps")
def _steps(column: str) -> str:
    return f"the values of {column!r} lie at equal steps: a grid, not a random sample"


@_says("grid", "within")
def _grid_within(by: str, inside: int, n_trials: int) -> str:
    return f"within each {by} the configurations are a grid ({inside} of {n_trials} trials): not a random sample"


@_says("grid", "recorded")
def _recorded_grid(sampler: str) -> str:
    return f"the source records a grid ({sampler}): the trials are not a random sample"


@_says("grid", "even")
def _even(sampler: str) -> str:
    return (
        f"the source records {sampler}, which spreads its points evenly: it does not learn from earlier trials, but "
        "each point keeps away from the others, so they are not independent draws and intervals need not hold"
    )


@_says("adaptive-sampler")
def _adaptive(sampler: str) -> str:
    return (
        f"the source records {sampler}, which learns from earlier trials: later trials are not like earlier ones, and "
        "intervals need not hold; repeat the whole search and compare searches"
    )


@_says("adaptive-sampler", "searches")
def _few_searches(n_searches: int) -> str:
    if n_searches == 1:
        return "one search allows no interval: repeat the whole search with other seeds, at least 3 times"
    return f"{plural(n_searches, 'search')}: repeat the whole search with other seeds"


@_says("nested-seeds")
def _nested(n_trials: int, configurations: int) -> str:
    return (
        f"{n_trials} trials are {configurations} configurations with several seeds each: the configurations are the "
        "random sample, not the trials"
    )


@_says("repeated-configurations")
def _repeated(repeated: int, n_trials: int) -> str:
    return f"{repeated} of {n_trials} trials repeat a configuration that was run before"


@_says("repeated-configurations", "samples")
def _repeated_samples(count: int, sample: str, problem: str) -> str:
    ids = "1 sample id occurs" if count == 1 else f"{count} sample ids occur"
    return (
        f"{ids} more than once within a problem, with other scores (first: {sample} of problem {problem}): they count "
        "as samples of their own"
    )


@_says("stops-at-success")
def _stops(problems: int) -> str:
    return (
        f"in all {problems} problems with a success it is the last sample: sampling stopped there, and pass@k from "
        "such samples is biased"
    )


# ------------------------------------------------------------------------------------- the scores


@_says("few-values")
def _few_values(distinct: int, n_trials: int) -> str:
    return f"{n_trials} trials have only {distinct} different scores: bands are less certain than they look"


@_says("ties")
def _ties(share: float) -> str:
    return f"{share:.0%} of the trials share their score with another"


@_says("outlier")
def _outlier(score: float, distance: float, gap: float) -> str:
    return (
        f"the best score, {score:.6g}, lies {distance:.1f} interquartile ranges past the better quartile and {gap:.1f} "
        "past the second best: check that trial"
    )


@_says("selection-is-reported")
def _one_column(column: str) -> str:
    return f"the selection score and the reported score are one column, {column!r}"


@_says("selection-is-reported", "identical")
def _identical() -> str:
    return "selection and reported scores are identical: the score that picked the winner is the score claimed"


@_says("selection-uncorrelated")
def _uncorrelated(rho: float) -> str:
    return (
        f"the selection score hardly tells which trial reports well (Spearman {rho:.2f}): picking by it is close to "
        "picking at random"
    )


@_says("selection-uncorrelated", "reversed")
def _reversed(rho: float) -> str:
    return (
        f"trials that are good by the selection score report badly (Spearman {rho:.2f}): picking by it picks the "
        f"wrong way round; check {named('direction')}"
    )


@_says("leaky-reported")
def _leaky(reported: str) -> str:
    return f"the reported score {reported!r} is by its name the best over several looks at the test set"


@_says("missing-reported")
def _missing(reported: str, known: int, finished: int) -> str:
    return (
        f"the reported score {reported!r} is known for {known} of {finished} finished trials: curves of it need to be "
        "told how to treat the others"
    )


@_says("no-reported")
def _no_reported(selection: str) -> str:
    return f"validation only: {selection} both selects the winner and is what is reported"


@_says("no-reported", "oracle")
def _oracle(selection: str) -> str:
    return (
        f"{selection} picks the best of n and is what is reported: what an oracle reaches (pass@k for 0/1 scores); a "
        f"verifier's score as {named('selection')} tells what can be reached without one"
    )


# ------------------------------------------------------------------------------------- how far the data reach


@_says("unequal-groups")
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


@_says("unequal-groups", "left-out")
def _not_shared(problems: Sequence[str], total: int) -> str:
    return (
        f"{len(problems)} of {total} problems are not in every family ({shortened(problems)}): they are left out of "
        "the comparison"
    )


@_says("beyond-trials")
def _beyond(n_trials: int) -> str:
    return f"budgets above the {n_trials} trials observed are left out: the curve ends where the data end"


@_says("beyond-trials", "samples")
def _beyond_samples(largest: int) -> str:
    return f"budgets above the {largest} samples of the largest problem are left out"


@_says("beyond-trials", "one-sample")
def _one_sample(column: str | None) -> str:
    where = "" if column is None else f" of {column!r}"
    return (
        f"every problem{where} has one sample, so that the curve is one point, n = 1: draw more samples of each for "
        f"the best of n, or name another column with {named('group')} if these are samples and not problems"
    )


@_says("beyond-horizon")
def _beyond_horizon(reason: str) -> str:
    return reason


@_says("extrapolated")
def _extrapolated(n_trials: int, method: str) -> str:
    return f"beyond the {n_trials} trials observed the curve is a guess by the {method} law, not an estimate"


@_says("not-normal")
def _not_normal(p_value: float) -> str:
    return f"the scores are not normal (Anderson and Darling's test, p = {p_value:.2g}): Gaussian values mislead"


# ------------------------------------------------------------------------------------- what was chosen for the reader


@_says("paired-design")
def _paired(families: Sequence[str], shared: int, what: str) -> str:
    return f"{shortened(families)} share {shared} {what}: a paired design, to be compared pair by pair"


@_says("paired-design", "used")
def _paired_by(by: str) -> str:
    return f"compared pair by pair: every trial has a partner with the same {by} in every family"


@_says("paired-design", "problems")
def _by_problem() -> str:
    return "compared problem by problem: samples of the same problem in every family"


@_says("guessed-columns")
def _guessed(
    columns: Sequence[tuple[str, str]],
    direction: str | None = None,
    by: str | None = None,
    run_cost: str | None = None,
) -> str:
    parts = [f"{role} = {column!r}" for role, column in columns]
    if direction is not None:
        parts.append(f"direction = {direction} (by the name {by!r})")
    if run_cost is not None:
        how = "the sum over its rows" if run_cost == "sum" else "its last value, since it never falls within a run"
        parts.append(f"cost of a run = {how}")
    return f"chosen by name: {', '.join(parts)}"


@_says("guessed-columns", "open")
def _open(role: str, columns: Sequence[str]) -> str:
    names = shortened([repr(name) for name in columns], 12)
    return f"not chosen, since the names leave it open: {names} could be the {role} ({named(role)})"


@_says("guessed-columns", "checkpoints")
def _checkpoints(runs: int, column: str) -> str:
    return f"rows may be checkpoints of the {runs} runs in {column!r} ({named('trial')} {column})"


@_says("guessed-columns", "turned")
def _turned(column: str, direction: str) -> str:
    other = "lower" if direction == "max" else "higher"
    return (
        f"a {other} {column!r} is better and the reported score points the other way: the selection score is negated, "
        f"and direction = {direction}"
    )


@_says("guessed-columns", "samples")
def _sample_columns(first: str, last: str, count: int) -> str:
    return f"chosen by name: the {count} columns {first!r} to {last!r} are samples: one trial each"


@_says("guessed-columns", "lists")
def _lists(column: str, group: str) -> str:
    return f"each item of the lists in {column!r} is one sample of its {group}: one trial each"


@_says("guessed-columns", "rows")
def _rows(group: str) -> str:
    return f"each row is one problem, named by {group!r}"


@_says("guessed-columns", "renamed")
def _renamed(source: str, column: str, count: int) -> str:
    return f"{source}: {count} columns are named {column!r}; the later ones are read as {column!r} (2) on"


_HOW = {
    "percent": "percent signs (divided by 100)",
    "percent-points": "percent signs (not divided by 100, since numbers without the sign are larger than 1)",
    "thousands": "thousands commas",
    "decimal-comma": "decimal commas",
}


@_says("converted-numbers")
def _converted(count: int, column: str, how: str, first: str) -> str:
    verb = "is" if count == 1 else "are"
    return f"{count} of the numbers in {column!r} {verb} in {_HOW[how]} and read as such, e.g. {first!r}"


@_says("skipped-rows")
def _skipped(where: str, why: str, count: int) -> str:
    return f"left out: {where}: {why}{f', and {count - 1} more' if count > 1 else ''}"


@_says("skipped-rows", "no-family")
def _no_family(count: int, column: str) -> str:
    return f"{count:,} {'row has' if count == 1 else 'rows have'} no {column} and are left out"


@_says("skipped-rows", "no-problem")
def _no_problem(count: int, column: str) -> str:
    return f"{count:,} {'row has' if count == 1 else 'rows have'} no problem in {column!r} and are left out"
