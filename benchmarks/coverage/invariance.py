"""Whether a verdict stands when nothing that matters changes: order, names, shift, scale, the random seed, a further
family (in every design), columns that play no part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import designs as d
import numpy as np
from certificate import Cell, Measures
from distributions import QUANTILES

import levelbest as lb

__all__ = ["invariance_cells"]

Frame = dict[str, list[Any]]
COLUMNS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "worker": lambda rng, size: rng.integers(0, 3, size),
    "node": lambda rng, size: rng.choice(["n1", "n2", "n3"], size),
    "machine": lambda rng, size: rng.choice(["red", "green", "blue"], size),
    "batch": lambda rng, size: rng.integers(1, 4, size),
}


def _verdicts(frame: Frame, *, seed: int = 0, names: dict[str, str] | None = None) -> list[tuple[float, float, str]]:
    """Of families a and b, whatever they are called."""
    back = {new: old for old, new in (names or {}).items()}
    compared = lb.compare(frame, family="model", selection="score", direction="max", rng=seed)
    for pair in compared.pairs:
        if {back.get(name, name) for name in pair.families} == {"a", "b"}:
            return [(part.start, part.end, back.get(part.verdict, part.verdict)) for part in pair.verdicts]
    return []


def _frame(scores: list[np.ndarray], names: list[str]) -> Frame:
    model = [name for name, part in zip(names, scores, strict=True) for _ in part]
    return {"model": model, "score": np.concatenate(scores).tolist()}


def _taken(frame: Frame, rows: np.ndarray) -> Frame:
    return {name: [column[row] for row in rows] for name, column in frame.items()}


def _changed(rng: np.random.Generator, scores: list[np.ndarray]) -> Measures:
    frame = _frame(scores, ["a", "b"])
    size = len(frame["score"])
    base = _verdicts(frame)
    pooled = np.concatenate(scores)
    far = 50 * (np.ptp(pooled) or 1)
    few = rng.normal(-far, np.std(pooled), 7)
    thirds = {"below": scores[0] - far, "above": scores[1] + far, "below, of 7 trials": few}
    other = {
        "order of families": _verdicts(_frame(scores[::-1], ["b", "a"])),
        "order of rows": _verdicts(_taken(frame, rng.permutation(size))),
        "names": _verdicts(_frame(scores, ["zebra", "ant"]), names={"a": "zebra", "b": "ant"}),
        "shift": _verdicts(frame | {"score": (pooled + 7.25).tolist()}),
        "scale": _verdicts(frame | {"score": (pooled * 1024).tolist()}),
        "seed": _verdicts(frame, seed=int(rng.integers(1, 1000))),
    }
    for where, third in thirds.items():
        other[f"a third family, far {where}"] = _verdicts(_frame([*scores, third], ["a", "b", "c"]))
    for name, column in COLUMNS.items():
        other[f"a column {name}"] = _verdicts(frame | {name: column(rng, size).tolist()})
    return {name: float(verdicts != base) for name, verdicts in other.items()} | {
        "decided": float(any(name in ("a", "b") for _, _, name in base))
    }


def _duplicated(rng: np.random.Generator, scores: list[np.ndarray]) -> Measures:
    """Every row copied: whether the output calls them repeated rows."""
    frame = _taken(_frame(scores, ["a", "b"]), np.repeat(np.arange(sum(map(len, scores))), 2))
    frame["lr"] = np.repeat(rng.random(len(frame["score"]) // 2), 2).tolist()
    compared = lb.compare(frame, family="model", selection="score", direction="max")
    said = " ".join(str(caution.to_dict()["message"]) for caution in compared.cautions)
    return {"repeated rows": float("copies of another row" in said or "repeat" in said)}


Scores = list[np.ndarray]


def _shares(scores: Scores) -> Scores:
    return [0.5 + part / 40 for part in scores]


def _cost(scores: Scores) -> Any:
    """The cost of a trial depends on its place alone."""
    spent = [0.2 + np.random.default_rng(place % 2).exponential(size=part.size) for place, part in enumerate(scores)]
    return lb.compare(lb.Trials.from_arrays(**d.joined(scores), cost=np.concatenate(spent)), axis="cost")


def _suite(scores: Scores) -> Any:
    """Scores in [0, 1], two samples of each of 20 problems and no others."""
    return d.problems(_shares(scores), 2, about="suite")


@dataclass(frozen=True)
class Design:
    """How families are compared, how many trials each has, a shift near the edge of a verdict, and a far one."""

    compare: Callable[[Scores], Any]
    size: int
    shift: float
    far: float = 1_000


DESIGNS = {
    "seeds": Design(d.seeds, 10, 1.0),
    "few seeds": Design(d.seeds, 4, 2.2),
    "few trials": Design(d.trials, 5, 2.0),
    "medians": Design(partial(d.trials, statistic="median"), 32, 0.8),
    "searches": Design(d.searches, 40, 0.9),
    "paired configurations": Design(d.pairs, 20, 1.0),
    "problems": Design(partial(d.problems, bounds=None), 30, 0.8),
    "these problems": Design(_suite, 40, 0.6, far=15),
    "tasks": Design(partial(d.tasks, number=2), 40, 0.6),
    "cost": Design(_cost, 20, 2.0),
}


def _of_first_pair(compared: Any) -> list[tuple[float, float, str]]:
    (pair,) = (pair for pair in compared.pairs if set(pair.families) == {"family a", "family b"})
    return [(part.start, part.end, part.verdict) for part in pair.verdicts]


def _third(rng: np.random.Generator, design: str) -> Measures:
    """A third family far below or above the others."""
    what = DESIGNS[design]
    scores = [rng.normal(size=what.size) + what.shift, rng.normal(size=what.size)]
    base = _of_first_pair(what.compare(scores))
    below, above = ([*scores, scores[0] + far] for far in (-what.far, what.far))
    return {
        "below": float(_of_first_pair(what.compare(below)) != base),
        "above": float(_of_first_pair(what.compare(above)) != base),
        "decided": float(any(verdict.startswith("family") for _, _, verdict in base)),
    }


def invariance_cells() -> list[Cell]:
    """Samples near the edge of a verdict."""
    cells = [
        Cell("invariance by design", name, str(what.size), lambda rng, _at, name=name: _third(rng, name))
        for name, what in DESIGNS.items()
    ]
    for distribution, shift, sizes in (
        ("normal", 0.9, (20, 20)),
        ("three modes", 0.2, (12, 30)),
        ("18 % failures", 0.1, (30, 15)),
        ("four values", 0.2, (25, 25)),
    ):

        def measure(rng, _at, *, distribution=distribution, shift=shift, sizes=sizes):
            scores = [QUANTILES[distribution](rng.random(size)) for size in sizes]
            scores[0] = scores[0] + shift
            return _changed(rng, scores) | _duplicated(rng, scores)

        cells.append(Cell("invariance", distribution, "-".join(map(str, sizes)), measure))
    return cells
