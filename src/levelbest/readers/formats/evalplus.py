"""Results of EvalPlus and BigCodeBench (eval_results.json): samples of each problem, passed or not."""

from __future__ import annotations

import re
from pathlib import Path

from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, rows_table
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import has_marks, head_of, json_value, kind_of, plain_name, read_bytes
from levelbest.trials import Skipped

__all__ = ["READERS"]

_MARKS = re.compile(rb'"(base_status|plus_status|status)"\s*:')


def _recognises(path: Path) -> bool:
    named = kind_of(path) == "json" and "eval_results" in path.name
    return named and has_marks(path, "eval", "task_id") and _MARKS.search(head_of(path)) is not None


def _read(path: Path, **_: object) -> list[RawTable]:
    """One table, one row per sample; a sample passes the extended tests only if it passes the basic ones."""
    try:
        by_task = json_value(read_bytes(path).decode("utf-8", errors="replace"))["eval"]
        if not isinstance(by_task, dict):
            raise ValueError("its samples are not by problem")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path.name} is no result of EvalPlus: {error}") from None
    rows: list[Record] = []
    skipped: list[Skipped] = []
    for task, samples in by_task.items():
        for place, sample in enumerate(samples if isinstance(samples, list) else [samples]):
            if not isinstance(sample, dict):
                skipped.append(Skipped(f"{path.name}, {task}, sample {place}", "it is not a sample"))
                continue
            row: Record = {"problem": task, "sample": place}
            base = sample.get("base_status", sample.get("status"))
            row["passed"] = float(base == "pass")
            if "plus_status" in sample and sample["plus_status"] is not None:
                row["passed_plus"] = float(base == "pass" and sample["plus_status"] == "pass")
            rows.append(row)
    if not rows:
        raise DataError(f"{path.name} holds no sample")
    system = re.sub(r"[-_.]?eval_results$", "", plain_name(path).removesuffix(".json")) or path.name
    plus = any("passed_plus" in row for row in rows)
    roles = {"selection": "passed_plus" if plus else "passed", "group": "problem", "order": "sample"}
    facts = {"bounds:low": "0", "bounds:high": "1"}
    return [rows_table(system, rows, roles, "EvalPlus results", direction="max", facts=facts, skipped=skipped)]


READERS = (Reader("evalplus", "EvalPlus or BigCodeBench results (*eval_results.json)", _recognises, _read),)
