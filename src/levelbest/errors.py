"""Everything that levelbest raises on purpose.

    LevelbestError                      catch this to catch them all
    ├── InputError (ValueError)         an argument, option or file breaks a rule: the command line exits with 2
    │   └── Ambiguous                   the data can be read in two ways: the command line exits with 1
    ├── DataError (ValueError)          the data do not allow the result: the command line exits with 1
    │   ├── CannotWrite                 a ledger cannot be written; nothing of the batch is in it (`run`)
    │   └── NotFinished                 a report is requested before the study is finished (`web`)
    └── MissingExtra (ImportError)      an optional package is not installed: the command line exits with 1

A message gives the rule, the value and the remedy, in one sentence a person can act on. It names an argument through
``named``, so that Python's users read ``cost=`` and the command line's ``--cost``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = [
    "Ambiguous",
    "DataError",
    "InputError",
    "LevelbestError",
    "MissingExtra",
    "called",
    "named",
    "named_condition",
    "naming",
]


def _python_call(verb: str, arguments: dict[str, object]) -> str:
    return f"lb.{verb}({', '.join(['trials', *(f'{name}={value!r}' for name, value in arguments.items())])})"


def _python_argument(argument: str, value: object) -> str:
    return f"{argument}=" if value is None else f"{argument}={value!r}"


_writing: ContextVar[Callable[[str, object], str]] = ContextVar("how arguments are written", default=_python_argument)
_calling: ContextVar[Callable[[str, dict[str, object]], str]] = ContextVar(
    "how calls are written", default=_python_call
)


def named(argument: str, value: object = None) -> str:
    """An argument as the reader would write it, with its value if one is given.

    Examples
    --------
    >>> named("cost")
    'cost='
    >>> named("task", "data set")
    "task='data set'"
    """
    return _writing.get()(argument, value)


def named_condition(column: str, value: str | float, sign: str = "=") -> str:
    """A condition on one column as the reader would write it; text in quotes stands for a number as well.

    Examples
    --------
    >>> print(named_condition("batch size", 32, "<>"))
    where='"batch size" <> 32'
    >>> print(named_condition("dataset", "cola"))
    where="dataset = 'cola'"
    """
    name = column if column.isidentifier() else '"' + column.replace('"', '""') + '"'
    text = f"{value:g}" if isinstance(value, float | int) else "'" + value.replace("'", "''") + "'"
    return named("where", f"{name} {sign} {text}")


def called(verb: str, **arguments: object) -> str:
    """A further call as the reader would write it.

    Examples
    --------
    >>> called("compare", headline=5)
    'lb.compare(trials, headline=5)'
    """
    return _calling.get()(verb, arguments)


@contextmanager
def naming(writing: Callable[[str, object], str], calling: Callable[[str, dict[str, object]], str]) -> Iterator[None]:
    """Within, messages write arguments and calls so: the command line's flags and commands."""
    tokens = _writing.set(writing), _calling.set(calling)
    try:
        yield
    finally:
        _writing.reset(tokens[0])
        _calling.reset(tokens[1])


class LevelbestError(Exception):
    """The root of the tree: catch this to catch all of levelbest's own errors."""


class InputError(LevelbestError, ValueError):
    """An argument, an option or a file breaks a rule."""


class Ambiguous(InputError):
    """The data can be read in two ways: the message names both, and the argument for each."""


class DataError(LevelbestError, ValueError):
    """The data do not allow the requested result."""


class MissingExtra(LevelbestError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: pip install 'levelbest[{extra}]'")
