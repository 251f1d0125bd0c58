"""``levelbest report``: verdict, figures, page, tables and checklist in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.figures import log_option, published_option
from levelbest.cli.large import large_options
from levelbest.cli.options import F, data_options, design_options, json_option, load_table, seed_option
from levelbest.cli.progress import working
from levelbest.cli.tasks import task_options
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.designs import Table
    from levelbest.report.write import Report

__all__ = ["command", "report_options", "tell_report", "write"]


def report_options(function: F) -> F:
    """What goes into the report, and where it goes."""
    for option in (
        click.option("--out", type=click.Path(path_type=Path), default=Path("report.html"), show_default=True),
        click.option("--force", is_flag=True, help="Overwrite an existing page."),
        click.option("--title", help="The page's heading."),
        click.option(
            "--headline", type=click.IntRange(min=1), metavar="N", help="A budget named in advance: tested first."
        ),
        published_option,
        log_option,
        click.option("--hide", multiple=True, metavar="COL", help="Leave this configuration column out."),
        click.option(
            "--figures", default="svg", show_default=True, metavar="LIST", help="Formats beside the page: svg,pdf,png."
        ),
        click.option("--answers", type=click.Path(path_type=Path), help="Answers for the checklist (YAML)."),
        design_options,
    ):
        function = option(function)
    return function


@click.command("report")
@data_options
@report_options
@task_options
@large_options
@click.option("--workers", type=click.IntRange(min=1), help="Ray workers.  [default: 2]")
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Verdict, figures, page, tables and checklist in one go."""
    task = options["task"]
    table = load_table(files, options if task is None else options | {"group": task})
    with working("writing the report"):
        report = write(table, options)
    tell_report(report, as_json)


def write(table: Table, options: dict[str, Any]) -> Report:
    """Write the report that the options ask for."""
    from levelbest.report.paper.checklist import read_answers
    from levelbest.report.write import write_report

    if options.get("failed") == "both":
        raise InputError(
            "a report shows one failure policy, worst or drop, and says whether verdicts survive the other"
        )
    keys = ("title", "headline", "worth", "interval", "paired", "baseline", "hide", "log", "task", "task_directions")
    chosen = {key: options[key] for key in (*keys, "confidence", "failed", "missing", "n_resamples") if key in options}
    return write_report(
        table,
        options["out"],
        answers=read_answers(options["answers"]) if options.get("answers") else None,
        force=options["force"],
        figures=tuple(part.strip() for part in options.get("figures", "svg").split(",") if part.strip()),
        published=options.get("published") or {},
        rng=options["seed"],
        **chosen,
    )


def tell_report(report: Report, as_json: bool) -> None:
    """Print what a person wants to know, or one JSON document."""
    if as_json:
        from levelbest._plain import dump_json

        document = {key: value for key, value in report.view.to_dict().items() if key != "table"}
        click.echo(dump_json({**document, "page": str(report.page), "warnings": document.pop("cautions")}))
        return
    from levelbest.report.terminal.report import print_report

    beside = {str(file.parent) for file in report.files if file != report.page}
    print_report(
        report.view, [str(report.page), *(f"figures, tables and checklist: {folder}" for folder in sorted(beside))]
    )
