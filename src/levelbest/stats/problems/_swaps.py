"""Swapping two systems within problems: the test behind verdicts over problems.

Where two systems do equally well on every problem, the two may be swapped within any of them: that changes the signs of
the problem's differences, at all budgets together, and nothing else. So the rank of the observed statistic among all
2^problems patterns of signs is an exact p-value, for any number of problems, weights and ties. Where the systems differ
from problem to problem but not on average it is, like a paired t test, right for many problems.

The statistic at a budget is sum(w d) / sqrt(sum(w^2 d^2)), which no swap scales; it grows with the paired t. Budgets of
one pair of systems are tested by their largest statistics, stepping down (Westfall and Young 1993). A budget named in
advance is tested before the others, by its own statistic, and they are tested only where it is rejected (a fixed
sequence, which keeps the pair's level). A pair tests its budgets at the level over the number of pairs that still have
a budget to decide: when a true hypothesis is first rejected, all true ones are still there, so that the familywise
error stays below the level (Bonferroni over pairs).

Up to 2^15 patterns are enumerated. Beyond, patterns are drawn until the Monte Carlo error of the p-values cannot
change what is rejected, or as many as are allowed: (1 + patterns that reach it) / (1 + patterns) then decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.stats.contrasts import FIRST_DRAWS, MOST_DRAWS, likely_ends

BoolArray = npt.NDArray[np.bool_]

ENUMERATED = 16
"""Up to so many problems with a difference every pattern of signs is gone through (the first sign changes nothing)."""
_SMOOTH = 1e-3
"""Where no problem holds more than this share of sum(w^2 d^2), sums over swapped problems are drawn from their normal
limit: the fourth cumulant is then below 2e-3, which moves a p-value by less than a hundredth of itself."""
_SLACK = 1e-9  # statistics this close in proportion are one pattern added up in another order
_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class SwapTest:
    """What swapping decides for each pair of systems and budget: (pair, n) each."""

    certified: IntArray
    """1 where the first system is better, -1 where the second is, 0 undecided."""
    p_value: FloatArray
    """Adjusted for all budgets and pairs tested together; NaN where no problem differs or none is known."""
    smallest: FloatArray
    """The least p-value that each pair could reach with its number of problems, before any adjustment."""
    n_swaps: int
    """The largest number of patterns looked at for a pair."""
    enumerated: bool
    """Whether these were all patterns, for every pair."""
    settled: BoolArray
    """By pair: no further draw could change what is certified."""


def swap_test(
    differences: Sequence[FloatArray],
    weights: FloatArray | None,
    level: float,
    *,
    together: bool,
    rng: np.random.Generator,
    first: int | None = None,
) -> SwapTest:
    """Test each pair's differences, (problem, n) with NaN for unknown, at a familywise ``level``.

    ``together``: over all budgets and pairs; otherwise each budget of each pair alone. ``first`` is the place of a
    budget that was named in advance.
    """
    streams = rng.spawn(len(differences))
    tests = [_Swapped(part, weights, together, own, first) for part, own in zip(differences, streams, strict=True)]
    while True:
        ends = [test.ends() for test in tests]
        surely, perhaps = (
            _step_down(np.stack([end[side] for end in ends]), level, together=together) for side in (1, 0)
        )
        left = (surely != perhaps).any(axis=1)
        if not left.any():
            break
        drew = [test.draw_more() for test, is_open in zip(tests, left, strict=True) if is_open]
        if not any(drew):
            break
    own = np.stack([test.p_value() for test in tests])
    signs = np.stack([np.sign(test.statistic) for test in tests]).astype(np.int64)
    return SwapTest(
        certified=np.where(_step_down(own, level, together=together), signs, 0),
        p_value=_adjusted(own) if together else own,
        smallest=np.array([test.smallest for test in tests]),
        n_swaps=max(test.drawn for test in tests),
        enumerated=all(test.enumerated for test in tests),
        settled=(surely == perhaps).all(axis=1),
    )


class _Swapped:
    """One pair: its statistics, and how many of the patterns looked at so far reach each."""

    def __init__(
        self,
        differences: FloatArray,
        weights: FloatArray | None,
        together: bool,
        rng: np.random.Generator,
        first: int | None,
    ) -> None:
        rows = np.where(np.isnan(differences), 0.0, differences)
        if weights is not None:
            rows = rows * (weights / weights.max())[:, None]
        rows = rows[(rows != 0).any(axis=1)]
        scale = np.sqrt(np.square(rows).sum(axis=0))
        self.testable = scale > 0
        self.rows = rows / np.where(self.testable, scale, 1.0)
        self.statistic = self.rows.sum(axis=0)
        # the largest statistic first: each is compared with the largest of itself and of those after it
        self.order = np.argsort(-np.abs(self.statistic), kind="stable")
        self.n_named = int(together and first is not None and bool(self.testable[first]))
        if self.n_named:
            self.order = np.r_[first, self.order[self.order != first]].astype(np.int64)
        self.threshold = np.abs(self.statistic)[self.order] * (1 - _SLACK)
        self.together = together
        self.rng = rng
        self.reached: IntArray = np.zeros(self.statistic.size, dtype=np.int64)
        self.drawn = 0
        self.enumerated = self.rows.shape[0] <= ENUMERATED
        self.smallest = min(1.0, 2.0 ** (1 - self.rows.shape[0]))
        self.root: FloatArray | None = None
        """Of the covariance of the statistics under swaps, where their normal limit serves."""
        if self.rows.size and float(np.square(self.rows).max()) <= _SMOOTH:
            values, axes = np.linalg.eigh(self.rows.T @ self.rows)
            self.root = np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))
        if self.enumerated:
            for signs in _all_signs(self.rows.shape[0]):
                self._count(signs @ self.rows)

    def _count(self, statistics: FloatArray) -> None:
        sizes = np.abs(statistics[:, self.order])
        if self.together:
            band = sizes[:, self.n_named :]
            band[:] = np.maximum.accumulate(band[:, ::-1], axis=1)[:, ::-1]
        self.reached += (sizes >= self.threshold).sum(axis=0)
        self.drawn += statistics.shape[0]

    def draw_more(self) -> bool:
        """Look at as many patterns again; False where no more are allowed."""
        if self.enumerated or self.drawn >= MOST_DRAWS:
            return False
        left = min(max(self.drawn, FIRST_DRAWS), MOST_DRAWS - self.drawn)
        n_rows, n_budgets = self.rows.shape
        piece = max(1, _CELLS // (n_rows if self.root is None else n_budgets))
        while left > 0:
            size = min(piece, left)
            if self.root is None:
                signs = 2.0 * self.rng.integers(0, 2, (size, n_rows), dtype=np.int8) - 1.0
                self._count(signs @ self.rows)
            else:
                self._count(self.rng.standard_normal((size, n_budgets)) @ self.root.T)
            left -= size
        return True

    def p_value(self) -> FloatArray:
        """By budget, adjusted for the other budgets of the pair where they are tested together."""
        whole = self.enumerated and self.drawn > 0
        return self._spread(self.reached / self.drawn if whole else (self.reached + 1) / (self.drawn + 1))

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The p-values' lower and upper ends."""
        if self.enumerated:
            return self.p_value(), self.p_value()
        low, high = likely_ends(self.reached, self.drawn)
        return self._spread(low), self._spread(high)

    def _spread(self, values: FloatArray) -> FloatArray:
        """From the order of the statistics to that of the budgets; a later one is never more significant."""
        out = np.empty(values.size)
        out[self.order] = np.maximum.accumulate(values) if self.together else values
        return np.where(self.testable, out, np.nan)


def _all_signs(size: int) -> Iterator[FloatArray]:
    """Every pattern of signs whose first is +, in pieces; the others are their mirror images."""
    if size == 0:
        return
    patterns = np.arange(1 << (size - 1))
    for start in range(0, patterns.size, 1 << 12):
        bits = patterns[start : start + (1 << 12), None] >> np.arange(size - 1) & 1
        yield np.column_stack([np.ones(bits.shape[0]), 1.0 - 2.0 * bits])


def _step_down(p_values: FloatArray, level: float, *, together: bool) -> BoolArray:
    """What is rejected, (pair, n), of p-values that are already adjusted within each pair; NaN never is."""
    with np.errstate(invalid="ignore"):
        if not together:
            return np.asarray(p_values <= level)
        rejected = np.zeros(p_values.shape, dtype=bool)
        while True:
            left = (~rejected & ~np.isnan(p_values)).any(axis=1).sum()
            now = np.asarray(p_values <= level / max(left, 1))
            if (now == rejected).all():
                return rejected
            rejected = now


def _adjusted(p_values: FloatArray) -> FloatArray:
    """The least familywise level at which `_step_down` rejects each.

    With the pairs in the order of their largest p-values M, the first t of them are decided throughout from the level
    e_t = max(e_{t-1}, M_t (pairs - t + 1)) on, and another pair's p-value then counts (pairs - t) times.
    """
    known: BoolArray = ~np.isnan(p_values)
    largest = np.where(known, p_values, 0.0).max(axis=1)
    order = [int(i) for i in np.argsort(largest, kind="stable") if known[i].any()]
    out = p_values.copy()
    for place, pair in enumerate(order):
        best, needed = np.full(p_values.shape[1], np.inf), 0.0
        for before in range(place + 1):
            left = len(order) - before
            best = np.minimum(best, np.maximum(needed, left * p_values[pair]))
            needed = max(needed, left * largest[order[before]])
        out[pair] = np.where(known[pair], np.minimum(best, 1.0), np.nan)
    return out
