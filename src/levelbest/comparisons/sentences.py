"""Verdicts in words that a person can read aloud or put in a paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._plain import show_cost
from levelbest.comparisons.results import NOT_COMPARABLE, UNDECIDED, Verdict

__all__ = ["claim_sentence", "of_trials", "pair_sentence", "same_verdicts"]


def of_trials(family: str, n_trials: int, n_failed: int, failed: str) -> str:
    """``cnn: 50 trials, 3 failed and counted as the worst score``."""
    if not n_failed:
        return f"{family}: {n_trials} trials, none failed"
    if failed == "worst":
        return f"{family}: {n_trials} trials, {n_failed} failed and counted as the worst score"
    return f"{family}: {n_trials} trials, and {n_failed} failed ones dropped"


def _budgets(start: float, end: float, axis: str, unit: str | None) -> str:
    if axis == "cost":
        return f"{show_cost(start, unit)} to {show_cost(end, unit)}"
    return f"{start:g}" if start == end else f"{start:g} to {end:g}"


def pair_sentence(
    families: tuple[str, str],
    verdicts: Sequence[Verdict],
    *,
    axis: str,
    unit: str | None,
    confidence: float,
    scope: str,
    trials: tuple[str, str],
    extra: Sequence[str] = (),
    word: str = "trial",
) -> str:
    """One pair: who is better where, at which confidence, from how many trials; then what else there is to say."""
    first, second = families
    better: dict[str, list[str]] = {first: [], second: []}
    undecided, apart, reason = [], [], ""
    for one in verdicts:
        shown = _budgets(one.start, one.end, axis, unit)
        if one.verdict == NOT_COMPARABLE:
            apart.append(shown)
            reason = one.reason
        elif one.verdict == UNDECIDED:
            undecided.append(shown)
        else:
            better[one.verdict].append(shown)

    def at(ranges: Sequence[str]) -> str:
        if axis == "cost":
            return f"a budget of {_join(ranges)}"
        return f"1 {word}" if list(ranges) == ["1"] else f"{_join(ranges)} {word}s"

    parts = [
        f"{name} is better than {other} at {at(ranges)}"
        for name, other in ((first, second), (second, first))
        if (ranges := better[name])
    ]
    if not parts:
        parts.append(
            f"{first} and {second}: undecided at {at(undecided)}"
            if undecided
            else f"{first} and {second} are not comparable"
        )
    elif undecided:
        parts.append(f"undecided at {_join(undecided)}")
    if apart:
        parts.append(f"not comparable at {_join(apart)}{f' ({reason})' if reason else ''}")
    basis = f"{100 * confidence:g} % confidence {scope}; {trials[0]}; {trials[1]}"
    return " ".join([f"{'; '.join(parts)} ({basis}).", *extra])


def _join(ranges: Sequence[str]) -> str:
    return " and ".join(ranges) if len(ranges) < 3 else ", ".join(ranges[:-1]) + " and " + ranges[-1]


def claim_sentence(
    families: tuple[str, str], best: tuple[float, float], n_trials: tuple[int, int], score: str, direction: str
) -> str | None:
    """[D] section 5: a winner with the smaller budget wins; one with the larger proves nothing yet.

    More trials can only improve the best selection score, so the rule is for that score. None where the numbers of
    trials are equal or the best scores are.
    """
    if n_trials[0] == n_trials[1] or best[0] == best[1]:
        return None
    sign = 1.0 if direction == "max" else -1.0
    winner = int(np.argmax([sign * value for value in best]))
    loser = 1 - winner
    head = (
        f"As run, {families[winner]} found the better {score} ({best[winner]:.6g} in {n_trials[winner]} trials against "
        f"{best[loser]:.6g} in {n_trials[loser]})"
    )
    if n_trials[winner] < n_trials[loser]:
        return f"{head} with fewer trials: more trials for it could not undo that."
    return f"{head}, but it had more trials: that proves nothing yet."


def same_verdicts(one: Sequence[Verdict], other: Sequence[Verdict]) -> bool:
    """Whether two failure policies lead to the same winners: nobody's win turns into the other's or into nothing."""

    def winners(verdicts: Sequence[Verdict]) -> list[str]:
        return list(dict.fromkeys(v.verdict for v in verdicts if v.verdict not in (UNDECIDED, NOT_COMPARABLE)))

    return winners(one) == winners(other)
