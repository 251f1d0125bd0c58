"""Spinning Up: progress.txt, a row per epoch of one run, with config.json beside it."""

from __future__ import annotations

from pathlib import PurePosixPath

from levelbest.readers.formats._paths import run_families
from levelbest.readers.formats._rows import RunLog, runs_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Sign

__all__ = ["READERS"]

_PROGRESS, _CONFIG = "progress.txt", "config.json"
_SCORES = ("AverageTestEpRet", "AverageEpRet")
"""The return of the deterministic policy on test episodes, where the algorithm has them; else that of training."""
_LOOK = 20
_LONGEST = 200
"""Characters of a setting: a longer one is the code of an object, not a value."""


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per epoch of each run."""
    folders = [str(PurePosixPath(name).parent) for name in tree.named(_PROGRESS)]
    runs = []
    for folder, (family, in_path) in zip(folders, run_families(folders, tree.place.name), strict=True):
        config = tree.document(str(PurePosixPath(folder, _CONFIG)), under="config")
        settings = {name: value for name, value in config.items() if len(str(value)) <= _LONGEST}
        name = settings.pop("config.exp_name", None) or family
        rows: list[dict[str, object]] = []
        with tree.trying(str(PurePosixPath(folder, _PROGRESS))):
            rows = tree.csv_rows(str(PurePosixPath(folder, _PROGRESS)))
        label = PurePosixPath(folder).name or tree.place.name
        runs.append(RunLog(str(name), label, "ok" if rows else "failed", settings or in_path, rows))
    if not runs:
        return []
    names = {name for run in runs for row in run.logged for name in row}
    score = next((name for name in _SCORES if name in names), None)
    known = {"cost": "Time"} if "Time" in names else {}
    facts = {f"direction:{name}": "max" for name in _SCORES}
    table = runs_table(tree.name, runs, "exp_name", "run", "Spinning Up log", steps=True, facts=facts, **known)
    if score is not None:
        table.roles["selection"], table.direction = score, "max"
    return [table]


READERS = (
    tool(
        "spinning-up",
        "Spinning Up logs (progress.txt with config.json), or their folders",
        _tables,
        "progress.txt of Spinning Up",
        files=(_PROGRESS, _CONFIG),
        known=(_PROGRESS,),
        file=(Sign(_PROGRESS, columns=({"AverageEpRet"}, {"Epoch"})),),
        beside=(_CONFIG,),
        look=_LOOK,
        logs=True,
    ),
)
