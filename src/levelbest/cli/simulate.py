"""``levelbest simulate``: bias, false conclusions and coverage of any estimator or interval on any distribution."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from levelbest.cli import options
from levelbest.cli.help import Verb
from levelbest.cli.main import progress_bar
from levelbest.errors import InputError

_POWER_SAMPLES = 500
"""A verdict takes far longer than an estimate."""

if TYPE_CHECKING:
    from levelbest.simulation.battery import Simulation
    from levelbest.simulation.distributions import Distribution
    from levelbest.trials import Trials


@click.command("simulate", cls=Verb)
@click.option("--law", metavar="NAME(...)", help="A SciPy distribution such as norm, beta(8,2), t(3) or -expon.")
@click.option("--kde", metavar="FILE", help="A kernel density of a column of results, as in [T].")
@options.reading
@click.option("--of", "of_family", metavar="NAME", help="With --kde: the family whose scores to take.")
@click.option(
    "--summaries",
    is_flag=True,
    help="With --kde: how mean, best single model and expected best of n (--n, one number) vary with the number of "
    "experiments.",
)
@click.option(
    "--estimators",
    is_flag=True,
    help="With --kde: how estimates of the best of n (V, U and the Gaussian one) spread, by the number of experiments.",
)
@click.option("--round", "step", type=float, metavar="STEP", help="Round scores to multiples of this: coarse ties.")
@click.option("--fail", "share", type=click.FloatRange(0, 1, max_open=True), help="Let this share of trials fail.")
@click.option(
    "--against",
    metavar="NAME(...)|FILE[:FAMILY]|FAMILY",
    help="A second distribution, a kernel density of another file's scores or of another family of --kde: how often "
    "does the worse of the two look better?",
)
@click.option(
    "--power",
    is_flag=True,
    help="With --against: how often a verdict names the better one, the worse one, or one of two equal ones.",
)
@click.option("--lesson", is_flag=True, help="Three figures and a page for students, in the folder --out.")
@click.option(
    "--trials", "n_trials", type=click.IntRange(min=2), default=50, show_default=True, help="Trials of each sample."
)
@options.budgets
@click.option(
    "--estimator",
    type=click.Choice(["u", "v", "naive"]),
    default="u",
    show_default=True,
    help="Whose bias is measured: u, the unbiased mean over all subsets of n trials; v, the mean over n draws with "
    "replacement, too low as n grows; naive, the best of the first n trials.",
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
@click.option("--no-bounds", is_flag=True, help="Withhold the distribution's bounds from the interval.")
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
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of processes; the result is the same.",
)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", help="Where chunks run.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="A file of finished chunks, so that an interrupted run can continue.",
)
@options.seed
@options.as_json
@click.option("--out", type=click.Path(path_type=Path), help="Write a figure here (.png, .svg or .pdf).")
@options.as_one
def command(given: options.Given) -> None:
    """Bias and coverage of estimators and intervals on a known distribution."""
    if given["summaries"] or given["estimators"]:
        _summaries(given)
        return
    if given["lesson"]:
        _lesson(given)
        return
    distribution, out = _distribution(given), given["out"]
    every = range(1, given["n_trials"] + 1)  # a figure shows the whole curve
    drawn = out is not None and given["against"] and not given["power"]
    n = given["n"] or [budget for budget in every if drawn or budget in (1, 2, 5, 10, 20, 40, 80)]
    if given["against"]:
        _two_distributions(distribution, given, n)
        return
    simulated = _run(distribution, given, n)
    if out is not None:
        from levelbest.report.figures.curves import save_figure
        from levelbest.report.figures.simulation import coverage_figure

        save_figure(coverage_figure(simulated), out)
    if given["as_json"]:
        options.echo_json(simulated.to_dict())
        return
    from levelbest.report.terminal.simulation import print_simulation

    print_simulation(simulated)
    if out is not None:
        click.echo(f"figure: {out}")


def _distribution(given: options.Given) -> Distribution:
    from levelbest.simulation.distributions import named_distribution

    if bool(given["law"]) == bool(given["kde"]):
        raise InputError(
            "name one distribution: --law beta(8,2), or --kde FILE for a kernel density of a column of results"
        )
    if given["law"]:
        distribution = replace(named_distribution(given["law"]), direction=given["direction"] or "max")
    else:
        distribution = _kernel(_family(given))
    if given["step"]:
        distribution = distribution.rounded(given["step"])
    if given["share"]:
        distribution = distribution.failing(given["share"], _worst(distribution, kde=bool(given["kde"])))
    return distribution


def _kernel(family: Trials) -> Distribution:
    """A kernel density of the scores of one family ([T] section 4)."""
    from levelbest.simulation.distributions import kde_distribution

    metric = family.metric
    bounds = metric.bounds if metric.bounds != (None, None) else metric.natural
    scores = family.scores("drop", missing="selection").selection
    name = f"kernel density of {family.families[0]}"
    return kde_distribution(scores, name, direction=metric.direction, bounds=bounds)


def _family(given: options.Given, file: str | None = None, name: str | None = None) -> Trials:
    """The trials of one family of the file that --kde names, or of another; --family may be its column or its name."""
    name = name or given["of_family"]
    reading = given | {"files": (file or given["kde"],)}
    try:
        trials = options.load_trials(reading)
    except InputError:
        if not given["family"]:
            raise
        trials, name = options.load_trials(reading | {"family": None}), name or given["family"]
    if name is None and len(trials.families) > 1:
        raise InputError(f"choose the scores of one family with --of; known: {', '.join(trials.families)}")
    return trials[name] if name else trials


def _against(given: options.Given, direction: str) -> Distribution:
    """The second distribution: a family of the same file, a file, or one by its name."""
    from levelbest.simulation.distributions import named_distribution

    text, alone = given["against"], given | {"of_family": None}
    file, _, name = text.rpartition(":")
    if Path(text).exists():
        return _kernel(_family(alone, text))
    if file and Path(file).exists():
        return _kernel(_family(alone, file, name))
    if given["kde"] and "(" not in text:
        return _kernel(_family(alone, name=text))
    return replace(named_distribution(text), direction=direction)


def _lesson(given: options.Given) -> None:
    from levelbest.report.lesson import write_lesson

    page = write_lesson(given["out"] or Path("lesson"), seed=given["seed"])
    click.echo(f"page   {page}")


def _summaries(given: options.Given) -> None:
    """[B] figures 2 and 3 of one family of results."""
    from levelbest.report.terminal.simulation import print_spreads, print_summaries
    from levelbest.simulation.summaries import resampled_summaries

    option = "--estimators" if given["estimators"] else "--summaries"
    if given["estimators"] and given["summaries"]:
        raise InputError("--summaries and --estimators are two figures: choose one of them")
    if not given["kde"]:
        raise InputError(f"{option} summarises results: name their file with --kde FILE")
    n = given["n"] or (5,)
    if len(n) > 1:
        raise InputError(f"{option} takes one n for the expected best of n, e.g. --n 5")
    family, out = _family(given), given["out"]
    scores = family.scores("drop")
    summaries = resampled_summaries(
        scores.selection,
        scores.reported,
        n=n[0],
        n_samples=given["n_samples"],
        direction=family.metric.direction,
        estimators=given["estimators"],
        rng=given["seed"],
    )
    if out is not None:
        from levelbest.report.figures.curves import figure_of, save_figure
        from levelbest.report.figures.simulation import draw_spreads, draw_summaries

        score = family.metric.score
        ax = draw_spreads(summaries) if given["estimators"] else draw_summaries(summaries, score=score)
        save_figure(figure_of(ax), out)
    if given["as_json"]:
        options.echo_json({"family": family.families[0], **summaries.to_dict()})
        return
    (print_spreads if given["estimators"] else print_summaries)(family.families[0], summaries)
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
                click.echo(f"\nstopped; what is done is in {given['keep']}: the same command continues", err=True)
            else:
                click.echo("\nstopped; nothing was saved: --keep FILE saves finished chunks for the next run", err=True)
            raise


def _two_distributions(distribution: Distribution, given: options.Given, n: list[int]) -> None:
    from levelbest.simulation.battery import false_winner

    other, out = _against(given, distribution.direction), given["out"]
    if given["power"]:
        if out is not None:
            raise InputError("--power prints a table and draws nothing: leave out --out")
        _power(distribution, other, given, n)
        return
    keys = ("estimator", "n_samples", "seed")
    rows = false_winner(distribution, other, given["n_trials"], n, **{key: given[key] for key in keys})
    if out is not None:
        from levelbest.report.figures.curves import save_figure
        from levelbest.report.figures.simulation import against_figure

        first, second = (each.name.removeprefix("kernel density of ") for each in (distribution, other))
        save_figure(
            against_figure(rows, (first, second), estimator=given["estimator"], n_trials=given["n_trials"]), out
        )
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
    if out is not None:
        click.echo(f"figure: {out}")


def _power(distribution: Distribution, other: Distribution, given: options.Given, n: list[int]) -> None:
    from levelbest.report.terminal.console import console, drawn_table, print_text
    from levelbest.report.terminal.simulation import power_table
    from levelbest.simulation.power import verdict_power

    size = min(given["n_samples"], _POWER_SAMPLES)
    within = [budget for budget in n if 2 * budget <= given["n_trials"]] or [1]
    with nullcontext() if given["as_json"] else progress_bar("simulating") as tick:
        rows = verdict_power(
            distribution,
            other,
            given["n_trials"],
            within,
            confidence=given["confidence"],
            n_samples=size,
            seed=given["seed"],
            progress=tick,
        )
    if given["as_json"]:
        document = {"law": distribution.name, "against": other.name, "n_trials": given["n_trials"], "n_samples": size}
        options.echo_json(document | {"points": rows})
        return
    out, shown = console(), power_table(rows)
    print_text(
        f"{distribution.name} against {other.name}, {given['n_trials']} trials each, {size} samples", out, "bold"
    )
    print_text(shown.note, out, "dim")
    out.print(drawn_table(shown))
