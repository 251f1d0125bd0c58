"""Tables in files: CSV, TSV, JSON, JSON lines and Parquet, plain or compressed."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from levelbest.errors import DataError
from levelbest.readers.formats.jsonfile import json_table, lines_table
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.delimited import parse_delimited
from levelbest.readers.tables.files import decoded, kind_of, open_bytes, read_bytes
from levelbest.readers.tables.tidy import mark_roles

IN_MEMORY_UP_TO = 32 * 2**20
"""Bytes of text, decompressed: up to here a file is read record by record in memory."""

__all__ = ["READERS", "read_table"]


def _recognises(path: Path) -> bool:
    return path.is_file() and kind_of(path) is not None


def read_table(path: Path, *, rows: str | None = None) -> list[RawTable]:
    """One table from one file; ``rows``: the dotted path to the list of rows inside a JSON document."""
    kind = kind_of(path)
    if kind == "parquet" or (path.is_file() and read_bytes(path, 4) == b"PAR1"):
        from levelbest.readers.tables.engine import read_parquet

        return [mark_roles(read_parquet(path))]
    data = read_bytes(path, IN_MEMORY_UP_TO + 1)
    if len(data) > IN_MEMORY_UP_TO:
        table = _large(path, kind, data[: 2**20])
        if table is not None:
            return [mark_roles(table)]
        data = read_bytes(path)
    text, remark = decoded(data, path.name)
    if not text.strip():
        raise DataError(f"{path.name} is empty: there is no header and no row")
    kind = kind or _kind_of_text(text)
    if kind == "jsonl":
        table = lines_table(StringIO(text), path.name)
    elif kind == "json":
        table = json_table(text, path.name, rows)
    else:
        table = parse_delimited(text, path.name, "\t" if kind == "tsv" and "\t" in text[:65536] else None)
    if remark:
        table.facts["encoding"] = remark
    return [mark_roles(table)]


def _large(path: Path, kind: str | None, head: bytes) -> RawTable | None:
    """A big file a piece at a time, or None where only reading it whole will do: JSON, and text that is not UTF-8."""
    whole = head[: head.rfind(b"\n") + 1]
    text, remark = decoded(whole, path.name)
    kind = kind or _kind_of_text(text)
    if kind == "jsonl":
        with open_bytes(path) as stream:
            return lines_table(stream, path.name)
    if kind == "json" or remark or head[:2] in (b"\xff\xfe", b"\xfe\xff") or not whole:
        return None
    from levelbest.readers.tables.engine import read_large_csv

    return read_large_csv(path, text, "\t" if kind == "tsv" and "\t" in text else None)


def _kind_of_text(text: str) -> str:
    start = text.lstrip()[:1]
    return "json" if start == "[" else "jsonl" if start == "{" else "csv"


READERS = (Reader("table", "CSV, TSV, JSON, JSON lines or Parquet, plain or compressed", _recognises, read_table),)
