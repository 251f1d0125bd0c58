"""The small parts of sentences: counts, lists, levels, budgets, what stands behind a verdict, and what was searched."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from levelbest._plain import show_cost, show_ranges
from levelbest.results import Comparison, ComparisonTerms, PairComparison, Verdict
from levelbest.trials.spaces import SearchSpace

Range = tuple[float, float]
"""From one budget to another, both within."""
MOST_NAMES = 5
_PLURALS = {"family": "families", "search": "searches"}


_RANGES = {
    "uniform": "uniform from {} to {}",
    "loguniform": "log-uniform from {} to {}",
    "integer": "whole numbers from {} to {}",
    "log-integer": "whole numbers, log-uniform from {} to {}",
    "normal": "normal with mean {} and sd {}",
    "observed": "{} to {}",
}
_IN_SHORT = dict.fromkeys(("uniform", "integer", "observed"), "{} to {}")
_IN_SHORT |= dict.fromkeys(("loguniform", "log-integer"), "{} to {} (log)") | {"normal": "{} ± {}"}
_MOST_PARAMETERS, _MOST_CHOICES = 12, 8


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
    ranges: Sequence[Range], terms: ComparisonTerms, *, unit: bool = True, among: Sequence[Range] = ()
) -> str:
    """``with 1 to 3 trials``; ``for a new run``, the one budget of seeds; ``with a budget of 2 s to 5 s`` of cost."""
    if terms.words.single:
        return f"for {terms.words.single}"
    shown = show_ranges(ranges, terms.axis, terms.cost_unit, among)
    if terms.over_cost:
        return f"with {'a budget of ' if unit else ''}{listed(shown)}"
    if not unit:
        return f"with {listed(shown)}"
    return f"with {terms.words.count(1 if shown == ['1'] else 2, listed(shown))}"


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
    return f"{text[0].upper()}{text[1:]}"


def best_of(terms: ComparisonTerms, budget: float) -> str:
    """The head of the column: ``best of 5``, ``within 2 h`` or ``a new run``."""
    if terms.over_cost:
        return f"within {show_cost(budget, terms.cost_unit)}"
    return terms.words.single or f"best of {budget:g}"


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
    if terms.statistic == "all":
        return f"chance that all of {unit}{over} succeed ({metric.score})"
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


def confidence_words(terms: ComparisonTerms, pairs: Sequence[PairComparison]) -> str:
    """``95 % confidence over all budgets and 10 pairs``."""
    return f"{level(terms.confidence)} confidence{scope_words(terms, pairs)}{after(terms.words.scope, ', ')}"


def alone_words(*, registered: bool) -> str:
    """How a budget came to be tested by itself: only a ledger shows that it was chosen before the results."""
    return "registered before the first trial" if registered else "asked about alone"


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
    counts: dict[str, tuple[int, int]] = {}
    for pair in comparison.pairs:
        counts |= dict(zip(pair.families, zip(pair.n_trials, pair.n_failed, strict=True), strict=True))
    totals = sorted({n_trials for n_trials, _ in counts.values()})
    many = f"{words.count(totals[0])} each"
    if len(totals) > 1 and len(counts) == 2:
        many = ", ".join(f"{name}: {words.count(n_trials)}" for name, (n_trials, _) in counts.items())
    elif len(totals) > 1:
        many = f"{totals[0]} to {words.count(totals[-1])}"
    many += "" if terms.n_groups is None else f", of {groups_words(terms)}"
    lost, total = (sum(column) for column in zip(*((n_failed, n) for n, n_failed in counts.values()), strict=True))
    if not lost:
        return f"{many}, none failed"
    if words.in_parts:
        did = "counts as the worst score" if lost == 1 else "count as the worst score"
        did = did if terms.settings.failed == "worst" else f"{'was' if lost == 1 else 'were'} dropped"
        return f"{many}; {plural(lost, words.part)} failed and {did}"
    if terms.settings.failed == "worst":
        return f"{many}, {lost} of {total} failed and count{'s' * (lost == 1)} as the worst score"
    return f"{many}, {lost} of {total + lost} failed and {'was' if lost == 1 else 'were'} dropped"


def leaning(pairs: Sequence[PairComparison]) -> list[str]:
    """What verdicts assume beyond the trials."""
    bases = {pair.basis for pair in pairs if pair.decided}
    leaning = []
    if "t" in bases:
        leaning.append(f"{pairs[0].terms.words.few} that the verdict assumes nearly normal means")
    if "gaffke" in bases:
        leaning.append("confidence limits from the bounds of the score alone")
    elif bases and (share := unseen_words(pairs)):
        leaning.append(share)
    return leaning


def unseen_words(pairs: Sequence[PairComparison]) -> str:
    """What no such sample can rule out: ``a failure in up to 14 % of runs may not have shown itself``."""
    shares = [pair.unseen for pair in pairs if math.isfinite(pair.unseen)]
    if not shares:
        return ""
    words = pairs[0].terms.words
    return f"a failure in up to {100 * max(shares):.2g} % of {words.exchanged} may not have shown itself"


def groups_words(terms: ComparisonTerms) -> str:
    """``400 problems in 20 clusters``."""
    inside = "" if terms.n_clusters is None else f" in {plural(terms.n_clusters, 'cluster')}"
    return f"{plural(terms.n_groups or 0, terms.words.group)}{inside}"


def runs(family: str, n_trials: int, n_failed: int, terms: ComparisonTerms) -> str:
    words = terms.words
    of = "" if terms.n_groups is None else f" of {groups_words(terms)}"
    lost = plural(n_failed, words.part) if words.in_parts else f"{n_failed}"
    failed = f"{lost} failed and {counted(terms.settings.failed)}" if n_failed else "none failed"
    return f"{family}: {words.count(n_trials)}{of}, {failed}"


def parameter_words(given: object) -> str:
    """One parameter of a space: ``log-uniform from 0.0001 to 100``, ``one of sgd, adam where layers is 2``."""
    if not isinstance(given, dict):
        return f"always {_text(given)}"
    kind = next(iter(given))
    value = given[kind]
    if kind in _RANGES:
        text = _RANGES[kind].format(_text(value[0]), _text(value[1]))
    elif kind == "choice":
        text = f"one of {_listed(value)}"
        if given.get("weights"):
            text += f" with weights {', '.join(map(_text, given['weights']))}"
    elif kind == "constant":
        text = f"always {_text(value)}"
    else:
        text = json.dumps({key: part for key, part in given.items() if key != "when"})
    if given.get("when"):
        text += " where " + " and ".join(
            f"{name} is {' or '.join(map(_text, wanted)) if isinstance(wanted, list) else _text(wanted)}"
            for name, wanted in dict(given["when"]).items()
        )
    return text


def searched_words(space: SearchSpace) -> str:
    """What of one family was searched: its parameters that vary, or that it is one fixed configuration."""
    if not space.parameters:
        return "not recorded"
    if space.fixed:
        values = [f"{fixed.name} {_text(fixed.value)}" for fixed in space.parameters[:_MOST_PARAMETERS]]
        return f"one fixed configuration ({', '.join(values)})"
    ranges_first = sorted(space.searched, key=lambda parameter: parameter.kind == "choice")
    shown = [f"{parameter.name} {_in_short(parameter.given)}" for parameter in ranges_first[:_MOST_PARAMETERS]]
    more = len(space.searched) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _in_short(given: object) -> str:
    """``0.0001 to 100 (log)``, ``(sgd, adam)``: what the appendix has in full."""
    assert isinstance(given, dict)
    kind = next(iter(given))
    if kind in _IN_SHORT:
        return _IN_SHORT[kind].format(*map(_text, given[kind]))
    return f"({_listed(given[kind])})" if kind == "choice" else f"({kind})"


def _listed(values: Sequence[object]) -> str:
    more = f" and {len(values) - _MOST_CHOICES} more" if len(values) > _MOST_CHOICES else ""
    return ", ".join(map(_text, values[:_MOST_CHOICES])) + more


def spaces_heading(spaces: Sequence[SearchSpace]) -> str:
    """Where the words come from."""
    kinds = {space.declared for space in spaces if space.parameters}
    if kinds == {True}:
        return "Searched, as declared"
    return "Searched, as observed" if kinds == {False} else "Searched, as declared or else as observed"


def space_rows(spaces: Sequence[SearchSpace]) -> list[tuple[tuple[str, ...], str]]:
    """Families with what was searched; those with the same space together, none where nothing is known of any."""
    rows: dict[str, list[str]] = {}
    mixed = len({space.declared for space in spaces if space.parameters}) > 1
    for space in spaces if any(space.parameters for space in spaces) else ():
        seen = " (observed)" if mixed and space.parameters and not space.declared else ""
        rows.setdefault(searched_words(space) + seen, []).append(space.family)
    return [(tuple(families), text) for text, families in rows.items()]


def spaces_paragraph(spaces: Sequence[SearchSpace]) -> str:
    """One sentence for a methods paragraph."""
    rows = [f"{shortened(families)}: {text}" for families, text in space_rows(spaces)]
    sentences = [f"{spaces_heading(spaces)}: {'; '.join(rows)}.", fixed_sentence(spaces)] if rows else []
    return " ".join(filter(None, sentences))


def fixed_sentence(spaces: Sequence[SearchSpace]) -> str:
    """That a family was not searched where others were; empty where all were, or none was."""
    fixed = [space.family for space in spaces if space.fixed]
    if not fixed or not any(space.searched for space in spaces):
        return ""
    return f"{shortened(fixed)} {'is' if len(fixed) == 1 else 'are each'} one fixed configuration, not a search."


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else json.dumps(value, default=str)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def parameter_texts(space: SearchSpace) -> dict[str, str]:
    """By parameter, for a table: a constant as it is."""
    return {each.name: _text(each.value) if each.fixed else parameter_words(each.given) for each in space.parameters}
