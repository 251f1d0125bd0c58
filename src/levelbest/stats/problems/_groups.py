"""Many problems, each with its own samples: pass@k, pass^k and the best of n, problem by problem and on average.

A *group* is one problem; its samples are its trials. The estimate is made within each group and averaged over the
groups that have at least n samples: for the others the best of n is undefined, which is counted and never filled in.

With 0/1 scores the expected best of n is pass@k ([C]); with a verifier's score as selection and correctness as reported
score it is best of n with a verifier; with a real score it is the expected maximum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import Column, FloatArray, IntArray
from levelbest.errors import InputError
from levelbest.stats.best import rank_weights
from levelbest.stats.problems._passes import pass_at_k

_Entries = TypeVar("_Entries")
_SAMPLES_AT_ONCE = 1 << 22  # samples ranked together: 32 MB of scores
_GROUP_WEIGHTS_AT_ONCE = 1 << 21  # weights held together: 16 MB


@dataclass(frozen=True, eq=False)
class GroupBest:
    """The best of n in each group, and on average over the groups that allow n.

    ``by_group`` has one row per group and one column per budget, NaN where the group has fewer than n samples;
    ``value`` averages each column over the others, ``n_groups`` of them. ``stratum`` is a label per group or None.
    Where budgets are costs, ``n`` numbers them from 1.
    """

    n: IntArray
    value: FloatArray
    by_group: FloatArray
    n_groups: IntArray
    groups: Column
    sizes: IntArray
    weights: FloatArray | None
    direction: str
    stratum: Column | None = None
    monte_carlo_error: FloatArray | None = None
    """Of ``value``, where samples were drawn at random; None where every subset counts."""
    clusters: Column | None = None
    """What each group is nested in (a repository, a passage), where that is the unit."""
    macro: bool = False
    """Whether strata are tasks, over which means are averaged: all alike, or as the weights of their groups add up."""

    def tasks(self) -> tuple[IntArray, FloatArray]:
        """The task of each group, as a code, and the share of each task in the average."""
        names, code = np.unique(
            self.stratum if self.stratum is not None else np.zeros(self.sizes.size), return_inverse=True
        )
        shares = np.ones(names.size) if self.weights is None else np.bincount(code.ravel(), self.weights)
        return code.ravel().astype(np.int64), shares / shares.sum()

    @property
    def fixed_weights(self) -> FloatArray | None:
        """What each group counts in an average over all of them; None: all alike."""
        if not self.macro:
            return self.weights
        code, shares = self.tasks()
        each = np.ones(code.size) if self.weights is None else self.weights
        return np.asarray(each * (shares / np.bincount(code, each))[code])

    @property
    def n_units(self) -> int:
        """How many problems, or clusters of them where they are nested."""
        return int(self.groups.size if self.clusters is None else np.unique(self.clusters).size)

    def by_unit(self) -> tuple[FloatArray, FloatArray | None]:
        """Values and weights of what varies: problems, or clusters of them with the mean of theirs."""
        if self.clusters is None:
            return self.by_group, self.weights
        _, code = np.unique(self.clusters, return_inverse=True)
        each = np.ones(code.size) if self.weights is None else self.weights
        known = ~np.isnan(self.by_group)
        sums, mass = np.zeros((2, self.n_units, self.n.size))
        np.add.at(sums, code, np.where(known, self.by_group, 0.0) * each[:, None])
        np.add.at(mass, code, known * each[:, None])
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(mass > 0, sums / mass, np.nan)
        weights = np.bincount(code, each).astype(np.float64)
        return values, None if (weights == weights[0]).all() else weights

    def at(self, places: IntArray) -> GroupBest:
        """The same at some of the budgets."""
        columns = {name: getattr(self, name)[places] for name in ("n", "value", "n_groups")}
        return replace(self, by_group=self.by_group[:, places], **columns)

    def select(self, groups: Column) -> GroupBest:
        """The same for some of the groups, given as a mask or as positions."""
        weights = None if self.weights is None else self.weights[groups]
        stratum = None if self.stratum is None else self.stratum[groups]
        value, n_groups = average_over_groups(self.by_group[groups], weights)
        if self.macro and stratum is not None:
            value = macro_average(self.by_group[groups], weights, stratum)
        return replace(
            self,
            value=value,
            by_group=self.by_group[groups],
            n_groups=n_groups,
            groups=self.groups[groups],
            sizes=self.sizes[groups],
            weights=weights,
            stratum=stratum,
            clusters=None if self.clusters is None else self.clusters[groups],
        )

    def by_stratum(self) -> dict[str, GroupBest]:
        """One result per stratum, by its label; the whole under ``all`` where there are no strata.

        Where the problems of a stratum weigh the same they have no weights: a stratum's weight is not theirs.
        """
        if self.stratum is None:
            return {"all": self}
        alone = replace(self, macro=False)
        parts = {str(label): alone.select(self.stratum == label) for label in np.unique(self.stratum)}
        for label, part in parts.items():
            if part.weights is not None and part.weights[0] > 0 and (part.weights == part.weights[0]).all():
                parts[label] = replace(part, weights=None)
        return parts

    def __str__(self) -> str:
        rows = zip(self.n, self.value, self.n_groups, strict=True)
        shown = [f"n = {n}: {value:.6g} over {count} of {self.groups.size} groups" for n, value, count in rows]
        return "; ".join(shown)


def expected_best_by_group(
    selection: npt.ArrayLike,
    group: npt.ArrayLike,
    n: npt.ArrayLike | None = None,
    reported: npt.ArrayLike | None = None,
    *,
    direction: str = "max",
    weights: Mapping[object, float] | npt.ArrayLike | None = None,
    strata: Mapping[object, object] | None = None,
) -> GroupBest:
    """The expected reported score of the best of n samples, in each group and averaged over groups.

    One entry of ``selection``, ``group`` and ``reported`` per sample; the best of n is chosen by selection score, ties
    sharing their weight equally. ``n`` defaults to every number up to the largest group. ``weights`` and ``strata``
    are by group, as a mapping (weights also as an array in the order of the sorted group labels).

    Parameters
    ----------
    selection, group, reported
        One entry per sample: its score, its problem, and what is claimed of it where that is another score.
    n
        How many samples of a problem one may draw.
    direction
        ``max`` where higher is better, ``min`` where lower is.
    weights, strata
        What is said of each problem.

    Returns
    -------
    GroupBest
        Values by problem and their average, for each n.

    Examples
    --------
    >>> best = expected_best_by_group([0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> best.value.tolist()
    [0.75, 1.0]
    """
    chosen_by, claimed = _check.as_pair(selection, reported)
    _check.as_direction(direction)
    labels, code, sizes = as_groups(group, chosen_by.size)
    budgets = np.arange(1, sizes.max() + 1) if n is None else _check.as_budgets(n, int(sizes.max()))[0]
    by_group = group_values(chosen_by, claimed, code, sizes, budgets, direction)
    per_group = _group_weights(weights, labels)
    value, n_groups = average_over_groups(by_group, per_group)
    return GroupBest(
        n=budgets.astype(np.int64),
        value=value,
        by_group=by_group,
        n_groups=n_groups,
        groups=labels,
        sizes=sizes,
        weights=per_group,
        direction=direction,
        stratum=None if strata is None else np.array([str(stratum) for stratum in _by_label(strata, labels, "strata")]),
    )


def group_values(
    selection: FloatArray,
    reported: FloatArray | None,
    code: IntArray | None,
    sizes: IntArray,
    budgets: IntArray,
    direction: str,
    *,
    reproducible: bool = False,
) -> FloatArray:
    """The best of n by group (rows) and budget; ``code`` is the group of each sample, ``sizes`` their numbers.

    Without ``code`` the samples come group by group, in the order of ``sizes``.
    A threaded matrix product may round differently from one machine, or number of threads, to the next;
    ``reproducible`` sums in one fixed order, at several times the cost.
    """
    by_group = np.full((sizes.size, budgets.size), np.nan)
    values = float(selection.min()), float(selection.max())
    if reported is None and np.isin(selection, values).all():  # counts of two values say all
        worst, best = values if direction == "max" else values[::-1]
        if code is None:
            code = np.repeat(np.arange(sizes.size), sizes)
        won = np.bincount(code, weights=selection == best, minlength=sizes.size).astype(np.int64)
        return np.clip(worst + (best - worst) * np.asarray(pass_at_k(won, sizes, budgets)), *values)
    for where, (chosen, claimed) in buckets((selection, reported), code, sizes):
        size = chosen.shape[1]
        inside = np.flatnonzero(budgets <= size)
        ranked = _ranked_rows(chosen, claimed, direction)
        scores = chosen if claimed is None else claimed
        low, high = scores.min(axis=1)[:, None], scores.max(axis=1)[:, None]
        step = max(1, _GROUP_WEIGHTS_AT_ONCE // size)
        for first in range(0, inside.size, step):
            some = inside[first : first + step]
            # what is too much to hold at once is not kept either
            weigh = _shares if inside.size <= step else _shares.__wrapped__
            shares = weigh(size, budgets[some].tobytes())
            means = np.einsum("ij,kj->ik", ranked, shares, optimize=False) if reproducible else ranked @ shares.T
            # weights sum to 1 but for rounding, and a weighted mean cannot leave its scores (nor their bounds)
            by_group[np.ix_(where, some)] = np.clip(means, low, high)
    return by_group


@lru_cache(maxsize=4)
def _shares(size: int, budgets: bytes) -> FloatArray:
    """`rank_weights`, kept for the next groups of the same size."""
    return rank_weights(size, np.frombuffer(budgets, dtype=np.int64))


def average_over_groups(by_group: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, IntArray]:
    """The (weighted) mean of each column over the groups that have a value, and how many these are."""
    known = ~np.isnan(by_group)
    each = np.ones(by_group.shape[0]) if weights is None else weights
    total = each @ known
    with np.errstate(invalid="ignore"):
        value = np.where(total > 0, each @ np.where(known, by_group, 0.0) / np.where(total > 0, total, 1), np.nan)
    return value, known.sum(axis=0)


def macro_average(by_group: FloatArray, weights: FloatArray | None, tasks: Column) -> FloatArray:
    """The mean over tasks of means over their groups; NaN where a task has none that is known."""
    names = np.unique(tasks)
    shares = [1.0 if weights is None else float(weights[tasks == name].sum()) for name in names]
    means = [
        average_over_groups(by_group[tasks == name], None if weights is None else weights[tasks == name])[0]
        for name in names
    ]
    return np.asarray(np.average(means, axis=0, weights=shares))


def as_groups(group: npt.ArrayLike, n_samples: int) -> tuple[Column, IntArray, IntArray]:
    """The distinct groups in order, the code of each sample's group, and the number of samples in each."""
    array = np.asarray(group)
    if array.ndim != 1 or array.size != n_samples:
        raise InputError(f"group must name the problem of each of the {n_samples} samples, got shape {array.shape}")
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= 4 * n_samples:
        # codes already: counting is faster than sorting
        count = np.bincount(array)
        labels = np.flatnonzero(count)
        place = np.cumsum(count > 0) - 1
        code = place[array] if labels.size < count.size else array
        return labels.astype(array.dtype), code.astype(np.int64, copy=False), count[labels].astype(np.int64)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(f"group must be known for every sample, and {int(np.isnan(array).sum())} are missing")
    if array.dtype.kind == "O":
        array = array.astype(str)
    labels, code, sizes = np.unique(array, return_inverse=True, return_counts=True)
    return labels, code.ravel().astype(np.int64), sizes.astype(np.int64)


def buckets(
    columns: Sequence[Column | None], code: IntArray | None, sizes: IntArray
) -> Iterator[tuple[IntArray, list[Any]]]:
    """Groups of equal size, a bounded number at once: their codes, and each column as a matrix."""
    rows = None
    if code is not None and (code[1:] < code[:-1]).any():
        small: Column = code.astype(np.uint16) if sizes.size <= 1 << 16 else code  # radix sort for 16 bits
        rows = np.argsort(small, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        step = max(1, _SAMPLES_AT_ONCE // int(size))
        for first in range(0, same.size, step):
            some = same[first : first + step]
            if rows is None and some[-1] - some[0] == some.size - 1:
                together = slice(starts[some[0]], starts[some[-1]] + size)
                yield some, [None if column is None else column[together].reshape(-1, size) for column in columns]
                continue
            at = starts[some, None] + np.arange(size)
            take = at if rows is None else rows[at]
            yield some, [None if column is None else column[take] for column in columns]


def _ranked_rows(selection: FloatArray, reported: FloatArray | None, direction: str) -> FloatArray:
    """Each row's reported scores worst to best by selection score, averaged within ties ([B] after eq. 7)."""
    if reported is None:
        ordered = np.sort(selection, axis=1)
        return ordered if direction == "max" else ordered[:, ::-1]
    # in input order within a tie, so that sums round the same everywhere
    order = np.argsort(selection, axis=1, kind="stable")
    chosen, scores = (np.take_along_axis(column, order, axis=1) for column in (selection, reported))
    fresh = np.ones(chosen.shape, dtype=bool)
    np.not_equal(chosen[:, 1:], chosen[:, :-1], out=fresh[:, 1:])
    if not fresh.all():
        starts = np.flatnonzero(fresh)
        counts = np.diff(starts, append=fresh.size)
        scores = np.repeat(np.add.reduceat(scores.ravel(), starts) / counts, counts).reshape(scores.shape)
    return scores if direction == "max" else np.ascontiguousarray(scores[:, ::-1])


def _by_label(given: Mapping[object, _Entries], labels: Column, name: str) -> list[_Entries]:
    missing = [str(label) for label in labels if label not in given]
    if missing:
        raise InputError(
            f"{name} must name every group, and {len(missing)} of {labels.size} are missing: {', '.join(missing[:5])}"
        )
    return [given[label] for label in labels]


def _group_weights(weights: Mapping[object, float] | npt.ArrayLike | None, labels: Column) -> FloatArray | None:
    if weights is None:
        return None
    array = _check.as_scores(
        _by_label(weights, labels, "weights") if isinstance(weights, Mapping) else weights, "weights"
    )
    if array.size != labels.size:
        raise InputError(f"weights must be one per group, got {array.size} for {labels.size} groups")
    if (array < 0).any() or array.sum() == 0:
        raise InputError("weights must be at least 0 and not all 0; leave out a group by a weight of 0")
    return array


@dataclass(frozen=True)
class Repeats:
    """Sample ids that occur more than once within a group."""

    count: int
    row: int
    """The first row that repeats an earlier one."""
    same: bool
    """Whether every repeated row equals the first of its id in everything else."""


def repeated_samples(group: Column, ids: Column, others: Sequence[Column]) -> Repeats | None:
    """Which sample ids repeat within a group, and whether the ``others`` columns repeat with them; None where none do.

    An id that is missing tells nothing; one that is the same in every row only that everything repeats, if it does.
    """
    named = ids if ids.dtype.kind in "iuf" else ids.astype(str)
    distinct, code = np.unique(named, return_inverse=True)
    missing = np.isnan(distinct) if distinct.dtype.kind == "f" else np.isin(distinct.astype(str), ("", "nan", "None"))
    rows = np.flatnonzero(~missing[code.ravel()])
    key = group[rows].astype(np.int64) * distinct.size + code.ravel()[rows]
    order = np.argsort(key, kind="stable")
    again = np.r_[False, key[order[1:]] == key[order[:-1]]] if rows.size else np.zeros(0, dtype=bool)
    if not again.any():
        return None
    later, before = rows[order[again]], rows[order[np.flatnonzero(again) - 1]]
    texts = (column if column.dtype.kind == "f" else column.astype(str) for column in others)
    same = all(np.array_equal(column[later], column[before], equal_nan=column.dtype.kind == "f") for column in texts)
    if distinct.size < 2 and not same:
        return None
    return Repeats(int(np.unique(key[order[again]]).size), int(later.min()), same)
