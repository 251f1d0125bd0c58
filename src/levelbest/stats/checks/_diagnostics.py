"""Statistics that check the random-sample assumption, and descriptive statistics.

Every function takes plain arrays and gives numbers; which number is worth a warning is decided where warnings are made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray, IntArray, Seed


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Spearman's rank correlation (ties share the mean rank); NaN for fewer than 3 pairs or a constant column."""
    x, y = _check.as_scores(a, "a"), _check.as_scores(b, "b")
    if x.size < 3 or x.min() == x.max() or y.min() == y.max():
        return float("nan")
    p, q = _centred_ranks(x), _centred_ranks(y)
    return float(np.clip(p @ q / np.sqrt((p @ p) * (q @ q)), -1.0, 1.0))


def p_positive(rho: float, n: int) -> float:
    """The one-sided p-value that a rank correlation of n pairs is positive: Student's t, n - 2 degrees of freedom."""
    if math.isnan(rho) or abs(rho) == 1.0:
        return rho if math.isnan(rho) else float(rho < 0)
    from scipy.special import stdtr

    return float(stdtr(n - 2, -rho * np.sqrt((n - 2) / ((1.0 - rho) * (1.0 + rho)))))


def _centred_ranks(scores: FloatArray) -> FloatArray:
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse.ravel()]
    return np.asarray(ranks - ranks.mean())


def trend(scores: npt.ArrayLike, order: npt.ArrayLike | None = None, direction: str = "max") -> float:
    """Rank correlation of score with order, positive where later trials are better.

    Exchangeable trials have none; an adaptive search improves as it goes.
    """
    values = _check.as_scores(scores)
    when = np.arange(values.size, dtype=np.float64) if order is None else _check.as_scores(order, "order")
    return rank_correlation(when, _check.sign_of(direction) * values)


def distinct_values(scores: npt.ArrayLike) -> int:
    """How many different scores there are."""
    return int(np.unique(_check.as_scores(scores)).size)


def tied_share(scores: npt.ArrayLike) -> float:
    """The share of trials whose score is also another trial's."""
    _, counts = np.unique(_check.as_scores(scores), return_counts=True)
    return float(counts[counts > 1].sum() / counts.sum())


@dataclass(frozen=True)
class Outlier:
    """The best score against the others of its family."""

    score: float
    distance: float
    """From the better quartile, in interquartile ranges."""
    gap: float
    """To the second best, in interquartile ranges."""
    position: int


def outlying_best(scores: npt.ArrayLike, direction: str = "max") -> Outlier | None:
    """How far the best score lies outside; None for fewer than 8 trials or no spread."""
    values = _check.as_scores(scores)
    up = _check.sign_of(direction) * values
    if up.size < 8:
        return None
    # The quartiles leave the suspect out, else one wild score in a few would widen its own yardstick.
    position = int(np.argmax(up))
    rest = np.delete(up, position)
    low, high = np.quantile(rest, [0.25, 0.75])
    if not high > low:
        return None
    distance, gap = (float(up[position] - other) / float(high - low) for other in (high, rest.max()))
    return Outlier(float(values[position]), distance, gap, position)


def configuration_codes(columns: Sequence[IntArray], n_trials: int) -> IntArray:
    """One code per trial, equal where all columns (themselves codes) are equal."""
    codes = np.zeros(n_trials, dtype=np.int64)
    for column in columns:
        _, inner = np.unique(column, return_inverse=True)
        _, codes = np.unique(codes * (int(inner.max(initial=0)) + 1) + inner.ravel(), return_inverse=True)
        codes = codes.ravel()
    return codes


_RARE = float(np.log(1e-3))
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Grid:
    """A grid of settings: the levels of each varied column, and how much of their product was run."""

    levels: tuple[int, ...]
    cells: int
    filled: int

    @property
    def share(self) -> float:
        """The part of the grid that was run."""
        return self.filled / self.cells


def grid_design(columns: Sequence[IntArray]) -> Grid | None:
    """The grid that the settings (codes, one array per hyperparameter) form, or None.

    At least half of the combinations of two or more columns' levels were run, and drawing combinations at random would
    hardly ever (less than once in 1,000 times) have covered so many with so few trials, or all of them equally often.
    Levels drawn with unequal chances cover fewer, so the rule errs on the silent side. Values that do not repeat cross
    with nothing: each column has two trials for each of its levels, or nearly all combinations were run.
    """
    varied = [column for column in columns if np.unique(column).size > 1]
    if len(varied) < 2:
        return None
    n_trials = varied[0].size
    levels = tuple(int(np.unique(column).size) for column in varied)
    cells = math.prod(levels)
    if cells > 2 * n_trials:
        return None
    counts = np.bincount(configuration_codes(varied, n_trials))
    filled = int(counts.size)
    if filled < max(4, cells / 2) or (2 * max(levels) > n_trials and filled < _NEARLY_ALL * cells):
        return None
    even = filled == cells and counts.min() == counts.max() and log_even(n_trials, cells) < _RARE
    return Grid(levels, cells, filled) if even or _log_covered(n_trials, cells, filled) < _RARE else None


def log_even(n_trials: int, cells: int) -> float:
    """log P(n_trials draws hit every cell equally often), multinomial."""
    from scipy.special import gammaln

    return float(gammaln(n_trials + 1) - cells * gammaln(n_trials / cells + 1) - n_trials * np.log(cells))


def _log_covered(n_trials: int, cells: int, filled: int) -> float:
    """log P(n_trials draws cover at least ``filled`` of the cells), by one step per draw."""
    if n_trials > 20 * cells or n_trials > 5000:
        return 0.0
    chance = np.zeros(cells + 1)
    chance[0] = 1.0
    seen = np.arange(cells + 1) / cells
    for _ in range(n_trials):
        new = chance[:-1] * (1.0 - seen[:-1])
        chance *= seen
        chance[1:] += new
    covered = float(chance[filled:].sum())
    return float(np.log(covered)) if covered > 0 else float("-inf")


def evenly_spaced(values: npt.ArrayLike) -> bool:
    """Whether six values or more are all different and lie at equal steps, as they are or in their logarithms."""
    x = np.sort(_check.as_scores(values, "values"))
    if x.size < 6 or (np.diff(x) == 0).any():
        return False
    scales = [x] if x[0] <= 0 else [x, np.log(x)]
    return any(bool(np.ptp(np.diff(scale)) <= 1e-6 * np.diff(scale).mean()) for scale in scales)


@dataclass(frozen=True)
class Stopped:
    """Groups with a success, all of whose successes are among their last samples."""

    groups: int
    batch: int
    """So many samples were drawn at a time: 1 where each success is the only one and the last."""
    log_chance: float
    """The logarithm of the chance of this were samples exchangeable."""


def stops_at_success(
    success: npt.ArrayLike, group: npt.ArrayLike, order: npt.ArrayLike | None = None
) -> Stopped | None:
    """Whether every success lies in the last batch of its group: sampling went on until there was one.

    Such samples depend on their results, and pass@k from them is biased. Batches have the size that divides the number
    of samples of every group. Were samples exchangeable, c successes of s samples would all be among the last b with
    probability C(b, c) / C(s, c).
    """
    from scipy.special import gammaln

    won = np.asarray(success, dtype=bool)
    place = np.arange(won.size) if order is None else np.asarray(order)
    code = np.asarray(group)
    ordered = np.lexsort((place, code))
    won, code = won[ordered], code[ordered]
    if not won.any():
        return None
    sizes = np.bincount(code)
    from_end = np.cumsum(sizes)[code] - np.arange(code.size)  # 1 for the last sample
    wins = np.bincount(code[won], minlength=sizes.size)
    held = wins > 0
    together = int(np.gcd.reduce(sizes[sizes > 0]))
    for batch in sorted({1, together}):
        if (from_end[won] <= batch).all():
            c, s = wins[held], sizes[held]
            log_ratios = gammaln(batch + 1) - gammaln(batch - c + 1) - gammaln(s + 1) + gammaln(s - c + 1)
            return Stopped(int(held.sum()), batch, float(log_ratios.sum()))
    return None


def iqr_error(scores: npt.ArrayLike, *, n_resamples: int = _check.N_RESAMPLES, rng: Seed = 0) -> float:
    """The bootstrap standard error of the interquartile range; NaN for fewer than 4 trials.

    A resample's order statistics are those of m uniforms read off the sorted scores, X*_(k) = X_(1+floor(m U_(k))).
    Only four of them matter, and gaps between uniform order statistics are gamma draws over their sum: each resample
    costs five draws however many trials there are.
    """
    x = np.sort(_check.as_scores(scores))
    m = x.size
    if m < 4:
        return float("nan")
    place = np.array([0.25, 0.75]) * (m - 1)
    below = np.floor(place).astype(np.int64)
    share = place - below
    ranks = np.unique(np.r_[below, below + 1]) + 1  # from 1; m >= 4 keeps them apart from m + 1
    gaps = np.diff(np.r_[0, ranks, m + 1]).astype(np.float64)
    draws = _check.as_rng(rng).standard_gamma(gaps, size=(n_resamples, gaps.size))
    uniform = np.cumsum(draws[:, :-1], axis=1) / draws.sum(axis=1, keepdims=True)
    values = x[np.minimum((uniform * m).astype(np.int64), m - 1)]
    low, high = np.searchsorted(ranks, below + 1), np.searchsorted(ranks, below + 2)
    quartiles = values[:, low] * (1.0 - share) + values[:, high] * share
    return float((quartiles[:, 1] - quartiles[:, 0]).std(ddof=1))
