"""Variance by source: how much configurations, data splits and seeds make the score of a run differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError

_PARTS = 100
"""More levels than these are left out in so many blocks."""
_FEWEST_LEVELS = 3
"""Levels from which leaving one out tells of the spread of a mean square."""
_ALLOWANCE = 1.6
"""The variance of a log mean square is taken so many times: where tails are heavy the jackknife's is too small in most
samples. Simulated from 8 x 4 to 50 x 3 runs with eight distributions, the lowest coverage is .927 at 1.5 and .937 at
1.6."""
_MOST_TIMES_NORMAL = (3.0, 6.0)
"""More often than this the variance of a log mean square is not taken for that of the normal distribution, for its
lower and its upper quantile: one level that differs from all others makes the jackknife's arbitrarily large. Lower
limits need more; with 6 for both, limits of 8 normal configurations would be 1.4 times as wide and cover no more."""
_SPLITS = 500
"""More levels are no data splits."""


@dataclass(frozen=True)
class VarianceSource:
    """What one source of differences adds to the variance of a run's score."""

    name: str
    """``configuration``, ``split``, or ``seed``: all else that differs between runs."""
    levels: int
    df: int
    repeats: float
    """Runs of one level on average, as they weigh in the mean square's expectation; 1 for seeds."""
    variance: float
    """Unbiased, so that it may fall below 0 where the source adds little."""
    low: float
    high: float

    @property
    def sd(self) -> float:
        """The standard deviation, 0 where the estimate of the variance is below 0."""
        return math.sqrt(max(self.variance, 0.0))


@dataclass(frozen=True)
class VarianceComponents:
    """Variance by source, configurations first and seeds last."""

    sources: tuple[VarianceSource, ...]
    mean: float
    n_trials: int
    confidence: float
    limits: tuple[float, float] | None = None
    """Of the configurations' share of the total; None where splits are a source too."""

    def __getitem__(self, name: str) -> VarianceSource:
        """One source by its name."""
        names = [source.name for source in self.sources]
        return self.sources[names.index(_check.as_choice(name, names, "source"))]

    @property
    def total(self) -> float:
        """The variance of the score of one run of a configuration, on a split, with a new random seed."""
        return sum(max(source.variance, 0.0) for source in self.sources)

    def share(self, name: str) -> float:
        """The part of the total that a source has; NaN where nothing differs."""
        return max(self[name].variance, 0.0) / self.total if self.total > 0 else math.nan

    def share_limits(self, name: str) -> tuple[float, float]:
        """Limits of that part; NaN where nothing differs, or where data splits are a source too."""
        if self.limits is None:
            return math.nan, math.nan
        low, high = self.limits
        return (low, high) if self[name].name == "configuration" else (1 - high, 1 - low)


def variance_components(
    scores: npt.ArrayLike,
    configuration: Sequence[object] | npt.NDArray[np.generic],
    split: Sequence[object] | npt.NDArray[np.generic] | None = None,
    *,
    confidence: float = 0.95,
) -> VarianceComponents:
    """How much configurations, data splits and seeds add to the variance of a run's score.

    Parameters
    ----------
    scores
        One score per run.
    configuration
        Which configuration each run has; at least one needs several runs.
    split
        Which data split each run has, where configurations were run on the same splits; None: no such source.
    confidence
        Of the limits, for each source alone.

    Returns
    -------
    VarianceComponents
        A source that these runs cannot tell from another (a split of its own for every configuration) is left out, and
        its part counted with seeds.

    Notes
    -----
    Analysis of variance with random effects; each mean square is that of fitting its source last (Henderson's third
    method), so that the estimates are unbiased for any distribution and any counts. Limits of a difference of mean
    squares are the modified large-sample ones of Ting, Burdick, Graybill, Jeyaratnam and Lu (1990), which for equal
    counts and normal effects are close to exact; those of the share are by the ratio of the mean squares. Distributions
    with heavier tails make mean squares vary more than the chi-squared distribution says: the logarithms of its
    quantiles are stretched by how much more the jackknife over the levels of the source says that the log mean square
    varies (for one mean square, Miller 1968), and by an allowance found by simulation.

    Examples
    --------
    >>> runs = variance_components([.80, .82, .70, .72, .90, .92], list("aabbcc"))
    >>> [(source.name, source.levels, round(source.variance, 6)) for source in runs.sources]
    [('configuration', 3, 0.0099), ('seed', 6, 0.0002)]
    """
    values = _check.as_scores(scores, at_least=3)
    confidence = _check.as_confidence(confidence)
    columns = np.zeros(values.size, dtype=np.int64)
    if split is not None:
        codes = _codes(split, values.size, "split")
        if codes.max() < min(_SPLITS, values.size // 2):  # else nearly every run has its own
            columns = codes
    cells = _NestedCells.of(values, _codes(configuration, values.size, "configuration"), columns)
    squares = cells.squares()
    if squares.seeds.df < 1:
        raise InputError("variance by source needs several runs of a configuration, and every run has its own")
    if squares.configurations.df < 1:
        raise InputError("variance by source needs at least 2 configurations, and all runs have the same")
    without_rows = [part.squares() for part in cells.without(axis=0)]
    seeds = squares.seeds.stretched([part.seeds for part in without_rows])
    rows = squares.configurations.stretched([part.configurations for part in without_rows])
    sources = [_source(rows, seeds, confidence)]
    limits = None
    if squares.splits is None:
        limits = _share_limits(rows, seeds, confidence)
    else:
        left_out = [part.squares().splits for part in cells.without(axis=1)]
        sources.append(_source(squares.splits.stretched([square for square in left_out if square]), seeds, confidence))
    low, high = seeds.value / seeds.quantiles(confidence)[::-1]
    sources.append(VarianceSource("seed", values.size, seeds.df, 1.0, seeds.value, float(low), float(high)))
    return VarianceComponents(tuple(sources), float(values.mean()), values.size, confidence, limits)


def _codes(labels: Sequence[object] | npt.NDArray[np.generic], size: int, name: str) -> IntArray:
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(str(label), len(known)) for label in labels], dtype=np.int64)
    if codes.size != size:
        raise InputError(f"{name} must have one value per run, got {codes.size} for {size} scores")
    return codes


@dataclass(frozen=True)
class _Square:
    """A mean square: its expectation is ``repeats`` times the variance of its source, and that of seeds."""

    name: str
    levels: int
    df: int
    value: float
    repeats: float
    down: float = 1.0
    up: float = 1.0
    """How many times as far below and above its expectation it may be as for normal effects, in logarithms."""

    @classmethod
    def of(cls, name: str, levels: int, df: int, total: float, weight: float) -> _Square:
        """From the sum of squares, and how often that holds the variance of the source."""
        if df < 1:
            return cls(name, levels, df, math.nan, math.nan)
        return cls(name, levels, df, float(max(total, 0.0) / df), float(weight / df))

    def stretched(self, left_out: Sequence[_Square]) -> _Square:
        """With the spread that shows where each level in turn is left out."""
        parts = np.array([part.value for part in left_out])
        times = 1.0
        if parts.size >= _FEWEST_LEVELS and (parts > 0).all():
            logs = np.log(parts)
            variance = (parts.size - 1) / parts.size * float(((logs - logs.mean()) ** 2).sum())
            times = variance * self.df / 2  # log chi-squared varies by about 2 / df
        down, up = (math.sqrt(_ALLOWANCE * min(max(times, 1.0), most)) for most in _MOST_TIMES_NORMAL)
        return replace(self, down=down, up=up)

    def quantiles(self, confidence: float) -> FloatArray:
        """The lower and upper quantile of the mean square in terms of its expectation."""
        from scipy.special import chdtri

        tail, df = (1 - confidence) / 2, self.df
        return np.array([(float(chdtri(df, 1 - tail)) / df) ** self.down, (float(chdtri(df, tail)) / df) ** self.up])

    def ratio(self, below: _Square, level: float) -> float:
        """A quantile of the ratio to another mean square, each in terms of its expectation."""
        from scipy.special import fdtri

        far, near = (self.up, below.down) if level > 0.5 else (self.down, below.up)
        spread = (far**2 / self.df + near**2 / below.df) / (1 / self.df + 1 / below.df)
        return math.pow(float(fdtri(self.df, below.df, level)), math.sqrt(spread))


class _Squares(NamedTuple):
    configurations: _Square
    seeds: _Square
    splits: _Square | None = None


@dataclass(frozen=True, eq=False)
class _NestedCells:
    """Runs of every configuration (row) on every split (column): how many, their sum, and the sum of squares."""

    count: FloatArray
    total: FloatArray
    square: FloatArray

    @classmethod
    def of(cls, values: FloatArray, rows: IntArray, columns: IntArray) -> _NestedCells:
        shape = int(rows.max()) + 1, int(columns.max()) + 1
        place = rows * shape[1] + columns
        centred = values - values.mean()  # sums of squares of what is far from 0 would lose digits
        tables = [np.bincount(place, weight, math.prod(shape)) for weight in (None, centred, centred**2)]
        return cls(*(table.reshape(shape).astype(np.float64) for table in tables))

    def without(self, axis: int) -> Iterator[_NestedCells]:
        """The same without each configuration (or split) in turn, or without blocks of them where there are many."""
        levels = self.count.shape[axis]
        for left_out in np.array_split(np.arange(levels), min(levels, _PARTS)) if levels >= _FEWEST_LEVELS else ():
            tables = [np.delete(table, left_out, axis) for table in (self.count, self.total, self.square)]
            held = tables[0].any(axis)
            yield _NestedCells(*(table[held] if axis else table[:, held] for table in tables))

    def squares(self) -> _Squares:
        """The mean squares, each source fitted last; without splits where they cannot be told from the others."""
        n_rows, n_columns = self.count.shape
        n, sums = self.count.sum(axis=1), self.total.sum(axis=1)
        runs, grand = n.sum(), sums.sum() ** 2 / n.sum()
        fitted = float((sums**2 / n).sum())
        inside = float(self.square.sum()) - fitted
        if n_columns > 1:
            by_column, column_sums = self.count.sum(axis=0), self.total.sum(axis=0)
            # the normal equations of splits after configurations: E[q' D+ q] = variance tr(D) + residual rank(D)
            equations = np.diag(by_column) - self.count.T @ (self.count / n[:, None])
            right = column_sums - self.count.T @ (sums / n)
            rank = int(np.linalg.matrix_rank(equations, hermitian=True))
            explained = float(right @ np.linalg.pinv(equations, hermitian=True) @ right)
            row_df = n_rows + rank - n_columns
            seed_df = int(runs) - n_rows - rank
            if rank > 0 and row_df > 0 and seed_df > 0:
                after = fitted + explained - float((column_sums**2 / by_column).sum())
                weight = runs - float((self.count**2 / by_column).sum())
                return _Squares(
                    _Square.of("configuration", n_rows, row_df, after, weight),
                    _Square.of("seed", int(runs), seed_df, inside - explained, seed_df),
                    _Square.of("split", n_columns, rank, explained, float(np.trace(equations))),
                )
        df, weight = int(runs) - n_rows, runs - float((n**2).sum()) / runs
        return _Squares(
            _Square.of("configuration", n_rows, n_rows - 1, fitted - grand, weight),
            _Square.of("seed", int(runs), df, inside, df),
        )


def _source(square: _Square, seeds: _Square, confidence: float) -> VarianceSource:
    """A source's variance from its mean square and that of seeds, with limits: Ting et al. 1990, eqs. 2.1 to 2.4."""
    tail = (1 - confidence) / 2
    (down, up), (second_down, second_up) = square.quantiles(confidence), seeds.quantiles(confidence)
    first, second, repeats = square.value, seeds.value, square.repeats

    def reach(below: float, above: float, ratio: float) -> float:
        mixed = ((ratio - 1) ** 2 - (below * ratio) ** 2 - above**2) / ratio
        return math.sqrt(max((below * first) ** 2 + (above * second) ** 2 + mixed * first * second, 0.0))

    low = first - second - reach(1 - 1 / up, 1 / second_down - 1, square.ratio(seeds, 1 - tail))
    high = first - second + reach(1 / down - 1, 1 - 1 / second_up, square.ratio(seeds, tail))
    variance = (first - second) / repeats
    limits = float(max(low / repeats, min(variance, 0.0))), float(max(high / repeats, 0.0))
    return VarianceSource(square.name, square.levels, square.df, repeats, variance, *limits)


def _share_limits(square: _Square, seeds: _Square, confidence: float) -> tuple[float, float] | None:
    """Limits for the configurations' part of the total, from the ratio of the mean squares; None if nothing differs."""
    if not seeds.value > 0:
        return None if not square.value > 0 else (1.0, 1.0)
    tail = (1 - confidence) / 2
    observed = square.value / seeds.value
    times = [max(observed / square.ratio(seeds, level) - 1, 0.0) / square.repeats for level in (1 - tail, tail)]
    low, high = (variance / (1 + variance) for variance in times)
    return low, high
