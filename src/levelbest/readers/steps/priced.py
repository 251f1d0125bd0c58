"""What a sample cost, from the tokens it used: dollars per million of each kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from levelbest._check import FloatArray
from levelbest.errors import DataError, InputError, named
from levelbest.readers.raw import RawTable
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers

__all__ = ["SPENT", "TOKEN_KINDS", "as_rates", "is_cached", "priced", "token_prices"]

SPENT = "spend"
"""The column of what a row cost."""
_MILLION = 1e6
TOKEN_KINDS: dict[str, tuple[str, ...]] = {
    "input": ("input_tokens", "tokens_in", "prompt_tokens", "n_input_tokens", "tokens_input", "in_tokens"),
    "output": ("output_tokens", "tokens_out", "completion_tokens", "n_output_tokens", "tokens_output", "out_tokens"),
    "cached": (
        "cached_tokens",
        "tokens_cached",
        "cached_input_tokens",
        "cache_read_tokens",
        "cache_read_input_tokens",
        "input_tokens_cache_read",
        "n_cache_tokens",
    ),
}
"""Kinds of tokens, and what their columns are called."""
_CACHE = {"cache", "cached"}
_PROMPT = ("prompt", "tokens")
"""Where the input is called so, it counts those read from a cache; they are counted apart from it elsewhere."""


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
        if name not in TOKEN_KINDS or not 0 <= rates[name] < math.inf:
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

    def tokens(column: str) -> FloatArray:
        counts = as_numbers(table.columns[column]).values
        return np.where(np.isnan(counts), 0.0, counts) if is_cached(column) else counts

    prices = token_prices(table.columns, table.source, rates, lambda column: bool(np.nansum(tokens(column)) > 0))
    spent: FloatArray = np.zeros(table.n_rows)
    for column, price in prices.items():
        spent += price * tokens(column)
    return replace(table, columns={**table.columns, SPENT: spent}, cost_unit="$", roles={**table.roles, "cost": SPENT})


def token_prices(
    columns: Iterable[str], source: object, rates: Mapping[str, float], is_used: Callable[[str], bool]
) -> dict[str, float]:
    """Dollars for each token of a column; ``is_used``: whether a column counts any tokens."""
    known = list(columns)
    prices = {_tokens_column(known, source, kind): price / _MILLION for kind, price in rates.items()}
    cached = [name for name in _columns_of(known, "cached") if is_used(name)]
    if "input" not in rates or not cached:
        return prices
    if names.tokens(_tokens_column(known, source, "input"))[-2:] == _PROMPT:
        among = rates["input"] / _MILLION
        return {name: price - among * (name in cached) for name, price in prices.items()}
    if "cached" not in rates:
        raise InputError(
            f"{source} counts cached tokens apart from the input ({', '.join(cached)}), and {named('rate')} does not "
            "price them: add cached=PRICE, e.g. a tenth of the input's, or cached=0"
        )
    return prices


def is_cached(column: str) -> bool:
    """Whether a column counts tokens of a cache: an empty cell of it is none of them."""
    return bool(_CACHE & set(names.tokens(column)))


def _columns_of(columns: Iterable[str], kind: str) -> list[str]:
    spelled = [names.tokens(name) for name in TOKEN_KINDS[kind]]
    words = {name: names.tokens(name) for name in columns}
    # what is read from a cache, or written to it, is no input, whatever follows in its name
    meant = {name: parts for name, parts in words.items() if kind == "cached" or not is_cached(name)}
    matches = [name for name, parts in meant.items() if parts[-3:] in spelled or parts in spelled]
    ends = [name for name, parts in meant.items() if any(parts[-len(ending) :] == ending for ending in spelled)]
    return list(dict.fromkeys([*matches, *ends]))


def _tokens_column(columns: Iterable[str], source: object, kind: str) -> str:
    """The one column of tokens of a kind."""
    matches = _columns_of(columns, kind)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(f"{source}: the {kind} tokens could be any of {', '.join(matches)}; join or drop one")
    raise DataError(
        f"{source} has no column of {kind} tokens (such as {TOKEN_KINDS[kind][0]}), which {named('rate')} prices; "
        f"leave {kind} out of it, or rename the column ({named('map', f'{TOKEN_KINDS[kind][0]}=COLUMN')})"
    )
