"""The runner's ledger: a SQLite file, opened read-only. Its head is quoted, so its chain of hashes is followed first.

While a study runs, a family's rows from its first unfinished trial on count as running, whether they have ended or not:
trials that end early are the short ones, and only the finished prefix of the plan is a random sample.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import cast

from levelbest._ledger.chain import Chain, LedgerFamily, refuse
from levelbest._ledger.file import APPLICATION_ID, check_file, one_line
from levelbest._ledger.records import StartBody
from levelbest._read import open_file
from levelbest.errors import DataError, InputError, LevelbestError
from levelbest.readers.formats._rows import Record, flatten, looks_like_sqlite, open_sqlite, rows_table
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READERS", "is_ledger"]

_OWN = ("family", "trial", "status", "seed", "wall", "cpu", "cost", "reason")
_JUDGED = ("selection", "reported", "direction")
_ENVIRONMENT = ("levelbest", "python", "system", "processor", "cpus", "memory", "gpus")


def is_ledger(path: Path) -> bool:
    """Whether a file is marked as a ledger."""
    if not looks_like_sqlite(path):
        return False
    try:
        with open_file(path) as file:  # SQLite's file format gives the application its place
            return int.from_bytes(file.read(72)[68:72], "big") == APPLICATION_ID
    except (OSError, InputError):
        return False


def _read(path: Path) -> list[RawTable]:
    with open_sqlite(path) as connection:
        check_file(connection, path.name)
        try:
            return [_table(path.name, connection)]
        except LevelbestError:
            raise
        except (sqlite3.Error, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise DataError(f"the ledger {path.name} cannot be read: {one_line(error)}") from error


def _table(source: str, connection: sqlite3.Connection) -> RawTable:
    chain = Chain(refuse(source))
    starts: dict[tuple[int | None, int | None], StartBody] = {}
    for record, body in chain.follow(connection):
        if record.kind == "start":
            starts[record.family, record.trial] = cast(StartBody, body)
    study, skipped = chain.study, list[Skipped]()
    rows = [row for family in chain.families.values() for row in _rows_of(family, starts, skipped)]
    if not rows:
        raise DataError(f"{source} holds no trial yet; run its study first")
    metric = study["metric"]
    roles = {"family": "family", "order": "trial", "status": "status", "seed": "seed", "cost": "cost"}
    scores = {"selection": metric["selection"], "reported": metric["reported"]}
    roles |= {role: _score_name(name) for role, name in scores.items() if name is not None}
    return rows_table(
        source,
        rows,
        roles,
        "levelbest ledger",
        settings="config.",
        first=["family", "trial", "status", "seed"],
        numbers=["wall", "cpu", "cost"],
        direction=metric["direction"],
        cost_unit=study["cost"]["unit"],
        facts=_facts(chain),
        row_name="trial",
        skipped=skipped,
    )


def _rows_of(
    family: LedgerFamily, starts: dict[tuple[int | None, int | None], StartBody], skipped: list[Skipped]
) -> list[Record]:
    """Finished trials of the plan's finished beginning, and the others as running."""
    prefix = family.prefix
    rows = []
    for trial in sorted(family.starts):
        start = starts[family.number, trial]
        row: Record = {"family": family.name, "trial": trial, "status": "running", "seed": start["seed"]}
        config = start["config"]
        if any(isinstance(value, dict | list) for value in config.values()):
            config = flatten(config)
        for name, value in config.items():
            row[f"config.{name}"] = value
        if trial < prefix:
            end = family.ends[trial]
            row["status"] = end.status
            for name, score in end.scores.items():
                row[_score_name(name)] = score
            row |= {"wall": end.wall, "cpu": end.cpu, "cost": end.cost, "reason": end.reason}
        rows.append(row)
    early = sum(trial > prefix for trial in family.ends)
    if early:
        why = f"{early} trials ended while trial {prefix} still runs: not a random sample, so they are left out so far"
        skipped.append(Skipped(f"family {family.name}", why))
    return rows


def _score_name(name: str) -> str:
    return f"score.{name}" if name in _OWN or name.startswith("config.") else name


def _facts(chain: Chain) -> dict[str, str]:
    """What the checklist and the report can fill in: no path, no host, no user."""
    environment: Record = chain.environment
    facts = {"ledger:head": chain.head, "ledger:seed": str(chain.study["seed"])}
    bounds = chain.study["metric"]["bounds"]
    facts |= {f"bounds:{side}": str(b) for side, b in zip(("low", "high"), bounds, strict=True) if b is not None}
    registered = _registered(chain)
    for family in chain.families.values():
        definition = family.definition
        facts[f"sampler:{family.name}"] = "random search"
        facts[f"planned:{family.name}"] = str(family.n_planned)
        facts[f"not_run:{family.name}"] = str(max(0, family.n_planned - len(family.starts)))
        facts[f"space:{family.name}"] = json.dumps(dict(definition["space"]))
        facts[f"planned_first:{family.name}"] = str(family.n_planned_first)
        if registered:
            facts[f"headline:{family.name}"] = registered
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


def _registered(chain: Chain) -> str:
    """The headline, its scores, and how many trials of each family it is about; empty where none was registered."""
    if (headline := chain.study.get("headline")) is None:
        return ""
    trials = {
        family.name: (len(family.starts), len(family.starts) - len(family.failed)) for family in chain.families.values()
    }
    return json.dumps({"n": headline, "trials": trials} | {name: chain.study["metric"].get(name) for name in _JUDGED})


READERS = (Reader("ledger", "levelbest run's ledger (SQLite)", is_ledger, _read),)
