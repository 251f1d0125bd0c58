"""inspect_ai's logs, .eval and .json: each sample of each problem is a trial, its problem the group."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from levelbest._read import LimitedStream, expanded_limit, open_file
from levelbest.errors import DataError, LevelbestError
from levelbest.readers.formats._rows import (
    Record,
    cost_column,
    flatten,
    number,
    part_of,
    scored_table,
    system_names,
    whole,
)
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks, json_value, read_bytes, zstd_stream

__all__ = ["READERS"]

_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError)
_ZSTD = 93
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""inspect_ai's own numbers for correct, incorrect, partial and no answer, and for common words."""
_STATUS = {"success": "ended", "error": "ended with an error", "cancelled": "was cancelled", "started": "has not ended"}
_SCORE = "score."
_LOOK = 40


@dataclass
class _Log:
    """One log: what it says of itself, and its samples."""

    name: str
    header: Record
    samples: list[Record] = field(default_factory=list)

    @property
    def is_scored(self) -> bool:
        return any(sample.get("scores") for sample in self.samples)

    def value_at(self, *path: str) -> Json:
        value: Json = self.header
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return zipfile.is_zipfile(path)
    return path.suffix == ".json" and has_marks(path, "version", "status", "eval", "task_id")


def _tables(tree: Tree) -> list[RawTable]:
    """One table per log, one row per sample; a score in words (C, I, P, N) becomes its number."""
    paths = [path for path in map(tree.path, tree.files) if tree.given or _is_log(path)]
    logs = []
    for path in paths:
        try:
            logs.append(_eval_log(tree, path) if zipfile.is_zipfile(path) else _json_log(path))
        except DataError as error:
            if len(paths) == 1:
                raise
            tree.skip(path.name, str(error))
    scored = _scored(tree, logs)
    several = len({log.value_at("eval", "task") for log in scored}) > 1
    settings = [_settings(tree, log) for log in scored]
    known = [(str(log.value_at("eval", "model")), str(log.value_at("eval", "task"))) for log in scored]
    systems = system_names([(*names, given) for names, given in zip(known, settings, strict=True)])
    logged = zip(scored, systems, settings, strict=True)
    return [_table(tree, log, several, system, given) for log, system, given in logged]


def _scored(tree: Tree, logs: list[_Log]) -> list[_Log]:
    """Those with scores. One may be there twice, as .eval and .json or before and after scoring: it is counted once."""
    kept: dict[object, _Log] = {}
    for log in sorted(logs, key=lambda other: not other.is_scored):
        known = (log.value_at("eval", "run_id"), log.value_at("eval", "task_id"), log.value_at("eval", "model"))
        if kept.setdefault(known, log) is not log:
            tree.skip(log.name, f"another copy of {kept[known].name}")
    scored = [log for log in kept.values() if log.is_scored]
    if kept and not scored:
        raise DataError(f"no sample of {tree.name} has a score: score the log first (inspect score)")
    for log in kept.values():
        if not log.is_scored:
            tree.skip(log.name, "none of its samples has a score")
    return scored


def _json_log(path: Path) -> _Log:
    try:
        stored = json_value(read_bytes(path))
    except ValueError as error:
        raise DataError(f"{path.name} is not a log of inspect_ai: {error}") from error
    if not isinstance(stored, dict) or not isinstance(stored.get("eval"), dict):
        raise DataError(f"{path.name} is not a log of inspect_ai: it has no part 'eval'")
    samples = stored.pop("samples", None) or []
    return _Log(path.name, stored, [sample for sample in samples if isinstance(sample, dict)])


def _eval_log(tree: Tree, path: Path) -> _Log:
    """The header and the samples' summaries; of a log that has not ended, its journal."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as packed:
            names = packed.namelist()
            begun = "header.json" if "header.json" in names else "_journal/start.json"
            if begun not in names:
                raise DataError(f"{path.name} is not a log of inspect_ai: it has no header")
            header = json_value(_content(path, packed, begun))
            log = _Log(path.name, header if isinstance(header, dict) else {})
            if begun != "header.json":
                log.header["status"] = "started"
            for start in ("summaries.json", "_journal/summaries/", "samples/"):
                parts = [name for name in names if name.startswith(start)]
                if parts:
                    break
            for part in parts:
                log.samples += _samples(tree, path, packed, part)
            if log.value_at("stats", "model_usage") and not any("model_usage" in sample for sample in log.samples):
                members = [name for name in names if name.startswith("samples/")]
                _add_usage(log, [sample for name in members for sample in _samples(tree, path, packed, name)])
    except LevelbestError:
        raise
    except _DAMAGE as error:
        raise DataError(f"{path.name} is not a readable log of inspect_ai: {error}") from error
    return log


def _add_usage(log: _Log, samples: list[Record]) -> None:
    """Summaries before 2025 do not tell the tokens; the samples themselves do."""
    usage = {(sample.get("id"), sample.get("epoch")): sample.get("model_usage") for sample in samples}
    for sample in log.samples:
        sample["model_usage"] = usage.get((sample.get("id"), sample.get("epoch")))


def _samples(tree: Tree, path: Path, packed: zipfile.ZipFile, name: str) -> list[Record]:
    try:
        content = json_value(_content(path, packed, name))
    except _DAMAGE as error:
        tree.skip(f"{path.name}, {name}", f"not read: {error}")
        return []
    listed = content if isinstance(content, list) else [content]
    return [item for item in listed if isinstance(item, dict)]


def _whole(stream: IO[bytes], path: Path) -> bytes:
    return io.BufferedReader(LimitedStream(stream, path.name, expanded_limit(8))).read()


def _content(path: Path, packed: zipfile.ZipFile, name: str) -> bytes:
    """A member's bytes. Newer logs are packed with Zstandard, which this Python's zipfile may not know."""
    info = packed.getinfo(name)
    if info.compress_type != _ZSTD:
        with packed.open(info) as stream:
            return _whole(stream, path)
    with open_file(path) as file:
        file.seek(info.header_offset)
        local = file.read(30)
        name_size, extra_size = struct.unpack("<HH", local[26:30])
        file.seek(name_size + extra_size, 1)
        stored = file.read(info.compress_size)
    content = _whole(zstd_stream(io.BytesIO(stored)), path)
    if zlib.crc32(content) != info.CRC:
        raise ValueError(f"{name} is damaged: its checksum does not match")
    return content


def _settings(tree: Tree, log: _Log) -> Record:
    """What a system was run with."""
    settings: Record = {}
    parts = (
        ("plan", "config", "config"),
        ("eval", "model_generate_config", "config"),
        ("eval", "task_args", "task_args"),
    )
    for part, name, prefix in parts:
        with tree.trying(f"{log.name}, {name}"):
            given = flatten(log.value_at(part, name) or {}, prefix)
            settings |= {key: value for key, value in given.items() if value is not None and ".extra_" not in key}
    solver = log.value_at("eval", "solver")
    return settings | ({"solver": solver} if isinstance(solver, str) else {})


def _table(tree: Tree, log: _Log, several: bool, system: str, settings: Record) -> RawTable:
    task, model = str(log.value_at("eval", "task")), str(log.value_at("eval", "model"))
    worded: set[str] = set()
    rows = [{"model": system, "task": task, **_row(sample, log, settings, worded)} for sample in log.samples]
    users = {name for sample in log.samples for name in part_of(sample, "model_usage")}
    if model in users and len(users) > 1:
        others = ", ".join(sorted(users - {model}))
        tree.skip(log.name, f"tokens of {others}: those of {model} alone are counted")
    missing = whole(log.value_at("results", "total_samples")) - len(rows)
    status = str(log.value_at("status"))
    if status != "success" or missing > 0:
        count = f"; {missing} of its samples never ran" if missing > 0 else ""
        tree.skip(log.name, f"the evaluation {_STATUS.get(status, status)}{count}")
    scorers = list(dict.fromkeys(name for row in rows for name in row if name.startswith(_SCORE)))
    cost = cost_column(rows, "working_time")
    roles = {"order": "epoch"} | ({"cost": cost} if any(row.get(cost) is not None for row in rows) else {})
    # Correct is better than incorrect; of a scorer that gives numbers only accuracies say which way they point.
    worded |= {f"{_SCORE}{name}" for name in _accuracies(log)}
    facts = {f"direction:{name}": "max" for name in scorers if name in worded}
    version = log.value_at("eval", "packages", "inspect_ai")
    if isinstance(version, str):
        facts["written by"] = f"inspect_ai {version.partition('+')[0]}"
    numbers, about = ["total_time", "working_time"], "inspect_ai log"
    return scored_table(
        log.name, rows, about, scorers, several=several, roles=roles, settings=settings, numbers=numbers, facts=facts
    )


def _accuracies(log: _Log) -> list[str]:
    """The scorers whose results are accuracies."""
    listed = log.value_at("results", "scores")
    results = [result for result in listed if isinstance(result, dict)] if isinstance(listed, list) else []
    return [str(result.get("name")) for result in results if "accuracy" in part_of(result, "metrics")]


def _row(sample: Record, log: _Log, settings: Record, worded: set[str]) -> Record:
    scores = _scores(sample.get("scores"), worded)
    failed = sample.get("error") is not None or not scores
    tokens = _tokens(part_of(sample, "model_usage"), str(log.value_at("eval", "model")))
    return {
        "problem": f"{log.value_at('eval', 'task')} #{sample.get('id')}",
        "epoch": whole(sample.get("epoch"), 1),
        "status": "failed" if failed else "ok",
        **settings,
        **scores,
        "total_time": number(sample.get("total_time")),
        "working_time": number(sample.get("working_time")),
        **tokens,
    }


def _tokens(usage: Record, model: str) -> dict[str, float]:
    """Tokens and dollars of the evaluated model, and not of a grader; where it is not among them, of all."""
    total: Counter[str] = Counter()
    spent: list[float] = []
    for counts in [part_of(usage, name) for name in usage if name == model or model not in usage]:
        given, produced, both = (whole(counts.get(f"{kind}_tokens")) for kind in ("input", "output", "total"))
        cached, stored = (whole(counts.get(f"input_tokens_cache_{kind}")) for kind in ("read", "write"))
        # Some providers count among the input what is read from a cache: the total then says so.
        fresh = given - cached if both == given + produced else given + stored
        total.update(input_tokens=fresh, cached_tokens=cached, output_tokens=produced, total_tokens=both)
        cost = number(counts.get("total_cost"))
        spent += [] if cost is None else [cost]
    return {**total, "cost_usd": sum(spent)} if spent else {**total}


def _scores(stored: object, worded: set[str]) -> dict[str, float]:
    """Scorer -> number; a scorer with several values gives one column for each. ``worded``: those given in words."""
    scores: dict[str, float] = {}
    for scorer, score in stored.items() if isinstance(stored, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, written in parts:
            plain = _WORDS.get(written, _WORDS.get(written.lower())) if isinstance(written, str) else None
            figure = number(written) if plain is None else plain
            name = f"{_SCORE}{scorer}{f'.{part}' if part else ''}"
            if plain is not None:
                worded.add(name)
            if figure is not None:
                scores[name] = figure
    return scores


READERS = (
    tool(
        "inspect",
        "inspect_ai log (.eval or .json), or a folder of them",
        _tables,
        "log of inspect_ai",
        files=lambda name: name.endswith((".eval", ".json")),
        file=_is_log,
        look=_LOOK,
    ),
)
