"""lm-evaluation-harness: its sample files (``--log_samples``), and its results files where there are no samples.

In sample files each document is a problem, and each file has one sample of it. A results file has one score of a model
on each task. Scores are named as in the harness's own table, metric and filter: ``acc,none``,
``exact_match,strict-match``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from levelbest.cautions import Caution
from levelbest.readers.formats._rows import Record, number, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.steps.names import direction_of
from levelbest.readers.tables.files import has_marks, head_of

__all__ = ["READERS"]

_NAMED = re.compile(r"samples_(?P<task>.+?)(?:_(?P<moment>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl?")
_MARKS = ("doc_id", "target", "resps", "filtered_resps")
_NOT_METRICS = {*_MARKS, "doc", "arguments", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash", "task_name"}
_NOT_METRICS |= {"idx"}
_ERROR = re.compile(rb'"\w+_stderr(,[^"]+)?"\s*:')
_FEW = 20
"""Files of a folder that are looked into, to tell whether they are results."""


@dataclass
class _File:
    """One sample file, and what the results file beside it says."""

    name: str
    task: str
    moment: str
    results: Record
    model: str
    rows: dict[str, Record] = field(default_factory=dict)
    """Document -> scores."""


def _model(results: Record, otherwise: str) -> str:
    """As the results say; a model that was loaded from a folder is named by its path, whose last part is its name."""
    name = str(results.get("model_name") or _old_name(results) or otherwise)
    return name.rstrip("/").rsplit("/", 1)[-1] if name.startswith(("/", "~", ".")) else name


def _old_name(results: Record) -> str | None:
    """As results before version 0.4 say it: ``hf-causal`` with ``pretrained=org/name,revision=main``."""
    config = results.get("config")
    if not isinstance(config, dict):
        return None
    given = re.search(r"(?:^|,)(?:pretrained|model|engine)=([^,]+)", str(config.get("model_args") or ""))
    return given[1] if given else str(config.get("model") or "") or None


def _filtered(metric: str) -> str:
    """A metric with its filter, which results before version 0.4 do not name."""
    return metric if "," in metric else f"{metric},none"


def _seed(results: Record) -> float | None:
    config = results.get("config")
    return number(config.get("random_seed")) if isinstance(config, dict) else None


def _directions(results: Record, task: str, metrics: Iterable[str]) -> dict[str, str]:
    """Which way each metric of a task points, as facts."""
    higher = results.get("higher_is_better")
    mine = higher.get(task) if isinstance(higher, dict) else None
    ways = {name: mine.get(name.rpartition(",")[0]) for name in metrics} if isinstance(mine, dict) else {}
    return {f"direction:{name}": "max" if way else "min" for name, way in ways.items() if isinstance(way, bool)}


def _metrics(rows: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row if "," in name))


def _is_samples(name: str) -> bool:
    return _NAMED.fullmatch(PurePosixPath(name).name) is not None


def _has_samples(path: Path) -> bool:
    # The line may be longer than what was read: its keys come in this order.
    first = head_of(path).split(b"\n", 1)[0] if path.suffix in (".jsonl", ".json") else b""
    return all(f'"{mark}"'.encode() in first for mark in _MARKS)


def _sample_tables(tree: Tree) -> list[RawTable]:
    """One table per model and task, one row per document and file."""
    together: dict[tuple[str, str], list[_File]] = {}
    for name in [tree.given] if tree.given else filter(_is_samples, tree.files):
        file = _samples(tree, name)
        if file.rows:
            together.setdefault((file.model, file.task), []).append(file)
    several = len({task for _, task in together}) > 1
    return [_sample_table(files, several) for files in together.values()]


def _samples(tree: Tree, name: str) -> _File:
    path = PurePosixPath(name)
    named = _NAMED.fullmatch(path.name)
    moment = (named and named["moment"]) or ""
    reports = [
        other
        for other in tree.files
        if PurePosixPath(other).parent == path.parent
        and PurePosixPath(other).name.startswith("results")
        and (not moment or moment in other or other.endswith("results.json"))
    ]
    results = tree.document(reports[-1]) if reports else {}
    model = _model(results, path.parent.name or tree.place.name)
    file = _File(name, named["task"] if named else path.stem, moment, results, model)
    left_out: Counter[str] = Counter()
    for place, sample in tree.objects(name, "sample: it has no doc_id", "doc_id"):
        row = file.rows.setdefault(str(sample["doc_id"]), {})
        scores = _scores(sample, left_out)
        if scores.keys() & row.keys():
            tree.skip(f"{name}, line {place}", f"document {sample['doc_id']} occurred before")
        row |= {key: value for key, value in scores.items() if key not in row}
    for metric, count in left_out.items():
        tree.skip(name, f"{metric!r} is not a single number in {count} samples")
    return file


def _scores(sample: Record, left_out: Counter[str]) -> dict[str, float]:
    listed = sample.get("metrics")
    metrics = listed if isinstance(listed, list) else [key for key in sample if key not in _NOT_METRICS]
    scores: dict[str, float] = {}
    for metric in map(str, metrics):
        value = number(sample.get(metric))
        if value is not None:
            scores[f"{metric},{sample.get('filter', 'none')}"] = value
        elif sample.get(metric) is not None:  # e.g. a perplexity, whose parts only add up over all documents
            left_out[metric] += 1
    return scores


def _sample_table(files: list[_File], several: bool) -> RawTable:
    rows: list[Record] = []
    first = files[0]
    for order, file in enumerate(sorted(files, key=lambda other: (other.moment, other.name))):
        common = {"model": file.model, "task": file.task, "order": order}
        common |= {} if _seed(first.results) is None else {"seed": _seed(file.results)}
        for document, scores in file.rows.items():
            status = "ok" if scores else "failed"
            rows.append({**common, "problem": f"{file.task} #{document}", "status": status, **scores})
    source = PurePosixPath(first.name).name
    return _judged(source, first.task, rows, first.results, "lm-evaluation-harness samples", several=several)


def _judged(source: str, task: str, rows: list[Record], results: Record, about: str, *, several: bool) -> RawTable:
    """A table with one score of every row, whatever the metric of its task; without one where it is a question."""
    metrics = _metrics(rows)
    facts = _directions(results, task, metrics)
    # The only score, or the accuracy beside others (normalised for length, macro averages) of the same answers.
    plain = [name for name in metrics if name.rpartition(",")[0] == "acc"]
    primary = metrics[0] if len(metrics) == 1 else plain[0] if len(plain) == 1 else None
    way = None
    if primary is not None:
        rows = [{**row, "score": row.get(primary)} for row in rows]
        way = facts.get(f"direction:{primary}", direction_of(primary.rpartition(",")[0])[0])
        facts["name:selection"] = primary
    scores = metrics if primary is None else ["score"]
    table = scored_table(source, rows, about, scores, several=several, numbers=["seed"], direction=way, facts=facts)
    others = [name for name in metrics if name != primary]
    if primary is not None and others:
        table.cautions.append(
            Caution.of("guessed-columns", None, len(others), kind="primary", task=task, column=primary, others=others)
        )
    return table


def _is_results(path: Path) -> bool:
    known = _ERROR.search(head_of(path)) or has_marks(path, "versions", "config", "model_args")
    return path.suffix == ".json" and has_marks(path, "results") and bool(known)


def _is_named_results(name: str) -> bool:
    base = PurePosixPath(name).name
    return base.startswith("results") and base.endswith(".json")


def _result_tables(tree: Tree) -> list[RawTable]:
    """A table for each task; a family for each model, or for each model and task of several."""
    by_task: dict[str, list[Record]] = {}
    first: dict[str, Record] = {}
    for order, name in enumerate(tree.files):
        document = tree.document(name)
        results = document.get("results")
        for task, measured in results.items() if isinstance(results, dict) else ():
            listed = measured.items() if isinstance(measured, dict) else ()
            read = {_filtered(key): number(value) for key, value in listed if not isinstance(value, str)}
            read = {key: value for key, value in read.items() if "_stderr," not in key}
            scores = {key: value for key, value in read.items() if value is not None}
            if not scores:
                tree.skip(f"{name}, {task}", "it has no score")
                continue
            model = _model(document, PurePosixPath(name).parent.name or tree.name)
            seed = {} if _seed(document) is None else {"seed": _seed(document)}
            by_task.setdefault(task, []).append({"model": model, "task": task, "order": order, **scores, **seed})
            first.setdefault(task, document)
    several, about = len(by_task) > 1, "lm-evaluation-harness results"
    return [_judged(task, task, rows, first[task], about, several=several) for task, rows in by_task.items()]


READERS = (
    tool(
        "lm-eval",
        "lm-evaluation-harness sample files (samples_*.jsonl), or their folder",
        _sample_tables,
        "samples of lm-evaluation-harness",
        files=lambda name: _is_samples(name) or PurePosixPath(name).name.startswith("results"),
        known=_is_samples,
        file=_has_samples,
        beside=lambda path: sorted(file.name for file in path.parent.glob("results*.json")),
    ),
    tool(
        "lm-eval-results",
        "lm-evaluation-harness results files (results_*.json)",
        _result_tables,
        "result of lm-evaluation-harness",
        files=_is_named_results,
        file=_is_results,
        look=_FEW,
    ),
)
