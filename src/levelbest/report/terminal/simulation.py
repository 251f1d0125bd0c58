"""The battery's findings in the terminal."""

from __future__ import annotations

from levelbest.report.terminal.curves import console
from levelbest.simulation.battery import Simulation, clopper_pearson
from levelbest.simulation.summaries import BEST_OF_N, SUMMARIES, Summaries

__all__ = ["print_simulation", "print_summaries"]


def print_simulation(found: Simulation) -> None:
    """One table per interval method, with the law, the sizes and the seed above it."""
    from rich.table import Table
    from rich.text import Text

    out, plan = console(), found.plan
    kind = "simultaneous band" if plan.simultaneous else "interval"
    lowest = " (the lowest)" if plan.law.direction == "min" else ""
    out.print(
        Text.assemble(
            (plan.law.name, "bold"),
            f"  {plan.statistic} of the best of n{lowest}, estimator {plan.estimator}; {plan.n_trials} trials, "
            f"{found.n_samples} samples, seed {plan.seed}",
        )
    )
    for method in plan.methods:
        table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        table.title = Text(f"{100 * plan.confidence:g} % {kind}: {method}")
        for head in ("n", "truth", "bias", "below truth", "coverage", "95 % limits", "mean width"):
            table.add_column(head, justify="right")
        for i, n in enumerate(plan.n):
            low, high = clopper_pearson(found.covered[method][i], found.n_samples)
            table.add_row(
                f"{n}",
                f"{found.truth[i]:.5g}",
                f"{found.mean_estimate[i] - found.truth[i]:+.2e}",
                f"{found.below_truth[i]:.3f}",
                f"{found.covered[method][i]:.3f}",
                f"{low:.3f} to {high:.3f}",
                f"{found.mean_width[method][i]:.4g}",
            )
        out.print(table)
        if plan.simultaneous:
            out.print(f"all budgets at once: {found.jointly[method]:.3f}")


def print_summaries(family: str, summaries: Summaries) -> None:
    """One row per number of experiments: each summary's mean, and the limits that hold 95 % of the samples."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    out.print(
        Text.assemble(
            (family, "bold"), f"  {summaries.n_samples} samples of each number of experiments, 95 % of them within"
        )
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("experiments", justify="right")
    for name in SUMMARIES:
        table.add_column(f"best of {summaries.n}" if name == BEST_OF_N else name, justify="right")
    for i, size in enumerate(summaries.sizes):
        cells = (
            f"{summaries.mean[name][i]:.4g} ({summaries.low[name][i]:.4g} to {summaries.high[name][i]:.4g})"
            if summaries.mean[name][i] == summaries.mean[name][i]
            else "–"
            for name in SUMMARIES
        )
        table.add_row(str(size), *cells)
    out.print(table)
