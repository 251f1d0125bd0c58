"""TensorBoard event files: scalars and hyperparameters of each run folder, decoded without TensorFlow."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from levelbest.errors import DataError
from levelbest.readers.formats import _wire
from levelbest.readers.formats._rows import Record, Run, rows_by_step, runs_table
from levelbest.readers.formats._tree import beside, known_by, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READERS"]

_HPARAMS_FILES = ("hparams.yaml", "hparams.json")
_PARTS = {"train", "training", "validation", "val", "valid", "eval", "test"}
"""Folders that Keras and others write beside each other for one run: their tags get the folder's name in front."""
_MOMENT = re.compile(r"\d{9,}(\.\d+)?")
"""PyTorch's add_hparams writes into a subfolder named after the time."""
_END = {1: "ok", 2: "failed", 3: "running"}
_FIELDS = {1: (5, "<f"), 2: (6, "<d"), 3: (7, "<i"), 9: (10, "<q")}
"""Type of a tensor -> the field with its values, and how its raw content is laid out."""
_CONTENT = {19: "<e", **{kind: layout for kind, (_, layout) in _FIELDS.items()}}


@dataclass
class _Run:
    """What the event files of one run folder hold."""

    points: list[tuple[str, float, float]] = field(default_factory=list)
    hparams: Record = field(default_factory=dict)
    status: str = "ok"
    files: int = 0
    first: float = math.inf
    last: float = -math.inf


def _is_events(name: str) -> bool:
    return ".tfevents." in PurePosixPath(name).name or PurePosixPath(name).name.endswith(".tfevents")


def _read(path: Path, **_: object) -> list[RawTable]:
    """One row per run folder and step, one column per tag."""
    if path.is_file() and _is_events(path.name):  # one file: named after its folder, since its own name tells the host
        tree = beside(path, *_HPARAMS_FILES)
        tree.name = path.resolve().parent.name
    else:
        tree = open_tree(path, lambda name: _is_events(name) or PurePosixPath(name).name in _HPARAMS_FILES)
    skipped: list[Skipped] = []
    events = [name for name in tree.files if _is_events(name)]
    if not events:
        raise DataError(f"{tree.name} holds no TensorBoard event files (events.out.tfevents.*)")
    folders = {str(PurePosixPath(name).parent) for name in events}
    runs: dict[str, _Run] = {}
    for name in events:
        folder = str(PurePosixPath(name).parent)
        home, prefix = _home(folder, folders)
        run = runs.setdefault(home, _Run())
        run.files += 1
        with tree.open(name) as file:
            _read_events(
                run, file, f"{tree.name if folder == '.' else folder}, event file {run.files}", prefix, skipped
            )
    for home, run in runs.items():
        for base in reversed(_HPARAMS_FILES):
            run.hparams = tree.document(str(PurePosixPath(home, base)), skipped, under="hparams") | run.hparams
    empty = [home for home, run in runs.items() if not run.points]
    skipped += [Skipped(tree.name if home == "." else home, "its event files hold no scalar") for home in empty]
    if len(empty) == len(runs):
        raise DataError(f"{tree.name}: no event file holds a scalar ({skipped[0].where}: {skipped[0].why})")
    return [_table({home: run for home, run in runs.items() if run.points}, tree.name, skipped)]


def _home(folder: str, folders: set[str]) -> tuple[str, str]:
    """The run that a folder belongs to, and what to put in front of its tags."""
    path = PurePosixPath(folder)
    if path.name.lower() in _PARTS:
        return str(path.parent), f"{path.name}/"
    if _MOMENT.fullmatch(path.name) and str(path.parent) in folders:
        return str(path.parent), ""
    return folder, ""


def _read_events(run: _Run, file: BinaryIO, name: str, prefix: str, skipped: list[Skipped]) -> None:
    plugins: dict[str, str] = {}
    for place, record in _records(file, name, skipped):
        try:
            _event(run, record, prefix, plugins)
        except ValueError as error:
            skipped.append(Skipped(f"{name}, byte {place}", f"an event that cannot be read: {error}"))


def _records(file: BinaryIO, name: str, skipped: list[Skipped]) -> Iterator[tuple[int, bytes]]:
    """TFRecords: a length, its checksum, the data, and the data's checksum."""
    place = 0
    while header := file.read(12):
        where = f"{name}, byte {place}"
        if len(header) < 12:
            skipped.append(Skipped(where, "the file ends in the middle of an event"))
            return
        if _masked_crc32c(header[:8]) != struct.unpack("<I", header[8:])[0]:
            skipped.append(Skipped(where, "a damaged event; the rest of the file is not read"))
            return
        (length,) = struct.unpack("<Q", header[:8])
        data = file.read(length + 4)
        if len(data) < length + 4:
            skipped.append(Skipped(where, "the file ends in the middle of an event"))
            return
        yield place, data[:-4]
        place += 16 + length


def _event(run: _Run, record: bytes, prefix: str, plugins: dict[str, str]) -> None:
    moment, step, values = math.nan, 0, []
    for number, value in _wire.fields(record):
        if number == 1:
            moment = _wire.double(value)
        elif number == 2:
            step = _wire.signed(value)
        elif number == 5:
            values += _wire.inner(_wire.message(value), 1)
    if math.isfinite(moment):
        run.first, run.last = min(run.first, moment), max(run.last, moment)
    for value in values:
        _value(run, value, float(step), prefix, plugins)


def _value(run: _Run, data: bytes, step: float, prefix: str, plugins: dict[str, str]) -> None:
    tag, scalar, tensor = "", None, None
    for number, value in _wire.fields(data):
        if number == 1:
            tag = _wire.text(value)
        elif number == 2:
            scalar = _wire.float32(value)
        elif number == 8:
            tensor = _wire.message(value)
        elif number == 9:
            plugin, content = _plugin(_wire.message(value))
            if plugin:
                plugins[tag] = plugin
            if plugin == "hparams":
                _hparams(run, content)
    if tag.startswith("_hparams_/"):
        return
    if scalar is None and tensor is not None and plugins.get(tag, "scalars") == "scalars":
        scalar = _scalar_of(tensor)
    if scalar is not None:
        run.points.append((prefix + tag, step, scalar))


def _plugin(metadata: bytes) -> tuple[str, bytes]:
    plugins = [dict(_wire.fields(plugin)) for plugin in _wire.inner(metadata, 1)] or [{}]
    return _wire.text(plugins[-1].get(1, b"")), _wire.message(plugins[-1].get(2, b""))


def _scalar_of(tensor: bytes) -> float | None:
    """The value of a tensor of one number; None where it holds something else."""
    kind, dimensions, content, stored = 0, 0, b"", {}
    for number, value in _wire.fields(tensor):
        if number == 1:
            kind = _wire.signed(value)
        elif number == 2:
            dimensions = len(_wire.inner(_wire.message(value), 2))
        elif number == 4:
            content = _wire.message(value)
        else:
            stored[number] = value
    if dimensions:
        return None
    if content and kind in _CONTENT:
        return _unpacked(_CONTENT[kind], content)
    if kind in _FIELDS:
        place, layout = _FIELDS[kind]
        value = stored.get(place, b"")
        if isinstance(value, int):
            return float(_wire.signed(value))
        if kind in (3, 9):  # packed whole numbers are varints
            return float(_wire.signed(_wire.first_varint(value))) if value else 0.0
        return _unpacked(layout, value) if value else 0.0  # what is not written is 0
    return None


def _unpacked(layout: str, content: bytes) -> float | None:
    return float(struct.unpack(layout, content)[0]) if len(content) == struct.calcsize(layout) else None


def _hparams(run: _Run, content: bytes) -> None:
    for number, value in _wire.fields(content):
        if number == 3:
            for part in _wire.inner(_wire.message(value), 1):
                entry = dict(_wire.fields(part))
                name = f"hparams.{_wire.text(entry.get(1, b''))}"
                run.hparams[name] = _struct_value(_wire.message(entry.get(2, b"")))
        elif number == 4:
            run.status = _END.get(_wire.signed(dict(_wire.fields(_wire.message(value))).get(1, 0)), run.status)


def _struct_value(data: bytes) -> object:
    for number, value in _wire.fields(data):
        if number == 2:
            return _wire.double(value)
        if number == 3:
            return _wire.text(value)
        if number == 4:
            return bool(value)
    return None


def _table(runs: dict[str, _Run], root: str, skipped: list[Skipped]) -> RawTable:
    kept = []
    for home, run in sorted(runs.items(), key=lambda item: (item[1].first, item[0])):
        family, name = (root, root) if home == "." else (PurePosixPath(home).parent.name or root, home)
        spent = {"wall_time_s": max(run.last - run.first, 0.0)}
        kept.append(Run(family, name, run.status, run.hparams, rows_by_step(run.points), spent))
    facts, about = {"precision": "scores are stored as 32-bit floats"}, "TensorBoard event files"
    return runs_table(root, kept, "folder", "run", about, steps=True, cost="wall_time_s", facts=facts, skipped=skipped)


@lru_cache(maxsize=1)
def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


def _masked_crc32c(data: bytes) -> int:
    """TFRecord's checksum: CRC-32C, rotated and shifted so that a checksum of checksums is not degenerate."""
    crc, table = 0xFFFFFFFF, _crc_table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


_recognises = known_by(_is_events, lambda path: _is_events(path.name))
READERS = (Reader("tensorboard", "TensorBoard event files, one run per folder", _recognises, _read),)
