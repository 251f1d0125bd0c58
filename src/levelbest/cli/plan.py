"""``levelbest plan``: what it would take to know."""

from __future__ import annotations

from typing import Any

import click

from levelbest.cli.options import (
    confidence_option,
    data_options,
    echo_json,
    json_option,
    load_trials,
    policies_of,
    resamples_option,
    seed_option,
)
from levelbest.cli.progress import working


@click.command("plan")
@data_options
@click.option(
    "--n",
    "n",
    type=click.IntRange(min=1),
    help="The budget to plan for.  [default: 10, or as many samples as problems have; 1 where only seeds vary]",
)
@click.option("--width", type=float, help="The width wanted of the interval.  [default: half the present one]")
@click.option("--power", type=float, default=0.8, show_default=True, help="The chance wanted to certify a difference.")
@click.option("--runs", type=click.IntRange(min=2), help="Runs of a family to divide into configurations and seeds.")
@click.option("--baseline", metavar="NAME", help="Separate every other family from this one.")
@click.option("--details", is_flag=True, help="A sentence for each pair and family instead of the table.")
@confidence_option
@resamples_option
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, seed: int, **options: Any) -> None:
    """How many trials (or problems) until intervals are narrow and families separated.

    The trials in FILE are the pilot. A pilot can speak of budgets up to a quarter of its size.
    """
    from levelbest.designs.plan import plan_trials

    trials = load_trials(files, options)
    keys = ("n", "width", "power", "runs", "baseline", "confidence", "missing", "n_resamples")
    chosen = {key: options[key] for key in keys}
    policies = policies_of(options)
    with working("planning"):
        plans = [plan_trials(trials, failed=failed, rng=seed, **chosen) for failed in policies]
    if as_json:
        echo_json(*(plan.to_dict() for plan in plans))
        return
    from levelbest.report.terminal.console import console, print_cautions, print_text
    from levelbest.report.terminal.plans import print_plan
    from levelbest.report.words.phrases import counted

    out = console()
    for failed, plan in zip(policies, plans, strict=True):
        if len(plans) > 1:
            print_text(f"failed trials {counted(failed)}:", out)
        print_plan(plan, out, details=options["details"])
    print_cautions(plans[0].cautions, out)
