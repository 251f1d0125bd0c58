"""Sentences about a running study: who is ahead, and how its limits are to be read."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest.report.words.answers import Answer, Piece, any_of, text_of
from levelbest.report.words.phrases import all_others, beaten_words
from levelbest.results import TRIALS

Ahead = tuple[str, str, tuple[tuple[int, int], ...]]
"""Family, the one it is ahead of, and at which budgets: first and last of each range."""

NOTES = {
    "no-score": (
        "The study names no selection score with a direction, so no curve is drawn while it runs; the report chooses "
        "the columns when it is finished."
    ),
    "pending": "Limits are still being computed; those shown are valid, and will narrow.",
    "few-planned": "Fewer than {first} trials are planned: no confidence limits are valid at every look.",
    "no-look": "There are no limits before the first look, at {first} finished trials of a family's plan.",
    "contradict": (
        "Looks contradict each other at some budgets, and no limits are shown there: one of them misses, or the trials "
        "are not a random sample in this order."
    ),
}
"""What is to be known of the limits, by its code."""


DIFFERS = (
    "While the study runs, medians are compared, at every look; its report compares means, once, at the end: the two "
    "verdicts may differ."
)
"""Why the live page and the report may not say the same."""
TO_COME = {"too_few": "still to come", "too_few_short": "to come", "apart": "trials still to come"}
"""What a page says of budgets beyond those that a running study has reached."""


_MOST_RANGES = 5
Stretch = tuple[int, int, int, Sequence[int]]
"""First and last budget, the place of the family ahead of all others or -1, and of those that nobody is ahead of."""


def answer_so_far(ribbon: Sequence[Stretch], names: Sequence[str], headline: int) -> Answer | None:
    """The answer at the headline budget, or at the last before it that can be spoken of, in the words of a report; None
    before the first look.

    Examples
    --------
    >>> str(answer_so_far([(1, 3, -1, [0, 1]), (4, 9, 1, [])], ["lr", "cnn", "mlp"], 5))
    'With 5 trials, so far: cnn, better than both others.'
    """
    if not ribbon or len(names) < 2:
        return None
    budget = min(headline, ribbon[-1][1])
    _, _, best, places = next(part for part in ribbon if budget <= part[1])
    possible = [names[place] for place in (places if best < 0 else [best])]
    rest: tuple[Piece, ...] = (Piece(beaten_words(len(names) - len(possible))),)
    if best >= 0:
        others = [name for name in names if name not in possible]
        alone = len(others) == 1
        rest = (Piece(", better than "), Piece(others[0] if alone else all_others(len(others)), is_family=alone))
    return Answer(f"with {TRIALS.count(budget)}, so far", any_of(possible, len(names)), rest)


def ranges_so_far(ribbon: Sequence[Stretch], names: Sequence[str]) -> str:
    """Where the answer changes; of many stretches those with a family that is ahead of all others.

    Examples
    --------
    >>> ranges_so_far([(1, 3, -1, [0, 1]), (4, 9, 1, [])], ["lr", "cnn", "mlp"])
    '1 to 3 trials: lr or cnn; 4 to 9: cnn.'
    """
    shown = ribbon if len(ribbon) <= _MOST_RANGES else [part for part in ribbon if part[2] >= 0][:_MOST_RANGES]
    clauses: list[str] = []
    for start, end, best, places in shown:
        budgets = f"{start}" if start == end else f"{start} to {end}"
        unit = "" if clauses else f" {TRIALS.unit if end == 1 else TRIALS.units}"
        who = text_of(any_of([names[place] for place in (places if best < 0 else [best])], len(names)))
        clauses.append(f"{budgets}{unit}: {who}")
    return f"{'; '.join(clauses)}." if len(ribbon) > 1 and clauses else ""


def ahead_words(ahead: Sequence[Ahead] | None) -> str:
    """Who is ahead at which budgets; "undecided", and empty before the first look.

    Examples
    --------
    >>> ahead_words([("cnn", "lr", ((1, 3), (7, 7)))])
    'cnn is ahead of lr at 1 to 3, 7 trials'
    """
    if ahead is None:
        return ""
    clauses = []
    for better, worse, ranges in ahead:
        parts = [str(start) if start == end else f"{start} to {end}" for start, end in ranges]
        unit = "trial" if parts == ["1"] else "trials"
        clauses.append(f"{better} is ahead of {worse} at {', '.join(parts)} {unit}")
    return "; ".join(clauses) or "undecided"
