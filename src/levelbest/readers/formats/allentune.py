"""AllenTune: the results.jsonl of its report, or the folder of a search itself (run_*/trial with AllenNLP's files).

The report leaves out every run that did not finish; the folder still has them, and here they count as failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, flatten, number, rows_table
from levelbest.readers.formats._tree import Tree, in_order, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.steps.cells import seconds_of
from levelbest.readers.tables.files import head_of, json_lines, kind_of

__all__ = ["READERS"]

_BEST = "best_validation_"
_RESULT = re.compile(r"(best_)?(training|validation|test)_\w+|best_epoch|epoch|peak_\w+")
_SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
_RUN = re.compile(r"run_(\d+)")
_RUN_NUMBER = re.compile(r"(?:^|/)run_(\d+)[^/]*/trial$")
_PATH = "path"
"""Of the files of a run, below the folder of the search."""
_EXPERIMENT = "experiment"
"""The folder of a search, where there are several: ``logs/NAME/run_...``."""
_NO_SETTINGS = (*_SEEDS, "status", "run", "model", _EXPERIMENT, _PATH)  # allentune report --model NAME is the family


def _is_report(path: Path) -> bool:
    if kind_of(path) not in ("jsonl", "json"):
        return False
    _, first, _ = next(json_lines(head_of(path).splitlines()), (1, None, None))
    return isinstance(first, dict) and "training_duration" in first and any(key.startswith(_BEST) for key in first)


def _is_run(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) >= 3 and parts[-2:] == ("trial", "config.json") and _RUN.match(parts[-3]) is not None


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per run."""
    rows = _report_rows(tree, tree.given) if tree.given else _folder_rows(tree)
    if not rows:
        return []
    for row in rows:
        row["training_duration"] = _seconds(row.get("training_duration"))
        row[_PATH] = _below_search(row.pop("directory", None), row.get("run"))
    names = dict.fromkeys(name for row in rows for name in row)
    settings = [name for name in names if not _RESULT.fullmatch(name) and name not in _NO_SETTINGS]
    roles = {"cost": "training_duration", "family": "model", "seed": "random_seed", "status": "status"}
    roles |= {"family": _EXPERIMENT} if _EXPERIMENT in names else {}
    roles |= _score_roles(names)
    if any(row[_PATH] for row in rows):
        roles["path"] = _PATH
    way = ("min" if roles["selection"].endswith("loss") else "max") if "selection" in roles else None
    return [rows_table(tree.name, rows, roles, "AllenTune results", settings=settings, direction=way)]


def _below_search(directory: object, run: object) -> str | None:
    """``run_1_2020-01-01/trial``: what came before is a path on the machine that ran the search."""
    parts = PurePosixPath(str(directory).replace("\\", "/")).parts if directory else (str(run), "trial") if run else ()
    at = next((k for k, part in enumerate(parts) if _RUN.match(part)), max(len(parts) - 2, 0))
    return "/".join(part for part in parts[at:] if part != "/") or None


def _score_roles(names: Iterable[str]) -> dict[str, str]:
    """AllenTune's own default, or the only one there is, that is no loss; and the test score of the same name."""
    best = [name for name in names if name.startswith(_BEST)]
    scores = [name for name in best if not name.endswith("loss")] or best
    default = f"{_BEST}accuracy"
    chosen = default if default in scores else scores[0] if len(scores) == 1 else None
    if chosen is None:
        return {}
    test = f"test_{chosen.removeprefix(_BEST)}"
    return {"selection": chosen, **({"reported": test} if test in names else {})}


def _report_rows(tree: Tree, name: str) -> list[Record]:
    rows = []
    for place, result in tree.objects(name, "result"):
        with tree.trying(f"{name}, line {place}"):
            rows.append(flatten(result))
    return rows


def _folder_rows(tree: Tree) -> list[Record]:
    runs = [str(PurePosixPath(name).parent) for name in tree.files if _is_run(name)]
    begun = {folder for folder in tree.folders if _is_run(f"{folder}/config.json")}
    for folder in sorted(begun - set(runs)):
        tree.skip(folder, "a run without its config.json")
    rows = []
    for folder in in_order(runs, _RUN_NUMBER):
        config = tree.document(f"{folder}/config.json", under="")
        # A run writes metrics.json when it ends; before that there are metrics_epoch_*.json alone.
        metrics = tree.document(f"{folder}/metrics.json", under="")
        run = PurePosixPath(folder).parent
        row: Record = {"run": run.name, "status": "ok" if metrics else "failed", _EXPERIMENT: run.parent.name}
        row |= config | metrics
        if f"{folder}/stdout.log" in tree.files:
            text = tree.text(f"{folder}/stdout.log")
            for seed in _SEEDS:
                match = re.search(rf"{seed} = (\d+)", text)
                if match:
                    row[seed] = int(match[1])
        rows.append(row)
    if len({row[_EXPERIMENT] for row in rows}) < 2:
        return [{key: value for key, value in row.items() if key != _EXPERIMENT} for row in rows]
    return [row | {_EXPERIMENT: row[_EXPERIMENT] or tree.name} for row in rows]


def _seconds(stored: object) -> float | None:
    """Seconds, from a number or from AllenNLP's ``0:02:31.5``."""
    seconds = seconds_of(stored.strip()) if isinstance(stored, str) else None
    return number(stored) if seconds is None else seconds


_ABOUT, _FILES = "AllenTune results.jsonl, or the folder of its search", ("config.json", "metrics.json", "stdout.log")
READERS = (tool("allentune", _ABOUT, _tables, "results of AllenTune", files=_FILES, known=_is_run, file=_is_report),)
