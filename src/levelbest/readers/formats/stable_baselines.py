"""Stable-Baselines3: its logger's progress.csv and its Monitor's files of episodes; a folder of them is a run.

The score of a run that only Monitor recorded is the mean reward of its last 100 episodes, which the logger calls
``ep_rew_mean``: episodes are too noisy to count as trials.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import PurePosixPath

from levelbest.cautions import Caution
from levelbest.readers.formats._paths import run_families
from levelbest.readers.formats._rows import Record, RunLog, number, runs_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable, cell_list
from levelbest.readers.tables.delimited import parse_delimited
from levelbest.readers.tables.files import Sign, json_value

__all__ = ["READERS"]

_PROGRESS, _MONITOR = "progress.csv", "monitor.csv"
_STEPS, _CLOCK = "time/total_timesteps", "time/time_elapsed"
_SCORES = ("eval/mean_reward", "rollout/ep_rew_mean")
"""The mean reward of separate evaluations, where there were any; else that of the episodes of training."""
_WINDOW = 100
"""Episodes that Stable-Baselines3 itself takes the mean over (``stats_window_size``)."""
_LAST = f"reward of the last {_WINDOW} episodes"
_LOOK = 20


def _is_named(name: str) -> bool:
    base = PurePosixPath(name).name
    return base == _PROGRESS or base.endswith(_MONITOR)


def _tables(tree: Tree) -> list[RawTable]:
    """A table of the runs with a progress.csv, one row per dump, and one of those that Monitor alone recorded."""
    folders = list(dict.fromkeys(str(PurePosixPath(name).parent) for name in tree.files))
    families = dict(zip(folders, run_families(folders, tree.place.name), strict=True))
    progress, monitored = [], []
    for folder in folders:
        family, settings = families[folder]
        name = PurePosixPath(folder).name or tree.place.name
        log = str(PurePosixPath(folder, _PROGRESS))
        monitors = [file for file in tree.files if str(PurePosixPath(file).parent) == folder and file != log]
        if log in tree.files:
            rows = tree.measured(log)
            progress.append(RunLog(family, name, "ok" if rows else "failed", settings, rows))
        else:
            row = _monitored(tree, monitors)
            monitored.append(RunLog(family, name, "ok" if _LAST in row else "failed", settings, [row]))
    tables = [_table(tree.name, progress)] if progress else []
    if monitored:
        known = {"direction": "max", "cost": "t", "facts": {f"direction:{_LAST}": "max"}}
        table = runs_table(tree.name, monitored, "run", "folder", "Stable-Baselines3 monitor", steps=False, **known)
        table.roles["selection"] = _LAST
        count = len(monitored)
        table.cautions.append(Caution.of("guessed-columns", None, count, kind="episodes", count=count, window=_WINDOW))
        tables.append(table)
    return tables


def _table(source: str, runs: list[RunLog]) -> RawTable:
    names = {name for run in runs for row in run.logged for name in row}
    score = next((name for name in _SCORES if name in names), None)
    cost = _CLOCK if _CLOCK in names else None
    facts = {f"direction:{name}": "max" for name in _SCORES}
    for run in runs:  # dumps without the score are no checkpoints
        run.logged = [row for row in run.logged if score is None or score in row] or run.logged
    table = runs_table(source, runs, "run", "folder", "Stable-Baselines3 log", steps=True, cost=cost, facts=facts)
    if score is not None:
        table.roles["selection"] = score
        table.direction = "max"
    return table


def _monitored(tree: Tree, names: Iterable[str]) -> Record:
    """The last episodes of a run, whose environments each have a file of their own."""
    episodes: list[tuple[float, float, float]] = []
    row: Record = {}
    for name in names:
        with tree.trying(name):
            first, _, body = tree.text(name).partition("\n")
            about = json_value(first.removeprefix("#"))
            begun = number(about.get("t_start")) or 0.0
            row |= {"env_id": about["env_id"]} if about.get("env_id") else {}
            table = parse_delimited(body, name)
            columns = [[number(cell) for cell in cell_list(table.columns[key])] for key in ("t", "r", "l")]
            read = [(begun + t, r, n) for t, r, n in zip(*columns, strict=True) if None not in (t, r, n)]
            if len(read) < table.n_rows or table.skipped:
                tree.skip(name, f"{table.n_rows - len(read) + len(table.skipped)} of its episodes are not whole")
            episodes += read
            row["t"] = max(row.get("t", 0.0), *(t - begun for t, _, _ in read)) if read else row.get("t")
    if not episodes:
        return row
    last = [reward for _, reward, _ in sorted(episodes)[-_WINDOW:]]
    row |= {"episodes": len(episodes), "timesteps": sum(length for _, _, length in episodes)}
    return row | {_LAST: math.fsum(last) / len(last)}


READERS = (
    tool(
        "stable-baselines3",
        "Stable-Baselines3 logs (progress.csv, monitor.csv), or their folders",
        _tables,
        "log of Stable-Baselines3",
        files=_is_named,
        file=(Sign(_PROGRESS, columns=({_STEPS},)), Sign(f"*{_MONITOR}", start=b"#{", marks=("t_start",))),
        look=_LOOK,
        logs=True,
    ),
)
