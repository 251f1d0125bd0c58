"""``levelbest compare``: who is better at which budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.figures import log_option, published_option
from levelbest.cli.large import large_options
from levelbest.cli.options import (
    asked_of,
    budgets_option,
    cost_option,
    data_options,
    design_options,
    json_option,
    load_table,
    policies_of,
    seed_option,
    statistic_option,
)
from levelbest.cli.progress import working
from levelbest.cli.tasks import load_tasks, task_options

if TYPE_CHECKING:
    from levelbest.designs import Asked, Table
    from levelbest.results import Comparison, TaskComparison
    from levelbest.trials import Trials

__all__ = ["command"]


@click.command("compare")
@data_options
@design_options
@click.option(
    "--headline", type=click.IntRange(min=1), metavar="N", help="A budget named in advance: tested first, alone."
)
@statistic_option
@budgets_option
@click.option("--axis", type=click.Choice(["trials", "cost"]), default="trials", show_default=True)
@cost_option
@large_options
@click.option(
    "--workers", type=click.IntRange(min=1), help="Ray workers [default: 2], or trials at once on the cost axis."
)
@click.option("--pairs", is_flag=True, help="A table for each pair as well.")
@click.option("--p-values", is_flag=True, help="Permutation p-values for equal laws as well.")
@click.option("--while-running", is_flag=True, help="Limits that hold at every look at a search that still runs.")
@task_options
@click.option("--out", type=click.Path(path_type=Path), help="Write curves and verdicts here (.png, .svg or .pdf).")
@log_option
@published_option
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, pairs: bool, **options: Any) -> None:
    """Which family is better, at which budgets, and where the data cannot tell.

    The bands behind a verdict hold for all pairs and budgets together.
    """
    from levelbest.designs.compare import compare_asked

    if options["task"] is not None:
        _compare_tasks(files, as_json, options)
        return
    table = load_table(files, options)
    policies = policies_of(options)
    with working("comparing"):
        comparisons = [compare_asked(table, asked_of(options, failed)) for failed in policies]
        if options["out"] is not None:
            _draw(table, comparisons[0], asked_of(options, policies[0]), options)
    _tell(comparisons, policies, as_json, pairs=pairs, n=options["n"])
    if options["out"] is not None and not as_json:
        click.echo(f"figure: {options['out']}")


def _draw(table: Table, comparison: Comparison, asked: Asked, options: dict[str, Any]) -> None:
    """The curves of the families compared with bands for all budgets, and the verdicts below them; of seeds every run
    with the means compared."""
    from levelbest.designs import design_of
    from levelbest.designs._input import comparable
    from levelbest.report.figures.panels import panel_of_comparison, save_panel
    from levelbest.report.figures.runs import save_runs
    from levelbest.trials import Trials

    drawn = {key: options[key] for key in ("log", "published")}
    table = comparable(table, asked.baseline)
    if comparison.terms.design == "seeds" and isinstance(table, Trials):
        save_runs(table, comparison, options["out"], published=options["published"])
        return
    whole = replace(asked, n=None, simultaneous=True)
    save_panel(panel_of_comparison(comparison, design_of(table, whole).curves(whole), **drawn), options["out"])


def _tell(
    comparisons: Sequence[Comparison],
    policies: Sequence[str],
    as_json: bool,
    *,
    pairs: bool,
    n: tuple[int, ...] | None,
) -> None:
    """Print the comparison, under both failure policies where they were asked for."""
    from levelbest._plain import dump_json

    if as_json:
        document = comparisons[0].to_dict()
        if len(comparisons) > 1:
            document["other_failure_policy"] = comparisons[1].to_dict()
        click.echo(dump_json(document))
        return
    from levelbest.report.terminal.comparison import print_comparison
    from levelbest.report.words.phrases import counted

    for failed, comparison in zip(policies, comparisons, strict=True):
        if len(comparisons) > 1:
            click.echo(f"failed trials {counted(failed)}:\n")
        print_comparison(comparison, pairs=pairs, n=n)


def _compare_tasks(files: tuple[str, ...], as_json: bool, options: dict[str, Any]) -> None:
    from levelbest._plain import dump_json
    from levelbest.designs.tasks import compare_tasks
    from levelbest.errors import InputError

    if options["axis"] == "cost" or options["while_running"] or options["statistic"] != "mean" or options["paired"]:
        raise InputError("over tasks the mean is compared by trials, unpaired and fixed-sample; leave others out")
    keys = ("baseline", "n", "confidence", "missing", "n_resamples")
    chosen = {key: options[key] for key in keys} | {"rng": options["seed"]}
    policies = policies_of(options)
    with working("comparing"):
        tasks = load_tasks(files, options)
        compared = [compare_tasks(tasks, failed=failed, **chosen) for failed in policies]
        if options["out"] is not None:
            _draw_tasks(tasks, compared[0], asked_of(options, policies[0]), options)
    if as_json:
        document = compared[0].to_dict()
        if len(compared) > 1:
            document["other_failure_policy"] = compared[1].to_dict()
        click.echo(dump_json(document))
        return
    from levelbest.report.terminal.tasks import print_tasks

    for comparison in compared:
        print_tasks(comparison)
    if options["out"] is not None:
        click.echo(f"figure: {options['out']}")


def _draw_tasks(tasks: Mapping[str, Trials], comparison: TaskComparison, asked: Asked, options: dict[str, Any]) -> None:
    """A panel for each task, with its verdicts."""
    from levelbest.designs import design_of
    from levelbest.designs._input import comparable
    from levelbest.report.figures.panels import panel_of_comparison, save_panels
    from levelbest.report.tasks import published_on

    whole = replace(asked, n=None, simultaneous=True)
    panels = {}
    for name, table in tasks.items():
        drawn = {"log": options["log"], "published": published_on(name, options["published"], tuple(tasks))}
        curves = design_of(comparable(table, asked.baseline), whole).curves(whole)
        panels[name] = panel_of_comparison(comparison.tasks[name], curves, trials=table, **drawn)
    save_panels(panels, options["out"])
