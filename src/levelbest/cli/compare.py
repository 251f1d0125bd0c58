"""``levelbest compare``: who is better at which budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.large import is_large, large_options, reading_of
from levelbest.cli.options import (
    budgets_option,
    cost_option,
    data_options,
    json_option,
    load_trials,
    seed_option,
    statistic_option,
)

if TYPE_CHECKING:
    from levelbest.comparisons.results import Comparison

__all__ = ["command"]


def _directions(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for one in value:
        task, _, direction = one.rpartition("=")
        if not task or direction not in ("max", "min"):
            raise click.BadParameter(f"{one!r} is not a task and its direction; write perplexity=min", ctx, param)
        found[task] = direction
    return found


@click.command("compare")
@data_options
@click.option("--baseline", metavar="NAME", help="Compare every other family with this one; default: all with all.")
@statistic_option
@click.option("--confidence", type=float, default=0.95, show_default=True)
@budgets_option
@click.option("--axis", type=click.Choice(["trials", "cost"]), default="trials", show_default=True)
@cost_option
@large_options
@click.option(
    "--workers", type=click.IntRange(min=1), help="Ray workers [default: 2], or trials at once on the cost axis."
)
@click.option(
    "--paired/--unpaired", default=None, help="Insist on pairs, or ignore them; default: where all trials match."
)
@click.option("--p-values", is_flag=True, help="Permutation p-values for equal laws as well.")
@click.option("--while-running", is_flag=True, help="Limits that hold at every look at a search that still runs.")
@click.option("--task", metavar="COL", help="Tasks or data sets: a verdict for each, and one over all of them.")
@click.option(
    "--task-direction",
    "directions",
    multiple=True,
    callback=_directions,
    metavar="TASK=max|min",
    help="The direction of a task that differs from --direction.",
)
@click.option("--resamples", "n_resamples", type=click.IntRange(min=99), default=5000, show_default=True)
@seed_option
@json_option
def command(
    files: tuple[str, ...], as_json: bool, task: str | None, directions: dict[str, str], **options: Any
) -> None:
    """Which family is better, at which budgets, and where the data cannot tell.

    The bands behind a verdict hold for all pairs and budgets together.
    """
    from levelbest.comparisons import compare

    if task is not None:
        _compare_tasks(files, as_json, task, directions, options)
        return
    if is_large(options):
        policies = ("worst", "drop") if options["failed"] == "both" else (options["failed"],)
        _tell([_compare_large(files, policy, options) for policy in policies], policies, as_json, options["n"])
        return
    options["workers"] = options["workers"] or 1
    trials = load_trials(files, options, quiet=as_json)
    keys = ("baseline", "statistic", "confidence", "n", "axis", "budget", "workers", "paired", "p_values")
    chosen = {key: options[key] for key in (*keys, "while_running", "missing", "n_resamples")}
    policies = ("worst", "drop") if options["failed"] == "both" else (options["failed"],)
    found = [compare(trials, failed=policy, rng=options["seed"], **chosen) for policy in policies]
    _tell(found, policies, as_json, options["n"])


def _tell(found: Sequence[Comparison], policies: Sequence[str], as_json: bool, n: Any) -> None:
    """Print the comparison, under both failure policies where they were asked for."""
    from levelbest._plain import dump_json

    if as_json:
        document = found[0].to_dict()
        if len(found) > 1:
            document["other_failure_policy"] = found[1].to_dict()
        click.echo(dump_json(document))
        return
    from levelbest.report.terminal.verdicts import print_comparison

    for policy, one in zip(policies, found, strict=True):
        if len(found) > 1:
            click.echo(f"failed trials {'counted as the worst score' if policy == 'worst' else 'dropped'}:\n")
        print_comparison(one, n=n)


def _compare_large(files: tuple[str, ...], failed: str, options: dict[str, Any]) -> Comparison:
    from levelbest.comparisons.large import compare_large
    from levelbest.errors import InputError

    for name in ("axis", "while_running", "p_values"):
        if options[name] not in ("trials", False):
            raise InputError(f"samples that are read in parts have no --{name.replace('_', '-')}; leave it out")
    chosen = {key: options[key] for key in ("baseline", "n", "statistic", "confidence", "paired", "n_resamples")}
    return compare_large(files, failed=failed, rng=options["seed"], **chosen, **reading_of(options))


def _compare_tasks(
    files: tuple[str, ...], as_json: bool, task: str, directions: dict[str, str], options: dict[str, Any]
) -> None:
    from levelbest._plain import dump_json
    from levelbest.comparisons.tasks import compare_tasks, split_tasks
    from levelbest.errors import InputError

    if options["axis"] == "cost" or options["while_running"] or options["statistic"] != "mean" or options["paired"]:
        raise InputError("over tasks the mean is compared by trials, unpaired and fixed-sample; leave others out")
    trials = load_trials(files, options | {"group": task}, quiet=as_json)
    keys = ("baseline", "n", "confidence", "missing", "n_resamples")
    policy = "worst" if options["failed"] == "both" else options["failed"]
    found = compare_tasks(
        split_tasks(trials, directions), failed=policy, rng=options["seed"], **{key: options[key] for key in keys}
    )
    if as_json:
        click.echo(dump_json(found.to_dict()))
        return
    from levelbest.report.terminal.curves import console, print_cautions

    out = console()
    for sentence in found.sentences:
        out.print(sentence)
        out.print()
    print_cautions(found.cautions, out)
