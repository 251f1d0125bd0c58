"""The small parts of sentences: counts, lists, levels, and how failed trials count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

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


def plural(n: object, unit: str, number: str = "") -> str:
    """``1 trial``, ``3 trials``, ``2 searches``; ``number`` is how the number is written, where not in digits."""
    word = unit if n == 1 else _PLURALS.get(unit, f"{unit}s")
    return f"{number or format(n, '')} {word}"


def run_word(unit: str) -> str:
    """The word for what can fail: a configuration is several runs."""
    return "run" if unit == "configuration" else unit


def drawn_words(unit: str) -> str:
    """How n units come about, where that is not plain: n points of a grid are drawn at random from it."""
    return " drawn at random" if unit == "grid point" else ""


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
