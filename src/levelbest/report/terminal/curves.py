"""Curves, plans and claims in the terminal: one table, then what a reviewer would ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from levelbest.errors import named
from levelbest.report.tables.results import claim_table, costs_table, curves_table, plan_table, strata_table
from levelbest.report.tables.table import Table
from levelbest.report.terminal.console import (
    console,
    drawn_table,
    print_cautions,
    print_choices,
    print_steps,
    print_text,
    print_variances,
)
from levelbest.report.words.claims import claim_answer, claim_steps
from levelbest.report.words.phrases import level, plural
from levelbest.report.words.plans import capped_sentence, plan_sentences, plan_summary
from levelbest.results import Claim, Curve, FamilyCostCurve, TrialPlan

if TYPE_CHECKING:
    from rich.console import Console


def print_curves(drawn: Sequence[Curve | FamilyCostCurve], *, n: Iterable[int] | None = None) -> None:
    """What the numbers are, one table, the strata, and what a reviewer would ask about."""
    out = console()
    cautions = [caution for own in drawn for caution in own.cautions]
    print_choices(cautions, out, n_families=len(drawn))
    if over_cost := [curve for curve in drawn if isinstance(curve, FamilyCostCurve)]:
        shown = costs_table(over_cost)
        print_text(shown.note, out, "dim")
        out.print(drawn_table(shown, styles=["bold"] * shown.size, folded=("family",)))
        out.print()
    if curves := [curve for curve in drawn if isinstance(curve, Curve)]:
        table, styles = _labelled(curves, every=n is not None)
        names = [curve.family for curve in curves]
        names += [label for curve in curves if curve.n_runs is not None for label in _labels(curve)]
        print_text(table.note, out, "dim")
        out.print(drawn_table(table, styles=styles, room=max(map(len, names))))
        for curve in curves:
            if curve.strata:
                out.print()
                print_text(f"{curve.family} by stratum, with the number of its problems", out, "bold")
                out.print(drawn_table(strata_table(curve)))
        out.print()
        print_variances([own for own in {c.family: c.variance for c in curves}.values() if own is not None], out)
    print_cautions(cautions, out, n_families=len(drawn))


def _labelled(curves: Sequence[Curve], every: bool) -> tuple[Table, list[str]]:
    """The table of curves with what is behind each below its family's name, and the style of each label."""
    whole = curves_table(curves, every=every)
    whole = replace(whole, columns=whole.columns[:-2])  # the counts are labels
    names = whole.columns[0].cells
    columns: list[list[object]] = [[] for _ in whole.columns]
    decimals: list[list[int]] = [[] for _ in whole.columns]
    styles: list[str] = []
    for curve in curves:
        rows = [row for row, name in enumerate(names) if name == curve.family]
        labels = _labels(curve)
        for i in range(max(len(rows), len(labels))):
            columns[0].append(labels[i] if i < len(labels) else "")
            styles.append("dim" if i else "bold")
            for k, column in enumerate(whole.columns[1:], 1):
                columns[k].append(column.cells[rows[i]] if i < len(rows) else None)
                decimals[k].append(column.decimals[rows[i]] if i < len(rows) and column.decimals else 0)
    shown = [
        replace(column, cells=tuple(cells), decimals=tuple(digits))
        for column, cells, digits in zip(whole.columns, columns, decimals, strict=True)
    ]
    return replace(whole, columns=tuple(shown)), styles


def _labels(curve: Curve) -> list[str]:
    """The family, how many trials it has, and how its failed ones count, a line each."""
    labels = [curve.family, f" {curve.words.count(curve.n_trials)}"]
    labels += [] if curve.n_runs is None else [f" {plural(curve.n_runs, curve.words.part)}"]
    if curve.n_failed:
        labels.append(f" {curve.n_failed} failed ({'worst' if curve.failed == 'worst' else 'dropped'})")
    return labels


def print_plan(plan: TrialPlan, out: Console, *, details: bool = False) -> None:
    """Print it; ``details`` says everything in sentences instead of the table."""
    print_text(plan_summary(plan), out, "bold")
    out.print()
    if details:
        for sentence in plan_sentences(plan):
            print_text(sentence, out)
        return
    out.print(drawn_table(plan_table(plan)))
    out.print()
    often = f"Told apart in {100 * plan.power:.0f} of 100 cases, now as often as said"
    limits = f"widths are of {level(plan.confidence)} intervals"
    footer = f"{often}; {limits}; in brackets what is left open."
    more = f"Seed {plan.seed}; {named('details')} says more."
    print_text(" ".join([*capped_sentence(plan), footer, more]), out, "dim")


def print_claim(claim: Claim) -> None:
    """What the numbers say, the table, what would be needed to know, and what is assumed."""
    out = console()
    for sentence in claim_answer(claim):
        print_text(sentence, out, "bold")
    out.print()
    shown = claim_table(claim)
    out.print(drawn_table(shown))
    out.print()
    print_steps(claim_steps(claim), out)
    out.print()
    print_text(shown.note, out, "dim")
