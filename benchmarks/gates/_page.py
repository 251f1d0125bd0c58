"""Tables of docs/gates.md, each between two marks, from the committed results beside the script that made them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.parents[1] / "docs" / "gates.md"


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of texts and numbers."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def save(name: str, results: dict[str, object], table: str) -> None:
    """Write the results, and their table into the page."""
    (FOLDER / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    place(name, table)


def place(name: str, table: str) -> None:
    """Write a table into the page."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    PAGE.write_text(f"{before}{begin}{table}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def load(name: str) -> dict[str, object]:
    """The committed results."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
