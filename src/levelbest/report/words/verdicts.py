"""Verdicts in words that a person can read aloud or put in a paper."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import show_cost
from levelbest.report.words.phrases import counted, level, listed, plural
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison, PairComparison, Terms

__all__ = ["adjustment_words", "claim_sentence", "comparison_summary", "pair_sentence", "reason_words"]

_REASONS = {
    "few-trials": "there are no limits from fewer than 3 trials",
    "no-spread": "scores without spread",
    "beyond-half": "bands reach to half the trials of the smaller family",
    "no-bounds": "limits that lean on nothing else need the bounds of the score",
    "unsettled": "more random draws than allowed could still change it",
    "adaptive": "the trials of one adaptive search are not a sample; repeat the whole search",
    "few-searches": "one search allows no limits: repeat the whole search with other seeds",
    "search-ends": "some search ends before",
    "running": "no limit holds at every look there yet",
    "outside-cost": "bands reach from the cost of one trial to half of what either family spent",
    "few-problems": "too few problems have so many samples",
    "no-limits": "there are no limits",
}
_ADJUSTMENTS = {
    "holm": "Welch's t with Holm over {pairs}, confirmed by permutations",
    "max-t": "max |t| over budgets",
    "step-down": "step-down max |t| jointly over {pairs} and budgets",
    "bands": "each family's band at an adjusted level",
    "bonferroni": "Bonferroni over {pairs} and budgets",
    "swaps": "simultaneous over budgets and {pairs}, systems swapped within problems",
    "permutation": "permutations of the largest difference over {pairs} and budgets",
}


def reason_words(code: str) -> str:
    """Why budgets cannot be compared."""
    return _REASONS.get(code, code)


def adjustment_words(terms: Terms) -> str:
    """What makes the limits hold for all pairs and budgets together."""
    words = _ADJUSTMENTS.get(terms.adjustment, terms.adjustment).format(pairs=plural(terms.n_pairs, "pair"))
    return words + (", problems weighted" if terms.weighted else "")


def pair_sentence(pair: PairComparison) -> str:
    """One pair: who is better where, at which confidence, from how many trials; then what else there is to say."""
    first, second = pair.families
    terms = pair.terms
    better: dict[str, list[str]] = {first: [], second: []}
    undecided, apart, reasons = [], [], []
    for verdict in pair.verdicts:
        shown = _budgets(verdict.start, verdict.end, terms)
        if verdict.verdict == NOT_COMPARABLE:
            apart.append(shown)
            reasons.append(reason_words(verdict.reason))
        elif verdict.verdict == UNDECIDED:
            undecided.append(shown)
        else:
            better[verdict.verdict].append(shown)
    parts = [
        f"{name} is better than {other} at {_at(ranges, terms)}"
        for name, other in ((first, second), (second, first))
        if (ranges := better[name])
    ]
    if not parts and undecided:
        parts.append(f"{first} and {second}: undecided at {_at(undecided, terms)}")
    elif not parts:
        parts.append(f"{first} and {second} are not comparable")
    elif undecided:
        parts.append(f"undecided at {listed(undecided)}")
    if apart:
        parts.append(f"not comparable at {listed(apart)} ({'; '.join(dict.fromkeys(reasons))})")
    basis = f"{level(terms.confidence)} confidence {_scope(terms)}; {'; '.join(_trials(pair))}"
    return " ".join([f"{'; '.join(parts)} ({basis}).", *_further(pair)])


def _budgets(start: float, end: float, terms: Terms) -> str:
    if terms.axis == "cost":
        return f"{show_cost(start, terms.cost_unit)} to {show_cost(end, terms.cost_unit)}"
    return f"{start:g}" if start == end else f"{start:g} to {end:g}"


def _at(ranges: Sequence[str], terms: Terms) -> str:
    if terms.axis == "cost":
        return f"a budget of {listed(ranges)}"
    return plural(1, terms.unit) if list(ranges) == ["1"] else plural(2, terms.unit, listed(ranges))


def _scope(terms: Terms) -> str:
    if terms.design == "seeds":
        return "for the mean of a new run" + (f", over {plural(terms.n_pairs, 'pair')}" if terms.n_pairs > 1 else "")
    scope = "over all these budgets" if terms.n_pairs == 1 else f"over all budgets and {plural(terms.n_pairs, 'pair')}"
    return scope + (", for the best so far of a whole search" if terms.design == "searches" else "")


def _trials(pair: PairComparison) -> list[str]:
    terms = pair.terms
    words = []
    for name, n_trials, n_failed in zip(pair.families, pair.n_trials, pair.n_failed, strict=True):
        many = plural(n_trials, terms.unit) + ("" if terms.n_groups is None else f" of {terms.n_groups} problems")
        if not n_failed:
            words.append(f"{name}: {many}, none failed")
        elif terms.settings.failed == "worst":
            words.append(f"{name}: {many}, {n_failed} failed and counted as the worst score")
        else:
            words.append(f"{name}: {many}, and {n_failed} failed ones dropped")
    return words


def _further(pair: PairComparison) -> list[str]:
    """What else there is to say of a pair."""
    extra = [claim_sentence(pair) or ""]
    terms = pair.terms
    if terms.statistic == "all":
        extra.append("Compared is the chance that all of n samples succeed (pass^k).")
    if pair.survives is not None:
        how = counted(terms.settings.other_policy.failed)
        stays = "is the same" if pair.survives else "changes"
        extra.append(f"The verdict {stays} with failed {plural(2, terms.unit).partition(' ')[2]} {how}.")
    return [sentence for sentence in extra if sentence]


def claim_sentence(pair: PairComparison) -> str | None:
    """What the best observed scores show where the families had unequal numbers of trials ([D] section 5).

    None where the numbers of trials are equal or the best scores are, or where there is no such thing.
    """
    if pair.best is None or pair.n_trials[0] == pair.n_trials[1] or pair.best[0] == pair.best[1]:
        return None
    metric = pair.terms.metric
    winner = int(metric.sign * pair.best[1] > metric.sign * pair.best[0])
    loser = 1 - winner
    head = (
        f"As run, {pair.families[winner]} found the better {metric.selection} ({pair.best[winner]:.6g} in "
        f"{pair.n_trials[winner]} trials against {pair.best[loser]:.6g} in {pair.n_trials[loser]})"
    )
    if pair.n_trials[winner] < pair.n_trials[loser]:
        return f"{head} with fewer trials."
    return f"{head}, but it had more trials: that proves nothing yet."


def comparison_summary(comparison: Comparison) -> tuple[str, ...]:
    """The sentences to read aloud."""
    return comparison.sentences
