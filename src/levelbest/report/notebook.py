"""How notebooks show results: a picture and a short table."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING

from levelbest import results
from levelbest._plain import html_table, says_test
from levelbest.report.describe import Description
from levelbest.report.figures.axes import draw_curves
from levelbest.report.figures.curves import figure_bytes, figure_of, new_axes, own_style
from levelbest.report.figures.gates import draw_attempts
from levelbest.report.figures.report import descriptions_figure, distribution_figure
from levelbest.report.figures.verdicts import standings_figure
from levelbest.report.tables.gates import audit_table, loop_table
from levelbest.report.tables.results import (
    claim_table,
    costs_table,
    curves_table,
    pair_table,
    plan_table,
    reach_table,
    standings_table,
    variance_table,
)
from levelbest.report.tables.sections import spending_table, ways_table
from levelbest.report.terminal.descriptions import description_facts
from levelbest.report.words.answers import answer_of, is_adaptive
from levelbest.report.words.audits import audit_sentences
from levelbest.report.words.claims import claim_answer
from levelbest.report.words.curves import cost_sentence, curve_sentence
from levelbest.report.words.loops import state_sentences
from levelbest.report.words.plans import plan_summary, stopping
from levelbest.report.words.tasks import score_words, task_sentences
from levelbest.trials import Trials
from levelbest.trials.colours import GREY, TERMINAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOG_FROM, _MOST_ROWS = 30, 15


@singledispatch
def html(result: object) -> str:
    """How a notebook shows a result."""
    raise TypeError(f"{type(result).__name__} has no notebook form")


@html.register
def _(result: results.Curve) -> str:
    return curves_html([result])


@html.register
def _(result: results.TaskComparison) -> str:
    return comparison_html(result.overall, sentences=task_sentences(result), score=score_words(result))


@html.register
def _(result: results.Variances) -> str:
    return variance_table(result).html()


@html.register(results.CurveSet)
def curves_html(curves: Sequence[results.Curve]) -> str:
    """All curves in one figure, and a table: of one curve at round budgets, of several at their largest."""
    with own_style():
        log = max(curve.n[-1] for curve in curves) > _LOG_FROM
        ax = draw_curves(new_axes(), curves, bands=len(curves) <= 7, log=log, at_ends=True)
        picture = _picture(figure_of(ax), f"Curves of the best {curves[0].score} against the budget")
    shown = curves_table(curves)
    if len(curves) > 1:  # each at its largest budget, the best first
        sign = -1.0 if curves[0].direction == "max" else 1.0
        names, values = shown.columns[0].cells, shown.columns[2].cells
        last = [max(row for row, name in enumerate(names) if name == curve.family) for curve in curves]
        shown = shown.part(sorted(last, key=lambda row: sign * float(str(values[row])))[:_MOST_ROWS])
    note = curve_sentence(curves[0]) if len(curves) == 1 else ""
    colours = {curve.family: TERMINAL[GREY if curve.hue is None else curve.hue] for curve in curves}
    return picture + replace(shown, note=note).html(colours)


@html.register
def _(result: results.FamilyCostCurve) -> str:
    return costs_html([result])


@html.register(results.CostCurveSet)
def costs_html(curves: Sequence[results.FamilyCostCurve]) -> str:
    """The same over budgets of cost."""
    with own_style():
        ax = draw_curves(new_axes(), curves, bands=len(curves) <= 7, at_ends=True)
        picture = _picture(figure_of(ax), f"Curves of the best {curves[0].score} against the budget of cost")
    shown = costs_table(curves)
    note = cost_sentence(curves[0]) if len(curves) == 1 else ""
    return picture + replace(shown, note=note).part(range(shown.size)[:_MOST_ROWS]).html()


@html.register(results.Comparison)
def comparison_html(comparison: results.Comparison, sentences: Sequence[str] = (), score: str | None = None) -> str:
    """The verdict, the strip of who is best with the families at one budget, and the same as a table.

    What is said and what it is of are the comparison's own, unless it is one over tasks, which says more.
    """
    colours = {name: TERMINAL[comparison.hues.get(name, GREY)] for name in comparison.families}
    verdict = _paragraphs(sentences) if sentences else _verdict(comparison, colours)
    with own_style():
        figure = standings_figure(comparison, score)
        picture = "" if figure is None else _picture(figure, "Who is best, and the families with their limits")
    if not comparison.standings:
        return verdict + picture
    shown = standings_table(comparison)
    return verdict + picture + replace(shown, note="").part(range(shown.size)[:_MOST_ROWS]).html(colours)


def _verdict(comparison: results.Comparison, colours: Mapping[str, str]) -> str:
    """The answer large, the names in their colours, then the other sentences."""
    first, *others = comparison.summary
    if is_adaptive(comparison):
        return _paragraphs([first, *others])
    pieces = [
        f'<b style="color: {colours[piece.text]}">{escape(piece.text)}</b>' if piece.is_family else escape(piece.text)
        for piece in answer_of(comparison).pieces
    ]
    return f'<p><span style="font-size: 1.3em">{"".join(pieces)}</span></p>' + _paragraphs(others)


@html.register
def pair_html(pair: results.PairComparison) -> str:
    """The sentence, and the difference at round budgets."""
    return _paragraphs([pair.sentence]) + pair_table(pair, every=False).html()


@html.register
def trials_html(trials: Trials) -> str:
    """The scores of every family as a picture, and how many trials each has."""
    rows = []
    for name in trials.families:
        family = trials[name]
        rows.append([name, str(family.n_trials), str(family.n_failed), str(family.n_running)])
    unchecked = not trials.metric.reported and not says_test(trials.metric.score)
    score = trials.metric.score + " (validation only)" * unchecked
    colours = {name: TERMINAL[trials.hues.get(name, GREY)] for name in trials.families}
    picture = ""
    if trials.n_trials > trials.n_failed + trials.n_running and len(trials.families) <= _MOST_ROWS:
        with own_style():
            figure = distribution_figure(trials, trials.families, trials.hues)
        picture = _picture(figure, f"The {score} of every trial")
    heads = ["family", "trials", "failed", "running"]
    right = [False, True, True, True]
    return picture + html_table(heads, rows, caption=f"Trials; score: {score}", right=right, colours=colours)


@html.register
def claim_html(claim: results.Claim) -> str:
    """What the numbers say, and the table of the terminal."""
    return _paragraphs(claim_answer(claim)) + claim_table(claim).html()


@html.register
def audit_html(audit: results.Audit) -> str:
    """What survives, the picture of the attempts, and the keeps."""
    with own_style():
        picture = _picture(figure_of(draw_attempts(None, audit)), "Every attempt, and what was kept")
    return _paragraphs([" ".join(audit_sentences(audit))]) + picture + audit_table(audit).html()


@html.register
def loop_html(state: results.LoopState) -> str:
    """How it stands, the picture of the attempts, and each of them."""
    with own_style():
        picture = _picture(figure_of(draw_attempts(None, state)), "Every attempt, and what was kept")
    return _paragraphs(state_sentences(state)) + (picture if state.attempts else "") + loop_table(state).html()


@html.register
def plan_html(plan: results.TrialPlan) -> str:
    """The plan in a sentence and in the table of the terminal."""
    shown = (replace(plan_table(plan), note=""), spending_table(plan), ways_table(plan))
    tables = "".join(part.html() for part in shown if part is not None)
    return _paragraphs([plan_summary(plan)]) + tables + _paragraphs(stopping(plan))


@html.register
def reaches_html(reaches: results.Reaches) -> str:
    """A sentence for each family and target, and the same as a table."""
    shown = reach_table(reaches)
    return _paragraphs(map(str, reaches)) + shown.part(range(shown.size)[:_MOST_ROWS]).html()


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
    ground = "max-width: 100%; background: white; border-radius: 6px"  # readable whatever the notebook's theme is
    return f'<img alt="{escape(text)}" style="{ground}" src="data:image/svg+xml;base64,{data}">'
