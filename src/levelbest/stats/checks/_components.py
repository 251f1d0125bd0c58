"""Variance by source: how much configurations, data splits and seeds make the score of a run differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray
from levelbest.errors import InputError

__all__ = ["Source", "VarianceComponents", "variance_components"]

_PARTS = 100
"""More levels than these are left out in so many blocks."""
_FEWEST = 3
"""Levels from which leaving one out tells of the spread of a mean square."""
_ALLOWANCE = 1.3
"""The jackknife's variance of a log mean square is taken so many times: where tails are heavy it is too small in most
samples. Simulated at 8 x 4 to 50 x 3 runs, t5: seeds .914 to .928 without it and .939 to .955 with it, configurations
.914 to .951 and .939 to .963; for normal laws limits are 6 to 23 % wider for it."""
_SPLITS = 500
"""More levels are no data splits."""


@dataclass(frozen=True)
class Source:
    """What one source of differences adds to the variance of a run's score."""

    name: str
    """``configuration``, ``split``, or ``seed``: all else that differs between runs."""
    levels: int
    df: int
    mean_square: float
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

    sources: tuple[Source, ...]
    mean: float
    n_trials: int
    confidence: float

    def __getitem__(self, name: str) -> Source:
        """One source by its name."""
        names = [source.name for source in self.sources]
        return self.sources[names.index(_check.as_choice(name, names, "source"))]

    @property
    def total(self) -> float:
        """The variance of the score of one run of a configuration, on a split, with a seed drawn anew."""
        return sum(max(source.variance, 0.0) for source in self.sources)

    def share(self, name: str) -> float:
        """The part of the total that a source has; NaN where nothing differs."""
        return max(self[name].variance, 0.0) / self.total if self.total > 0 else math.nan


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
    method), so that the estimates are unbiased for any law and any counts. Limits of a difference of mean squares are
    the modified large-sample ones of Ting, Burdick, Graybill, Jeyaratnam and Lu (1990), which for equal counts and
    normal effects are close to exact. Laws with heavier tails make mean squares vary more than the chi-squared law
    says: degrees of freedom are those at which it would spread as the jackknife over the levels of the source says, and
    30 % more, where these are fewer (for one mean square, Miller 1968; the allowance by simulation).

    Examples
    --------
    >>> runs = variance_components([.80, .82, .70, .72, .90, .92], list("aabbcc"))
    >>> [(source.name, source.levels, round(source.variance, 6)) for source in runs.sources]
    [('configuration', 3, 0.0099), ('seed', 6, 0.0002)]
    """
    values = _check.as_scores(scores, at_least=3)
    confidence = _check.as_confidence(confidence)
    cells = _Cells.of(values, _codes(configuration, values.size, "configuration"), _split_codes(split, values.size))
    squares = cells.squares()
    if squares.seeds.df < 1:
        raise InputError("variance by source needs several runs of a configuration, and every run has its own")
    if squares.configurations.df < 1:
        raise InputError("variance by source needs at least 2 configurations, and all runs have the same")
    seeds = squares.seeds
    seed_df = _effective_df(seeds.df, [part.squares().seeds.value for part in cells.without_rows()])
    sources = [_source("configuration", squares.configurations, seeds, seed_df, cells.without_rows(), confidence)]
    if squares.splits is not None:
        sources.append(_source("split", squares.splits, seeds, seed_df, cells.without_columns(), confidence))
    low, high = seeds.value / _chi_squared(seed_df, confidence)[::-1]
    last = Source("seed", values.size, seeds.df, seeds.value, 1.0, seeds.value, float(low), float(high))
    return VarianceComponents((*sources, last), float(values.mean()), values.size, confidence)


@dataclass(frozen=True)
class _Square:
    """A mean square: its expectation is ``repeats`` times the variance of its source, and that of seeds."""

    name: str
    levels: int
    df: int
    value: float
    repeats: float


@dataclass(frozen=True)
class _Squares:
    configurations: _Square
    seeds: _Square
    splits: _Square | None


@dataclass(frozen=True, eq=False)
class _Cells:
    """Runs of every configuration (row) on every split (column): how many, their sum, and the sum of squares."""

    count: FloatArray
    total: FloatArray
    square: FloatArray

    @classmethod
    def of(cls, values: FloatArray, rows: IntArray, columns: IntArray) -> _Cells:
        shape = int(rows.max()) + 1, int(columns.max()) + 1
        place = rows * shape[1] + columns
        centred = values - values.mean()  # sums of squares of what is far from 0 would lose digits
        tables = [np.bincount(place, weight, math.prod(shape)) for weight in (None, centred, centred**2)]
        return cls(*(table.reshape(shape).astype(np.float64) for table in tables))

    def without_rows(self) -> Iterator[_Cells]:
        """The same without each configuration in turn, or without blocks of them where there are many."""
        for left_out in _blocks(self.count.shape[0]):
            tables = [np.delete(table, left_out, axis=0) for table in (self.count, self.total, self.square)]
            yield _Cells(*(table[:, tables[0].any(axis=0)] for table in tables))

    def without_columns(self) -> Iterator[_Cells]:
        """The same without each split in turn."""
        for left_out in _blocks(self.count.shape[1]):
            tables = [np.delete(table, left_out, axis=1) for table in (self.count, self.total, self.square)]
            yield _Cells(*(table[tables[0].any(axis=1)] for table in tables))

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
                    _square("configuration", n_rows, row_df, after, weight),
                    _square("seed", int(runs), seed_df, inside - explained, seed_df),
                    _square("split", n_columns, rank, explained, float(np.trace(equations))),
                )
        between, df = fitted - grand, int(runs) - n_rows
        weight = runs - float((n**2).sum()) / runs
        return _Squares(
            _square("configuration", n_rows, n_rows - 1, between, weight),
            _square("seed", int(runs), df, inside, df),
            None,
        )


def _square(name: str, levels: int, df: int, total: float, weight: float) -> _Square:
    if df < 1:
        return _Square(name, levels, df, math.nan, math.nan)
    return _Square(name, levels, df, float(max(total, 0.0) / df), float(weight / df))


def _blocks(levels: int) -> list[IntArray]:
    """What is left out in turn."""
    if levels < _FEWEST:
        return []
    return np.array_split(np.arange(levels), min(levels, _PARTS))


def _effective_df(df: int, left_out: Sequence[float]) -> float:
    """The degrees of freedom at which log chi-squared varies as the log mean square does, at most those there are."""
    parts = np.array(left_out)
    if parts.size < _FEWEST or not (parts > 0).all():
        return float(df)
    logs = np.log(parts)
    variance = (parts.size - 1) / parts.size * float(((logs - logs.mean()) ** 2).sum())
    return float(df) if variance <= 0 else float(np.clip(2 / (_ALLOWANCE * variance), 1.0, df))


def _source(
    name: str, own: _Square, seeds: _Square, seed_df: float, left_out: Iterator[_Cells], confidence: float
) -> Source:
    """A source's variance from its mean square and that of seeds, with limits."""
    squares = [part.squares() for part in left_out]
    parts = [part.configurations if name == "configuration" else part.splits for part in squares]
    df = _effective_df(own.df, [part.value for part in parts if part is not None])
    low, high = _difference_limits(own.value, seeds.value, df, seed_df, confidence)
    variance = (own.value - seeds.value) / own.repeats
    return Source(
        name,
        own.levels,
        own.df,
        own.value,
        own.repeats,
        variance,
        float(max(low / own.repeats, min(variance, 0.0))),
        float(max(high / own.repeats, 0.0)),
    )


def _chi_squared(df: float, confidence: float) -> FloatArray:
    """The lower and upper quantile of chi-squared by its degrees of freedom."""
    from scipy.special import chdtri

    tail = (1 - confidence) / 2
    return np.array([float(chdtri(df, 1 - tail)), float(chdtri(df, tail))]) / df


def _difference_limits(
    first: float, second: float, first_df: float, second_df: float, confidence: float
) -> tuple[float, float]:
    """Limits for the difference of the expectations of two mean squares: Ting et al. 1990, eqs. 2.1 to 2.4."""
    from scipy.special import fdtri

    tail = (1 - confidence) / 2
    (down, up), (second_down, second_up) = _chi_squared(first_df, confidence), _chi_squared(second_df, confidence)
    difference = first - second
    below, above = 1 - 1 / up, 1 / second_down - 1
    ratio = float(fdtri(first_df, second_df, 1 - tail))
    mixed = ((ratio - 1) ** 2 - (below * ratio) ** 2 - above**2) / ratio
    low = difference - math.sqrt(max((below * first) ** 2 + (above * second) ** 2 + mixed * first * second, 0.0))
    below, above = 1 / down - 1, 1 - 1 / second_up
    ratio = float(fdtri(first_df, second_df, tail))
    mixed = ((1 - ratio) ** 2 - (below * ratio) ** 2 - above**2) / ratio
    high = difference + math.sqrt(max((below * first) ** 2 + (above * second) ** 2 + mixed * first * second, 0.0))
    return low, high


def _codes(labels: Sequence[object] | npt.NDArray[np.generic], size: int, name: str) -> IntArray:
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(str(label), len(known)) for label in labels], dtype=np.int64)
    if codes.size != size:
        raise InputError(f"{name} must have one value per run, got {codes.size} for {size} scores")
    return codes


def _split_codes(split: Sequence[object] | npt.NDArray[np.generic] | None, size: int) -> IntArray:
    """All runs on one split where none is named, or where nearly every run has its own."""
    if split is None:
        return np.zeros(size, dtype=np.int64)
    codes = _codes(split, size, "split")
    levels = int(codes.max()) + 1
    return codes if levels <= min(_SPLITS, size // 2) else np.zeros(size, dtype=np.int64)
