"""Folders of Lightning's CSVLogger: metrics.csv with its sparse rows, and hparams.yaml, for each version."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from levelbest.readers.formats._rows import runs_table
from levelbest.readers.formats._tree import Tree, distinct_names, in_order, tool
from levelbest.readers.raw import RawTable

__all__ = ["READERS"]

_METRICS, _HPARAMS = "metrics.csv", "hparams.yaml"
_VERSION = re.compile(r"(?:^|/)version_(\d+)$")


def _is_wanted(name: str) -> bool:
    return PurePosixPath(name).name in (_METRICS, _HPARAMS) or ".tfevents." in name


def _is_version(name: str) -> bool:
    inside = PurePosixPath(name)
    return inside.name == _METRICS and _VERSION.search(str(inside.parent)) is not None


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
    names, tables = distinct_names(families, tree.name), []
    for home, folders in families.items():
        ordered = in_order(folders, _VERSION)
        runs = [tree.run(names[home], folder, _HPARAMS, _METRICS, under="hparams") for folder in ordered]
        tables.append(runs_table(names[home], runs, "name", "version", "Lightning CSVLogger folder", steps=True))
    return tables


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
