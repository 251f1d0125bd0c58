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
    if roles.search or wanted.search or roles.trial or wanted.trial or roles.group is not None:
        return
    free = [name for name in table.columns if name not in roles.used()]
    _ask_about_rounds(table, roles, among(free, _ROUNDS))
    repeats, numbers = among(free, REPEATS), among(free, _NUMBERS)
    if len(repeats) != 1 or len(numbers) != 1 or not looks_numeric(table.columns, numbers[0]):
        return
    search, trial = table.codes(*roles.family, repeats[0]), table.codes(numbers[0])
    sizes = np.bincount(search)
    once = np.unique(joint_codes([search, trial])).size == table.n_rows
    if once and sizes.size > 1 and sizes.min() > 1 and np.unique(trial).size == sizes.max():
        roles.search, roles.order = repeats[0], roles.order or numbers[0]
        roles.guessed += [("search", repeats[0]), ("order", numbers[0])]


def _ask_about_rounds(table: Merged, roles: Roles, rounds: list[str]) -> None:
    """Ask what rounds are that have several trials each, of settings that vary: no trial of a later one is independent
    where it was drawn from a space that an earlier one has chosen."""
    for name in rounds:
        count = len(as_codes(table.columns[name])[0])
        sizes = np.bincount(table.codes(*roles.family, name))
        if count < 2 or np.median(sizes) < 2 or not settings_vary(table.columns, name):
            continue
        one_search = f" ({named('search')} {roles.family[0]})" if roles.family else ""
        raise Ambiguous(
            f"{table.source}: {name!r} has {count} values with several trials each: are they rounds of one search, "
            f"each of which draws where the last did well{one_search}, repeats of a whole search "
            f"({named('search')} {name}), or neither, and all trials are independent ({named('search')} none)?"
        )
