"""``levelbest plan``: how many more trials or problems it takes to decide."""

from __future__ import annotations

from pathlib import Path

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import working


@click.command("plan", cls=Verb)
@options.data
@click.option(
    "--n",
    "n",
    type=click.IntRange(min=1),
    help="The budget to plan for.  [default: 10; 1 over problems and where only seeds vary]",
)
@click.option("--width", type=float, help="The target width of the interval.  [default: half the present one]")
@click.option(
    "--power", type=float, default=0.8, show_default=True, help="The target probability of certifying a difference."
)
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    help="Runs of a family to divide into configurations and seeds, or into problems and samples of each.",
)
@click.option(
    "--spend",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="The total cost of two systems ($ with --rate), to divide into problems and samples of each.",
)
@click.option("--baseline", metavar="NAME", help="Separate every other family from this one.")
@click.option(
    "--price", metavar="P", help="The price of one unit of --cost, e.g. 2.5 or '2.5 EUR': plans in money too."
)
@click.option("--out", type=click.Path(path_type=Path), help="Draw power against cost here (.png, .svg or .pdf).")
@click.option(
    "--labels",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw this many unlabelled samples at random, to be labelled, and write them to --out (.csv).",
)
@options.details
@options.confidence
@options.resamples
@options.seed
@options.as_json
@options.as_one
def command(given: options.Given) -> None:
    """How many trials (or problems) are needed for narrow intervals and separated families.

    The trials in FILE are the pilot. A pilot supports budgets up to a quarter of its size.
    """
    from levelbest.designs.plan import plan_trials

    if given["labels"] is not None:
        _draw_for_labels(given)
        return
    trials = options.load_trials(given)
    keys = ("n", "width", "power", "runs", "baseline", "price", "spend", "confidence", "missing", "n_resamples")
    chosen = {key: given[key] for key in keys}
    policies = options.policies_of(given)
    with working("planning"):
        plans = [plan_trials(trials, failed=failed, rng=given["seed"], **chosen) for failed in policies]
    if given["out"] is not None:
        from levelbest.report.figures.axes import save_plan

        save_plan(plans[0], given["out"])
    if given["as_json"]:
        options.echo_json(*(plan.to_dict() for plan in plans))
        return
    from levelbest.report.terminal.console import console, print_text
    from levelbest.report.terminal.curves import print_plan
    from levelbest.report.words.phrases import counted

    out = console()
    for failed, plan in zip(policies, plans, strict=True):
        if len(plans) > 1:
            print_text(f"failed trials {counted(failed)}:", out)
        print_plan(plan, out, details=given["details"])
    if given["out"] is not None:
        click.echo(f"figure: {given['out']}")


def _draw_for_labels(given: options.Given) -> None:
    """Samples drawn at random from those without a label, as a table to fill in."""
    import numpy as np

    from levelbest.errors import InputError
    from levelbest.report.trackers import write_trials

    if given["out"] is None:
        raise InputError("--labels draws samples to be labelled: say where to write them with --out to_label.csv")
    trials = options.load_trials(given, keep=True)
    free = np.arange(len(trials)) if trials.reported is None else np.flatnonzero(~np.isfinite(trials.reported))
    if free.size < given["labels"]:
        raise InputError(f"--labels asks for {given['labels']} samples, and {free.size} have no label yet")
    rows = np.sort(np.random.default_rng(given["seed"]).choice(free, given["labels"], replace=False))
    write_trials(trials.take(rows), given["out"])
    click.echo(f"{given['labels']} of {free.size} samples without a label, drawn at random (seed {given['seed']})")
    click.echo(f"table: {given['out']}")
