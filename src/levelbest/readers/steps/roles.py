"""What was asked about columns, which part each of them plays, and how a column is found by its name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from levelbest import _check
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, InputError, named
from levelbest.readers.columns import Cells, LazyColumns, is_numeric
from levelbest.readers.steps import names
from levelbest.readers.steps.nested import split_path
from levelbest.readers.steps.numbers import as_numbers

__all__ = ["Roles", "Wanted", "column_named", "looks_numeric", "says_none"]

_PREFIXES = (
    *("user_attrs", "params", "parameters", "hyperparameters", "hparams", "config", "args", "tags", "summary"),
    *("metrics", "metric", "values", "scores", "stats"),
)
_NAMED = ("selection", "reported", "cost", "task", "group", "weight", "stratum", "trial", "search", "seed", "status")


@dataclass(frozen=True)
class Wanted:
    """What the caller asked for, by the names of `read_trials`.

    None: not said; ``"none"`` for an optional role: there is none.
    """

    family: tuple[str, ...] | None = None
    selection: str | None = None
    reported: str | None = None
    cost: str | None = None
    task: str | None = None
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
    keep: bool = False
    """Whether columns that play no part are kept."""


@dataclass
class Roles:
    """Role -> column. ``guessed`` holds what was taken by name alone."""

    selection: str
    family: tuple[str, ...] = ()
    """No column: the source's own name."""
    reported: str | None = None
    cost: str | None = None
    task: str | None = None
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
            raise Ambiguous(f"{source}: {asked!r} could be any of {either}; give {named(option)} exactly")
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
