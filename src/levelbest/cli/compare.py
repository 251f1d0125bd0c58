"""``levelbest compare``: who is better at which budget."""

from __future__ import annotations

from typing import Any

import click

from levelbest.cli.options import (
    budgets_option,
    cost_option,
    data_options,
    json_option,
    load_trials,
    seed_option,
    statistic_option,
)

__all__ = ["command"]


@click.command("compare")
@data_options
@click.option("--baseline", metavar="NAME", help="Compare every other family with this one; default: all with all.")
@statistic_option
@click.option("--confidence", type=float, default=0.95, show_default=True)
@budgets_option
@click.option("--axis", type=click.Choice(["trials", "cost"]), default="trials", show_default=True)
@cost_option
@click.option(
    "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Trials at once, on the cost axis."
)
@click.option(
    "--paired/--unpaired", default=None, help="Insist on pairs, or ignore them; default: where all trials match."
)
@click.option("--p-values", is_flag=True, help="Permutation p-values for equal laws as well.")
@click.option("--while-running", is_flag=True, help="Limits that hold at every look at a search that still runs.")
@click.option("--resamples", "n_resamples", type=click.IntRange(min=99), default=5000, show_default=True)
@seed_option
@json_option
def command(files: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Which family is better, at which budgets, and where the data cannot tell.

    The bands behind a verdict hold for all pairs and budgets together.
    """
    from levelbest._plain import dump_json
    from levelbest.comparisons import compare

    trials = load_trials(files, options, quiet=as_json)
    keys = ("baseline", "statistic", "confidence", "n", "axis", "budget", "workers", "paired", "p_values")
    chosen = {key: options[key] for key in (*keys, "while_running", "missing", "n_resamples")}
    policies = ("worst", "drop") if options["failed"] == "both" else (options["failed"],)
    found = [compare(trials, failed=policy, rng=options["seed"], **chosen) for policy in policies]
    if as_json:
        document = found[0].to_dict()
        if len(found) > 1:
            document["other_failure_policy"] = found[1].to_dict()
        click.echo(dump_json(document))
        return
    from levelbest.report.verdict_text import print_comparison

    for policy, one in zip(policies, found, strict=True):
        if len(found) > 1:
            click.echo(f"failed trials {'counted as the worst score' if policy == 'worst' else 'dropped'}:\n")
        print_comparison(one, n=options["n"])
