"""``levelbest describe``: what the scores look like, what failed, and whether it looks like a random sample."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.help import Verb

if TYPE_CHECKING:
    from levelbest._ledger.chain import Reason

_SHOWN_SKIPPED = 10


@click.command("describe", cls=Verb)
@options.data
@options.seed
@options.details
@options.as_json
@click.option("--out", type=click.Path(path_type=Path), help="Write histograms and scatters here (.png, .svg or .pdf).")
@options.as_one
def command(given: options.Given) -> None:
    """Score distributions, failures, and whether the trials look like a random sample."""
    from levelbest.report.describe import describe
    from levelbest.report.words.reading import read_as, reading_lines

    trials, out = options.load_trials(given), given["out"]
    descriptions = describe(trials, rng=given["seed"])
    if out is not None:
        from levelbest.report.figures.curves import save_figure
        from levelbest.report.figures.report import descriptions_figure

        save_figure(descriptions_figure(descriptions), out)
    reasons = _reasons(given["files"])
    if given["as_json"]:
        document = {
            "families": [description.to_dict() for description in descriptions],
            **read_as(trials),
            "skipped": [loss.to_dict() for loss in trials.skipped],
            "warnings": [caution.to_dict() for caution in trials.cautions],
        }
        if reasons:
            names = ("reason", "n_trials", "families")
            document["reasons"] = [dict(zip(names, reason, strict=True)) for reason in reasons]
        options.echo_json(document)
        return
    from levelbest.report.terminal.console import console, print_foot
    from levelbest.report.terminal.descriptions import print_descriptions

    shown_below = {("skipped-rows", ""), ("guessed-columns", "")}
    cautions = [caution for caution in trials.cautions if (caution.code, caution.kind) not in shown_below]
    details = given["details"]
    print_descriptions(descriptions, details=details)
    if reasons:
        from levelbest.run.ledger import reason_lines

        click.echo("\n".join(reason_lines(reasons)))
    click.echo("\n".join(reading_lines(trials, most=None if details else 2)))
    shown = _SHOWN_SKIPPED if details else 1
    for lost in trials.skipped[:shown]:
        text = f"{lost.where}: {lost.why}"
        click.echo(fill(text, 80, initial_indent="lost   ", subsequent_indent=" " * 7, break_on_hyphens=False))
    if len(trials.skipped) > shown:
        click.echo(f"lost   {len(trials.skipped) - shown} more; --json lists all of them")
    print_foot(cautions, console(), details=details)
    if out is not None:
        click.echo(f"figure: {out}")


def _reasons(files: tuple[str, ...]) -> list[Reason]:
    """Why trials of the ledgers among the files failed."""
    from levelbest.readers.formats.ledger import is_ledger

    reasons: list[Reason] = []
    for path in map(Path, files):
        if is_ledger(path):
            from levelbest.run.view import LedgerView

            with LedgerView(path) as view:
                reasons += view.reasons
    return reasons
