"""Folders of Lightning's CSVLogger: metrics.csv with its sparse rows, and hparams.yaml, for each version."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from levelbest.readers.formats._rows import Run, runs_table
from levelbest.readers.formats._tree import Tree, distinct_names, tool
from levelbest.readers.raw import RawTable

__all__ = ["READERS"]

_METRICS, _HPARAMS = "metrics.csv", "hparams.yaml"
_VERSION = re.compile(r"version_(\d+)")


def _is_wanted(name: str) -> bool:
    return PurePosixPath(name).name in (_METRICS, _HPARAMS) or ".tfevents." in name


def _is_version(name: str) -> bool:
    inside = PurePosixPath(name)
    return inside.name == _METRICS and _VERSION.fullmatch(inside.parent.name) is not None


def _tables(tree: Tree) -> list[RawTable]:
    """One table per logger name, one row per version and step."""
    tree.name = tree.place.name
    if not tree.named(_METRICS):
        return []
    logged_elsewhere = {str(PurePosixPath(name).parent) for name in tree.files if ".tfevents." in name}
    versions = dict.fromkeys(str(PurePosixPath(name).parent) for name in tree.named(_METRICS, _HPARAMS))
    families: dict[str, list[str]] = {}
    for folder in versions:
        if str(PurePosixPath(folder, _METRICS)) in tree.files or folder not in logged_elsewhere:
            families.setdefault(str(PurePosixPath(folder).parent), []).append(folder)
    names = distinct_names(families, tree.name)
    return [_table(tree, names[home], folders) for home, folders in families.items()]


def _table(tree: Tree, family: str, folders: list[str]) -> RawTable:
    runs = []
    for folder in sorted(folders, key=_number):
        settings = tree.document(str(PurePosixPath(folder, _HPARAMS)), under="hparams")
        logged = tree.measured(str(PurePosixPath(folder, _METRICS)))
        name = PurePosixPath(folder).name or tree.name
        runs.append(Run(family, name, "ok" if logged else "failed", settings, logged))
    return runs_table(family, runs, "name", "version", "Lightning CSVLogger folder", steps=True)


def _number(folder: str) -> tuple[float, str]:
    match = _VERSION.fullmatch(PurePosixPath(folder).name)
    return (float(match[1]) if match else float("inf")), folder


READERS = (
    tool(
        "lightning",
        "Lightning CSVLogger folder (metrics.csv and hparams.yaml)",
        _tables,
        "metrics.csv of Lightning's CSVLogger",
        files=_is_wanted,
        known=_is_version,
        together=({_METRICS}, {_HPARAMS}),
        file=lambda path: path.name == _METRICS and path.with_name(_HPARAMS).is_file(),
        beside=(_HPARAMS,),
    ),
)
