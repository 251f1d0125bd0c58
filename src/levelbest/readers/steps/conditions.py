"""Row filters: one SQL condition, evaluated by DuckDB on the given table and nothing else.

    epoch > 0 and log_path like '%dist%'
    model in ('cnn', 'lr') and not (config.lr >= 0.1 or state is null)

The same syntax applies to tables in memory and Parquet read in parts. The engine has no access to files, the network,
extensions or settings; a condition is one deterministic expression. A column is written by its name, in double quotes
or in backticks; text is in single quotes. An empty cell or NaN is NULL: no comparison with it is true, nor is its
negation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from levelbest import _check
from levelbest._check import BoolArray, Column
from levelbest.errors import InputError, named
from levelbest.readers.raw import Cells, is_numeric, texts
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.tables.engine import DIVISION, name_of, reason_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["checked_condition", "matching_rows"]

_SUBQUERY = re.compile(r"\(\s*(select|from|with|values|table|pivot|unpivot|describe|show|summarize)\b", re.IGNORECASE)
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
_DEEPEST = 200
_FLOATS = ("FLOAT", "DOUBLE")
_WRITE = {
    "matches": "regexp_matches(column, 'pattern')",
    "startswith": "starts_with(column, 'text')",
    "endswith": "ends_with(column, 'text')",
}
_OPERATORS = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}
_MISSING = re.compile(r'Referenced (?:column|table) "(.+?)" not found')
_NO_FUNCTION = re.compile(r"Function with name (\w+) does not exist")
_NO_NUMBER = re.compile(r"Could not convert string '(.*?)' to", re.DOTALL)


@lru_cache(maxsize=1)
def _judge() -> DuckDBPyConnection:
    """An engine that holds no data, reaches nothing and can be told nothing else."""
    import duckdb

    return duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "memory_limit": "2GB",
            "threads": 1,
            **DIVISION,
            "enable_external_access": False,
            "lock_configuration": True,
        },
    )


@lru_cache(maxsize=1)
def _changing() -> frozenset[str]:
    """Functions whose value is another one at every call, or that read the engine itself."""
    query = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability != 'CONSISTENT'"
    return frozenset(row[0] for row in _judge().execute(query).fetchall())


def matching_rows(condition: str, columns: Mapping[str, Cells], n_rows: int, source: str) -> BoolArray:
    """The rows of a table in memory for which a condition holds."""
    import duckdb

    places = {name: place for place, name in enumerate(columns)}
    used: dict[str, None] = {}

    def cell(name: str) -> str:
        used.setdefault(name)
        return f"c{places[name]}"

    sql = _written(condition, columns, cell)
    cursor = _judge().cursor()
    arrays = {f"c{places[name]}": _values(columns[name]) for name in used}
    cursor.register("given", {"place": np.arange(n_rows), **arrays})
    _check_truth(cursor, sql, "given", condition, columns, source)
    try:
        rows = cursor.execute(f"SELECT place FROM given WHERE {sql}").fetchnumpy()["place"]
    except duckdb.Error as error:
        raise _mistake(condition, error, columns, source) from None
    finally:
        cursor.unregister("given")
    mask = np.zeros(n_rows, dtype=bool)
    mask[rows] = True
    return mask


def checked_condition(condition: str, kinds: Mapping[str, str], source: str) -> str:
    """A condition on columns of these SQL types, to be put into a query on them: judged where nothing can be reached.

    Examples
    --------
    >>> checked_condition("not (temp >= 0.5)", {"temp": "DOUBLE"}, "samples.parquet")
    '(not (nullif("temp", \\'nan\\') >= 0.5))'
    """

    def cell(name: str) -> str:
        return f"nullif({name_of(name)}, 'nan')" if kinds[name] in _FLOATS else name_of(name)

    sql = _written(condition, kinds, cell)
    empty = ", ".join(f"NULL::{kind} AS {name_of(name)}" for name, kind in kinds.items())
    _check_truth(_judge().cursor(), sql, f"(SELECT {empty} LIMIT 0)", condition, kinds, source)
    return sql


def _written(condition: str, known: Iterable[str], cell: Callable[[str], str]) -> str:
    """The condition in parentheses, with every column as ``cell`` writes it; refused where it is not one expression."""
    import duckdb

    names = set(known)
    odd = sorted((name for name in names if not re.fullmatch(r"[^\W\d]\w*", name) and name), key=len, reverse=True)
    plain = "|".join(rf"{re.escape(name)}(?!\w)" if name[-1:].isalnum() else re.escape(name) for name in odd)
    piece = re.compile(
        r"""(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*"|`[^`]*`)"""
        + (rf"|(?<![\w.])(?P<odd>{plain})" if odd else "")
        + r"|(?P<comment>--[^\n]*|/\*[\s\S]*?\*/)|(?P<number>\.?\d[\w.]*)"
        + r"|(?P<word>[^\W\d]\w*)(?P<call>\s*\()?|(?P<operator>&&?|\|\|?|!(?!=|~))"
    )

    def put(match: re.Match[str]) -> str:
        parts = match.groupdict()
        if parts.get("odd"):
            return cell(parts["odd"])
        if parts["quoted"]:
            mark = parts["quoted"][0]
            inside = parts["quoted"][1:-1].replace(mark * 2, mark)
            return cell(inside) if inside in names else name_of(inside)
        if parts["operator"]:
            raise InputError(
                f"{named('where', condition)}: write {_OPERATORS[parts['operator']]!r} for {parts['operator']!r}"
            )
        if parts["comment"]:
            return " "
        word = parts["word"]
        if word and parts["call"] and word.lower() in _changing():
            raise InputError(f"{named('where', condition)}: {word}() does not give the same rows each time")
        if word in names and not parts["call"] and word.lower() not in ("and", "or", "not", "in", "is", "null"):
            return cell(str(word))
        return match[0]

    if condition.count("(") > _DEEPEST:
        raise InputError(f"{named('where')} is nested too deeply: it has more than {_DEEPEST} parentheses")
    if not condition.strip():
        raise InputError(f'{named("where")} must hold a condition, such as "epoch > 0", got an empty one')
    try:
        sql = piece.sub(put, condition)
        duckdb.SQLExpression(sql)
    except duckdb.Error as error:
        raise InputError(
            f'{named("where")} must be one condition, such as "epoch > 0", got {condition!r}: {reason_of(error)}'
        ) from None
    if _SUBQUERY.search(_QUOTED.sub("''", sql)):
        raise InputError(f"{named('where', condition)}: a condition reads the columns of its table and nothing else")
    return f"({sql})"


def _check_truth(
    cursor: DuckDBPyConnection, sql: str, table: str, condition: str, columns: Iterable[str], source: str
) -> None:
    import duckdb

    try:
        described = cursor.execute(f"DESCRIBE SELECT {sql} FROM {table}").fetchall()
        cursor.execute(f"EXPLAIN SELECT 1 FROM {table} WHERE {sql}")
    except duckdb.Error as error:
        raise _mistake(condition, error, columns, source) from None
    if [str(row[1]) for row in described] != ["BOOLEAN"]:
        raise InputError(f'{named("where")} must compare columns, such as "epoch > 0", got {condition!r}')


def _mistake(condition: str, error: BaseException, columns: Iterable[str], source: str) -> InputError:
    """What is wrong with a condition, in terms of the table that was read."""
    where, message = named("where"), str(error)
    if missing := _MISSING.search(message):
        whole = re.search(rf"{re.escape(missing[1])}[\w.]*", condition)
        name = whole[0] if whole else missing[1]
        near = _check.nearest_first(name, list(columns))
        return InputError(f"{where}: {source} has no column {name!r}; {near} (text goes in single quotes)")
    if unknown := _NO_FUNCTION.search(message):
        hint = f": write {_WRITE[unknown[1].lower()]}" if unknown[1].lower() in _WRITE else ""
        return InputError(f"{where}: there is no function {unknown[1]!r}{hint}")
    word = _NO_NUMBER.search(message)
    if word or "compare values of type VARCHAR" in message:
        what = f"{word[1]!r} is not a number" if word else "a column of text is compared with a number"
        return InputError(
            f"{named('where', condition)}: {what}; compare text with text in quotes, or make numbers of it, leaving "
            "out what is none, with try_cast(column as double)"
        )
    if "PermissionException" in type(error).__name__ or "a table function" in message:
        return InputError(f"{named('where', condition)}: a condition reads the columns of its table and nothing else")
    return InputError(f"{named('where', condition)}: {reason_of(error).split(': ', 1)[-1]}")


def _values(column: Cells) -> Column:
    """A column as the engine takes it: numbers and truth values with what is empty or NaN masked, or text."""
    if is_numeric(column):
        plain = np.ma.getdata(column)
        empty = np.ma.getmaskarray(column)
        return np.ma.MaskedArray(plain, mask=empty | np.isnan(plain) if plain.dtype.kind == "f" else empty)
    cells = texts(column)
    if not hasattr(column, "decode") and {type(value) for value in column} <= {bool, type(None)}:
        truths = np.fromiter((bool(value) for value in column), dtype=bool, count=len(cells))
        return np.ma.MaskedArray(truths, mask=[value is None for value in column])
    numbers = as_numbers(column)
    blank = sum(value is None for value in cells)
    # "80%" and "NA" beside numbers: a column of numbers, as a score. "007" is a name, and stays text.
    written = set(numbers.converted) - {"clock"}
    if (
        not numbers.words
        and "verdict" not in written
        and (written or (int(numbers.empty.sum()) > blank and not numbers.empty.all()))
    ):
        return np.ma.MaskedArray(numbers.values, mask=np.isnan(numbers.values))
    return cells
