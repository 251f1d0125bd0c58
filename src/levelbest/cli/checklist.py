"""``levelbest checklist``: the reporting checklist, filled where the data tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from levelbest.cli.options import data_options, json_option, load_trials, seed_option

__all__ = ["command"]


@click.command("checklist")
@data_options
@click.option("--answers", type=click.Path(path_type=Path), help="Answers to open questions (YAML: key: answer).")
@click.option("--format", "form", type=click.Choice(["md", "tex", "html"]), default="md", show_default=True)
@click.option("--headline", type=click.IntRange(min=1), default=5, show_default=True, help="The n fixed in advance.")
@click.option("--out", type=click.Path(path_type=Path), help="Write it here instead of printing it.")
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """The reporting checklist, with open questions where the data do not tell."""
    from levelbest._plain import dump_json
    from levelbest.errors import InputError
    from levelbest.report.build import build_view
    from levelbest.report.paper.checklist import fill_checklist, read_answers
    from levelbest.report.paper.markup import checklist_html, checklist_latex, checklist_markdown

    trials = load_trials(files, options, quiet=as_json)
    failed = "worst" if options["failed"] == "both" else options["failed"]
    chosen = {"headline": options["headline"], "failed": failed, "missing": options["missing"], "rng": options["seed"]}
    view = build_view(trials, comparing=False, statistics=("mean",), **chosen)
    answers = read_answers(options["answers"]) if options["answers"] else None
    items = fill_checklist(view, answers, trials.facts)
    if as_json:
        click.echo(dump_json({"items": [vars(item) for item in items], "open": sum(not item.answer for item in items)}))
        return
    writers = {"md": checklist_markdown, "tex": checklist_latex, "html": checklist_html}
    text = writers[options["form"]](items)
    if options["out"] is None:
        click.echo(text)
        return
    try:
        options["out"].write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{options['out']} cannot be written: {error.strerror}") from error
    click.echo(f"checklist: {options['out']}")
