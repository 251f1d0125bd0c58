"""A study that still runs, in words: who is ahead, and what its limits are worth."""

from __future__ import annotations

from collections.abc import Sequence

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
