"""Figures of simulations: true curves, mean estimates and wrong winners ([T] figs. 1, 2), coverage, how often an
estimate falls below the truth ([T] figs. 3, 4); ways to sum up m experiments ([B] figures 2, 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from levelbest._check import BoolArray, FloatArray
from levelbest.report.figures.curves import DASHES, ONE_COLUMN, new_axes, new_figure, open_frame
from levelbest.simulation.battery import Simulation, clopper_pearson
from levelbest.simulation.distributions import Distribution, JointDistribution
from levelbest.simulation.summaries import BEST_OF_N, SUMMARIES, Summaries
from levelbest.trials.colours import GREY, LIGHT

_SHOWN, _BINS = 200_000, 511
"""Levels behind the picture of a distribution, smooth in 120 bins; bins of a kernel density ([T] section 4)."""

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def coverage_figure(simulation: Simulation) -> Figure:
    """The distribution that samples came from ([T] figure 5), and below it what intervals and estimates did."""
    figure = new_figure(2 * ONE_COLUMN, 1.6 * ONE_COLUMN)
    upper, lower = figure.subplots(2, 1, height_ratios=(1, 2.4))
    plan = simulation.plan
    upper.fill_between(*_density(plan.distribution), color="0.45", alpha=0.5, linewidth=0)
    upper.set_ylim(bottom=0)
    upper.set_xlabel("score")
    upper.set_ylabel("density")
    upper.set_title(f"{plan.distribution.name}, {plan.n_trials} trials", fontsize=8, loc="left")
    open_frame(upper)
    _draw_coverage(lower, simulation)
    return figure


def _density(distribution: Distribution | JointDistribution) -> tuple[FloatArray, FloatArray]:
    """Scores and their density: of a discrete distribution, such as the bins of a kernel density, at each score."""
    if isinstance(distribution, Distribution):
        scores = distribution.quantile((np.arange(_SHOWN) + 0.5) / _SHOWN)
    else:
        scores = distribution.draw(np.random.default_rng(0), (1, _SHOWN))[0][0]
    values, counts = np.unique(scores, return_counts=True)
    if values.size <= _BINS:
        return values, counts / _SHOWN / (np.diff(values).min() if values.size > 1 else 1.0)
    counts, edges = np.histogram(scores, bins=120, range=tuple(np.quantile(scores, [0.0005, 0.9995])))
    return (edges[1:] + edges[:-1]) / 2, counts / _SHOWN / np.diff(edges)


def _draw_coverage(ax: Axes, simulation: Simulation) -> None:
    """Coverage of each interval against n with exact limits, the nominal one dashed, and P(estimate < truth) dotted."""
    n = np.array(simulation.plan.n)
    for i, method in enumerate(simulation.plan.methods):
        share = simulation.covered[method]
        limits = np.array([clopper_pearson(covered, simulation.n_samples) for covered in share])
        colour = LIGHT[i % GREY]
        ax.plot(n, share, color=colour, linestyle=DASHES[i % len(DASHES)], marker="o", markersize=3, label=method)
        ax.fill_between(n, limits[:, 0], limits[:, 1], color=colour, alpha=0.18, linewidth=0)
    ax.plot(n, simulation.below_truth, color="0.4", linestyle=":", label=f"P({simulation.plan.estimator} < truth)")
    ax.axhline(simulation.plan.confidence, color="0.3", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.axhline(0.5, color="0.8", linewidth=0.6)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("n")
    ax.set_ylabel("share of samples")
    ax.legend(frameon=False, fontsize=7)
    open_frame(ax)


def against_figure(
    rows: Sequence[Mapping[str, Any]], names: tuple[str, str], *, estimator: str, n_trials: int
) -> Figure:
    """True curves and mean estimates of two distributions, shaded where the means name the wrong winner; below them how
    often one sample of each does."""
    figure = new_figure(2 * ONE_COLUMN, 1.5 * ONE_COLUMN)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.4, 1))
    column = {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}
    n = column["n"]
    for i, (name, kind) in enumerate(zip(names, ("", "against_"), strict=True)):
        upper.plot(n, column[f"{kind}truth"], color=LIGHT[i], linewidth=2.4, alpha=0.4, label=f"{name}, true")
        mean = f"mean of {estimator.upper() if len(estimator) == 1 else estimator}"
        upper.plot(n, column[f"{kind}mean_estimate"], color=LIGHT[i], linestyle=DASHES[1], label=f"{name}, {mean}")
    wrong = (column["mean_estimate"] - column["against_mean_estimate"]) * column["true_difference"] < 0
    if wrong.any():
        for ax in (upper, lower):
            for start, stop in _runs(wrong):
                ax.axvspan(n[start] - 0.5, n[stop] + 0.5, color="0.5", alpha=0.16, linewidth=0)
        upper.plot([], [], color="0.5", alpha=0.25, linewidth=6, label="the means name the wrong winner")
    lower.plot(n, column["false_winner"], color="0.25")
    lower.fill_between(n, column["low"], column["high"], color="0.25", alpha=0.18, linewidth=0)
    lower.axhline(0.5, color="0.8", linewidth=0.6)
    upper.set_ylabel("expected best of n")
    lower.set_ylabel("wrong winner")
    lower.set(ylim=(0, 1), xlim=(n[0] - 0.5, n[-1] + 0.5))
    lower.set_xlabel(f"n, of {n_trials} trials")
    upper.legend(frameon=False, fontsize=7, ncols=2)
    for ax in (upper, lower):
        open_frame(ax)
    return figure


def _runs(chosen: BoolArray) -> list[tuple[int, int]]:
    """First and last place of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(np.int8), [0]])))
    return [(int(start), int(stop) - 1) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def draw_spreads(summaries: Summaries, ax: Axes | None = None) -> Axes:
    """The standard deviation of each estimator of the expected best of n against the number of experiments."""
    ax = new_axes() if ax is None else ax
    for i, (name, sd) in enumerate(summaries.sd.items()):
        known = np.isfinite(sd)
        ax.plot(summaries.sizes[known], sd[known], color=LIGHT[i], linestyle=DASHES[i], label=name)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("experiments run")
    ax.set_ylabel(f"SD of the best of {summaries.n}")
    ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax


def draw_summaries(summaries: Summaries, ax: Axes | None = None, *, score: str = "score") -> Axes:
    """Each summary's mean against the number of experiments, with the limits that hold 95 % of the samples."""
    ax = new_axes() if ax is None else ax
    for i, name in enumerate(SUMMARIES):
        known = np.isfinite(summaries.mean[name])
        size = summaries.sizes[known]
        label = f"expected best of {summaries.n}" if name == BEST_OF_N else name
        ax.fill_between(
            size, summaries.low[name][known], summaries.high[name][known], color=LIGHT[i], alpha=0.15, linewidth=0
        )
        ax.plot(size, summaries.mean[name][known], color=LIGHT[i], linestyle=DASHES[i], label=label)
    ax.set_xlabel("experiments run")
    ax.set_ylabel(score)
    ax.legend(frameon=False, fontsize=7)
    open_frame(ax)
    return ax
