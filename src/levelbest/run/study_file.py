"""Study files: YAML, TOML or JSON, read as plain data and nothing else."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Hashable
from pathlib import Path

from levelbest.errors import InputError
from levelbest.run.study import Study

_MOST_BYTES, _MOST_VALUES, _DEEPEST = 1_000_000, 100_000, 50
_IMPLICIT = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+0123456789."),
    ),
    "merge": (r"<<", ["<"]),
}
"""What plain words mean in YAML 1.2: how they look, and with which letters they begin."""


def read_study(path: str | Path) -> Study:
    """A study file, checked. Commands run in its folder, and functions are looked for there.

    Parameters
    ----------
    path
        A file .yaml, .toml or .json.

    Returns
    -------
    Study
        Its families, spaces and metric, to be run by `run_study`.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("study.yaml").write_text('''
    ... seed: 0
    ... n_trials: 2
    ... metric: {selection: acc, direction: max}
    ... families:
    ...   cnn: {command: "./train {lr}", space: {lr: {uniform: [0, 1]}}}
    ... ''')
    >>> [family.name for family in read_study("study.yaml").families]
    ['cnn']
    """
    path = Path(path)
    given = read_plain(path)
    if not isinstance(given, dict):
        raise InputError(f"{path.name} must hold a study's entries (metric, families ...), got {type(given).__name__}")
    try:
        return Study.from_dict(given, folder=path.resolve().parent, name=path.stem)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from error


def read_plain(path: Path) -> object:
    """What a YAML, TOML or JSON file says, as plain data."""
    name, suffix = path.name, path.suffix.lower()
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_BYTES:
            raise InputError(f"{path} is not a study file: that is a plain file of {_MOST_BYTES // 10**6} MB at most")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{name} cannot be read: {error}") from error
    try:
        data: object = None
        if suffix in (".json", ".jsonnet"):  # AllenTune names its JSON so
            data = json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, name))
        elif suffix == ".toml":
            data = tomllib.loads(text)
        elif suffix in (".yaml", ".yml"):
            data = _read_yaml(text, name)
        else:
            raise InputError(f"a study file is YAML, TOML or JSON, by its ending .yaml, .toml or .json; got {name}")
        _measure(data, name)
    except RecursionError:
        raise InputError(_too_deep(name)) from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{name} is not valid {suffix[1:].upper()}: {' '.join(str(error).split())}") from error
    return data


def _too_deep(name: str) -> str:
    return f"{name} nests lists or entries more than {_DEEPEST} deep"


def _measure(value: object, name: str) -> None:
    """Refuse what is deep, or large once YAML's aliases are followed, before anything walks through it."""
    count, level = 0, [value]
    for _ in range(_DEEPEST):
        below: list[object] = []
        for part in level:
            below += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
            if count + len(below) > _MOST_VALUES:
                raise InputError(f"{name} holds more than {_MOST_VALUES:,} values, its aliases followed")
        count, level = count + len(below), below
        if not level:
            return
    raise InputError(_too_deep(name))


def _once(pairs: list[tuple[Hashable, object]], where: str) -> dict[Hashable, object]:
    entries: dict[Hashable, object] = {}
    for key, value in pairs:
        if key in entries:
            raise InputError(f"{where} says {key!r} twice in one place; keep one")
        entries[key] = value
    return entries


def _read_yaml(text: str, name: str) -> object:
    """YAML by its 1.2 rules for numbers and truth: 1e-4 is a number, and ``no`` and ``on`` are words."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:  # noqa: ARG002
            self.flatten_mapping(node)
            pairs = [(self.construct_object(k, deep=True), self.construct_object(v, deep=True)) for k, v in node.value]
            try:
                return _once(pairs, name)
            except TypeError as error:
                raise InputError(f"{name}: a key must be text or a number, at {node.start_mark}") from error

    Loader.yaml_implicit_resolvers = {}
    for tag, (pattern, first) in _IMPLICIT.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), first)
    Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: _whole(str(node.value)))
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise InputError(f"{name} is not valid YAML: {' '.join(str(error).split())}") from error


def _whole(text: str) -> int:
    # 010 is ten in YAML 1.2, and int(x, 0) refuses it.
    return int(text, 0) if text.startswith(("0x", "0o")) else int(text)
