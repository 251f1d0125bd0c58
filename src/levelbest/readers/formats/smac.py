"""SMAC3's runhistory.json, of all its versions: a row per run of a configuration, which it tries to make cheap.

SMAC writes below its output folder NAME/SEED/runhistory.json: the seeds of one name are searches of one family.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from levelbest._read import open_file
from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, number, rows_table
from levelbest.readers.formats._searches import each_search
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, head_of

__all__ = ["READERS"]

_HISTORY, _SCENARIO = "runhistory.json", "scenario.json"
_STATUS = {
    "RUNNING": "running",
    "SUCCESS": "ok",
    "CRASHED": "failed",
    "TIMEOUT": "failed",
    "MEMORYOUT": "failed",
    "MEMOUT": "failed",
    "ABORT": "failed",
    "CAPPED": "pruned",
    "STOP": "pruned",
    "DONOTADVANCE": "pruned",
}
_NUMBERED = ("RUNNING", "SUCCESS", "CRASHED", "TIMEOUT", "MEMORYOUT")
_KEYS = ("config_id", "instance", "seed", "budget", "cost", "time", "status", "starttime", "endtime", "additional_info")
_OLDEST = ("config_id", "instance", "seed", "cost", "time", "status", "additional_info")
"""Before version 0.13 there were neither budgets nor times of day."""
_NEWER = (*_KEYS[:6], "cpu_time", *_KEYS[6:])


def _is_history(path: Path) -> bool:
    head = head_of(path)
    if path.suffix != ".json" or b'"data"' not in head[:4096]:
        return False
    with open_file(path) as file:
        file.seek(max(0, path.stat().st_size - 65536))
        tail = file.read()
    return b'"config' in tail and ("runhistory" in path.name or b'"stats"' in head[:4096])


def _tables(tree: Tree) -> list[RawTable]:
    """One table for each history, one row per run; the selection score is the cost, which is minimised."""
    return each_search(tree, [tree.given] if tree.given else tree.named(_HISTORY), _table, "scenario")


def _name_of(tree: Tree, name: str) -> str:
    """The scenario's name, which stands beside the history, or the folder's."""
    file = PurePosixPath(name)
    scenario = tree.document(str(file.with_name(_SCENARIO))).get("name")
    return scenario if isinstance(scenario, str) else (tree.place / file).parent.name if file.name == _HISTORY else name


def _table(tree: Tree, name: str) -> RawTable:
    try:
        history = tree.object_in(name)
        runs, configs = history["data"], history["configs"]
        if not isinstance(runs, list) or not isinstance(configs, dict):
            raise ValueError("its data are not a list of runs")
    except (ValueError, KeyError) as error:
        raise DataError(f"{name} is not a run history of SMAC: {error}") from None
    rows = []
    for place, run in enumerate(runs, 1):
        with tree.trying(f"{name}, run {place}"):
            rows.append(_row(run, configs))
    if not rows:
        raise DataError(f"{name} holds no run of SMAC")
    roles = {"selection": "cost", "status": "status", "cost": "time"}
    roles |= {role: name for role, name in (("seed", "seed"), ("group", "instance")) if _several(rows, name)}
    return rows_table(
        _name_of(tree, name),
        rows,
        roles,
        "SMAC3 run history",
        settings="config.",
        first=["config_id", "seed", "status", "cost", "time"],
        numbers=["seed", "budget"],
        direction="min",
        facts={"sampler": "SMAC"},
    )


def _several(rows: list[Record], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def _row(run: Json, configs: Record) -> Record:
    if isinstance(run, dict):
        named = run
    elif len(run) == 2:  # version 1: a key and a value
        named = dict(zip(_OLDEST if len(run[0]) == 3 else _KEYS, [*run[0], *run[1]], strict=False))
    else:
        named = dict(zip(_NEWER if len(run) == len(_NEWER) else _KEYS, run, strict=False))
    status = named["status"]
    if isinstance(status, dict):
        status = str(status.get("__enum__", "")).rpartition(".")[2]
    elif isinstance(status, int):
        status = _NUMBERED[status]
    cost = named["cost"]
    row = {"config_id": str(named["config_id"]), "status": _STATUS[str(status)], "time": number(named.get("time"))}
    row |= {key: number(named.get(key)) for key in ("seed", "budget")}
    row["instance"] = None if named.get("instance") is None else str(named["instance"])
    if isinstance(cost, list):
        row |= {f"cost.{place}": number(part) for place, part in enumerate(cost)}
    # A run that crashed has the largest number for a cost.
    row["cost"] = number(cost) if row["status"] == "ok" and not isinstance(cost, list) else None
    settings = configs.get(str(named["config_id"]), {})
    return row | {f"config.{key}": value for key, value in settings.items()}


READERS = (
    tool(
        "smac",
        "SMAC3 run history (runhistory.json), or the folder of several",
        _tables,
        "run history of SMAC",
        files=(_HISTORY, _SCENARIO),
        known=(_HISTORY,),
        file=_is_history,
        beside=(_SCENARIO,),
    ),
)
