"""``levelbest plan``: what it would take to know."""

from __future__ import annotations

from typing import Any

import click

from levelbest.cli.options import data_options, json_option, load_trials, seed_option

__all__ = ["command"]


@click.command("plan")
@data_options
@click.option("--n", "n", type=click.IntRange(min=1), default=10, show_default=True, help="The budget to plan for.")
@click.option("--width", type=float, help="The width wanted of the interval.  [default: half the present one]")
@click.option("--power", type=float, default=0.8, show_default=True, help="The chance wanted to certify a difference.")
@click.option("--baseline", metavar="NAME", help="Separate every other family from this one.")
@click.option("--confidence", type=float, default=0.95, show_default=True)
@click.option("--resamples", "n_resamples", type=click.IntRange(min=99), default=2000, show_default=True)
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, seed: int, **options: Any) -> None:
    """How many trials (or problems) until intervals are narrow and families separated.

    The trials in FILE are the pilot. A pilot can speak of budgets up to a quarter of its size.
    """
    from levelbest._plain import dump_json
    from levelbest.comparisons.planning import plan_trials

    trials = load_trials(files, options, quiet=as_json)
    keys = ("n", "width", "power", "baseline", "confidence", "missing", "n_resamples")
    policy = "worst" if options["failed"] == "both" else options["failed"]
    found = plan_trials(trials, failed=policy, rng=seed, **{key: options[key] for key in keys})
    if as_json:
        click.echo(dump_json(found.to_dict()))
        return
    from levelbest.report.terminal.curves import console, print_cautions

    out = console()
    for sentence in found.sentences:
        out.print(sentence)
    print_cautions(found.cautions, out)
