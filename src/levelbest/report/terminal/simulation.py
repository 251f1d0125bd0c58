"""The battery's findings in the terminal."""

from __future__ import annotations

from levelbest.report.terminal.curves import console
from levelbest.simulation.battery import Simulation, clopper_pearson

__all__ = ["print_simulation"]


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
