"""Warnings in words: one sentence for each code and kind, from its facts; for reading, one for each matter, with all
the families it concerns.

A sentence in `doubts` or `choices` is a template or a function. The names in its braces, or its parameters, are the
facts that ``Caution.of(code, family, value, kind=kind, **facts)`` must give; ``{named[cost]}`` is the argument ``cost``
as the reader would write it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from levelbest.cautions import Caution
from levelbest.errors import named
from levelbest.report.words.doubts import CHOSEN, DOUBTS
from levelbest.report.words.phrases import MOST_NAMES, Names, Several, shortened

SENTENCES = DOUBTS | CHOSEN
"""(code, kind) -> the sentence: a template or, where grammar needs more, a function of the facts."""
_GRAVE = (
    "adaptive-sampler",
    "stops-at-success",
    "leaky-reported",
    "selection-is-reported",
    "trend",
    "selection-uncorrelated",
    "nested-seeds",
    "fixed-configuration",
    "registered",
    "outlier",
    "missing-reported",
    "failures",
    "grid",
    "missing-costs",
)
CHOICES = ("averaged-runs", "paired-design", "guessed-columns", "converted-numbers", "skipped-rows")
"""What was chosen for the reader and need not worry anybody who agrees."""
_ONCE = ("no-reported", "selection-is-reported")  # one matter for all families, in whatever words


def caution_sentence(caution: Caution) -> str:
    """What a warning says, without the family's name."""
    sentence = SENTENCES[caution.code, caution.kind]
    facts = {name: Names(fact) if isinstance(fact, tuple) else fact for name, fact in caution.facts}
    return sentence.format(named=_Named(), **facts) if isinstance(sentence, str) else sentence(**facts)


class _Named:
    def __getitem__(self, argument: str) -> str:
        return named(argument)


@dataclass(frozen=True)
class Remark:
    """One warning to read: its code, the families it concerns (none: all of them) and what it says."""

    code: str
    families: tuple[str, ...]
    text: str

    @property
    def severity(self) -> int:
        """0 for doubts about the conclusion, 1 for limits of it, 2 for choices."""
        return 2 if self.code in CHOICES else 0 if self.code in _GRAVE else 1

    @property
    def rank(self) -> tuple[int, int]:
        """Sorted by this the gravest come first and the choices last."""
        order = (_GRAVE, (), CHOICES)[self.severity]
        return self.severity, order.index(self.code) if order else 0

    def __str__(self) -> str:
        return f"{shortened(self.families)}: {self.text}" if self.families else self.text


def remarks(cautions: Iterable[Caution], n_families: int = 0) -> tuple[Remark, ...]:
    """The warnings, the gravest first and choices last; the same said of several families is said once.

    Warnings of one code and kind whose facts differ in one number at most are put together, with the numbers in the
    families' order; those of many families are put together in any case, with the range of each number.
    """
    given = list(dict.fromkeys(cautions))
    counted = {caution.family for caution in given if (caution.code, caution.kind) == ("failures", "")}
    by_kind: dict[tuple[str, str], list[Caution]] = {}
    for caution in given:
        if (caution.code, caution.kind) == ("failures", "no-score") and caution.family in counted:
            continue  # how they count says that they failed
        kind = "" if caution.code in _ONCE else caution.kind
        by_kind.setdefault((caution.code, kind), []).append(caution)
    merged = []
    for (code, _), members in by_kind.items():
        if code in _ONCE:
            merged.append(Remark(code, (), members[0].sentence))
            continue
        for alike, sentence in _together(members):
            families = tuple(dict.fromkeys(caution.family for caution in alike if caution.family is not None))
            everyone = len(families) == n_families > 2 and len({caution.facts for caution in alike}) == 1
            merged.append(Remark(code, () if everyone else families, sentence))
    return tuple(sorted(merged, key=lambda remark: remark.rank))


def _together(members: Sequence[Caution]) -> list[tuple[Sequence[Caution], str]]:
    """The warnings of one kind in as few sentences as their facts allow."""
    varying = {name: [caution.fact(name) for caution in members] for name, _ in members[0].facts}
    varying = {name: values for name, values in varying.items() if len(set(values)) > 1}
    numbers = [value for values in varying.values() for value in values]
    if _are_of_families(members) and _are_numbers(numbers) and (len(varying) == 1 or len(members) > MOST_NAMES):
        facts = dict(members[0].facts) | {name: Several(values) for name, values in varying.items()}
        return [(members, replace(members[0], facts=tuple(facts.items())).sentence)]
    same: dict[str, list[Caution]] = {}
    for member in members:
        same.setdefault(member.sentence, []).append(member)
    return [(alike, sentence) for sentence, alike in same.items()]


def _are_of_families(members: Sequence[Caution]) -> bool:
    """Whether each warning is about a family, with the same facts."""
    names = [name for name, _ in members[0].facts]
    return all(caution.family is not None and [name for name, _ in caution.facts] == names for caution in members)


def _are_numbers(values: Sequence[object]) -> bool:
    """Whether there are values, and all are numbers."""
    return bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
