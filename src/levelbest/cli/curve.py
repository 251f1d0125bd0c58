"""``levelbest curve``: the expected or quantile best against the budget."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from levelbest.cli.large import is_large, large_options, reading_of
from levelbest.cli.options import (
    cost_option,
    curve_options,
    data_options,
    extrapolate_option,
    json_option,
    load_trials,
    seed_option,
)

if TYPE_CHECKING:
    from levelbest.curves import Curve
    from levelbest.stats.budgets import Extrapolation
    from levelbest.trials import Trials

__all__ = ["command", "curves_of", "large_curves_of"]


@click.command("curve")
@data_options
@curve_options
@seed_option
@json_option
@click.option("--out", type=click.Path(path_type=Path), help="Write the figure here (.png, .svg or .pdf).")
@large_options
@click.option("--axis", type=click.Choice(["trials", "cost"]), default="trials", show_default=True)
@cost_option
@extrapolate_option
@click.option(
    "--workers", type=click.IntRange(min=1), help="Ray workers [default: 2], or trials at once on the cost axis."
)
def command(files: tuple[str, ...], as_json: bool, out: Path | None, **options: Any) -> None:
    """Expected or quantile best score against the budget."""
    from levelbest._plain import dump_json

    past: dict[str, Extrapolation] = {}
    if options["axis"] == "cost":
        _over_cost(files, as_json, out, options)
        return
    if is_large(options):
        found = large_curves_of(files, options)
    else:
        trials = load_trials(files, options, quiet=as_json)
        found, past = curves_of(trials, options), _past_the_trials(trials, options)
    if out is not None:
        from levelbest.report.figures.curves import save_curves

        save_curves(found, out)
    if as_json:
        warnings = list(dict.fromkeys(caution for one in found for caution in one.cautions))
        document = {"families": [one.to_dict() for one in found], "warnings": [c.to_dict() for c in warnings]}
        if past:
            document["extrapolations"] = [{"family": name} | one.to_dict() for name, one in past.items()]
        click.echo(dump_json(document))
        return
    from levelbest.report.terminal.curves import print_curves

    print_curves(found, n=options["n"])
    for name, one in past.items():
        click.echo(f"{name}: {one}")
    if out is not None:
        click.echo(f"figure: {out}")


def _past_the_trials(trials: Trials, options: dict[str, Any]) -> dict[str, Extrapolation]:
    """What a fit says of more trials than were run, for each family."""
    from levelbest.errors import InputError
    from levelbest.stats.budgets import extrapolated_best

    if not options["extrapolate"]:
        return {}
    if trials.group is not None or trials.search is not None:
        raise InputError("--extrapolate is for families of independent trials; leave --group and --search out")
    failed = "worst" if options["failed"] == "both" else options["failed"]
    chosen = {"confidence": options["confidence"], "rng": options["seed"], "direction": trials.metric.direction}
    bounds = trials.metric.bounds if trials.validation_only else None
    return {
        name: extrapolated_best(
            trials[name].scores(failed, missing=options["missing"]).selection,
            options["extrapolate"],
            bounds=bounds,
            **chosen,
        )
        for name in trials.families
    }


def _over_cost(files: tuple[str, ...], as_json: bool, out: Path | None, options: dict[str, Any]) -> None:
    from levelbest._plain import dump_json
    from levelbest.comparisons.cost_curves import cost_curves
    from levelbest.errors import InputError
    from levelbest.report.terminal.verdicts import print_cost_curves, save_cost_curves

    if options["statistic"] != "mean" or options["estimator"] != "u" or options["n"]:
        raise InputError("on the cost axis the statistic is the mean and budgets are costs (--budget); leave --n out")
    trials = load_trials(files, options, quiet=as_json)
    policies = ("worst", "drop") if options["failed"] == "both" else (options["failed"],)
    keys = ("budget", "confidence", "simultaneous", "missing", "n_resamples")
    chosen = {key: options[key] for key in keys} | {"workers": options["workers"] or 1, "rng": options["seed"]}
    found = [one for policy in policies for one in cost_curves(trials, failed=policy, **chosen)]
    if out is not None:
        save_cost_curves(found, out)
    if as_json:
        warnings = list(dict.fromkeys(caution for one in found for caution in one.cautions))
        document = {"families": [one.to_dict() for one in found], "warnings": [c.to_dict() for c in warnings]}
        click.echo(dump_json(document))
        return
    print_cost_curves(found)
    if out is not None:
        click.echo(f"figure: {out}")


def curves_of(trials: Trials, options: dict[str, Any]) -> tuple[Curve, ...]:
    """The curves that the options ask for, under both failure policies where they say so."""
    from levelbest.curves import family_curves

    policies = ("worst", "drop") if options["failed"] == "both" else (options["failed"],)
    if trials.search is not None:
        from levelbest.comparisons.searches import search_curves

        of_searches = {key: options[key] for key in ("n", "confidence", "missing")}
        return tuple(one for policy in policies for one in search_curves(trials, failed=policy, **of_searches))
    keys = ("n", "statistic", "estimator", "interval", "confidence", "simultaneous", "missing", "n_resamples")
    chosen = {key: options[key] for key in keys}
    chosen["rng"] = options["seed"]
    return tuple(one for policy in policies for one in family_curves(trials, failed=policy, **chosen))


def large_curves_of(files: tuple[str, ...], options: dict[str, Any]) -> tuple[Curve, ...]:
    """The same for samples of many problems that are not held in memory; the columns must be named."""
    from levelbest.curves import large_curves
    from levelbest.errors import InputError

    chosen = reading_of(options)
    if options["estimator"] != "u":
        raise InputError("samples that are read in parts have the unbiased estimator, u, only")
    chosen |= {key: options[key] for key in ("n", "statistic", "interval", "confidence", "simultaneous", "n_resamples")}
    policies = ("worst", "drop") if options["failed"] == "both" else (options["failed"],)
    return tuple(
        one for policy in policies for one in large_curves(files, failed=policy, rng=options["seed"], **chosen)
    )
