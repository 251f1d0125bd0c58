"""Configurations that were run several times: their means over seeds, and the data split of each run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.trials.scores import Scores
from levelbest.trials.table import Trials

__all__ = ["by_configuration", "has_repeats", "runs_of", "split_column"]

_SPLITS = ("split", "data_split", "split_seed", "data_seed", "fold", "cv_fold", "data_fold", "kfold", "bootstrap_seed")
_PREFIXES = ("config.", "params.", "hparams.", "config/")


def split_column(columns: Mapping[str, npt.NDArray[np.generic]]) -> str | None:
    """The column that by its name tells the data split of each run.

    Examples
    --------
    >>> split_column({"lr": np.array([0.1, 0.2]), "config.Fold": np.array([0, 1])})
    'config.Fold'
    """
    for name in columns:
        plain = name.lower()
        for prefix in _PREFIXES:
            plain = plain.removeprefix(prefix)
        if plain.replace("-", "_").replace(" ", "_") in _SPLITS:
            return name
    return None


def has_repeats(trials: Trials) -> bool:
    """Whether some configuration has several runs."""
    return trials.setting is not None and np.unique(trials.setting).size < len(trials)


def runs_of(table: Trials, scores: Scores) -> IntArray:
    """The configuration of each run that has a score, numbered from 0 in the order of the rows."""
    codes = np.arange(len(table)) if table.setting is None else table.setting
    _, first, inverse = np.unique(codes[scores.rows], return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def by_configuration(table: Trials, scores: Scores) -> Scores:
    """One entry for each configuration of a family: means over its runs, and what they cost together.

    ``rows`` are those of each configuration's first run; ``n_failed`` counts runs.
    """
    runs = runs_of(table, scores)
    count = np.bincount(runs)

    def total(column: FloatArray) -> FloatArray:
        return np.bincount(runs, column).astype(np.float64)

    return replace(
        scores,
        selection=total(scores.selection) / count,
        reported=None if scores.reported is None else total(scores.reported) / count,
        cost=None if scores.cost is None else total(scores.cost),
        rows=scores.rows[np.unique(runs, return_index=True)[1]],
    )
