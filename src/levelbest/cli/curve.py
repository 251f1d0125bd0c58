"""``levelbest curve``: the expected or quantile best against the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.progress import working
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.designs import Table
    from levelbest.stats.budgets import Extrapolation


@click.command("curve")
@options.data
@options.curve
@options.seed
@options.as_json
@click.option("--out", type=click.Path(path_type=Path), help="Write the figure here (.png, .svg or .pdf).")
@click.option(
    "--shade",
    type=click.Choice(["interval", "spread", "none"]),
    default="interval",
    show_default=True,
    help="With --out: the interval, plus or minus one standard deviation of the best within the observed range, or "
    "nothing.",
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
    from levelbest.designs._input import with_scores

    by_task, out = given["task"] is not None, given["out"]
    tables = options.load_tables(given)
    with working("drawing curves"):
        asked = [options.asked_of(given, failed) for failed in options.policies_of(given)]
        kept = {name: with_scores(table) for name, table in tables.items()}
        curves = {
            name: [drawn for own in asked for drawn in design_of(table, own).curves(own)]
            for name, table in kept.items()
        }
        past = _past_the_trials(kept, given)
    if out is not None:
        from levelbest.report.figures.panels import panel_of_curves, save_panels
        from levelbest.report.tasks import published_on

        panels = {}
        for name, drawn in curves.items():
            published = published_on(name, given["published"], tuple(curves))
            panels[name] = panel_of_curves(drawn, band=given["shade"], log=given["log"], published=published)
        save_panels(panels, out)
    if given["as_json"]:
        tasks = {name: {"families": [own.to_dict() for own in drawn]} for name, drawn in curves.items()}
        document: dict[str, object] = {"tasks": tasks} if by_task else dict(tasks[""])
        document["warnings"] = documents_of([own for drawn in curves.values() for own in drawn])
        if past:
            document["extrapolations"] = [{"family": name} | fit.to_dict() for name, fit in past.items()]
        options.echo_json(document)
        return
    from levelbest.report.terminal.console import console, print_text
    from levelbest.report.terminal.curves import print_curves

    for name, drawn in curves.items():
        if by_task:
            click.secho(name, bold=True)
        print_curves(drawn, n=given["n"])
        if by_task:
            click.echo()
    for name, fit in past.items():
        print_text(f"{name}, {kept[''].metric.selection}: {fit}", console())
    if out is not None:
        click.echo(f"figure: {out}")


def _past_the_trials(tables: dict[str, Table], given: options.Given) -> dict[str, Extrapolation]:
    """What a fit says of more trials than were run, for each family."""
    from levelbest.stats.budgets import extrapolated_best
    from levelbest.trials import Trials, by_configuration, has_repeats

    if not given["extrapolate"]:
        return {}
    table = tables.get("")
    if not isinstance(table, Trials) or table.group is not None or table.search is not None:
        raise InputError("--extrapolate is for families of independent trials; leave --group, --search and --task out")
    if given["failed"] == "both":
        raise InputError("--extrapolate is for one failure policy; give --failed worst or drop")
    scores = {name: table[name].scores(given["failed"], missing=given["missing"]) for name in table.families}
    if has_repeats(table):  # as in the curve, n counts configurations
        scores = {name: by_configuration(table[name], own) for name, own in scores.items()}
    return {
        name: extrapolated_best(
            own.selection,
            given["extrapolate"],
            bounds=table.metric.bounds if table.validation_only else None,
            confidence=given["confidence"],
            rng=given["seed"],
            direction=table.metric.direction,
        )
        for name, own in scores.items()
    }
