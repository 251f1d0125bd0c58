"""Asks about rows that are no independent runs: those with one id, seed or cluster are more alike than chance makes.

Several evaluations of one trained model are one run, and the slices of one patient are no independent problems: counted
one by one they make intervals too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.errors import Ambiguous, named
from levelbest.readers.raw import Codes, as_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.designs import codes_of, combined, n_combined
from levelbest.readers.steps.kinds import Look, is_setting_name, never_setting
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.planned import cell_codes
from levelbest.readers.steps.problems import is_problem_name
from levelbest.readers.steps.roles import Roles, looks_numeric
from levelbest.stats.checks import are_alike, normal_ranks, without_means
from levelbest.trials import OK, Trials

__all__ = ["ask_about_clusters", "ask_about_episodes", "ask_about_runs"]

_SELDOM, _NOT_OFTEN = 1e-3, 0.01
"""How often chance makes rows so alike; the second where nothing else varies beside a column that by its name numbers
runs: its rows are rarely anything but rows of one run."""
_MOST_EPISODES = 100
"""Of a run: an evaluation has few, and a training has many."""
_TREND = 2.6
"""Standard errors of a rank correlation with the episode, which chance passes in one of 100 tables."""
_NUMBERS_RUNS = names.word_set("seed run policy ckpt checkpoint")


def ask_about_runs(table: Merged, trials: Trials, ids: Sequence[str], of_settings: Sequence[str]) -> None:
    """Ask where rows with the same id or seed, which differ in no setting, score alike; ``of_settings``: those ids that
    are of configurations rather than of runs."""
    for name in ids:
        known = [key for key in trials.configuration if key not in ids]
        settings = _shared_settings(table, trials, name, known)
        if settings is None:
            continue
        plain = len(settings) == len(known) and name not in of_settings and set(names.tokens(name)) & _NUMBERS_RUNS
        shared = _rows_alike(table, trials, name, settings, _NOT_OFTEN if plain else _SELDOM)
        if not shared:
            continue
        how = named("configuration", ",".join([*settings, name]))
        how = f"{how} {named('task', 'none')}" if shared == "over tasks" else how
        unit = "rows of one run, whose mean counts"
        if name in of_settings:
            unit = "runs of one configuration, which is judged by their mean"
        raise Ambiguous(
            f"{table.source}: rows with the same {name!r} have scores more alike than chance makes them: are they "
            f"{unit} ({how}), or independent runs ({named('configuration', ','.join(settings) or 'none')})?"
        )


def _scored(table: Merged, trials: Trials, name: str) -> IntArray:
    """The rows with a score and an id."""
    shown = trials.selection if trials.reported is None else trials.reported
    held = as_codes(table.columns[name])[1] >= 0
    return np.flatnonzero(np.isfinite(shown) & (trials.status == OK) & held)


def _shared_settings(table: Merged, trials: Trials, name: str, known: Sequence[str]) -> list[str] | None:
    """The settings that all rows of a run share; None where few runs have several rows, or one has several settings."""
    rows = _scored(table, trials, name)
    runs = combined(cell_codes(trials)[rows], as_codes(table.columns[name])[1][rows])
    sizes = np.bincount(runs)
    if not rows.size or np.count_nonzero(sizes > 1) < sizes.size / 2:
        return None
    settings = [key for key in known if n_combined(runs, codes_of(trials.configuration[key])[rows]) == sizes.size]
    return None if any(is_setting_name(key) for key in known if key not in settings) else settings


def _rows_alike(table: Merged, trials: Trials, name: str, settings: Sequence[str], level: float) -> str:
    """Whether rows with one id are alike: ``within tasks``, or what has one id is alike ``over tasks`` too."""
    rows = _scored(table, trials, name)
    shown = trials.selection if trials.reported is None else trials.reported
    held, family = as_codes(table.columns[name])[1][rows], trials.family[rows]
    cells = combined(cell_codes(trials)[rows], *(codes_of(trials.configuration[key])[rows] for key in settings))
    runs, values = combined(cell_codes(trials)[rows], held), normal_ranks(shown[rows], cells)
    if not are_alike(values, runs, n_combined(runs) - n_combined(cells), rows.size - n_combined(cells), level):
        return ""
    if trials.task is not None and _are_alike_over(family, trials.task[rows], held, values):
        return "over tasks"
    return "within tasks"


def _are_alike_over(family: Codes, task: Codes, held: Codes, values: FloatArray) -> bool:
    """Whether what has one id is alike on all tasks as well: it is one run, measured on each."""
    each = combined(family, task, held)
    first = np.unique(each, return_index=True)[1]
    means = np.bincount(each, values) / np.bincount(each)
    runs, cells = combined(family[first], held[first]), combined(family[first], task[first])
    freedom = n_combined(runs) - n_combined(family), first.size - n_combined(cells)
    return are_alike(without_means(means, cells), runs, *freedom, _SELDOM)


def ask_about_episodes(table: Merged, roles: Roles) -> None:
    """Ask about episodes in which runs get no better: those of a trained agent are evaluations, and no checkpoints."""
    assert roles.trial is not None
    assert roles.counter is not None
    scores, place = (as_numbers(table.columns[name]).values for name in (roles.selection, roles.counter))
    rows = np.flatnonzero(np.isfinite(scores))
    run = combined(table.codes(*roles.family, roles.trial)[rows]) if rows.size else rows
    if not rows.size or np.bincount(run).max() > _MOST_EPISODES:
        return
    family = combined(table.codes(*roles.family)[rows])
    if not any(_rises(scores[rows[mine]], place[rows[mine]], combined(run[mine])) for mine in _each(family)):
        raise Ambiguous(
            f"{table.source}: scores do not get better with {roles.counter!r}: are these evaluations of a trained "
            f"run, whose mean counts ({named('configuration', roles.trial)} {named('trial', 'none')}), or its "
            f"checkpoints, of which the best one counts ({named('trial', roles.trial)})?"
        )


def _each(codes: IntArray) -> list[IntArray]:
    return [np.flatnonzero(codes == code) for code in range(n_combined(codes))]


def _rises(scores: FloatArray, place: FloatArray, run: IntArray) -> bool:
    """Whether scores go with the place in their run, more than chance makes them."""
    values, order = normal_ranks(scores, run), normal_ranks(place, run)
    size = float(np.sqrt(np.square(values).sum() * np.square(order).sum()))
    return size > 0 and abs(float(values @ order)) / size * float(np.sqrt(scores.size - n_combined(run))) > _TREND


def ask_about_clusters(table: Merged, trials: Trials, columns: Sequence[str]) -> None:
    """Ask about what problems are nested in, where families differ in a cluster as they do in none other."""
    rows = np.flatnonzero(np.isfinite(trials.selection) & (trials.status == OK))
    group = trials.group
    if group is None or not rows.size:
        return
    both = combined(trials.family[rows], group[rows])
    first = rows[np.unique(both, return_index=True)[1]]
    means = np.bincount(both, trials.selection[rows]) / np.bincount(both)
    family, problem = combined(trials.family[first]), combined(group[first])
    values = normal_ranks(without_means(means, problem), family)
    n_problems, more_families = n_combined(problem), n_combined(family) - 1
    for name in filter(lambda name: _may_be_cluster(table, name), columns):
        cluster = as_codes(table.columns[name])[1][first]
        count = n_combined(cluster)
        if not 2 < count <= n_problems / 2 or n_combined(problem, cluster) > n_problems:
            continue
        freedom = more_families * (count - 1), means.size - more_families - n_problems
        if are_alike(values, combined(family, cluster), *freedom, _SELDOM):
            raise Ambiguous(
                f"{table.source}: the {n_problems} problems in {trials.columns['group']!r} belong to {count} values of "
                f"{name!r}, within which the families differ more alike than chance makes them: is each value a "
                f"cluster, which counts once ({named('cluster', name)}), or a fixed kind of problem "
                f"({named('stratum', name)}), or are the problems independent ({named('cluster', 'none')})?"
            )


def _may_be_cluster(table: Merged, name: str) -> bool:
    """Whether a column holds words or ids, and no results, times or texts."""
    against = never_setting(Look(name, table.columns[name]))
    if against in ("result", "moment", "list", "prose", "place"):
        return is_problem_name(name)
    return is_problem_name(name) or not looks_numeric(table.columns, name)
