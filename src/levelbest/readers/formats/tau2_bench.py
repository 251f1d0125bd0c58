"""tau2-bench: results of simulations, each of which is one try of an agent at a task."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, cost_column, flatten, number, part_of, scored_table, system_names
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks

__all__ = ["READERS"]

_MARKS = ("agent_info", "user_info", "environment_info")
_NOT_EVALUATED = ("infrastructure_error", "context_window_exceeded", "unexpected_error")
"""Ends of simulations that are not the agent's failure, whatever the recorded reward."""
_LOOK = 20


def _is_results(path: Path) -> bool:
    return path.suffix == ".json" and has_marks(path, *_MARKS)


def _tables(tree: Tree) -> list[RawTable]:
    """One table per agent and domain, one row per simulation."""
    runs: list[tuple[tuple[str, str, Record], list[Record]]] = []
    tree.files = {name: where for name, where in tree.files.items() if not _is_part(name, tree.files)}
    for name in tree.of_kind(_is_results, "result of tau2-bench"):
        document = tree.document(name)
        info = document.get("info")
        if not isinstance(info, dict):
            continue
        domain = str(part_of(info, "environment_info").get("domain_name") or "tau2")
        listed = document.get("simulations") or document.get("simulation_index") or []
        rows: list[Record] = []
        for place, simulation in enumerate(listed if isinstance(listed, list) else [], 1):
            with tree.trying(f"{name}, simulation {place}"):
                rows.append(_row(simulation, domain))
        runs.append(((_agent(info), domain, _settings(info)), rows))
    together: dict[tuple[str, str], list[Record]] = {}
    for model, ((_, domain, _), rows) in zip(system_names([run for run, _ in runs]), runs, strict=True):
        together.setdefault((model, domain), []).extend({"model": model, **row} for row in rows)
    several = len({domain for _, domain in together}) > 1
    known = {"direction": "max", "facts": {"bounds:low": "0", "bounds:high": "1"}}
    roles = {"cost": cost_column(row for rows in together.values() for row in rows)}
    return [
        scored_table(
            f"{domain}, {model}", rows, "tau2-bench results", ["reward"], several=several, roles=roles, **known
        )
        for (model, domain), rows in together.items()
        if rows
    ]


def _is_part(name: str, files: Container[str]) -> bool:
    """Whether it is a simulation beside the results of its run, which hold its reward."""
    folder = PurePosixPath(name).parent
    return folder.name == "simulations" and str(folder.parent / "results.json") in files


def _agent(info: Record) -> str:
    agent = part_of(info, "agent_info")
    return str(agent.get("llm") or agent.get("implementation") or "agent")


def _settings(info: Record) -> Record:
    agent, user = part_of(info, "agent_info"), part_of(info, "user_info")
    given = {"agent": agent.get("implementation"), "user": user.get("llm")}
    return given | flatten(part_of(agent, "llm_args"))


def _row(simulation: Json, domain: str) -> Record:
    reward = number(simulation.get("reward", part_of(simulation, "reward_info").get("reward")))
    ended = str(simulation.get("termination_reason", ""))
    evaluated = reward is not None and ended not in _NOT_EVALUATED
    row: Record = {
        "task": domain,
        "problem": f"{domain} #{simulation['task_id']}",
        "status": "ok" if evaluated else "failed",
        "reward": reward if evaluated else None,
        "termination_reason": ended,
        "order": number(simulation.get("trial")),
        "seconds": number(simulation.get("duration")),
        "cost_usd": number(simulation.get("agent_cost")),
    }
    return row | ({"seed": number(simulation["seed"])} if simulation.get("seed") is not None else {})


READERS = (
    tool(
        "tau2-bench",
        "tau2-bench results (simulations with their rewards), or a folder of them",
        _tables,
        "simulation of tau2-bench",
        files=lambda name: name.endswith(".json"),
        file=_is_results,
        look=_LOOK,
    ),
)
