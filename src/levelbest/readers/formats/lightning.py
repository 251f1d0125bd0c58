"""Folders of Lightning's CSVLogger: metrics.csv with its sparse rows, and hparams.yaml, for each version."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from levelbest.errors import DataError
from levelbest.readers.formats._metrics import metric_rows
from levelbest.readers.formats._rows import Record, columns_of, flatten, load_yaml, seed_of
from levelbest.readers.formats._tree import Tree, holds, open_tree
from levelbest.readers.raw import RawTable, Reader
from levelbest.trials import Skipped

__all__ = ["READER", "READERS"]

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
        tree = Tree(path.resolve().parent.name, {_METRICS: path})
        if path.with_name(_HPARAMS).is_file():
            tree.files[_HPARAMS] = path.with_name(_HPARAMS)
    else:
        tree = open_tree(path, lambda name: PurePosixPath(name).name in (_METRICS, _HPARAMS) or ".tfevents." in name)
    if not tree.named(_METRICS):
        raise DataError(f"{tree.name} holds no metrics.csv of Lightning's CSVLogger")
    logged_elsewhere = {str(PurePosixPath(name).parent) for name in tree.files if ".tfevents." in name}
    versions = dict.fromkeys(str(PurePosixPath(name).parent) for name in tree.named(_METRICS, _HPARAMS))
    families: dict[str, list[str]] = {}
    for folder in versions:
        if _inside(folder, _METRICS) in tree.files or folder not in logged_elsewhere:
            families.setdefault(str(PurePosixPath(folder).parent), []).append(folder)
    names = {home: PurePosixPath(home).name or tree.name for home in families}
    names = {home: home if list(names.values()).count(name) > 1 else name for home, name in names.items()}
    return [_table(tree, names[home], folders) for home, folders in families.items()]


def _inside(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def _table(tree: Tree, family: str, folders: list[str]) -> RawTable:
    skipped: list[Skipped] = []
    rows: list[Record] = []
    configuration: dict[str, None] = {}
    for order, folder in enumerate(sorted(folders, key=_number)):
        config = {f"hparams.{key}": value for key, value in _hparams(tree, folder, skipped).items()}
        configuration.update(dict.fromkeys(config))
        metrics = _inside(folder, _METRICS)
        logged: list[dict[str, object]] = []
        if metrics in tree.files:
            try:
                logged = metric_rows(metrics, tree.text(metrics), skipped)
            except ValueError as error:
                skipped.append(Skipped(metrics, f"not read: {error}"))
        run = PurePosixPath(folder).name or tree.name
        common = {"name": family, "version": run, "status": "ok" if logged else "failed", "order": order, **config}
        rows.extend({**common, **row} for row in logged or [{}])
    columns = columns_of(rows, ["name", "version", "status", "order", *configuration])
    return RawTable(
        source=family,
        columns=columns,
        roles={"family": "name", "trial": "version", "status": "status", "order": "order"} | seed_of(configuration),
        configuration=list(configuration),
        facts={"format": "Lightning CSVLogger folder"},
        skipped=skipped,
    )


def _number(folder: str) -> tuple[float, str]:
    match = _VERSION.fullmatch(PurePosixPath(folder).name)
    return (float(match[1]) if match else float("inf")), folder


def _hparams(tree: Tree, folder: str, skipped: list[Skipped]) -> dict[str, object]:
    name = _inside(folder, _HPARAMS)
    if name not in tree.files:
        return {}
    try:
        stored = load_yaml(tree.text(name))
        return flatten(stored) if isinstance(stored, dict) else {}
    except ValueError as error:
        skipped.append(Skipped(name, f"not read: {error}"))
        return {}


READER = Reader(
    name="lightning",
    about="Lightning CSVLogger folder (metrics.csv and hparams.yaml)",
    recognises=_recognises,
    read=_read,
)
READERS = (READER,)
