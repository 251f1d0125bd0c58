"""Command templates: split into arguments first, filled after; no shell, no attribute access.

``python train.py --lr {lr} --seed {seed}`` becomes a list of arguments, and ``{name}`` in each is replaced by the
value. A value can hold spaces, quotes or semicolons: it stays within its argument. ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping

from levelbest import _check
from levelbest.errors import InputError

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Template:
    """A command whose arguments mention ``{names}``.

    An argument that mentions a parameter which a configuration does not have (a conditional one) is left out, together
    with the option just before it. An argument that is ``{args}`` alone becomes ``--name value`` for every parameter.
    """

    def __init__(self, command: object) -> None:
        if isinstance(command, str):
            try:
                arguments = shlex.split(command)
            except ValueError as error:
                raise InputError(f"the command cannot be split into arguments: {error}, in {command!r}") from error
        elif isinstance(command, list | tuple):
            arguments = [as_text(argument) for argument in command]
        else:
            raise InputError(f"a command is one text, or a list of its arguments; got {command!r}")
        if not arguments:
            raise InputError("the command is empty; write what runs one trial, e.g. 'python train.py --lr {lr}'")
        self.arguments = tuple(arguments)
        self._pieces = [_pieces(argument) for argument in arguments]

    @property
    def names(self) -> frozenset[str]:
        """Every name that the template mentions."""
        return frozenset(text for pieces in self._pieces for is_name, text in pieces if is_name)

    def check(self, known: Collection[str]) -> None:
        """Refuse a name that nothing fills."""
        for name in sorted(self.names - set(known)):
            raise InputError(
                f"the command mentions {{{name}}}, which is not a parameter of the space; "
                f"{_check.nearest_first(name, sorted(known))}. For a plain brace write {{{{ or }}}}"
            )

    def fill(self, values: Mapping[str, object], configuration: Mapping[str, object] | None = None) -> list[str]:
        """The arguments of one trial."""
        filled: list[str] = []
        previous_is_option = False
        for argument, pieces in zip(self.arguments, self._pieces, strict=True):
            names = [text for is_name, text in pieces if is_name]
            if argument == "{args}":
                for name, value in (configuration or {}).items():
                    filled += [f"--{name}", as_text(value)]
            elif all(name in values for name in names):
                filled.append("".join(as_text(values[text]) if is_name else text for is_name, text in pieces))
            elif previous_is_option:
                filled.pop()
            previous_is_option = argument.startswith("-") and not names and "=" not in argument
        return filled


def as_text(value: object) -> str:
    """A value as an argument: text as it is, everything else as JSON writes it."""
    text = value if isinstance(value, str) else json.dumps(value)
    if "\0" in text:
        raise InputError(f"an argument cannot hold a zero byte, got {text!r}")
    return text


def _pieces(argument: str) -> list[tuple[bool, str]]:
    pieces: list[tuple[bool, str]] = []
    end = 0
    for piece in _PIECE.finditer(argument):
        pieces.append((False, argument[end : piece.start()]))
        end = piece.end()
        whole = piece.group()
        if whole in ("{{", "}}"):
            pieces.append((False, whole[0]))
        elif piece.group(1) is None:
            raise InputError(f"there is an unmatched brace in {argument!r}; write {{{{ or }}}} for a plain brace")
        else:
            pieces.append((True, _name(piece.group(1), argument)))
    pieces.append((False, argument[end:]))
    return [piece for piece in pieces if piece[0] or piece[1]]


def _name(name: str, argument: str) -> str:
    if not name or any(mark in name for mark in "!:[]()"):
        raise InputError(
            f"a template may hold {{name}} only, got {{{name}}} in {argument!r}; format codes, indexing and attributes "
            "are not read, and a plain brace is written {{ or }}"
        )
    return name
