"""Variance by source: how much configurations, data splits and seeds make runs differ."""

from __future__ import annotations

import numpy as np

from levelbest.designs._input import as_trials
from levelbest.errors import DataError, named
from levelbest.results import FamilyVariance, Variances
from levelbest.stats.checks import variance_components
from levelbest.trials import OK, Settings, Trials, has_repeats, split_column


def variance(trials: object, *, confidence: float = Settings.confidence, **reading: object) -> Variances:
    """How much of the variance of a run's score comes from configurations, data splits and seeds.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes, with its arguments as ``reading``: configurations that have several
        runs each, told apart by a seed, a data split or nothing at all. A column that is called ``split``, ``fold``,
        ``data_seed`` or the like tells data splits apart.
    confidence
        Of the limits, for each source separately.

    Returns
    -------
    Variances
        For each family that has configurations with several runs; of the reported score where there is one. Runs
        without a score are left out and counted.

    Notes
    -----
    See `levelbest.stats.variance_components`; [B] and Bouthillier et al. (2021, *Accounting for Variance in Machine
    Learning Benchmarks*) say why the sources are to be told apart.

    Examples
    --------
    >>> runs = {"lr": [.1, .1, .2, .2, .3, .3], "seed": [0, 1] * 3, "acc": [.80, .82, .70, .72, .90, .92]}
    >>> (of_runs,) = variance(runs, direction="max")
    >>> [(source.name, round(source.sd, 4)) for source in of_runs.sources]
    [('configuration', 0.0995), ('seed', 0.0141)]
    """
    table = as_trials(trials, reading)
    if not has_repeats(table) or table.group is not None:
        raise DataError(
            "variance by source needs configurations that have several runs each, and there are none; name the seed "
            f"({named('seed_column')}) and the columns of the configuration ({named('configuration')})"
        )
    variances = family_variances(table, confidence=confidence)
    if not variances:
        raise DataError("variance by source needs two configurations with scores, one of them with several runs")
    return variances


def family_variances(trials: Trials, *, confidence: float = Settings.confidence) -> Variances:
    """Of each family that has configurations with several runs; none of the others."""
    if not has_repeats(trials) or trials.group is not None:
        return Variances()
    every = (_of_family(trials[name], confidence) for name in trials.families)
    return Variances(variance for variance in every if variance is not None)


def _of_family(table: Trials, confidence: float) -> FamilyVariance | None:
    scores = table.selection if table.reported is None else table.reported
    kept = np.flatnonzero((table.status == OK) & np.isfinite(scores))
    settings = np.zeros(0) if table.setting is None else table.setting[kept]
    count = int(np.unique(settings).size)
    if not 2 <= count < kept.size:
        return None
    column = split_column(table.configuration)
    splits = None if column is None else table.configuration[column][kept]
    components = variance_components(scores[kept], settings, splits, confidence=confidence)
    split_recorded = any(source.name == "split" for source in components.sources)
    return FamilyVariance(
        family=table.families[0],
        score=table.metric.score,
        components=components,
        n_configurations=count,
        n_runs=int(kept.size),
        n_failed=int(table.n_trials - kept.size),
        split=column if split_recorded else None,
    )
