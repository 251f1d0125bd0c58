"""A table with a known meaning, and how what is read from it is judged."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from levelbest import read_trials
from levelbest.errors import LevelbestError

Columns = dict[str, list[Any]]
Rng = np.random.Generator


@dataclass
class Labelled:
    """A table and what it means."""

    kind: str
    columns: Columns
    roles: dict[str, str | tuple[str, ...] | None]
    """The column of each part, or all those that are right; ``direction`` is ``max`` or ``min``."""
    settings: set[str]
    n_trials: int
    n_families: int
    ordered: bool = False
    """Whether the order of the rows means something."""
    nothing: set[str] = field(default_factory=set)
    n_failed: int = 0
    decimal: str = "."
    means: dict[str, float] = field(default_factory=dict)
    """The mean score of each family, where families or repetitions are columns and no column is the score."""
    then: dict[str, Any] = field(default_factory=dict)
    """The options that answer the question, where the table does not tell and only a question is right."""

    def write(self, path: Path) -> Path:
        """The table as CSV; with semicolons where decimals have commas."""
        comma = self.decimal == ","

        def written(cell: Any) -> str:
            return str(cell).replace(".", ",") if comma and isinstance(cell, float) else str(cell)

        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=";" if comma else ",")
            writer.writerow(self.columns)
            writer.writerows([written(cell) for cell in row] for row in zip(*self.columns.values(), strict=True))
        return path


def judge(labelled: Labelled, path: Path | None = None) -> tuple[str, str]:
    """``right``, ``question`` or ``wrong``, and what the matter is; through a file where a path is given.

    ``asked``: a question about what the table does not tell, after whose answer it was read rightly.
    """
    source: Any = labelled.columns if path is None else labelled.write(path)
    judged, why = _judged(labelled, source, {})
    if not labelled.then:
        return judged, why
    if judged != "question":
        return "wrong", f"it does not tell, and was answered ({judged} {why})"
    judged, then = _judged(labelled, source, labelled.then)
    return ("asked", why) if judged == "right" else ("wrong", f"{why}; then {judged}: {then}")


def _judged(labelled: Labelled, source: Any, options: dict[str, Any]) -> tuple[str, str]:
    try:
        trials = read_trials(source, **options)
    except LevelbestError as error:
        return "question", str(error)
    if len(trials.families) < labelled.n_families:
        return "question", "one family: no comparison without naming them"  # compare asks
    read = trials.columns | {"direction": trials.metric.direction}
    wrong = [
        f"{role}: {read.get(role)} for {right}"
        for role, right in labelled.roles.items()
        if read.get(role) not in (right if isinstance(right, tuple) else (right,))
    ]
    if len(trials) != labelled.n_trials:
        wrong.append(f"{len(trials)} trials for {labelled.n_trials}")
    if (n_failed := int((trials.status > 0).sum())) != labelled.n_failed:
        wrong.append(f"{n_failed} failed for {labelled.n_failed}")
    for family, mean in labelled.means.items():
        if family not in trials.families or abs(np.nanmean(trials[family].selection) - mean) > 1e-6 * abs(mean):
            wrong.append(f"not the mean of {family}")
    varied = {name for name, column in trials.configuration.items() if len({str(cell) for cell in column}) > 1}
    if extra := varied & labelled.nothing:
        wrong.append(f"settings: {', '.join(sorted(extra))}")
    return ("wrong", "; ".join(wrong)) if wrong else ("right", "")


def pick(rng: Rng, *names: str) -> str:
    """One of these."""
    return str(rng.choice(list(names)))


def some(rng: Rng, names: Iterable[str], low: int, high: int) -> list[str]:
    """Between ``low`` and ``high`` of these, in any order."""
    names = list(names)
    return [str(name) for name in rng.permutation(names)[: int(rng.integers(low, min(high, len(names)) + 1))]]


def crossed(**factors: Iterable[Any]) -> Columns:
    """One row for each combination, the last factor fastest."""
    rows = list(product(*factors.values()))
    return {name: [row[place] for row in rows] for place, name in enumerate(factors)}


def scored(
    rng: Rng, columns: Columns, by: Iterable[str], *, centre: float, spread: float, noise: float, digits: int = 4
) -> list[float]:
    """A score for each row: an effect for each value of these columns, and noise."""
    count = len(next(iter(columns.values())))
    total = np.full(count, float(centre))
    for name in by:
        effects = {value: spread * rng.standard_normal() for value in dict.fromkeys(columns[name])}
        total += [effects[value] for value in columns[name]]
    total += noise * rng.standard_normal(count)
    return total.round(digits).tolist()


def beside(rng: Rng, rows: int, used: Columns) -> Columns:
    """Columns that say nothing about the trial: up to four."""

    def hexes(size: int) -> list[str]:
        return ["".join(rng.choice(list("0123456789abcdef"), size)) for _ in range(rows)]

    made: dict[str, Callable[[], list[Any]]] = {
        "git_sha": lambda: hexes(7)[:1] * rows,
        "hostname": lambda: rng.choice(["node-03", "node-11", "gpu17"], rows).tolist(),
        "ckpt_path": lambda: [f"/ckpts/{text}/last.pt" for text in hexes(6)],
        "finished_at": lambda: [
            f"2024-0{1 + row % 9}-1{row % 10} 0{row % 8}:{10 + row % 50}:07" for row in range(rows)
        ],
        "peak_mem_gb": lambda: rng.uniform(3, 11, rows).round(2).tolist(),
        "wandb_url": lambda: [f"https://wandb.ai/lab/proj/runs/{text}" for text in hexes(8)],
        "slurm_job": lambda: (4_410_000 + np.cumsum(rng.integers(1, 5, rows))).tolist(),
        "torch_version": lambda: ["2.1.0"] * rows,
        "notes": lambda: [""] * rows,
        "num_params": lambda: [11_689_512] * rows,
        "uuid": lambda: hexes(32),
        "user": lambda: rng.choice(["mk", "jl"], rows).tolist(),
        "throughput": lambda: rng.uniform(900, 1100, rows).round(1).tolist(),
    }
    free = [name for name in made if name not in used]
    return {name: made[name]() for name in some(rng, free, 0, 4)}
