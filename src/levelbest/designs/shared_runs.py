"""One run measured on several tasks or problems: its scores there rise and fall together, and are one observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import Ambiguous, named
from levelbest.stats.checks import are_alike, normal_ranks
from levelbest.stats.inference import Contrasts, Hypotheses, run_contrasts
from levelbest.trials import SETTINGS_GIVEN, Scores, Trials

_BY_CHANCE = 1e-3
"""How rarely chance must make scores of one seed so alike over tasks."""


def ask_about_shared_runs(
    tasks: Mapping[str, Trials], scores: Mapping[str, Sequence[Scores]], hypotheses: Hypotheses, answer: Contrasts
) -> None:
    """Ask where runs of one number score alike on all tasks, and a winner over tasks depends on counting each once."""
    first = next(iter(tasks.values()))
    if not {"task", "seed"} <= set(first.columns) or SETTINGS_GIVEN in first.facts:
        return
    if any(table.seed is None for table in tasks.values()):
        return
    families = [_by_run(tasks, scores, place) for place in range(len(first.families))]
    if not _stands(families, hypotheses, answer):
        raise _depends(first.columns["seed"], "tasks", first.columns["task"], named("task", "none"))


def ask_about_runs_of_problems(trials: Trials, hypotheses: Hypotheses, answer: Contrasts) -> None:
    """Ask where runs of one seed do better or worse on all problems, and a winner depends on counting each once."""
    if not {"group", "seed"} <= set(trials.columns) or SETTINGS_GIVEN in getattr(trials, "facts", {}):
        return
    if trials.seed is None or trials.group is None:
        return
    labels, run = np.unique(trials.seed.astype(str), return_inverse=True)
    turned = trials.metric.sign * (trials.selection if trials.reported is None else trials.reported)
    families = []
    for place in range(len(trials.families)):
        rows = np.flatnonzero((trials.family == place) & np.isfinite(turned))
        held = np.full((len(trials.groups), labels.size), np.nan)
        held[trials.group[rows], run[rows]] = turned[rows]
        if np.count_nonzero(np.isfinite(held)) < rows.size:
            return  # several samples of a problem have one seed
        families.append(held)
    if not _stands(families, hypotheses, answer):
        raise _depends(trials.columns["seed"], "problems", trials.columns["group"], named("group", "none"))


def _depends(seed: str, parts: str, column: str, whole: str) -> Ambiguous:
    return Ambiguous(
        f"rows with the same {seed!r} score alike on all {parts} of {column!r}, more than chance makes them, and the "
        f"verdict depends on it: are they of one run, whose mean over the {parts} counts "
        f"({named('configuration', seed)} {whole}), or independent ({named('configuration', 'none')})?"
    )


def _stands(families: Sequence[FloatArray], hypotheses: Hypotheses, answer: Contrasts) -> bool:
    """Whether winners do not depend on it: scores of runs, parts by runs of each family, are not alike, or the means
    of runs name the same winners."""
    winners = {contrast.pair for contrast in answer.pairs if np.any(contrast.certified)}
    if not winners or not _are_shared(families):
        return True
    complete = [runs[:, np.isfinite(runs).all(axis=0)] for runs in families]
    if min(runs.shape[1] for runs in complete) < 2:
        return False
    whole = run_contrasts([runs.mean(axis=0) for runs in complete], hypotheses)
    return winners <= {contrast.pair for contrast in whole.pairs if np.any(contrast.certified)}


def _by_run(tasks: Mapping[str, Trials], scores: Mapping[str, Sequence[Scores]], place: int) -> FloatArray:
    """Of one family, tasks by runs: scores in standard deviations of the task's; NaN where a run has not one score."""
    columns = []
    for name, table in tasks.items():
        family = table[table.families[place]]
        every = np.concatenate([held.curve_of for held in scores[name]])
        spread = float(every.std()) or 1.0
        seeds = np.asarray(family.seed).astype(str)[scores[name][place].rows]
        values = table.metric.sign * (scores[name][place].curve_of - every.mean()) / spread
        columns.append({seed: values[seeds == seed] for seed in np.unique(seeds).tolist()})
    labels = sorted(set().union(*columns))
    return np.array(
        [[column[label][0] if len(column.get(label, ())) == 1 else np.nan for label in labels] for column in columns]
    )


def _are_shared(families: Sequence[FloatArray]) -> bool:
    """Whether runs differ alike on all tasks."""
    n_runs = [0, *np.cumsum([family.shape[1] for family in families])]
    known = [np.nonzero(np.isfinite(family)) for family in families]
    ranks = np.concatenate([family[places] for family, places in zip(families, known, strict=True)])
    cells = [task + place * families[0].shape[0] for place, (task, _) in enumerate(known)]
    runs = [run + first for (_, run), first in zip(known, n_runs[:-1], strict=True)]
    cell, group = (np.unique(np.concatenate(codes), return_inverse=True)[1] for codes in (cells, runs))
    freedom = int(group.max()) + 1 - len(families), ranks.size - int(cell.max()) - 1
    return are_alike(normal_ranks(ranks, cell), group, *freedom, _BY_CHANCE)
