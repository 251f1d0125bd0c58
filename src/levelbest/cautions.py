"""Warnings as data: what a careful reviewer would raise, as a code, a number and the facts behind it.

The sentences are in `levelbest.report.words`: this layer contains no prose, and no code parses a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from levelbest._shown import Documented, presenter

__all__ = ["CODES", "Caution", "documents_of"]

CODES = frozenset(
    {
        "failures",
        "trend",
        "repeated-configurations",
        "grid",
        "adaptive-sampler",
        "nested-seeds",
        "averaged-runs",
        "stops-at-success",
        "fixed-configuration",
        "few-values",
        "ties",
        "selection-is-reported",
        "selection-uncorrelated",
        "leaky-reported",
        "missing-reported",
        "missing-costs",
        "judged",
        "no-reported",
        "unequal-groups",
        "outlier",
        "beyond-trials",
        "beyond-horizon",
        "extrapolated",
        "fixed-sample",
        "registered",
        "not-normal",
        "light-tails",
        "natural-bounds",
        "paired-design",
        "shared-splits",
        "guessed-columns",
        "converted-numbers",
        "skipped-rows",
        "still-running",
    }
)


@dataclass(frozen=True)
class Caution(Documented):
    """One warning. It never changes a number; it says how far to trust it.

    ``kind`` distinguishes sentences with the same code, and ``facts`` are the values in the sentence.
    """

    code: str
    family: str | None = None
    value: float | None = None
    kind: str = ""
    facts: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise AssertionError(
                f"unknown caution code {self.code!r}: add it to CODES, and its sentence to report/words"
            )

    @classmethod
    def of(
        cls, code: str, family: str | None = None, value: float | None = None, *, kind: str = "", **facts: object
    ) -> Caution:
        """A warning from its facts; lists are kept as tuples, so that equal warnings are one."""
        plain = tuple((name, tuple(fact) if isinstance(fact, list) else fact) for name, fact in facts.items())
        return cls(code, family, None if value is None else float(value), kind, plain)

    def fact(self, name: str, default: object = None) -> Any:
        """One fact by its name."""
        return dict(self.facts).get(name, default)

    @property
    def sentence(self) -> str:
        """What it says, without the family's name."""
        return presenter().sentences(self)[0]

    def __str__(self) -> str:
        return f"{self.family}: {self.sentence}" if self.family else self.sentence


class Cautioned(Protocol):
    """A result that carries warnings."""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Its warnings."""


def documents_of(results: Iterable[Cautioned]) -> list[dict[str, object]]:
    """The warnings of several results, each once, in the form that ``--json`` prints."""
    return [caution.to_dict() for caution in dict.fromkeys(c for result in results for c in result.cautions)]
