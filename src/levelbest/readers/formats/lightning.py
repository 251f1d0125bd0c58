"""Folders of Lightning's CSVLogger: metrics.csv with its sparse rows, and hparams.yaml, for each version."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from levelbest.errors import DataError
from levelbest.readers.formats._metrics import measured
from levelbest.readers.formats._rows import Run, runs_table
from levelbest.readers.formats._tree import Tree, beside, distinct_names, holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READERS"]

_METRICS, _HPARAMS = "metrics.csv", "hparams.yaml"
_VERSION = re.compile(r"version_(\d+)")


def _recognises(path: Path) -> bool:
    if path.is_file() and path.name == _METRICS:
        return path.with_name(_HPARAMS).is_file()
    seen: dict[PurePosixPath, set[str]] = {}

    def is_version(name: str) -> bool:
        inside = PurePosixPath(name)
        if inside.name not in (_METRICS, _HPARAMS):
            return False
        files = seen.setdefault(inside.parent, set())
        files.add(inside.name)
        return len(files) == 2 or (inside.name == _METRICS and bool(_VERSION.fullmatch(inside.parent.name)))

    return holds(path, is_version)


def _read(path: Path, **_: object) -> list[RawTable]:
    """One table per logger name, one row per version and step."""
    if path.is_file() and path.name == _METRICS:
        tree = beside(path, _HPARAMS)
        tree.name = path.resolve().parent.name
    else:
        tree = open_tree(path, lambda name: PurePosixPath(name).name in (_METRICS, _HPARAMS) or ".tfevents." in name)
    if not tree.named(_METRICS):
        raise DataError(f"{tree.name} holds no metrics.csv of Lightning's CSVLogger")
    logged_elsewhere = {str(PurePosixPath(name).parent) for name in tree.files if ".tfevents." in name}
    versions = dict.fromkeys(str(PurePosixPath(name).parent) for name in tree.named(_METRICS, _HPARAMS))
    families: dict[str, list[str]] = {}
    for folder in versions:
        if str(PurePosixPath(folder, _METRICS)) in tree.files or folder not in logged_elsewhere:
            families.setdefault(str(PurePosixPath(folder).parent), []).append(folder)
    names = distinct_names(families, tree.name)
    return [_table(tree, names[home], folders) for home, folders in families.items()]


def _table(tree: Tree, family: str, folders: list[str]) -> RawTable:
    skipped: list[Skipped] = []
    runs = []
    for folder in sorted(folders, key=_number):
        settings = tree.document(str(PurePosixPath(folder, _HPARAMS)), skipped, under="hparams")
        logged = measured(tree, str(PurePosixPath(folder, _METRICS)), skipped)
        name = PurePosixPath(folder).name or tree.name
        runs.append(Run(family, name, "ok" if logged else "failed", settings, logged))
    about = "Lightning CSVLogger folder"
    return runs_table(family, runs, "name", "version", about, steps=True, skipped=skipped)


def _number(folder: str) -> tuple[float, str]:
    match = _VERSION.fullmatch(PurePosixPath(folder).name)
    return (float(match[1]) if match else float("inf")), folder


READERS = (Reader("lightning", "Lightning CSVLogger folder (metrics.csv and hparams.yaml)", _recognises, _read),)
