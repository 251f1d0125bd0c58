"""The words of a keep/discard log: what a status decides, which notes speak of one version, which labels of none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from levelbest.readers.raw import Cells, is_numeric, texts
from levelbest.readers.steps.cells import status_of
from levelbest.readers.steps.names import tokens

KEPT, DISCARDED, CRASHED, RAN = "keep", "discard", "crash", "ran"
"""What a word decides; `RAN` says only that a run came to its end."""
_KEEP = (
    "keep kept keeper best new_best improved improvement accepted accept win winner tentative merged baseline champion "
    "promoted adopted retained"
)
_DISCARD = (
    "discard discarded drop dropped revert reverted rejected reject worse no_improvement neutral skip skipped rollback "
    "no_op noop unchanged abandoned regressed regression"
)
_RAN = "ok okay pass passed success successful succeeded complete completed done finished"
_DECIDED = dict.fromkeys(_KEEP.split(), KEPT) | dict.fromkeys(_DISCARD.split(), DISCARDED)
_DECIDED |= dict.fromkeys(_RAN.split(), RAN)
_DENIED = frozenset({"no", "not", "non"})
STATUS = ("status", "decision", "outcome", "verdict", "result", "kept", "keep", "action", "state")
_FLAGGED = ("kept", "keep", "improved", "improvement", "accepted", "is_best", "merged")
_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
"""A column of such a name may answer with yes or no instead."""
_MOST_WORDS = 6
_NAMELESS = frozenset(
    {
        "",
        "-",
        "--",
        "?",
        "n/a",
        "na",
        "none",
        "null",
        "nan",
        "head",
        "unknown",
        "tbd",
        "todo",
        "wip",
        "pending",
        "local",
    }
    | {"uncommitted", "dirty", "working tree", "working-tree", "untracked", "same", "0000000"}
)
_BASELINE = re.compile(r"(new |re-?)?baseline( run)?")
_OF_A_RUN = re.compile(r"\b(seed|run|rep|repeat|trial|try)s?\s*[#=:]?\s*\d+\b")
_AGAIN = re.compile(
    r"\b(re-?runs?|repeat\w*|replica\w*|seeds?|verif\w*|confirm\w*|again|sanity|reproduc\w*|re-?eval\w*)\b"
)


def decision(word: str) -> str:
    """What a word of the status column decides; empty where it is no such word."""
    plain = tokens(word)
    known = _DECIDED.get("_".join(plain)) or (_DECIDED.get(plain[0]) if plain else None)
    if known is not None:
        return known
    if status_of(word) in ("failed", "diverged") or (plain and status_of(plain[0]) in ("failed", "diverged")):
        return CRASHED
    within = {_DECIDED[token] for token in plain if token in _DECIDED}
    if KEPT in within and _DENIED & {*plain}:
        return DISCARDED
    return within.pop() if len(within) == 1 else DISCARDED if _DENIED & {*plain} and "better" in plain else ""


def decision_words(columns: Mapping[str, Cells], by_name: Mapping[str, str]) -> Sequence[object]:
    """The decision of every row in a word: of a column known by its name, or by its words, or that says yes or no."""
    for name in STATUS:
        if name in by_name and not is_numeric(columns[by_name[name]]) and not _is_flag(columns[by_name[name]]):
            return list(texts(columns[by_name[name]]))
    for cells in columns.values():
        words = set() if is_numeric(cells) else {str(text) for text in texts(cells) if text is not None}
        if 2 <= len(words) <= _MOST_WORDS and all(map(decision, words)):
            return list(texts(cells))
    flags = next(
        (columns[by_name[name]] for name in _FLAGGED if name in by_name and _is_flag(columns[by_name[name]])), None
    )
    if flags is None:
        return [None] * len(next(iter(columns.values())))
    return [None if cell is None else KEPT if str(cell).lower() in _YES else DISCARDED for cell in texts(flags)]


def _is_flag(cells: Cells) -> bool:
    words = {str(text).lower() for text in texts(cells) if text is not None}
    return bool(words) and words <= {*_YES, *_NO}


def names_nothing(label: str) -> bool:
    """Whether a label stands where none was known: ``n/a``, ``HEAD``."""
    return label.strip().lower() in _NAMELESS


def says_baseline(text: str) -> bool:
    """Whether a status or a note says no more than that this is a baseline."""
    head = re.split(r"[(:;,]|\s[-–—]\s", text.strip().lower(), maxsplit=1)[0].strip()
    return _BASELINE.fullmatch(_OF_A_RUN.sub("", head).strip()) is not None


def is_baseline(word: str, note: str, decided: str) -> bool:
    """Whether a row says that it is a baseline, and was not discarded."""
    return says_baseline(word) or (decided not in (DISCARDED, CRASHED) and says_baseline(note))


def same_note(first: str, other: str) -> bool:
    """Whether two notes under one label speak of one version: alike but for the run, or one of them of a run again."""
    plain, again = (_OF_A_RUN.sub("", note.strip().lower()).strip(" -:;,.()") for note in (first, other))
    return not plain or not again or plain == again or _AGAIN.search(other.lower()) is not None
