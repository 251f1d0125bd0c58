"""``levelbest curve``: the expected or quantile best against the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import working

if TYPE_CHECKING:
    from levelbest.results import Curve, FamilyCostCurve


@click.command("curve", cls=Verb)
@options.data
@options.curve
@options.about
@options.seed
@options.details
@options.as_json
@click.option("--out", type=click.Path(path_type=Path), help="Write the figure here (.png, .svg or .pdf).")
@click.option(
    "--shade",
    type=click.Choice(["interval", "spread"]),
    default="interval",
    show_default=True,
    help="What the figure shades: confidence intervals, or one standard deviation of the best itself within the best "
    "and worst scores observed.",
)
@options.log
@options.published
@options.in_parts
@options.axis
@options.tasks
@options.workers
@options.as_one
def command(given: options.Given) -> None:
    """Expected or quantile best score against the budget."""
    from levelbest.cautions import documents_of
    from levelbest.designs import design_of
    from levelbest.designs._input import with_scores, without_one_search
    from levelbest.designs.curve import drawn_curves
    from levelbest.trials import Trials

    tables, out = options.load_tables(given), given["out"]
    by_task = "" not in tables
    with working("drawing curves"):
        requests = [options.request_of(given, failed) for failed in options.policies_of(given)]
        scored = {name: with_scores(table) for name, table in tables.items()}
        scored = {name: without_one_search(t) if isinstance(t, Trials) else t for name, t in scored.items()}
        curves = {
            name: [drawn for request in requests for drawn in drawn_curves(design_of(table, request), request)]
            for name, table in scored.items()
        }
    if out is not None:
        from levelbest.report.figures.panels import panel_of_curves
        from levelbest.report.figures.report import save_panels
        from levelbest.report.tasks import published_on

        panels = {}
        for name, drawn in curves.items():
            published = published_on(name, given["published"], tuple(curves))
            spread = given["shade"] == "spread"
            panels[name] = panel_of_curves(drawn, log=given["log"], published=published, spread=spread)
        save_panels(panels, out)
    if given["as_json"]:
        tasks = {name: {"families": [curve.to_dict() for curve in drawn]} for name, drawn in curves.items()}
        document: dict[str, object] = {"tasks": tasks} if by_task else dict(tasks[""])
        document["warnings"] = documents_of([curve for drawn in curves.values() for curve in drawn])
        options.echo_json(document)
        return
    _print(curves, given)
    if out is not None:
        click.echo(f"figure: {out}")


def _print(curves: Mapping[str, Sequence[Curve | FamilyCostCurve]], given: options.Given) -> None:
    """The tables of all tasks with all details; otherwise one screen, with a row for each task and family."""
    from levelbest.report.terminal.curves import print_curves

    if "" not in curves and not given["details"]:
        every = [replace(curve, family=f"{name}: {curve.family}") for name, drawn in curves.items() for curve in drawn]
        curves = {"": every}
    for name, drawn in curves.items():
        if name:
            click.secho(name, bold=True)
        print_curves(drawn, n=given["n"], details=given["details"])
        if name:
            click.echo()
