"""Every reader, in the order they are tried; the first that recognises a path reads it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from levelbest import _check
from levelbest.errors import InputError
from levelbest.readers.raw import RawTable, Reader

__all__ = ["options_of", "read_path", "reader_for", "readers"]

# Modules with READERS, the particular before the general: a tracker's folder or file before a plain table.
_MODULES = (
    "ledger",
    "optuna_store",
    "optuna_journal",
    "mlflow_store",
    "wandb_offline",
    "inspect_ai",
    "lm_eval",
    "allentune",
    "ray_tune",
    "hydra",
    "lightning",
    "tensorboard",
    "wandb_export",
    "sklearn_cv",
    "tables",
)


_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@lru_cache(maxsize=1)
def readers() -> tuple[Reader, ...]:
    """All readers, the particular before the general."""
    return tuple(reader for module in _MODULES for reader in import_module(f"levelbest.readers.{module}").READERS)


def reader_for(path: Path, name: str | None = None) -> Reader:
    """The reader of that name, or the first that recognises the path."""
    if name is not None:
        _check.as_choice(name, [reader.name for reader in readers()], "reader")
        return next(reader for reader in readers() if reader.name == name)
    for reader in readers():
        if reader.recognises(path):
            return reader
    if path.is_dir():
        some = sorted(one.name for one in path.iterdir())[:3]
        inside = f"it holds {', '.join(some)} ..." if some else "it is empty"
        raise InputError(
            f"the folder {path.resolve().name!r} is not one that a reader knows ({inside}); name the files, e.g. with "
            f"a glob: '{path / '*.csv'}'"
        )
    raise InputError(
        f"{path.name} is in no known format; choose one with reader= or --reader, of: "
        f"{', '.join(reader.name for reader in readers())}"
    )


def options_of(reader: Reader) -> dict[str, Any]:
    """The options of its own that a reader takes, with their defaults."""
    parameters = signature(reader.read).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def read_path(
    path: Path, name: str | None = None, options: Mapping[str, Any] | None = None
) -> tuple[list[RawTable], Reader]:
    """The raw tables of one file or folder, and the reader that read it; it is given the options that it knows."""
    reader = reader_for(path, name)
    known = options_of(reader)
    own = {key: _converted(key, value, known[key]) for key, value in (options or {}).items() if key in known}
    return reader.read(path, **own), reader


def _converted(key: str, value: Any, default: Any) -> Any:
    """A word from the command line as the truth value that the option is."""
    if not isinstance(default, bool) or isinstance(value, bool):
        return value
    word = str(value).lower()
    if word not in _TRUTHS:
        raise InputError(f"the option {key} is true or false, got {value!r}")
    return _TRUTHS[word]
