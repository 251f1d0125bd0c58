"""Harbor's jobs (a result.json for each trial) and Terminal-Bench's runs (results.json): tries of agents at tasks."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, flatten, number, part_of, scored_table, system_names
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks

__all__ = ["READERS"]

_TRIAL, _RUN, _METADATA = "result.json", "results.json", "run_metadata.json"
_LOOK = 40
_SPENT = {
    "cost_usd": "cost_usd",
    "input_tokens": "n_input_tokens",
    "cached_tokens": "n_cache_tokens",
    "output_tokens": "n_output_tokens",
}


def _is_trial(path: Path) -> bool:
    return path.name == _TRIAL and has_marks(path, "trial_name", "task_name")


def _is_run(path: Path) -> bool:
    return path.suffix == ".json" and has_marks(path, "results", "trial_name", "is_resolved")


def _harbor_tables(tree: Tree) -> list[RawTable]:
    """One table, one row per trial; a trial without a reward, which its verifier gives, failed."""
    rows: list[Record] = []
    for name in tree.named(_TRIAL):
        trial = tree.document(name)
        if "trial_name" not in trial:
            continue  # the summary of a job
        with tree.trying(name):
            rows.append(_trial_row(trial))
    rows.sort(key=lambda row: str(row.pop("started_at")))
    systems = system_names([(row["model"], row["task"], row.pop("settings")) for row in rows])
    rows = [{**row, "model": system} for row, system in zip(rows, systems, strict=True)]
    scores = [key for row in rows for key in row if key.startswith("reward")]
    return _by_task(tree.name, rows, "Harbor job", ["reward"] if "reward" in scores else scores)


def _trial_row(trial: Record) -> Record:
    agent, configured = part_of(trial, "agent_info"), part_of(part_of(trial, "config"), "agent")
    model = part_of(agent, "model_info").get("name") or configured.get("model_name")
    who = str(agent.get("name") or configured.get("name") or "agent")
    rewards = part_of(part_of(trial, "verifier_result"), "rewards")
    spent = part_of(trial, "agent_result")
    scores = {
        "reward" if key == "reward" else f"reward.{key}": number(value)
        for key, value in rewards.items()
        if number(value) is not None
    }
    row: Record = {
        "model": f"{who} / {model}" if model else who,
        "task": str(trial.get("source") or "tasks"),
        "problem": str(trial["task_name"]),
        "status": "ok" if scores else "failed",
        **scores,
        "exception": part_of(trial, "exception_info").get("exception_type"),
        "seconds": _seconds(trial.get("started_at"), trial.get("finished_at")),
        "started_at": trial.get("started_at"),
        "settings": flatten(part_of(configured, "kwargs")),
    }
    costs = {name: number(spent.get(key)) for name, key in _SPENT.items() if spent.get(key) is not None}
    given = costs.get("input_tokens")
    if given is not None:  # Harbor counts those from the cache among them
        costs["input_tokens"] = given - (costs.get("cached_tokens") or 0.0)
    return row | costs


def _terminal_bench_tables(tree: Tree) -> list[RawTable]:
    """One table, one row per trial of the runs in a folder."""
    rows: list[Record] = []
    for name in tree.files:
        trials = tree.document(name).get("results") if PurePosixPath(name).name != _METADATA else None
        about = tree.document(str(PurePosixPath(name).with_name(_METADATA)))
        for place, trial in enumerate(trials if isinstance(trials, list) else (), 1):
            with tree.trying(f"{name}, trial {place}"):
                rows.append(_attempt_row(trial, about, PurePosixPath(name).parent.name or tree.place.name))
    return _by_task(tree.name, rows, "Terminal-Bench run", ["is_resolved"])


def _attempt_row(trial: Json, about: Record, otherwise: str) -> Record:
    parts = [str(about[key]) for key in ("agent_name", "model_name") if about.get(key)]
    resolved = trial.get("is_resolved")
    return {
        "model": " / ".join(parts) or otherwise,
        "task": str(about.get("dataset_name") or "tasks"),
        "problem": str(trial["task_id"]),
        "status": "ok" if isinstance(resolved, bool) else "failed",
        "is_resolved": float(resolved) if isinstance(resolved, bool) else None,
        "failure_mode": trial.get("failure_mode"),
        "seconds": _seconds(trial.get("trial_started_at"), trial.get("trial_ended_at")),
        "input_tokens": number(trial.get("total_input_tokens")),
        "output_tokens": number(trial.get("total_output_tokens")),
    }


def _by_task(source: str, rows: list[Record], about: str, scores: list[str]) -> list[RawTable]:
    if not rows:
        return []
    tries: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row["model"], row["task"], row["problem"])
        row["order"] = tries[key] = tries.get(key, -1) + 1
    several = len({row["task"] for row in rows}) > 1
    facts = {f"direction:{name}": "max" for name in scores}
    return [scored_table(source, rows, about, scores, several=several, numbers=["seconds"], facts=facts)]


def _seconds(begun: object, ended: object) -> float | None:
    try:
        first, last = (datetime.fromisoformat(str(moment).replace("Z", "+00:00")) for moment in (begun, ended))
        return (last - first).total_seconds()
    except (ValueError, TypeError):
        return None


READERS = (
    tool(
        "harbor",
        "Harbor jobs (a result.json for each trial), or their folder",
        _harbor_tables,
        "trial of Harbor",
        files=(_TRIAL,),
        file=_is_trial,
        look=_LOOK,
    ),
    tool(
        "terminal-bench",
        "Terminal-Bench runs (results.json with run_metadata.json), or their folder",
        _terminal_bench_tables,
        "trial of Terminal-Bench",
        files=(_RUN, _METADATA),
        known=(_RUN,),
        file=_is_run,
        beside=(_METADATA,),
        look=_LOOK,
    ),
)
