"""``levelbest checklist``: the reporting checklist, filled where the data tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from levelbest.cli.options import data_options, echo_json, headline_option, json_option, load_trials, seed_option
from levelbest.errors import InputError


@click.command("checklist")
@data_options
@click.option("--answers", type=click.Path(path_type=Path), help="Answers to open questions (YAML: key: answer).")
@click.option("--format", "form", type=click.Choice(["md", "tex", "html"]), default="md", show_default=True)
@headline_option
@click.option(
    "--survey", is_flag=True, help="FILEs are checklists, or folders of them, of any hand: count the answers."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write it here instead of printing it.")
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """The reporting checklist, with open questions where the data do not tell."""
    from levelbest.report.build import build_view
    from levelbest.report.paper.checklist import fill_checklist, read_answers
    from levelbest.report.paper.markup import checklist_html, checklist_latex, checklist_markdown

    if options["survey"]:
        _survey(files, options["out"], as_json)
        return
    trials = load_trials(files, options, quiet=as_json)
    if options["failed"] == "both":
        raise InputError("a checklist tells of one failure policy; give --failed worst or drop")
    chosen = {key: options[key] for key in ("headline", "failed", "missing")} | {"rng": options["seed"]}
    view = build_view(trials, comparing=False, statistics=("mean",), **chosen)
    answers = read_answers(options["answers"]) if options["answers"] else None
    items = fill_checklist(view, answers, trials.facts)
    if as_json:
        echo_json({"items": [vars(item) for item in items], "open": sum(not item.answer for item in items)})
        return
    writers = {"md": checklist_markdown, "tex": checklist_latex, "html": checklist_html}
    _show(writers[options["form"]](items), options["out"], "checklist")


def _survey(files: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """How many checklists answer each item."""
    from levelbest.report.paper.survey import survey_checklists

    counted = survey_checklists(files)
    if as_json:
        echo_json(counted.to_dict())
        return
    for where, why in counted.skipped:
        click.echo(f"skipped: {where}: {why}", err=True)
    _show(counted.markdown(), out, "survey")


def _show(text: str, out: Path | None, what: str) -> None:
    if out is None:
        click.echo(text)
        return
    from levelbest._write import write_text

    write_text(out, text)
    click.echo(f"{what}: {out}")
