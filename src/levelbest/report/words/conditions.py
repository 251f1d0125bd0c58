"""What stands behind a verdict, in words: the confidence, the trials, the failures, what it leans on; and what else
there is to say of a pair: crossings, relative improvement, chances."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest._plain import show_cost, show_range
from levelbest.report.words.phrases import after, counted, joined, level, listed, plural
from levelbest.results import Comparison, PairComparison, Terms


def condition_sentence(comparison: Comparison) -> str:
    """The confidence, the trials and failures behind a verdict, and what it leans on."""
    terms = comparison.terms
    parts = [confidence_words(terms, comparison.pairs), _trials(comparison), *leaning(comparison.pairs)]
    known = [pair.survives for pair in comparison.pairs if pair.survives is not None]
    if known:
        changed = sum(not survives for survives in known)
        if not changed:
            parts.append(f"the verdict is the same {other_policy(terms)}")
        elif len(comparison.pairs) == 1:
            parts.append(f"the verdict changes {other_policy(terms)}")
        else:
            parts.append(f"the verdict changes in {changed} of {len(comparison.pairs)} pairs {other_policy(terms)}")
    return f"{'; '.join(parts)}."


def confidence_words(terms: Terms, pairs: Sequence[PairComparison]) -> str:
    """``95 % confidence over all budgets and 10 pairs``."""
    return f"{level(terms.confidence)} confidence{scope_words(terms, pairs)}{after(terms.words.scope, ', ')}"


def scope_words(terms: Terms, pairs: Sequence[PairComparison]) -> str:
    """What the confidence is over: `` over all budgets and 10 pairs``, `` at 5 trials, over 10 pairs``."""
    several = [] if terms.n_pairs == 1 else [plural(terms.n_pairs, "pair")]
    first, at = "", f" at {terms.words.count(terms.headline)}"
    budgets = {float(budget) for pair in pairs for budget in pair.budget}
    if terms.words.single:
        scopes = several
    elif len(budgets) == 1 and terms.headline in budgets:
        first, scopes = at + ("," if several else ""), several
    else:
        first = f"{at}, named in advance, and after that" if terms.named and terms.headline is not None else ""
        scopes = ["all budgets", *several]
    return first + (f" over {listed(scopes)}" if scopes else "")


def other_policy(terms: Terms) -> str:
    return f"with failed {terms.words.parts} {counted(terms.settings.other_policy.failed)}"


def _trials(comparison: Comparison) -> str:
    terms, words = comparison.terms, comparison.terms.words
    counts: dict[str, tuple[int, int]] = {}
    for pair in comparison.pairs:
        counts |= dict(zip(pair.families, zip(pair.n_trials, pair.n_failed, strict=True), strict=True))
    totals = sorted({n_trials for n_trials, _ in counts.values()})
    many = f"{words.count(totals[0])} each"
    if len(totals) > 1 and len(counts) == 2:
        many = ", ".join(f"{name}: {words.count(n_trials)}" for name, (n_trials, _) in counts.items())
    elif len(totals) > 1:
        many = f"{totals[0]} to {words.count(totals[-1])}"
    many += "" if terms.n_groups is None else f", of {plural(terms.n_groups, words.group)}"
    lost, total = (sum(column) for column in zip(*((n_failed, n) for n, n_failed in counts.values()), strict=True))
    if not lost:
        return f"{many}, none failed"
    if words.in_parts:
        did = "counts as the worst score" if lost == 1 else "count as the worst score"
        did = did if terms.settings.failed == "worst" else f"{'was' if lost == 1 else 'were'} dropped"
        return f"{many}; {plural(lost, words.part)} failed and {did}"
    if terms.settings.failed == "worst":
        return f"{many}, {lost} of {total} failed and count{'s' * (lost == 1)} as the worst score"
    return f"{many}, {lost} failed and were dropped"


def leaning(pairs: Sequence[PairComparison]) -> list[str]:
    """What verdicts lean on, where that is more than the trials."""
    bases = {pair.basis for pair in pairs if pair.decided}
    leaning = []
    if "t" in bases:
        leaning.append(f"{pairs[0].terms.words.few} that the verdict leans on means that are nearly normal")
    if "gaffke" in bases:
        leaning.append("limits from the bounds of the score alone")
    return leaning


def runs(family: str, n_trials: int, n_failed: int, terms: Terms) -> str:
    words = terms.words
    of = "" if terms.n_groups is None else f" of {plural(terms.n_groups, words.group)}"
    lost = plural(n_failed, words.part) if words.in_parts else f"{n_failed}"
    failed = f"{lost} failed and {counted(terms.settings.failed)}" if n_failed else "none failed"
    return f"{family}: {words.count(n_trials)}{of}, {failed}"


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
    if pair.equal_laws_p is not None:
        lines.append(f"permutation p-value for equal laws: {pair.equal_laws_p:.3g}")
    return tuple(lines)


def winners_words(pair: PairComparison) -> str:
    """``svm 8 to 45, rf 1 to 2``: who is better at which budgets; a dash where nobody is."""
    parts, terms = [], pair.terms
    for verdict in joined(pair.verdicts):
        if verdict.decided:
            ends = show_range(verdict.start, verdict.end, terms.axis, terms.cost_unit)
            parts.append(verdict.verdict + ("" if terms.words.single else f" {ends}"))
    return ", ".join(parts) or "-"
