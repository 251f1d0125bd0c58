"""From raw tables to Trials: filter, choose roles, read numbers and statuses, one row per run.

The meaning of a cell without a score, where there is no status column: a NaN or infinite score is a diverged trial, an
empty cell (or a word for nothing) a failed one, a status word such as ``OOM`` that status, and any other text is not a
score: the row is skipped and reported.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import BoolArray, Column, FloatArray, IntArray
from levelbest._read import refuse_more
from levelbest.errors import DataError, InputError, named
from levelbest.readers.raw import (
    Codes,
    RawTable,
    as_codes,
    as_flags,
    is_numeric,
    joint_codes,
    texts,
    unique_codes,
)
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import ReadNumbers, as_statuses, is_series, status_of
from levelbest.readers.steps.conditions import matching_rows
from levelbest.readers.steps.diagnose import INDEPENDENT
from levelbest.readers.steps.guesses import choose_roles
from levelbest.readers.steps.kinds import is_setting_name
from levelbest.readers.steps.merged import Merged, without_copies
from levelbest.readers.steps.planned import ask_about_levels, guess_repetitions
from levelbest.readers.steps.problems import prefixes_of, refuse_repeats, said_of_groups
from levelbest.readers.steps.roles import ReadRequest, Roles, configuration_of, plain_values
from levelbest.readers.steps.runs import best_rows, find_runs
from levelbest.readers.steps.scores import Judged, ask_about_repeats, ask_about_scores, judged_by, said_of_runs
from levelbest.readers.steps.wide import expand_counts, expand_lists, melt
from levelbest.readers.tables.delimited import SUMMARY_ROWS, is_number, summary_word
from levelbest.trials import OK, STATUSES, Metric, Trials
from levelbest.trials.nested import PREFIX, UNCLUSTERED

__all__ = ["build_trials"]

_NUMBERED_RUNS = names.word_set("seed random_seed random_state run rep repeat replicate fold split trial")
_FAILED, _DIVERGED = (STATUSES.index(name) for name in ("failed", "diverged"))
Named = tuple[tuple[str, ...], Codes]
"""Names, and the code of each row."""


def build_trials(tables: Sequence[RawTable], wanted: ReadRequest) -> Trials:
    """Trials from what the readers handed over."""
    if not any(table.n_rows or table.skipped for table in tables):
        raise DataError(f"{tables[0].source} has a header and no rows")
    for raw in tables:
        refuse_more(len(raw.columns), "columns", raw.source)
    table = expand_counts(_by_run(_chosen_rows(Merged(tables), wanted), wanted), wanted)
    long, wanted = melt(table, wanted)
    roles = choose_roles(long, wanted)
    _refuse_summaries(long, roles, wanted)
    melted = long is not table
    table = expand_lists(long.having(roles.selection, is_given=wanted.selection is not None), roles)
    judged = judged_by(table, roles, wanted)
    columns, table = table.columns, find_runs(table, roles, wanted)
    if wanted.trial is None and roles.trial in columns and names.tokens(roles.counter or "")[-1:] == ("episode",):
        from levelbest.readers.steps.alike import ask_about_episodes  # for such tables alone

        ask_about_episodes(table, roles)
    ask_about_levels(table, roles, wanted)
    kept, trials = _read_rows(table, roles, judged, melted, wanted.tied)
    trials = _completed(table, kept, trials, roles, wanted)
    _say_choices(kept, roles, judged)
    trials = replace(trials, skipped=tuple(table.skipped), cautions=tuple(table.cautions))
    ask_about_scores(trials, wanted)
    ask_about_repeats(kept, trials, roles, wanted)
    return trials


def _refuse_summaries(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Raise where rows are no trials but means of runs, one row for each family and nothing else that varies."""
    parts = {roles.task, roles.group, roles.search, roles.seed, roles.trial, table.roles.get("selection")}
    if parts != {None} or wanted.family == ("none",) or table.n_rows < 2:
        return
    named_so = roles.family or [name for name in table.columns if names.obvious_family(names.tokens(name))]
    settings = [name for name in table.columns if is_setting_name(name) and name not in named_so]
    varied = any(len(as_codes(table.columns[name])[0]) > 1 for name in settings)
    if not varied and named_so and np.unique(table.codes(*named_so)).size == table.n_rows:
        from levelbest.readers.steps.summaries import refuse_summaries  # for such tables alone

        refuse_summaries(table, roles.reported or roles.selection)


def _by_run(table: Merged, wanted: ReadRequest) -> Merged:
    """The table with a row for each run, where splits or metrics of a run are rows."""
    if not names.among(table.columns, names.SPLIT_COLUMNS | names.METRIC_COLUMNS):
        return table
    from levelbest.readers.steps.spread import spread  # for such tables alone

    return spread(table, wanted)


def _chosen_rows(table: Merged, wanted: ReadRequest) -> Merged:
    if wanted.where:
        mask = matching_rows(wanted.where, table.columns, table.n_rows, table.source)
        if not mask.any():
            raise DataError(f"{named('where', wanted.where)} leaves none of {table.n_rows} rows")
        table = table.only(np.flatnonzero(mask))
    if not table.n_rows:
        why = f": {table.skipped[0].where}: {table.skipped[0].why}" if table.skipped else ""
        raise DataError(f"{table.source} holds no row that can be read{why}")
    table = _without_summaries(table)
    return without_copies(table, names.among(table.columns, _NUMBERED_RUNS))


def _without_summaries(table: Merged) -> Merged:
    """Without rows that summarise others: where the rest have the number of a run, they have ``mean`` or ``std``."""
    for name in names.among(table.columns, _NUMBERED_RUNS):
        column = table.columns[name]
        if is_numeric(column) or is_series(column):
            continue
        labels, codes = as_codes(column)
        words = [code for code, label in enumerate(labels) if summary_word(label.strip()) in SUMMARY_ROWS]
        rest = [label for code, label in enumerate(labels) if code not in words]
        if words and rest and all(is_number(label.strip()) for label in rest):
            summaries = np.isin(codes, words)
            table.skip(summaries, f"it is a summary of other rows ({labels[words[0]]!r} in {name!r})")
            table = table.only(np.flatnonzero(~summaries))
    return table


def _read_rows(table: Merged, roles: Roles, judged: Judged, melted: bool, tied: str) -> tuple[Merged, Trials]:
    """The rows that are trials, and their scores, costs, statuses and families."""
    selection = table.numbers(roles.selection, "selection")
    selection.values = _check.exploded_as_infinite(selection.values)
    status, bad = _statuses(table, roles, selection)
    claimed = spent = None
    if roles.reported is not None and roles.reported != roles.selection:
        claimed = _check.known_or_missing(table.numbers_beside(roles.reported, "reported").values)
    if roles.cost is not None:
        spent = table.numbers_beside(roles.cost, "cost")
    families, family = _families(table, roles)
    refuse_more(len(families), "families", table.source)

    def leave_out(rows: BoolArray, why: str) -> None:
        if rows.any():
            table.skip(rows & ~bad, why)
            bad[rows] = True

    leave_out(family < 0, f"it has no {' / '.join(roles.family)}")
    if roles.group is not None:
        leave_out(as_codes(table.columns[roles.group])[1] < 0, f"it has no problem in {roles.group!r}")
    if melted:  # an empty cell of a wide table is a sample that was never drawn
        leave_out(selection.empty & ~bad, "the cell is empty: no such sample")
    if bad.all():
        first = f"; the first: {table.skipped[0].where}: {table.skipped[0].why}" if table.skipped else ""
        raise DataError(f"{table.source}: none of {table.n_rows} rows can be read as a trial{first}")
    trials = Trials(
        metric=_metric(table, roles, judged, claimed is not None, spent is not None and "clock" in spent.converted),
        families=families,
        family=family,
        selection=selection.values,
        status=status,
        reported=claimed,
        cost=None if spent is None else spent.values,
    )
    if bad.any():
        keep = np.flatnonzero(~bad)
        table, trials = table.only(keep), trials.take(keep)
    shown = trials.selection if trials.reported is None else trials.reported
    fine = np.isfinite(shown) & (trials.status == OK)
    _check.as_bounds(judged.bounds, shown if fine.all() else shown[fine], roles.reported or roles.selection)
    if judged.bounds == (None, None) and fine.any():
        ends = shown.min(where=fine, initial=np.inf), shown.max(where=fine, initial=-np.inf)
        natural = names.natural_bounds(trials.metric.score, *map(float, ends))
        trials = replace(trials, metric=replace(trials.metric, natural=natural))
    if roles.trial is not None:
        refuse_repeats(table, roles, trials)
        best, cost = best_rows(table, roles, trials, judged.selected, tied)
        table, trials = table.only(best), replace(trials.take(best), cost=cost)
    return table, replace(trials, selection=-trials.selection) if judged.turned else trials


def _completed(table: Merged, kept: Merged, trials: Trials, roles: Roles, wanted: ReadRequest) -> Trials:
    """The trials with all that their rows, ``kept`` of the table, and the formats say of them."""
    families, family = unique_codes(trials.family, trials.families)
    tasks, task = _codes(kept, roles.task)
    groups, group = _codes(kept, roles.group)
    searches, search = _codes(kept, roles.search)
    weights, strata, clusters = said_of_groups(kept, roles, group, groups)
    if wanted.cluster == PREFIX and roles.cluster is None:
        clusters = prefixes_of(groups, roles.group)
    by_task = False
    if task is not None and group is not None:  # tasks divide the problems, which are averaged over within each
        group, groups, strata, weights, clusters = _by_task((groups, group), (tasks, task), strata, weights, clusters)
        by_task, task, tasks = roles.stratum is None and len(set(strata)) > 1, None, ()
    facts: dict[str, str] = {}
    for part in table.present():
        facts |= {key: fact for key, fact in part.facts.items() if not key.startswith(("name:", "bounds:"))}
    if wanted.search is not None and roles.search is None:
        facts[INDEPENDENT] = "yes"
    if wanted.cluster is not None and not clusters:
        facts[UNCLUSTERED] = "yes"
    if roles.flag is not None:
        facts[f"flagged:{roles.flag}"] = str(int(_flagged(kept, roles.flag).sum()))
    trials = replace(trials, families=families, family=family, task=task, tasks=tasks, group=group, search=search)
    trials = replace(trials, configuration=configuration_of(table, kept, roles, wanted))
    facts |= said_of_runs(kept, trials, roles, wanted)
    trials = replace(trials, configuration=guess_repetitions(kept, trials, roles, wanted))
    seed = None if roles.seed is None else plain_values(kept.columns[roles.seed])
    trials = replace(trials, seed=seed, order=_order(kept, roles), facts=facts)
    trials = _of_settings_alone(trials, roles, wanted, table.source)
    return replace(
        trials,
        others=_others(kept, roles, trials.configuration) if wanted.keep else {},
        groups=groups,
        searches=searches,
        sample=None if roles.sample is None else plain_values(kept.columns[roles.sample]),
        answer=None if roles.answer is None else texts(kept.columns[roles.answer]),
        path=None if roles.path is None else texts(kept.columns[roles.path]),
        weights=weights,
        strata=strata,
        clusters=clusters,
        by_task=by_task,
        columns=roles.named(),
        source=tuple(part.source for part in table.tables),
    )


def _of_settings_alone(trials: Trials, roles: Roles, wanted: ReadRequest, source: str) -> Trials:
    """The trials without the columns that were measured of runs, where these repeat settings.

    If every run of a family has a seed of its own, a random search may have drawn all settings of each: it is asked.
    """
    if not trials.configuration or wanted.configuration is not None:
        return trials
    known = [column for column in (trials.family, trials.task, trials.seed) if column is not None]
    runs = np.unique(joint_codes([as_codes(column)[1] for column in known])).size
    with_own_seeds = trials.seed is not None and runs == len(trials)
    if with_own_seeds and all(map(is_setting_name, trials.configuration)):
        return trials
    from levelbest.readers.steps import measured  # for such tables alone

    if with_own_seeds:
        measured.ask_about_unknown(trials, source)
        return trials
    return replace(trials, configuration=measured.without_measured(trials, roles, source))


def _others(table: Merged, roles: Roles, configuration: Collection[str]) -> dict[str, Column]:
    """What else stands in the rows: other scores and remarks, the names of runs, a status in its own words."""
    used = {*configuration, *(roles.used() - {roles.status, roles.trial, roles.flag, roles.in_words}), roles.sample}
    return {name: plain_values(table.columns[name]) for name in table.columns if name not in used}


def _metric(table: Merged, roles: Roles, judged: Judged, reported: bool, clock: bool) -> Metric:
    """``clock``: costs were written as durations, and are read as seconds."""

    def title(role: str, column: str | None) -> str | None:
        """The name a tidy table remembers, else the column's own."""
        written = {part.facts.get(f"name:{role}") for part in table.present() if part.roles.get(role) == column}
        return next(iter(written)) or column if len(written) == 1 else column

    unit = None if roles.cost is None else names.cost_unit_of(roles.cost)
    given = {part.cost_unit for part in table.tables if part.roles.get("cost") == roles.cost and part.cost_unit}
    if roles.cost is not None and len(given) == 1:
        unit = given.pop()
    return Metric(
        direction=judged.direction,
        selection=f"{'-' * judged.turned}{title('selection', roles.selection)}",
        reported=title("reported", roles.reported) if reported else None,
        bounds=judged.bounds,
        cost=None if roles.cost is None else title("cost", roles.cost),
        cost_unit="s" if clock else unit,
    )


def _order(table: Merged, roles: Roles) -> IntArray | None:
    if roles.order is None:
        return None
    places = table.numbers(roles.order, "order").values
    # Where one of several sources knows no order, that of the rows serves.
    return places.astype(np.int64) if (np.abs(places) < 2**53).all() else None  # NaN and infinity are not


def _statuses(table: Merged, roles: Roles, selection: ReadNumbers) -> tuple[npt.NDArray[np.uint8], BoolArray]:
    """The status of each row, and the rows that are no trials at all."""
    status = np.full(table.n_rows, OK, dtype=np.uint8)
    if roles.status is not None:
        statuses = as_statuses(table.columns[roles.status])
        status = statuses.codes
        if statuses.unknown and not statuses.n_known:
            word = next(iter(statuses.unknown))
            raise InputError(
                f"the status column {roles.status!r} holds words that are not a status, such as {word!r}; known: "
                f"{', '.join(STATUSES)} and the words of common trackers"
            )
        if statuses.unknown:
            table.say("guessed-columns", kind="statuses", column=roles.status, words=list(statuses.unknown))
    bad = np.zeros(table.n_rows, dtype=bool)
    reasons: dict[int, str] = {}
    for row, word in selection.words.items():
        meant = status_of(word)
        if meant is not None and meant != "ok":
            status[row] = STATUSES.index(meant)
        elif status[row] == OK:
            bad[row] = True
            reasons[row] = f"its selection score {word!r} is not a number"
    if reasons:
        table.skip(bad, reasons)
    flagged = _flagged(table, roles.flag)
    unknown_scores = ~np.isfinite(selection.values)
    if not unknown_scores.any():
        return status, bad
    lost = (status == OK) & unknown_scores & ~bad
    status[lost & ~selection.empty] = _DIVERGED
    status[lost & selection.empty] = _FAILED
    status[lost & flagged] = _DIVERGED
    return status, bad


def _flagged(table: Merged, name: str | None) -> BoolArray:
    flags = None if name is None else as_flags(table.columns[name])
    return np.zeros(table.n_rows, dtype=bool) if flags is None else flags


def _families(table: Merged, roles: Roles) -> Named:
    if not roles.family:
        return table.source_codes()
    coded = [(name, as_codes(table.columns[name])) for name in roles.family]
    parts = [(names.family_names(name, values), codes) for name, (values, codes) in coded]
    if len(parts) == 1:
        return parts[0]
    joint = joint_codes([codes for _, codes in parts])
    _, first = np.unique(joint, return_index=True)
    full = np.all([codes >= 0 for _, codes in parts], axis=0)
    joined = [" / ".join(labels[codes[row]] for labels, codes in parts) if full[row] else "" for row in first]
    return unique_codes(np.where(full, joint, -1).astype(np.int32), joined)


def _codes(table: Merged, name: str | None) -> Named | tuple[tuple[()], None]:
    if name is None:
        return (), None
    listed, codes = as_codes(table.columns[name])
    if (codes < 0).any():
        return unique_codes(np.where(codes < 0, len(listed), codes).astype(np.int32), (*listed, "(none)"))
    return listed, codes


def _by_task(
    problems: Named,
    tasks: Named,
    strata: tuple[str, ...],
    weights: FloatArray | None,
    clusters: tuple[str, ...],
) -> tuple[Codes, tuple[str, ...], tuple[str, ...], FloatArray | None, tuple[str, ...]]:
    """Problems that are each of one task; the stratum of each is its task, where no other was named."""
    (groups, group), (labels, task) = problems, tasks
    pair = task.astype(np.int64) * len(groups) + group
    known, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
    by_row = np.argsort(first)
    codes = np.empty(known.size, dtype=np.int32)
    codes[by_row] = np.arange(known.size)
    of_task, of_group = np.divmod(known[by_row], len(groups))
    twice = known.size > np.unique(group).size  # problems of two tasks have one name
    named_so = [f"{labels[t]} / {groups[g]}" if twice else groups[g] for t, g in zip(of_task, of_group, strict=True)]
    divided = [strata[g] for g in of_group] if strata else [labels[t] for t in of_task]
    nested = tuple(clusters[g] for g in of_group) if clusters else ()
    weighed = None if weights is None else weights[of_group]
    return codes[inverse.ravel()], tuple(named_so), tuple(divided), weighed, nested


def _say_choices(table: Merged, roles: Roles, judged: Judged) -> None:
    """What was taken by name alone, and what was left open."""
    if roles.reported == roles.selection:
        table.say("selection-is-reported", column=roles.selection)
    direction = judged.direction if roles.direction_by is not None else None
    if roles.guessed or direction or roles.run_cost:
        by, run_cost = roles.direction_by, roles.run_cost
        table.say("guessed-columns", columns=roles.guessed, direction=direction, by=by, run_cost=run_cost)
    table.cautions += roles.notes
    if judged.turned:
        table.say("guessed-columns", kind="turned", column=roles.selection, direction=judged.direction)
