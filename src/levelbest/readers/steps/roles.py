"""Roles of columns: the options given, lookup by name, and which columns are hyperparameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from levelbest import _check
from levelbest._check import Column
from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, InputError, named
from levelbest.readers.raw import Cells, Coded, Codes, LazyColumns, as_codes, is_numeric, texts
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers, as_statuses, split_path
from levelbest.readers.steps.kinds import (
    PLACES,
    Look,
    is_index,
    is_numbered,
    is_setting_name,
    is_task_name,
    never_setting,
    of_settings,
)
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, obvious_family, word_set

__all__ = ["LIKE_FAMILY", "ReadRequest", "Roles", "column_named", "configuration_of", "guess_family", "listed_columns"]
__all__ += ["looks_numeric", "only_column", "plain_values", "says_none"]

_PREFIXES = (
    *("user_attrs", "params", "parameters", "hyperparameters", "hparams", "config", "args", "tags", "summary"),
    *("metrics", "metric", "values", "scores", "stats"),
)
_NAMED = (
    *("selection", "reported", "cost", "task", "group", "weight", "stratum", "cluster"),
    *("trial", "search", "seed", "status"),
)
ALL_COLUMNS_UP_TO = 1_000_000
"""Tables beyond this many rows keep only the configuration columns that were asked for."""
_SMALL = 100_000
_RUN_NAMES = names.word_set("run name trial config configuration experiment folder dir path")
_SETTING = re.compile(r"([A-Za-z]+)[=:]?(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
_OF_SETTINGS = ("config", "configuration", "params", "param", "hparams", "hyperparameters", "hyperparameter", "hp")
_OF_A_SAMPLE = names.word_set(
    "sample_idx sample_id sample_index sample_number sample_no completion_id completion_idx completion_index "
    "generation_id generation_idx attempt attempt_id attempt_idx completion completions generation generations answer "
    "response output prediction predicted extracted_answer final_answer parsed_answer logprob log_prob logprobs"
)
"""Where rows are samples of problems: which sample a row is, and what came out of it."""
_NUMBERED = names.word_set(
    "config config_id config_idx config_index config_name config_no configuration configuration_id hparams_id hp_id "
    "hyperparameters_id setting setting_id settings_id candidate candidate_id arm arm_name arm_id params_id"
)
_REPEATS = names.word_set("s seed rs rep repeat run trial fold idx id")
"""Keys in the name of a run that number it: ``s1`` of ``exp/lr0.1_s1`` is a seed."""
_ENDINGS = names.word_set("id uuid path dir folder name url timestamp time date host hostname")

_PEOPLE = word_set("team student participant contestant")
LIKE_FAMILY = _PEOPLE | word_set("agent llm network net backbone estimator technique solver")
_PERHAPS_FAMILY = word_set(
    "policy strategy variant prompt tuner encoder engine clf regressor detector forecaster sampler planner condition "
    "treatment framework library toolkit pipeline recipe agent llm network net backbone estimator technique solver "
    "heuristic recommender generator ablation branch"
)
_EXPERIMENTS = word_set("exp experiment")
_OF_PROBLEMS = word_set("label labels gold target truth class category topic genre difficulty answer source")
"""What is said of a problem, and not who answered it: ``gold_label``."""
_ONE_EACH, _TWO_EACH, _FEW, _ZOO = 0.9, 0.4, 6, 100
"""A column whose values are so nearly all different tells trials apart, not families; where there are many and few rows
of each, either may be meant."""
_MOST_WORDS, _ROWS_EACH = 30, 3
"""Families that no name tells are so few, with so many rows each."""


@dataclass(frozen=True)
class ReadRequest:
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
    tied: str = "first"
    """Of a run's checkpoints that tie at the best selection score the first or the last."""
    search: str | None = None
    seed_column: str | None = None
    status: str | None = None
    weight: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    answer: str | None = None
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
    cluster: str | None = None
    answer: str | None = None
    sample: str | None = None
    """Which sample of its problem a row is."""
    path: str | None = None
    """Where the files of a trial are."""
    counter: str | None = None
    """What counts the checkpoints of runs, or the rounds of a search: where the best one stands is no setting of it."""
    flag: str | None = None
    in_words: str | None = None
    """A true-or-false column that marks trials that went wrong; the score of 0 and 1 in words, which is no status."""
    guessed: list[tuple[str, str]] = field(default_factory=list)
    direction_by: str | None = None
    """The name that told the direction."""
    run_cost: str | None = None
    """How the cost of a run was put together from its rows: ``sum`` or ``last``."""
    notes: list[Caution] = field(default_factory=list)
    """Choices that were left open, or made for a reason that is no name."""

    def named(self) -> dict[str, str]:
        """Role -> column, for the roles that have one."""
        given = {role: getattr(self, role) for role in (*_NAMED, "answer")}
        family = {"family": ",".join(self.family)} if self.family else {}
        return family | {role: name for role, name in given.items() if name}

    def used(self) -> set[str]:
        """Every column with a part."""
        single = [getattr(self, role) for role in (*_NAMED, "answer", "order", "flag", "in_words", "path", "counter")]
        return {name for name in (*self.family, *single) if name}


def column_named(wanted: str, columns: Iterable[str], option: str, source: str) -> str:
    """The column meant by a name: exact, else the only one that differs in case, punctuation or a tool's prefix.

    ``test_acc`` is also ``user_attrs_test_acc`` and ``metrics.test_acc``; a dotted path may lead into nested values.
    """
    known = list(columns)
    if wanted in known:
        return wanted
    words = names.tokens(wanted)
    spelled = [name for name in known if words and names.tokens(name) == words]
    prefixed = [name for name in known if words and _without_prefix(name) == words]
    for alike in (spelled, prefixed):
        if len(alike) == 1:
            return alike[0]
        if alike:
            either = ", ".join(map(repr, alike))
            raise Ambiguous(f"{source}: {wanted!r} could be any of {either}; give {named(option)} exactly")
    if split_path(wanted, known) is not None:
        return wanted
    raise InputError(f"{source} has no column {wanted!r} for {named(option)}; {_check.nearest_first(wanted, known)}")


def says_none(wanted: str, columns: Collection[str]) -> bool:
    """Whether the caller says that no column plays a part."""
    return wanted.lower() == "none" and wanted not in columns


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


def configuration_of(table: Merged, trials: Merged, roles: Roles, wanted: ReadRequest) -> Mapping[str, Column]:
    """Hyperparameters by column: chosen by all rows of the table, for those of them that are trials."""
    used = roles.used()
    if wanted.configuration is not None:
        chosen = table.matching(wanted.configuration, "the configuration") if wanted.configuration else []
        return {name: plain_values(trials.columns[name]) for name in chosen if name not in used}
    recorded = dict.fromkeys(name for part in table.tables for name in part.configuration or () if not _is_place(name))
    silent = [part for part in table.tables if part.configuration is None]
    chosen, spelled = [*recorded], {}
    if silent and table.n_rows <= ALL_COLUMNS_UP_TO:
        theirs = {name for part in silent for name in part.columns}
        chosen += [name for name in _left_over(table, roles, theirs) if name not in recorded]
        spelled = _spelled(trials, used) if table.n_rows <= _SMALL else {}
    return {name: plain_values(trials.columns[name]) for name in chosen if name not in used} | spelled


def _spelled(table: Merged, used: set[str]) -> dict[str, Column]:
    """Settings that a run's name spells out, as in ``03_t1024_l2_de6``: one column each."""
    spelled: dict[str, Column] = {}
    for name in table.columns:
        column = table.columns[name]
        if name in used or not set(names.tokens(name)) & _RUN_NAMES or isinstance(column, Coded) or is_numeric(column):
            continue
        for row, cell in enumerate(column):
            parts = [_SETTING.fullmatch(part) for part in re.split(r"[/_,; ]+", str(cell or ""))]
            settings = {match[1]: float(match[2]) for match in parts if match and match[1].lower() not in _REPEATS}
            if len(settings) > 1 or (settings and len(settings) < sum(match is not None for match in parts)):
                for key, value in settings.items():
                    spelled.setdefault(f"{name}.{key}", np.full(table.n_rows, np.nan))[row] = value
    return {name: values for name, values in spelled.items() if np.isfinite(values).sum() >= 4}


def _may_be_setting(name: str, cells: Cells, prefixed: Sequence[str]) -> bool:
    against = never_setting(Look(name, cells))
    return against is None or (against == "result" and name in prefixed)


def _left_over(table: Merged, roles: Roles, owned: set[str]) -> list[str]:
    used = roles.used()
    free = [name for name in table.columns if name not in used and name in owned]
    prefixed = [name for name in free if _prefix(name)]
    if sum(map(_prefix, owned)) > 1:
        return prefixed
    numbered = names.among(free, _NUMBERED)
    if roles.group is not None:
        free = [name for name in free if name != roles.sample and names.spelled(name) not in _OF_A_SAMPLE]
        free = [name for name in free if not _is_of_samples(table, roles.group, name)]
    settings = [name for name in free if _may_be_setting(name, table.columns[name], prefixed)]
    if any(_varies(table.columns[name]) for name in settings):
        return settings
    # Configurations known by their number alone: several rows of one are its repeats.
    return settings + [name for name in numbered if 1 < len(as_codes(table.columns[name])[0]) <= table.n_rows / 2]


def _is_of_samples(table: Merged, group: str, name: str) -> bool:
    """Whether a number has values that few problems have: a setting is tried on every problem."""
    if not looks_numeric(table.columns, name):
        return False
    values, problems = (len(as_codes(table.columns[column])[0]) for column in (name, group))
    return values > 1 and np.unique(table.codes(name, group)).size < 0.5 * values * problems


def _varies(column: Cells) -> bool:
    if not is_numeric(column):
        return len(as_codes(column)[0]) > 1
    known = np.ma.getdata(column)[~np.ma.getmaskarray(column)]
    return bool((known != known[:1]).any()) and not np.isnan(known).all()


def _prefix(name: str) -> bool:
    words = names.tokens(name)
    return len(words) > 1 and words[0] in _OF_SETTINGS and words[-1] not in _ENDINGS and not _is_place(name)


def _is_place(name: str) -> bool:
    return "_".join(of_settings(name) or names.tokens(name)) in PLACES


def plain_values(column: Cells) -> Column:
    """The cells as an array of its own without a mask: text and objects with None, numbers with NaN where empty."""
    if isinstance(column, Coded):
        return texts(column)
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column, np.nan) if is_numeric(column) else np.asarray(column.tolist(), dtype=object)
    return np.array(column)


def listed_columns(columns: Iterable[str], limit: int = 12) -> str:
    """The names of columns for a message, the first of them where there are many."""
    quoted = [repr(name) for name in columns]
    more = f" and {len(quoted) - limit} more" if len(quoted) > limit else ""
    return ", ".join(quoted[:limit]) + more


def guess_family(table: Merged, free: Sequence[str]) -> tuple[tuple[str, ...], list[Caution]]:
    """The column that names families, or none; and what is said where it tells trials apart instead."""
    columns, source = table.columns, table.source
    remedy = f"choose one or several with {named('family')}"
    family = only_column((_that_vary(tier, columns) for tier in _tiers(table, free)), source, "family", remedy)
    if family is None:
        return (), []
    values, codes = as_codes(columns[family])
    count, filled = len(values), int(np.count_nonzero(codes >= 0))
    if filled >= _FEW and count > _ONE_EACH * filled and set(names.tokens(family)) & _PEOPLE:
        raise Ambiguous(
            f"{source}: {family!r} differs in nearly every row: one score of each allows no comparison "
            f"({named('family', family)} lists them); are all rows trials of one ({named('family', 'none')})?"
        )
    if filled >= _FEW and count > _ONE_EACH * filled:
        note = Caution.of("guessed-columns", kind="one-each", column=family, count=count, n_trials=filled)
        return (), [note]
    if count > _ZOO and count > _TWO_EACH * filled:
        raise Ambiguous(
            f"{source}: {family!r} has {count:,} values in {filled:,} rows: is each a family "
            f"({named('family', family)}), or are all rows trials of one ({named('family', 'none')})?"
        )
    return (family,), []


def only_column(
    tiers: Iterable[Sequence[str]], source: str, what: str, remedy: str | Callable[[Sequence[str]], str]
) -> str | None:
    """The one name of the first tier that has any; a question where it has several."""
    for tier in tiers:
        if len(tier) > 1:
            how = remedy if isinstance(remedy, str) else remedy(tier)
            raise Ambiguous(f"{source}: the {what} could be any of {listed_columns(tier)}; {how}")
        if tier:
            return tier[0]
    return None


def _tiers(table: Merged, free: Sequence[str]) -> Iterable[list[str]]:
    """Columns that may name the families, the surest first."""
    columns = table.columns
    yield among(free, ("family",))
    yield among(free, ("outer_key", "inner_key"))  # of a JSON document
    yield [name for name in free if obvious_family(names.tokens(name), also=("name",))]
    yield [name for name in free if obvious_family(of_settings(name), also=("name",))]
    few = [name for name in free if _few_words(columns, name)]
    yield [name for name in few if obvious_family(names.tokens(name))]
    yield [name for name in free if obvious_family(names.tokens(name), LIKE_FAMILY, ("name",))]
    yield [name for name in few if obvious_family(names.tokens(name), _PERHAPS_FAMILY)]
    experiments = [name for name in few if obvious_family(names.tokens(name), _EXPERIMENTS)]
    yield [name for name in experiments if not is_numbered(columns[name])]
    if len(table.tables) == 1:
        yield _only_words(columns, few, free)


def _few_words(columns: Mapping[str, Cells], name: str) -> bool:
    """Whether a column holds a few words, each in several rows, which are no places, results, files or texts."""
    if looks_numeric(columns, name):
        return False
    values, codes = as_codes(columns[name])
    if not 2 <= len(values) <= _MOST_WORDS or np.count_nonzero(codes >= 0) < _ROWS_EACH * len(values):
        return False
    against = never_setting(Look(name, columns[name]))
    return against is None or (
        against in ("place", "result")
        and obvious_family(names.tokens(name), names.FAMILY | _PERHAPS_FAMILY | _EXPERIMENTS)
    )


def _only_words(columns: Mapping[str, Cells], few: Sequence[str], free: Sequence[str]) -> list[str]:
    """The only column of a few words, where no number was drawn for each of them: nothing else tells families apart."""
    words = [name for name in few if not (as_statuses(columns[name]).is_status or is_numbered(columns[name]))]
    if len(words) != 1 or is_setting_name(words[0]) or is_task_name(words[0]) or names.is_test_name(words[0]):
        return []
    if set(names.tokens(words[0])) & _OF_PROBLEMS:
        return []
    codes = as_codes(columns[words[0]])[1]
    numbers = [name for name in free if looks_numeric(columns, name) and not names.is_metric(name)]
    drawn = [name for name in numbers if _is_drawn(Look(name, columns[name]), codes)]
    return [] if drawn else words


def _is_drawn(look: Look, family: Codes) -> bool:
    """Whether a number may be a setting that each family has its own values of, as a search draws them."""
    if is_index(look) or never_setting(look) is not None:
        return False
    values = as_codes(look.cells)[1]
    sets = {frozenset(values[family == code].tolist()) for code in range(int(family.max()) + 1)}
    return len(sets) > 1 or is_setting_name(look.name)


def _that_vary(tier: list[str], columns: Mapping[str, Cells]) -> list[str]:
    """Of several columns those that have more than one value, where any has."""
    varied = [name for name in tier if len(as_codes(columns[name])[0]) > 1] if len(tier) > 1 else tier
    return varied or tier
