"""Comparisons over several tasks, in words and as tables."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import common_decimals, show_limits, show_number, show_with_limits
from levelbest.report.view import Section
from levelbest.report.words.phrases import condition_sentence, level, plural
from levelbest.report.words.verdicts import verdict_sentences
from levelbest.results import OverTasks, TaskComparison

STANDARD = "sd from each task's mean"
"""What curves over tasks are measured in."""
TASK_REFERENCE = (
    "R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. G. Bellemare. Deep Reinforcement Learning at the Edge of "
    "the Statistical Precipice. NeurIPS 2021."
)


def task_sentences(comparison: TaskComparison) -> tuple[str, ...]:
    """The verdict over all tasks first, then ranks and other numbers, each task's verdict, and what stands behind."""
    count = len(comparison.tasks)
    last = max(rank.n for rank in comparison.ranks)
    middle = _budgets(comparison)[-1]
    each = [f"{task}: {' '.join(verdict_sentences(own))}" for task, own in comparison.tasks.items()]
    return (
        overall_sentence(comparison),
        f"Mean rank over {count} tasks at n = {last}: {_listed(comparison.ranks, last, best_low=True)}.",
        f"Interquartile mean over {count} tasks at n = {middle} ({scale_words(comparison)}): "
        f"{_listed(comparison.iqm, middle, best_low=_low_is_better(comparison))}.",
        f"Probability of improvement at n = {middle}, averaged over tasks: "
        + ", ".join(f"{' over '.join(row.families)} {_shown(row)}" for row in _at(comparison.improvements, middle))
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


def score_words(comparison: TaskComparison) -> str:
    """What curves and differences over all tasks are of."""
    return f"{comparison.overall.terms.metric.score} ({STANDARD})"


def aggregate_section(comparison: TaskComparison) -> Section:
    """Of each family its mean rank and interquartile mean, the best first, at each budget that has them."""
    budgets, limits = _budgets(comparison), level(comparison.overall.confidence)
    rows = []
    for n in budgets:
        middle = {row.family: row for row in _at(comparison.iqm, n)}
        ranks = {row.family: row for row in _at(comparison.ranks, n)}
        places = common_decimals((row.value, row.low, row.high) for row in middle.values())
        sign = 1.0 if _low_is_better(comparison) else -1.0
        for name in sorted(
            middle, key=lambda name: (ranks[name].value if name in ranks else 0, sign * middle[name].value)
        ):
            rank = _cells(ranks[name], 2) if name in ranks else ("", "")
            rows.append((name, *[str(n)] * (len(budgets) > 1), *rank, *_cells(middle[name], places)))
    note = (
        f"Mean rank (1 is best) and the mean of the middle half of all scores ({scale_words(comparison)}), over "
        f"{plural(len(comparison.tasks), 'task')} that count alike, of {_of_what(comparison)}. Limits hold for each "
        f"number by itself and resample {comparison.overall.terms.words.units} within tasks: they are about "
        "these tasks."
    )
    heads = ("Family", *["n"] * (len(budgets) > 1), "mean rank", limits, "interquartile mean", limits)
    return Section("Over all tasks", note, heads, tuple(rows))


def improvement_section(comparison: TaskComparison) -> Section:
    """Of each pair the probability of improvement, from its better side, the surer pairs first."""
    budgets = _budgets(comparison)
    rows = []
    for n in budgets:
        for row in sorted(_at(comparison.improvements, n), key=lambda row: -abs(row.value - 0.5)):
            if row.value < 0.5:
                row = OverTasks(row.families[::-1], row.n, 1 - row.value, 1 - row.high, 1 - row.low)
            rows.append((" over ".join(row.families), *[str(n)] * (len(budgets) > 1), *_cells(row, 2)))
    note = (
        f"The chance that {_of_what(comparison)} of the first beats that of the second, averaged over the tasks; a tie "
        "counts half."
    )
    limits = level(comparison.overall.confidence)
    heads = ("Pair", *["n"] * (len(budgets) > 1), "probability of improvement", limits)
    return Section("Probability of improvement", note, heads, tuple(rows))


def task_methods(comparison: TaskComparison) -> str:
    """A sentence for the methods paragraph."""
    return (
        f"Over {plural(len(comparison.tasks), 'task')}, curves and differences are means in standard deviations from "
        f"each task's mean; interquartile means and probabilities of improvement are those of [5], with limits that "
        "resample all but one of the trials within each task."
    )


def _of_what(comparison: TaskComparison) -> str:
    words = comparison.overall.terms.words
    return words.single or (f"one {words.unit}" if _budgets(comparison) == [1] else f"the best of n {words.units}")


def _budgets(comparison: TaskComparison) -> list[int]:
    return sorted({row.n for row in comparison.iqm})


def _cells(row: OverTasks, places: int) -> tuple[str, str]:
    return show_number(row.value, places), show_limits(row.low, row.high, places)


def _at(rows: Sequence[OverTasks], n: int) -> list[OverTasks]:
    return [row for row in rows if row.n == n]


def _low_is_better(comparison: TaskComparison) -> bool:
    direction = next(iter(comparison.tasks.values())).terms.metric.direction
    return comparison.as_scored and direction == "min"


def _listed(rows: Sequence[OverTasks], n: int, *, best_low: bool) -> str:
    ordered = sorted(_at(rows, n), key=lambda row: row.value if best_low else -row.value)
    return ", ".join(f"{row.family} {_shown(row)}" for row in ordered)


def _shown(row: OverTasks) -> str:
    return show_with_limits(row.value, row.low, row.high, least=2)
