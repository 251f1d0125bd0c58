"""Which template or function makes the sentence of which warning."""

from __future__ import annotations

from collections.abc import Callable

Sentence = Callable[..., str]
SENTENCES: dict[tuple[str, str], str | Sentence] = {}
"""(code, kind) -> the sentence: a template or, where grammar needs more, a function of the facts."""


def says(code: str, kind: str = "") -> Callable[[Sentence], Sentence]:
    """Register the function below as the sentence of a warning."""

    def register(sentence: Sentence) -> Sentence:
        SENTENCES[code, kind] = sentence
        return sentence

    return register
