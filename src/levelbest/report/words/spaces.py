"""What was searched, in words: the same in the terminal, on the page, in the methods paragraph and in the checklist."""

from __future__ import annotations

import json
from collections.abc import Sequence

from levelbest.report.words.phrases import shortened
from levelbest.trials.spaces import SearchSpace

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
NOT_RECORDED = "not recorded"


def parameter_words(given: object) -> str:
    """One parameter of a space: ``log-uniform from 0.0001 to 100``.

    Examples
    --------
    >>> parameter_words({"choice": ["sgd", "adam"], "when": {"layers": 2}})
    'one of sgd, adam where layers is 2'
    """
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
        return NOT_RECORDED
    if space.fixed:
        values = ", ".join(f"{own.name} {_text(own.value)}" for own in space.parameters[:_MOST_PARAMETERS])
        return f"one fixed configuration ({values})"
    ranges_first = sorted(space.searched, key=lambda own: own.kind == "choice")
    shown = [f"{own.name} {_in_short(own.given)}" for own in ranges_first[:_MOST_PARAMETERS]]
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
    if not rows:
        return "The search spaces were not recorded." if spaces else ""
    sentences = [f"{spaces_heading(spaces)}: {'; '.join(rows)}.", fixed_sentence(spaces)]
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
    return {own.name: _text(own.value) if own.fixed else parameter_words(own.given) for own in space.parameters}
