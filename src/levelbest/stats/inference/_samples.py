"""Samples of problems: the influence of each sample on the value of its problem, and values under permutation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from levelbest._check import BoolArray, FloatArray, IntArray
from levelbest.stats.bands import Ranked
from levelbest.stats.best import Sample
from levelbest.stats.inference._paired import leave_one_out
from levelbest.stats.inference._trials import pooled
from levelbest.stats.inference._units import Labels, all_assignments, permuted

Chance = Callable[[IntArray, IntArray, IntArray], FloatArray]
"""Of successes, samples and budgets: the value of each problem at each budget."""
_PERMUTED_AT_ONCE = 1 << 22


class Deviations(NamedTuple):
    """How the samples of one problem move its value: centred pseudo-values of the jackknife."""

    counts: FloatArray
    """(problem, kind): how many samples are of each kind."""
    values: FloatArray
    """(problem, kind, node)."""


class ProblemSamples:
    """One system's samples of each problem, turned so that higher is better."""

    n: IntArray
    sizes: IntArray
    values: FloatArray
    """(problem, node): NaN where a problem has fewer samples."""
    lowest: float
    highest: float

    def at(self, n: IntArray) -> ProblemSamples:
        """The same at other budgets."""
        raise NotImplementedError

    def deviations(self) -> Iterator[tuple[IntArray, Deviations]]:
        """Of some problems at a time."""
        raise NotImplementedError

    def contributions(
        self, others: Sequence[Self], size: int, k: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Values of this system and the others with samples exchanged: (system, assignment, problem, node)."""
        raise NotImplementedError

    def assigned(self, others: Sequence[Self], problem: int, k: int) -> FloatArray:
        """The same of one problem for all assignments: (system, assignment, node)."""
        raise NotImplementedError

    def varies(self, others: Sequence[Self]) -> BoolArray:
        """The problems whose samples are not all alike."""
        raise NotImplementedError


class CountSamples(ProblemSamples):
    """Samples with scores of two values: successes say all.

    Parameters
    ----------
    won, sizes
        Successes and samples of each problem.
    n
        Budgets, increasing.
    chance
        The value of a problem by its counts, such as `pass_at_k`.
    """

    lowest, highest = 0.0, 1.0

    def __init__(self, won: IntArray, sizes: IntArray, n: IntArray, chance: Chance) -> None:
        self.won, self.sizes, self.n, self.chance = won, sizes, n, chance
        self.values = self._valued(won, sizes, n)

    def at(self, n: IntArray) -> CountSamples:
        """The same at other budgets."""
        return CountSamples(self.won, self.sizes, n, self.chance)

    def _valued(self, won: IntArray, sizes: IntArray, n: IntArray) -> FloatArray:
        return np.asarray(self.chance(won, sizes, n)).reshape(won.size, n.size)

    def deviations(self) -> Iterator[tuple[IntArray, Deviations]]:
        """Of successes and of failures."""
        m, fewer = self.sizes[:, None], np.maximum(self.sizes - 1, 1)
        n = self.n[self.n <= fewer.max()]
        left = np.full((self.won.size, 2, self.n.size), np.nan)
        left[:, 0, : n.size] = self._valued(np.maximum(self.won - 1, 0), fewer, n)
        left[:, 1, : n.size] = self._valued(np.minimum(self.won, fewer), fewer, n)
        counts = np.stack([self.won, self.sizes - self.won], axis=1).astype(np.float64)
        mean = np.einsum("pc,pcn->pn", counts, left) / m
        yield np.arange(self.won.size), Deviations(counts, (m - 1)[:, :, None] * (mean[:, None] - left))

    def contributions(
        self, others: Sequence[Self], size: int, k: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Successes that fall to each system are hypergeometric."""
        systems = (self, *others)
        step = max(1, _PERMUTED_AT_ONCE // (size * k * len(systems)))
        won, total = (np.sum([getattr(system, name) for system in systems], axis=0) for name in ("won", "sizes"))
        n, tables = self.n[:k], [system.table(k) for system in systems]
        for start in range(0, won.size, step):
            cut = np.arange(start, min(start + step, won.size))
            out = np.empty((len(systems), size, cut.size, n.size))
            good, bad = (np.broadcast_to(system[cut], out.shape[1:3]) for system in (won, total - won))
            for f, (system, (starts, values)) in enumerate(zip(systems, tables, strict=True)):
                last = f == len(systems) - 1
                fell = good if last else rng.hypergeometric(good, bad, system.sizes[cut])
                out[f] = values[starts[cut] + fell]
                good, bad = good - fell, bad - (system.sizes[cut] - fell)
            yield cut, out

    def table(self, k: int) -> tuple[IntArray, FloatArray]:
        """Values of every possible count, and where those of each problem start."""
        sizes, kind = np.unique(self.sizes, return_inverse=True)
        starts = np.cumsum(sizes + 1) - (sizes + 1)
        won = np.concatenate([np.arange(size + 1) for size in sizes])
        return starts[kind.ravel()], self._valued(won, np.repeat(sizes, sizes + 1), self.n[:k])

    def assigned(self, others: Sequence[Self], problem: int, k: int) -> FloatArray:
        """Every way in which the successes may fall."""
        systems = (self, *others)
        labels = all_assignments(tuple(int(system.sizes[problem]) for system in systems))
        won = sum(int(system.won[problem]) for system in systems)
        fell = [(labels[:, :won] == f).sum(axis=1) for f in range(len(systems))]
        return np.stack([values[starts[problem] + x] for x, (starts, values) in _with_tables(fell, systems, k)])

    def varies(self, others: Sequence[Self]) -> BoolArray:
        """The problems with successes and failures."""
        systems = (self, *others)
        won, total = (np.sum([getattr(system, name) for system in systems], axis=0) for name in ("won", "sizes"))
        return np.asarray((won > 0) & (won < total))


def _with_tables(
    fell: Sequence[IntArray], systems: Sequence[CountSamples], k: int
) -> Iterator[tuple[IntArray, tuple[IntArray, FloatArray]]]:
    return zip(fell, (system.table(k) for system in systems), strict=True)


class ScoreSamples(ProblemSamples):
    """Samples with any scores, and another score that is reported of the winner where there is one.

    Parameters
    ----------
    samples
        Of all problems, one problem after the other.
    sizes
        How many each problem has.
    n
        Budgets, increasing.
    """

    def __init__(self, samples: Sample, sizes: IntArray, n: IntArray) -> None:
        self.samples, self.sizes, self.n = samples, sizes, n
        self.starts = np.cumsum(sizes) - sizes
        self.lowest, self.highest = float(samples.claimed.min()), float(samples.claimed.max())
        self.single = n.size == 1 and int(n[0]) == 1
        if self.single:  # a mean: no ranks are needed
            self.values = (np.add.reduceat(samples.claimed, self.starts) / sizes)[:, None]
            return
        self.values = np.full((sizes.size, n.size), np.nan)
        for problem, row in enumerate(self.values):
            inside = n[n <= sizes[problem]]
            if inside.size:
                row[: inside.size] = self._ranked(problem, inside).estimate

    def at(self, n: IntArray) -> ScoreSamples:
        """The same at other budgets."""
        return ScoreSamples(self.samples, self.sizes, n)

    def problem(self, place: int) -> Sample:
        """The samples of one problem."""
        cut = slice(self.starts[place], self.starts[place] + self.sizes[place])
        reported = self.samples.reported
        return Sample(self.samples.selection[cut], None if reported is None else reported[cut])

    def _ranked(self, problem: int, n: IntArray) -> Ranked:
        system = self.problem(problem)
        return Ranked(system.selection, n, system.reported)

    def deviations(self) -> Iterator[tuple[IntArray, Deviations]]:
        """Of every sample; at one budget of problems with as many samples together."""
        if self.single:
            for m in np.unique(self.sizes):
                some = np.flatnonzero(self.sizes == m)
                off = self.samples.claimed[self.starts[some, None] + np.arange(m)] - self.values[some]
                yield some, Deviations(np.ones(off.shape), off[:, :, None])
            return
        for problem, m in enumerate(self.sizes.tolist()):
            off = np.full((1, m, self.n.size), np.nan)
            inside = self.n[self.n < m]
            if inside.size:
                ranked = self._ranked(problem, inside)
                left = leave_one_out(ranked, np.ones((1, m), dtype=np.int64))
                off[0, :, : inside.size] = (m - 1) * (left.mean(axis=2, keepdims=True) - left)[:, 0].T
            yield np.array([problem]), Deviations(np.ones((1, m)), off)

    def contributions(
        self, others: Sequence[Self], size: int, k: int, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Permutations of each problem's samples."""
        for problem in range(self.sizes.size):
            sides = self._sides(others, problem)
            labels = permuted([system.n_trials for system in sides], size, rng)
            yield np.array([problem]), self._of_labels(sides, labels, k)[:, :, None]

    def _sides(self, others: Sequence[Self], problem: int) -> list[Sample]:
        return [system.problem(problem) for system in (self, *others)]

    def _of_labels(self, sides: Sequence[Sample], labels: Labels, k: int) -> FloatArray:
        """(system, assignment, node), labels being in rank order."""
        both = pooled(sides)
        if self.single:  # a mean: no weights of ranks are needed
            claimed = both.claimed[np.lexsort((both.claimed, both.selection))]
            return np.stack([(labels == f) @ claimed / side.n_trials for f, side in enumerate(sides)])[:, :, None]
        out = np.empty((len(sides), labels.shape[0], k))
        for f, system in enumerate(sides):
            ranked = Ranked(both.selection, self.n[:k], both.reported, size=system.n_trials)
            out[f] = ranked.resampled(labels == f)[0].T
        return out

    def assigned(self, others: Sequence[Self], problem: int, k: int) -> FloatArray:
        """Every assignment of the samples."""
        sides = self._sides(others, problem)
        return self._of_labels(sides, all_assignments(tuple(system.n_trials for system in sides)), k)

    def varies(self, others: Sequence[Self]) -> BoolArray:
        """The problems with more than one score."""
        both = [pooled(self._sides(others, at)).claimed for at in range(self.sizes.size)]
        return np.array([system.min() < system.max() for system in both])
