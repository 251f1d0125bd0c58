"""How many of a folder's checklists answer each item: a table like table 1 of *Show Your Work*.

levelbest checklist results.csv --out folder/paper.md        (or --json > folder/paper.json), one per paper
python examples/papers/checklist_coverage.py folder
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from _common import markdown_table

_LINE = re.compile(r"^- \[(?P<box>[ xX])\] \*\*(?P<question>.+?)\*\*")


def read_checklist(path: Path) -> dict[str, bool]:
    """Question -> whether it is answered, from our Markdown or JSON form."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        try:
            items = json.loads(text)["items"]
            return {item["question"]: bool(item["answer"]) for item in items}
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"{path.name} is not a checklist in our JSON form") from error
    found = [_LINE.match(line) for line in text.splitlines()]
    answers = {line["question"]: line["box"] != " " for line in found if line}
    if not answers:
        raise ValueError(f"{path.name} holds no checklist in our Markdown form")
    return answers


def coverage(folder: Path) -> tuple[dict[str, int], int, list[str]]:
    """How many checklists answer each question, how many there are, and which files were no checklists."""
    if not folder.is_dir():
        raise SystemExit(f"there is no folder {folder}; fill it with `levelbest checklist FILE --out FOLDER/NAME.md`")
    answered: dict[str, int] = {}
    papers, skipped = 0, []
    for path in sorted([*folder.glob("*.md"), *folder.glob("*.json")]):
        try:
            one = read_checklist(path)
        except (ValueError, OSError) as error:
            skipped.append(str(error))
            continue
        papers += 1
        for question, yes in one.items():
            answered[question] = answered.get(question, 0) + yes
    if not papers:
        raise SystemExit(f"{folder} holds no checklist (.md or .json); `levelbest checklist FILE --out` writes one")
    return answered, papers, skipped


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Coverage of checklist items over a folder of filled checklists.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    answered, papers, skipped = coverage(chosen.folder)
    for note in skipped:
        print(f"skipped: {note}", file=sys.stderr)
    if chosen.json:
        print(json.dumps({"checklists": papers, "answered": answered, "skipped": skipped}))
        return 0
    rows = [(question, str(count), f"{100 * count / papers:.0f} %") for question, count in answered.items()]
    print(markdown_table(("item", f"answered, of {papers}", "share"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
