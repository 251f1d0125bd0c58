"""Sample files of lm-evaluation-harness (``--log_samples``): each document a problem, each file one try at it.

Scores are named as in the harness's own table, metric and filter: ``acc,none``, ``exact_match,strict-match``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, no_rows, number, rows_table
from levelbest.readers.formats._tree import Tree, beside, known_by, open_tree
from levelbest.readers.formats.lm_eval_results import model_name
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import head_of
from levelbest.trials import Skipped

__all__ = ["READERS"]

_NAMED = re.compile(r"samples_(?P<task>.+?)(?:_(?P<moment>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl?")
_MARKS = ("doc_id", "target", "resps", "filtered_resps")
_NOT_METRICS = {*_MARKS, "doc", "arguments", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash", "task_name"}
_NOT_METRICS |= {"idx"}


@dataclass
class _File:
    """One sample file, and what the results file beside it says."""

    name: str
    task: str
    moment: str
    model: str
    seed: float | None = None
    higher: dict[str, object] = field(default_factory=dict)
    rows: dict[str, Record] = field(default_factory=dict)
    """Document -> scores."""


def _is_samples(name: str) -> bool:
    return _NAMED.fullmatch(PurePosixPath(name).name) is not None


def _has_samples(path: Path) -> bool:
    # The line may be longer than what was read: its keys come in this order.
    first = head_of(path).split(b"\n", 1)[0] if path.suffix in (".jsonl", ".json") else b""
    return all(f'"{mark}"'.encode() in first for mark in _MARKS)


def _read(path: Path, **_: object) -> list[RawTable]:
    """One table per model and task, one row per document and file."""
    if path.is_file():
        tree = beside(path, *sorted(file.name for file in path.parent.glob("results*.json") if file != path))
        files = [path.name]
        home = path.resolve().parent.name
    else:
        tree = open_tree(path, lambda name: _is_samples(name) or PurePosixPath(name).name.startswith("results"))
        files = [name for name in tree.files if _is_samples(name)]
        home = tree.name
    skipped: list[Skipped] = []
    read = [_samples(tree, name, home, skipped) for name in files]
    full = [log for log in read if log.rows]
    if not full:
        raise no_rows(tree.name, "samples of lm-evaluation-harness", skipped)
    tasks = dict.fromkeys(log.task for log in full)
    together: dict[tuple[str, str], list[_File]] = {}
    for log in full:
        together.setdefault((log.model, log.task), []).append(log)
    tables = [_table(group, several_tasks=len(tasks) > 1) for group in together.values()]
    tables[0].skipped += skipped
    return tables


def _samples(tree: Tree, name: str, home: str, skipped: list[Skipped]) -> _File:
    base = PurePosixPath(name)
    named = _NAMED.fullmatch(base.name)
    folder = base.parent.name or home
    file = _File(name, named["task"] if named else base.stem, (named and named["moment"]) or "", folder)
    _describe(tree, file, skipped)
    left_out: dict[str, int] = {}
    for place, sample, why in tree.lines(name):
        if not isinstance(sample, dict) or "doc_id" not in sample:
            skipped.append(Skipped(f"{name}, line {place}", f"not read: {why or 'not a sample: it has no doc_id'}"))
            continue
        row = file.rows.setdefault(str(sample["doc_id"]), {})
        scores = _scores(sample, left_out)
        if scores.keys() & row.keys():
            skipped.append(Skipped(f"{name}, line {place}", f"document {sample['doc_id']} was here before"))
        row |= {key: value for key, value in scores.items() if key not in row}
    for metric, count in left_out.items():
        skipped.append(Skipped(name, f"{metric!r} is no single number in {count} samples"))
    return file


def _scores(sample: dict[str, object], left_out: dict[str, int]) -> dict[str, float]:
    listed = sample.get("metrics")
    metrics = listed if isinstance(listed, list) else [key for key in sample if key not in _NOT_METRICS]
    scores: dict[str, float] = {}
    for metric in metrics:
        value = number(sample.get(str(metric)))
        if value is not None:
            scores[f"{metric},{sample.get('filter', 'none')}"] = value
        elif sample.get(str(metric)) is not None:  # e.g. a perplexity, whose parts only add up over all documents
            left_out[str(metric)] = left_out.get(str(metric), 0) + 1
    return scores


def _describe(tree: Tree, file: _File, skipped: list[Skipped]) -> None:
    """The model, the seed and which way each metric points, from the results file of the same run."""
    folder = PurePosixPath(file.name).parent
    reports = [
        name
        for name in tree.files
        if PurePosixPath(name).parent == folder
        and PurePosixPath(name).name.startswith("results")
        and (not file.moment or file.moment in name or name.endswith("results.json"))
    ]
    results = tree.document(reports[-1], skipped) if reports else {}
    file.model = model_name(results, file.model)
    config = results.get("config")
    file.seed = number(config.get("random_seed")) if isinstance(config, dict) else None
    higher = results.get("higher_is_better")
    mine = higher.get(file.task) if isinstance(higher, dict) else None
    file.higher = mine if isinstance(mine, dict) else {}


def _table(files: list[_File], several_tasks: bool) -> RawTable:
    rows: list[Record] = []
    facts = {}
    first = files[0]
    for order, file in enumerate(sorted(files, key=lambda other: (other.moment, other.name))):
        system = f"{file.model} / {file.task}" if several_tasks else file.model
        common = {"system": system, "model": file.model, "task": file.task, "order": order}
        common |= {} if first.seed is None else {"seed": file.seed}
        for document, scores in file.rows.items():
            status = "ok" if scores else "failed"
            rows.append({**common, "problem": f"{file.task} #{document}", "status": status, **scores})
    metrics = list(dict.fromkeys(name for row in rows for name in row if "," in name))
    for name in metrics:
        better = first.higher.get(name.rpartition(",")[0])
        if isinstance(better, bool):
            facts[f"direction:{name}"] = "max" if better else "min"
    roles = {"family": "system", "group": "problem", "order": "order", "status": "status", "seed": "seed"}
    way = None
    if len(metrics) == 1:
        roles["selection"], way = metrics[0], facts.get(f"direction:{metrics[0]}")
    source, about = PurePosixPath(first.name).name, "lm-evaluation-harness samples"
    return rows_table(source, rows, roles, about, numbers=["seed"], direction=way, facts=facts)


_ABOUT = "lm-evaluation-harness sample files (samples_*.jsonl), or their folder"
READERS = (Reader("lm-eval", _ABOUT, known_by(_is_samples, _has_samples), _read),)
