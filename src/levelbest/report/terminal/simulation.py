"""The battery's findings in the terminal."""

from __future__ import annotations

from levelbest.report.terminal.console import console, plain_table
from levelbest.simulation.battery import Simulation, clopper_pearson
from levelbest.simulation.summaries import BEST_OF_N, SUMMARIES, Summaries

_HEADS = ("n", "truth", "bias", "below truth", "coverage", "95 % limits", "mean width")


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
        rows = []
        for i, n in enumerate(plan.n):
            low, high = clopper_pearson(simulation.covered[method][i], simulation.n_samples)
            bias = simulation.mean_estimate[i] - simulation.truth[i]
            cells = [f"{n}", f"{simulation.truth[i]:.5g}", f"{bias:+.2e}", f"{simulation.below_truth[i]:.3f}"]
            cells += [f"{simulation.covered[method][i]:.3f}", f"{low:.3f} to {high:.3f}"]
            rows.append([*cells, f"{simulation.mean_width[method][i]:.4g}"])
        out.print(plain_table(_HEADS, rows, left=()))
        if plan.simultaneous:
            out.print(f"all budgets at once: {simulation.jointly[method]:.3f}")


def print_summaries(family: str, summaries: Summaries) -> None:
    """One row per number of experiments: each summary's mean, and the limits that hold 95 % of the samples."""
    from rich.text import Text

    out = console()
    what = f"  {summaries.n_samples} samples of each number of experiments, 95 % of them within"
    out.print(Text.assemble((family, "bold"), what))
    rows = []
    for i, size in enumerate(summaries.sizes):
        cells = (
            f"{summaries.mean[name][i]:.4g} ({summaries.low[name][i]:.4g} to {summaries.high[name][i]:.4g})"
            if summaries.mean[name][i] == summaries.mean[name][i]
            else "–"
            for name in SUMMARIES
        )
        rows.append([str(size), *cells])
    heads = [f"best of {summaries.n}" if name == BEST_OF_N else name for name in SUMMARIES]
    out.print(plain_table(["experiments", *heads], rows, left=()))
