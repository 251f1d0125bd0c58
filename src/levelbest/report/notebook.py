"""How notebooks show results: a picture and a short table."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING

from levelbest._plain import common_decimals, html_table, round_places, show_cost, show_limits, show_number
from levelbest.report.describe import Description
from levelbest.report.figures.axes import draw_curves
from levelbest.report.figures.curves import figure_bytes, figure_of, new_axes, own_style
from levelbest.report.figures.distributions import descriptions_figure
from levelbest.report.figures.strips import standings_figure
from levelbest.report.terminal.descriptions import description_facts
from levelbest.report.words.phrases import best_of, level, shortened
from levelbest.report.words.plans import plan_summary, plan_table
from levelbest.report.words.tasks import score_words, task_sentences
from levelbest.report.words.variances import variance_heading, variance_table
from levelbest.results import Comparison, Curve, CurveSet, Reaches, TaskComparison, TrialPlan, Variances

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOG_FROM, _MOST_ROWS = 30, 15


@singledispatch
def html(result: object) -> str:
    """How a notebook shows a result."""
    raise TypeError(f"{type(result).__name__} has no notebook form")


@html.register
def _(result: Curve) -> str:
    return curves_html([result])


@html.register
def _(result: TaskComparison) -> str:
    return comparison_html(result.overall, sentences=task_sentences(result), score=score_words(result))


@html.register
def _(result: Variances) -> str:
    heads, rows = variance_table(result)
    return html_table(heads, rows, caption=variance_heading(result))


@html.register(CurveSet)
def curves_html(curves: Sequence[Curve]) -> str:
    """All curves in one figure, and a table: of one curve at round budgets, of several at their largest."""
    with own_style():
        log = max(curve.n[-1] for curve in curves) > _LOG_FROM
        ax = draw_curves(new_axes(), curves, bands=len(curves) <= 7, log=log, at_ends=True)
        picture = _picture(figure_of(ax), f"Curves of the best {curves[0].score} against the budget")
    rows = []
    sign = -1.0 if curves[0].direction == "max" else 1.0
    first = curves[0]
    points = [(first, i) for i in round_places(first.n.tolist(), most=8)]
    if len(curves) > 1:
        points = [(curve, curve.n.size - 1) for curve in curves]
        points.sort(key=lambda point: sign * float(point[0].value[point[1]]))
    numbers = [(float(c.value[i]), float(c.low[i]), float(c.high[i])) for c, i in points]
    decimals = common_decimals(numbers)
    for (curve, i), (value, low, high) in zip(points, numbers, strict=True):
        shown = [show_number(value, decimals), show_limits(low, high, decimals)]
        rows.append([curve.family, str(curve.n[i]), *shown, str(curve.n_trials), str(curve.n_failed)])
    limits = f"{100 * first.confidence:g} %"
    heads = ["family", "n", f"{first.statistic} best {first.score}", limits, first.words.units, "failed"]
    return picture + html_table(heads, rows[:_MOST_ROWS], caption=str(first) if len(curves) == 1 else "")


@html.register(Comparison)
def comparison_html(comparison: Comparison, sentences: Sequence[str] = (), score: str | None = None) -> str:
    """The verdict, the strip of who is best with the families at one budget, and the same as a table.

    What is said and what it is of are the comparison's own, unless it is one over tasks, which says more.
    """
    verdict = _paragraphs(sentences or comparison.summary)
    with own_style():
        figure = standings_figure(comparison, score)
        picture = "" if figure is None else _picture(figure, "Who is best, and the families with their limits")
    rows = []
    decimals = common_decimals([(row.value, row.low, row.high) for row in comparison.standings])
    for row in comparison.standings[:_MOST_ROWS]:
        shown = [show_number(row.value, decimals), show_limits(row.low, row.high, decimals)]
        better = shortened(row.better_than) if row.better_than else "–"
        rows.append([row.family, *shown, str(row.n_trials), str(row.n_failed), better])
    if not rows:
        return verdict + picture
    terms = comparison.terms
    heads = ["family", best_of(terms, comparison.standings[0].budget), f"{100 * comparison.confidence:g} %"]
    return verdict + picture + html_table([*heads, terms.words.units, "failed", "better than"], rows)


@html.register
def plan_html(plan: TrialPlan) -> str:
    """The plan in a sentence and in the table of the terminal."""
    return _paragraphs([plan_summary(plan)]) + html_table(*plan_table(plan))


@html.register
def reaches_html(reaches: Reaches) -> str:
    """A sentence for each family and target, and the same as a table."""
    rows = []
    for own in reaches:
        needed = (own.cost, own.cost_low, own.cost_high) if own.over_cost else own.interval
        value, low, high = (show_cost(number, own.cost_unit if own.over_cost else None) for number in needed)
        rows.append([own.family, f"{own.target:g}", value, f"{low} to {high}", str(own.n_trials), str(own.n_failed)])
    first = reaches[0]
    heads = ["family", "target", "cost" if first.over_cost else f"{first.words.units} needed", level(first.confidence)]
    return _paragraphs(map(str, reaches)) + html_table([*heads, first.words.units, "failed"], rows[:_MOST_ROWS])


@html.register
def description_html(description: Description) -> str:
    """The histogram, with reported against selection scores where both exist, and the facts of the terminal."""
    with own_style():
        picture = _picture(descriptions_figure([description]), f"The scores of {description.family}")
    heads = ["", description.score, *([] if description.claimed is None else [description.claimed.score])]
    rows = [(*row, *[""] * (len(heads) - len(row))) for row in description_facts(description)]
    return picture + html_table(heads, rows, caption=str(description))


def _paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def _picture(figure: Figure, text: str) -> str:
    """A figure as an image within the document: nothing in it runs, and no names of its parts meet others."""
    data = base64.b64encode(figure_bytes(figure, "svg")).decode()
    return f'<img alt="{escape(text)}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}">'
