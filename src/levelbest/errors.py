"""Everything that levelbest raises on purpose.

    LevelbestError
      InputError      an argument, option or file breaks a rule (a ValueError; the command line exits with 2)
      DataError       the data do not allow what is asked (a ValueError; the command line exits with 1)
      MissingExtra    an optional package is not installed (an ImportError; the command line exits with 1)

A message gives the rule, the value and the remedy, in one sentence a person can act on.
"""

from __future__ import annotations

__all__ = ["DataError", "InputError", "LevelbestError", "MissingExtra"]


class LevelbestError(Exception):
    """The root of the tree: catch this to catch all of levelbest's own errors."""


class InputError(LevelbestError, ValueError):
    """An argument, an option or a file breaks a rule."""


class DataError(LevelbestError, ValueError):
    """The data do not allow what is asked of them."""


class MissingExtra(LevelbestError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}: pip install 'levelbest[{extra}]'")
