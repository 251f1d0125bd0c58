"""TensorBoard event files: scalars and hyperparameters of each run folder, decoded without TensorFlow."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from levelbest._read import limit_of
from levelbest.readers.formats import _wire
from levelbest.readers.formats._rows import Record, RunLog, rows_by_step, runs_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable

__all__ = ["READERS"]

_HPARAMS_FILES = ("hparams.yaml", "hparams.json")
_PARTS = {"train", "training", "validation", "val", "valid", "eval", "test"}
"""Folders that Keras and others write beside each other for one run: their tags get the folder's name in front."""
_MOMENT = re.compile(r"\d{9,}(\.\d+)?")
"""PyTorch's add_hparams writes into a subfolder named after the time."""
_END = {1: "ok", 2: "failed", 3: "running"}
_LAYOUT = {1: "<f", 2: "<d", 3: "<i", 9: "<q", 19: "<e"}
"""Type of a tensor -> how its raw content is laid out."""
_TENSOR: _wire.Schema = {
    1: ("type", _wire.signed),
    2: ("shape", {2: ("sizes*", _wire.message)}),
    4: ("content", _wire.message),
    **{number: (f"values of {kind}", lambda value: value) for number, kind in ((5, 1), (6, 2), (7, 3), (10, 9))},
}
_PLUGIN: _wire.Schema = {1: ("name", _wire.text), 2: ("content", _wire.message)}
_VALUE: _wire.Schema = {
    1: ("tag", _wire.text),
    2: ("scalar", _wire.float32),
    8: ("tensor", _TENSOR),
    9: ("metadata", {1: ("plugin", _PLUGIN)}),
}
_EVENT: _wire.Schema = {1: ("time", _wire.double), 2: ("step", _wire.signed), 5: ("summary", {1: ("values*", _VALUE)})}
_ANY: _wire.Schema = {2: ("number", _wire.double), 3: ("text", _wire.text), 4: ("truth", bool)}
_HPARAMS: _wire.Schema = {
    3: ("start", {1: ("settings*", {1: ("name", _wire.text), 2: ("value", _ANY)})}),
    4: ("end", {1: ("status", _wire.signed)}),
}


@dataclass
class _EventRun(RunLog):
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
    runs: dict[str, _EventRun] = {}
    for name in events:
        folder = str(PurePosixPath(name).parent)
        home, prefix = _home(folder, folders)
        family, known_as = (root, root) if home == "." else (PurePosixPath(home).parent.name or root, home)
        run = runs.setdefault(home, _EventRun(family, known_as, "ok"))
        run.files += 1
        where, plugins = f"{root if folder == '.' else folder}, event file {run.files}", dict[str, str]()
        for place, record in _records(tree, name, where):
            try:
                _event(run, record, prefix, plugins)
            except ValueError as error:
                tree.skip(f"{where}, byte {place}", f"an event that cannot be read: {error}")
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
            if len(header) == 12 and length > limit_of("WHOLE"):
                tree.skip(f"{where}, byte {place}", f"an event of {length:,} bytes; the rest of the file is not read")
                return
            data = file.read(length + 4) if len(header) == 12 else b""
            if len(data) < length + 4:
                tree.skip(f"{where}, byte {place}", "the file ends in the middle of an event")
                return
            yield place, data[:-4]
            place += 16 + length


def _event(run: _EventRun, record: bytes, prefix: str, plugins: dict[str, str]) -> None:
    event = _wire.decoded_message(record, _EVENT)
    moment = event.get("time", math.nan)
    if math.isfinite(moment):
        run.first, run.last = min(run.first, moment), max(run.last, moment)
    for value in event.get("summary", {}).get("values", ()):
        tag, scalar = value.get("tag", ""), value.get("scalar")
        if "metadata" in value:
            plugin = value["metadata"].get("plugin", {})
            plugins[tag] = plugin.get("name") or plugins.get(tag, "scalars")
            if plugin.get("name") == "hparams":
                _hparams(run, _wire.decoded_message(plugin.get("content", b""), _HPARAMS))
        if tag.startswith("_hparams_/"):
            continue
        if scalar is None and "tensor" in value and plugins.get(tag, "scalars") == "scalars":
            scalar = _scalar_of(value["tensor"])
        if scalar is not None:
            run.points.append((prefix + tag, float(event.get("step", 0)), scalar))


def _hparams(run: _EventRun, record: Record) -> None:
    for entry in record.get("start", {}).get("settings", ()):
        run.settings[f"hparams.{entry.get('name', '')}"] = next(iter(entry.get("value", {}).values()), None)
    run.status = _END.get(record.get("end", {}).get("status", 0), run.status)


def _scalar_of(tensor: Record) -> float | None:
    """The value of a tensor of one number; None where it holds something else."""
    kind = tensor.get("type", 0)
    if tensor.get("shape", {}).get("sizes") or kind not in _LAYOUT:
        return None
    value = tensor.get("content") or tensor.get(f"values of {kind}")
    if not value:
        return None if kind == 19 else 0.0  # what is not written is 0
    if isinstance(value, bytes) and kind in (3, 9) and not tensor.get("content"):  # packed whole numbers are varints
        value = _wire.first_varint(value)
    if isinstance(value, int):
        return float(_wire.signed(value))
    return float(struct.unpack(_LAYOUT[kind], value)[0]) if len(value) == struct.calcsize(_LAYOUT[kind]) else None


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
