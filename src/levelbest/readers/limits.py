"""How much is read at most: a few kilobytes can stand for any amount of results.

Each limit is stated where it is met, and raised by an environment variable, e.g. ``LEVELBEST_MAX_EXPANDED=8GB``.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from typing import IO

from levelbest.errors import DataError, InputError

__all__ = ["Counted", "as_size", "bounded_lines", "expanded_limit", "limit_of", "read_whole", "refuse_more"]

_LIMITS = {"EXPANDED": 2**30, "WHOLE": 2**29, "COLUMNS": 20_000, "FAMILIES": 20_000}
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def limit_of(what: str) -> int:
    """The limit of that name: as the environment says, else the default."""
    variable = f"LEVELBEST_MAX_{what}"
    given = os.environ.get(variable, "").strip()
    if not given:
        return _LIMITS[what]
    size = as_size(given)
    if size is None:
        raise InputError(f"{variable} must be a number such as 20000 or 8GB, got {given!r}")
    return size


def as_size(text: str) -> int | None:
    """A number of things or bytes, such as ``20000``, ``4GB`` or ``1.5 GiB`` (a thousand each); None for other text."""
    match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([KMGT]?)(i?B)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    return size or None


def expanded_limit(share: int = 1) -> int:
    """Bytes that compressed results may take when unpacked; ``share``: of what is held as a whole, a part of them."""
    return limit_of("EXPANDED") // share


def read_whole(stream: IO[bytes], name: str) -> bytes:
    """The rest of a stream, for what must be held in memory as a whole."""
    limit, data = limit_of("WHOLE"), io.BytesIO()
    while piece := stream.read(2**20):
        data.write(piece)
        if data.tell() > limit:
            raise DataError(
                f"{name} holds more than {limit / 2**20:,.0f} MiB, which must be in memory as a whole; save it as CSV, "
                "JSON lines or Parquet, or set LEVELBEST_MAX_WHOLE, e.g. to 4GB"
            )
    return data.getvalue()


def bounded_lines(lines: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Lines, of a file none longer than is held as a whole."""
    if not isinstance(lines, io.BufferedIOBase | io.RawIOBase):
        yield from lines
        return
    limit = limit_of("WHOLE") // 4
    while line := lines.readline(limit + 1):
        if len(line) > limit:
            raise DataError(f"a line is longer than {limit / 2**20:,.0f} MiB; set LEVELBEST_MAX_WHOLE, e.g. to 4GB")
        yield line


def refuse_more(count: int, what: str, source: str) -> None:
    """Refuse a table with more columns or families than anybody looks at."""
    limit = limit_of(what.upper())
    if count > limit:
        raise DataError(
            f"{source} has {count:,} {what}, and at most {limit:,} are read; choose some, or set LEVELBEST_MAX_"
            f"{what.upper()}"
        )


class Counted(io.RawIOBase):
    """A decompressed stream that ends in our error where it goes past a limit."""

    def __init__(self, stream: IO[bytes], name: str, limit: int) -> None:
        self._stream, self._name, self._limit = stream, name, limit
        self._count = 0

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """The next bytes."""
        data = self._stream.read(len(buffer))
        self._count += len(data)
        if self._count > self._limit:
            raise DataError(
                f"{self._name} unpacks to more than {self._limit / 2**20:,.0f} MiB; unpack it yourself, or set "
                "LEVELBEST_MAX_EXPANDED, e.g. to 8GB"
            )
        buffer[: len(data)] = data
        return len(data)
