"""TensorBoard event files: scalars and hyperparameters of each run folder, decoded without TensorFlow."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from levelbest.readers.formats import _wire
from levelbest.readers.formats._rows import Run, rows_by_step, runs_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable

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
class _Run(Run):
    """What the event files of one run folder hold."""

    points: list[tuple[str, float, float]] = field(default_factory=list)
    files: int = 0
    first: float = math.inf
    last: float = -math.inf


def _is_events(name: str) -> bool:
    return ".tfevents." in PurePosixPath(name).name or PurePosixPath(name).name.endswith(".tfevents")


def _tables(tree: Tree) -> list[RawTable]:
    """One row per run folder and step, one column per tag."""
    tree.name = root = tree.place.name  # of one file too, since its own name tells the host
    events = [name for name in tree.files if _is_events(name)]
    folders = {str(PurePosixPath(name).parent) for name in events}
    runs: dict[str, _Run] = {}
    for name in events:
        folder = str(PurePosixPath(name).parent)
        home, prefix = _home(folder, folders)
        family, known_as = (root, root) if home == "." else (PurePosixPath(home).parent.name or root, home)
        run = runs.setdefault(home, _Run(family, known_as, "ok"))
        run.files += 1
        where, plugins = f"{root if folder == '.' else folder}, event file {run.files}", dict[str, str]()
        for place, record in _records(tree, name, where):
            with tree.trying(f"{where}, byte {place}", "an event that cannot be read"):
                _event(run, record, prefix, plugins)
    kept = []
    for home, run in sorted(runs.items(), key=lambda item: (item[1].first, item[0])):
        for base in reversed(_HPARAMS_FILES):
            run.settings = tree.document(str(PurePosixPath(home, base)), under="hparams") | run.settings
        if not run.points:
            tree.skip(run.name, "its event files hold no scalar")
            continue
        run.whole = {"wall_time_s": max(run.last - run.first, 0.0)}
        run.logged = rows_by_step(run.points)
        kept.append(run)
    facts, about = {"precision": "scores are stored as 32-bit floats"}, "TensorBoard event files"
    table = runs_table(root, kept, "folder", "run", about, steps=True, cost="wall_time_s", facts=facts)
    return [table] if kept else []


def _home(folder: str, folders: set[str]) -> tuple[str, str]:
    """The run that a folder belongs to, and what to put in front of its tags."""
    path = PurePosixPath(folder)
    if path.name.lower() in _PARTS:
        return str(path.parent), f"{path.name}/"
    if _MOMENT.fullmatch(path.name) and str(path.parent) in folders:
        return str(path.parent), ""
    return folder, ""


def _records(tree: Tree, name: str, where: str) -> Iterator[tuple[int, bytes]]:
    """TFRecords: a length, its checksum, the data, and the data's checksum."""
    place = 0
    with tree.open(name) as file:
        while header := file.read(12):
            if len(header) == 12 and _masked_crc32c(header[:8]) != struct.unpack("<I", header[8:])[0]:
                tree.skip(f"{where}, byte {place}", "a damaged event; the rest of the file is not read")
                return
            length = int.from_bytes(header[:8], "little")
            data = file.read(length + 4) if len(header) == 12 else b""
            if len(data) < length + 4:
                tree.skip(f"{where}, byte {place}", "the file ends in the middle of an event")
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
                run.settings[name] = _struct_value(_wire.message(entry.get(2, b"")))
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


READERS = (
    tool(
        "tensorboard",
        "TensorBoard event files, one run per folder",
        _tables,
        "TensorBoard event files (events.out.tfevents.*) with a scalar",
        files=lambda name: _is_events(name) or PurePosixPath(name).name in _HPARAMS_FILES,
        known=_is_events,
        file=lambda path: _is_events(path.name),
        beside=_HPARAMS_FILES,
    ),
)
