"""Every Eval Ever: results of a model ({uuid}.json) and of single samples ({uuid}.jsonl), in that project's schema.

Samples are read if there are any: each sample is a problem, and further records of it are further samples. A result
without samples is one score of a model on an evaluation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from levelbest.readers.formats._rows import Record, number, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import has_marks

__all__ = ["READERS"]

_AGGREGATE = ("schema_version", "evaluation_id", "model_info", "evaluation_results")
_SAMPLE = ("schema_version", "evaluation_id", "model_id", "sample_id", "evaluation")
_FORMAT = "Every Eval Ever"
_OBSERVED = "not known: the lowest and the highest score observed"
"""What levelbest 0.1 wrote of bounds, which the schema asks for, where there were none."""
_FEW = 5
"""Files of a folder that are looked into, to tell whether it is of this format."""


@dataclass
class _Contents:
    """What the files hold: results and samples, and what is said of each metric."""

    results: list[Record] = field(default_factory=list)
    samples: list[Record] = field(default_factory=list)
    metrics: dict[tuple[str, str], Record] = field(default_factory=dict)
    """(evaluation id, evaluation name) -> its metric_config."""


def _is_file(path: Path) -> bool:
    marks = {".json": _AGGREGATE, ".jsonl": _SAMPLE}.get(path.suffix)
    return marks is not None and has_marks(path, *marks)


def _other(path: Path) -> list[str]:
    other = path.with_suffix(".json" if path.suffix == ".jsonl" else ".jsonl")
    return [other.name] if _is_file(other) else []


def _tables(tree: Tree) -> list[RawTable]:
    """A table for each evaluation; a family for each model, or for each model and evaluation of several."""
    contents = _Contents()
    for name in tree.files:
        (_take_samples if name.endswith(".jsonl") else _take_results)(tree, name, contents)
    sampled = {(row["evaluation_id"], row["task"]) for row in contents.samples}
    alone = [row for row in contents.results if (row["evaluation_id"], row["task"]) not in sampled]
    rows = contents.samples or alone
    if contents.samples and alone:
        tree.skip(tree.name, f"{len(alone)} results without samples are left out beside the samples of others")
    by_task: dict[str, list[Record]] = {}
    for row in rows:
        by_task.setdefault(row["task"], []).append(row)
    return [_table(task, records, contents, several=len(by_task) > 1) for task, records in by_task.items()]


def _take_results(tree: Tree, name: str, contents: _Contents) -> None:
    with tree.trying(name):
        document = tree.object_in(name)
        missing = [mark for mark in _AGGREGATE if mark not in document]
        if missing:
            raise ValueError(f"it has no {missing[0]!r}")
        model, results = document["model_info"], document["evaluation_results"]
        for place, result in enumerate(results, 1):
            key = (str(document["evaluation_id"]), str(result["evaluation_name"]))
            config = result.get("metric_config")
            contents.metrics[key] = config if isinstance(config, dict) else {}
            score = number(result["score_details"].get("score"))
            row = {"evaluation_id": key[0], "task": key[1], "model": str(model.get("id") or model.get("name"))}
            if score is None:
                tree.skip(f"{name}, result {place}", "it has no score")
            else:
                contents.results.append({**row, "score": score, **_uncertainty(result)})


def _uncertainty(result: Record) -> Record:
    """The standard error and the number of samples that a result gives."""
    doubt = result["score_details"].get("uncertainty")
    if not isinstance(doubt, dict):
        return {}
    error = doubt.get("standard_error")
    facts = {"standard_error": number(error.get("value") if isinstance(error, dict) else error)}
    facts["num_samples"] = number(doubt.get("num_samples"))
    return {key: value for key, value in facts.items() if value is not None}


def _take_samples(tree: Tree, name: str, contents: _Contents) -> None:
    tries: Counter[tuple[str, str, str]] = Counter()
    for place, sample in tree.objects(name, "sample of an evaluation", *_SAMPLE):
        with tree.trying(f"{name}, line {place}"):
            row = _sample_row(sample)
            key = (row["evaluation_id"], row["task"], row["problem"])
            contents.samples.append({**row, "order": tries[key]})
            tries[key] += 1


def _sample_row(sample: Record) -> Record:
    judged = sample["evaluation"]
    score, right = number(judged.get("score")), judged.get("is_correct")
    row: Record = {
        "evaluation_id": str(sample["evaluation_id"]),
        "task": str(sample["evaluation_name"]),
        "model": str(sample["model_id"]),
        "problem": str(sample["sample_id"]),
        "status": "ok" if score is not None and not sample.get("error") else "failed",
        "score": score,
    }
    if isinstance(right, bool):
        row["is_correct"] = right
    clock, tokens = sample.get("performance"), sample.get("token_usage")
    if isinstance(clock, dict) and (milliseconds := number(clock.get("latency_ms"))) is not None:
        row["seconds"] = milliseconds / 1000
    if isinstance(tokens, dict) and (total := number(tokens.get("total_tokens"))) is not None:
        row["total_tokens"] = total
    return row


def _table(task: str, rows: list[Record], contents: _Contents, *, several: bool) -> RawTable:
    metrics = [contents.metrics.get((row["evaluation_id"], task), {}) for row in rows]
    facts = {}
    for side, bound in (("min", "low"), ("max", "high")):
        limits = {None if _observed(metric) else number(metric.get(f"{side}_score")) for metric in metrics}
        if len(limits) == 1 and (limit := limits.pop()) is not None:
            facts[f"bounds:{bound}"] = str(limit)
    numbers, way = ["score", "total_tokens"], _direction(metrics, rows)
    return scored_table(task, rows, _FORMAT, ["score"], several=several, numbers=numbers, direction=way, facts=facts)


def _observed(metric: Record) -> bool:
    details = metric.get("additional_details")
    return isinstance(details, dict) and details.get("bounds") == _OBSERVED


def _direction(metrics: list[Record], rows: list[Record]) -> str | None:
    """As the results say; a score that is 1 for the right answers and 0 for the others tells it by itself."""
    ways = [metric.get("lower_is_better") for metric in metrics]
    if all(isinstance(way, bool) for way in ways) and len(set(ways)) == 1:
        return "min" if ways[0] else "max"
    judged = [(row["score"], row.get("is_correct")) for row in rows if row["score"] is not None]
    return "max" if judged and all(right is not None and score == float(right) for score, right in judged) else None


def _is_named(name: str) -> bool:
    return name.endswith((".json", ".jsonl"))


_ABOUT, _WHAT = "Every Eval Ever results (.json) and samples (.jsonl)", "result of Every Eval Ever"
READERS = (tool("every-eval-ever", _ABOUT, _tables, _WHAT, files=_is_named, file=_is_file, beside=_other, look=_FEW),)
