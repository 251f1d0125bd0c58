"""What a family's scores look like: the numbers and pictures of [B] section 5 and appendix C, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, Seed
from levelbest._plain import Frame, as_frame, cell_text, picked, round_to_uncertainty, show_number
from levelbest._shown import Shown
from levelbest.designs._input import as_trials
from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.variance import family_variances
from levelbest.results import TRIALS, DesignWords, FamilyVariance
from levelbest.stats.best import Normality, normality
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import OK, Trials
from levelbest.trials.spaces import is_known, machine_columns

_NAN = float("nan")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Histogram:
    """Counts between edges."""

    edges: FloatArray
    counts: npt.NDArray[np.int64]


@dataclass(frozen=True)
class ScoreDistribution:
    """The scores of one column, over the trials that have it."""

    score: str
    """The column's name."""
    mean: float
    sd: float
    quantiles: dict[float, float]
    iqr: float
    iqr_error: float
    """Bootstrap standard error of the interquartile range."""
    min: float
    max: float
    normality: Normality | None
    """Anderson-Darling test; None where no trial has a score."""
    histogram: Histogram

    @property
    def median(self) -> float:
        """The median score."""
        return self.quantiles[0.5]

    def numbers(self) -> dict[str, object]:
        """The form that ``--json`` prints, without the name."""
        return picked(self, "mean", "sd", "median", "iqr", "min", "max")

    def shape(self) -> dict[str, object]:
        """More of the same: what the numbers alone do not show."""
        return {
            "iqr_error": self.iqr_error,
            "quantiles": [{"q": q, "value": value} for q, value in self.quantiles.items()],
            "anderson_darling": {
                "statistic": self.normality.statistic if self.normality else _NAN,
                "p_value": self.normality.p_value if self.normality else _NAN,
            },
            "histogram": {"edges": self.histogram.edges, "counts": self.histogram.counts},
        }


@dataclass(frozen=True)
class Winner:
    """The trial that would be published: its scores, its configuration, and where its files are."""

    selection: float
    reported: float
    configuration: Mapping[str, str]
    searched: tuple[str, ...] = ()
    """Those of its settings that differ between the family's trials."""
    path: str = ""
    """Below what was read; empty where the source does not tell."""

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        settings = {"configuration": dict(self.configuration), "path": self.path or None}
        return picked(self, "selection", "reported") | settings


@dataclass(frozen=True, repr=False)
class Description(ScoreDistribution, Shown):
    """One family: its selection scores, and the reported ones beside them.

    The numbers are those of the trials that have a score; how many have none is ``n_failed``.
    """

    family: str
    n_trials: int
    n_failed: int
    n_running: int
    claimed: ScoreDistribution | None = None
    """The reported scores ([B] section 4), where they are separate."""
    spearman: float = _NAN
    pairs: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False)
    """Selection and reported scores of the trials that have both."""
    cost_mean: float = _NAN
    cost_total: float = _NAN
    cost_unit: str | None = None
    n_groups: int | None = None
    n_searches: int | None = None
    n_configurations: int | None = None
    variance: FamilyVariance | None = None
    """By source, where configurations have several runs."""
    winner: Winner | None = None
    """The trial with the best selection score; None where none has one, and of samples of problems."""

    @property
    def words(self) -> DesignWords:
        """What its trials are called: samples, where they are of problems."""
        return TRIALS if self.n_groups is None else ProblemsDesign.words

    @property
    def reported(self) -> str | None:
        """The reported score's name."""
        return None if self.claimed is None else self.claimed.score

    @property
    def reported_mean(self) -> float:
        """Of the reported scores."""
        return _NAN if self.claimed is None else self.claimed.mean

    @property
    def reported_sd(self) -> float:
        """Of the reported scores."""
        return _NAN if self.claimed is None else self.claimed.sd

    @property
    def reported_iqr(self) -> float:
        """Of the reported scores."""
        return _NAN if self.claimed is None else self.claimed.iqr

    def __repr__(self) -> str:
        return f"Description({self})"

    def __str__(self) -> str:
        error = self.sd / np.sqrt(max(self.n_trials - self.n_failed, 1))
        decimals = round_to_uncertainty(self.mean, self.mean - error, self.mean + error)
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return (
            f"{self.family}: {self.words.count(self.n_trials)}{failed}; mean {self.score} "
            f"{show_number(self.mean, decimals)} (sd {show_number(self.sd, decimals)}), median "
            f"{show_number(self.median, decimals)}, interquartile range "
            f"{show_number(self.iqr, decimals)} (error {show_number(self.iqr_error, decimals)})"
        )

    def to_frame(self) -> Frame:
        """One row per score, as a dataframe of pandas where it is installed, else of polars."""
        scores = [description for description in (self, self.claimed) if description is not None]
        counts = picked(self, "family", "n_trials", "n_failed", "spearman")
        rows = [counts | {"score": description.score} | description.numbers() for description in scores]
        return as_frame({name: [row[name] for row in rows] for name in rows[0]})

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        claimed = self.claimed
        return {
            **picked(self, "family", "n_trials", "n_failed"),
            **self.numbers(),
            **picked(self, "spearman", "reported_mean", "reported_sd"),
            **self.shape(),
            "reported_iqr": self.reported_iqr,
            "reported": None if claimed is None else {"score": claimed.score, **claimed.numbers(), **claimed.shape()},
            "n_running": self.n_running,
            "cost": {"mean": self.cost_mean, "total": self.cost_total, "unit": self.cost_unit},
            **picked(self, "n_groups", "n_searches", "n_configurations"),
            "variance": None if self.variance is None else self.variance.to_dict(),
            "best": None if self.winner is None else self.winner.to_dict(),
        }


def describe(trials: object, *, rng: Seed = 0, **reading: object) -> tuple[Description, ...]:
    """What the scores of each family look like.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes, with its arguments as ``reading``.
    rng
        Of the bootstrap behind the error of the interquartile range.

    Returns
    -------
    tuple of Description
        In the order of the families.

    Examples
    --------
    >>> (described,) = describe([0.7, 0.8, 0.9], direction="max")
    >>> round(described.mean, 3), described.median
    (0.8, 0.8)
    """
    table = as_trials(trials, reading)
    return tuple(_described(table[name], rng) for name in table.families)


def _described(trials: Trials, rng: Seed) -> Description:
    ok = trials.status == OK
    chosen_by = _distribution(trials.metric.selection, trials.selection[ok], rng)
    claimed, pairs = None, None
    if trials.reported is not None:
        both = ok & np.isfinite(trials.reported)
        pairs = trials.selection[both], trials.reported[both]
        claimed = _distribution(trials.metric.reported or "reported", pairs[1], rng)
    n_configurations = None
    if trials.configuration and len(trials) <= 1_000_000:
        rows = zip(*(column.tolist() for column in trials.configuration.values()), strict=True)
        n_configurations = len({tuple(map(repr, row)) for row in rows})
    spent = np.empty(0) if trials.cost is None else trials.cost[np.isfinite(trials.cost)]
    return Description(
        **vars(chosen_by),
        family=trials.families[0],
        n_trials=trials.n_trials,
        n_failed=trials.n_failed,
        n_running=trials.n_running,
        claimed=claimed,
        spearman=trials.spearman,
        pairs=pairs,
        n_groups=None if trials.group is None else int(np.unique(trials.group).size),
        n_searches=None if trials.search is None else int(np.unique(trials.search).size),
        n_configurations=n_configurations,
        variance=next(iter(family_variances(trials)), None),
        winner=_winner(trials),
        cost_mean=float(spent.mean()) if spent.size else _NAN,
        cost_total=float(spent.sum()) if spent.size else _NAN,
        cost_unit=None if trials.cost is None else trials.metric.cost_unit,
    )


def _winner(trials: Trials) -> Winner | None:
    scores = np.where(trials.status == OK, trials.metric.sign * trials.selection, -np.inf)
    if trials.group is not None or not np.isfinite(scores).any():
        return None
    at = int(np.argmax(scores))
    hidden = machine_columns(trials)
    shown = {key.removeprefix("config."): column for key, column in trials.configuration.items() if key not in hidden}
    return Winner(
        selection=float(trials.selection[at]),
        reported=_NAN if trials.reported is None else float(trials.reported[at]),
        configuration={key: cell_text(column[at]) for key, column in shown.items() if is_known(column[at])},
        searched=tuple(key for key, column in shown.items() if len({cell_text(cell) for cell in column}) > 1),
        path="" if trials.path is None else str(trials.path[at] or ""),
    )


def _distribution(name: str, column: FloatArray, rng: Seed) -> ScoreDistribution:
    scores = np.asarray(column, dtype=np.float64)
    quantiles = np.quantile(scores, QUANTILES) if scores.size else np.full(len(QUANTILES), _NAN)
    return ScoreDistribution(
        score=name,
        mean=float(scores.mean()) if scores.size else _NAN,
        sd=float(scores.std(ddof=1)) if scores.size > 1 else _NAN,
        quantiles=dict(zip(QUANTILES, map(float, quantiles), strict=True)),
        iqr=float(quantiles[3] - quantiles[1]),
        iqr_error=diagnostics.iqr_error(scores, rng=rng) if scores.size else _NAN,
        min=float(scores.min()) if scores.size else _NAN,
        max=float(scores.max()) if scores.size else _NAN,
        normality=normality(scores) if scores.size else None,
        histogram=histogram(scores),
    )


def histogram(scores: Sequence[float] | FloatArray, bins: int = 12) -> Histogram:
    """Counts in equal steps; where there are few different scores, one step for each."""
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        return Histogram(np.array([]), np.array([], dtype=np.int64))
    low, high = float(values.min()), float(values.max())
    distinct = np.unique(values) if values.size < 100_000 else values[:0]
    if 1 < distinct.size <= bins and np.allclose(np.diff(distinct), np.diff(distinct)[0]):
        step = float(np.diff(distinct)[0])
        edges = np.append(distinct - step / 2, distinct[-1] + step / 2)
    else:
        # Freedman and Diaconis' width, within what a page or a terminal shows.
        spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
        width = 2 * spread / np.cbrt(values.size)
        wanted = int(np.clip(np.ceil((high - low) / width), 5, bins)) if width > 0 else bins
        edges = np.linspace(low, high, wanted + 1) if high > low else np.array([low - 0.5, low + 0.5])
        if not (np.diff(edges) > 0).all():  # scores so close that the steps vanish in rounding
            edges = np.array([low, np.nextafter(high, np.inf)])
    counts, _ = np.histogram(values, edges)
    return Histogram(edges, counts.astype(np.int64))
