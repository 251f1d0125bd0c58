"""The state of a running study: curves with limits that are valid at every look; each look is computed once.

The curves are the median best on the finished prefix of each family's plan. The limits are those of
``anytime_quantile_interval``, simultaneous over families: the error rate is divided among them, so bands that do not
overlap are a verdict.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from levelbest._check import BoolArray, FloatArray, IntArray
from levelbest._ledger.chain import Chain, LedgerFamily
from levelbest._plain import plain
from levelbest.report.words.running import Ahead, Stretch
from levelbest.run.study import Judge

CONFIDENCE, FIRST = 0.95, 10
"""Confidence of all bands at all looks, and trials at the first look."""
_MOST_BUDGETS = 40


@dataclass
class _Kept:
    """One family's curve as far as it is computed."""

    low: FloatArray
    high: FloatArray
    done: set[int] = field(default_factory=set)
    """Sizes of the looks that are in the limits."""
    prefix: int = -1
    n_failed: int = 0
    scores: FloatArray = field(default_factory=lambda: np.zeros(0))
    value: FloatArray = field(default_factory=lambda: np.zeros(0))


class LiveStanding:
    """The curves of a ledger, and who is ahead. ``step`` does one piece of what is to do, so that none waits long."""

    def __init__(self, chain: Chain, judge: Judge, headline: int = 1) -> None:
        # Imported now, so that the first step takes no longer than any other.
        import levelbest.stats.bands._anytime
        import levelbest.stats.bands._quantiles
        import levelbest.stats.best._order  # noqa: F401

        self._chain, self._judge, self._headline = chain, judge, headline
        self._names: tuple[str, ...] = ()
        self._kept: dict[str, _Kept] = {}
        self._grid: IntArray = np.ones(1, dtype=np.int64)

    def step(self) -> bool:
        """Bring values up to date and compute one look, the latest first; whether there is more to do."""
        families = {family.name: family for family in self._chain.families.values()}
        if self._judge.selection is None or self._judge.direction is None or not families:
            return False
        if tuple(families) != self._names:  # a family joined: the error rate is divided again
            self._names = tuple(families)
            # From the first plan: what limits are computed for must not follow what was seen.
            most = max(family.n_planned_first for family in families.values())
            spread = np.geomspace(1, max(most, 1), _MOST_BUDGETS).round().astype(np.int64)
            self._grid = np.unique([*spread, self._headline])
            self._kept = {
                name: _Kept(np.full(self._grid.size, -np.inf), np.full(self._grid.size, np.inf)) for name in families
            }
        todo = []
        for name, family in families.items():
            kept = self._kept[name]
            if family.prefix != kept.prefix:
                self._values(family, kept)
            todo += [(size, level, name) for size, level in self._looks(family) if size not in kept.done]
        if not todo:
            return False
        size, level, name = max(todo)
        self._look(self._kept[name], size, level)
        return len(todo) > 1

    def _looks(self, family: LedgerFamily) -> list[tuple[int, float]]:
        from levelbest.stats.bands import looks

        if family.n_planned_first < FIRST:
            return []
        each = 1 - (1 - CONFIDENCE) / len(self._names)
        return looks(family.prefix, each, first=FIRST, last=family.n_planned_first)

    def _values(self, family: LedgerFamily, kept: _Kept) -> None:
        """The curve itself, for every budget up to the number of trials; a failed trial is worse than every score."""
        from levelbest.stats.best import quantile_best

        kept.prefix = family.prefix
        scores = family.scores(str(self._judge.selection))
        failed = np.isnan(scores)
        kept.n_failed = int(failed.sum())
        if failed.all():
            kept.value = np.full(0, np.nan)
            kept.scores = scores
            return
        best = self._judge.direction == "max"
        worst = scores[~failed].min() if best else scores[~failed].max()
        filled = np.where(failed, worst, scores)
        inside = self._grid[self._grid <= scores.size]
        kept.value = np.asarray(quantile_best(filled, inside, direction=str(self._judge.direction)))
        kept.scores = scores

    def _look(self, kept: _Kept, size: int, level: float) -> None:
        from levelbest.stats.bands import quantile_interval

        kept.done.add(size)
        scores = kept.scores[:size]
        failed = np.isnan(scores)
        if failed.all():
            return
        best = self._judge.direction == "max"
        least, most = float(scores[~failed].min()), float(scores[~failed].max())
        # Below every score, and marked: a limit that is a failed trial is no limit.
        filler = least - 1 - abs(least) if best else most + 1 + abs(most)
        limits = quantile_interval(
            np.where(failed, filler, scores),
            self._grid,
            confidence=level,
            simultaneous=True,
            direction=str(self._judge.direction),
        )
        low, high = np.asarray(limits.low, dtype=np.float64), np.asarray(limits.high, dtype=np.float64)
        low = np.where(low < least, -np.inf, np.where(low > most, most, low))
        high = np.where(high > most, np.inf, np.where(high < least, least, high))
        kept.low, kept.high = np.maximum(kept.low, low), np.minimum(kept.high, high)

    def curves(self) -> list[dict[str, object]]:
        """One curve per family with a score, as plain JSON; an absent limit is null."""
        curves = []
        for name, kept in self._kept.items():
            count = kept.value.size
            if not count:
                continue
            low, high = self._limits(kept)
            curves.append(
                {
                    "family": name,
                    "x": plain(self._grid[:count]),
                    "value": [float(f"{height:.7g}") for height in kept.value],
                    "low": plain(low[:count]),
                    "high": plain(high[:count]),
                    "n_trials": kept.prefix,
                    "looked_at": max(kept.done, default=0),
                    "contradict": bool((kept.low > kept.high).any()),
                }
            )
        return curves

    def _limits(self, kept: _Kept) -> tuple[FloatArray, FloatArray]:
        """Where looks contradict each other there are no limits to show."""
        wrong = kept.low > kept.high
        return np.where(wrong, -np.inf, kept.low), np.where(wrong, np.inf, kept.high)

    def ahead(self) -> list[Ahead] | None:
        """Who is ahead of whom at which budgets: where two bands are apart. None before the first look."""
        ready = {name: kept for name, kept in self._kept.items() if kept.done}
        if len(ready) < 2:
            return None
        ahead = []
        for (a, first), (b, second) in itertools.permutations(ready.items(), 2):
            count = min(first.value.size, second.value.size)
            (low_a, high_a), (low_b, high_b) = self._limits(first), self._limits(second)
            apart = low_a > high_b if self._judge.direction == "max" else high_a < low_b
            if apart[:count].any():
                ahead.append((a, b, _ranges(self._grid[:count], apart[:count])))
        return ahead

    def decided(self, budget: int) -> bool:
        """Whether, of every two families, one is ahead at this budget, by all looks that are due."""
        while self.step():
            pass
        ahead = self.ahead() or ()
        there = {frozenset((a, b)) for a, b, ranges in ahead if any(low <= budget <= high for low, high in ranges)}
        return len(there) == len(self._names) * (len(self._names) - 1) // 2 > 0

    def ribbon(self) -> list[Stretch]:
        """Stretches of budgets with the same contenders, as a page draws them: first and last budget, the place of the
        family that is ahead of all others (-1 where nobody is), and the places of those that nobody is ahead of."""
        ahead, places = self.ahead(), {name: place for place, name in enumerate(self._names)}
        count = min((kept.value.size for kept in self._kept.values() if kept.done), default=0)
        parts: list[Stretch] = []
        for budget in self._grid[:count].tolist() if ahead is not None else ():
            won = [(a, b) for a, b, ranges in ahead or () if any(low <= budget <= high for low, high in ranges)]
            beaten = {b for _, b in won}
            best = next((a for a in places if sum(first == a for first, _ in won) == len(places) - 1), None)
            possible = [place for name, place in places.items() if name not in beaten] if best is None else []
            code = -1 if best is None else places[best]
            start = parts.pop()[0] if parts and parts[-1][2:] == (code, possible) else budget
            parts.append((start, budget, code, possible))
        return parts

    @property
    def note(self) -> str:
        """What is to be known of the limits, as a code of ``report.words.running``; empty where nothing is."""
        if self._judge.selection is None or self._judge.direction is None:
            return "no-score"
        if all(family.n_planned_first < FIRST for family in self._chain.families.values()):
            return "few-planned"
        curves = self.curves()
        if not any(curve["looked_at"] for curve in curves):
            return "no-look"
        return "contradict" if any(curve["contradict"] for curve in curves) else ""


def _ranges(budgets: IntArray, chosen: BoolArray) -> tuple[tuple[int, int], ...]:
    """Budgets that follow each other, as first and last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int8), [0]])))
    return tuple(
        (int(budgets[start]), int(budgets[stop - 1])) for start, stop in zip(edges[::2], edges[1::2], strict=True)
    )
