"""Every reader, in the order they are tried; the first that recognises a path reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from inspect import signature
from pathlib import Path

from levelbest import _check
from levelbest._read import check_source
from levelbest.errors import InputError, named
from levelbest.readers.formats._rows import looks_like_sqlite
from levelbest.readers.formats._tree import is_packed
from levelbest.readers.raw import RawTable, Reader
from levelbest.readers.tables.files import kind_of

__all__ = ["options_of", "read_logs", "read_path", "reader_for", "readers"]

_PICKLES = (".joblib", ".pkl", ".pickle")
_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_FOLDER, _ARCHIVE, _SQLITE, _DELIMITED, _JSON, _OTHER = "folder", "archive", "sqlite", "delimited", "json", "other"

# Modules with READERS and what they could read, the particular before the general: a tracker's folder or file before a
# plain table. Only the modules that could read a path are imported.
_MODULES = {
    "formats.ledger": {_SQLITE},
    "formats.optuna": {_SQLITE, _JSON, _OTHER},
    "formats.mlflow_store": {_SQLITE, _FOLDER, _ARCHIVE},
    "formats.wandb_offline": {_FOLDER, _ARCHIVE, _OTHER},
    "formats.inspect_ai": {_FOLDER, _JSON, _OTHER},
    "formats.lm_eval": {_FOLDER, _JSON},
    "formats.allentune": {_FOLDER, _JSON},
    "formats.keras_tuner": {_FOLDER, _ARCHIVE},
    "formats.smac": {_FOLDER, _JSON},
    "formats.nevergrad": {_JSON, _OTHER},
    "formats.nni": {_SQLITE, _FOLDER, _JSON, _DELIMITED},
    "formats.evalplus": {_JSON},
    "formats.helm": {_FOLDER, _ARCHIVE, _JSON},
    "formats.every_eval_ever": {_FOLDER, _JSON},
    "formats.tau2_bench": {_FOLDER, _JSON},
    "formats.harbor": {_FOLDER, _JSON},
    "formats.swe_bench": {_FOLDER, _JSON},
    "formats.promptfoo": {_FOLDER, _JSON},
    "formats.deepeval": {_FOLDER, _JSON},
    "formats.huggingface": {_FOLDER, _JSON, _OTHER},
    "formats.stable_baselines": {_FOLDER, _DELIMITED},
    "formats.spinning_up": {_FOLDER, _DELIMITED},
    "formats.ultralytics": {_FOLDER, _DELIMITED},
    "formats.sacred": {_FOLDER, _JSON},
    "formats.ray_tune": {_FOLDER, _ARCHIVE},
    "formats.hydra": {_FOLDER, _ARCHIVE},
    "formats.lightning": {_FOLDER, _ARCHIVE, _DELIMITED},
    "formats.tensorboard": {_FOLDER, _ARCHIVE, _OTHER},
    "formats.exported": {_FOLDER, _DELIMITED, _ARCHIVE, _JSON},
    "formats.folder": {_FOLDER},
    "formats.printed": {_OTHER},
    "formats.plain": {_ARCHIVE, _DELIMITED, _JSON, _OTHER},
}
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@lru_cache(maxsize=1)
def readers() -> tuple[Reader, ...]:
    """All readers, the particular before the general."""
    return tuple(reader for module in _MODULES for reader in _readers_in(module))


def _readers_in(module: str) -> tuple[Reader, ...]:
    readers: tuple[Reader, ...] = import_module(f"levelbest.readers.{module}").READERS
    return readers


def _sort_of(path: Path) -> str:
    """What a path could be, by its name and first bytes."""
    if path.is_dir():
        return _FOLDER
    if is_packed(path):
        return _ARCHIVE
    if looks_like_sqlite(path):
        return _SQLITE
    kind = kind_of(path)
    return _DELIMITED if kind in ("csv", "tsv") else _JSON if kind in ("json", "jsonl") else _OTHER


def reader_for(path: Path, name: str | None = None) -> Reader:
    """The reader of that name, or the first that recognises the path."""
    if name is not None:
        _check.as_choice(name, [reader.name for reader in readers()], "reader")
        return next(reader for reader in readers() if reader.name == name)
    sort = _sort_of(path)
    for module, sorts in _MODULES.items():
        if sort in sorts:
            for reader in _readers_in(module):
                if reader.recognises(path):
                    return reader
    if sort == _FOLDER:
        some = sorted(inner.name for inner in path.iterdir())[:3]
        inside = f"it holds {', '.join(some)} ..." if some else "it is empty"
        raise InputError(
            f"the folder {path.resolve().name!r} is not recognised by any reader ({inside}); name the files, e.g. with "
            f"a glob: '{path / '*.csv'}'"
        )
    if path.suffix.lower() in _PICKLES:
        raise InputError(
            f"{path.name} is a pickle, which runs code when it is opened, and is not read; save a table instead, e.g. "
            "pandas.DataFrame(search.cv_results_).to_csv('search.csv'), or give levelbest.read_trials the search itself"
        )
    if path.suffix.lower() in _SHEETS:
        raise InputError(
            f"{path.name} is a spreadsheet, which is not read: save the sheet with the results as CSV (in the "
            "program that made it, or with pandas.read_excel(...).to_csv('results.csv', index=False))"
        )
    raise InputError(
        f"{path.name} is in no known format; tables are read from CSV, TSV, JSON, JSON lines, Parquet, Markdown and "
        f"LaTeX, and {named('reader')} names the format of a tool, e.g. optuna, mlflow or table"
    )


def options_of(reader: Reader) -> dict[str, object]:
    """The options of its own that a reader takes, with their defaults."""
    parameters = signature(reader.read).parameters.values()
    return {option.name: option.default for option in parameters if option.kind is option.KEYWORD_ONLY}


def read_path(
    path: Path, name: str | None = None, options: Mapping[str, object] | None = None
) -> tuple[list[RawTable], Reader]:
    """The raw tables of one file or folder, and the reader that read it; it is given the options that it knows."""
    check_source(path)
    reader = reader_for(path, name)
    known = options_of(reader)
    accepted = {key: _converted(key, value, known[key]) for key, value in (options or {}).items() if key in known}
    return reader.read(path, **accepted), reader


def read_logs(
    paths: Sequence[Path], name: str | None = None, options: Mapping[str, object] | None = None
) -> tuple[list[RawTable], Reader] | None:
    """The raw tables of files that are the log of one run each, by one reader; None where they are not."""
    if len(paths) < 2 or not all(path.is_file() for path in paths):
        return None
    reader = reader_for(paths[0], name)
    if reader.read_logs is None or any(reader_for(path, name) is not reader for path in paths[1:]):
        return None
    known = options_of(reader)
    accepted = {key: _converted(key, value, known[key]) for key, value in (options or {}).items() if key in known}
    return reader.read_logs(paths, **accepted), reader


def _converted(key: str, value: object, default: object) -> object:
    """A word from the command line as the truth value that the option is."""
    if not isinstance(default, bool) or isinstance(value, bool):
        return value
    word = str(value).lower()
    if word not in _TRUTHS:
        raise InputError(f"the option {key} is true or false, got {value!r}")
    return _TRUTHS[word]
