"""Counts how many checklists answer each item (a table like table 1 of [D]), in several formats.

It reads levelbest's Markdown and JSON forms, and common other formats: lines with a check box or an answer macro (``-
[x] ...``, ``\\answerYes{...}``), lines ``Question: ...`` and ``Answer: ...``, and tables or mappings of questions to
answers (CSV, YAML, JSON). A question in other words is assigned to its item by keywords.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from levelbest.errors import DataError, InputError
from levelbest.report.paper.checklist import QUESTIONS

_SUFFIXES = (".md", ".markdown", ".txt", ".tex", ".json", ".yaml", ".yml", ".csv")
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*(?:\[(?P<box>[ xX✓✔])\]|(?P<mark>[☐☑☒✓✔✗✘]))\s*(?P<question>\S.*)$")
_MACRO = re.compile(r"\\answer(?P<answer>Yes|No|NA|TODO)\b\s*(?:\{|\[)?", re.IGNORECASE)
_LABELLED = re.compile(
    r"^\s*(?:\\item\s*(?:\[[^\]]*\])?|[-*+]|\d+[.)])?\s*\**(?P<label>question|answer)\**\s*:\s*\**(?P<rest>.*)$",
    re.IGNORECASE,
)
"""``Question: ...`` and, further down, ``Answer: ...``, as NeurIPS has them."""
_YES = {"x", "X", "✓", "✔", "☑", "☒"}
_NO_ANSWER = {"", "no", "n", "false", "0", "none", "-", "–", "todo", "tbd", "?", "na", "n/a", "open", "not applicable"}
# An item is asked for where all words of one of its sets stand in a question.
_WORDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "total_cost": (("total", "comput"), ("total", "cost"), ("total", "budget"), ("all", "experiments", "cost")),
    "infrastructure": (("infrastructure",), ("hardware",), ("gpu", "type")),
    "runtime": (("runtime",), ("run", "time"), ("how long",), ("average", "time"), ("average", "duration")),
    "splits": (("split",),),
    "validation": (("validation", "performance"), ("validation", "result"), ("validation", "score")),
    "code": (("code",), ("repository",)),
    "bounds": (("bound",), ("search space",), ("range", "hyperparameter"), ("values", "searched")),
    "configuration": (("best", "hyperparameter"), ("configuration", "best"), ("hyperparameter", "best-performing")),
    "trials": (("number", "trials"), ("search trials",), ("how many", "trials"), ("number", "assignments")),
    "sampling": (
        ("method", "hyperparameter"),
        ("hyperparameter", "chosen"),
        ("hyperparameter", "select"),
        ("sampler",),
    ),
    "expected": (
        ("expected", "performance"),
        ("summary statistics",),
        ("error bar",),
        ("mean", "variance"),
        ("significance",),
    ),
    "failures": (("fail",),),
    "parameters": (("number", "parameters"), ("how many", "parameters")),
    "packages": (("package",), ("librar", "version")),
    "seeds": (("seed",),),
}


@dataclass(frozen=True)
class Survey:
    """How many of the checklists answer each question, and the files that were none."""

    n_checklists: int
    answered: tuple[tuple[str, int], ...]
    """(question, checklists that answer it): our items first, in their order, then questions of others' own."""
    asked: tuple[tuple[str, int], ...]
    """(question, checklists that ask it)."""
    skipped: tuple[tuple[str, str], ...]
    """(file, why)."""

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {
            "checklists": self.n_checklists,
            "answered": dict(self.answered),
            "asked": dict(self.asked),
            "skipped": [{"where": where, "why": why} for where, why in self.skipped],
        }

    def markdown(self) -> str:
        """A table: the item, how many answer it, and the share of all checklists."""
        lines = [f"| item | answered, of {self.n_checklists} | share |", "| --- | ---: | ---: |"]
        for question, count in self.answered:
            shown = question.replace("|", "\\|")
            lines.append(f"| {shown} | {count} | {100 * count / self.n_checklists:.0f} % |")
        return "\n".join(lines) + "\n"


def survey_checklists(paths: Iterable[str | Path]) -> Survey:
    """Count the answers in checklists: Markdown, LaTeX, JSON, YAML or CSV files, one checklist each, and folders, which
    are searched with all below them. Files that hold no checklist are listed in ``skipped``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.md").write_text("- [x] Is there a link to the code?\\n- [ ] Which GPU type was used?\\n")
    >>> survey_checklists([folder]).answered[:2]
    (('What computing infrastructure was used?', 0), ('Where is the code?', 1))
    """
    answered: dict[str, int] = {}
    counts: dict[str, int] = {}
    skipped, n_checklists = [], 0
    for path in _files(paths):
        try:
            answers = _read(path)
        except (OSError, UnicodeDecodeError, ValueError) as error:
            skipped.append((path.name, str(error).splitlines()[0] if str(error) else "cannot be read"))
            continue
        n_checklists += 1
        for question, yes in answers.items():
            counts[question] = counts.get(question, 0) + 1
            answered[question] = answered.get(question, 0) + yes
    if not n_checklists:
        raise DataError(
            "no checklist was found: lines with check boxes, answer macros, or a table of questions and answers"
        )
    known = [question for question in QUESTIONS.values() if question in counts]
    order = [*known, *(question for question in counts if question not in known)]
    return Survey(
        n_checklists,
        tuple((question, answered[question]) for question in order),
        tuple((question, counts[question]) for question in order),
        tuple(skipped),
    )


def _files(paths: Iterable[str | Path]) -> list[Path]:
    files = []
    for given in map(Path, paths):
        if given.is_dir():
            files += sorted(path for path in given.rglob("*") if path.is_file() and path.suffix.lower() in _SUFFIXES)
        elif given.is_file():
            files.append(given)
        else:
            raise InputError(f"there is no file or folder {given}")
    return files


def _read(path: Path) -> dict[str, bool]:
    """Question -> whether it is answered."""
    text = path.read_text(encoding="utf-8")
    suffix = path.suffix.lower()
    if suffix in (".json", ".yaml", ".yml"):
        pairs = _from_document(text, suffix)
    elif suffix == ".csv":
        pairs = [(row[0], row[1]) for row in csv.reader(io.StringIO(text)) if len(row) > 1]
        pairs = pairs[1:] if pairs and pairs[0][1].strip().lower() in ("answer", "answered") else pairs
    else:
        pairs = _from_lines(text)
    answers: dict[str, bool] = {}
    for question, answer in pairs:
        item = _item(question)
        answers[item] = answers.get(item, False) or answer.strip().lower() not in _NO_ANSWER
    if not answers:
        raise ValueError("holds no checklist")
    return answers


def _from_document(text: str, suffix: str) -> list[tuple[str, str]]:
    if suffix == ".json":
        document = json.loads(text)
    else:
        import yaml

        try:
            document = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"is not YAML: {error}") from error
    if isinstance(document, dict) and isinstance(document.get("items"), list):  # our own form
        document = document["items"]
    if isinstance(document, list):
        rows = [row for row in document if isinstance(row, dict) and "question" in row]
        return [(str(row["question"]), "" if row.get("answer") is None else str(row["answer"])) for row in rows]
    if isinstance(document, dict):
        return [
            (str(key), "" if value is None else str(value))
            for key, value in document.items()
            if not isinstance(value, dict | list)
        ]
    return []


def _from_lines(text: str) -> list[tuple[str, str]]:
    """Check boxes, questions that an answer macro follows on the same line or the next, and labelled ones."""
    pairs, before = [], ""
    for line in text.splitlines():
        box, macro, labelled = _BOX.match(line), _MACRO.search(line), _LABELLED.match(line)
        if labelled:
            if labelled["label"].lower() == "question":
                before = _question(labelled["rest"])
            elif before:
                pairs.append((before, macro["answer"] if macro else _question(labelled["rest"]).strip("[]. ")))
                before = ""
            continue
        if box:
            mark = box["box"] or box["mark"]
            pairs.append((_question(box["question"]), "yes" if mark in _YES else ""))
        elif macro:
            question = _question(line[: macro.start()]) or before
            if question and not line.lstrip().startswith(("%", "\\newcommand")):
                pairs.append((question, macro["answer"]))
        if line.strip():
            before = _question(line)
    return pairs


def _question(text: str) -> str:
    """The words of a question without bullets, markup and what follows a bold one."""
    bold = re.match(r"\s*\*\*(.+?)\*\*", text)
    plain = bold[1] if bold else text
    plain = re.sub(r"\\item\b(\[[^\]]*\])?|\\[a-zA-Z]+|[*_`{}~]", " ", plain)
    return " ".join(plain.split()).strip(" -:")


def _item(question: str) -> str:
    """The item that a question asks for, or the question itself."""
    if question in QUESTIONS:
        return QUESTIONS[question]
    words = question.lower()
    if question in QUESTIONS.values():
        return question
    for key, sets in _WORDS.items():
        if any(all(word in words for word in needed) for needed in sets):
            return QUESTIONS[key]
    return question
