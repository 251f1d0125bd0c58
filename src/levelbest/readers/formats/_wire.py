"""A minimal reader of the Protocol Buffers wire format: fields by number, without the tool's classes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

from levelbest.readers.tables.files import Record

__all__ = ["Schema", "decoded_message", "double", "first_varint", "float32", "message", "signed", "text"]

Schema: TypeAlias = "dict[int, tuple[str, Callable[[int | bytes], object] | Schema]]"
"""Number of a field -> its name and what it holds: a value of some kind, or another message."""


def decoded_message(data: bytes, schema: Schema) -> Record:
    """The fields of a message that a schema knows, by name; a list where the name ends in ``*``, which it is without.

    ValueError where the bytes are no message, or a field holds something else.
    """
    values: Record = {}
    for number, value in _fields(data):
        if number in schema:
            name, kind = schema[number]
            stored = decoded_message(message(value), kind) if isinstance(kind, dict) else kind(value)
            if name[-1] == "*":
                values.setdefault(name[:-1], []).append(stored)
            else:
                values[name] = stored
    return values


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """(field number, value) of a message in its order: an integer, or the bytes of anything longer or fixed.

    Almost every number in the files read here has one byte, which is worth a shorter way: event files hold millions.
    """
    parts: list[tuple[int, int | bytes]] = []
    place, size = 0, len(data)
    try:
        while place < size:
            tag = data[place]
            place += 1
            if tag > 0x7F:
                tag, place = _varint(data, place - 1)
            number, kind = tag >> 3, tag & 7
            if number == 0:
                raise ValueError("a field without a number")
            if kind == 2 or kind == 0:
                value = data[place]
                place += 1
                if value > 0x7F:
                    value, place = _varint(data, place - 1)
                if kind == 0:
                    parts.append((number, value))
                    continue
                end = place + value
            elif kind == 1:
                end = place + 8
            elif kind == 5:
                end = place + 4
            else:
                raise ValueError(f"wire type {kind}")
            if end > size:
                raise ValueError("a field longer than its message")
            parts.append((number, data[place:end]))
            place = end
    except IndexError:
        raise ValueError("a message that ends too early") from None
    return parts


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if place >= len(data) or shift > 63:
            raise ValueError("a number that does not end")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def first_varint(data: bytes) -> int:
    """The first of packed whole numbers."""
    return _varint(data, 0)[0]


def message(value: int | bytes) -> bytes:
    """The bytes of a nested message."""
    if not isinstance(value, bytes):
        raise ValueError("a number where a message should be")
    return value


def text(value: int | bytes) -> str:
    """A string."""
    return message(value).decode("utf-8", errors="replace")


def signed(value: int | bytes) -> int:
    """An int32 or int64: negative numbers are written as 64-bit two's complement."""
    if not isinstance(value, int):
        raise ValueError("bytes where a number should be")
    return value - 2**64 if value >= 2**63 else value


def double(value: int | bytes) -> float:
    """A double."""
    return float(struct.unpack("<d", _exactly(value, 8))[0])


def float32(value: int | bytes) -> float:
    """A float, which has about seven digits."""
    return float(struct.unpack("<f", _exactly(value, 4))[0])


def _exactly(value: int | bytes, size: int) -> bytes:
    if not isinstance(value, bytes) or len(value) != size:
        raise ValueError("a number of the wrong size")
    return value
