"""What is compared with what: the families, their pairs, their scores, and what a reviewer would ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import IntArray
from levelbest.cautions import Caution
from levelbest.comparisons import sentences
from levelbest.comparisons.pairing import Pairing
from levelbest.errors import DataError, InputError
from levelbest.stats.contrasts import widest
from levelbest.trials import STATUSES, Scores, Trials

__all__ = [
    "Plan",
    "budget_grid",
    "cautions_of",
    "family_scores",
    "make_plan",
    "pairs_of",
    "scope_words",
    "trial_words",
]

_OK = STATUSES.index("ok")
_WHOLE = 100  # budgets up to which every one is compared; beyond, log-spaced ones
_POINTS = 60
_SAID_HERE = ("failures", "still-running", "no-reported")


@dataclass(frozen=True, eq=False)
class Plan:
    """Which families are compared with which."""

    names: tuple[str, ...]
    tables: tuple[Trials, ...]
    pairs: tuple[tuple[int, int], ...]


def make_plan(table: Trials, baseline: str | None) -> Plan:
    names = table.families
    return Plan(names, tuple(table[name] for name in names), pairs_of(names, baseline))


def pairs_of(names: tuple[str, ...], baseline: str | None) -> tuple[tuple[int, int], ...]:
    """Places of the families compared: every one with the baseline, or all with all."""
    if baseline is not None and baseline not in names:
        raise InputError(f"there is no family {baseline!r} to be the baseline; {_check.nearest_first(baseline, names)}")
    if len(names) < 2:
        only = f" and here is only {names[0]!r}" if names else ""
        raise InputError(
            f"a comparison needs at least two families,{only}; name the column that tells them apart with --family, or "
            "several files"
        )
    if baseline is None:
        return tuple(combinations(range(len(names)), 2))
    at = names.index(baseline)
    return tuple((i, at) for i in range(len(names)) if i != at)


def family_scores(plan: Plan, failed: str, missing: str, pairing: Pairing | None) -> list[Scores]:
    """Each family's scores, in the order of the pairs where there are pairs."""
    if pairing is None:
        return [one.scores(failed, missing=missing) for one in plan.tables]
    tables = [one.take(rows) for one, rows in zip(plan.tables, pairing.rows, strict=True)]
    found = [one.scores("worst", missing=missing) for one in tables]
    if failed == "drop":
        # a pair with a failure on either side is dropped whole
        kept = np.logical_and.reduce([np.isin(one.status, [_OK]) for one in tables])
        lost = [one.n_failed for one in tables]
        found = [one.take(np.flatnonzero(kept)).scores("worst", missing=missing) for one in tables]
        found = [replace(one, n_failed=k, failed="drop") for one, k in zip(found, lost, strict=True)]
    if len({one.n_trials for one in found}) > 1:
        raise InputError(
            "a paired design needs a reported score on both sides of every pair, and some are missing; compare "
            "unpaired or say that a missing one counts as the worst score"
        )
    return found


def budget_grid(n: npt.ArrayLike | None, sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> IntArray:
    reach = max(widest(sizes[a], sizes[b]) for a, b in pairs)
    if n is not None:
        asked = np.unique(_check.as_budgets(n)[0])
        most = max(min(sizes[a], sizes[b]) for a, b in pairs)
        inside = asked[asked <= most]
        if not inside.size:
            _check.as_budgets(asked, most)
        return inside
    if reach < 1:
        raise DataError(
            f"a comparison needs at least 2 finished trials in two families, and there are {', '.join(map(str, sizes))}"
        )
    if reach <= _WHOLE:
        return np.arange(1, reach + 1, dtype=np.int64)
    return np.unique(np.geomspace(1, reach, _POINTS).round().astype(np.int64))


def scope_words(n_pairs: int) -> str:
    """What the confidence is over."""
    return "over all these budgets" if n_pairs == 1 else f"over all budgets and {n_pairs} pairs"


def trial_words(plan: Plan, scores: Sequence[Scores], at: int, failed: str) -> tuple[str, str]:
    """How many trials and failures stand behind one pair."""
    words = [sentences.of_trials(plan.names[i], scores[i].n_trials, scores[i].n_failed, failed) for i in plan.pairs[at]]
    return words[0], words[1]


def cautions_of(
    table: Trials, plan: Plan, scores: Sequence[Scores], failed: str, while_running: bool = False, word: str = "trial"
) -> list[Caution]:
    """What a reviewer would ask about the trials compared."""
    not_said = (*_SAID_HERE, "fixed-sample") if while_running else _SAID_HERE
    said = [caution for caution in table.cautions if caution.code not in not_said]
    for name, one in zip(plan.names, scores, strict=True):
        if one.n_failed:
            how = "counted as the worst score" if failed == "worst" else "dropped, which flatters the family"
            of = one.n_trials + (one.n_failed if failed == "drop" else 0)
            said.append(Caution("failures", f"{one.n_failed} of {of} {word}s failed and are {how}", name, one.n_failed))
        if one.n_running and not while_running:
            message = (
                f"{one.n_running} {word}s still run: these limits hold for a sample fixed in advance, not at every "
                "look (--while-running has limits that do)"
            )
            said.append(Caution("fixed-sample", message, name, one.n_running))
        distinct = np.unique(one.curve_of).size
        if distinct < min(10, one.n_trials):
            message = f"only {distinct} distinct scores: bands for few values are less certain than they look"
            said.append(Caution("few-values", message, name, distinct))
    if scores[0].reported is None:
        message = f"validation only: {table.metric.selection} both selects the winner and is what is compared"
        said.append(Caution("no-reported", message))
    return said
