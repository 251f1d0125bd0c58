"""SWE-bench: the report of a run, with the instances that were resolved, or the reports of single instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from levelbest.errors import DataError
from levelbest.readers.formats._rows import Record, scored_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import has_marks, stem

__all__ = ["READERS"]

_INSTANCE = "report.json"
_OUTCOMES = {"resolved_ids": 1.0, "unresolved_ids": 0.0, "empty_patch_ids": 0.0, "error_ids": None}
"""An instance without a patch is not resolved; of one whose tests could not be run nothing is known."""
_OLD = {"resolved": 1.0, "no_generation": 0.0, "generated": 0.0}
"""As reports of the first version say it; the first list that an instance is in decides."""
_PLAIN = {"results", "report", "final_report", "evaluation"}
"""Names of files and folders that say nothing of the run."""
_LOOK = 20


def _is_report(path: Path) -> bool:
    of_run = has_marks(path, "resolved_ids", "unresolved_ids", "submitted_ids")
    of_old_run = has_marks(path, "resolved", "no_generation")
    of_instance = path.name == _INSTANCE and has_marks(path, "patch_successfully_applied", "resolved")
    return path.suffix == ".json" and (of_run or of_old_run or of_instance)


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per instance; the family is the run, by the name of its report or folder."""
    rows: list[Record] = []
    for name in tree.of_kind(_is_report, "report of SWE-bench"):
        document = tree.document(name)
        if {"resolved_ids", "unresolved_ids"} <= set(document):
            rows += _summary(tree, name, document, _OUTCOMES)
        elif {"resolved", "no_generation"} <= set(document):
            if "generated" not in document:
                raise DataError(
                    f"{name} lists the instances that were resolved and not those that were tried: give the reports of "
                    f"single instances ({_INSTANCE}), or the report of the run that the harness writes"
                )
            rows += _summary(tree, name, document, _OLD)
        else:
            rows += _instances(tree, name, document)
    facts = {"direction:resolved": "max", "bounds:low": "0", "bounds:high": "1"}
    return [scored_table(tree.name, rows, "SWE-bench report", ["resolved"], several=False, facts=facts)] if rows else []


def _summary(tree: Tree, name: str, report: Record, outcomes: Mapping[str, float | None]) -> Iterable[Record]:
    decided: dict[str, float | None] = {}
    for key, score in outcomes.items():
        for instance in _ids(report, key):
            decided.setdefault(instance, score)
    left = len(set(_ids(report, "incomplete_ids")) - set(decided))
    if left:
        tree.skip(name, f"{left} instances have no prediction and were not tried")
    parts = [part for part in (*PurePosixPath(name).parent.parts, stem(PurePosixPath(name).name)) if part not in _PLAIN]
    model = parts[-1] if parts else tree.place.name
    return [_row(model, instance, score) for instance, score in decided.items()]


def _ids(report: Record, key: str) -> list[str]:
    listed = report.get(key)
    return [str(name) for name in listed] if isinstance(listed, list) else []


def _instances(tree: Tree, name: str, document: Record) -> Iterable[Record]:
    model = PurePosixPath(name).parent.parent.name or tree.place.name
    rows = []
    for instance, outcome in document.items():
        with tree.trying(f"{name}, {instance}"):
            resolved = outcome["resolved"]
            rows.append(_row(model, instance, float(resolved) if isinstance(resolved, bool) else None))
    return rows


def _row(model: str, instance: str, score: float | None) -> Record:
    status = "failed" if score is None else "ok"
    return {"model": model, "task": "SWE-bench", "problem": instance, "status": status, "resolved": score}


READERS = (
    tool(
        "swe-bench",
        "SWE-bench reports, of runs or of instances (report.json), or their folder",
        _tables,
        "report of SWE-bench",
        files=lambda name: name.endswith(".json"),
        file=_is_report,
        look=_LOOK,
    ),
)
