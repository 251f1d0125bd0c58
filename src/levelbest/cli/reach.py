"""``levelbest reach``: the budget needed to reach a score."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import working


def _targets(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[tuple[str | None, float]]:
    """``0.395`` or ``"Smith 2019=0.395"``."""
    targets = []
    for given in value:
        name, _, number = given.rpartition("=")
        try:
            targets.append((name or None, float(number)))
        except ValueError:
            raise click.BadParameter(
                f"{given!r} is not a score; write 0.395 or 'Smith 2019=0.395'", ctx, param
            ) from None
    return targets


@click.command("reach", cls=Verb)
@options.data
@click.option(
    "--target",
    "targets",
    multiple=True,
    required=True,
    callback=_targets,
    metavar="[NAME=]SCORE",
    help="The score to reach, e.g. a published number; may be given several times.",
)
@options.statistic
@options.confidence
@options.axis_of_budgets
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once (cost axis).")
@options.resamples
@options.seed
@options.details
@options.as_json
@click.option("--out", type=click.Path(path_type=Path), help="Draw curves and budgets here (.png, .svg or .pdf).")
@options.log
@options.as_one
def command(given: options.Given) -> None:
    """The smallest budget, in trials or in cost, at which each family's curve reaches a score."""
    from levelbest.designs.reach import reach
    from levelbest.results import Reaches

    trials = options.load_trials(given)
    keys = ("statistic", "confidence", "missing", "axis", "workers", "n_resamples")
    chosen = {key: given[key] for key in keys}
    with working("drawing curves"):
        reached = [
            reach(trials, given["targets"], failed=failed, rng=given["seed"], **chosen)
            for failed in options.policies_of(given)
        ]
    both = Reaches(
        tuple(target for several in reached for target in several),
        tuple(dict.fromkeys(caution for several in reached for caution in several.cautions)),
        given["seed"],
    )
    if given["out"] is not None:
        from levelbest.report.figures.panels import panel_of_curves
        from levelbest.report.figures.report import save_panels

        goals = {name or f"{goal:g}": goal for name, goal in given["targets"]}
        save_panels({"": panel_of_curves(reached[0].curves, log=given["log"], published=goals)}, given["out"])
    if given["as_json"]:
        options.echo_json(both.to_dict())
        return
    from levelbest.report.terminal.curves import print_reaches

    print_reaches(both, details=given["details"])
    if given["out"] is not None:
        click.echo(f"figure: {given['out']}")
