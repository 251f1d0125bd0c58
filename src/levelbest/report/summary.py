"""One sentence for many pairs: which family is better than all others, at which budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from levelbest.report.view import Family, Pair

__all__ = ["leaders", "summary_sentences"]

NOBODY = ""
BEYOND = "beyond"


def leaders(pairs: Sequence[Pair], families: Sequence[str]) -> list[tuple[int, int, str]]:
    """Ranges of budgets with the family that is better than every other, nobody, or no comparison at all."""
    last = int(max(one.end for pair in pairs for one in pair.ranges))
    found: list[tuple[int, int, str]] = []
    for n in range(1, last + 1):
        verdicts = [(pair.families, pair.verdict_at(n)) for pair in pairs]
        if all(verdict == "not comparable" for _, verdict in verdicts):
            label = BEYOND
        else:
            label = next((name for name in families if _beats_all(name, verdicts, families)), NOBODY)
        if found and found[-1][2] == label:
            found[-1] = (found[-1][0], n, label)
        else:
            found.append((n, n, label))
    return found


def _beats_all(name: str, verdicts: Iterable[tuple[tuple[str, str], str]], families: Sequence[str]) -> bool:
    beaten = {other for both, verdict in verdicts if verdict == name for other in both if other != name}
    return beaten == set(families) - {name}


def summary_sentences(
    pairs: Sequence[Pair], families: Sequence[Family], confidence: float, failed: str, word: str = "trial"
) -> tuple[str, str]:
    """The leader at every budget, ready to be read aloud; and the confidence, trials and failures behind it."""
    names = [one.name for one in families]
    ranges = leaders(pairs, names)
    parts = []
    for name in dict.fromkeys(label for _, _, label in ranges if label not in (NOBODY, BEYOND)):
        others = "the other" if len(names) == 2 else f"all {len(names) - 1} others"
        parts.append(f"{name} is better than {others} at {_budgets(ranges, name)} {word}s")
    if not parts:
        parts.append("no family is better than all others at any budget")
    elif any(label == NOBODY for _, _, label in ranges):
        parts.append(f"none is at {_budgets(ranges, NOBODY)}")
    conditions = [f"{100 * confidence:g} % confidence over all budgets and pairs", _trials(families, failed, word)]
    if any(label == BEYOND for _, _, label in ranges):
        conditions.append(f"not comparable at {_budgets(ranges, BEYOND)} {word}s, for want of {word}s")
    return f"{_capital('; '.join(parts))}.", f"{_capital('; '.join(conditions))}."


def _capital(text: str) -> str:
    """A sentence may begin with a family's name, which stays as it is written."""
    return text[0].upper() + text[1:] if text.startswith("no family") else text


def _budgets(ranges: Iterable[tuple[int, int, str]], label: str) -> str:
    shown = [f"{a}" if a == b else f"{a} to {b}" for a, b, name in ranges if name == label]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _trials(families: Sequence[Family], failed: str, word: str) -> str:
    counts = sorted({one.n_trials for one in families})
    many = f"{counts[0]} {word}s each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} {word}s"
    lost, total = sum(one.n_failed for one in families), sum(one.n_trials for one in families)
    if not lost:
        return f"{many}, none failed"
    if failed == "worst":
        return f"{many}, {lost} of {total} failed and count as the worst score"
    return f"{many}, {lost} failed and were dropped"
