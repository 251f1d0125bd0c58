"""tau2-bench: results of simulations, each of which is one try of an agent at a task."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from levelbest.readers.formats._rows import Record, number, part_of, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Json, has_marks

__all__ = ["READERS"]

_MARKS = ("agent_info", "user_info", "environment_info")
_NOT_EVALUATED = ("infrastructure_error", "context_window_exceeded", "unexpected_error")
"""Ends of simulations that say nothing of the agent, whatever reward stands beside them."""
_LOOK = 20


def _is_results(path: Path) -> bool:
    return path.suffix == ".json" and has_marks(path, *_MARKS)


def _tables(tree: Tree) -> list[RawTable]:
    """One table per agent and domain, one row per simulation."""
    together: dict[tuple[str, str], list[Record]] = {}
    for name in tree.of_kind(_is_results, "result of tau2-bench"):
        document = tree.document(name)
        info = document.get("info")
        if not isinstance(info, dict):
            continue
        model, domain = _agent(info), str(part_of(info, "environment_info").get("domain_name") or "tau2")
        listed = document.get("simulations") or document.get("simulation_index") or []
        for place, simulation in enumerate(listed if isinstance(listed, list) else [], 1):
            with tree.trying(f"{name}, simulation {place}"):
                together.setdefault((model, domain), []).append({"model": model, **_row(simulation, domain)})
    several = len({domain for _, domain in together}) > 1
    known = {"direction": "max", "facts": {"bounds:low": "0", "bounds:high": "1"}}
    return [
        scored_table(f"{domain}, {model}", rows, "tau2-bench results", ["reward"], several=several, **known)
        for (model, domain), rows in together.items()
    ]


def _agent(info: Record) -> str:
    agent = part_of(info, "agent_info")
    return str(agent.get("llm") or agent.get("implementation") or "agent")


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
        "agent_cost_usd": number(simulation.get("agent_cost")),
    }
    return row | ({"seed": number(simulation["seed"])} if simulation.get("seed") is not None else {})


READERS = (
    tool(
        "tau2-bench",
        "tau2-bench results (simulations with their rewards), or a folder of them",
        _tables,
        "simulation of tau2-bench",
        files=lambda name: name.endswith(".json") and PurePosixPath(name).parent.name != "simulations",
        file=_is_results,
        look=_LOOK,
    ),
)
