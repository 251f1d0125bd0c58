"""inspect_ai's logs, .eval and .json: each sample of each problem is a trial, its problem the group."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.readers.formats._rows import Record, flatten, number, rows_table, whole
from levelbest.readers.formats._tree import known_by, open_tree
from levelbest.readers.limits import Counted, expanded_limit
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import has_marks, json_value
from levelbest.trials import Skipped

__all__ = ["READERS"]

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)
_ZSTD = 93
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""inspect_ai's own numbers for correct, incorrect, partial and no answer, and for common words."""
_STATUS = {"success": "ended", "error": "ended with an error", "cancelled": "was cancelled", "started": "has not ended"}
_SCORE = "score."


@dataclass
class _Log:
    """One log: what it says of itself, and its samples."""

    name: str
    header: Record
    samples: list[Record] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def told(self, *path: str) -> Any:
        value: Any = self.header
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return zipfile.is_zipfile(path)
    return path.suffix == ".json" and has_marks(path, "version", "status", "eval", "task_id")


def _read(path: Path, **_: object) -> list[RawTable]:
    """One table per log, one row per sample; a score in words (C, I, P, N) becomes its number."""
    if path.is_dir():
        tree = open_tree(path, lambda name: name.endswith((".eval", ".json")))
        paths = [file for file in tree.files.values() if isinstance(file, Path) and _is_log(file)]
    else:
        paths = [path]
    logs, lost = [], []
    for file in paths:
        try:
            logs.append(_eval_log(file) if zipfile.is_zipfile(file) else _json_log(file))
        except DataError as error:
            if len(paths) == 1:
                raise
            lost.append(Skipped(file.name, str(error)))
    logs, again = _without_copies(logs)
    scored = [log for log in logs if any(sample.get("scores") for sample in log.samples)]
    if not scored:
        what = f"no sample of {path.name} has a score: score the log first (inspect score)" if logs else None
        raise DataError(what or f"{path.name} holds no log of inspect_ai{f': {lost[0].why}' if lost else ''}")
    tasks = {log.told("eval", "task") for log in scored}
    tables = [_table(log, several_tasks=len(tasks) > 1) for log in scored]
    tables[0].skipped += [*lost, *again]
    tables[0].skipped += [Skipped(log.name, "none of its samples has a score") for log in logs if log not in scored]
    return tables


def _without_copies(logs: list[_Log]) -> tuple[list[_Log], list[Skipped]]:
    """One log may be there twice, as .eval and .json or before and after scoring: its samples are counted once."""
    kept: dict[object, _Log] = {}
    copies = []
    for log in sorted(logs, key=lambda other: not any(sample.get("scores") for sample in other.samples)):
        known = (log.told("eval", "run_id"), log.told("eval", "task_id"), log.told("eval", "model"))
        if kept.setdefault(known, log) is not log:
            copies.append(Skipped(log.name, f"another copy of {kept[known].name}"))
    return list(kept.values()), copies


def _json_log(path: Path) -> _Log:
    try:
        stored = json_value(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise DataError(f"{path.name} is not a log of inspect_ai: {error}") from error
    if not isinstance(stored, dict) or not isinstance(stored.get("eval"), dict):
        raise DataError(f"{path.name} is not a log of inspect_ai: it has no part 'eval'")
    samples = stored.pop("samples", None) or []
    return _Log(path.name, stored, [sample for sample in samples if isinstance(sample, dict)])


def _eval_log(path: Path) -> _Log:
    """The header and the samples' summaries; of a log that has not ended, its journal."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
            begun = "header.json" if "header.json" in names else "_journal/start.json"
            if begun not in names:
                raise DataError(f"{path.name} is not a log of inspect_ai: it has no header")
            header = json_value(_content(path, packed, begun))
            log = _Log(path.name, header if isinstance(header, dict) else {})
            if begun != "header.json":
                log.header["status"] = "started"
            for part in _sample_parts(names):
                log.samples += _samples(path, packed, part, log.skipped)
    except _DAMAGE as error:
        if isinstance(error, DataError | InputError):
            raise
        raise DataError(f"{path.name} is not a readable log of inspect_ai: {error}") from error
    return log


def _sample_parts(names: list[str]) -> Iterator[str]:
    if "summaries.json" in names:
        yield "summaries.json"
        return
    journal = [name for name in names if name.startswith("_journal/summaries/")]
    yield from journal or [name for name in names if name.startswith("samples/")]


def _samples(path: Path, packed: zipfile.ZipFile, name: str, skipped: list[Skipped]) -> list[dict[str, object]]:
    try:
        content = json_value(_content(path, packed, name))
    except _DAMAGE as error:
        skipped.append(Skipped(f"{path.name}, {name}", f"not read: {error}"))
        return []
    listed = content if isinstance(content, list) else [content]
    return [item for item in listed if isinstance(item, dict)]


def _whole(stream: Any, path: Path) -> bytes:
    return io.BufferedReader(Counted(stream, path.name, expanded_limit(8))).read()


def _content(path: Path, packed: zipfile.ZipFile, name: str) -> bytes:
    """A member's bytes. Newer logs are packed with Zstandard, which this Python's zipfile may not know."""
    info = packed.getinfo(name)
    if info.compress_type != _ZSTD:
        with packed.open(info) as stream:
            return _whole(stream, path)
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstandard", "inspect") from None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        local = file.read(30)
        name_size, extra_size = struct.unpack("<HH", local[26:30])
        file.seek(name_size + extra_size, 1)
        stored = file.read(info.compress_size)
    try:
        content = _whole(zstandard.ZstdDecompressor().stream_reader(stored), path)
    except zstandard.ZstdError as error:
        raise ValueError(f"{name}: {error}") from error
    if zlib.crc32(content) != info.CRC:
        raise ValueError(f"{name} is damaged: its checksum is another")
    return content


def _table(log: _Log, several_tasks: bool) -> RawTable:
    task, model = str(log.told("eval", "task")), str(log.told("eval", "model"))
    rows: list[Record] = []
    skipped = list(log.skipped)
    settings = flatten(log.told("plan", "config") or {}, "config")
    settings |= flatten(log.told("eval", "task_args") or {}, "task_args")
    worded: set[str] = set()
    for sample in log.samples:
        scores = _scores(sample.get("scores"), worded)
        failed = sample.get("error") is not None or not scores
        usage = [counts for counts in (sample.get("model_usage") or {}).values() if isinstance(counts, dict)]
        rows.append(
            {
                "system": f"{model} / {task}" if several_tasks else model,
                "model": model,
                "task": task,
                "problem": f"{task} #{sample.get('id')}",
                "epoch": whole(sample.get("epoch"), 1),
                "status": "failed" if failed else "ok",
                **settings,
                **scores,
                "total_time": number(sample.get("total_time")),
                "working_time": number(sample.get("working_time")),
                **{
                    f"{kind}_tokens": sum(whole(counts.get(f"{kind}_tokens")) for counts in usage)
                    for kind in ("input", "output", "total")
                    if usage
                },
            }
        )
    missing = whole(log.told("results", "total_samples")) - len(rows)
    status = str(log.told("status"))
    if status != "success" or missing > 0:
        count = f"; {missing} of its samples never ran" if missing > 0 else ""
        skipped.append(Skipped(log.name, f"the evaluation {_STATUS.get(status, status)}{count}"))
    scorers = list(dict.fromkeys(name for row in rows for name in row if name.startswith(_SCORE)))
    roles = {"family": "system", "group": "problem", "order": "epoch", "status": "status"}
    if any(row["working_time"] is not None for row in rows):
        roles["cost"] = "working_time"
    if len(scorers) == 1:
        roles["selection"] = scorers[0]
    # Correct is better than incorrect; of a scorer that gives numbers nothing says which way they point.
    facts = {f"direction:{name}": "max" for name in scorers if name in worded}
    version = log.told("eval", "packages", "inspect_ai")
    if isinstance(version, str):
        facts["written by"] = f"inspect_ai {version.partition('+')[0]}"
    return rows_table(
        log.name,
        rows,
        roles,
        "inspect_ai log",
        settings=settings,
        numbers=["total_time", "working_time"],
        direction="max" if len(scorers) == 1 and scorers[0] in worded else None,
        facts=facts,
        skipped=skipped,
    )


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


_recognises = known_by(lambda name: name.endswith(".eval"), _is_log)
READERS = (Reader("inspect", "inspect_ai log (.eval or .json), or a folder of them", _recognises, _read),)
