"""``levelbest simulate``: bias, false conclusions and coverage of any estimator or interval on any distribution."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.main import progress_bar
from levelbest.errors import InputError

if TYPE_CHECKING:
    from levelbest.simulation.battery import Simulation
    from levelbest.simulation.distributions import Distribution
    from levelbest.trials import Trials


@click.command("simulate")
@click.option("--law", metavar="NAME(...)", help="A SciPy distribution such as norm, beta(8,2), t(3) or -expon.")
@click.option("--kde", metavar="FILE", help="A kernel density of a column of results, as in [T].")
@click.option("--family", metavar="NAME", help="With --kde: the family whose scores to take.")
@click.option("--selection", metavar="COL", help="With --kde: the column of scores.")
@click.option("--reported", metavar="COL", help="With --summaries: the score claimed of the winner.")
@click.option(
    "--summaries",
    is_flag=True,
    help="With --kde: how mean, best single model and expected best of n (--n, one number) vary with the number of "
    "experiments.",
)
@click.option(
    "--direction",
    type=click.Choice(["max", "min"]),
    help="Which way is better (default: as --kde says, or max).",
)
@click.option("--round", "step", type=float, metavar="STEP", help="Round scores to multiples of this: coarse ties.")
@click.option("--fail", "share", type=click.FloatRange(0, 1, max_open=True), help="Let this share of trials fail.")
@click.option(
    "--against", metavar="NAME(...)", help="A second distribution: how often does the worse of the two look better?"
)
@click.option(
    "--trials", "n_trials", type=click.IntRange(min=2), default=50, show_default=True, help="Trials of each sample."
)
@options.budgets
@click.option(
    "--estimator",
    type=click.Choice(["u", "v", "naive"]),
    default="u",
    show_default=True,
    help="Whose bias is measured.",
)
@click.option("--statistic", default="mean", show_default=True, metavar="mean|median|Q", help="Of the best of n.")
@click.option(
    "--interval",
    "methods",
    default="default",
    show_default=True,
    metavar="METHOD[,METHOD]",
    help="Whose coverage and width are measured; levelbest curve --help lists the methods.",
)
@click.option("--simultaneous", is_flag=True, help="Bands over all the budgets at once.")
@click.option("--no-bounds", is_flag=True, help="Do not tell the interval the distribution's bounds.")
@options.confidence
@click.option(
    "--samples", "n_samples", type=click.IntRange(min=1), default=2000, show_default=True, help="Samples drawn."
)
@click.option(
    "--resamples",
    "n_resamples",
    type=click.IntRange(min=99),
    default=999,
    show_default=True,
    help="Random draws behind an interval.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes; the result is the same."
)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", help="Where chunks run.")
@click.option("--keep", type=click.Path(path_type=Path), help="A file of finished chunks: an interrupted run goes on.")
@options.seed
@options.as_json
@click.option("--out", type=click.Path(path_type=Path), help="Write a figure here (.png, .svg or .pdf).")
@options.as_one
def command(given: options.Given) -> None:
    """Bias and coverage of estimators and intervals on a known distribution."""
    if given["summaries"]:
        _summaries(given)
        return
    distribution, out = _distribution(given), given["out"]
    n = given["n"] or [budget for budget in (1, 2, 5, 10, 20, 40, 80) if budget <= given["n_trials"]]
    if given["against"]:
        _two_distributions(distribution, given, n)
        return
    simulated = _run(distribution, given, n)
    if out is not None:
        from levelbest.report.figures.curves import figure_of, save_figure
        from levelbest.report.figures.simulation import draw_coverage

        save_figure(figure_of(draw_coverage(simulated)), out)
    if given["as_json"]:
        options.echo_json(simulated.to_dict())
        return
    from levelbest.report.terminal.simulation import print_simulation

    print_simulation(simulated)
    if out is not None:
        click.echo(f"figure: {out}")


def _distribution(given: options.Given) -> Distribution:
    from levelbest.simulation.distributions import kde_distribution, named_distribution

    if bool(given["law"]) == bool(given["kde"]):
        raise InputError(
            "name one distribution: --law beta(8,2), or --kde FILE for a kernel density of a column of results"
        )
    if given["law"]:
        distribution = replace(named_distribution(given["law"]), direction=given["direction"] or "max")
    else:
        family = _family(given)
        scores = family.scores("drop", missing="selection").selection
        metric = family.metric
        bounds = metric.bounds if metric.bounds != (None, None) else metric.natural
        name = f"kernel density of {family.families[0]}"
        distribution = kde_distribution(scores, name, direction=metric.direction, bounds=bounds)
    if given["step"]:
        distribution = distribution.rounded(given["step"])
    if given["share"]:
        distribution = distribution.failing(given["share"], _worst(distribution, kde=bool(given["kde"])))
    return distribution


def _family(given: options.Given) -> Trials:
    """The trials of one family of the file that --kde names."""
    from levelbest.readers import read_trials

    keys = ("selection", "reported", "direction")
    trials = read_trials(given["kde"], **{key: given[key] for key in keys if given[key]})
    if given["family"] is None and len(trials.families) > 1:
        raise InputError(f"choose the scores of one family with --family; known: {', '.join(trials.families)}")
    return trials[given["family"]] if given["family"] else trials


def _summaries(given: options.Given) -> None:
    """[B] figure 2 of one family of results."""
    from levelbest.report.terminal.simulation import print_summaries
    from levelbest.simulation.summaries import resampled_summaries

    if not given["kde"]:
        raise InputError("--summaries sums up results: name their file with --kde FILE")
    n = given["n"] or (5,)
    if len(n) > 1:
        raise InputError("--summaries takes one n for the expected best of n, e.g. --n 5")
    family, out = _family(given), given["out"]
    scores = family.scores("drop")
    summaries = resampled_summaries(
        scores.selection,
        scores.reported,
        n=n[0],
        n_samples=given["n_samples"],
        direction=family.metric.direction,
        rng=given["seed"],
    )
    if out is not None:
        from levelbest.report.figures.curves import figure_of, save_figure
        from levelbest.report.figures.simulation import draw_summaries

        save_figure(figure_of(draw_summaries(summaries, score=family.metric.score)), out)
    if given["as_json"]:
        options.echo_json({"family": family.families[0], **summaries.to_dict()})
        return
    print_summaries(family.families[0], summaries)
    if out is not None:
        click.echo(f"figure: {out}")


def _worst(distribution: Distribution, *, kde: bool) -> float:
    """What a failed trial scores: the worst bound, else the density's worst end; 0 for a distribution without ends."""
    worst = distribution.bounds[0 if distribution.direction == "max" else 1]
    if worst is not None or not kde:
        return 0.0 if worst is None else worst
    import numpy as np

    return float(distribution.quantile(np.array([0.0 if distribution.direction == "max" else 1.0]))[0])


def _run(distribution: Distribution, given: options.Given, n: list[int]) -> Simulation:
    from levelbest.simulation.battery import simulate

    keys = ["estimator", "statistic", "simultaneous", "confidence", "n_samples", "n_resamples"]
    chosen = {key: given[key] for key in [*keys, "seed", "jobs", "engine", "keep"]}
    chosen["methods"] = tuple(given["methods"].split(","))
    chosen["use_bounds"] = not given["no_bounds"]
    with nullcontext() if given["as_json"] else progress_bar("simulating") as tick:
        try:
            return simulate(distribution, given["n_trials"], n, progress=tick, **chosen)
        except KeyboardInterrupt:
            if given["keep"]:
                click.echo(f"\nstopped; what is done is in {given['keep']}: the same command goes on", err=True)
            else:
                click.echo("\nstopped; nothing was kept: --keep FILE keeps finished chunks, and goes on", err=True)
            raise


def _two_distributions(distribution: Distribution, given: options.Given, n: list[int]) -> None:
    if given["out"] is not None:
        raise InputError("--against prints a table and draws nothing: leave out --out, or simulate one distribution")
    from levelbest.simulation.battery import false_winner
    from levelbest.simulation.distributions import named_distribution

    other = replace(named_distribution(given["against"]), direction=distribution.direction)
    keys = ("estimator", "n_samples", "seed")
    rows = false_winner(distribution, other, given["n_trials"], n, **{key: given[key] for key in keys})
    if given["as_json"]:
        options.echo_json(
            {"law": distribution.name, "against": other.name, "n_trials": given["n_trials"], "points": rows}
        )
        return
    click.echo(
        f"{distribution.name} against {other.name}, {given['n_trials']} trials each, estimator {given['estimator']}"
    )
    click.echo(f"{'n':>6}  {'true difference':>16}  {'wrong winner':>12}  95 % limits")
    for row in rows:
        share, limits = f"{row['false_winner']:12.3f}", f"{row['low']:.3f} to {row['high']:.3f}"
        click.echo(f"{row['n']:>6}  {row['true_difference']:>16.4g}  {share}  {limits}")
