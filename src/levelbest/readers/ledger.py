"""The runner's ledger, read plainly: a SQLite file, opened read-only. ``levelbest verify`` checks that it is whole.

While a study runs, a family's rows from its first unfinished trial on count as running, whether they have ended or not:
those that end early are the short ones, and only the finished beginning of the plan is a fair sample.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from levelbest.errors import DataError
from levelbest.readers._rows import columns_of, flatten, looks_like_sqlite, open_sqlite
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

_MARK, _VERSION = 0x6C626C67, 1
"""SQLite's application_id ('lblg') and user_version of a ledger."""
_FINAL = ("ok", "failed", "diverged")
_OWN = ("family", "trial", "status", "seed", "wall", "cpu", "cost", "reason")
_ENVIRONMENT = ("levelbest", "python", "system", "processor", "cpus", "memory", "gpus")


@dataclass
class _Family:
    name: str
    definition: dict[str, Any]
    planned: int = 0
    starts: dict[int, dict[str, Any]] = field(default_factory=dict)
    ends: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)


def _recognises(path: Path) -> bool:
    return looks_like_sqlite(path) and _header(path)[0] == _MARK


def _header(path: Path) -> tuple[int, int]:
    """application_id and user_version, at the places that SQLite's file format gives them."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return 0, 0
    return int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big")


def _read(path: Path, **_: Any) -> list[RawTable]:
    mark, version = _header(path)
    if mark != _MARK:
        raise DataError(f"{path.name} is no ledger of levelbest")
    if version > _VERSION:
        raise DataError(
            f"{path.name} was written by a newer levelbest (ledger version {version}; this one knows {_VERSION}): "
            "upgrade levelbest to read it"
        )
    with open_sqlite(path) as connection:
        try:
            return [_table(path.name, connection)]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise DataError(f"{path.name} is damaged: {error!r}; levelbest verify says where") from error


def _table(source: str, connection: sqlite3.Connection) -> RawTable:
    rows = connection.execute("SELECT kind, family, trial, status, body, hash FROM records ORDER BY seq").fetchall()
    bodies = json.loads(f"[{','.join(row[4] for row in rows)}]")
    study: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    families: dict[int, _Family] = {}
    for (kind, number, trial, status, _, _), body in zip(rows, bodies, strict=True):
        if kind == "start":
            families[number].starts[trial] = body
        elif kind == "end" and status in _FINAL:
            families[number].ends[trial] = status, body
        elif kind == "family":
            families[number] = _Family(body["name"], body["definition"])
        elif kind == "plan":
            families[number].planned = body["n_trials"]
        elif kind == "study":
            study = body
        elif kind == "environment":
            environment |= body
    skipped: list[Skipped] = []
    found = [row for family in families.values() for row in _rows_of(family, skipped)]
    if not found:
        raise DataError(f"{source} holds no trial yet; run its study first")
    metric = study["metric"]
    columns = columns_of(found, ["family", "trial", "status", "seed"], numbers=["wall", "cpu", "cost"])
    roles = {"family": "family", "order": "trial", "status": "status", "seed": "seed", "cost": "cost"}
    for role in ("selection", "reported"):
        if metric[role] is not None and (name := _score_name(metric[role])) in columns:
            roles[role] = name
    return RawTable(
        source=source,
        columns=columns,
        roles=roles,
        configuration=[name for name in columns if name.startswith("config.")],
        direction=metric["direction"],
        cost_unit=study["cost"]["unit"],
        facts=_facts(study, environment, families, rows[-1][5]),
        row_name="trial",
        skipped=skipped,
    )


def _rows_of(family: _Family, skipped: list[Skipped]) -> list[dict[str, Any]]:
    """Finished trials of the plan's finished beginning, and the others as running."""
    prefix = 0
    while prefix in family.ends:
        prefix += 1
    rows = []
    for trial, start in sorted(family.starts.items()):
        row: dict[str, Any] = {"family": family.name, "trial": trial, "status": "running", "seed": start["seed"]}
        config = start["config"]
        if any(isinstance(value, dict | list) for value in config.values()):
            config = flatten(config)
        for name, value in config.items():
            row[f"config.{name}"] = value
        if trial < prefix:
            status, end = family.ends[trial]
            row["status"] = status
            for name, value in end["scores"].items():
                row[_score_name(name)] = value
            for name in ("wall", "cpu", "cost", "reason"):
                row[name] = end.get(name)
        rows.append(row)
    early = sum(trial > prefix for trial in family.ends)
    if early:
        why = f"{early} trials ended while trial {prefix} still runs; those that end early are no fair sample, and wait"
        skipped.append(Skipped(f"family {family.name}", why))
    return rows


def _score_name(name: str) -> str:
    return f"score.{name}" if name in _OWN or name.startswith("config.") else name


def _facts(
    study: dict[str, Any], environment: dict[str, Any], families: dict[int, _Family], head: str
) -> dict[str, str]:
    """What the checklist and the report can fill in: no path, no host, no user."""
    facts = {"format": "levelbest ledger", "ledger:head": head, "ledger:seed": str(study["seed"])}
    bounds = study["metric"]["bounds"]
    facts |= {f"bounds:{side}": str(b) for side, b in zip(("low", "high"), bounds, strict=True) if b is not None}
    for family in families.values():
        definition = family.definition
        facts[f"sampler:{family.name}"] = "random search"
        facts[f"planned:{family.name}"] = str(family.planned)
        facts[f"not_run:{family.name}"] = str(max(0, family.planned - len(family.starts)))
        facts[f"space:{family.name}"] = json.dumps(dict(definition["space"]))
        facts[f"seeds:{family.name}"] = str(definition["seeds"])
        if definition.get("time_limit") is not None:
            facts[f"time_limit:{family.name}"] = str(definition["time_limit"])
        words = definition.get("command") or [definition.get("function") or ""]
        facts[f"objective:{family.name}"] = " ".join(word.rsplit("/", 1)[-1] for word in words)
    for name in _ENVIRONMENT:
        if environment.get(name):
            value = environment[name]
            facts[f"environment:{name}"] = value if isinstance(value, str) else json.dumps(value)
    code = environment.get("code")
    if code:
        clean = {True: "clean", False: "with changes not committed", None: "unknown whether clean"}[code["clean"]]
        facts["environment:code"] = f"{code['commit']} ({clean})"
    if environment.get("packages"):
        facts["environment:packages"] = json.dumps(environment["packages"])
    return facts


READER = Reader(
    name="ledger",
    about="levelbest run's ledger (SQLite)",
    recognises=_recognises,
    read=_read,
)
READERS = (READER,)
