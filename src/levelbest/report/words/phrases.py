"""The small parts of sentences: counts, lists, levels, budgets, heads of tables, and how failed trials count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from levelbest._plain import show_cost, show_range
from levelbest.results import Terms, Verdict

Range = tuple[float, float]
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


def all_others(count: int) -> str:
    """``both others``, ``all 4 others``."""
    return "both others" if count == 2 else f"all {count} others"


def level(confidence: float) -> str:
    """``95 %``."""
    return f"{100 * confidence:g} %"


def counted(failed: str) -> str:
    """What a failure policy does with failed trials."""
    return "counted as the worst score" if failed == "worst" else "dropped"


def with_budgets(ranges: Sequence[Range], terms: Terms, *, unit: bool = True) -> str:
    """``with 1 to 3 trials``; ``for a new run``, the one budget of seeds; ``with a budget of 2 s to 5 s`` of cost."""
    if terms.words.single:
        return f"for {terms.words.single}"
    shown = [show_range(*ends, terms.axis, terms.cost_unit) for ends in ranges]
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


def best_of(terms: Terms, budget: float) -> str:
    """The head of the column: ``best of 5``, ``within 2 h`` or ``a new run``."""
    if terms.over_cost:
        return f"within {show_cost(budget, terms.cost_unit)}"
    return terms.words.single or f"best of {budget:g}"


def table_heading(terms: Terms, budget: float) -> str:
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
