"""Detects rows that are checkpoints of runs, and selects the best checkpoint of each run.

They are recognised by a counter that rises within a run, whatever else varies. The best checkpoint is chosen by the
selection score and never by the reported one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from levelbest import _check
from levelbest._check import BoolArray, FloatArray, IntArray, sign_of
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, named
from levelbest.readers.raw import Cells, Codes, as_codes, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers, is_series
from levelbest.readers.steps.kinds import (
    COUNTERS,
    HYPERPARAMETERS,
    PLACES,
    Look,
    is_index,
    is_result,
    may_be_length,
    of_settings,
)
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.roles import ReadRequest, Roles, looks_numeric
from levelbest.trials import OK, STATUSES, Trials

__all__ = ["best_rows", "counter_of", "find_runs", "settings_vary"]

_RUNS = names.word_set(
    "run run_id run_name run_uuid trial trial_id trial_name log log_file log_path file job job_id experiment_id uuid "
    "config_id config_idx configuration_id candidate_id arm_id hparams_id train_seed model_seed agent_seed policy_id"
)
_UNSURE = names.word_set(
    "iteration iterations iter generation episode episodes round update updates step steps budget fidelity rung"
)
"""Counters that may number the trials of a search as well."""
_SETTINGS = ("budget", "fidelity")  # of whole runs, unless those have names
_ENDS = names.word_set("epoch step iteration iter round rnd episode generation timestep timesteps update")
_OF_A_PLAN = names.word_set(
    "best last first max min final n num number total early warmup per decay lr every stop stopped patience save size"
)
"""``comm_round`` counts by its last word; ``best_epoch`` and ``warmup_step`` do not."""
_FEW = 8
_MOSTLY = 0.7
"""A counter that goes up by the same step in so many pairs of neighbouring rows counts checkpoints."""
_FOLLOWS = 0.7
"""A rank correlation with the score from which a number of any name may count checkpoints."""
_TURNS = 0.4
"""A number that changes direction at this share of rows is drawn at random; a schedule rarely does."""
_DIVERGED = STATUSES.index("diverged")


def counter_of(columns: Mapping[str, Cells]) -> str | None:
    """The column that counts epochs or steps; None where there is none."""
    return next(_counters(columns), None)


def _counters(columns: Mapping[str, Cells]) -> Iterator[str]:
    """Columns that by their names count how far a run has come, the surest first; ``time/total_timesteps`` is one."""
    for known in COUNTERS:
        for name in columns:
            last = names.spelled(name.rpartition("/")[2])
            if known in (names.spelled(name), last) and looks_numeric(columns, name):
                yield name
    for name in columns:
        words = names.tokens(name)
        if len(words) > 1 and words[-1] in _ENDS and not set(words) & _OF_A_PLAN and looks_numeric(columns, name):
            yield name


@dataclass(frozen=True)
class _Rows:
    """The rows of a table with the counter that may count checkpoints."""

    table: Merged
    roles: Roles
    counter: str
    place: FloatArray
    within: Codes
    """The family and task of each row: no run has rows in two."""
    plural: bool
    """Whether the counter may be a hyperparameter."""

    @property
    def unsure(self) -> bool:
        """Whether the counter may number the trials of a search."""
        last = names.spelled(self.counter.rpartition("/")[2])
        return last in _UNSURE or (last not in COUNTERS and last.rpartition("_")[2] in _UNSURE)

    @property
    def free(self) -> list[str]:
        """Columns that have no part and are not the counter."""
        used = {*self.roles.used(), self.counter}
        return [name for name in self.table.columns if name not in used]


@dataclass(frozen=True)
class _Found:
    """Which run each row belongs to, and the column that says so; none where several do, or the order of the rows."""

    run: Codes
    column: str | None = None


def _by_name(rows: _Rows) -> _Found | None:
    """A column named as runs are, or the seed: the counter rises within each."""
    named_so = [name for name in names.among(rows.table.columns, _RUNS) if name in rows.free]
    for name in [*named_so, *([rows.roles.seed] if rows.roles.seed else [])]:
        run = rows.table.codes(name, within=rows.within)
        if _counts_up(run, rows.place, regular=rows.plural):
            return _Found(run, name)
    return None


def _by_text(rows: _Rows) -> _Found | None:
    """A column of any name, no number, whose value changes exactly where the counter begins again."""
    for name in rows.free:
        if is_result(name) or looks_numeric(rows.table.columns, name):
            continue
        run = rows.table.codes(name, within=rows.within)
        if _counts_up(run, rows.place, regular=rows.plural) and _begins_with(run, rows.place):
            return _Found(run, name)
    return None


def _by_settings(rows: _Rows) -> _Found | None:
    """All settings together with the seed: a run is one of them with one seed."""
    seed = [rows.roles.seed] if rows.roles.seed else []
    settings = [name for name in rows.free if not is_result(name) and names.spelled(name) not in PLACES]
    for fewer in (settings, [name for name in settings if not _is_schedule(rows, name)]):
        run = rows.table.codes(*fewer, *seed, within=rows.within)
        if run.max() > rows.within.max() and _counts_up(run, rows.place, regular=rows.plural):
            return _Found(run)
    return None


def _by_restarts(rows: _Rows) -> _Found | None:
    """Neighbouring rows: a run begins where the counter begins again, at the value it began with before."""
    source = joint_codes([rows.within, rows.table.table_codes()])
    apart = np.r_[True, (np.diff(rows.place) <= 0) | (np.diff(source) != 0)]
    run = (np.cumsum(apart) - 1).astype(np.int32)
    starts = rows.place[apart]
    if int(run.max()) == 0 or np.unique(starts).size > 1 or not _counts_up(run, rows.place, regular=True):
        return None
    return _Found(run)


def _by_source(rows: _Rows) -> _Found | None:
    """One run in each family of each file: the counter rises through all of its rows."""
    run = joint_codes([rows.within, rows.table.table_codes()])
    long = int(np.bincount(run).min()) >= _FEW
    return _Found(run) if long and _counts_up(run, rows.place, regular=rows.plural or rows.unsure) else None


_WAYS: tuple[Callable[[_Rows], _Found | None], ...] = (_by_name, _by_text, _by_settings, _by_restarts, _by_source)
"""How runs can be told apart, the surest first."""


def find_runs(table: Merged, roles: Roles, wanted: ReadRequest) -> Merged:
    """The table with the column of runs where rows are checkpoints of them, which is said; asks where it is unsure.

    A row per epoch read as a trial would make one trial of every checkpoint.
    """
    if roles.trial is not None or wanted.trial is not None or roles.group is not None or table.n_rows < 2:
        return table
    within = table.codes(*roles.family, *([roles.task] if roles.task else []))
    sources = joint_codes([within, table.table_codes()])
    for counter in _counters(table.columns):
        if counter in roles.used() - {roles.order}:
            continue
        place = as_numbers(table.columns[counter]).values
        rows = _Rows(table, roles, counter, place, within, plural=may_be_length(counter, place))
        if not np.isfinite(rows.place).all() or (rows.unsure and roles.search is not None):
            continue  # within a search it numbers the trials
        runs = next((some for runs_by in _WAYS if (some := runs_by(rows)) is not None), None)
        if runs is None or (rows.unsure and settings_vary(table.columns, counter)):
            continue  # it numbers the trials of a search
        return _with_runs(rows, runs, int(sources.max()))
    _ask_about_ladder(table, roles, within)
    return table


def _ask_about_ladder(table: Merged, roles: Roles, within: Codes) -> None:
    """A number of any name that goes up by equal steps within every run may count its checkpoints (labels, queries)."""
    for name in table.columns:
        look = Look(name, table.columns[name])
        if name in roles.used() or not looks_numeric(table.columns, name) or names.is_metric(name):
            continue
        plain = names.spelled(re.sub(r" \(\d+\)$", "", name))  # ``lr (2)``: the second of one name
        if is_index(look) or is_result(name) or of_settings(name) or plain in HYPERPARAMETERS | PLACES:
            continue
        place = as_numbers(table.columns[name]).values
        rows = _Rows(table, roles, name, place, within, plural=True)
        ladder = _by_name(rows) if np.isfinite(place).all() else None
        settings = names.among(rows.free, HYPERPARAMETERS)
        if ladder is not None and table.codes(*settings, within=ladder.run).max() > ladder.run.max():
            continue  # it numbers configurations
        if ladder is None and _is_learning_curve(rows):
            raise _unsure(rows, int(joint_codes([within, table.table_codes()]).max()) + 1)
        if ladder is not None:
            runs = int(ladder.run.max()) + 1
            raise Ambiguous(
                f"{table.source}: {name!r} goes up by equal steps in each of {runs} runs: does it count their "
                f"checkpoints ({named('trial', ladder.column)}), or is it a condition ({named('task', name)}) or a "
                f"setting ({named('trial', 'none')})?"
            )


def _is_learning_curve(rows: _Rows) -> bool:
    """Whether a number of any name rises by equal steps through each file, no setting varies, and scores follow it."""
    columns, selection = rows.table.columns, rows.roles.selection
    if not np.isfinite(rows.place).all() or selection not in columns or is_series(columns[selection]):
        return False
    if _by_source(rows) is None or settings_vary(columns, rows.counter):
        return False
    scores = as_numbers(columns[selection]).values
    known = np.isfinite(scores)
    ranks = np.array([np.argsort(np.argsort(values[known])) for values in (scores, rows.place)])
    return int(known.sum()) >= _FEW and abs(float(np.corrcoef(ranks)[0, 1])) > _FOLLOWS


def _unsure(rows: _Rows, runs: int, column: str | None = None) -> Ambiguous:
    """A counter that rises once may number trials as well as checkpoints."""
    which = [name for name in rows.free if len(as_codes(rows.table.columns[name])[0]) == 1]
    trial = named("trial", column or (*rows.roles.family, *which, "COL")[0])
    return Ambiguous(
        f"{rows.table.source}: {rows.counter!r} goes up from row to row: does it count the checkpoints of "
        f"{'one run' if runs == 1 else f'{runs} runs'} ({trial}), or is each row a trial ({named('trial', 'none')})?"
    )


def _with_runs(rows: _Rows, ladder: _Found, sources: int) -> Merged:
    """The table with runs as a role, a new column where no single one tells them apart; asks where rows may be trials:
    the counter is a budget of runs without a name, or rises once in each of the ``sources``."""
    table, roles = rows.table, rows.roles
    runs = int(ladder.run.max()) + 1
    vague = names.spelled(rows.counter) in _SETTINGS and ladder.column not in names.among(table.columns, _RUNS)
    if rows.unsure and (vague or runs == sources + 1):
        raise _unsure(rows, runs, ladder.column)
    column = ladder.column
    if column is None:
        column = "run number"
        while column in table.columns:
            column += "'"
        table = table.reshaped(np.arange(table.n_rows), {column: ladder.run + 1.0}, set())
    roles.trial, roles.counter = column, rows.counter
    facts = {"runs": runs, "column": column, "counter": rows.counter}
    roles.notes.append(Caution.of("guessed-columns", None, runs, kind="checkpoints", **facts))
    return table


def settings_vary(columns: Mapping[str, Cells], counter: str) -> bool:
    """Whether hyperparameters are drawn at random from row to row, as between trials but never within a run."""
    for name in columns:
        plain = "_".join(of_settings(name)) or names.spelled(name)
        if name == counter or not (of_settings(name) or plain in HYPERPARAMETERS):
            continue
        if looks_numeric(columns, name):
            if _turns(as_numbers(columns[name]).values) > _TURNS:
                return True
        else:
            codes = as_codes(columns[name])[1]
            if 2 * np.count_nonzero(np.diff(codes)) > codes.size:
                return True
    return False


def _turns(values: FloatArray) -> float:
    """The share of inner rows at which a column turns from rising to falling or back; two thirds of random ones do."""
    steps = np.diff(values)
    if steps.size < 2:
        return 0.0
    return float((np.sign(steps[1:]) * np.sign(steps[:-1]) < 0).mean())


def _is_schedule(rows: _Rows, name: str) -> bool:
    """Whether a number has hardly two rows alike: a setting is the same in all rows of a run."""
    return looks_numeric(rows.table.columns, name) and 2 * len(as_codes(rows.table.columns[name])[0]) > rows.place.size


def _counts_up(run: Codes, place: FloatArray, *, regular: bool) -> bool:
    """Whether runs have several rows each, in which the counter goes up and never down.

    Rows in another order count as well, where every run has each place once and most places in common. ``regular``: by
    steps of one size, which begin near zero, as hardly a hyperparameter does.
    """
    n_runs = int(run.max()) + 1
    if n_runs > run.size / 2:
        return False
    order = np.argsort(run, kind="stable")
    inside = np.diff(run[order]) == 0
    steps = np.diff(place[order])[inside]
    rising = bool(steps.size and (steps >= 0).all() and (steps > 0).mean() > 0.5)
    if not rising:
        order = np.lexsort((place, run))
        inside = np.diff(run[order]) == 0
        steps = np.diff(place[order])[inside]
        shared = np.unique(place).size <= 2 * np.bincount(run).max()
        if not (steps.size and (steps > 0).all() and shared and n_runs > 1 and _ladder(steps)):
            return False
    first = np.minimum.reduceat(place[np.argsort(run, kind="stable")], np.searchsorted(np.sort(run), np.arange(n_runs)))
    begins = float(np.median(first)) <= 2 * max(float(np.median(steps)), 1.0)
    return not regular or (begins and _ladder(steps) and run.size >= 5 * n_runs)


def _ladder(steps: FloatArray) -> bool:
    """Whether most steps have one size."""
    rises = steps[steps > 0]
    if not rises.size:
        return False
    with np.errstate(over="ignore"):  # of numbers beyond 1e299
        values, counts = np.unique(np.round(rises, 9), return_counts=True)
    return float((np.abs(steps - values[np.argmax(counts)]) < 1e-6).mean()) >= _MOSTLY


def _begins_with(run: Codes, place: FloatArray) -> bool:
    """Whether the counter goes up within each run from row to row, and begins again with every run and at no other row.

    A column of any name that does so tells runs apart.
    """
    changes = np.diff(run) != 0
    once = int(changes.sum()) == int(run.max())
    return once and bool(np.array_equal(changes, ~(np.diff(place) > 0))) and bool(changes.any())


def best_rows(
    table: Merged, roles: Roles, read: Trials, direction: str, tied: str = "first"
) -> tuple[IntArray, FloatArray | None]:
    """The row of each run's best checkpoint, in order of first appearance, and the costs of whole runs.

    Of checkpoints that tie at the best it is the first or the last; where that changes a reported score, it is said.

    A run without any score keeps its last row, whose status says how it ended; so does one whose last score is NaN or
    infinite.
    """
    assert roles.trial is not None
    beside = [name for name in (roles.task, roles.group, roles.search) if name is not None]
    run = table.codes(roles.trial, *beside, within=read.family)
    if len(table.tables) > 1:
        run = joint_codes([run, table.table_codes()])
    fine = (read.status == OK) & np.isfinite(read.selection)
    score = np.where(fine, sign_of(direction) * read.selection, -np.inf)
    place = np.arange(len(read))
    # Scored rows before unscored; among them the best, then the first (or last); without any score the last row.
    _check.as_choice(tied, ("first", "last"), "rule for tied checkpoints")
    order = np.lexsort((np.where(fine & (tied == "first"), place, -place), -score, ~fine, run))
    starts = np.flatnonzero(np.r_[True, np.diff(run[order]) > 0])
    best = order[starts]
    _say_ties(roles, read, run, score, best, tied)
    first = np.full(int(run.max()) + 1, len(read))
    np.minimum.at(first, run, place)
    ended = _diverged_ends(run, fine, read.status == _DIVERGED)
    best = np.where(ended[run[best]] >= 0, ended[run[best]], best)
    best = best[np.argsort(first[run[best]], kind="stable")]
    return best, None if read.cost is None else _run_costs(read.cost, run, best, roles)


def _say_ties(roles: Roles, read: Trials, run: Codes, score: FloatArray, best: IntArray, tied: str) -> None:
    """In how many runs checkpoints that tie at the best have other reported scores than the one that counts."""
    if read.reported is None:
        return
    top = np.full(int(run.max()) + 1, -np.inf)
    top[run[best]] = score[best]
    claimed = np.full(top.size, np.nan)
    claimed[run[best]] = read.reported[best]
    other = (score == top[run]) & np.isfinite(score) & (read.reported != claimed[run]) & np.isfinite(read.reported)
    count = int(np.unique(run[other]).size)
    if count:
        facts = {"count": count, "runs": int(np.unique(run).size), "tied": tied}
        roles.notes.append(Caution.of("guessed-columns", None, count, kind="tied-checkpoints", **facts))


def _diverged_ends(run: Codes, fine: BoolArray, diverged: BoolArray) -> IntArray:
    """The last row with a score of each run where that is NaN or infinite; -1 where a run ends otherwise."""
    last = np.full(int(run.max()) + 1, -1)
    measured = np.flatnonzero(fine | diverged)
    np.maximum.at(last, run[measured], measured)
    return np.where((last >= 0) & diverged[last], last, -1)


def _run_costs(spent: FloatArray, run: Codes, best: IntArray, roles: Roles) -> FloatArray:
    """What each run used up: the last of its costs where they never fall, as a clock's, else their sum."""
    known = np.flatnonzero(np.isfinite(spent))
    order = known[np.argsort(run[known], kind="stable")]
    clock = bool((np.diff(spent[order])[np.diff(run[order]) == 0] >= 0).all())
    total = np.full(int(run.max()) + 1, np.nan)
    total[run[known]] = -np.inf if clock else 0.0
    (np.maximum if clock else np.add).at(total, run[known], spent[known])
    roles.run_cost = "last" if clock else "sum"
    return total[run[best]]
