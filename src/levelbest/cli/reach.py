"""``levelbest reach``: the budget needed to reach a score."""

from __future__ import annotations

from typing import Any

import click

from levelbest.cli.options import data_options, json_option, load_trials, seed_option, statistic_option

__all__ = ["command"]


def _targets(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[tuple[str | None, float]]:
    """``0.395`` or ``"Smith 2019=0.395"``."""
    found = []
    for one in value:
        name, _, number = one.rpartition("=")
        try:
            found.append((name or None, float(number)))
        except ValueError:
            raise click.BadParameter(f"{one!r} is not a score; write 0.395 or 'Smith 2019=0.395'", ctx, param) from None
    return found


@click.command("reach")
@data_options
@click.option(
    "--target", "targets", multiple=True, required=True, callback=_targets, metavar="[NAME=]SCORE",
    help="The score to reach, e.g. a published number; may be given several times.",
)  # fmt: skip
@statistic_option
@click.option("--confidence", type=float, default=0.95, show_default=True)
@click.option("--axis", type=click.Choice(["trials", "cost"]), default="trials", show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once (cost axis).")
@click.option("--resamples", "n_resamples", type=click.IntRange(min=99), default=2000, show_default=True)
@seed_option
@json_option
def command(
    files: tuple[str, ...], targets: list[tuple[str | None, float]], as_json: bool, seed: int, **options: Any
) -> None:
    """The smallest budget, in trials or in cost, whose curve reaches a score, for every family."""
    from levelbest._plain import dump_json
    from levelbest.comparisons.reach import reach

    trials = load_trials(files, options, quiet=as_json)
    keys = ("statistic", "confidence", "missing", "axis", "workers", "n_resamples")
    policy = "worst" if options["failed"] == "both" else options["failed"]
    found, cautions = reach(
        trials,
        targets,
        failed=policy,
        rng=seed,
        **{key: options[key] for key in keys},
    )
    if as_json:
        document = {"targets": [one.to_dict() for one in found], "warnings": [c.to_dict() for c in cautions]}
        click.echo(dump_json(document | {"seed": seed}))
        return
    from levelbest.report.terminal.curves import console, print_cautions

    out = console()
    for one in found:
        out.print(str(one))
    print_cautions(cautions, out)
