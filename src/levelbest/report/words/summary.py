"""The verdict to read aloud: which family is better than all others, at which budgets, and what lies behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from levelbest.report.view import Family, Pair

__all__ = ["contenders", "leaders", "summary_sentences"]

NOBODY = ""
BEYOND = "\0"  # no family can be called so


def leaders(pairs: Sequence[Pair], families: Sequence[str]) -> list[tuple[int, int, str]]:
    """Ranges of budgets with the family that is better than every other, nobody, or no comparison at all."""
    last = int(max(one.end for pair in pairs for one in pair.ranges))
    found: list[tuple[int, int, str]] = []
    changes = {1, *(n for pair in pairs for one in pair.ranges for n in (math.ceil(one.start), int(one.end) + 1))}
    starts = sorted(n for n in changes if 1 <= n <= last)
    for n, after in zip(starts, [*starts[1:], last + 1], strict=True):
        verdicts = _verdicts(pairs, n)
        if all(verdict == "not comparable" for _, verdict in verdicts):
            label = BEYOND
        else:
            label = next((name for name in families if _beats_all(name, verdicts, families)), NOBODY)
        if found and found[-1][2] == label:
            found[-1] = (found[-1][0], after - 1, label)
        else:
            found.append((n, after - 1, label))
    return found


def contenders(pairs: Sequence[Pair], families: Sequence[str], n: int) -> list[str]:
    """The families that no other is better than at budget n; empty where some pair cannot be compared there.

    The bands hold for all pairs at once, so at their confidence the best family is one of these.
    """
    verdicts = _verdicts(pairs, n)
    if any(verdict == "not comparable" for _, verdict in verdicts):
        return []
    beaten = {other for both, verdict in verdicts for other in both if verdict in both and other != verdict}
    return [name for name in families if name not in beaten]


def _verdicts(pairs: Sequence[Pair], n: int) -> list[tuple[tuple[str, str], str]]:
    return [(pair.families, pair.verdict_at(n)) for pair in pairs]


def _beats_all(name: str, verdicts: Iterable[tuple[tuple[str, str], str]], families: Sequence[str]) -> bool:
    beaten = {other for both, verdict in verdicts if verdict == name for other in both if other != name}
    return beaten == set(families) - {name}


def summary_sentences(
    pairs: Sequence[Pair],
    families: Sequence[Family],
    confidence: float,
    failed: str,
    word: str = "trial",
    *,
    headline: int | None = None,
    problems: int | None = None,
) -> tuple[str, ...]:
    """The leader at every budget; the contenders at the headline budget; the confidence, trials and failures behind it;
    and what else a pair has to say."""
    names = [one.name for one in families]
    ranges = leaders(pairs, names)
    sentences = [_lead(ranges, names, word)]
    if headline is not None and len(names) > 2:
        left = contenders(pairs, names, headline)
        plural = "" if headline == 1 else "s"
        if 1 < len(left) < len(names):
            sentences.append(f"At {headline} {word}{plural} the best is one of {_listed(left)}.")
        elif len(left) == len(names):
            sentences.append(f"At {headline} {word}{plural} nothing is decided yet.")
    scope = "all budgets" if len(pairs) == 1 else "all budgets and pairs"
    conditions = [f"{100 * confidence:g} % confidence over {scope}", _trials(families, failed, word, problems)]
    if any(label == BEYOND for _, _, label in ranges):
        conditions.append(f"not comparable at {_budgets(ranges, BEYOND)} {word}s, {_why_not(pairs, word)}")
    if survival := _survival(pairs, failed, word):
        conditions.append(survival)
    sentences.append(f"{'; '.join(conditions)}.")
    if len(pairs) == 1 and pairs[0].claim:
        sentences.append(pairs[0].claim)
    return tuple(sentences)


def _why_not(pairs: Sequence[Pair], word: str) -> str:
    """Why budgets cannot be compared: mostly because trials are too few for them."""
    reasons = dict.fromkeys(one.reason for pair in pairs for one in pair.ranges if one.verdict == "not comparable")
    others = [reason for reason in reasons if reason and not reason.startswith("bands reach to")]
    return "; ".join(others) if others else f"for want of {word}s"


def _lead(ranges: Sequence[tuple[int, int, str]], names: Sequence[str], word: str) -> str:
    winners = list(dict.fromkeys(label for _, _, label in ranges if label not in (NOBODY, BEYOND)))
    if not winners and len(names) > 2:
        return "No family is better than all others at any budget."
    if not winners:
        if all(label == BEYOND for _, _, label in ranges):
            return f"{names[0]} and {names[1]} cannot be compared."
        return f"Undecided between {names[0]} and {names[1]} at {_with_word(ranges, NOBODY, word)}."
    parts = []
    for name in winners:
        others = next(one for one in names if one != name) if len(names) == 2 else f"all {len(names) - 1} others"
        parts.append(f"{name} is better than {others} at {_with_word(ranges, name, word)}")
    if any(label == NOBODY for _, _, label in ranges):
        parts.append(f"undecided at {_budgets(ranges, NOBODY)}")
    return f"{'; '.join(parts)}."


def _with_word(ranges: Iterable[tuple[int, int, str]], label: str, word: str) -> str:
    shown = _budgets(ranges, label)
    return f"1 {word}" if shown == "1" else f"{shown} {word}s"


def _budgets(ranges: Iterable[tuple[int, int, str]], label: str) -> str:
    return _listed([f"{a}" if a == b else f"{a} to {b}" for a, b, name in ranges if name == label])


def _listed(shown: Sequence[str]) -> str:
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _trials(families: Sequence[Family], failed: str, word: str, problems: int | None) -> str:
    counts = sorted({one.n_trials for one in families})
    of = "" if problems is None else f" of {problems} problem{'s' * (problems != 1)}"
    many = f"{counts[0]} {word}s{of} each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} {word}s{of}"
    if len(families) == 2 and len(counts) == 2:
        many = f"{families[0].name}: {families[0].n_trials} {word}s{of}, {families[1].name}: {families[1].n_trials}"
    lost, total = sum(one.n_failed for one in families), sum(one.n_trials for one in families)
    if not lost:
        return f"{many}, none failed"
    if failed == "worst":
        return f"{many}, {lost} of {total} failed and count as the worst score"
    return f"{many}, {lost} failed and were dropped"


def _survival(pairs: Sequence[Pair], failed: str, word: str) -> str:
    """Whether the winners stay the same under the other failure policy."""
    known = [pair for pair in pairs if pair.survives is not None]
    if not known:
        return ""
    how = "dropped" if failed == "worst" else "counted as the worst score"
    changed = sum(not pair.survives for pair in known)
    if not changed:
        return f"the same families win with failed {word}s {how}"
    if len(known) == 1:
        return f"the winner changes with failed {word}s {how}"
    return f"with failed {word}s {how} the winner changes in {changed} of {len(known)} pairs"
