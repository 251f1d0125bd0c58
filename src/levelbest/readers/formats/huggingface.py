"""Evaluation results on Hugging Face: ``model-index`` in a model card, ``.eval_results/*.yaml``, and both as JSON.

Each is one score of a model on a task, as on a leaderboard, without repeated runs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, load_yaml, number, rows_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.steps.names import direction_of
from levelbest.readers.tables.files import Json, has_marks, head_of, json_value

__all__ = ["READERS"]

_FRONT = re.compile(r"\A\ufeff?---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(rb'"dataset"\s*:\s*\{[^}]*"task_id"\s*:')
_FEW = 20
"""Model cards of a folder that are looked into, to tell whether it is of this format."""


def _in_eval_results(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix in (".yaml", ".yml") and path.parent.name == ".eval_results"


def _is_named(name: str) -> bool:
    return _in_eval_results(name) or PurePosixPath(name).name == "README.md"


def _holds_results(path: Path) -> bool:
    head = head_of(path)
    if path.suffix == ".md":
        return head.lstrip(b"\xef\xbb\xbf").startswith(b"---") and b"\nmodel-index:" in head
    if path.suffix == ".json":
        return has_marks(path, "model-index") or _ENTRY.search(head) is not None
    return _in_eval_results(path.resolve().as_posix())


def _tables(tree: Tree) -> list[RawTable]:
    """A table for each task and metric, with a family for each model."""
    together: dict[tuple[str, str], list[Record]] = {}
    for name in tree.files:
        if tree.given or _is_named(f"{tree.place.name}/{name}"):
            with tree.trying(name):
                for row in _results(tree, name):
                    together.setdefault((row["task"], row["metric"]), []).append(row)
    return [_table(task, metric, records, alone=len(together) == 1) for (task, metric), records in together.items()]


def _results(tree: Tree, name: str) -> list[Record]:
    folder = (tree.place / name).parent  # a model's repository, where nothing else names the model
    model = folder.parent.name if folder.name == ".eval_results" else folder.name
    text = tree.text(name)
    if name.endswith(".md"):
        front = _FRONT.match(text)
        document = load_yaml(front[1]) if front else None
        if not isinstance(document, dict) or "model-index" not in document:
            return []  # a card without results
    else:
        document = json_value(text) if name.endswith(".json") else load_yaml(text)
    if isinstance(document, dict) and "model-index" in document:
        return [row for index in document["model-index"] for row in _indexed(tree, index, model, name)]
    if not isinstance(document, list):
        raise ValueError("it is not a list of results")
    entries = [_entry(tree, entry, model, f"{name}, {place}") for place, entry in enumerate(document, 1)]
    return [row for row in entries if row is not None]


def _indexed(tree: Tree, model_index: Record, model: str, name: str) -> list[Record]:
    """The rows of one model of a ``model-index``: tasks on data sets, with several metrics each."""
    rows = []
    for result in model_index.get("results") or []:
        data = result.get("dataset") or {}
        parts = [data.get("name") or data.get("type"), data.get("config"), data.get("split")]
        task = " ".join(str(part) for part in parts if part) or str((result.get("task") or {}).get("type"))
        for metric in result.get("metrics") or []:
            kind = str(metric.get("type") or metric.get("name"))
            value = number(metric.get("value"))
            if value is None:
                tree.skip(f"{name}, {task}, {kind}", f"no single number: {metric.get('value')!r}"[:200])
                continue
            label = str(model_index.get("name") or model)
            rows.append({"model": label, "task": task, "metric": kind, "value": value})
    return rows


def _entry(tree: Tree, entry: Json, model: str, place: str) -> Record | None:
    """A row of ``.eval_results``: one value on a task of a benchmark, whose metric the benchmark defines."""
    entry = entry.get("data", entry) if isinstance(entry, dict) else {}
    data, value = entry.get("dataset"), number(entry.get("value"))
    if not isinstance(data, dict) or value is None:
        tree.skip(place, "it is not a result: it has no dataset with a number as value")
        return None
    task = f"{data.get('id')} {data.get('task_id')}"
    return {"model": str(entry.get("model") or model), "task": task, "metric": "value", "value": value}


def _table(task: str, metric: str, rows: list[Record], *, alone: bool) -> RawTable:
    label = task if metric == "value" else f"{task} / {metric}"
    rows = [{"system": row["model"] if alone else f"{row['model']} / {label}", **row} for row in rows]
    roles, facts = {"family": "system", "selection": "value"}, {"name:selection": metric}
    about, way = "Hugging Face evaluation results", direction_of(metric)[0]
    return rows_table(label, rows, roles, about, direction=way, facts=facts)


_TOOL = tool(
    "huggingface",
    "Hugging Face evaluation results (model card, .eval_results)",
    _tables,
    "evaluation result of Hugging Face",
    files=lambda name: name.endswith((".yaml", ".yml", ".md")),
    known=_is_named,
    file=_holds_results,
    look=_FEW,
)
READERS = (replace(_TOOL, recognises=lambda path: path.resolve().name == ".eval_results" or _TOOL.recognises(path)),)
