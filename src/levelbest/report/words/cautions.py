"""Warnings in words: one sentence for each code and kind, from its facts.

A sentence in `doubts` or `choices` is a template or a function. The names in its braces, or its parameters, are the
facts that ``Caution.of(code, family, value, kind=kind, **facts)`` must give; ``{named[cost]}`` is the argument ``cost``
as the reader would write it.
"""

from __future__ import annotations

from levelbest.cautions import Caution
from levelbest.errors import named
from levelbest.report.words import choices, doubts  # noqa: F401  (their sentences are registered)
from levelbest.report.words.registry import SENTENCES

_GRAVE = (
    "adaptive-sampler",
    "stops-at-success",
    "leaky-reported",
    "selection-is-reported",
    "trend",
    "selection-uncorrelated",
    "nested-seeds",
    "outlier",
    "missing-reported",
    "failures",
    "grid",
)
CHOICES = ("averaged-runs", "paired-design", "guessed-columns", "converted-numbers", "skipped-rows")
"""What was chosen for the reader and need not worry anybody who agrees."""


def severity(code: str) -> int:
    """0 for doubts about the conclusion, 1 for limits of it, 2 for choices."""
    return 2 if code in CHOICES else 0 if code in _GRAVE else 1


def rank(code: str) -> tuple[int, int]:
    """Warnings sorted by this have the gravest first and the choices last."""
    order = (_GRAVE, (), CHOICES)[severity(code)]
    return severity(code), order.index(code) if order else 0


def caution_sentence(caution: Caution) -> str:
    """What a warning says, without the family's name."""
    sentence, facts = SENTENCES[caution.code, caution.kind], dict(caution.facts)
    return sentence.format(named=_Named(), **facts) if isinstance(sentence, str) else sentence(**facts)


class _Named:
    def __getitem__(self, argument: str) -> str:
        return named(argument)
