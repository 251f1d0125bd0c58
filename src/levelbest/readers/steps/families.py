"""Which column tells the families apart: by its name, or as the only column of words where nothing else is varied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import Ambiguous, named
from levelbest.readers.raw import Cells, as_codes
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_statuses
from levelbest.readers.steps.crossed import is_numbered
from levelbest.readers.steps.kinds import Look, is_index, never_setting, of_settings
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, obvious_family, word_set
from levelbest.readers.steps.problems import is_setting_name, is_task_name
from levelbest.readers.steps.roles import listed, looks_numeric

__all__ = ["guess_family", "only_column"]

_LIKE_FAMILY = word_set("agent llm network net backbone estimator technique solver")
_PERHAPS_FAMILY = word_set(
    "policy strategy variant prompt tuner encoder engine clf regressor detector forecaster sampler planner condition "
    "treatment framework library toolkit pipeline recipe agent llm network net backbone estimator technique solver"
)
"""Names of families where no plainer one is there."""
_ONE_EACH, _TWO_EACH, _FEW, _ZOO = 0.9, 0.4, 6, 100
"""A column whose values are so nearly all different tells trials apart, not families; where there are many and few rows
of each, either may be meant."""
_MOST_WORDS, _ROWS_EACH = 30, 3
"""Families that no name tells are so few, with so many rows each."""


def guess_family(table: Merged, free: Sequence[str]) -> tuple[tuple[str, ...], list[Caution]]:
    """The column that names families, or none; and what is said where it tells trials apart instead."""
    columns, source = table.columns, table.source
    remedy = f"choose one or several with {named('family')}"
    family = only_column((_that_vary(tier, columns) for tier in _tiers(table, free)), source, "family", remedy)
    if family is None:
        return (), []
    values, codes = as_codes(columns[family])
    count, filled = len(values), int(np.count_nonzero(codes >= 0))
    if filled >= _FEW and count > _ONE_EACH * filled:
        note = Caution.of("guessed-columns", kind="one-each", column=family, count=count, n_trials=filled)
        return (), [note]
    if count > _ZOO and count > _TWO_EACH * filled:
        raise Ambiguous(
            f"{source}: {family!r} has {count:,} values in {filled:,} rows: is each a family "
            f"({named('family')} {family}), or are all rows trials of one ({named('family')} none)?"
        )
    return (family,), []


def only_column(tiers: Iterable[Sequence[str]], source: str, what: str, remedy: str) -> str | None:
    """The one name of the first tier that has any; a question where it has several."""
    for tier in tiers:
        if len(tier) > 1:
            raise Ambiguous(f"{source}: the {what} could be any of {listed(tier)}; {remedy}")
        if tier:
            return tier[0]
    return None


def _tiers(table: Merged, free: Sequence[str]) -> Iterable[list[str]]:
    """Columns that may name the families, the surest first."""
    columns = table.columns
    yield among(free, ("family",))
    yield [name for name in free if obvious_family(names.tokens(name), also=("name",))]
    yield [name for name in free if obvious_family(of_settings(name), also=("name",))]
    few = [name for name in free if _few_words(columns, name)]
    yield [name for name in few if obvious_family(names.tokens(name))]
    yield [name for name in free if obvious_family(names.tokens(name), _LIKE_FAMILY, ("name",))]
    yield [name for name in few if obvious_family(names.tokens(name), _PERHAPS_FAMILY)]
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
        against == "result" and obvious_family(names.tokens(name), names.FAMILY | _PERHAPS_FAMILY)
    )


def _only_words(columns: Mapping[str, Cells], few: Sequence[str], free: Sequence[str]) -> list[str]:
    """The only column of a few words, where no number was drawn for each of them: nothing else tells families apart."""
    words = [name for name in few if not (as_statuses(columns[name]).is_status or is_numbered(columns[name]))]
    if len(words) != 1 or is_setting_name(words[0]) or is_task_name(words[0]):
        return []
    codes = as_codes(columns[words[0]])[1]
    numbers = [name for name in free if looks_numeric(columns, name) and not names.is_metric(name)]
    drawn = [name for name in numbers if _is_drawn(Look(name, columns[name]), codes)]
    return [] if drawn else words


def _is_drawn(look: Look, family: np.ndarray) -> bool:
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
