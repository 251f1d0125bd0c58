"""Finds repeated searches, and asks about rounds that may be of one search that learns."""

from __future__ import annotations

import numpy as np

from levelbest.errors import Ambiguous, named
from levelbest.readers.raw import as_codes, joint_codes
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import among, word_set
from levelbest.readers.steps.roles import ReadRequest, Roles, looks_numeric
from levelbest.readers.steps.runs import settings_vary

__all__ = ["REPEATS", "guess_searches"]

REPEATS = word_set("repeat repeat_id repetition rep replicate replication restart study_seed search_seed")
"""Names of columns that number repeats of a search."""
_NUMBERS = word_set("trial trial_id trial_number trial_no trial_idx number draw candidate evaluation eval iteration")
"""Within a repeat of a search: which of its trials a row is."""
_ROUNDS = word_set(
    "round rounds rnd round_id round_no round_number round_idx search_round stage wave generation gen generations"
)
"""Repeats of a search, or steps of one, each of which draws from a space that the step before has chosen."""


def guess_searches(table: Merged, roles: Roles, wanted: ReadRequest) -> None:
    """Repeated searches known by two columns: a repeat, and the number of a trial that begins again in each.

    The columns are those of ``model, repeat, trial, val_acc``. Rounds with several trials each are asked about.
    """
    if roles.trial or wanted.trial or roles.group is not None:
        return
    free = [name for name in table.columns if name not in roles.used()]
    rounds = next((name for name in among(free, _ROUNDS) if _are_rounds(table, roles, name)), None)
    if roles.search or wanted.search:
        roles.counter = rounds  # no setting of a trial
        return
    if rounds is not None:
        raise _about_rounds(table, roles, rounds)
    repeats, numbers = among(free, REPEATS), among(free, _NUMBERS)
    if len(repeats) != 1 or len(numbers) != 1 or not looks_numeric(table.columns, numbers[0]):
        return
    search, trial = table.codes(*roles.family, repeats[0]), table.codes(numbers[0])
    sizes = np.bincount(search)
    once = np.unique(joint_codes([search, trial])).size == table.n_rows
    if once and sizes.size > 1 and sizes.min() > 1 and np.unique(trial).size == sizes.max():
        roles.search, roles.order = repeats[0], roles.order or numbers[0]
        roles.guessed += [("search", repeats[0]), ("order", numbers[0])]


def _are_rounds(table: Merged, roles: Roles, name: str) -> bool:
    """Whether a column numbers rounds that have several trials each, of settings that vary."""
    count, sizes = len(as_codes(table.columns[name])[0]), np.bincount(table.codes(*roles.family, name))
    return count > 1 and bool(np.median(sizes) > 1) and settings_vary(table.columns, name)


def _about_rounds(table: Merged, roles: Roles, name: str) -> Ambiguous:
    """The trials of a round are not independent where it draws from a space that the last one has chosen."""
    count = len(as_codes(table.columns[name])[0])
    one_search = f" ({named('search')} {roles.family[0]})" if roles.family else ""
    return Ambiguous(
        f"{table.source}: {name!r} has {count} values with several trials each: are they rounds of one search, each of "
        f"which draws where the last did well{one_search}, repeats of a whole search ({named('search')} {name}), or "
        f"neither, and all trials are independent ({named('search')} none)?"
    )
