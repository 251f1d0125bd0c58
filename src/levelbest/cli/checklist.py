"""``levelbest checklist``: the reporting checklist, filled in from the data."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.errors import InputError


@click.command("checklist", cls=Verb)
@options.data
@click.option("--answers", type=click.Path(path_type=Path), help="Answers to open questions (YAML: key: answer).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "tex", "html"]),
    default="md",
    show_default=True,
    help="Markdown, LaTeX or HTML.",
)
@options.headline
@click.option("--survey", is_flag=True, help="Treat FILEs as checklists, or folders of them, and count the answers.")
@click.option("--out", type=click.Path(path_type=Path), help="Write it here instead of printing it.")
@options.seed
@options.details
@options.as_json
@options.as_one
def command(given: options.Given) -> None:
    """The reporting checklist, filled in from the data, with the open questions."""
    from levelbest.report.build import build_view
    from levelbest.report.paper.checklist import (
        checklist_html,
        checklist_latex,
        checklist_markdown,
        fill_checklist,
        read_answers,
    )

    if given["survey"]:
        _survey(given)
        return
    trials = options.load_trials(given, quiet=given["as_json"])
    if given["failed"] == "both":
        raise InputError("a checklist describes one failure policy; give --failed worst or drop")
    chosen = {key: given[key] for key in ("headline", "failed", "missing")} | {"rng": given["seed"]}
    view = build_view(trials, comparing=False, statistics=("mean",), **chosen)
    answers = read_answers(given["answers"]) if given["answers"] else None
    items = fill_checklist(view, answers, trials.facts)
    if given["as_json"]:
        options.echo_json({"items": [vars(item) for item in items], "open": sum(not item.answer for item in items)})
        return
    from levelbest.report.terminal import console, documents

    if given["out"] is None and given["form"] == "md" and console.is_terminal() and not given["details"]:
        documents.print_checklist([(item.question, bool(item.answer)) for item in items])
        return
    writers = {"md": checklist_markdown, "tex": checklist_latex, "html": checklist_html}
    _show(writers[given["form"]](items), given["out"], "checklist")


def _survey(given: options.Given) -> None:
    """How many checklists answer each item."""
    from levelbest.report.paper.survey import survey_checklists

    counted = survey_checklists(given["files"])
    if given["as_json"]:
        options.echo_json(counted.to_dict())
        return
    for where, why in counted.skipped:
        click.echo(f"skipped: {where}: {why}", err=True)
    _show(counted.markdown(), given["out"], "survey")


def _show(text: str, out: Path | None, what: str) -> None:
    if out is None:
        click.echo(text)
        return
    from levelbest._write import write_text

    write_text(out, text)
    click.echo(f"{what}: {out}")
