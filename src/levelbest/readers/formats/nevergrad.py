"""Nevergrad's ParametersLogger: a line of JSON for each point whose loss was reported to an optimizer."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from levelbest.readers.formats._rows import Record, number, rows_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import has_marks, head_of, stem

__all__ = ["READERS"]

_CLIPPED = 5e20
"""What Nevergrad writes for a loss that is infinite, not a number, or larger than this."""
_MOST_ELEMENTS = 24
"""Elements of an array that become columns of their own, as in ``ParametersLogger.load_flattened``."""
_ONE_SHOT = re.compile(r"[A-Za-z]*(Random|Halton|Hammersley|LHS)Search(PlusMiddlePoint)?|StupidRandom")
"""Optimizers that draw all points without looking at a loss; ``ChainCMAwithLHS`` is none of them."""


def _is_log(path: Path) -> bool:
    return head_of(path).lstrip().startswith(b'{"#parametrization":') and has_marks(path, "#optimizer", "#num-tell")


def _tables(tree: Tree) -> list[RawTable]:
    """One table; a family for each optimizer, and a search for each run of one that learns."""
    rows: list[Record] = []
    lines: list[int] = []
    runs: dict[tuple[str, str], int] = {}
    counts: dict[tuple[str, str], float] = {}
    for place, point in tree.objects(tree.name, "point reported to an optimizer", "#loss", "#optimizer"):
        key = (str(point["#optimizer"]), str(point.get("#session")))
        count = number(point.get("#num-tell"))
        if key not in runs or count is None or count <= counts[key]:
            runs[key] = 1 + max(runs.values(), default=0)
        counts[key] = -1.0 if count is None else count
        rows.append(_row(point, runs[key]))
        lines.append(place)
    if not rows:
        return []
    roles = {"family": "optimizer", "status": "status", "order": "number", "search": "search"}
    if not any(name.startswith("losses.") for row in rows for name in row):
        roles["selection"] = "loss"
    optimizers = list(dict.fromkeys(row["optimizer"] for row in rows))
    adaptive = [name for name in optimizers if _ONE_SHOT.fullmatch(name) is None]
    if not adaptive or len({(row["optimizer"], row["search"]) for row in rows}) == len(optimizers):
        for row in rows:
            del row["search"]
    return [
        rows_table(
            stem(tree.name),
            rows,
            roles,
            "Nevergrad log",
            settings="parameters.",
            numbers=["loss"],
            direction="min",
            facts={f"sampler:{name}": f"{name} (adaptive)" if name in adaptive else name for name in optimizers},
            lines=np.array(lines, dtype=np.int64),
            row_name="line",
        )
    ]


def _row(point: Record, search: int) -> Record:
    loss = number(point["#loss"])
    lost = loss is None or not loss < _CLIPPED
    row: Record = {
        "optimizer": str(point["#optimizer"]),
        "search": search,
        "number": point.get("#num-tell"),
        "status": "diverged" if lost else "ok",
        "loss": None if lost else loss,
    }
    for name, value in point.items():
        if name.startswith("#losses#"):
            row[f"losses.{name.removeprefix('#losses#')}"] = number(value)
        elif "#" not in name and not name.endswith(".indices"):  # name#sigma is a step size, name.indices a code
            setting = f"parameters.{name}"
            if isinstance(value, list) and len(value) <= _MOST_ELEMENTS and not any(isinstance(x, list) for x in value):
                row |= {f"{setting}.{place}": element for place, element in enumerate(value)}
            else:
                row[setting] = str(value) if isinstance(value, list | dict) else value
    return row


_ABOUT = "Nevergrad log (ParametersLogger, JSON lines)"
READERS = (tool("nevergrad", _ABOUT, _tables, "point of Nevergrad", file=_is_log),)
