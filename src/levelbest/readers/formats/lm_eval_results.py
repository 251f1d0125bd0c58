"""Results files of lm-evaluation-harness (``results_*.json``) without samples: one score of a model on each task."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from levelbest.cautions import Caution
from levelbest.readers.formats._rows import Record, no_rows, number, rows_table
from levelbest.readers.formats._tree import beside, known_by, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.steps.names import direction_of
from levelbest.readers.tables.files import has_marks, head_of
from levelbest.trials import Skipped

__all__ = ["READERS", "model_name"]

_ERROR = re.compile(rb'"\w+_stderr,[^"]+"\s*:')
_FEW = 20
"""Files of a folder that are looked into, to tell whether it is of this format."""


def model_name(results: Record, otherwise: str) -> str:
    """As the results say; a model that was loaded from a folder is named by its path, whose last part is its name."""
    name = str(results.get("model_name") or otherwise)
    return name.rstrip("/").rsplit("/", 1)[-1] if name.startswith(("/", "~", ".")) else name


def _is_named(name: str) -> bool:
    base = PurePosixPath(name).name
    return base.startswith("results") and base.endswith(".json")


def _is_results(path: Path) -> bool:
    return path.suffix == ".json" and has_marks(path, "results") and _ERROR.search(head_of(path)) is not None


def _read(path: Path, **_: object) -> list[RawTable]:
    """A table for each task; a family for each model, or for each model and task of several."""
    tree = beside(path) if path.is_file() else open_tree(path, _is_named)
    skipped: list[Skipped] = []
    by_task: dict[str, list[Record]] = {}
    higher: dict[str, Record] = {}
    for order, name in enumerate(tree.files):
        document = tree.document(name, skipped)
        results = document.get("results")
        for task, measured in results.items() if isinstance(results, dict) else ():
            scores = _scores(measured)
            if not scores:
                skipped.append(Skipped(f"{name}, {task}", "it has no score"))
                continue
            folder = PurePosixPath(name).parent.name or tree.name
            row = {"model": model_name(document, folder), "task": str(task), "order": order, **scores}
            config = document.get("config")
            seed = number(config.get("random_seed")) if isinstance(config, dict) else None
            by_task.setdefault(str(task), []).append(row if seed is None else {**row, "seed": seed})
            ways = document.get("higher_is_better")
            mine = ways.get(task) if isinstance(ways, dict) else None
            higher.setdefault(str(task), mine if isinstance(mine, dict) else {})
    if not by_task:
        raise no_rows(tree.name, "result of lm-evaluation-harness", skipped)
    tables = [_table(task, rows, higher[task], several=len(by_task) > 1) for task, rows in by_task.items()]
    tables[0].skipped += skipped
    return tables


def _scores(measured: object) -> dict[str, float]:
    """By metric and filter, without their standard errors."""
    if not isinstance(measured, dict):
        return {}
    read = {key: number(value) for key, value in measured.items() if "," in key and "_stderr," not in key}
    return {key: value for key, value in read.items() if value is not None}


def _table(task: str, rows: list[Record], higher: Record, *, several: bool) -> RawTable:
    metrics = list(dict.fromkeys(name for row in rows for name in row if "," in name))
    primary = _primary(metrics)
    known = [{"system": f"{row['model']} / {task}" if several else row["model"], **row} for row in rows]
    facts = {}
    for name in metrics:
        if isinstance(better := higher.get(name.rpartition(",")[0]), bool):
            facts[f"direction:{name}"] = "max" if better else "min"
    roles = {"family": "system", "order": "order", "seed": "seed"}
    if primary is not None:  # one name for the score of every task, whatever its metric
        known = [{**row, "score": row.get(primary)} for row in known]
        roles["selection"] = "score"
        facts["name:selection"] = primary
    way = None if primary is None else facts.get(f"direction:{primary}", direction_of(primary.rpartition(",")[0])[0])
    table = rows_table(
        task, known, roles, "lm-evaluation-harness results", numbers=["seed"], direction=way, facts=facts
    )
    others = [name for name in metrics if name != primary]
    if primary is not None and others:
        table.cautions.append(
            Caution.of("guessed-columns", None, len(others), kind="primary", task=task, column=primary, others=others)
        )
    return table


def _primary(metrics: list[str]) -> str | None:
    """The only score, or the accuracy beside others (normalised for length, macro averages) of the same answers."""
    if len(metrics) == 1:
        return metrics[0]
    plain = [name for name in metrics if name.rpartition(",")[0] == "acc"]
    return plain[0] if len(plain) == 1 else None


_recognises = known_by(_is_named, _is_results, look=_FEW)
READERS = (Reader("lm-eval-results", "lm-evaluation-harness results files (results_*.json)", _recognises, _read),)
