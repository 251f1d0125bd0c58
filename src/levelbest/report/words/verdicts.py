"""Sentences about two families: who is better at which budgets, by how much, or why the data cannot tell."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from levelbest._plain import round_to_uncertainty, show_cost, show_number, show_range
from levelbest.report.words.phrases import (
    BudgetRange,
    alone_words,
    capital,
    confidence_words,
    joined,
    leaning,
    listed,
    other_policy,
    plural,
    runs,
    with_budgets,
)
from levelbest.results import (
    NOT_COMPARABLE,
    UNDECIDED,
    BestFound,
    Comparison,
    ComparisonTerms,
    Effect,
    PairComparison,
    Verdict,
)

MAY_BE_CHANCE = ", which may be due to chance"
_REASONS = {
    "few-trials": "a family has fewer than 3 trials",
    "no-spread": "scores that do not vary allow no confidence interval",
    "beyond-half": "verdicts extend to half the trials of the smaller family",
    "beyond-samples": "no verdict: on exactly these problems they extend to half the samples of that with the fewest",
    "beyond-reported": "past this budget the reported score of the winner rests on fewer than ten trials",
    "no-bounds": "the chosen method needs the lowest and the highest possible score",
    "unsettled": "too close to call with as many random draws as are allowed",
    "adaptive": "one search that learns from its own trials is one observation: repeat the whole search",
    "few-searches": "at least two searches of each family are needed",
    "search-ends": "some search ends before this budget",
    "running": "too early to tell while trials still run",
    "outside-spend": "one sample of the more expensive system costs more than all samples of the cheaper one",
    "outside-cost": "verdicts extend from one trial of the more expensive family to half of what either spent",
    "few-problems": "too few problems have that many samples",
    "no-limits": "there is no confidence interval",
}
_ADJUSTMENTS = {
    "closed": "permutations of the runs, closed testing over {pairs}",
    "bands": "each family's band at an adjusted level",
    "joint": "simultaneous over {pairs} and budgets",
    "pairs": "families exchanged within each pair, over {pairs}",
    "within": "samples exchanged within problems, over {pairs} and budgets",
    "swaps": "systems exchanged within problems, over {pairs} and budgets",
    "permutation": (
        "permutations over {pairs} and budgets, with confidence intervals that allow for unequal distributions"
    ),
}
_TOO_FEW = ("beyond-half", "beyond-reported", "outside-cost", "outside-spend", "few-problems", "no-limits")


def reason_words(code: str) -> str:
    """Why budgets cannot be compared.

    Examples
    --------
    >>> reason_words("few-trials")
    'a family has fewer than 3 trials'
    """
    return _REASONS.get(code, code)


def adjustment_words(terms: ComparisonTerms) -> str:
    """What makes the bands cover all pairs and budgets together."""
    words = _ADJUSTMENTS.get(terms.adjustment, terms.adjustment).format(pairs=plural(terms.n_pairs, "pair"))
    return words + (", problems weighted" if terms.weighted else "")


def best_found_words(comparison: Comparison) -> tuple[str, ...]:
    """The best configuration and its value of each search that learns."""
    winners = [
        f"{winner.family} {winner.value:.4g}{f' ({settings_words(winner)})' if winner.configuration else ''}"
        for winner in comparison.best_found
    ]
    return (f"Best found: {'; '.join(winners)}.",) if winners else ()


def settings_words(winner: BestFound) -> str:
    """``lr = 0.001, width = 64``."""
    shown = [
        f"{plain_setting(name)} = {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in winner.configuration.items()
    ]
    return ", ".join(shown[:8]) + (" ..." if len(shown) > 8 else "")


def plain_setting(column: str) -> str:
    """A hyperparameter's name without that of the tool's part of the table: ``params_lr`` is lr."""
    return re.sub(r"^(params_|param_|config[./]|params[./]|hparams[./])", "", column)


def verdict_of_pair(pair: PairComparison) -> tuple[str, ...]:
    """Who of two is better at which budgets, by how much, and what they show as they were run."""
    single = len(pair.verdicts) == 1 and pair.verdicts[0].start == pair.verdicts[0].end == pair.effect.budget
    claim = claim_sentence(pair)
    claims = () if claim is None else (claim,)
    if single and pair.verdicts[0].verdict != NOT_COMPARABLE:
        return (_at_one_budget(pair), *claims)
    first, second = pair.families
    ranges, parts = by_label(pair.verdicts), [(part.start, part.end) for part in pair.verdicts]
    clauses: list[str] = []
    for name in [label for label in ranges if label in pair.families]:
        other = second if name == first else first
        than = "" if clauses else f" than {other}"
        where = with_budgets(ranges[name], pair.terms, unit=not clauses, among=parts)
        clauses.append(f"{name} is better{than} {where}")
    if same := by_label(pair.verdicts, negligible=True).get(UNDECIDED):
        where = with_budgets(same, pair.terms, unit=not clauses, among=parts)
        worth = f"no difference worth having ({pair.terms.worth:.2g} or more)"
        clauses.append(f"{where} there is {worth}" if clauses else f"{first} and {second} have {worth} {where}")
    if unclear := by_label(pair.verdicts, negligible=False).get(UNDECIDED):
        where = with_budgets(unclear, pair.terms, unit=not clauses, among=parts)
        tell = f"The data cannot tell {first} from {second} {where}"
        clauses.append(f"{where} the data cannot tell" if clauses else tell)
    if not clauses:
        why = listed(dict.fromkeys(reason_words(verdict.reason) for verdict in pair.verdicts))
        return (f"{first} and {second} cannot be compared: {why}.",)
    clauses += beyond_clauses(pair.verdicts, pair.terms, min(pair.n_trials))
    return (f"{'; '.join(clauses)}.", *_effect_sentence(pair), *claims)


def _at_one_budget(pair: PairComparison) -> str:
    """Where there is one budget, such as a new run of seeds, one sentence says who is better, and by how much."""
    (first, second), effect = pair.families, pair.effect
    ahead, other = (second, first) if effect.winner == second else (first, second)
    single = pair.terms.words.single
    where = "" if single else f" {at_effect(effect, pair.terms).rstrip(',')}"
    if effect.winner is not None:
        by = effect_words(effect if ahead == first else effect.mirrored())
        means = f"{single} of it is better" if single else "it is better"
        return f"{ahead} is better than {other}{where}: {means} by {by}{worth_words(effect, ', ')}."
    open_question = f"The data cannot tell {first} from {second}{where}"
    if effect.negligible:
        open_question = f"{first} and {second} have no difference worth having{where}"
    if not math.isfinite(effect.difference):
        return f"{open_question}."
    if effect.difference < 0:
        first, effect = second, effect.mirrored()
    if effect.difference == 0:
        return f"{open_question}: no difference was seen, {effect_words(effect)}."
    return f"{open_question}: {f'{single} of ' if single else ''}{first} is ahead by {effect_words(effect)}."


def rival(pair: PairComparison, baseline: str) -> str:
    """The other of two families."""
    return next(name for name in pair.families if name != baseline)


def _effect_sentence(pair: PairComparison) -> list[str]:
    """By how much, at the budget of the effect, seen from the side that is ahead."""
    effect, (first, second) = pair.effect, pair.families
    if not math.isfinite(effect.difference):
        return []
    if effect.winner == second or (effect.winner is None and effect.difference < 0):
        effect, first = effect.mirrored(), second
    where = capital(at_effect(effect, pair.terms))
    if effect.winner is not None:
        return [f"{where} {first} is better by {effect_words(effect)}{worth_words(effect)}."]
    if effect.difference == 0:
        return [f"{where} no difference was seen: {effect_words(effect)}."]
    return [f"{where} {first} is ahead by {effect_words(effect)}{worth_words(effect) or MAY_BE_CHANCE}."]


def worth_words(effect: Effect, before: str = ": ") -> str:
    """Said of a difference that is smaller than any worth having, whether it is certain or not."""
    return f"{before}no difference worth having" if effect.negligible else ""


def effect_words(effect: Effect) -> str:
    """``0.021 (0.014 to 0.028)``: a difference with its limits."""
    half = (effect.high - effect.low) / 2
    # one digit of the limits' half width tells enough where it is 3 or more
    digits = 1 if math.isfinite(half) and half > 0 and half / 10 ** math.floor(math.log10(half)) >= 3 else 2
    decimals = round_to_uncertainty(effect.difference, effect.low, effect.high, digits=digits)
    if effect.winner is None and any(0 < abs(end) < 0.5 * 10**-decimals for end in (effect.low, effect.high)):
        decimals += 1  # on which side of zero a limit lies is what it is read for
    value, low, high = (show_number(x, decimals) for x in (effect.difference, effect.low, effect.high))
    known = math.isfinite(effect.low), math.isfinite(effect.high)
    if known == (True, True) and effect.winner is not None and effect.low > 0 and float(low) == 0:
        return f"{value} (more than 0, up to {high})"  # a limit that excludes zero is not shown as zero
    if known == (True, True) and effect.winner is not None and effect.high < 0 and float(high) == 0:
        return f"{value} (less than 0, down to {low})"
    limits = {(True, True): f" ({low} to {high})", (True, False): f" (at least {low})"}
    return value + (limits | {(False, True): f" (at most {high})", (False, False): ""})[known]


def claim_sentence(pair: PairComparison) -> str | None:
    """What the best observed scores say where the families had unequal numbers of trials ([D] section 5).

    More trials can only improve the best selection score, so that a better one from fewer trials speaks for its family;
    but the best is one draw from each, and no verdict. None where the numbers of trials are equal or the scores are.
    """
    if pair.best is None or pair.n_trials[0] == pair.n_trials[1] or pair.best[0] == pair.best[1]:
        return None
    metric = pair.terms.metric
    ahead = 0 if metric.sign * pair.best[0] > metric.sign * pair.best[1] else 1
    behind = 1 - ahead
    words = pair.terms.words
    as_run = (
        f"As run, the best {metric.selection} is {pair.families[ahead]}'s ({pair.best[ahead]:.6g} of "
        f"{words.count(pair.n_trials[ahead])}, against {pair.best[behind]:.6g} of {pair.n_trials[behind]})"
    )
    if pair.n_trials[ahead] < pair.n_trials[behind]:
        return f"{as_run}, from fewer {words.units}: that favours it, but one best score is one draw, not a verdict."
    return f"{as_run}, but from more {words.units}: a larger search finds a better best score even of equal families."


def pair_sentence(pair: PairComparison) -> str:
    """One pair with all its conditions."""
    terms = pair.terms
    counts = [
        runs(name, n_trials, n_failed, terms)
        for name, n_trials, n_failed in zip(pair.families, pair.n_trials, pair.n_failed, strict=True)
    ]
    basis = "; ".join([confidence_words(terms, [pair]), *counts, *leaning([pair])])
    more = [f"Based on {basis}."]
    if terms.statistic == "all":
        more.append("The comparison is of the probability that all of n samples succeed (pass^k).")
    if terms.statistic == "majority":
        more.append("The comparison is of the answer with the most votes among n samples (maj@k).")
    if pair.survives is not None:
        changes = "is the same" if pair.survives else "changes"
        more.append(f"The verdict {changes} {other_policy(terms)}.")
    return " ".join([*verdict_of_pair(pair), *more])


def pair_details(pair: PairComparison) -> tuple[str, ...]:
    """Each a short line."""
    lines, terms = [], pair.terms
    for crossing in pair.crossings:
        near, first, last = (
            show_cost(x, terms.cost_unit) if terms.over_cost else f"{x:.3g}"
            for x in (crossing.budget, crossing.low, crossing.high)
        )
        before = f"after {first}" if math.isfinite(crossing.low) else "anywhere"
        after = f"before {last}" if math.isfinite(crossing.high) else "or not at all within the data"
        lines.append(f"the curves cross near {near} ({before}, {after})")
    if pair.relative:
        n, value, low, high = pair.relative[-1]
        limits = f" ({100 * low:+.3g} to {100 * high:+.3g} %, for this budget alone)"
        shown = limits if math.isfinite(low) and math.isfinite(high) else ""
        lines.append(f"relative improvement of {pair.families[0]} at n = {n:g}: {100 * value:+.3g} %{shown}")
    if pair.chance:
        chances = [f"{chance:.2f} at n = {n:g}" for n, chance in pair.chance[:: max(1, len(pair.chance) // 4)]]
        lines.append(f"chance that the best of n of {pair.families[0]} is better: {listed(chances)}")
    if pair.equal_p is not None:
        lines.append(f"permutation p-value for equal distributions: {pair.equal_p:.3g}")
    return tuple(lines)


def winners_words(pair: PairComparison) -> str:
    """``svm 8 to 45, rf 1 to 2``: who is better at which budgets; a dash where nobody is."""
    parts, terms = [], pair.terms
    for verdict in joined(pair.verdicts):
        if verdict.decided:
            ends = show_range(verdict.start, verdict.end, terms.axis, terms.cost_unit)
            parts.append(verdict.verdict + ("" if terms.words.single else f" {ends}"))
    return ", ".join(parts) or "-"


def by_label(verdicts: Sequence[Verdict], *, negligible: bool | None = None) -> dict[str, list[BudgetRange]]:
    """The budgets of each verdict, in order."""
    ranges: dict[str, list[BudgetRange]] = {}
    for verdict in joined(verdicts) if negligible is None else verdicts:
        if negligible is None or verdict.negligible == negligible:
            ranges.setdefault(verdict.verdict, []).append((verdict.start, verdict.end))
    return ranges


def beyond_clauses(verdicts: Sequence[Verdict], terms: ComparisonTerms, n_trials: int) -> list[str]:
    """Where trials are too few, or what else keeps budgets from being compared."""
    clauses = []
    last = max(verdict.end for verdict in verdicts)
    for verdict in verdicts:
        if verdict.verdict != NOT_COMPARABLE:
            continue
        if verdict.end == last and verdict.reason in _TOO_FEW and not terms.over_cost and terms.n_groups is None:
            clauses.append(f"from {verdict.start:g} on, {terms.words.count(n_trials)} are too few to tell")
        elif verdict.reason in _TOO_FEW and terms.over_cost:
            continue  # the ends of the axis: the strip and the table show where they are
        else:
            clauses.append(
                f"{with_budgets([(verdict.start, verdict.end)], terms, unit=False)} {reason_words(verdict.reason)}"
            )
    return clauses


def at_effect(effect: Effect, terms: ComparisonTerms) -> str:
    at = with_budgets([(effect.budget, effect.budget)], terms)
    return f"{at}, {alone_words(registered=terms.registered)}," if effect.named and not terms.words.single else at
