"""promptfoo: outputs of ``promptfoo eval`` (.json or .jsonl), each result one try at a test."""

from __future__ import annotations

import json
from pathlib import Path

from levelbest.readers.formats._rows import Record, number, part_of, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks, head_of, json_value

__all__ = ["READERS"]

_ERROR = 2
"""promptfoo's ``failureReason`` of a call that failed, beside 0 (it passed) and 1 (an assertion did not hold)."""
_LOOK = 20
_LABEL = 60


def _is_output(path: Path) -> bool:
    if path.suffix not in (".json", ".jsonl"):
        return False
    head = head_of(path)
    return has_marks(path, "provider", "success") and (b'"promptIdx"' in head or b'"gradingResult"' in head)


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per result; the family is the provider, with the prompt where there are several."""
    rows: list[Record] = []
    for name in tree.of_kind(_is_output, "output of promptfoo"):
        listed: list[Record] = []
        for place, result in enumerate(_results(tree, name), 1):
            with tree.trying(f"{name}, result {place}"):
                listed.append(_row(result))
        rows += _by_column(listed)
    if not rows:
        return []
    prompts = len({row["prompt"] for row in rows}) > 1
    labels: dict[str, str] = {}
    tries: dict[tuple[str, str], int] = {}
    for row in rows:
        test, prompt = row.pop("test"), row.pop("prompt")
        row["model"] = f"{row['model']} / {prompt}" if prompts else row["model"]
        if test not in labels:
            label = row["about"][:_LABEL]
            labels[test] = label if label and label not in labels.values() else f"{label} (test {len(labels) + 1})"
        row["problem"] = labels[test]
        row["order"] = tries[row["model"], test] = tries.get((row["model"], test), -1) + 1
        del row["about"]
    same = all(row["score"] == row["success"] for row in rows)
    facts = {"direction:success": "max", "direction:score": "max"}
    if same:
        rows = [{key: value for key, value in row.items() if key != "score"} for row in rows]
    scores = ["success"] if same else ["success", "score"]
    return [scored_table(tree.name, rows, "promptfoo output", scores, several=False, facts=facts)]


def _by_column(rows: list[Record]) -> list[Record]:
    """The rows with a number behind the provider where a prompt has several columns of one: other settings of it."""
    columns: dict[tuple[str, str], dict[Json, None]] = {}
    for row in rows:
        columns.setdefault((row["model"], row["prompt"]), {})[row["column"]] = None
    for row in rows:
        several = list(columns[row["model"], row["prompt"]])
        place = several.index(row.pop("column"))
        row["model"] += f" ({place + 1})" if len(several) > 1 else ""
    return rows


def _results(tree: Tree, name: str) -> list[Json]:
    """The results, which stand below ``results`` twice in outputs of today, or one in each line."""
    if name.endswith(".jsonl"):
        return [result for _, result in tree.objects(name, "result of promptfoo", "success")]
    value: Json = None
    with tree.trying(name):
        value = json_value(tree.text(name))
    while isinstance(value, dict):
        value = value.get("results")
    return value if isinstance(value, list) else []


def _row(result: Json) -> Record:
    test, about = _test(result)
    why = result.get("failureReason")
    failed = why == _ERROR or (why is None and bool(result.get("error")))
    passed = None if failed or not isinstance(result["success"], bool) else float(result["success"])
    row: Record = {
        "model": _label(result["provider"], "label", "id"),
        "task": "promptfoo",
        "prompt": _label(result.get("prompt"), "label", "raw"),
        "column": result.get("promptIdx"),
        "test": test,
        "about": about,
        "status": "ok" if passed is not None else "failed",
        "success": passed,
        "score": None if passed is None else number(result.get("score", passed)),
    }
    latency, cost = number(result.get("latencyMs")), number(result.get("cost"))
    row |= {} if latency is None else {"seconds": latency / 1000}
    used = part_of(result, "tokenUsage") or part_of(part_of(result, "response"), "tokenUsage")
    tokens = {"input_tokens": number(used.get("prompt")), "output_tokens": number(used.get("completion"))}
    row |= {name: count for name, count in tokens.items() if count is not None}
    return row | ({} if cost is None else {"cost_usd": cost})


def _label(named: Json, *keys: str) -> str:
    """The name of a provider or prompt, which is an object with some of these keys, or the name itself."""
    given = next((named[key] for key in keys if named.get(key)), "") if isinstance(named, dict) else named
    return str(given or "")


def _test(result: Json) -> tuple[str, str]:
    """What tells a test apart from others, its values and description, and a label for it."""
    case = part_of(result, "testCase")
    values, described = case.get("vars") or result.get("vars"), str(case.get("description") or "")
    if not values and not described:
        return f"test {result.get('testIdx')}", ""
    first = next((str(value) for value in values.values()), "") if isinstance(values, dict) else ""
    return json.dumps([described, values], sort_keys=True, default=str), described or first


READERS = (
    tool(
        "promptfoo",
        "promptfoo outputs (.json or .jsonl), or a folder of them",
        _tables,
        "result of promptfoo",
        files=lambda name: name.endswith((".json", ".jsonl")),
        file=_is_output,
        look=_LOOK,
    ),
)
