"""CSV tables too big to hold as text, through DuckDB; losses are still reported."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from levelbest.errors import DataError
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.delimited import SUMMARIES
from levelbest.readers.tables.engine import connect, lazy_table, name_of, quoted, reason_of
from levelbest.readers.tables.files import open_bytes
from levelbest.readers.tables.layout import layout_of
from levelbest.trials import Skipped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["read_large_csv"]

_MOST_LISTED = 1000


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
    whole = lazy_table(connection, table, source, text=True)
    whole.skipped = skipped
    whole.cautions = layout.cautions
    if len(skipped) > whole.n_rows:
        raise DataError(
            f"{source} does not look like one table: {len(skipped)} of {len(skipped) + whole.n_rows} rows cannot be "
            f"read with its header ({len(names)} cells, split at {layout.delimiter!r})"
        )
    return whole


def _engine_readable(path: Path, folder: Path) -> Path:
    """The file itself where the engine reads it; else a decompressed copy in a folder that goes away."""
    with open(path, "rb") as file:
        start = file.read(4)
    packed = (b"\x1f\x8b", b"BZ", b"\xfd7", b"\x28\xb5", b"PK")
    if start[:2] not in packed:
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
    total = connection.execute(f"SELECT count(DISTINCT line) FROM {rejects}").fetchone()[0]
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
        if str(first).strip().lower().rstrip(".:") not in SUMMARIES:
            break
        if connection.execute(f"SELECT count(*) FROM {table} WHERE {filled} = {quoted(str(first))}").fetchone()[0] > 1:
            footer, lost = [], lost[: len(lost) - len(footer)]  # a family's name
            break
        footer.append(row)
        lost.append(Skipped(f"{source}, row {row + 1}", f"it is a summary of the rows above ({str(first).strip()!r})"))
    if empty or footer:
        listed = ", ".join(map(str, footer)) or "-1"
        connection.execute(f"DELETE FROM {table} WHERE {filled} IS NULL OR rowid IN ({listed})")
    return lost
