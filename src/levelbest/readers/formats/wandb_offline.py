"""Weights & Biases offline runs: run-*.wandb files, protobuf records in LevelDB's framing, read without wandb."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from levelbest._read import read_whole
from levelbest.readers.formats import _wire
from levelbest.readers.formats._rows import Record, RunLog, flatten, number, rows_by_step, runs_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import head_of, json_value

__all__ = ["READERS"]

_MAGIC = b":W&B\xe1\xbe"
_RUN_FOLDER = re.compile(r"(offline-)?run-\d{8}_\d{6}-\w+")
_BLOCK = 32 * 1024
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_ITEM: _wire.Schema = {1: ("key", _wire.text), 2: ("nested*", _wire.text), 16: ("json", _wire.text)}
_ITEMS: _wire.Schema = {1: ("changed*", _ITEM), 2: ("removed*", _ITEM)}
_RUN: _wire.Schema = {
    3: ("family", _wire.text),
    4: ("config", _ITEMS),
    5: ("summary", _ITEMS),
    6: ("run_group", _wire.text),
    7: ("job_type", _wire.text),
    8: ("label", _wire.text),
    12: ("sweep", _wire.text),
    17: ("start", {1: ("seconds", _wire.signed), 2: ("nanos", _wire.signed)}),
}
_RECORD: _wire.Schema = {
    2: ("history", {1: ("items*", _ITEM), 2: ("step", {1: ("number", _wire.signed)})}),
    3: ("summary", _ITEMS),
    5: ("config", _ITEMS),
    17: ("run", _RUN),
    18: ("exit", {1: ("code", _wire.signed), 2: ("runtime", _wire.signed)}),
}


@dataclass
class _OfflineRun(RunLog):
    """What the records of one run add up to: its family is the project, its name the identifier."""

    label: str = ""
    run_group: str = ""
    job_type: str = ""
    sweep: str = ""
    start: float | None = None
    runtime: float | None = None
    config: Record = field(default_factory=dict)
    summary: dict[str, object] = field(default_factory=dict)
    points: list[tuple[str, float, object]] = field(default_factory=list)
    steps: int = 0


def _tables(tree: Tree, *, history: bool = False) -> list[RawTable]:
    """One row per run with its summary; ``history``: a row per run and logged step."""
    runs: dict[str, _OfflineRun] = {}
    for name in tree.files:
        with tree.open(name) as file:
            content = read_whole(file, name)
        if content[: len(_MAGIC)] != _MAGIC:
            tree.skip(name, "not a W&B run file: it does not start with ':W&B'")
            continue
        known_as = PurePosixPath(name).stem.removeprefix("run-")
        run = runs.setdefault(known_as, _OfflineRun("", known_as, "running"))
        run.status = "running"  # a run that was resumed has a file for each part: the last one says how it ended
        for place, record in _records(tree, content, name):
            with tree.trying(f"{name}, byte {place}", "a record that cannot be read"):
                _apply(run, record)
    written = {str(PurePosixPath(name).parent) for name in tree.files}
    begun = {folder for folder in tree.folders if _RUN_FOLDER.fullmatch(PurePosixPath(folder).name)}
    for folder in sorted(begun - written):
        tree.skip(folder, "a run without its .wandb file")
    return [_table(list(runs.values()), tree.name, history)] if runs else []


def _records(tree: Tree, content: bytes, name: str) -> Iterator[tuple[int, bytes]]:
    """The records of a file, put together from their parts; a part never crosses a block of 32 KiB."""
    place, begun, start = 7, b"", 0
    while place < len(content):
        left = _BLOCK - place % _BLOCK
        if left < 7:
            place += left
            continue
        header = content[place : place + 7]
        if len(header) < 7:
            break
        checksum, length, kind = struct.unpack("<IHB", header)
        part = content[place + 7 : place + 7 + length]
        if kind == 0 and length == 0:
            place += left
            continue
        if len(part) < length:
            tree.skip(f"{name}, byte {place}", "the file ends in the middle of a record")
            return
        if zlib.crc32(part, zlib.crc32(bytes([kind]))) != checksum:
            # Nothing in this block can be trusted now, not even where the next part begins.
            tree.skip(f"{name}, byte {place}", "a damaged record; the rest of its block is not read")
            place, begun = place + left, b""
            continue
        if kind in (_FULL, _FIRST):
            begun, start = part, place
        else:
            begun += part
        if kind in (_FULL, _LAST):
            yield start, begun
            begun = b""
        place += 7 + length


def _apply(run: _OfflineRun, data: bytes) -> None:
    record = _wire.decoded_message(data, _RECORD)
    begun = record.get("run", {})
    for name in ("family", "run_group", "job_type", "label", "sweep"):
        setattr(run, name, begun.get(name, getattr(run, name)))
    if run.start is None and "start" in begun:
        run.start = begun["start"].get("seconds", 0) + begun["start"].get("nanos", 0) / 1e9
    for part in (begun, record):
        for target, items in ((run.config, part.get("config", {})), (run.summary, part.get("summary", {}))):
            for item in (*items.get("changed", ()), *items.get("removed", ())):
                for old in [key for key in target if key == _name(item) or key.startswith(f"{_name(item)}.")]:
                    del target[old]
            for item in items.get("changed", ()):
                target.update(_values(item))
    if "history" in record:
        _apply_history(run, record["history"])
    if "exit" in record:
        run.status = "ok" if record["exit"].get("code", 0) == 0 else "failed"
        run.runtime = _later(run.runtime, float(record["exit"].get("runtime", 0)))


def _apply_history(run: _OfflineRun, history: Record) -> None:
    row: Record = {}
    for item in history.get("items", ()):
        row.update(_values(item))
    run.steps += 1
    run.runtime = _later(run.runtime, number(row.get("_runtime")))
    place = history["step"].get("number", 0) if "step" in history else number(row.get("_step"))
    place = float(run.steps - 1 if place is None else place)
    run.points.extend((name, place, value) for name, value in row.items() if not name.startswith("_"))


def _name(item: Record) -> str:
    return ".".join(item.get("nested", ())) or str(item.get("key", ""))


def _values(item: Record) -> Record:
    """A value with dotted names; a picture, a table or a histogram is no score and is left out."""
    stored = json_value(item["json"]) if "json" in item else None
    if isinstance(stored, dict) and "_type" in stored:
        return {}
    special = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
    flat = flatten(stored, _name(item))
    return {key: special.get(value, value) if isinstance(value, str) else value for key, value in flat.items()}


def _later(known: float | None, seen: float | None) -> float | None:
    return max((value for value in (known, seen) if value is not None), default=None)


def _table(runs: list[_OfflineRun], source: str, history: bool) -> RawTable:
    projects = {run.family for run in runs if run.family}
    home = projects.pop() if len(projects) == 1 else source  # of a run that was killed before it wrote its own
    runs = sorted(runs, key=lambda other: (other.start is None, other.start or 0.0, other.name))
    for run in runs:
        run.family = run.family or home
        run.settings = {f"config.{key}": value for key, value in run.config.items() if not key.startswith("_wandb")}
        run.logged = rows_by_step(run.points) if history else []
        run.whole = {"name": run.label, "runtime_s": run.runtime}
        run.whole |= {key: value for key in ("run_group", "job_type", "sweep") if (value := getattr(run, key))}
        # A value of the summary that no step logged was set for the whole run, e.g. its test score.
        steps = {key for row in run.logged for key in row}
        run.whole |= {key: value for key, value in run.summary.items() if not key.startswith("_") and key not in steps}
    about = "Weights & Biases offline run files"
    table = runs_table(source, runs, "project", "run", about, steps=history, cost="runtime_s")
    sweeps = {run.sweep for run in runs}
    if len(sweeps) > 1 and all(sweeps):  # several sweeps are searches
        table.roles["search"] = "sweep"
    return table


READERS = (
    tool(
        "wandb",
        "Weights & Biases offline run files (run-*.wandb)",
        _tables,
        "W&B run files (run-*.wandb)",
        files=lambda name: name.endswith(".wandb"),
        file=lambda path: path.name.endswith(".wandb") and head_of(path).startswith(_MAGIC),
    ),
)
