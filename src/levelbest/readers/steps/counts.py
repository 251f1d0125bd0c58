"""Counts of successes, ``c`` of ``n`` correct: one row per sample again, c of them 1 and the rest 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from levelbest.cautions import Caution
from levelbest.errors import DataError
from levelbest.readers.columns import is_numeric, taken
from levelbest.readers.steps import names
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.notes import Notes
from levelbest.readers.steps.roles import Wanted

__all__ = ["expand_counts"]

_SUCCESSES = names.word_set(
    "c n_correct num_correct correct_count n_passed num_passed passed_count n_success num_success successes n_solved "
    "num_solved correct passed solved"
)
_PLAIN = names.word_set("correct passed solved")
"""Names that may be a single result as well: they are counts where one is above 1."""
_TOTALS = names.word_set(
    "n n_samples num_samples total n_total num_total attempts n_attempts num_attempts trials n_trials n_completions "
    "num_completions samples"
)
_MOST_ROWS = 50_000_000


def expand_counts(table: Merged, wanted: Wanted, known: dict[str, str], notes: Notes) -> tuple[Merged, dict[str, str]]:
    """The table with a row per sample, and the roles of its columns; as they are where nothing is counted."""
    if wanted.selection is not None or wanted.wide is not None or "selection" in known or wanted.trial is not None:
        return table, known
    spelled = {name: "_".join(names.tokens(name)) for name in table.columns}
    successes = [name for name, words in spelled.items() if words in _SUCCESSES]
    totals = [name for name, words in spelled.items() if words in _TOTALS]
    if len(successes) != 1 or len(totals) != 1:
        return table, known
    won, of = (table.columns[name] for name in (successes[0], totals[0]))
    if not all(is_numeric(column) and np.isfinite(np.ma.filled(column, np.nan)).all() for column in (won, of)):
        return table, known
    hits, sizes = np.asarray(won, dtype=np.float64), np.asarray(of, dtype=np.float64)
    whole = (hits == np.floor(hits)).all() and (sizes == np.floor(sizes)).all()
    if not whole or (hits < 0).any() or (hits > sizes).any() or sizes.max() < 2:
        return table, known
    if spelled[successes[0]] in _PLAIN and hits.max() <= 1:
        return table, known
    if sizes.sum() > _MOST_ROWS:
        raise DataError(
            f"{table.source} counts {sizes.sum():,.0f} samples, and at most {_MOST_ROWS:,} are read at once"
        )
    repeated = np.repeat(np.arange(table.n_rows), sizes.astype(np.int64))
    first = np.cumsum(sizes) - sizes
    place = np.arange(repeated.size) - first[repeated]
    kept = [name for name in table.columns if name not in (successes[0], totals[0])]
    columns: dict[str, Any] = {name: taken(table.columns[name], repeated) for name in kept}
    columns["correct"] = (place < hits[repeated]).astype(np.float64)
    notes.cautions.append(
        Caution.of("guessed-columns", kind="counts", successes=successes[0], total=totals[0], count=repeated.size)
    )
    long = table.reshaped(repeated, columns)
    return long, long.role_columns() | {"selection": "correct"}
