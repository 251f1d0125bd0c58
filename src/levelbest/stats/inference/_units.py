"""Units: what is exchanged between families, and the difference that they give at each budget.

A design hands over its units; everything that follows (`_exchange`, `_decide`) is the same for all of them.

    TrialUnits       trials of independent families, the curve being that of the best of n (`_trials`)
    PairedTrials     the same where entry i of every family is the same configuration (`_paired`)
    MeanUnits        runs, whole searches, or problems of their own: the mean over units (`_means`)
    SignUnits        problems, or clusters of them, that two systems share: signs of differences (`_means`)
    MacroUnits       the same in several tasks, each with its share (`_macro`)
    StratifiedUnits  trials within tasks, exchanged within each (`_tasks`)
    SuiteUnits       samples of problems that stand for themselves, exchanged within each problem (`_suite`)

Curves of means at neighbouring budgets are nearly the same: the largest |t| over a dozen log-spaced budgets, the nodes,
is the largest over all of them but for a few thousandths. So permutations and draws are made at the nodes only, while
observed differences and standard errors are those of every budget. Quantiles leap: every budget is a node, up to 200.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest._check import Bounds, FloatArray, IntArray
from levelbest.stats.inference._draws import Draws
from levelbest.stats.inference._hypotheses import Pair

_NODE_RATIO = 1.5
_ALL_UP_TO = 10


MOST_NODES = 200
"""Budgets at which quantiles are exchanged and drawn.

NOTE: a quantile leaps from one budget to the next, so that limits between budgets that are drawn far apart are wrong:
medians were interpolated once. More take time in proportion and change nothing up to 200 budgets (the rows of medians
in docs/coverage-verdicts.md).
"""


def nodes_of(n: IntArray, also: Sequence[int] = (), *, most: int | None = None) -> IntArray:
    """Log-spaced budgets of ``n`` (increasing), with the last, one near it, and those named in ``also``.

    They are about a dozen, or ``most``, and all of few.

    Examples
    --------
    >>> nodes_of(np.arange(1, 26)).tolist()
    [1, 2, 3, 5, 7, 11, 17, 20, 25]
    """
    if n.size <= (most or _ALL_UP_TO):
        return np.union1d(n, np.array(also, dtype=np.int64))
    size = most or 2 + int(np.log(n[-1] / n[0]) / np.log(_NODE_RATIO))
    ideal = np.append(np.geomspace(n[0], n[-1], size), 0.8 * n[-1])
    nearest = np.abs(np.log(n)[:, None] - np.log(ideal)).argmin(axis=0)
    return np.union1d(n[nearest], np.array(also, dtype=np.int64))


def nearest_node(n: IntArray, nodes: IntArray) -> IntArray:
    """Which node stands for each budget: the nearest in proportion."""
    return np.asarray(np.abs(np.log(n)[:, None] - np.log(nodes)).argmin(axis=1))


def across(n: IntArray, nodes: IntArray, values: FloatArray) -> FloatArray:
    """Values at the nodes taken to all budgets, linear in log n; exact at the nodes, constant beyond the last."""
    return np.interp(np.log(n), np.log(nodes), values)


if TYPE_CHECKING:
    from levelbest.stats.inference._large import PooledHeads, PooledReports

Labels = npt.NDArray[np.int8]
Families = tuple[int, ...]
_LABELS_AT_ONCE = 1 << 16
_LEAST_ASSIGNMENTS = 700
ARITHMETIC = 1e-9
"""Numbers that are this close in proportion are the same one, added up in another order."""


class Evidence(NamedTuple):
    """A difference at each budget, first minus second, with its standard error."""

    difference: FloatArray
    error: FloatArray
    """The jackknife's over units; 0 where nothing varies."""
    freedom: FloatArray
    """Effective degrees of freedom: 1 / sum of squared weights - 1 of each family, combined by Satterthwaite's rule."""

    @property
    def t(self) -> FloatArray:
        """The studentised difference; 0 where nothing varies."""
        return t_statistic(self.difference, np.square(self.error))


class Units:
    """Units of all families of a comparison; `nodes` are the budgets at which they are exchanged."""

    sizes: tuple[int, ...]
    """Units of each family, where they do not depend on what it is compared with (`sizes_of`)."""
    nodes: IntArray
    studentised = True
    """Whether differences are divided by a standard error; otherwise they are measured by their permutations alone."""
    by_t = True
    """Whether Student's t decides alone where exchanging the units cannot reach the level."""
    exchange = "permutation"
    """``permutation`` of independent units, or ``swaps`` of paired ones."""

    def furthest(self, f: int) -> int:
        """The largest budget at which a family can be compared."""
        raise NotImplementedError

    def reach(self, families: Families) -> int:
        """The largest budget at which two of these families can be compared; of one alone, its `furthest`."""
        return sorted(self.furthest(f) for f in families)[-2:][0]

    def sizes_of(self, families: Families) -> tuple[int, ...]:
        """Units of these families where they are compared with each other."""
        return tuple(self.sizes[f] for f in families)

    def counts(self, f: int) -> Hashable:
        """How many units a family has; pairs with the same counts have the same distribution when units are
        exchanged."""
        return self.sizes[f]

    def foreseen(self, pair: Pair) -> int:
        """The largest budget that these units can be a pilot for."""
        return self.reach(pair)

    def fewest(self, n: int) -> int:  # noqa: ARG002
        """Units of a family that a comparison at budget n takes at the least."""
        return 3

    def inside(self, families: Families) -> int:
        """How many of the nodes two of these families can be compared at."""
        return int(np.searchsorted(self.nodes, self.reach(families), side="right"))

    def at(self, n: int) -> Units:
        """The same units at one budget."""
        raise NotImplementedError

    def without_others(self, pair: Pair, n: IntArray, headline: int | None) -> tuple[Units, Pair]:  # noqa: ARG002
        """These two families, exchanged at the nodes of budgets within their reach as if there were no others."""
        return self, pair

    def evidence(self, pair: Pair, n: IntArray) -> Evidence:
        """The difference of a pair at budgets within its reach."""
        raise NotImplementedError

    def skew(self, pair: Pair) -> FloatArray:
        """The cube root of the difference's third moment at the pair's nodes, by the jackknife; NaN where unknown."""
        return np.full(self.inside(pair), np.nan)

    def observed(self, pair: Pair, n: IntArray) -> FloatArray:
        """What is compared with that of exchanged units: |t|."""
        return np.abs(self.evidence(pair, n).t)

    def estimate(self, pair: Pair, n: IntArray) -> FloatArray:
        """The difference at any budgets: NaN where one of the two has none."""
        raise NotImplementedError

    def assignments(self, families: Families) -> float:
        """In how many ways the units can be assigned to these families."""
        raise NotImplementedError

    def least_p(self, families: Families) -> float:
        """The p-value of families that lie apart, however they are ordered: every assignment that leaves the units of
        each together."""
        return min(1.0, math.factorial(len(families)) / self.assignments(families))

    def exchanged(self, families: Families, size: int | None, rng: np.random.Generator) -> FloatArray:
        """|t| of all pairs of these families with their units exchanged: (pair, node, assignment); None: all.

        0 at nodes that a pair does not reach.
        """
        raise NotImplementedError

    def draws(self, pair: Pair, bounds: Bounds = (None, None)) -> Draws:
        """Draws of the difference at the pair's nodes under unequal distributions (`_draws`)."""
        raise NotImplementedError

    def shown_draws(self, pair: Pair, bounds: Bounds) -> Draws | None:  # noqa: ARG002
        """Draws for the limits shown, where a design knows more of the unobserved unit than verdicts use; else None."""
        return None

    def measured(self, pair: Pair) -> Units:  # noqa: ARG002
        """What the limits of the difference are made of: these units, or others where these tell nothing of them."""
        return self

    def variances(self, pair: Pair, n: int) -> tuple[float, float]:
        """What each family adds to the squared standard error at one budget: for planning."""
        raise NotImplementedError

    def effective(self, pair: Pair, n: int) -> float:  # noqa: ARG002
        """About how many units of the smaller family speak at budget n: all of them, or m / n of a reported score."""
        return float(min(self.sizes_of(pair)))


class IndependentUnits(Units):
    """Units that any family might have had: assignments are permutations of the pooled units."""

    order: dict[int, int]
    """By family, its place in an order of content: no result depends on the order in which families were given."""

    def assignments(self, families: Families) -> float:
        """The multinomial coefficient."""
        sizes = [self.sizes[f] for f in families]
        logs = math.lgamma(sum(sizes) + 1) - sum(math.lgamma(size + 1) for size in sizes)
        return round(math.exp(logs)) if logs < 30 else math.exp(min(logs, 700.0))

    @property
    def strata(self) -> Sequence[IndependentUnits]:
        """Each exchanged by itself, and their differences added: by default these units alone."""
        return (self,)

    def exchanged(self, families: Families, size: int | None, rng: np.random.Generator) -> FloatArray:
        """From the curves of every assignment, in each stratum; assignments of all strata together where they are gone
        through, and as many of each where they are drawn."""
        heads = self.heads(families) if size is not None else None
        if heads is not None and size is not None:
            return heads.exchanged(size, rng)[None]
        last = [self.inside(pair) for pair in combinations(families, 2)]
        total, k = np.zeros((2, 1, 1, size or 1)), max(last)
        for stratum in self.strata:
            order = sorted(families, key=lambda f: (stratum.sizes[f], stratum.order[f]))
            places, start = [order.index(f) for f in families], 0
            number = round(stratum.assignments(families)) if size is None else size
            differences, variances = moments = np.zeros((2, len(last), k, number))
            for labels in assigned([stratum.sizes[f] for f in order], size, rng, k):
                value, variance = stratum.curves(tuple(order), k, labels)
                cut = slice(start, start + labels.shape[0])
                for at, (a, b) in enumerate(combinations(places, 2)):
                    inside = slice(last[at])
                    differences[at, inside, cut] = value[a][inside] - value[b][inside]
                    variances[at, inside, cut] = variance[a][inside] + variance[b][inside]
                start = cut.stop
            if size is None:  # every assignment of one stratum with every one of the others
                total = (total[..., None] + moments[..., None, :]).reshape(*moments.shape[:3], -1)
            else:
                total = total + moments
        return np.abs(t_statistic(*total))

    def heads(self, families: Families) -> PooledHeads | PooledReports | None:  # noqa: ARG002
        """Of two large families, of which not every unit is permuted by itself; else None."""
        return None

    def draws(self, pair: Pair, bounds: Bounds = (None, None)) -> Draws:
        """One family's draws minus the other's."""
        k = self.inside(pair)
        first, second = self.both_draws(pair, bounds)
        return Draws(first.lower[:k], first.upper[:k]).minus(Draws(second.lower[:k], second.upper[:k]))

    def both_draws(self, pair: Pair, bounds: Bounds = (None, None)) -> tuple[Draws, Draws]:
        """Of both curves, independent of each other and the same whatever other families are compared."""
        later = self.order[pair[0]] > self.order[pair[1]]
        return self.family_draws(pair[0], bounds, int(later)), self.family_draws(pair[1], bounds, int(not later))

    def all_draws(self) -> list[Draws]:
        """Of every family's curve, independent of each other."""
        return [self.family_draws(f, stream=place) for f, place in sorted(self.order.items())]

    def family_draws(self, f: int, bounds: Bounds = (None, None), stream: int = 0) -> Draws:
        """Of one family's curve, at the nodes within its reach; those of different streams are independent."""
        raise NotImplementedError

    def curves(self, families: Families, k: int, labels: Labels) -> tuple[Sequence[FloatArray], Sequence[FloatArray]]:
        """Of each family its curve and squared standard error, (node, assignment) each, at the first k nodes or as many
        of them as it has units for."""
        raise NotImplementedError


def assigned(sizes: Sequence[int], size: int | None, rng: np.random.Generator, n_nodes: int) -> Iterator[Labels]:
    """Which family each of the pooled units goes to, one assignment a row, in pieces; all of them for None."""
    total = sum(sizes)
    rows = max(
        min(_LEAST_ASSIGNMENTS, (_LABELS_AT_ONCE << 6) // total), _LABELS_AT_ONCE // (total * max(1, n_nodes // 8)), 1
    )
    if size is None:
        every = all_assignments(tuple(sizes))
        for start in range(0, every.shape[0], rows):
            yield every[start : start + rows]
        return
    for start in range(0, size, rows):
        yield permuted(sizes, min(rows, size - start), rng)


def permuted(sizes: Sequence[int], size: int, rng: np.random.Generator) -> Labels:
    """Random assignments of the pooled units, one a row."""
    total, first = sum(sizes), sizes[0]
    keys = rng.random((size, total), dtype=np.float32)
    if len(sizes) > 2:
        base = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
        return np.asarray(base[np.argsort(np.argsort(keys, axis=1), axis=1)])
    chosen = keys <= np.partition(keys, first - 1, axis=1)[:, first - 1, None]
    for row in np.flatnonzero(chosen.sum(axis=1) != first):  # two keys tie at the last place
        chosen[row] = False
        chosen[row, np.argpartition(keys[row], first - 1)[:first]] = True
    return np.asarray(~chosen, dtype=np.int8)


@lru_cache(maxsize=8)
def all_assignments(sizes: tuple[int, ...]) -> Labels:
    """Every assignment of the pooled units, one a row."""
    total = sum(sizes)
    if len(sizes) == 1:
        return np.zeros((1, total), dtype=np.int8)
    rest = all_assignments(sizes[1:]) + np.int8(1)
    chosen = np.array(list(combinations(range(total), sizes[0])), dtype=np.int64)
    out = np.zeros((chosen.shape[0] * rest.shape[0], total), dtype=np.int8)
    others = np.ones((chosen.shape[0], total), dtype=bool)
    others[np.arange(chosen.shape[0])[:, None], chosen] = False
    places = np.nonzero(others)[1].reshape(chosen.shape[0], -1)
    rows = np.arange(out.shape[0]).reshape(chosen.shape[0], rest.shape[0])
    out[rows[:, :, None], places[:, None, :]] = rest[None]
    return out


def t_statistic(difference: FloatArray, variance: FloatArray) -> FloatArray:
    """Differences over their standard error; 0 where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(variance)
    return np.where(variance > 0, t, 0.0)


def root_of_cubes(values: FloatArray, axis: int = 0) -> FloatArray:
    """The cube root of the sum of cubes, in units of the largest value: cubes of 1e105 overflow, of 1e-110 vanish."""
    unit = np.abs(values).max(axis=axis, keepdims=True)
    scaled = values / np.where(unit > 0, unit, 1.0)
    return np.asarray(np.squeeze(unit, axis) * np.cbrt((scaled * scaled * scaled).sum(axis=axis)))


def satterthwaite(variances: Sequence[FloatArray], freedoms: Sequence[FloatArray]) -> FloatArray:
    """Degrees of freedom of a sum of independent variances (Satterthwaite 1946), from shares that do not underflow."""
    total = np.sum(variances, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 1 / np.sum([(v / total) ** 2 / f for v, f in zip(variances, freedoms, strict=True)], axis=0)
    return np.asarray(np.where(total > 0, freedom, np.min(freedoms, axis=0)))


def rounding_variance(scores: FloatArray) -> float:
    """The variance that rounding alone gives a score, step^2 / 12; 0 where all scores are equal.

    A family whose scores agree to the last digit written has not variance 0 but an unknown one of that order. Distances
    below a billionth of the range are arithmetic, not steps. The range is that of most scores: to a diverged one all
    others would be equal.
    """
    values = np.unique(scores)
    step = 0.0
    while values.size > 1:
        gaps = np.diff(values)
        steps = gaps > ARITHMETIC * (values[-1] - values[0])
        step = float(gaps[steps].min())
        starts = np.concatenate([[0], np.flatnonzero(steps) + 1, [values.size]])
        most = int(np.argmax(np.diff(starts)))
        near = values[starts[most] : starts[most + 1]]
        if 2 * near.size <= values.size or near[-1] - near[0] <= ARITHMETIC * np.abs(near).max():
            break
        values = near
    return step**2 / 12
