"""Options for samples of many problems that are too many to hold: read from Parquet in parts, here or by workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.options import load_trials, together
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.designs import Table

_NAMED = ("group", "selection", "direction")
_NOT_HERE = ("cost", "search", "reader", "wide")


large_options = together(
    click.option("--memory", metavar="SIZE", help="Read Parquet samples of many problems in parts, within e.g. 4GB."),
    click.option("--engine", type=click.Choice(["local", "ray"]), help="Who reads them: this process, or Ray workers."),
)


def load_table(files: tuple[str, ...], options: dict[str, Any]) -> Table:
    """The trials, or samples of problems that stay in their files where the options say so."""
    if not options["memory"] and not options["engine"]:
        return load_trials(files, options)
    from levelbest.readers.parts import read_in_parts

    return read_in_parts(files, **_reading(options))


def _reading(options: dict[str, Any]) -> dict[str, Any]:
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
