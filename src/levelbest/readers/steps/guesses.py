"""Assigns roles to columns: as given, as the format says, or by a nearly certain rule; otherwise the user is asked.

Columns chosen by name alone are reported (`Roles.guessed`); where two columns are possible, the user is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, named
from levelbest.readers.raw import Cells, Codes, as_codes, as_flags, joint_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import FLAGS, as_numbers, as_statuses, is_endings, is_in_words, is_series
from levelbest.readers.steps.kinds import Look, is_moment, never_score, of_settings
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import SAMPLE_IDS, among, obvious_family, tokens, word_set
from levelbest.readers.steps.planned import REPEATS, RUNS, guess_levels, guess_searches
from levelbest.readers.steps.problems import guess_problems, guess_task, named_problems
from levelbest.readers.steps.roles import (
    ReadRequest,
    Roles,
    column_named,
    guess_family,
    listed_columns,
    looks_numeric,
    only_column,
    says_none,
)
from levelbest.readers.steps.several import (
    ask_about_names,
    in_columns,
    inside_lists,
    numbered,
    the_meant,
    with_twin,
    worded,
)
from levelbest.trials.nested import PREFIX

__all__ = ["choose_roles"]

_COST = word_set(
    "cost runtime duration elapsed walltime gpu_hours seconds hours usd time_total_s train_time training_time "
    "wall_time fit_time price time"
)
_COST_UNITS = ("s", "h", "min", "USD", "EUR")
_SEED = word_set("seed random_seed random_state")
_STATUS = word_set("status state trial_status trial_state run_status run_state exit_status job_status job_state")
_CUMULATIVE = word_set("cum cumulative accumulated total_so_far start end")
_SEARCHES = word_set("search search_id")


def choose_roles(table: Merged, wanted: ReadRequest) -> Roles:
    """Columns for all roles: those asked for, then those the format knows, then obvious names."""
    columns, known, source = table.columns, table.roles, table.source

    def wanted_column(role: str, option: str | None = None) -> str | None:
        given = getattr(wanted, option or role)
        if given is None:
            return known.get(role)
        if role == "cluster" and given == PREFIX and PREFIX not in columns:
            return None  # it stands in the names of the problems
        return None if says_none(given, columns) else column_named(given, columns, option or role, source)

    given = {role: wanted_column(role) for role in _ASKED}
    family = _wanted_family(wanted, columns, known, source)
    guessed: list[tuple[str, str]] = []
    notes: list[Caution] = []
    if not family and wanted.family is None:
        family, notes = guess_family(table, _not_taken(columns, given))
        guessed += [("family", name) for name in family]
    selection = given.pop("selection")
    if selection is None:
        selection = _guess_selection(table, wanted, family, given["reported"])
        guessed.insert(0, ("selection", selection))
    roles = Roles(selection=selection, family=family, guessed=guessed, notes=notes)
    for role, name in given.items():
        setattr(roles, role, name)
    roles.seed = wanted_column("seed", "seed_column")
    roles.order, roles.path = known.get("order"), known.get("path")
    if roles.search in roles.family and wanted.search is None:
        roles.search = None  # asked for as families, they are no searches of one
    settings = table.matching(wanted.configuration, "the configuration") if wanted.configuration else []
    free = [name for name in columns if name not in roles.used() and name not in settings]
    if wanted.reported is None and roles.reported is None and "selection" not in known:
        _guess_reported(roles, columns, free, source)
    _guess_rest(table, roles, [name for name in free if name not in roles.used()], wanted)
    guess_searches(table, roles, wanted)
    guess_task(table, roles, wanted)
    guess_levels(table, roles, wanted)
    return roles


def _not_taken(columns: Iterable[str], given: Mapping[str, str | None]) -> list[str]:
    """The columns without a part; ``--search model`` says that each family is one search, and names families too."""
    taken = {name for role, name in given.items() if name and not (role == "search" and obvious_family(tokens(name)))}
    return [name for name in columns if name not in taken]


_ASKED = (
    *("selection", "reported", "cost", "task", "group", "trial", "search", "status", "weight", "stratum", "cluster"),
    "answer",
)


def _wanted_family(
    wanted: ReadRequest, columns: Mapping[str, Cells], known: Mapping[str, str], source: str
) -> tuple[str, ...]:
    if wanted.family is None:
        return (known["family"],) if "family" in known else ()
    together = ",".join(wanted.family)
    if together in columns:
        return (together,)  # one column whose name has a comma
    if says_none(together, columns):
        return ()
    return tuple(column_named(column, columns, "family", source) for column in wanted.family)


def _tiers(free: Sequence[str], *, alone: bool) -> list[list[str]]:
    """Columns that may be the selection score, the surest first; ``alone``: no reported score was named."""
    words = {name: frozenset(names.tokens(name)) for name in free}
    validation = [n for n in free if words[n] & names.VALIDATION and names.could_be_score(n)]
    split = names.TEST | names.TRAIN | names.VALIDATION
    plain = [name for name in free if names.is_metric(name) and not words[name] & split]
    if len(validation) > 1:
        validation = with_twin(validation, free)
    tiers = [among(free, ("selection", "selection_score")), validation]
    return [*tiers, plain, among(free, ("value",))] if alone else tiers


def _guess_selection(table: Merged, wanted: ReadRequest, family: Sequence[str], reported: str | None) -> str:
    """The score that picks the winner: ``reported`` itself where it is all that was named."""
    columns, source = table.columns, table.source
    taken = {reported, wanted.cost, wanted.task, wanted.group, wanted.trial, wanted.search, wanted.seed_column}
    free = [name for name in columns if name not in taken | set(family) | set(table.roles.values())]
    by_family = _family_codes(columns, family)

    def could_be(name: str) -> bool:
        return looks_numeric(columns, name) and never_score(Look(name, columns[name], by_family)) is None

    tiers = _tiers(free, alone=reported is None)
    if len(gaps := [name for name in _with_gaps(columns, free) if could_be(name)]) > 1:
        ask_about_names(columns, gaps, source)
    numeric = ([name for name in tier if could_be(name)] for tier in tiers)
    numeric = (tier if len(tier) < 2 else the_meant(columns, tier) for tier in numeric)
    one_of = f"choose one with {named('selection')}"
    selection = only_column(numeric, source, "selection score", lambda tier: one_of + numbered(tier))
    if selection is not None or reported is not None:
        return selection or str(reported)
    return _last_resort(table, free, tiers, could_be)


def _last_resort(
    table: Merged, free: Sequence[str], tiers: Sequence[Sequence[str]], could_be: Callable[[str], bool]
) -> str:
    """The only column that can be a score, or the only list; else it is asked."""
    columns, source = table.columns, table.source
    if score := _only_score(columns, free, [name for name in free if could_be(name)]):
        return score  # the only one there is picks the winner too, and that is said
    lists = [name for tier in tiers for name in tier if is_series(columns[name])]
    if len(lists) == 1:
        return lists[0]  # whether its items are tasks or checkpoints is told by the table, or asked
    scores = [name for name in free if could_be(name)]
    remedy = worded(columns, [name for tier in tiers for name in tier]) or numbered(scores) + in_columns(
        columns, scores
    )
    raise Ambiguous(
        f"{source}: no column is obviously the selection score; name it with {named('selection')} (columns: "
        f"{listed_columns(columns)}{inside_lists(columns)}){remedy}"
    )


def _with_gaps(columns: Mapping[str, Cells], free: Sequence[str]) -> list[str]:
    """The columns that read like scores and are not filled in every row."""
    scores = [name for name in free if names.is_metric(name) and looks_numeric(columns, name)]
    return [name for name in scores if not np.isfinite(as_numbers(columns[name]).values).all()]


def _only_score(columns: Mapping[str, Cells], free: Sequence[str], left: list[str]) -> str | None:
    """The one column that can be a score, or the one that its name or its cells call a result."""
    tested = [name for name in left if names.is_metric(name) and names.TEST & set(names.tokens(name))]
    alone = [name for name in free if never_score(Look(name, columns[name])) is None and not _obvious_cost(name)]
    judged = [name for name in left if "verdict" in as_numbers(columns[name]).converted]
    return next((only[0] for only in (left if len(alone) == 1 else [], tested, judged) if len(only) == 1), None)


def _family_codes(columns: Mapping[str, Cells], family: Sequence[str]) -> Codes | None:
    return joint_codes([as_codes(columns[name])[1] for name in family]) if family else None


def _is_same_metric(test: str, selection: str) -> bool:
    """Whether a test score may be the same metric by another word (acc, top1), and not at another time (init)."""
    words, others = names.rest(test), names.rest(selection) - names.LEAKY
    ways = {names.direction_of(name)[0] for name in (test, selection)}
    return words == others or (not words & others and len(ways - {None}) == 1)


def _guess_reported(roles: Roles, columns: Mapping[str, Cells], free: Sequence[str], source: str) -> None:
    by_family = _family_codes(columns, roles.family)
    test = [name for name in free if set(names.tokens(name)) & names.TEST and names.could_be_score(name)]
    test = [name for name in test if looks_numeric(columns, name)]
    test = [name for name in test if never_score(Look(name, columns[name], by_family)) is None]
    same = [name for name in test if names.rest(name) == names.rest(roles.selection)]
    bare = [name for name in test if not names.rest(name)]
    remedy = f"choose one with {named('reported')} (or say 'none')"
    exact = among(free, ("reported", "reported_score"))
    reported = only_column((exact, same, bare), source, "reported score", remedy)
    if reported is not None:
        _take_one(roles, "reported", [reported])
    elif len(test) == 1 and _is_same_metric(test[0], roles.selection):
        _take_one(roles, "reported", test)  # the only test score
    elif test:
        roles.notes.append(Caution.of("guessed-columns", kind="open", role="reported", columns=test))


def _costs(columns: Mapping[str, Cells], free: Sequence[str], _: Roles) -> list[str]:
    obvious = [name for name in free if _obvious_cost(name) and looks_numeric(columns, name)]
    costs = [name for name in obvious if not is_moment(Look(name, columns[name]))]
    return among(costs, ("cost",)) or costs


def _seeds(_: Mapping[str, Cells], free: Sequence[str], __: Roles) -> list[str]:
    return among(free, _SEED) or [name for name in free if "_".join(of_settings(name)) in _SEED]


def _searches(_: Mapping[str, Cells], free: Sequence[str], __: Roles) -> list[str]:
    return among(free, _SEARCHES)


def _statuses(columns: Mapping[str, Cells], free: Sequence[str], roles: Roles) -> list[str]:
    by_name = [name for name in among(free, _STATUS) if as_statuses(columns[name]).is_status]
    known = by_name or [name for name in free if is_endings(columns[name])]
    repeated = _scores_in_words(columns, known, roles)
    return [name for name in known if name not in repeated]


def _scores_in_words(columns: Mapping[str, Cells], outcomes: Iterable[str], roles: Roles) -> list[str]:
    """Outcomes (``failed: AssertionError``) that repeat a score of 0 and 1: nothing crashed where a test failed."""
    scores = [columns[name] for name in (roles.selection, roles.reported) if name and name in columns]
    values = [as_numbers(score).values for score in scores if not is_series(score)]
    binary = [numbers for numbers in values if set(np.unique(numbers).tolist()) == {0.0, 1.0}]
    return [name for name in outcomes if any(is_in_words(columns[name], score) for score in binary)] if binary else []


_OBVIOUS = {"cost": _costs, "group": named_problems, "seed": _seeds, "search": _searches, "status": _statuses}
"""The columns that obviously play a part, by rule, in the order in which parts are given."""


def _guess_rest(table: Merged, roles: Roles, free: Sequence[str], wanted: ReadRequest) -> None:
    columns = table.columns
    for role, candidates in _OBVIOUS.items():
        option = "seed_column" if role == "seed" else role
        if getattr(roles, role) is None and getattr(wanted, option) is None:
            _take_one(roles, role, candidates(columns, free, roles), option)
    guess_problems(table, roles, wanted)
    if roles.group is not None:
        unused = [name for name in free if name not in roles.used()]
        roles.sample = roles.trial or _obvious_sample(columns, unused) or roles.order or _runs(columns, unused, roles)
    endings = (name for name in free if name not in roles.used() and is_endings(columns[name]))
    roles.in_words = next(iter(_scores_in_words(columns, endings, roles)), None)
    flags = [name for name in free if set(names.tokens(name)) & FLAGS and as_flags(columns[name]) is not None]
    roles.flag = flags[0] if len(flags) == 1 else None


def _obvious_sample(columns: Mapping[str, Cells], free: Sequence[str]) -> str | None:
    """The column of sample ids: known by its name, and by ids that are numbers or single words."""
    for name in (name for known in SAMPLE_IDS for name in among(free, (known,))):
        if looks_numeric(columns, name) or all(len(label.split()) == 1 for label in as_codes(columns[name])[0]):
            return name
    return None


def _runs(columns: Mapping[str, Cells], free: Sequence[str], roles: Roles) -> str | None:
    """The column that says which run of all problems a row is of: no run has a problem twice, unless row by row."""
    numbers = among(free, RUNS | REPEATS) if roles.seed is None else []
    if len(numbers) != 1:
        return None
    keys = [as_codes(columns[name])[1] for name in (*roles.family, roles.group, roles.task, numbers[0]) if name]
    run = joint_codes(keys)
    kinds = int(run.max(initial=-1)) + 1
    once = kinds == run.size or kinds == np.unique(joint_codes([as_codes(c)[1] for c in columns.values()])).size
    return numbers[0] if once else None


def _obvious_cost(name: str) -> bool:
    words = names.tokens(name)
    if set(words) & (_CUMULATIVE | names.VALIDATION | names.TEST) or names.is_metric(name):
        return False
    unit, _, per = (names.cost_unit_of(name) or "").rpartition(" ")  # a device, as of GPU h
    timed = per in _COST_UNITS and (bool(unit) or bool({"time", "cost", "gpu"} & set(words)))
    return timed or names.spelled(name) in _COST or words[-1:] in (("runtime",), ("duration",))


def _take_one(roles: Roles, role: str, candidates: list[str], option: str | None = None) -> None:
    """The only candidate for a role, and that it was chosen by its name; where there are several, which they are."""
    if len(candidates) == 1:
        setattr(roles, role, candidates[0])
        roles.guessed.append((role, candidates[0]))
    elif candidates:
        roles.notes.append(Caution.of("guessed-columns", kind="open", role=option or role, columns=candidates))
