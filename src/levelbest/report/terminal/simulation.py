"""Results of simulations in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from levelbest.report.tables.table import Table, counts, formed, limits, texts
from levelbest.report.terminal.console import console, drawn_table
from levelbest.simulation.battery import Simulation, clopper_pearson
from levelbest.simulation.summaries import BEST_OF_N, SUMMARIES, Summaries


def print_simulation(simulation: Simulation) -> None:
    """One table per interval method, with the distribution, the sizes and the seed above it."""
    from rich.text import Text

    out, plan = console(), simulation.plan
    kind = "simultaneous band" if plan.simultaneous else "interval"
    lowest = " (the lowest)" if plan.distribution.direction == "min" else ""
    what = f"  {plan.statistic} of the best of n{lowest}, estimator {plan.estimator}; {plan.n_trials} trials, "
    out.print(
        Text.assemble((plan.distribution.name, "bold"), f"{what}{simulation.n_samples} samples, seed {plan.seed}")
    )
    for method in plan.methods:
        out.print(f"{100 * plan.confidence:g} % {kind}: {method}")
        out.print(drawn_table(coverage_table(simulation, method)))
        if plan.simultaneous:
            out.print(f"all budgets at once: {simulation.jointly[method]:.3f}")


def print_summaries(family: str, summaries: Summaries) -> None:
    """One row per number of experiments: each summary's mean, and the limits that hold 95 % of the samples."""
    from rich.text import Text

    out = console()
    what = f"  {summaries.n_samples} samples of each number of experiments, 95 % of them within"
    out.print(Text.assemble((family, "bold"), what))
    columns = [counts("experiments", summaries.sizes)]
    for name in SUMMARIES:
        points = zip(summaries.mean[name], summaries.low[name], summaries.high[name], strict=True)
        cells = [f"{mean:.4g} ({low:.4g} to {high:.4g})" if mean == mean else "–" for mean, low, high in points]
        columns.append(texts(f"best of {summaries.n}" if name == BEST_OF_N else name, cells, right=True))
    out.print(drawn_table(Table(tuple(columns))))


def print_spreads(family: str, summaries: Summaries) -> None:
    """One row per number of experiments: the standard deviation of each estimator of the best of n."""
    from rich.text import Text

    out = console()
    what = f"  standard deviation of estimates of the best of {summaries.n}, {summaries.n_samples} samples of each size"
    out.print(Text.assemble((family, "bold"), what))
    columns = [counts("experiments", summaries.sizes)]
    columns += [formed(name, sd, ".3g") for name, sd in summaries.sd.items()]
    out.print(drawn_table(Table(tuple(columns))))


def coverage_table(simulation: Simulation, method: str) -> Table:
    """A row for each budget: the truth, the bias of the estimate, and how often the interval covers the truth."""
    covered, n_samples = simulation.covered[method], simulation.n_samples
    rounding = 1e-12 * simulation.sd_estimate  # a truth of 0 by quadrature
    ends = [None if share != share else clopper_pearson(share, n_samples) for share in covered]
    shown = ["no interval" if share != share else f"{share:.3f}" for share in covered]
    return Table(
        (
            counts("n", simulation.plan.n),
            formed("truth", np.where(np.abs(simulation.truth) < rounding, 0.0, simulation.truth), ".5g"),
            formed("bias", simulation.mean_estimate - simulation.truth, "+.2e"),
            formed("below truth", simulation.below_truth, ".3f"),
            texts("coverage", shown, right=True),
            limits("95 % limits", ends, 3),
            formed("mean width", simulation.mean_width[method], ".4g"),
        )
    )


def power_table(rows: Sequence[Mapping[str, object]]) -> Table:
    """A row for each budget: how often the verdict is right, wrong, and false between equal distributions."""

    def column(name: str) -> list[float]:
        return [float(str(row[name])) for row in rows]

    return Table(
        (
            counts("n", [int(str(row["n"])) for row in rows]),
            formed("true difference", column("true_difference"), ".4g"),
            formed("power", column("power"), ".3f"),
            formed("wrong", column("wrong"), ".3f"),
            formed("type 1", column("type1"), ".3f"),
            limits("95 % limits", list(zip(column("type1_low"), column("type1_high"), strict=True)), 3),
        ),
        note="power: the better one is named; wrong: the worse one is; type 1: one of two equal ones is",
    )
