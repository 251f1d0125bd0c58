"""Ultralytics (YOLO): results.csv, a row per epoch of one run, with args.yaml beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from levelbest.cautions import Caution
from levelbest.readers.formats._paths import run_families
from levelbest.readers.formats._rows import Record, RunLog, runs_table
from levelbest.readers.formats._tree import Tree, tool
from levelbest.readers.raw import RawTable
from levelbest.readers.tables.files import Sign

__all__ = ["READERS"]

_RESULTS, _ARGS, _OPT = "results.csv", "args.yaml", "opt.yaml"
_SCORES = (
    *("metrics/mAP50-95(M)", "metrics/mAP50-95(P)", "metrics/mAP50-95(B)", "metrics/mAP_0.5:0.95"),
    "metrics/accuracy_top1",
)
"""What the tool itself chooses its best weights by, or nearly all of it: of masks, poses, boxes, or of classes."""
_PLACES = ("save_dir", "project", "name", "data", "source", "exist_ok", "device", "workers", "batch_size_auto")
"""Arguments that say where a run ran."""
_LOOK = 20


def _tables(tree: Tree) -> list[RawTable]:
    """One table, one row per epoch of each run; the family is the model that was trained."""
    runs = list(_runs(tree))
    if not runs:
        return []
    logged = list(dict.fromkeys(name for run in runs for row in run.logged for name in row))
    scores = [name for name in logged if name.startswith("metrics/")]
    score = next((name for name in _SCORES if name in scores), None)
    facts = {f"direction:{name}": "max" for name in scores}
    facts |= {f"direction:{name}": "min" for name in logged if name.endswith("_loss")}
    known = {"cost": "time"} if "time" in logged else {}
    table = runs_table(tree.name, runs, "model", "run", "Ultralytics results", steps=True, facts=facts, **known)
    if score is not None:
        table.roles["selection"], table.direction = score, "max"
        others = [name for name in scores if name != score]
        about = {"task": "a run", "column": score, "others": others}
        table.cautions.append(Caution.of("guessed-columns", None, len(others), kind="primary", **about))
    return [table]


def _runs(tree: Tree) -> Iterator[RunLog]:
    files = tree.named(_RESULTS)
    folders = [str(PurePosixPath(name).parent) for name in files]
    for name, folder, (family, in_path) in zip(files, folders, run_families(folders, tree.place.name), strict=True):
        settings = _arguments(tree, folder)
        model = settings.pop("args.model", None) or settings.pop("args.weights", None)
        rows = tree.measured(name)
        label = PurePosixPath(folder).name or tree.place.name
        trained = PurePosixPath(str(model)).stem if model else family
        yield RunLog(trained, label, "ok" if rows else "failed", {**in_path, **settings}, rows)


def _arguments(tree: Tree, folder: str) -> Record:
    """The settings of a run, without the places of files."""
    name = next((file for file in (_ARGS, _OPT) if str(PurePosixPath(folder, file)) in tree.files), _ARGS)
    arguments = tree.document(str(PurePosixPath(folder, name)), under="args")
    return {key: value for key, value in arguments.items() if key.removeprefix("args.") not in _PLACES}


READERS = (
    tool(
        "ultralytics",
        "Ultralytics results (results.csv with args.yaml), or their folders",
        _tables,
        "results of Ultralytics",
        files=(_RESULTS, _ARGS, _OPT),
        known=(_RESULTS,),
        file=(Sign(_RESULTS, columns=({"epoch"}, _SCORES)),),
        beside=(_ARGS, _OPT),
        look=_LOOK,
        logs=True,
    ),
)
