"""Which column plays which part: as asked, as the format says, or by an obvious name, and then the choice is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from levelbest import _check
from levelbest.cautions import Caution
from levelbest.errors import InputError, named
from levelbest.readers.columns import Cells, LazyColumns, as_codes, as_flags, is_numeric
from levelbest.readers.steps import names
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, word_set
from levelbest.readers.steps.nested import split_path
from levelbest.readers.steps.numbers import FLAGS, as_numbers, as_statuses

__all__ = [
    "SAMPLE_IDS",
    "Roles",
    "Wanted",
    "choose_roles",
    "column_named",
    "looks_numeric",
    "obvious_family",
    "says_none",
]

_FAMILY = word_set("model method algorithm alg algo architecture arch system approach classifier learner")
_GROUP = word_set("group problem problem_id task_id question_id prompt_id instance_id doc_id puzzle_id")
_COST = word_set(
    "cost runtime duration elapsed walltime gpu_hours seconds hours usd time_total_s train_time training_time "
    "wall_time fit_time price time"
)
_COST_UNITS = ("s", "h", "min", "USD", "GPU h")
_SEED = word_set("seed random_seed random_state")
_STATUS = word_set("status state trial_status run_status")
SAMPLE_IDS = (
    *("sample_id", "sample", "sample_idx", "sample_index", "sample_number", "completion_id", "generation_id"),
    *("trial", "trial_id", "attempt", "epoch"),
)
"""Names of columns that say which sample of its problem a row is, the surest first."""
_PREFIXES = (
    *("user_attrs", "params", "parameters", "hyperparameters", "hparams", "config", "args", "tags", "summary"),
    *("metrics", "metric", "values", "scores", "stats"),
)
_SETTINGS = word_set("config cfg args params parameters hparams hyperparameters settings")
_NAMED = ("selection", "reported", "cost", "group", "weight", "stratum", "trial", "search", "seed", "status")
_ONE_EACH = 0.9
"""A column whose values are so nearly all different tells trials apart, not families."""
_FEW = 6
_CUMULATIVE = word_set("cum cumulative accumulated total_so_far start end")


@dataclass(frozen=True)
class Wanted:
    """What the caller asked for, by the names of `read_trials`.

    None: not said; ``"none"`` for an optional role: there is none.
    """

    family: tuple[str, ...] | None = None
    selection: str | None = None
    reported: str | None = None
    cost: str | None = None
    group: str | None = None
    trial: str | None = None
    search: str | None = None
    seed_column: str | None = None
    status: str | None = None
    weight: str | None = None
    stratum: str | None = None
    configuration: tuple[str, ...] | None = None
    wide: tuple[str, ...] | None = None
    where: str | None = None
    direction: str | None = None
    selection_direction: str | None = None
    bounds: Sequence[float | None] | None = None


@dataclass
class Roles:
    """Role -> column. ``guessed`` holds what was taken by name alone."""

    selection: str
    family: tuple[str, ...] = ()
    """No column: the source's own name."""
    reported: str | None = None
    cost: str | None = None
    group: str | None = None
    trial: str | None = None
    search: str | None = None
    seed: str | None = None
    status: str | None = None
    order: str | None = None
    weight: str | None = None
    stratum: str | None = None
    sample: str | None = None
    """Which sample of its problem a row is."""
    path: str | None = None
    """Where the files of a trial are."""
    flag: str | None = None
    """A true-or-false column that marks trials that went wrong."""
    guessed: list[tuple[str, str]] = field(default_factory=list)
    direction_by: str | None = None
    """The name that told the direction."""
    run_cost: str | None = None
    """How the cost of a run was put together from its rows: ``sum`` or ``last``."""
    notes: list[Caution] = field(default_factory=list)
    """Choices that were left open, or made for a reason that is no name."""

    def named(self) -> dict[str, str]:
        """Role -> column, for the roles that have one."""
        given = {role: getattr(self, role) for role in _NAMED}
        family = {"family": ",".join(self.family)} if self.family else {}
        return family | {role: name for role, name in given.items() if name}

    def used(self) -> set[str]:
        """Every column with a part."""
        single = [getattr(self, role) for role in (*_NAMED, "order", "flag", "path")]
        return {name for name in (*self.family, *single) if name}


def column_named(asked: str, columns: Iterable[str], option: str, source: str) -> str:
    """The column meant by a name: exact, else the only one that differs in case, punctuation or a tool's prefix.

    ``test_acc`` is also ``user_attrs_test_acc`` and ``metrics.test_acc``; a dotted path may lead into nested values.
    """
    known = list(columns)
    if asked in known:
        return asked
    words = names.tokens(asked)
    spelled = [name for name in known if words and names.tokens(name) == words]
    prefixed = [name for name in known if words and _without_prefix(name) == words]
    for alike in (spelled, prefixed):
        if len(alike) == 1:
            return alike[0]
        if alike:
            either = ", ".join(map(repr, alike))
            raise InputError(f"{source}: {asked!r} could be any of {either}; give {named(option)} exactly")
    if split_path(asked, known) is not None:
        return asked
    raise InputError(f"{source} has no column {asked!r} for {named(option)}; {_check.nearest_first(asked, known)}")


def says_none(asked: str, columns: Collection[str]) -> bool:
    """Whether the caller says that no column plays a part."""
    return asked.lower() == "none" and asked not in columns


def _without_prefix(name: str) -> tuple[str, ...]:
    words = names.tokens(name)
    for prefix in _PREFIXES:
        parts = names.tokens(prefix)
        if words[: len(parts)] == parts:
            return words[len(parts) :]
    return ()


def choose_roles(table: Merged, wanted: Wanted) -> Roles:
    """Columns for all roles: those asked for, then those the format knows, then obvious names."""
    columns, known, source = table.columns, table.roles, table.source

    def asked(role: str, option: str | None = None) -> str | None:
        given = getattr(wanted, option or role)
        if given is None:
            return known.get(role)
        return None if says_none(given, columns) else column_named(given, columns, option or role, source)

    selection = asked("selection")
    guessed: list[tuple[str, str]] = []
    if selection is None:
        selection = _guess_selection(columns, source, exclude=wanted)
        guessed.append(("selection", selection))
    roles = Roles(selection=selection, guessed=guessed)
    for role in ("reported", "cost", "group", "trial", "search", "status", "weight", "stratum"):
        setattr(roles, role, asked(role))
    roles.seed = asked("seed", "seed_column")
    roles.order, roles.path = known.get("order"), known.get("path")
    if wanted.family is not None and ",".join(wanted.family) in columns:
        roles.family = (",".join(wanted.family),)  # one column whose name has a comma
    elif wanted.family is not None and not says_none(",".join(wanted.family), columns):
        roles.family = tuple(column_named(column, columns, "family", source) for column in wanted.family)
    elif wanted.family is None and "family" in known:
        roles.family = (known["family"],)
    if roles.search in roles.family and wanted.search is None:
        roles.search = None  # asked for as families, they are no searches of one
    taken = roles.used()
    free = [name for name in columns if name not in taken]
    if wanted.reported is None and roles.reported is None and "selection" not in known:
        _guess_reported(roles, columns, free, source)
    if not roles.family and wanted.family is None:
        _guess_family(roles, columns, free, source)
    _guess_rest(roles, columns, [name for name in free if name not in roles.used()], wanted)
    return roles


def looks_numeric(columns: Mapping[str, Cells], name: str) -> bool:
    """Whether most of the first cells of a column are numbers, or all are known to be without reading them."""
    if isinstance(columns, LazyColumns) and name in (columns.numbers or ()):
        return True
    column = columns[name]
    if is_numeric(column):
        return True
    head = column[:200]
    numbers = as_numbers(head)
    return len(head) > 0 and len(numbers.words) * 2 < len(head) - int(numbers.empty.sum())


def _guess_selection(columns: Mapping[str, Cells], source: str, exclude: Wanted) -> str:
    asked = {exclude.reported, exclude.cost, exclude.group, exclude.trial, exclude.search, exclude.seed_column}
    free = [name for name in columns if name not in asked | set(exclude.family or ())]
    exact = among(free, ("selection", "selection_score"))
    words = {name: frozenset(names.tokens(name)) for name in free}
    validation = [n for n in free if words[n] & names.VALIDATION and names.could_be_score(n)]
    split = names.TEST | names.TRAIN | names.VALIDATION
    plain = [name for name in free if names.is_metric(name) and not words[name] & split]
    tiers = ([name for name in tier if looks_numeric(columns, name)] for tier in (exact, validation, plain))
    selection = _only(tiers, source, "selection score", f"choose one with {named('selection')}")
    if selection is not None:
        return selection
    numeric = [name for name in free if looks_numeric(columns, name)]
    tested = [name for name in numeric if names.is_metric(name) and words[name] & names.TEST]
    for alone in (numeric if len(free) == 1 else [], tested):
        if len(alone) == 1:  # the only score there is picks the winner too, and that is said
            return alone[0]
    raise InputError(
        f"{source}: no column is obviously the selection score; name it with {named('selection')} (columns: "
        f"{_listed(columns)})"
    )


def _only(tiers: Iterable[Sequence[str]], source: str, what: str, remedy: str) -> str | None:
    """The one name of the first tier that has any; an error where it has several."""
    for tier in tiers:
        if len(tier) > 1:
            raise InputError(f"{source}: the {what} could be any of {_listed(tier)}; {remedy}")
        if tier:
            return tier[0]
    return None


def _guess_reported(roles: Roles, columns: Mapping[str, Cells], free: Sequence[str], source: str) -> None:
    test = [name for name in free if set(names.tokens(name)) & names.TEST and names.could_be_score(name)]
    test = [name for name in test if looks_numeric(columns, name)]
    same = [name for name in test if names.rest(name) == names.rest(roles.selection)]
    bare = [name for name in test if not names.rest(name)]
    remedy = f"choose one with {named('reported')} (or say 'none')"
    exact = among(free, ("reported", "reported_score"))
    reported = _only((exact, same, bare), source, "reported score", remedy)
    if reported is not None:
        _take_one(roles, "reported", [reported])
    elif test:
        roles.notes.append(Caution.of("guessed-columns", kind="open", role="reported", columns=test))


def _guess_family(roles: Roles, columns: Mapping[str, Cells], free: Sequence[str], source: str) -> None:
    obvious = [name for name in free if obvious_family(names.tokens(name))]
    nested = [name for name in free if obvious_family(_of_settings(name))]
    remedy = f"choose one or several with {named('family')}"
    family = _only((among(free, ("family",)), obvious, nested), source, "family", remedy)
    if family is None:
        return
    listed, codes = as_codes(columns[family])
    count, filled = len(listed), int(np.count_nonzero(codes >= 0))
    if filled >= _FEW and count > _ONE_EACH * filled:
        roles.notes.append(Caution.of("guessed-columns", kind="one-each", column=family, count=count, n_trials=filled))
        return
    roles.family = (family,)
    roles.guessed.append(("family", family))


def obvious_family(words: tuple[str, ...]) -> bool:
    """Whether the words of a name say that the column names models."""
    return bool(words) and words[0] in _FAMILY and words[1:] in ((), ("name",))


def _of_settings(name: str) -> tuple[str, ...]:
    """The words of a setting: ``config.model`` is (model); none where the column is not of the settings."""
    words = names.tokens(name)
    return words[1:] if words and words[0] in _SETTINGS else ()


def _guess_rest(roles: Roles, columns: Mapping[str, Cells], free: Sequence[str], wanted: Wanted) -> None:
    costs = [name for name in free if _obvious_cost(name)] if roles.cost is None and wanted.cost is None else []
    costs = [name for name in costs if looks_numeric(columns, name)]
    statuses = among(free, _STATUS) if roles.status is None and wanted.status is None else []
    obvious = {
        "cost": among(costs, ("cost",)) or costs,
        "group": among(free, _GROUP),
        "seed": among(free, _SEED) or [name for name in free if "_".join(_of_settings(name)) in _SEED],
        "search": among(free, ("search", "search_id")),
        "status": [name for name in statuses if not as_statuses(columns[name])[1]],
    }
    for role, candidates in obvious.items():
        option = "seed_column" if role == "seed" else role
        if getattr(roles, role) is None and getattr(wanted, option) is None:
            _take_one(roles, role, candidates, option)
    if roles.group is not None:
        unused = [name for name in free if name not in roles.used()]
        roles.sample = roles.trial or _obvious_sample(columns, unused) or roles.order
    flags = [name for name in free if set(names.tokens(name)) & FLAGS and as_flags(columns[name]) is not None]
    roles.flag = flags[0] if len(flags) == 1 else None


def _obvious_sample(columns: Mapping[str, Cells], free: Sequence[str]) -> str | None:
    """The column of sample ids: known by its name, and by ids that are numbers or single words."""
    for name in (name for known in SAMPLE_IDS for name in among(free, (known,))):
        if looks_numeric(columns, name) or all(len(label.split()) == 1 for label in as_codes(columns[name])[0]):
            return name
    return None


def _obvious_cost(name: str) -> bool:
    words = names.tokens(name)
    if set(words) & (_CUMULATIVE | names.VALIDATION | names.TEST) or names.is_metric(name):
        return False
    timed = names.cost_unit_of(name) in _COST_UNITS and bool({"time", "cost", "gpu"} & set(words))
    return timed or names.spelled(name) in _COST or words[-1:] in (("runtime",), ("duration",))


def _take_one(roles: Roles, role: str, candidates: list[str], option: str | None = None) -> None:
    """The only candidate for a role, and that it was chosen by its name; where there are several, which they are."""
    if len(candidates) == 1:
        setattr(roles, role, candidates[0])
        roles.guessed.append((role, candidates[0]))
    elif candidates:
        roles.notes.append(Caution.of("guessed-columns", kind="open", role=option or role, columns=candidates))


def _listed(columns: Iterable[str], limit: int = 12) -> str:
    listed = [repr(name) for name in columns]
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more
