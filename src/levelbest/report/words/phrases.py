"""Parts of sentences: counts, lists, levels, budgets, the basis of a verdict, and what was searched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from levelbest._plain import show_cost, show_ranges
from levelbest.errors import named
from levelbest.results import Comparison, ComparisonTerms, PairComparison, Verdict

BudgetRange = tuple[float, float]
"""From one budget to another, both within."""
MOST_NAMES = 5
_PLURALS = {"family": "families", "search": "searches"}


class Several:
    """The numbers of several families in one sentence: every number is written as the sentence writes one.

    Examples
    --------
    >>> f"{Several([0.5, 0.25]):.2f}"
    '0.50 and 0.25'
    """

    def __init__(self, values: Sequence[float]) -> None:
        self.values = tuple(values)

    def __format__(self, spec: str) -> str:
        shown = [format(value, spec) for value in self.values]
        if len(set(shown)) == 1:
            return shown[0]
        if len(self.values) > MOST_NAMES:
            return f"{format(min(self.values), spec)} to {format(max(self.values), spec)}"
        return listed(shown)


class Names(tuple[str, ...]):
    """Names in one sentence: a long list is cut; with a number, it has so many at most, in quotes.

    Examples
    --------
    >>> f"{Names(['a', 'b'])}, {Names(['a', 'b', 'c']):2}"
    "a and b, 'a' and 2 more"
    """

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return shortened([repr(name) for name in self], int(spec)) if spec else shortened(self)


UNTOLD = " (the data cannot tell them apart)"


def plural(n: object, unit: str, number: str = "") -> str:
    """``1 trial``, ``3 trials``, ``2 searches``; ``number`` is how the number is written, where not in digits."""
    word = unit if n == 1 else _PLURALS.get(unit, f"{unit}s")
    return f"{number or format(n, '')} {word}"


def after(words: str, before: str = " ") -> str:
    """Further words after others; nothing where there are none."""
    return f"{before}{words}" if words else ""


def listed(names: Iterable[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    every = list(names)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {last} {every[-1]}"


def shortened(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """The names, a long list cut with how many more there are."""
    if len(names) <= most:
        return listed(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


HOPELESS = 20
"""So many times the trials there are: more is not worth a number."""


def forecast(count: float) -> str:
    """Two significant digits are all that a forecast has."""
    size = 10 ** max(0, math.floor(math.log10(max(count, 1))) - 1)
    return f"{math.ceil(count / size) * size:,}"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def count_word(count: int) -> str:
    """A small number in letters: ``three``."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def beaten_words(count: int) -> str:
    """`` (the other three are worse)``: how many others are beaten, where several may be best."""
    if not count:
        return UNTOLD
    return f" (the other {'is' if count == 1 else f'{count_word(count)} are'} worse)"


def all_others(count: int) -> str:
    """``both others``, ``all four others``."""
    return "both others" if count == 2 else f"all {count_word(count)} others"


def level(confidence: float) -> str:
    """``95 %``."""
    return f"{100 * confidence:g} %"


def counted(failed: str) -> str:
    """What a failure policy does with failed trials."""
    return "counted as the worst score" if failed == "worst" else "dropped"


def with_budgets(
    ranges: Sequence[BudgetRange], terms: ComparisonTerms, *, unit: bool = True, among: Sequence[BudgetRange] = ()
) -> str:
    """``with 1 to 3 trials``; ``for a new run``, the one budget of seeds; ``with a budget of 2 s to 5 s`` of cost."""
    if terms.words.single:
        return f"for {terms.words.single}"
    shown = show_ranges(ranges, terms.axis, terms.cost_unit, among)
    if terms.over_cost:
        return f"with {'a budget of ' if unit else ''}{listed(shown)}"
    if not unit:
        return f"with {listed(shown)}"
    named_so = f" ({terms.words.best_of(shown[0])})" if terms.words.measure and listed(shown).isdigit() else ""
    return f"with {terms.words.count(1 if shown == ['1'] else 2, listed(shown))}{named_so}"


def joined(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Neighbouring budgets with one verdict as one range, whether or not the difference there is worth having."""
    parts: list[Verdict] = []
    for part in verdicts:
        last = parts[-1] if parts else None
        alike = last is not None and (last.verdict, last.negligible) == (part.verdict, not part.negligible)
        if last is not None and alike and part.start - last.end <= 1:
            parts[-1] = replace(last, end=part.end, negligible=part.negligible)
        else:
            parts.append(part)
    return parts


def capital(text: str) -> str:
    """A text that begins with a word of ours as the beginning of a sentence (names are left as they are)."""
    return f"{text[:1].upper()}{text[1:]}"


def best_of(terms: ComparisonTerms, budget: float) -> str:
    """The head of the column: ``best of 5``, ``within 2 h`` or ``a new run``."""
    if terms.over_cost:
        return f"within {show_cost(budget, terms.cost_unit)}"
    return terms.words.single or terms.words.best_of(f"{budget:g}")


def short_heading(terms: ComparisonTerms, budget: float, *, brief: bool = False) -> str:
    """The head of a table's names on one screen: ``best of 5 by val_accuracy``; ``brief``: beside more columns."""
    words, chosen = terms.words, f" by {terms.metric.selection}" if terms.metric.reported else ""
    what = f" ({terms.statistic})" if terms.statistic not in ("mean", "all", "majority") else ""
    over = "" if terms.n_groups is None else f", over {groups_words(terms)}"
    if brief and terms.n_groups is not None:
        over = f", {plural(terms.n_groups, words.group)}"
    return f"{best_of(terms, budget)}{'' if words.single else chosen}{over}{what}"


def table_heading(terms: ComparisonTerms, budget: float) -> str:
    """``test_accuracy of the best of 5 trials, which val_accuracy chooses``."""
    metric, words = terms.metric, terms.words
    what = f"{terms.statistic}-quantile" if terms.statistic[:1].isdigit() else terms.statistic
    if words.single:
        return f"{metric.score} of {words.single} ({what})"
    chosen = f", which {metric.selection} chooses" if metric.reported else ""
    if terms.over_cost:
        return f"{metric.score} of the best within {show_cost(budget, terms.cost_unit)}{chosen} ({what})"
    unit = f"{words.count(int(budget))}{after(words.drawn)}{after(words.judged, ', ')}"
    over = "" if terms.n_groups is None else f" of a {words.group}, over {plural(terms.n_groups, words.group)}"
    if words.measure:
        return f"{words.best_of(f'{budget:g}')} ({metric.score}), {unit}{over}"
    return f"{metric.score} of the best of {unit}{over}{chosen} ({what})"


def condition_sentence(comparison: Comparison) -> str:
    """The confidence, the trials and failures behind a verdict, and what it assumes."""
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


def short_conditions(comparison: Comparison) -> str:
    """The same for one screen: what the table shows is left out, and what changes nothing."""
    terms = comparison.terms
    parts = [confidence_words(terms, comparison.pairs)]
    parts += [text.replace("the worst score", "worst") for text in _lost(comparison)] + leaning(comparison.pairs)
    if changed := sum(pair.survives is False for pair in comparison.pairs):
        parts.append(f"{plural(changed, 'verdict')} change{'s' * (changed == 1)} {other_policy(terms)}")
    return f"{'; '.join(parts)}."


def footer(comparison: Comparison, *, details: bool) -> list[str]:
    """What stands below a verdict: the conditions, how intervals are meant, the seed, and what else can be shown."""
    terms = comparison.terms
    if any(verdict.reason == "adaptive" for pair in comparison.pairs for verdict in pair.verdicts):
        return [f"Seed {terms.settings.rng}."]
    if not details:
        return [short_conditions(comparison), f"Seed {terms.settings.rng}; {more_words()}"]
    each = ["Intervals in the table are for each family separately."] if comparison.standings else []
    several = len(comparison.pairs) > 1
    more = f" {named('pairs')}: {'each pair' if several else 'every budget'}." * (several or not terms.words.single)
    return [condition_sentence(comparison), *each, f"Seed {terms.settings.rng}.{more}"]


def more_words() -> str:
    """How to see all that one screen leaves out."""
    return f"more: {named('details')}"


def confidence_words(terms: ComparisonTerms, pairs: Sequence[PairComparison]) -> str:
    """``95 % confidence over all budgets and 10 pairs``."""
    return f"{level(terms.confidence)} confidence{scope_words(terms, pairs)}{after(terms.words.scope, ', ')}"


def alone_words(*, registered: bool) -> str:
    """How a budget came to be tested by itself: only a ledger shows that it was chosen before the results."""
    return "registered before the first trial" if registered else "tested alone"


def scope_words(terms: ComparisonTerms, pairs: Sequence[PairComparison]) -> str:
    """What the confidence is over: `` over all budgets and 10 pairs``, `` at 5 trials, over 10 pairs``."""
    several = [] if terms.n_pairs == 1 else [plural(terms.n_pairs, "pair")]
    first, at = "", f" at {terms.words.count(terms.headline)}"
    budgets = {float(budget) for pair in pairs for budget in pair.budget}
    if terms.words.single:
        scopes = several
    elif len(budgets) == 1 and terms.headline in budgets:
        first, scopes = at + ("," if several else ""), several
    else:
        if terms.named and terms.headline is not None:
            first = f"{at}, {alone_words(registered=terms.registered)}, and after that"
        scopes = ["all budgets", *several]
    return first + (f" over {listed(scopes)}" if scopes else "")


def other_policy(terms: ComparisonTerms) -> str:
    return f"with failed {terms.words.parts} {counted(terms.settings.other_policy.failed)}"


def _trials(comparison: Comparison) -> str:
    terms, words = comparison.terms, comparison.terms.words
    counts = _counts(comparison)
    totals = sorted({n_trials for n_trials, _ in counts.values()})
    many = f"{words.count(totals[0])} each"
    if len(totals) > 1 and len(counts) == 2:
        many = ", ".join(f"{name}: {words.count(n_trials)}" for name, (n_trials, _) in counts.items())
    elif len(totals) > 1:
        many = f"{totals[0]} to {words.count(totals[-1])}"
    many += "" if terms.n_groups is None else f", of {groups_words(terms)}"
    lost = _lost(comparison)
    return f"{many}{'; ' if lost and words.in_parts else ', '}{''.join(lost) or 'none failed'}"


def _lost(comparison: Comparison) -> list[str]:
    """How many failed of how many, and how they count; nothing where none did."""
    terms, words = comparison.terms, comparison.terms.words
    counts = _counts(comparison).values()
    lost, total = sum(n_failed for _, n_failed in counts), sum(n_trials for n_trials, _ in counts)
    if not lost:
        return []
    total += lost if terms.settings.failed != "worst" else 0
    failed = f"{plural(lost, words.part) if words.in_parts else f'{lost} of {total}'} failed"
    return [f"{failed} ({counted(terms.settings.failed)})"]


def _counts(comparison: Comparison) -> dict[str, tuple[int, int]]:
    """How many trials each family has, and how many of them failed."""
    counts: dict[str, tuple[int, int]] = {}
    for pair in comparison.pairs:
        counts |= dict(zip(pair.families, zip(pair.n_trials, pair.n_failed, strict=True), strict=True))
    return counts


def leaning(pairs: Sequence[PairComparison]) -> list[str]:
    """What verdicts assume beyond the trials."""
    bases = {pair.basis for pair in pairs if pair.decided}
    leaning = []
    if "t" in bases:
        leaning.append(f"with so few {pairs[0].terms.words.exchanged} the verdict assumes nearly normal means")
    if "gaffke" in bases:
        leaning.append("confidence limits from the bounds of the score alone")
    elif bases and (share := unseen_words(pairs)):
        leaning.append(share)
    return leaning


def unseen_words(pairs: Sequence[PairComparison]) -> str:
    """What no such sample can rule out: ``a failure rate of up to 14 % may go undetected``."""
    shares = [pair.unseen for pair in pairs if math.isfinite(pair.unseen)]
    if not shares:
        return ""
    return f"a failure rate of up to {100 * max(shares):.2g} % may go undetected"


def groups_words(terms: ComparisonTerms) -> str:
    """``400 problems in 20 clusters``."""
    inside = "" if terms.n_clusters is None else f" in {plural(terms.n_clusters, 'cluster')}"
    tasks = "" if terms.n_tasks is None else f", mean of {terms.n_tasks} tasks"
    return f"{plural(terms.n_groups or 0, terms.words.group)}{inside}{tasks}"


def runs(family: str, n_trials: int, n_failed: int, terms: ComparisonTerms) -> str:
    words = terms.words
    of = "" if terms.n_groups is None else f" of {groups_words(terms)}"
    lost = plural(n_failed, words.part) if words.in_parts else f"{n_failed}"
    failed = f"{lost} failed and {counted(terms.settings.failed)}" if n_failed else "none failed"
    return f"{family}: {words.count(n_trials)}{of}, {failed}"
