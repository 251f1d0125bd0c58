"""Options for samples of many problems that are too many to hold: read from Parquet in parts, here or by workers."""

from __future__ import annotations

from typing import Any, TypeVar

import click

from levelbest.errors import InputError

__all__ = ["is_large", "large_options", "reading_of"]

F = TypeVar("F", bound=Any)
_NAMED = ("group", "selection", "direction")
_NOT_HERE = ("cost", "search", "reader", "wide")


def large_options(function: F) -> F:
    """``--memory`` and ``--engine``."""
    for option in (
        click.option(
            "--engine", type=click.Choice(["local", "ray"]), help="Who reads them: this process, or Ray workers."
        ),
        click.option(
            "--memory", metavar="SIZE", help="Read Parquet samples of many problems in parts, within e.g. 4GB."
        ),
    ):
        function = option(function)
    return function


def is_large(options: dict[str, object]) -> bool:
    """Whether samples are to be read in parts."""
    return bool(options["memory"] or options["engine"])


def reading_of(options: dict[str, object]) -> dict[str, Any]:
    """How `read_in_parts` is to read, from the options of a command; the columns must be named."""
    for name in _NAMED:
        if not options[name]:
            raise InputError(f"samples that are read in parts need --{name}; it is not guessed for them")
    for name in _NOT_HERE:
        if options[name]:
            raise InputError(f"samples that are read in parts have no --{name}; leave it out, or leave out --memory")
    keys = ("family", "selection", "reported", "group", "weight", "stratum", "where", "direction")
    return {key: options[key] for key in keys} | {
        "sample": options["trial"] or options["seed_column"],
        "bounds": options["bounds"] or None,
        "memory": options["memory"] or "4GB",
        "engine": options["engine"] or "local",
        "workers": options["workers"] or 2,
    }
