"""``levelbest convert``: results of any tool as one tidy table of trials, or as runs of a tracker."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb


@click.command("convert", cls=Verb)
@options.data
@options.as_json
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write (.csv, .jsonl or .parquet, or as --to says). Default: CSV is printed; on a terminal, its "
    "first rows.",
)
@click.option(
    "--to",
    "kind",
    type=click.Choice(["csv", "jsonl", "parquet", "mlflow", "wandb"]),
    help="The format, if --out does not say it; mlflow (a store, mlflow.db) and wandb (a folder for offline "
    "runs) need --out and send nothing.",
)
@click.option("--hide", metavar="COL", multiple=True, help="Leave out a configuration column; may be repeated.")
@options.as_one
def command(given: options.Given) -> None:
    """Results of any tool as a tidy table of trials, or as runs of MLflow or W&B."""
    from levelbest.errors import InputError
    from levelbest.readers.tables.tidy import tidy_columns, tidy_text
    from levelbest.report.terminal import console, documents
    from levelbest.report.trackers import write_trials

    out, kind, hide, as_json = (given[key] for key in ("out", "kind", "hide", "as_json"))
    if out is None and kind not in (None, "csv", "jsonl"):
        raise InputError(f"{kind} is not text: name what to write with --out")
    trials = options.load_trials(given, quiet=as_json, keep=True)
    if out is not None:
        write_trials(trials, out, kind=kind, hide=hide)
    if as_json:
        document: dict[str, object] = {"n_trials": trials.n_trials, "n_failed": trials.n_failed}
        if out is None:
            columns = {name: column.tolist() for name, column in tidy_columns(trials, hide=hide).items()}
            document["trials"] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        else:
            document["out"] = str(out)
        document["skipped"] = [loss.to_dict() for loss in trials.skipped]
        document["warnings"] = [caution.to_dict() for caution in trials.cautions]
        options.echo_json(document)
    elif out is None and kind is None and console.is_terminal():
        documents.print_trials(tidy_columns(trials, hide=hide), str(trials))
    elif out is None:
        click.echo(tidy_text(trials, kind or "csv", hide=hide), nl=False)
    else:
        console.print_lines(f"{trials}: written to {out}")
