"""``levelbest report``: verdict, figures, page, tables and checklist in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.figures import log_option, published_option
from levelbest.cli.large import large_options, load_table
from levelbest.cli.options import data_options, design_options, echo_json, headline_option, json_option, seed_option
from levelbest.cli.progress import working
from levelbest.cli.tasks import task_options
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.report.write import Report


@click.command("report")
@data_options
@design_options
@click.option("--answers", type=click.Path(path_type=Path), help="Answers for the checklist (YAML).")
@click.option(
    "--figures", default="svg", show_default=True, metavar="LIST", help="Formats beside the page: svg,pdf,png."
)
@click.option("--hide", multiple=True, metavar="COL", help="Leave this configuration column out.")
@log_option
@published_option
@headline_option
@click.option("--title", help="The page's heading.")
@click.option("--force", is_flag=True, help="Overwrite an existing page.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("report.html"), show_default=True)
@task_options
@large_options
@click.option("--workers", type=click.IntRange(min=1), help="Ray workers.  [default: 2]")
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, out: Path, **options: Any) -> None:
    """Verdict, figures, page, tables and checklist in one go."""
    from levelbest.report.paper.checklist import read_answers
    from levelbest.report.write import write_report

    if options["failed"] == "both":
        raise InputError(
            "a report shows one failure policy, worst or drop, and says whether verdicts survive the other"
        )
    task = options["task"]
    table = load_table(files, options if task is None else options | {"group": task})
    keys = ["title", "headline", "worth", "interval", "paired", "baseline", "hide", "log", "task", "task_directions"]
    keys += ["confidence", "failed", "missing", "n_resamples", "published", "force"]
    with working("writing the report"):
        report = write_report(
            table,
            out,
            answers=read_answers(options["answers"]) if options["answers"] else None,
            figures=tuple(part.strip() for part in options["figures"].split(",") if part.strip()),
            rng=options["seed"],
            **{key: options[key] for key in keys},
        )
    tell_report(report, as_json)


def tell_report(report: Report, as_json: bool) -> None:
    """Print what a person wants to know, or one JSON document."""
    if as_json:
        document = report.view.numbers()
        echo_json({**document, "page": str(report.page), "warnings": document.pop("cautions")})
        return
    from levelbest.report.terminal.report import print_report

    beside = {str(file.parent) for file in report.files if file != report.page}
    print_report(
        report.view, [str(report.page), *(f"figures, tables and checklist: {folder}" for folder in sorted(beside))]
    )
