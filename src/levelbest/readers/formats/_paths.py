"""Columns from file paths: the parts that vary, which of them are settings, and which name families.

``vit/lr=0.1_seed3.json`` among similar files is ``folder`` = vit, ``lr`` = .1 and ``seed`` = 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from os.path import commonpath
from pathlib import PurePosixPath

from levelbest.errors import Ambiguous, named
from levelbest.readers.formats._searches import search_family
from levelbest.readers.steps.names import tokens, word_set
from levelbest.readers.tables.files import stem

__all__ = ["FILE", "Parts", "family_of", "parts_of", "run_families", "settings_in"]

Parts = dict[str, list[object]]
"""Column -> one value per file."""
FILE = "file"
"""The column of the path itself."""
_SETTING = re.compile(r"([A-Za-z][A-Za-z_]*)(=?)(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?)")
_SETTINGS = word_set(
    "seed run runs job jobs trial exp experiment fold split rep repeat repetition try attempt iter iteration step "
    "steps epoch epochs ckpt checkpoint version config cfg conf setting hp hparam sample samples part shard task gpu "
    "node rank worker model group round size batch lrate rate learning width depth layer layers hidden units dim dims "
    "heads hops channels filters kernel stride dropout drop decay weight reg alpha beta gamma delta eps epsilon lambda "
    "lam tau temp temperature top mom momentum warmup budget num number len length max min clip noise scale level "
    "index idx state rng"
)
"""Words that a number after them sets or counts; after others, as in resnet18, it is part of a name."""
_REPEATED = word_set("seed run trial exp experiment fold split rep repeat repetition try attempt rng")
"""What tells runs apart, beside which ``s1`` and ``s2`` are no seeds."""
_SPLIT = re.compile(r"[_,;\s]+|(?<![eE=])-")
_FOLDER, _NAME = "folder", "name "


def parts_of(names: Sequence[str]) -> Parts:
    """The folders and the parts of the names that differ, and the path itself."""
    paths = [PurePosixPath(name) for name in names]
    shared = commonpath([str(path.parent) for path in paths]) if len(paths) > 1 else "."
    inner = [path.relative_to(shared) if shared not in ("", ".") else path for path in paths]
    columns = _joined(_folders(inner), _pieces(inner))
    short = [name for name, values in columns.items() if _is_seed(name, values)]
    if len(short) == 1 and not columns.keys() & _REPEATED:
        columns = {"seed" if name in short else name: values for name, values in columns.items()}
    return columns | {FILE: [str(path) for path in inner]}


def _joined(columns: Parts, more: Parts) -> Parts:
    """Both; a second one of a name that sets something else keeps its values under a name of its own."""
    twice = [name for name, values in more.items() if columns.get(name, values) != values]
    return columns | {f"{name} (2)" if name in twice else name: values for name, values in more.items()}


def settings_in(parts: Parts) -> Parts:
    """The parts that say themselves what they set: ``seed`` of ``run_seed3``."""
    return {name: values for name, values in parts.items() if not name.startswith((_FOLDER, _NAME)) and name != FILE}


def family_of(parts: Parts, source: str, least: int) -> str | None:
    """The part that names families: the only one that names something in ``least`` files or more each.

    None where no part does. Where several do, it is a question: families are compared, and settings are pooled.
    """
    folders = {name: values for name, values in parts.items() if name.startswith(_FOLDER)}
    words = {name: values for name, values in parts.items() if name.startswith(_NAME)}
    candidates = _naming(folders, least)
    if not candidates:
        candidates = _naming(words, least) if least > 1 else []
    elif len(candidates) == 1:
        candidates += [name for name in _naming(words, least) if _crossed(parts[candidates[0]], parts[name])]
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    described = " and ".join(f"{name!r} ({_some(parts[name])})" for name in candidates)
    raise Ambiguous(
        f"{source}: {described} vary in the paths of the files: say which name the families with {named('family')} "
        f"'{candidates[0]}', '{candidates[1]}' or both, '{','.join(candidates)}'"
    )


def _naming(parts: Mapping[str, list[object]], least: int) -> list[str]:
    """The parts that are names, and no repetitions (run1, 2026-01-31), each of which stands for files enough."""
    return [
        name
        for name, values in parts.items()
        if all(isinstance(value, str) for value in values)
        and not all(search_family(str(value), "/") == "/" for value in values)
        and min(Counter(values).values()) >= least
    ]


def _crossed(first: Sequence[object], second: Sequence[object]) -> bool:
    """Whether each value of one part comes with each of the other, as models and data sets do."""
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len(set(first)) * len(set(second))


def _some(values: Sequence[object]) -> str:
    different = list(dict.fromkeys(map(str, values)))
    return ", ".join(different[:3]) + (" ..." if len(different) > 3 else "")


def _folders(inner: Sequence[PurePosixPath]) -> Parts:
    depths = {len(path.parts) for path in inner}
    if len(depths) > 1:
        return {_FOLDER: [str(path.parent) for path in inner]}
    levels = [[path.parts[level] for path in inner] for level in range(depths.pop() - 1)]
    varied = [level for level in levels if len(set(level)) > 1]
    columns: Parts = {}
    for place, level in enumerate(varied, 1):
        columns = _joined(columns, _level(level, _FOLDER if len(varied) == 1 else f"{_FOLDER} {place}"))
    return columns


def _pieces(inner: Sequence[PurePosixPath]) -> Parts:
    pieces = [[piece for piece in _SPLIT.split(stem(path.name)) if piece] for path in inner]
    columns: Parts = {}
    if len({len(piece) for piece in pieces}) == 1:
        for place in range(len(pieces[0])):
            values = [piece[place] for piece in pieces]
            if len(set(values)) > 1:
                columns = _joined(columns, _column(values, f"{_NAME}{place + 1}"))
    return columns


def _level(values: Sequence[str], name: str) -> Parts:
    """The folders of one level as columns: settings within their names apart, ``bert_lr0.1_s0`` is bert, .1 and 0."""
    pieces = [[piece for piece in _SPLIT.split(value) if piece] for value in values]
    if len({len(piece) for piece in pieces}) != 1 or len(pieces[0]) == 1:
        return _column(values, name)
    settings: Parts = {}
    others: list[int] = []
    for place in range(len(pieces[0])):
        column = _column([piece[place] for piece in pieces], "")
        if "" in column or set(column) & set(settings):
            others.append(place)
        else:
            settings |= column
    counted = not settings and _counted(pieces)  # the number tells runs apart, and sets nothing
    rest = ["_".join(piece[place] for place in (others[:-1] if counted else others)) for piece in pieces]
    if not settings and not counted:
        return _column(values, name)
    varied = {key: column for key, column in settings.items() if len(set(column)) > 1}
    return varied | ({name: list(rest)} if len(set(rest)) > 1 else {})


def _counted(pieces: Sequence[list[str]]) -> bool:
    """Whether the last piece counts from 0 or 1 after each name: PPO_1, PPO_2, A2C_1; and not resnet_18, resnet_50."""
    if not all(piece[-1].isdigit() for piece in pieces):
        return False
    counts: dict[tuple[str, ...], set[int]] = {}
    for piece in pieces:
        counts.setdefault(tuple(piece[:-1]), set()).add(int(piece[-1]))
    starts = [sorted(numbers) for numbers in counts.values()]
    in_turn = all(numbers == list(range(numbers[0], numbers[0] + len(numbers))) for numbers in starts)
    return in_turn and all(numbers[0] in (0, 1) for numbers in starts) and max(map(len, starts)) > 1


def _column(values: Sequence[str], name: str) -> Parts:
    """A part of the names as a column: ``seed3`` or ``lr=0.1`` in all of them is a setting, ``resnet18`` a name."""
    matches = [match for match in map(_SETTING.fullmatch, values) if match]
    keys = {match[1].strip("_") for match in matches}
    if len(matches) == len(values) and len(keys) == 1:
        key, set_to = keys.pop(), [float(match[3]) for match in matches]
        # The number after a word sets it: it says so, or is a fraction, or the word is known, or all but none.
        small = any(0 < abs(number) < 1 for number in set_to)
        if matches[0][2] == "=" or small or len(key) <= 2 or not set(tokens(key)).isdisjoint(_SETTINGS):
            return {key: list(set_to)}
    numbers = all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in values)
    return {name: [float(value) for value in values] if numbers else list(values)}


def _is_seed(key: str, values: Sequence[object]) -> bool:
    """``s0``, ``s1``, ``s2``: short for seed, where all numbers from 0 or 1 on are there; ``s32`` is a size."""
    if key.lower() not in ("s", "sd", "rs"):
        return False
    distinct = sorted({float(str(value)) for value in values})
    return distinct[0] in (0, 1) and distinct == [place + distinct[0] for place in range(len(distinct))]


def run_families(folders: Sequence[str], root: str) -> list[tuple[str, dict[str, object]]]:
    """The family of each run by the folder that its log is in, and what its path sets.

    The family is what names something in the path: nothing is pooled that two names tell apart.
    """
    parts = parts_of([f"{folder}/log" for folder in folders])
    naming = _naming({name: values for name, values in parts.items() if name.startswith(_FOLDER)}, 1)
    settings = settings_in(parts)
    return [
        (
            " / ".join(str(parts[name][place]) for name in naming) or root,
            {name: values[place] for name, values in settings.items()},
        )
        for place in range(len(folders))
    ]
