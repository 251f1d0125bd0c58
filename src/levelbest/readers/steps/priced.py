"""What a sample cost, from the tokens it used: dollars per million of each kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import DataError, InputError, named
from levelbest.readers.raw import RawTable
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers

__all__ = ["KINDS", "MILLION", "SPENT", "as_rates", "priced", "tokens_column"]

SPENT = "spend"
"""The column of what a row cost."""
MILLION = 1e6
KINDS: dict[str, tuple[str, ...]] = {
    "input": ("input_tokens", "tokens_in", "prompt_tokens", "n_input_tokens", "tokens_input", "in_tokens"),
    "output": ("output_tokens", "tokens_out", "completion_tokens", "n_output_tokens", "tokens_output", "out_tokens"),
    "cached": ("cached_tokens", "tokens_cached", "cached_input_tokens", "cache_read_tokens", "input_tokens_cache_read"),
}
"""Kinds of tokens, and what their columns are called. Cached tokens are counted apart from those of the input."""


def as_rates(given: str | Mapping[str, float]) -> dict[str, float]:
    """Dollars per million tokens of each kind.

    Examples
    --------
    >>> as_rates("input=3,output=15")
    {'input': 3.0, 'output': 15.0}
    """
    pairs = given.items() if isinstance(given, Mapping) else [part.partition("=")[::2] for part in given.split(",")]
    rates: dict[str, float] = {}
    for kind, price in pairs:
        name = str(kind).strip().lower()
        try:
            rates[name] = float(price)
        except (TypeError, ValueError):
            rates[name] = math.nan
        if name not in KINDS or not 0 <= rates[name] < math.inf:
            raise InputError(
                f"{named('rate')} is dollars per million tokens by kind, input=3,output=15 (and cached=0.3), got "
                f"{str(kind).strip()}={price}"
            )
    if not any(rates.values()):
        raise InputError(f"{named('rate')} must have a price above 0 for some kind of tokens, got {given!r}")
    return rates


def priced(table: RawTable, rates: Mapping[str, float]) -> RawTable:
    """The table with the dollars that each row cost."""
    if SPENT in table.columns:
        raise InputError(f"{table.source} has a column {SPENT!r} already: name it with {named('cost')}")
    spent: FloatArray = np.zeros(table.n_rows)
    for kind, price in rates.items():
        spent += price / MILLION * as_numbers(table.columns[tokens_column(table.columns, table.source, kind)]).values
    return replace(table, columns={**table.columns, SPENT: spent}, cost_unit="$", roles={**table.roles, "cost": SPENT})


def tokens_column(columns: Iterable[str], source: object, kind: str) -> str:
    """The one column of tokens of a kind."""
    spelled, known = [names.tokens(name) for name in KINDS[kind]], list(columns)
    matches = [name for name in known if names.tokens(name)[-3:] in spelled or names.tokens(name) in spelled]
    ends = [name for name in known if any(names.tokens(name)[-len(words) :] == words for words in spelled)]
    matches = list(dict.fromkeys([*matches, *ends]))
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(f"{source}: the {kind} tokens could be any of {', '.join(matches)}; join or drop one")
    raise DataError(
        f"{source} has no column of {kind} tokens (such as {KINDS[kind][0]}), which {named('rate')} prices; "
        f"leave {kind} out of it, or rename the column ({named('map')} {KINDS[kind][0]}=COLUMN)"
    )
