"""Decisions as JSON documents: of loops, audits, gates and claims that trials must certify."""

from __future__ import annotations

from levelbest._plain import picked, plain
from levelbest.report.documents import document
from levelbest.report.words.audits import audit_sentences
from levelbest.report.words.gates import gate_sentences, requirement_sentences
from levelbest.report.words.loops import decision_sentences, state_sentences
from levelbest.results import Audit, GateDecision, LoopDecision, LoopState, Requirement


@document.register
def _(result: LoopDecision) -> dict[str, object]:
    numbers = picked(result, "candidate", "answer", "reason", "again", "n_runs", "p_value", "level", "baseline")
    more = picked(result, "n_attempts", "deterministic") | {"seeds": list(result.seeds)}
    return plain(numbers | more | {"sentence": " ".join(decision_sentences(result)[1:])})


@document.register
def _(result: LoopState) -> dict[str, object]:
    known = picked(result, "metric", "direction", "confidence", "baseline", "n_baseline", "pool", "missing", "n_runs")
    names = ("candidate", "answer", "reason", "n_runs", "score", "p_value", "level")
    attempts = [picked(attempt, *names) for attempt in result.attempts]
    shown = {"kept": list(result.kept), "attempts": attempts, "summary": list(state_sentences(result))}
    return plain(known | picked(result, "deterministic", "head") | shown)


@document.register
def _(result: Audit) -> dict[str, object]:
    known = picked(result, "source", "metric", "direction", "n_attempts", "by_noise", "claimed", "gain", "sd", "df")
    known |= {"kept": len(result.keeps), "discarded": result.count("discard"), "crashed": result.count("crash")}
    keeps = [picked(keep, "label", "line", "score", "step", "false", "gain") for keep in result.keeps]
    scenarios = [picked(row, "sd", "survive", "false", "gain") for row in result.scenarios]
    shown = {"keeps": keeps, "survivors": [keep.label for keep in result.survivors], "if_sd_were": scenarios}
    more = picked(result, "false_keeps", "false_range", "confidence", "left_out") | {"changes": list(result.changes)}
    return plain(known | more | shown | {"summary": list(audit_sentences(result))})


@document.register
def _(result: GateDecision) -> dict[str, object]:
    effect = result.pair.effect
    known = picked(result, "decision", "baseline", "candidate", "worth", "confidence") | {"about": result.about or None}
    numbers = picked(effect, "difference", "low", "high", "floor", "p_value") | {"n": effect.budget}
    broken = [picked(row, "problem", "baseline", "candidate", "p_value") for row in result.broken]
    counts = {"n_trials": list(result.pair.n_trials), "n_failed": list(result.n_failed)}
    more = {
        "further_runs": result.further,
        "n_problems": result.n_problems,
        **counts,
        "design": result.pair.terms.design,
        "absent": list(result.absent),
        "added": list(result.added),
        **picked(result, "run_spread", "whole_runs"),
    }
    return plain(known | numbers | {"broken": broken} | more | {"summary": list(gate_sentences(result))})


@document.register
def _(result: Requirement) -> dict[str, object]:
    known = {"claim": result.text} | picked(result, "certified", "first", "second", "margin", "bound")
    effect = picked(result.pair.effect, "difference", "low", "high", "p_value")
    return plain(known | effect | {"summary": list(requirement_sentences(result))})
