"""``levelbest compare``: who is better at which budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.figures import log_option, published_option
from levelbest.cli.large import large_options, load_table
from levelbest.cli.options import (
    asked_of,
    axis_option,
    budgets_option,
    data_options,
    design_options,
    echo_json,
    headline_option,
    json_option,
    policies_of,
    seed_option,
    statistic_option,
    workers_option,
)
from levelbest.cli.progress import working
from levelbest.cli.tasks import load_tasks, task_options
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.designs import Asked, Table
    from levelbest.results import Comparison, TaskComparison


@click.command("compare")
@data_options
@design_options
@headline_option
@statistic_option
@budgets_option
@axis_option
@large_options
@workers_option
@click.option("--pairs", is_flag=True, help="A table for each pair as well.")
@click.option("--p-values", is_flag=True, help="Permutation p-values for equal laws as well.")
@click.option("--while-running", is_flag=True, help="Limits that hold at every look at a search that still runs.")
@task_options
@click.option("--out", type=click.Path(path_type=Path), help="Write curves and verdicts here (.png, .svg or .pdf).")
@log_option
@published_option
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, pairs: bool, out: Path | None, **options: Any) -> None:
    """Which family is better, at which budgets, and where the data cannot tell.

    The bands behind a verdict hold for all pairs and budgets together.
    """
    from levelbest.designs.compare import compare_asked

    policies = policies_of(options)
    asked = [asked_of(options, failed) for failed in policies]
    compared: list[Comparison | TaskComparison] = []
    with working("comparing"):
        if options["task"] is None:
            table = load_table(files, options)
            alone = [compare_asked(table, own) for own in asked]
            compared, drawn = [*alone], {"": (table, alone[0])}
        else:
            tasks = load_tasks(files, options)
            over = [_compare_tasks(tasks, options, failed) for failed in policies]
            compared, drawn = [*over], {name: (own, over[0].tasks[name]) for name, own in tasks.items()}
        if out is not None:
            _draw(drawn, asked[0], out, options)
    if as_json:
        echo_json(*(own.to_dict() for own in compared))
        return
    from levelbest.report.terminal.comparison import print_comparison, print_tasks
    from levelbest.report.words.phrases import counted
    from levelbest.results import TaskComparison

    for failed, result in zip(policies, compared, strict=True):
        if len(compared) > 1:
            click.echo(f"failed trials {counted(failed)}:\n")
        if isinstance(result, TaskComparison):
            print_tasks(result)
        else:
            print_comparison(result, pairs=pairs, n=options["n"])
    if out is not None:
        click.echo(f"figure: {out}")


def _compare_tasks(tasks: Mapping[str, Table], options: dict[str, Any], failed: str) -> TaskComparison:
    from levelbest.designs.tasks import compare_tasks

    if options["axis"] == "cost" or options["while_running"] or options["statistic"] != "mean" or options["paired"]:
        raise InputError("over tasks the mean is compared by trials, unpaired and fixed-sample; leave others out")
    keys = ("baseline", "n", "confidence", "missing", "n_resamples")
    return compare_tasks(tasks, failed=failed, rng=options["seed"], **{key: options[key] for key in keys})


def _draw(compared: Mapping[str, tuple[Table, Comparison]], asked: Asked, out: Path, options: dict[str, Any]) -> None:
    """The curves of the families compared with bands for all budgets, and the verdicts below them, a panel for each
    task; of seeds every run with the means compared."""
    from levelbest.designs import design_of
    from levelbest.designs._input import comparable
    from levelbest.report.figures.panels import panel_of_curves, panel_with_verdicts, save_panels
    from levelbest.report.tasks import published_on

    whole = replace(asked, n=None, simultaneous=True)
    panels = {}
    for name, (table, result) in compared.items():
        kept = comparable(table, asked.baseline)
        published = published_on(name, options["published"], tuple(compared))
        curves = design_of(kept, whole).curves(whole)
        panel = panel_of_curves(curves, log=options["log"], published=published)
        panels[name] = panel_with_verdicts(panel, result, kept)
    save_panels(panels, out)
