"""Files as bytes and text: opened for reading only, decompressed, decoded; and which files a source means."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import glob, has_magic
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from levelbest._read import LimitedStream, bounded_lines, expanded_limit, open_file, read_whole
from levelbest.errors import DataError, InputError, LevelbestError

__all__ = [
    "COMPRESSED",
    "Json",
    "Record",
    "Sign",
    "as_paths",
    "decoded",
    "has_marks",
    "head_of",
    "header_of",
    "json_lines",
]
__all__ += ["json_value", "kind_of", "open_bytes", "plain_name", "read_bytes", "short_names", "stem", "zstd_stream"]

Json = Any
"""A value of JSON as a tool wrote it: of any kind."""
Record = dict[str, Json]
"""An object of JSON, or a row made of one."""
COMPRESSED = (".gz", ".bz2", ".xz", ".lzma", ".zst", ".zip")
FILE_KINDS = {
    **dict.fromkeys((".csv", ".txt", ".dat"), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".json": "json",
}
_STEMS = (*FILE_KINDS, *COMPRESSED, ".db", ".sqlite", ".sqlite3", ".log", ".eval")
MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip",
}
_SHARD = re.compile(r"-[0-9]{5}-of-[0-9]{5}$")  # one of the files that a large table is cut into
_UNREADABLE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, RuntimeError)
_BINARY = {
    b"SQLite format 3\x00": "an SQLite database of a kind that is not known",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"\x80\x04\x95": "a Python pickle, and a pickle is never opened: it can run code",
    b"\x80\x03": "a Python pickle, and a pickle is never opened: it can run code",
    b"\x80\x05\x95": "a Python pickle, and a pickle is never opened: it can run code",
    b"\x93NUMPY": "a NumPy file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
}


def as_paths(source: object) -> list[Path]:
    """The files or folders that a path, a glob or a list of them means; a name that matches nothing is an error."""
    if isinstance(source, (str, Path)):
        if source == "":
            raise InputError("the name of a file is empty; a dot means this folder")
        path = Path(source).expanduser()
        if path.exists():
            return [path]
        if has_magic(str(source)):
            matches = sorted(glob(str(path), recursive=True))
            if matches:
                return [Path(match) for match in matches]
            raise InputError(f"no file matches {str(source)!r}")
        near = _siblings(path)
        raise InputError(f"there is no file or folder {str(source)!r}{near}")
    assert isinstance(source, Iterable)  # paths, where a table was not recognised before
    return [path for part in source for path in as_paths(part)]


def _siblings(path: Path) -> str:
    import difflib

    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        return f": its folder {str(path.parent)!r} does not exist" if not path.parent.exists() else ""
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""


def stem(name: str) -> str:
    """A file's name without the endings that only say its format, or which part of a table it is.

    ``runs.csv.gz`` -> ``runs``, ``train-00003-of-00008.parquet`` -> ``train``.
    """
    while True:
        for ending in _STEMS:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
        else:
            return _SHARD.sub("", name) or name


def plain_name(path: Path) -> str:
    """A name without its compression: ``runs.csv.gz`` -> ``runs.csv``."""
    name = path.name
    for ending in COMPRESSED:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def kind_of(path: Path) -> str | None:
    """The kind of table that a file's name promises: csv, tsv, json, jsonl, parquet or None."""
    return FILE_KINDS.get(Path(plain_name(path)).suffix.lower())


def short_names(paths: Sequence[Path]) -> list[str]:
    """Names to show, as short as tells the files apart: ``results.csv``, or ``a/results.csv`` and ``b/results.csv``."""
    parts = [path.absolute().parts for path in paths]
    depth = 1
    while depth < 6 and len({part[-depth:] for part in parts}) < len(set(parts)):
        depth += 1
    return ["/".join(part[-depth:]).lstrip("/") for part in parts]


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """A file's content, decompressed; at most ``limit`` bytes of it where given."""
    with open_bytes(path) as stream:
        return read_whole(stream, path.name) if limit is None else stream.read(limit)


def head_of(path: Path) -> bytes:
    """The beginning of a file, decompressed, by which formats are told apart: each asks, and it is read once.

    Empty where it cannot be read, or is a folder.
    """
    try:
        known = path.stat()
        return _head(path, known.st_mtime_ns, known.st_size)
    except (OSError, LevelbestError):
        return b""


def has_marks(path: Path, *marks: str) -> bool:
    """Whether the beginning of a file has all of these in double quotes, as keys of JSON stand."""
    return all(f'"{mark}"'.encode() in head_of(path) for mark in marks)


def header_of(path: Path) -> list[str]:
    """The names in the first line of a CSV or TSV file, however they are separated; none of any other file."""
    if kind_of(path) not in ("csv", "tsv"):
        return []
    line = head_of(path).decode("utf-8-sig", errors="replace").partition("\n")[0].strip()
    try:
        cells = next(csv.reader([line], delimiter=max(",;\t", key=line.count)), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]


class Sign(NamedTuple):
    """What a file of a tool is known by; all that is given must hold."""

    name: str = "*"
    """A pattern."""
    kind: str = ""
    """Of `kind_of`."""
    columns: tuple[Collection[str], ...] = ()
    """The first line names one column of each."""
    start: bytes = b""
    marks: tuple[str, ...] = ()
    """Keys of JSON near the beginning."""

    def is_on(self, path: Path) -> bool:
        """Whether a file has it."""
        if not fnmatchcase(path.name, self.name) or (self.kind and kind_of(path) != self.kind):
            return False
        if self.columns and not all(set(names) & set(header_of(path)) for names in self.columns):
            return False
        return head_of(path).lstrip().startswith(self.start) and has_marks(path, *self.marks)


@lru_cache(maxsize=2)
def _head(path: Path, _moment: int, _size: int) -> bytes:
    return read_bytes(path, 2**18)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """A file's content as a stream, decompressed; what cannot be read is our error."""
    try:
        with open_file(path) as file:
            start = file.read(8)
            file.seek(0)
            ending = next((end for magic, end in MAGIC.items() if start.startswith(magic)), None)
            with _decompressed(file, ending, path) as stream:
                if ending is None:
                    yield stream
                else:
                    limit = expanded_limit(8 if kind_of(path) == "json" else 1)  # JSON is held as a whole
                    yield io.BufferedReader(LimitedStream(stream, path.name, limit), 2**18)
    except IsADirectoryError:
        raise InputError(f"{path.name} is a folder, and no known kind of results folder") from None
    except _UNREADABLE as error:
        if isinstance(error, PermissionError):
            raise InputError(f"{path.name} may not be read: permission denied") from None
        raise DataError(f"{path.name} cannot be read: {error}") from None


def _decompressed(file: IO[bytes], ending: str | None, path: Path) -> IO[bytes]:
    if ending == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if ending == ".bz2":
        return bz2.BZ2File(file)
    if ending == ".xz":
        return lzma.LZMAFile(file)
    if ending == ".zst":
        return zstd_stream(file)
    if ending == ".zip":
        inside = zipfile.ZipFile(file)
        names = [member for member in inside.infolist() if not member.is_dir()]
        if len(names) != 1:
            raise InputError(f"{path.name} holds {len(names)} files; unpack it and name the ones to read")
        return inside.open(names[0])
    return io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file


def zstd_stream(file: IO[bytes]) -> IO[bytes]:
    """What a Zstandard stream unpacks to; damage is an OSError."""
    try:
        from compression import zstd
    except ImportError:  # before Python 3.14
        from backports import zstd
    return cast(IO[bytes], _Zstandard(zstd.ZstdFile(file), zstd.ZstdError))


class _Zstandard(io.RawIOBase):
    """A zstandard stream whose damage is an OSError, as that of the other compressions is."""

    def __init__(self, stream: IO[bytes], damage: type[Exception]) -> None:
        self._stream, self._damage = stream, damage

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        try:
            data: bytes = self._stream.read(size)
        except self._damage as error:
            raise OSError(str(error)) from error
        return data


def json_value(text: str | bytes) -> Json:
    """The value of a JSON text; ValueError alone where it is not JSON, however it is broken."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def json_lines(lines: Iterable[str | bytes]) -> Iterator[tuple[int, Json, str | None]]:
    """(line number, value, None) for each line of JSON, (line number, None, why) for each that is broken."""
    for place, line in enumerate(bounded_lines(lines), start=1):
        encoding = "utf-8-sig" if place == 1 else "utf-8"
        text = line if isinstance(line, str) else line.decode(encoding, errors="replace")
        if not text.strip():
            continue
        try:
            yield place, json_value(text), None
        except ValueError as error:
            cut = "" if text.endswith("\n") else " (the file ends in the middle of it)"
            yield place, None, f"it is not JSON: {error}{cut}"


def decoded(data: bytes, name: str) -> tuple[str, str | None]:
    """The text in a file, and a remark where it was not plain UTF-8; a binary file is an error."""
    for magic, what in _BINARY.items():
        if data.startswith(magic):
            raise InputError(f"{name} is not a table of text: it looks like {what}")
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), None
    if b"\x00" in data[:8192]:
        raise InputError(f"{name} is not a table of text: it looks like a binary file")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        lines = data.split(b"\n")
        odd = 0
        texts = []
        for line in lines:
            try:
                texts.append(line.decode("utf-8"))
            except UnicodeDecodeError:
                odd += 1
                texts.append(line.decode("cp1252", errors="replace"))
        return "\n".join(texts), f"{odd} of {len(lines)} lines are not UTF-8 and were read as Western European text"
