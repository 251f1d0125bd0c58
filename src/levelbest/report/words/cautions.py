"""Warnings in words: one sentence for each code and kind, from the facts."""

from __future__ import annotations

from collections.abc import Callable

from levelbest.cautions import Caution

__all__ = ["caution_sentence"]

# (code, kind) -> the sentence
_SENTENCES: dict[tuple[str, str], Callable[[Caution], str]] = {}


def caution_sentence(caution: Caution) -> str:
    """What a warning says, without the family's name."""
    return _SENTENCES[caution.code, caution.kind](caution)
