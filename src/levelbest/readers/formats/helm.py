"""HELM's runs: the scores of each instance (per_instance_stats.json) with run_spec.json beside them.

An instance is a problem, and each draw of in-context examples (``train_trial_index``) one sample of it. Runs with only
the aggregate (stats.json) have one score each.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, number, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks, json_value

__all__ = ["READERS"]

_STATS, _AGGREGATE, _SPEC = "per_instance_stats.json", "stats.json", "run_spec.json"
_NOT_SCORES = (
    *("num_", "finish_reason_", "training_", "batch_size", "prompt_truncated", "inference_", "max_prob"),
    *("logprob", "perplexity", "predicted_index", "ci_"),
)
_CLOCK = "inference_runtime"


def _has_instances(path: Path) -> bool:
    return path.suffix == ".json" and has_marks(path, "instance_id", "train_trial_index", "stats")


def _tables(tree: Tree, *, perturbed: bool = False) -> list[RawTable]:
    """A table for each run, one row per instance and try; ``perturbed``: with HELM's altered copies of instances."""
    files = [tree.given] if tree.given else tree.named(_STATS) or tree.named(_AGGREGATE)
    runs: list[tuple[str, str, list[Record]]] = []
    for name in files:
        with tree.trying(name):
            whole = PurePosixPath(name).name == _AGGREGATE
            rows = _aggregate(tree, name) if whole else _rows(tree, name, perturbed)
            runs.append((*_spec(tree, name), rows))
    known = {PurePosixPath(name).parent for name in files}
    for name in tree.named(_AGGREGATE):
        if PurePosixPath(name).parent not in known:
            tree.skip(name, "it has no scores of single instances beside it")
    several = len({task for _, task, _ in runs}) > 1
    return [_table(model, task, rows, several) for model, task, rows in runs if rows]


def _spec(tree: Tree, name: str) -> tuple[str, str]:
    """The model and the task of a run: its name without what says the model."""
    folder = PurePosixPath(name).parent
    spec = tree.document(str(folder / _SPEC))
    run = str(spec.get("name") or folder.name or tree.place.name)
    adapter = spec.get("adapter_spec")
    model = str(adapter.get("model") or "") if isinstance(adapter, dict) else ""
    task, _, arguments = run.partition(":")
    parts = [part for part in arguments.split(",") if part]
    for part in parts:
        if part.startswith("model=") and not model:
            model = part.removeprefix("model=")
    others = [part for part in parts if not part.startswith(("model=", "model_deployment="))]
    return model or tree.place.name, ":".join([task, ",".join(others)]) if others else task


def _rows(tree: Tree, name: str, perturbed: bool) -> list[Record]:
    listed = json_value(tree.text(name))
    if not isinstance(listed, list):
        raise ValueError("it is not a list of instances")
    rows: list[Record] = []
    altered = 0
    for place, instance in enumerate(listed, 1):
        stats = instance.get("stats") if isinstance(instance, dict) and "instance_id" in instance else None
        if not isinstance(stats, list):
            tree.skip(f"{name}, entry {place}", "it is not an instance with statistics")
            continue
        change = instance.get("perturbation")
        if change and not perturbed:
            altered += 1
            continue
        label = str(instance["instance_id"])
        if isinstance(change, dict):
            label += f" ({change.get('name')})"
        row: Record = {"problem": label, "order": number(instance.get("train_trial_index"))}
        row |= _scores(stats)
        scores = [value for key, value in row.items() if key.startswith("stats.")]
        rows.append({**row, "status": "ok" if scores else "failed"})
    if altered:
        tree.skip(name, f"{altered} altered copies of instances are left out; the option perturbed=yes reads them too")
    return rows


def _aggregate(tree: Tree, name: str) -> list[Record]:
    """One row for a run: the means over its instances as they were, of the test split where there are several."""
    listed = json_value(tree.text(name))
    if not isinstance(listed, list):
        raise ValueError("it is not a list of statistics")
    plain = [stat for stat in listed if isinstance(stat, dict) and isinstance(stat.get("name"), dict)]
    plain = [stat for stat in plain if not stat["name"].get("perturbation")]
    scores = _scores(sorted(plain, key=lambda stat: stat["name"].get("split") != "test"))
    return [{**scores, "status": "ok"}] if any(key.startswith("stats.") for key in scores) else []


def _scores(stats: list[Json]) -> dict[str, float]:
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
    labels = [{"problem": f"{task} #{row['problem']}"} if "problem" in row else {} for row in rows]
    rows = [{"model": model, "task": task, **row, **label} for row, label in zip(rows, labels, strict=True)]
    scores = (name for row in rows for name in row if name.startswith("stats."))
    return scored_table(f"{task}, {model}", rows, "HELM run", scores, several=several)


READERS = (
    tool(
        "helm",
        "HELM runs (per_instance_stats.json), or their folder",
        _tables,
        "instance of HELM",
        files=(_STATS, _AGGREGATE, _SPEC),
        known=(_STATS, _SPEC),
        file=_has_instances,
        beside=(_SPEC,),
    ),
)
