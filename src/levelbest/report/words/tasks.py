"""Comparisons over several tasks, in words and as tables."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import round_to_uncertainty, show_limits, show_number
from levelbest.report.words.conditions import condition_sentence
from levelbest.report.words.phrases import level, plural
from levelbest.report.words.verdicts import verdict_sentences
from levelbest.results import OverTasks, TaskComparison

__all__ = [
    "aggregate_note",
    "aggregate_rows",
    "improvement_rows",
    "normalised_words",
    "overall_sentence",
    "scale_words",
    "shown_budget",
    "task_sentences",
]


def task_sentences(comparison: TaskComparison) -> tuple[str, ...]:
    """The verdict over all tasks first, then ranks and other numbers, each task's verdict, and what stands behind."""
    count = len(comparison.tasks)
    last = max(rank.n for rank in comparison.ranks)
    middle = shown_budget(comparison)
    each = [f"{task}: {' '.join(verdict_sentences(own))}" for task, own in comparison.tasks.items()]
    return (
        overall_sentence(comparison),
        f"Mean rank over {count} tasks at n = {last}: {_listed(comparison.ranks, last, best_low=True)}.",
        f"Interquartile mean over {count} tasks at n = {middle} ({scale_words(comparison)}): "
        f"{_listed(comparison.iqm, middle, best_low=_low_is_better(comparison))}.",
        f"Probability of improvement at n = {middle}, averaged over tasks: "
        + ", ".join(
            f"{row.families[0]} over {row.families[1]} {_shown(row)}" for row in _at(comparison.improvements, middle)
        )
        + ".",
        *each,
        condition_sentence(comparison.overall),
    )


def overall_sentence(comparison: TaskComparison) -> str:
    """The verdict over all tasks."""
    verdict = " ".join(verdict_sentences(comparison.overall))
    return f"Over {len(comparison.tasks)} tasks ({normalised_words()}): {verdict}"


def normalised_words() -> str:
    """What differences over tasks are measured in."""
    return "mean difference in standard deviations of each task's scores"


def scale_words(comparison: TaskComparison) -> str:
    """What interquartile means are of."""
    if comparison.as_scored:
        return f"of {comparison.overall.terms.metric.score} as scored"
    return "in standard deviations from each task's mean, higher is better"


def shown_budget(comparison: TaskComparison) -> int:
    """The largest budget that has interquartile means."""
    return max(row.n for row in comparison.iqm)


def aggregate_rows(comparison: TaskComparison, n: int) -> tuple[list[str], list[list[str]]]:
    """Of each family its mean rank and interquartile mean at one budget, the best rank first."""
    iqm = {row.family: row for row in _at(comparison.iqm, n)}
    ranks = sorted(_at(comparison.ranks, n) or _at(comparison.ranks, comparison.ranks[0].n), key=lambda row: row.value)
    decimals = [round_to_uncertainty(row.value, row.low, row.high) for row in iqm.values()]
    places = sorted(decimals)[len(decimals) // 2]
    limits = level(comparison.overall.confidence)
    return (
        ["Family", "mean rank", limits, "interquartile mean", limits],
        [
            [
                row.family,
                show_number(row.value, 2),
                show_limits(row.low, row.high, 2),
                show_number(iqm[row.family].value, places),
                show_limits(iqm[row.family].low, iqm[row.family].high, places),
            ]
            for row in ranks
        ],
    )


def improvement_rows(comparison: TaskComparison, n: int) -> tuple[list[str], list[list[str]]]:
    """Of each pair the probability of improvement at one budget, the surer first; each pair from its better side."""
    rows = []
    for row in sorted(_at(comparison.improvements, n), key=lambda row: -abs(row.value - 0.5)):
        first, second = row.families
        value, low, high = row.value, row.low, row.high
        if value < 0.5:
            first, second, value, low, high = second, first, 1 - value, 1 - high, 1 - low
        rows.append([f"{first} over {second}", show_number(value, 2), show_limits(low, high, 2)])
    return ["Pair", "probability of improvement", level(comparison.overall.confidence)], rows


def aggregate_note(comparison: TaskComparison, n: int) -> str:
    """What the numbers over tasks are, and how their limits come about."""
    unit = comparison.overall.terms.unit
    what = f"one {unit}" if n == 1 else f"the best of {plural(n, unit)}"
    return (
        f"Of {what}, over {len(comparison.tasks)} tasks that count alike: ranks (1 is best), the mean of the middle "
        f"half of all scores ({scale_words(comparison)}), and the chance that {what} of the first beats that of the "
        "second. Limits hold for each number by itself and resample trials within tasks: they are about these tasks."
    )


def _at(rows: Sequence[OverTasks], n: int) -> list[OverTasks]:
    return [row for row in rows if row.n == n]


def _low_is_better(comparison: TaskComparison) -> bool:
    direction = next(iter(comparison.tasks.values())).terms.metric.direction
    return comparison.as_scored and direction == "min"


def _listed(rows: Sequence[OverTasks], n: int, *, best_low: bool) -> str:
    ordered = sorted(_at(rows, n), key=lambda row: row.value if best_low else -row.value)
    return ", ".join(f"{row.family} {_shown(row)}" for row in ordered)


def _shown(row: OverTasks) -> str:
    decimals = max(2, round_to_uncertainty(row.value, row.low, row.high))
    return f"{row.value:.{decimals}f} ({row.low:.{decimals}f} to {row.high:.{decimals}f})"
