"""``levelbest curve``: the expected or quantile best against the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.figures import figure_options
from levelbest.cli.large import large_options
from levelbest.cli.options import (
    asked_of,
    cost_option,
    curve_options,
    data_options,
    extrapolate_option,
    json_option,
    load_table,
    load_trials,
    policies_of,
    seed_option,
)
from levelbest.cli.progress import working
from levelbest.cli.tasks import load_tasks, task_options
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.designs import Table
    from levelbest.stats.budgets import Extrapolation

__all__ = ["command"]


@click.command("curve")
@data_options
@curve_options
@seed_option
@json_option
@click.option("--out", type=click.Path(path_type=Path), help="Write the figure here (.png, .svg or .pdf).")
@figure_options
@large_options
@click.option("--axis", type=click.Choice(["trials", "cost"]), default="trials", show_default=True)
@cost_option
@extrapolate_option
@task_options
@click.option(
    "--workers", type=click.IntRange(min=1), help="Ray workers [default: 2], or trials at once on the cost axis."
)
def command(files: tuple[str, ...], as_json: bool, out: Path | None, **options: Any) -> None:
    """Expected or quantile best score against the budget."""
    from levelbest._plain import dump_json
    from levelbest.cautions import documents_of
    from levelbest.designs._input import with_scores
    from levelbest.designs.curve import curves_asked

    if options["task"] is not None:
        _over_tasks(files, as_json, out, options)
        return
    if options["axis"] == "cost":
        _over_cost(files, as_json, out, options)
        return
    table = with_scores(load_table(files, options))
    with working("drawing curves"):
        curves = [drawn for failed in policies_of(options) for drawn in curves_asked(table, asked_of(options, failed))]
        past = _past_the_trials(table, options)
    if out is not None:
        from levelbest.report.figures.panels import panel_of_curves, save_panel

        drawn = {key: options[key] for key in ("log", "published")}
        save_panel(panel_of_curves(curves, band=options["shade"], **drawn), out)
    if as_json:
        document = {"families": [drawn.to_dict() for drawn in curves], "warnings": documents_of(curves)}
        if past:
            document["extrapolations"] = [{"family": name} | fit.to_dict() for name, fit in past.items()]
        click.echo(dump_json(document))
        return
    from levelbest.report.terminal.curves import print_curves

    print_curves(curves, n=options["n"])
    for name, fit in past.items():
        click.echo(f"{name}: {fit}")
    if out is not None:
        click.echo(f"figure: {out}")


def _past_the_trials(table: Table, options: dict[str, Any]) -> dict[str, Extrapolation]:
    """What a fit says of more trials than were run, for each family."""
    from levelbest.stats.budgets import extrapolated_best
    from levelbest.trials import Trials

    if not options["extrapolate"]:
        return {}
    if not isinstance(table, Trials) or table.group is not None or table.search is not None:
        raise InputError("--extrapolate is for families of independent trials; leave --group and --search out")
    if options["failed"] == "both":
        raise InputError("--extrapolate is for one failure policy; give --failed worst or drop")
    return {
        name: extrapolated_best(
            table[name].scores(options["failed"], missing=options["missing"]).selection,
            options["extrapolate"],
            bounds=table.metric.bounds if table.validation_only else None,
            confidence=options["confidence"],
            rng=options["seed"],
            direction=table.metric.direction,
        )
        for name in table.families
    }


def _over_cost(files: tuple[str, ...], as_json: bool, out: Path | None, options: dict[str, Any]) -> None:
    from levelbest._plain import dump_json
    from levelbest.cautions import documents_of
    from levelbest.designs.curve import cost_curves

    trials = load_trials(files, options)
    with working("drawing curves"):
        curves = [drawn for failed in policies_of(options) for drawn in cost_curves(trials, asked_of(options, failed))]
    if out is not None:
        from levelbest.report.figures.panels import panel_of_curves, save_panel

        save_panel(panel_of_curves(curves, log=options["log"], published=options["published"]), out)
    if as_json:
        click.echo(dump_json({"families": [drawn.to_dict() for drawn in curves], "warnings": documents_of(curves)}))
        return
    from levelbest.report.terminal.curves import print_cost_curves

    print_cost_curves(curves)
    if out is not None:
        click.echo(f"figure: {out}")


def _over_tasks(files: tuple[str, ...], as_json: bool, out: Path | None, options: dict[str, Any]) -> None:
    """The curves of each task, and a panel for each."""
    from levelbest._plain import dump_json
    from levelbest.cautions import documents_of
    from levelbest.designs import design_of
    from levelbest.designs._input import with_scores

    if options["failed"] == "both" or options["extrapolate"]:
        raise InputError("curves by task are of one failure policy and within the trials; leave others out")
    asked = asked_of(options, options["failed"])
    with working("drawing curves"):
        tasks = load_tasks(files, options)
        curves = {name: design_of(with_scores(table), asked).curves(asked) for name, table in tasks.items()}
    if out is not None:
        from levelbest.report.figures.panels import panel_of_curves, save_panels
        from levelbest.report.tasks import published_on

        panels = {}
        for name, own in curves.items():
            published = published_on(name, options["published"], tuple(curves))
            panels[name] = panel_of_curves(own, band=options["shade"], log=options["log"], published=published)
        save_panels(panels, out)
    if as_json:
        everything = [drawn for own in curves.values() for drawn in own]
        documents = {name: {"families": [drawn.to_dict() for drawn in own]} for name, own in curves.items()}
        click.echo(dump_json({"tasks": documents, "warnings": documents_of(everything)}))
        return
    from levelbest.report.terminal.curves import print_cost_curves, print_curves
    from levelbest.results import Curve, FamilyCostCurve

    for name, own in curves.items():
        click.secho(name, bold=True)
        if over_cost := [drawn for drawn in own if isinstance(drawn, FamilyCostCurve)]:
            print_cost_curves(over_cost)
        else:
            print_curves([drawn for drawn in own if isinstance(drawn, Curve)], n=options["n"])
        click.echo()
    if out is not None:
        click.echo(f"figure: {out}")
