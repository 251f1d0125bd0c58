"""How results are shown: the sentences, the JSON form, the notebook form and the figure of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import TYPE_CHECKING

from levelbest import results
from levelbest.cautions import Caution
from levelbest.report import decisions as decisions
from levelbest.report.documents import document
from levelbest.report.figures.axes import draw_curves, draw_plan, draw_variances
from levelbest.report.figures.gates import draw_attempts
from levelbest.report.figures.verdicts import draw_comparison
from levelbest.report.notebook import html
from levelbest.report.tables.results import table
from levelbest.report.words.answers import comparison_summary
from levelbest.report.words.audits import audit_sentences
from levelbest.report.words.cautions import caution_sentence
from levelbest.report.words.claims import claim_sentences
from levelbest.report.words.curves import cost_sentence, curve_sentence, reach_sentence
from levelbest.report.words.gates import gate_sentences, requirement_sentences
from levelbest.report.words.loops import decision_sentences, state_sentences
from levelbest.report.words.plans import plan_sentences
from levelbest.report.words.tasks import score_words, task_sentences
from levelbest.report.words.variances import variance_sentence
from levelbest.report.words.verdicts import pair_sentence
from levelbest.trials.colours import GREY, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["colours", "document", "draw", "html", "sentences", "table"]


@singledispatch
def sentences(result: object, n: int | None = None) -> tuple[str, ...]:  # noqa: ARG001
    """What a result says; of a curve at budget ``n``."""
    raise TypeError(f"{type(result).__name__} has no sentences")


sentences.register(Caution, lambda result, _=None: (caution_sentence(result),))
sentences.register(results.Claim, lambda result, _=None: claim_sentences(result))
sentences.register(results.Comparison, lambda result, _=None: comparison_summary(result))
sentences.register(results.PairComparison, lambda result, _=None: (pair_sentence(result),))
sentences.register(results.TaskComparison, lambda result, _=None: task_sentences(result))
sentences.register(results.Audit, lambda result, _=None: audit_sentences(result))
sentences.register(results.GateDecision, lambda result, _=None: gate_sentences(result))
sentences.register(results.Requirement, lambda result, _=None: requirement_sentences(result))
sentences.register(results.LoopDecision, lambda result, _=None: decision_sentences(result))
sentences.register(results.LoopState, lambda result, _=None: state_sentences(result))
sentences.register(results.Curve, lambda result, n=None: (curve_sentence(result, n),))
sentences.register(results.CurveSet, lambda result, n=None: tuple(curve_sentence(curve, n) for curve in result))
sentences.register(results.FamilyCostCurve, lambda result, _=None: (cost_sentence(result),))
sentences.register(results.CostCurveSet, lambda result, _=None: tuple(map(cost_sentence, result)))
sentences.register(results.Reach, lambda result, _=None: (reach_sentence(result),))
sentences.register(results.Reaches, lambda result, _=None: tuple(map(reach_sentence, result)))
sentences.register(results.TrialPlan, lambda result, _=None: plan_sentences(result))
sentences.register(results.FamilyVariance, lambda result, _=None: (variance_sentence(result),))
sentences.register(results.Variances, lambda result, _=None: tuple(map(variance_sentence, result)))


def colours(result: object) -> dict[str, str]:
    """The colours of a result's families, as its figures have them."""
    if isinstance(result, results.TaskComparison):
        result = result.overall
    if isinstance(result, results.Comparison):
        return {name: LIGHT[hue] for name, hue in result.hues.items()}
    curves = result if isinstance(result, results.CurveSet | results.CostCurveSet) else [result]
    alone = [curve for curve in curves if isinstance(curve, results.Curve | results.FamilyCostCurve)]
    return {curve.family: LIGHT[GREY if curve.hue is None else curve.hue] for curve in alone}


@singledispatch
def draw(
    result: object,
    ax: Axes | None,  # noqa: ARG001
    *,
    bands: bool = True,  # noqa: ARG001
    log: bool = True,  # noqa: ARG001
    style: Mapping[str, object],  # noqa: ARG001
    **how: object,  # noqa: ARG001
) -> Axes:
    """The picture of a result on an Axes."""
    raise TypeError(f"{type(result).__name__} has no picture")


draw.register(results.Curve, lambda result, ax, **how: draw_curves(ax, [result], **how))
draw.register(results.CurveSet, lambda result, ax, **how: draw_curves(ax, result, **how))
draw.register(results.FamilyCostCurve, lambda result, ax, **how: draw_curves(ax, [result], **how))
draw.register(results.CostCurveSet, lambda result, ax, **how: draw_curves(ax, result, **how))
draw.register(results.Comparison, lambda result, ax, **how: draw_comparison(ax, result, **how))
draw.register(
    results.TaskComparison,
    lambda result, ax, **how: draw_comparison(ax, result.overall, score=score_words(result), **how),
)
draw.register(results.Audit, lambda result, ax, colors, **how: draw_attempts(ax, result, **how))  # noqa: ARG005
draw.register(results.LoopState, lambda result, ax, colors, **how: draw_attempts(ax, result, **how))  # noqa: ARG005
draw.register(results.TrialPlan, lambda result, ax, colors, **how: draw_plan(ax, result, **how))  # noqa: ARG005
draw.register(results.Variances, lambda result, ax, style, **_: draw_variances(ax, result, style=style))
