"""``levelbest report``: verdict, figures, page, tables and checklist in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import working
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.report.write import Report


@click.command("report", cls=Verb)
@options.data
@options.design
@click.option("--answers", type=click.Path(path_type=Path), help="Answers for the checklist (YAML).")
@click.option(
    "--figures", default="svg", show_default=True, metavar="LIST", help="Formats beside the page: svg,pdf,png."
)
@click.option("--hide", multiple=True, metavar="COL", help="Leave this configuration column out.")
@options.log
@options.published
@options.headline
@options.about
@click.option(
    "--paper", type=click.Choice(["neurips", "icml", "acl"]), help="Width and type of the figures beside the page."
)
@click.option("--title", help="The page's heading.")
@click.option("--force", is_flag=True, help="Overwrite an existing page.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The page (.html); tables and figures are written beside it.",
)
@options.tasks
@options.in_parts
@click.option("--workers", type=click.IntRange(min=1), help="Ray workers.  [default: 2]")
@options.seed
@options.details
@options.as_json
@options.as_one
def command(given: options.Given) -> None:
    """Verdict, figures, page, tables and checklist in one go.

    For the ledger of a loop (levelbest loop): its state, and every attempt.
    """
    if len(given["files"]) == 1 and _report_loop(given):
        return
    from levelbest.report.paper.checklist import read_answers
    from levelbest.report.write import write_report

    if given["failed"] == "both":
        raise InputError(
            "a report shows one failure policy, worst or drop, and says whether verdicts survive the other"
        )
    table = options.load_table(given)
    keys = ["title", "headline", "worth", "interval", "paired", "baseline", "hide", "log", "task_directions", "about"]
    keys += ["confidence", "failed", "missing", "n_resamples", "published", "force", "paper"]
    with working("writing the report"):
        report = write_report(
            table,
            given["out"],
            answers=read_answers(given["answers"]) if given["answers"] else None,
            figures=tuple(part.strip() for part in given["figures"].split(",") if part.strip()),
            rng=given["seed"],
            **{key: given[key] for key in keys},
        )
    tell_report(report, given["as_json"], details=given["details"])


def _report_loop(given: options.Given) -> bool:
    """Write the page of a loop's ledger; False where the file is something else."""
    path = Path(given["files"][0])
    if path.suffix.lower() in (".csv", ".tsv", ".json", ".jsonl", ".parquet") or not path.is_file():
        return False
    from levelbest.readers.formats.ledger import is_ledger

    if not is_ledger(path):
        return False
    from levelbest.run.view import LedgerView

    with LedgerView(path) as view:
        if "loop" not in view.study:
            return False
        from levelbest._write import write_text
        from levelbest.report.page.loops import loop_page
        from levelbest.report.write import free_place
        from levelbest.run.loop import state_of

        state = state_of(view)
    page = free_place(given["out"], force=given["force"])
    write_text(page, loop_page(state, given["title"] or view.study["name"]))
    if given["as_json"]:
        options.echo_json(state.to_dict() | {"page": str(page)})
    else:
        click.echo(f"{state}\npage: {page}")
    return True


def tell_report(report: Report, as_json: bool, *, details: bool = False) -> None:
    """Print what a person wants to know, all of it with ``details``, or one JSON document."""
    if as_json:
        document = report.view.numbers()
        options.echo_json({**document, "page": str(report.page), "warnings": document.pop("cautions")})
        return
    from levelbest.report.terminal.comparison import print_report

    beside = sorted({str(file.parent) for file in report.files if file != report.page})
    print_report(report.view, str(report.page), beside, details=details)
