"""HELM's runs: the scores of each instance (per_instance_stats.json) with run_spec.json beside them.

An instance is a problem, and each draw of in-context examples (``train_trial_index``) one try at it. Runs of which only
the aggregate (stats.json) is at hand are one score each.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from levelbest.readers.formats._rows import Record, no_rows, number, rows_table
from levelbest.readers.formats._tree import Tree, beside, known_by, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import has_marks, json_value
from levelbest.trials import Skipped

__all__ = ["READERS"]

_STATS, _AGGREGATE = "per_instance_stats.json", "stats.json"
_NOT_SCORES = (
    *("num_", "finish_reason_", "training_", "batch_size", "prompt_truncated", "inference_", "max_prob"),
    *("logprob", "perplexity", "predicted_index", "ci_"),
)
_CLOCK = "inference_runtime"


def _has_instances(path: Path) -> bool:
    return path.suffix == ".json" and has_marks(path, "instance_id", "train_trial_index", "stats")


def _read(path: Path, *, perturbed: bool = False, **_: object) -> list[RawTable]:
    """A table for each run, one row per instance and try; ``perturbed``: with HELM's altered copies of instances."""
    if path.is_file() and path.suffix == ".json":
        tree = beside(path, "run_spec.json")
        files = [path.name]
    else:
        tree = open_tree(path, lambda name: PurePosixPath(name).name in (_STATS, _AGGREGATE, "run_spec.json"))
        files = tree.named(_STATS) or tree.named(_AGGREGATE)
    home = path.resolve().parent.name if path.is_file() else tree.name
    skipped: list[Skipped] = []
    runs: list[tuple[str, str, list[Record]]] = []
    for name in files:
        try:
            whole = PurePosixPath(name).name == _AGGREGATE
            rows = _aggregate(tree, name) if whole else _rows(tree, name, perturbed, skipped)
        except (ValueError, TypeError) as error:
            skipped.append(Skipped(name, f"not read: {error}"))
            continue
        model, task = _spec(tree, name, home, skipped)
        runs.append((model, task, rows))
    if not any(rows for _, _, rows in runs):
        raise no_rows(tree.name, "instance of HELM", skipped)
    known = {PurePosixPath(name).parent for name in files}
    alone = [name for name in tree.named(_AGGREGATE) if PurePosixPath(name).parent not in known]
    skipped += [Skipped(name, "it has no scores of single instances beside it") for name in alone]
    several = len({task for _, task, _ in runs}) > 1
    tables = [_table(model, task, rows, several) for model, task, rows in runs if rows]
    tables[0].skipped += skipped
    return tables


def _spec(tree: Tree, name: str, home: str, skipped: list[Skipped]) -> tuple[str, str]:
    """The model and the task of a run: its name without what says the model."""
    folder = PurePosixPath(name).parent
    spec = tree.document(str(folder / "run_spec.json"), skipped)
    run = str(spec.get("name") or folder.name or home)
    adapter = spec.get("adapter_spec")
    model = str(adapter.get("model") or "") if isinstance(adapter, dict) else ""
    task, _, arguments = run.partition(":")
    parts = [part for part in arguments.split(",") if part]
    for part in parts:
        if part.startswith("model=") and not model:
            model = part.removeprefix("model=")
    others = [part for part in parts if not part.startswith(("model=", "model_deployment="))]
    return model or home, ":".join([task, ",".join(others)]) if others else task


def _rows(tree: Tree, name: str, perturbed: bool, skipped: list[Skipped]) -> list[Record]:
    listed = json_value(tree.text(name))
    if not isinstance(listed, list):
        raise ValueError("it is no list of instances")
    rows: list[Record] = []
    altered = 0
    for place, instance in enumerate(listed, 1):
        if (
            not isinstance(instance, dict)
            or "instance_id" not in instance
            or not isinstance(instance.get("stats"), list)
        ):
            skipped.append(Skipped(f"{name}, entry {place}", "it is no instance with its statistics"))
            continue
        change = instance.get("perturbation")
        if change and not perturbed:
            altered += 1
            continue
        label = str(instance["instance_id"])
        if isinstance(change, dict):
            label += f" ({change.get('name')})"
        row: Record = {"problem": label, "order": number(instance.get("train_trial_index"))}
        row |= _scores(instance["stats"])
        scores = [value for key, value in row.items() if key.startswith("stats.")]
        rows.append({**row, "status": "ok" if scores else "failed"})
    if altered:
        why = f"{altered} altered copies of instances are left out; the option perturbed=yes reads them too"
        skipped.append(Skipped(name, why))
    return rows


def _aggregate(tree: Tree, name: str) -> list[Record]:
    """One row for a run: the means over its instances as they were, of the test split where there are several."""
    listed = json_value(tree.text(name))
    if not isinstance(listed, list):
        raise ValueError("it is no list of statistics")
    plain = [stat for stat in listed if isinstance(stat, dict) and isinstance(stat.get("name"), dict)]
    plain = [stat for stat in plain if not stat["name"].get("perturbation")]
    scores = _scores(sorted(plain, key=lambda stat: stat["name"].get("split") != "test"))
    return [{**scores, "status": "ok"}] if any(key.startswith("stats.") for key in scores) else []


def _scores(stats: list[Any]) -> dict[str, float]:
    """The mean of each statistic of an instance; what only counts or names something is left out."""
    scores: dict[str, float] = {}
    for stat in stats:
        named = stat.get("name") if isinstance(stat, dict) else None
        metric = str(named.get("name")) if isinstance(named, dict) else ""
        value = number(stat.get("mean")) if metric else None
        if value is None:
            continue
        if metric == _CLOCK:
            scores["seconds"] = value
        elif not metric.startswith(_NOT_SCORES):
            scores.setdefault(f"stats.{metric}", value)
    return scores


def _table(model: str, task: str, rows: list[Record], several: bool) -> RawTable:
    common = {"system": f"{model} / {task}" if several else model, "model": model, "task": task}
    named = [{"problem": f"{task} #{row['problem']}"} if "problem" in row else {} for row in rows]
    rows = [{**common, **row, **label} for row, label in zip(rows, named, strict=True)]
    roles = {"family": "system", "status": "status", "group": "problem", "order": "order", "cost": "seconds"}
    scores = {name for row in rows for name in row if name.startswith("stats.")}
    if len(scores) == 1:
        roles["selection"] = scores.pop()
    return rows_table(f"{task}, {model}", rows, roles, "HELM run", numbers=["order", "seconds"])


_recognises = known_by(lambda name: PurePosixPath(name).name in (_STATS, "run_spec.json"), _has_instances)
READERS = (Reader("helm", "HELM runs (per_instance_stats.json), or their folder", _recognises, _read),)
