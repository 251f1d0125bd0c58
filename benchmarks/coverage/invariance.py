"""Whether a verdict stands when nothing that matters changes: order, names, shift, scale, the random seed, a further
family, columns that play no part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    third = _frame([*scores, scores[0] - 50 * (np.ptp(np.concatenate(scores)) or 1)], ["a", "b", "c"])
    pooled = np.concatenate(scores)
    other = {
        "order of families": _verdicts(_frame(scores[::-1], ["b", "a"])),
        "order of rows": _verdicts(_taken(frame, rng.permutation(size))),
        "names": _verdicts(_frame(scores, ["zebra", "ant"]), names={"a": "zebra", "b": "ant"}),
        "shift": _verdicts(frame | {"score": (pooled + 7.25).tolist()}),
        "scale": _verdicts(frame | {"score": (pooled * 1024).tolist()}),
        "seed": _verdicts(frame, seed=int(rng.integers(1, 1000))),
        "a third family, far below": _verdicts(third),
    }
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


def invariance_cells() -> list[Cell]:
    """Samples near the edge of a verdict."""
    cells = []
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
