"""DuckDB for what is large: Parquet, and text tables too big to hold as text. Columns are read when asked for.

Extensions are neither installed nor loaded automatically (which would need the network), and sources are read-only.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest._check import Column
from levelbest._read import open_file
from levelbest.errors import DataError
from levelbest.readers.raw import EXACT, Cells, Coded, LazyColumns, RawTable, typed, unique_codes
from levelbest.readers.tables.commas import OPEN_NUMBER, written_as_others
from levelbest.readers.tables.delimited import SUMMARY_ROWS, first_rows, layout_of, summary_word
from levelbest.readers.tables.files import MAGIC, open_bytes
from levelbest.trials import Skipped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["DIVISION", "connect", "read_large_csv", "read_parquet"]

DIVISION: dict[str, object] = {"ieee_floating_point_ops": False, "error_on_division_by_zero": False}
"""A division by zero is NULL, and not a NaN, which compares as larger than every number."""
_COUNT = count()
_MOST_LISTED = 1000
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER", "FLOAT", "DOUBLE", "DECIMAL")
_WIDE_NUMBERS = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")


@lru_cache(maxsize=1)
def _engine() -> DuckDBPyConnection:
    import duckdb

    settings: dict[str, object] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        **DIVISION,
        "temp_directory": tempfile.gettempdir(),  # the engine's own default is the folder one happens to be in
    }
    return duckdb.connect(":memory:", config=settings)


def connect() -> DuckDBPyConnection:
    """A connection to the one engine in memory, which never reaches for the network.

    A damaged file may have brought the engine down, which then answers nothing any more: a new one takes its place.
    """
    import duckdb

    try:
        _engine().cursor().execute("SELECT 1").fetchall()
    except duckdb.FatalException:
        _engine.cache_clear()
    return _engine().cursor()


def read_parquet(path: Path) -> RawTable:
    """One Parquet file; nothing but its footer is read before a column is asked for."""
    import duckdb

    connection = connect()
    try:
        return _lazy_table(connection, f"read_parquet({quoted(str(path))})", path.name)
    except (duckdb.Error, OSError) as error:
        raise DataError(f"{path.name} cannot be read as Parquet: {reason_of(error)}") from None


def quoted(text: str) -> str:
    """A piece of text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def name_of(column: str) -> str:
    """A column's name as an SQL identifier."""
    return '"' + column.replace('"', '""') + '"'


def reason_of(error: BaseException) -> str:
    """The first line of an engine's message."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _lazy_table(
    connection: DuckDBPyConnection, relation: str, source: str, *, text: bool = False, commas: Collection[str] = ()
) -> RawTable:
    """A relation as a raw table whose columns are fetched one by one; ``text``: numbers are still written out.

    In ``commas``, columns of text, ``1,234`` has a decimal comma and ``1.200`` is 1200.
    """
    import duckdb

    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    types = {str(row[0]): str(row[1]).upper() for row in described}
    [(n_rows,)] = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()

    def load(name: str) -> Cells:
        try:
            written = rf"regexp_replace(trim({name_of(name)}), '^''(''*[=+@-])', '\1')"
            cell = f"nullif({written}, '')" if text else name_of(name)
            if name in commas:
                plain = f"replace(replace({cell}, '.', ''), ',', '.')"
                cell = f"CASE WHEN regexp_full_match({cell}, '{OPEN_NUMBER}') THEN {plain} ELSE {cell} END"
            kind = _written(connection, relation, cell) if text else types[name]
            return _column(connection, relation, cell, kind, n_rows)
        except duckdb.Error as error:
            raise DataError(f"{source}: column {name!r} cannot be read: {reason_of(error)}") from None

    numbers = frozenset(name for name, kind in types.items() if kind.startswith((*_NUMBERS, *_WIDE_NUMBERS)))
    return RawTable(source, LazyColumns(list(types), n_rows, load, None if text else numbers))


def _column(connection: DuckDBPyConnection, relation: str, column: str, kind: str, n_rows: int) -> Cells:
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
        return typed([row[0] for row in connection.execute(f"SELECT {column} FROM {relation}").fetchall()])
    if kind.startswith(_WIDE_NUMBERS):
        [(largest,)] = connection.execute(f"SELECT max(abs({column}::HUGEINT)) FROM {relation}").fetchall()
        if largest is not None and largest > EXACT:
            return typed([row[0] for row in connection.execute(f"SELECT {column} FROM {relation}").fetchall()])
    if kind.startswith((*_NUMBERS, *_WIDE_NUMBERS)):
        return _fetched(connection, f"SELECT CAST({column} AS DOUBLE) AS v FROM {relation}")
    if kind == "BOOLEAN":
        flags = _fetched(connection, f"SELECT {column} AS v FROM {relation}")
        return flags if not isinstance(flags, np.ma.MaskedArray) else typed(flags.tolist())
    return _coded(connection, relation, column, n_rows)


def _written(connection: DuckDBPyConnection, relation: str, cell: str) -> str:
    """DOUBLE where every filled cell of a text column is a plain number, else VARCHAR; as in a small file."""
    plain = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(nan|inf|infinity)$"
    odd = rf"NOT regexp_matches({cell}, '{plain}', 'i') OR regexp_matches({cell}, '^[+-]?0[0-9]|^[+-]?[0-9]{{16,}}$')"
    query = f"SELECT count(*) FILTER ({odd}), count({cell}) FROM {relation}"
    [(n_odd, n_filled)] = connection.execute(query).fetchall()
    return "DOUBLE" if n_filled and not n_odd else "VARCHAR"


def _fetched(connection: DuckDBPyConnection, query: str) -> Column:
    # Threads read a relation together, a statement's result one by one; earlier results must be read to their end.
    values: Column = connection.sql(query).fetchnumpy()["v"]
    if isinstance(values, np.ma.MaskedArray) and not np.ma.getmaskarray(values).any():
        return np.ma.getdata(values)
    return values


def _coded(connection: DuckDBPyConnection, relation: str, column: str, n_rows: int) -> Coded:
    """Text as codes: a few bytes per row instead of one Python string."""
    text = f"CAST({column} AS VARCHAR)"
    names = [
        row[0]
        for row in connection.execute(f"SELECT DISTINCT {text} AS v FROM {relation} WHERE v IS NOT NULL").fetchall()
    ]
    if not names:
        return Coded(np.full(n_rows, -1, dtype=np.int32), ())
    kind = f"names_{next(_COUNT)}"
    connection.execute(f"CREATE TYPE {kind} AS ENUM ({', '.join(map(quoted, names))})").fetchall()
    try:
        # Every text is a name: TRY_CAST never fails, and is faster, since a dictionary's names are then cast once.
        codes = _fetched(connection, f"SELECT enum_code(TRY_CAST({text} AS {kind})) AS v FROM {relation}")
    finally:
        connection.execute(f"DROP TYPE {kind}")
    if isinstance(codes, np.ma.MaskedArray):
        codes = np.ma.filled(codes.astype(np.int32), -1)
    # In order of first appearance, as callers of codes expect.
    listed, ordered = unique_codes(codes, names)
    return Coded(ordered, listed)


def read_large_csv(path: Path, head: str, delimiter: str | None = None) -> RawTable:
    """A big CSV file as a table in the engine; ``head`` is the beginning of its text."""
    import duckdb

    lines = head.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]
    source = path.name
    layout = layout_of(lines, source, delimiter)
    names = layout.names
    with tempfile.TemporaryDirectory() as folder:
        plain = _engine_readable(path, Path(folder))
        connection = connect()
        table, rejects = f"text_{id(connection)}", f"rejects_{id(connection)}"
        columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
        try:
            connection.execute(
                f"CREATE TEMP TABLE {table} AS SELECT * FROM read_csv({quoted(str(plain))}, "
                f"delim={quoted(layout.delimiter)}, "
                f"header=false, skip={layout.body}, quote='\"', escape='\"', auto_detect=false, "
                f"columns={{{columns}}}, nullstr='', store_rejects=true, rejects_table='{rejects}', "
                f"rejects_scan='{rejects}_scan', rejects_limit=0, max_line_size={2**27})"
            )
            skipped = [*layout.skipped, *_rejected(connection, rejects, source)]
            skipped += _without_footer(connection, table, names, source)
        except duckdb.Error as error:
            raise DataError(f"{source} cannot be read as a table: {reason_of(error)}") from None
    first = list(zip(*first_rows(lines, layout), strict=True))
    commas = written_as_others(dict(zip(names, first, strict=True)), layout.delimiter) if first else {}
    whole = _lazy_table(connection, table, source, text=True, commas=commas)
    whole.skipped = skipped
    whole.cautions = [*layout.cautions, *commas.values()]
    if len(skipped) > whole.n_rows:
        raise DataError(
            f"{source} does not look like one table: {len(skipped)} of {len(skipped) + whole.n_rows} rows cannot be "
            f"read with its header ({len(names)} cells, split at {layout.delimiter!r})"
        )
    return whole


def _engine_readable(path: Path, folder: Path) -> Path:
    """The file itself where the engine reads it; else a decompressed copy in a folder that goes away."""
    with open_file(path) as file:
        if not file.read(8).startswith(tuple(MAGIC)):
            return path
    copy = folder / "table.csv"
    with open_bytes(path) as stream, open(copy, "wb") as out:
        shutil.copyfileobj(stream, out, 2**20)
    return copy


def _rejected(connection: DuckDBPyConnection, rejects: str, source: str) -> list[Skipped]:
    query = f"SELECT line, any_value(error_message) FROM {rejects} GROUP BY line ORDER BY line LIMIT {_MOST_LISTED}"
    listed = [
        Skipped(f"{source}, record {line}", " ".join(str(why).split()))
        for line, why in connection.execute(query).fetchall()
    ]
    [(total,)] = connection.execute(f"SELECT count(DISTINCT line) FROM {rejects}").fetchall()
    listed += [Skipped(source, "one more row cannot be read")] * (total - len(listed))
    return listed


def _without_footer(connection: DuckDBPyConnection, table: str, names: list[str], source: str) -> list[Skipped]:
    """Empty rows and summaries at the end are taken out of the table, and said."""
    cells = [f"nullif(trim({name_of(name)}), '')" for name in names]
    filled = f"coalesce({', '.join(cells)})"
    empty = connection.execute(f"SELECT rowid + 1 FROM {table} WHERE {filled} IS NULL ORDER BY rowid").fetchall()
    lost = [Skipped(f"{source}, row {row}", "every cell is empty") for (row,) in empty[:_MOST_LISTED]]
    lost += [Skipped(source, "one more row is empty")] * (len(empty) - len(lost))
    tail = connection.execute(
        f"SELECT rowid, {filled} FROM {table} WHERE {filled} IS NOT NULL ORDER BY rowid DESC LIMIT 20"
    ).fetchall()
    footer: list[int] = []
    for row, first in tail:
        if summary_word(str(first).strip()) not in SUMMARY_ROWS:
            break
        query = f"SELECT count(*) FROM {table} WHERE {filled} = {quoted(str(first))}"
        [(count_of_name,)] = connection.execute(query).fetchall()
        if count_of_name > 1:
            footer, lost = [], lost[: len(lost) - len(footer)]  # a family's name
            break
        footer.append(row)
        lost.append(Skipped(f"{source}, row {row + 1}", f"it is a summary of the rows above ({str(first).strip()!r})"))
    if empty or footer:
        listed = ", ".join(map(str, footer)) or "-1"
        connection.execute(f"DELETE FROM {table} WHERE {filled} IS NULL OR rowid IN ({listed})")
    return lost
