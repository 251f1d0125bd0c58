"""Warnings for reading: one for each matter, with all the families it concerns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from levelbest.cautions import Caution

__all__ = ["Remark", "remarks"]

_NUMBER = re.compile(r"(?:(?<![\w.)])-)?\d+(?:\.\d+)?(?:e[+-]?\d+)?%?")
_READING = ("guessed-columns", "converted-numbers", "skipped-rows")  # how the files were read: said last
_ONCE = ("no-reported", "selection-is-reported")  # one matter for all families, in whatever words
_MOST_NAMES = 5


@dataclass(frozen=True)
class Remark:
    """One warning to read: its code, the families it concerns (none: all of them) and what it says."""

    code: str
    families: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{_listed(self.families)}: {self.text}" if self.families else self.text


def remarks(cautions: Iterable[Caution], n_families: int = 0) -> tuple[Remark, ...]:
    """The warnings in their order, how files were read last; the same said of several families is said once.

    Messages that differ in their numbers alone are put together with the numbers in the families' order.
    """
    groups: dict[tuple[str, str], list[Caution]] = {}
    for one in dict.fromkeys(cautions):
        template = "" if one.code in _ONCE else _NUMBER.sub("#", one.sentence)
        groups.setdefault((one.code, template), []).append(one)
    found = []
    for (code, _), members in groups.items():
        if code in _ONCE:
            found.append(Remark(code, (), members[0].sentence))
            continue
        for part in _alike(members):
            families = tuple(dict.fromkeys(one.family for one in part if one.family is not None))
            everyone = len(families) == n_families > 2 and len({one.sentence for one in part}) == 1
            found.append(Remark(code, () if everyone else families, _merged([one.sentence for one in part])))
    return tuple(sorted(found, key=lambda one: one.code in _READING))


def _alike(members: Sequence[Caution]) -> list[list[Caution]]:
    """All together where one number differs at most; else by the very same message."""
    columns = zip(*(_NUMBER.findall(one.sentence) for one in members), strict=True)
    if sum(len(set(column)) > 1 for column in columns) <= 1:
        return [list(members)]
    same: dict[str, list[Caution]] = {}
    for one in members:
        same.setdefault(one.sentence, []).append(one)
    return list(same.values())


def _merged(messages: Sequence[str]) -> str:
    """One message for several that differ in their numbers alone."""
    if len(set(messages)) == 1:
        return messages[0]
    columns = list(zip(*(_NUMBER.findall(one) for one in messages), strict=True))
    shown = iter([_numbers(column) for column in columns])
    return _NUMBER.sub(lambda _: next(shown), messages[0])


def _numbers(column: Sequence[str]) -> str:
    if len(set(column)) == 1:
        return column[0]
    if len(column) > _MOST_NAMES:
        ordered = sorted(column, key=lambda one: float(one.rstrip("%")))
        return f"{ordered[0]} to {ordered[-1]}"
    return _listed(column)


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[: _MOST_NAMES - 1])} and {len(names) - _MOST_NAMES + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
