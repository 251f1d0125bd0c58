"""``levelbest compare``: who is better at which budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import working
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.designs import Request, Table
    from levelbest.results import Comparison, Requirement, TaskComparison


@click.command("compare", cls=Verb)
@options.data
@options.design
@options.headline
@options.about
@options.statistic
@options.budgets
@options.axis
@options.in_parts
@options.workers
@click.option("--pairs", is_flag=True, help="Also print a table for each pair.")
@options.details
@click.option(
    "--require",
    multiple=True,
    metavar="EXPR",
    help='Exit code 1 unless this is certified: "new not worse than base by 0.01", "new better than base".',
)
@click.option("--p-values", is_flag=True, help="Also compute permutation p-values for equal distributions.")
@click.option("--while-running", is_flag=True, help="Limits that are valid at every look at a running search.")
@options.tasks
@click.option("--out", type=click.Path(path_type=Path), help="Write curves and verdicts here (.png, .svg or .pdf).")
@options.log
@options.published
@options.seed
@options.as_json
@options.as_one
def command(given: options.Given) -> int:
    """Which family is better, at which budgets, and where the data cannot tell.

    The bands behind a verdict cover all pairs and budgets together.
    """
    from levelbest.designs.compare import compare_request

    policies, out = options.policies_of(given), given["out"]
    requests = [options.request_of(given, failed) for failed in policies]
    compared: list[Comparison | TaskComparison] = []
    with working("comparing"):
        tables = options.load_tables(given)
        if "" in tables:
            alone = [compare_request(tables[""], request) for request in requests]
            compared, drawn = [*alone], dict.fromkeys(tables, alone[0])
        else:
            from levelbest.designs.tasks import compare_each

            over = [compare_each(tables, request) for request in requests]
            compared, drawn = [*over], dict(over[0].tasks)
        if out is not None:
            _draw(tables, drawn, requests[0], given)
    required = _required(tables, requests, given["require"])
    code = int(not all(required))
    if given["as_json"]:
        documents = [comparison.to_dict() for comparison in compared]
        if required:
            documents[0] |= {"requirements": [judged.to_dict() for judged in required]}
        options.echo_json(*documents)
        return code
    from levelbest.report.terminal.comparison import print_comparison
    from levelbest.report.terminal.tasks import print_tasks
    from levelbest.report.words.phrases import counted
    from levelbest.results import TaskComparison

    for failed, result in zip(policies, compared, strict=True):
        if len(compared) > 1:
            click.echo(f"failed trials {counted(failed)}:\n")
        if isinstance(result, TaskComparison):
            print_tasks(result, details=given["details"])
        else:
            print_comparison(result, pairs=given["pairs"], n=given["n"], details=given["details"])
    for judged in required:
        click.echo(f"\n{judged}")
    if out is not None:
        click.echo(f"figure: {out}")
    return code


def _required(tables: Mapping[str, Table], requests: list[Request], claims: tuple[str, ...]) -> list[Requirement]:
    """Whether each claim is certified, under every failure policy."""
    from levelbest.designs.gate import requirement
    from levelbest.trials import Trials

    if not claims:
        return []
    table = tables.get("")
    if not isinstance(table, Trials):
        raise InputError("--require applies to one table of trials, not to several tasks or to samples read in parts")
    return [requirement(table, claim, request) for request in requests for claim in claims]


def _draw(
    tables: Mapping[str, Table], compared: Mapping[str, Comparison], request: Request, given: options.Given
) -> None:
    """The curves of the families compared with bands for all budgets, and the verdicts below them, a panel for each
    task; of seeds every run with the means compared."""
    from levelbest.designs import design_of
    from levelbest.designs._input import comparable
    from levelbest.report.figures.panels import panel_of_curves, panel_with_verdicts
    from levelbest.report.figures.report import save_panels
    from levelbest.report.tasks import published_on

    whole = replace(request, n=None, simultaneous=True)
    panels = {}
    for name, result in compared.items():
        kept = comparable(tables[name], request.baseline)
        published = published_on(name, given["published"], tuple(compared))
        design = design_of(kept, whole)
        curves = design.curves(whole)
        panel = panel_of_curves(curves, log=given["log"], published=published)
        panels[name] = panel_with_verdicts(panel, result, design.unit_scores)
    save_panels(panels, given["out"])
