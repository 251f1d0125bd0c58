"""Results of EvalPlus and BigCodeBench (eval_results.json): samples of each problem, passed or not."""

from __future__ import annotations

import re
from pathlib import Path

from levelbest.readers.formats._rows import Record, rows_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import has_marks, head_of, kind_of, plain_name

__all__ = ["READERS"]

_MARKS = re.compile(rb'"(base_status|plus_status|status)"\s*:')


def _is_results(path: Path) -> bool:
    named = kind_of(path) == "json" and "eval_results" in path.name
    return named and has_marks(path, "eval", "task_id") and _MARKS.search(head_of(path)) is not None


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per sample; a sample passes the extended tests only if it passes the basic ones."""
    rows: list[Record] = []
    by_task: Record = {}
    with tree.trying(tree.name):
        by_task = dict(tree.object_in(tree.name)["eval"])
    for task, samples in by_task.items():
        for place, sample in enumerate(samples if isinstance(samples, list) else [samples]):
            if not isinstance(sample, dict):
                tree.skip(f"{tree.name}, {task}, sample {place}", "it is not a sample")
                continue
            row: Record = {"problem": task, "sample": place}
            base = sample.get("base_status", sample.get("status"))
            row["passed"] = float(base == "pass")
            if "plus_status" in sample and sample["plus_status"] is not None:
                row["passed_plus"] = float(base == "pass" and sample["plus_status"] == "pass")
            rows.append(row)
    if not rows:
        return []
    system = re.sub(r"[-_.]?eval_results$", "", plain_name(Path(tree.name)).removesuffix(".json")) or tree.name
    plus = any("passed_plus" in row for row in rows)
    roles = {"selection": "passed_plus" if plus else "passed", "group": "problem", "order": "sample"}
    facts = {"bounds:low": "0", "bounds:high": "1"}
    return [rows_table(system, rows, roles, "EvalPlus results", direction="max", facts=facts)]


_ABOUT = "EvalPlus or BigCodeBench results (*eval_results.json)"
READERS = (tool("evalplus", _ABOUT, _tables, "sample of EvalPlus", file=_is_results),)
