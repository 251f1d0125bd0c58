"""The decision of a gate, and whether a claim is certified, in words."""

from __future__ import annotations

import math

from levelbest._plain import show_with_limits
from levelbest.errors import named
from levelbest.report.words.phrases import forecast, level, listed, plural, shortened
from levelbest.report.words.plans import Step
from levelbest.results import GateDecision, Requirement

_ABOUT = {"suite": " on exactly these problems", "problems": " on such problems", "": ""}
_MOST_NAMES = 8


def gate_headline(gate: GateDecision) -> str:
    """The answer in a line."""
    answers = {
        "pass": f"{gate.candidate} is not worse than {gate.baseline} by {gate.worth:g}",
        "regressed": f"{gate.candidate} is worse than {gate.baseline}",
        "inconclusive": f"{gate.candidate} may or may not be worse than {gate.baseline} by {gate.worth:g}",
    }
    return f"{gate.decision}: {answers[gate.decision]}{_ABOUT[gate.about]}."


def gate_sentences(gate: GateDecision) -> tuple[str, ...]:
    """The answer, the difference, the broken problems, and what it rests on."""
    return (gate_headline(gate), *gate_details(gate), *(step.text + "." for step in gate_steps(gate)))


def gate_details(gate: GateDecision, *, names: bool = True) -> list[str]:
    """What stands behind the answer; the ``names`` of broken problems where no table shows them."""
    effect = gate.pair.effect
    shown = show_with_limits(effect.difference, effect.low, effect.high)
    sure = f"{level(gate.confidence)} confidence"
    sentences = [f"{gate.candidate} minus {gate.baseline} (positive is better): {shown}, {sure}."]
    if gate.broken:
        which = f": {shortened([row.problem for row in gate.broken], _MOST_NAMES)}" if names else ""
        worse = f"{plural(len(gate.broken), 'problem')} of {gate.n_problems}"
        sentences.append(f"Certified to be worse individually: {worse}{which}.")
    if gate.decision == "inconclusive" and effect.low > -gate.worth >= effect.floor:
        why = "these runs are too few to rule out failures that none of them shows"
        if math.isinf(effect.floor):
            why = f"without the bounds of the score ({named('bounds')}) the size of an unseen failure is unlimited"
        sentences.append(f"The interval alone would let it pass, but {why}.")
    elif gate.decision == "pass" and math.isfinite(effect.floor):
        loss = f"{max(0.0, -effect.floor):.2g}"
        sentences.append(f"Allowing for failures that no run has shown, it loses at most {loss}.")
    sentences += _of_runs(gate)
    default = "" if gate.given else " (5 % of the range of the score, the default)"
    sentences.append(
        f"A loss of {gate.worth:g} would matter{default}. A change that changes nothing is called regressed in at most "
        f"{level(round(1 - gate.confidence, 9))} of cases; a change that loses more passes equally rarely. This "
        "assumes independent runs and the same conditions for both versions."
    )
    return sentences


def _of_runs(gate: GateDecision) -> list[str]:
    """Runs that failed, problems without a run, and whether the problems of a run are independent."""
    failures = zip((gate.candidate, gate.baseline), gate.n_failed, strict=True)
    failed = [f"{count:,} of {name}" for name, count in failures if count]
    sentences = [f"Runs that failed: {listed(failed)}."] if failed else []
    if gate.absent:
        names = f"{plural(len(gate.absent), 'problem')} of {gate.baseline} ({shortened(gate.absent, _MOST_NAMES)})"
        sentences.append(
            f"{gate.candidate} has no run of {names}: nothing passes unless every problem of {gate.baseline} was run, "
            "or is left out of both."
        )
    if gate.added:
        names = f"{plural(len(gate.added), 'problem')} ({shortened(gate.added, _MOST_NAMES)})"
        sentences.append(f"{names} with runs of {gate.candidate} only: not compared.")
    if gate.whole_runs and gate.run_spread is not None:
        sentences.append(
            f"Scores within a run are correlated: the variance of whole runs is {gate.run_spread:.1f} times that of "
            f"independent problems. Whole runs are therefore compared, {gate.pair.n_trials[0]} of "
            f"{gate.candidate} and {gate.pair.n_trials[1]} of {gate.baseline}."
        )
    elif gate.of_suite and gate.run_spread is None and 1 < (gate.n_problems or 0) < min(gate.pair.n_trials):
        sentences.append(
            "Problems of a run are treated as independent; to check this, name the column that identifies the run "
            f"({named('trial')})."
        )
    return sentences


def gate_steps(gate: GateDecision) -> list[Step]:
    """What would decide."""
    if gate.decision != "inconclusive":
        return []
    if gate.absent:
        return [Step(f"Run {shortened(gate.absent, _MOST_NAMES)} with {gate.candidate}, too")]
    words, suite = gate.pair.terms.words, gate.of_suite
    runs = "runs of the suite" if suite else f"{words.planned}s" if words.group else words.units
    if math.isfinite(gate.further):
        return [Step(f"About {forecast(gate.further)} more {runs} with each version would probably decide")]
    number = min(gate.pair.n_trials) / (gate.n_problems or 1 if suite and not gate.whole_runs else 1)
    return [Step(f"More than {forecast(20 * number)} more {runs} with each version would be needed to decide")]


def requirement_sentences(required: Requirement) -> tuple[str, ...]:
    """Whether the claim is certified, and what is."""
    effect = required.pair.effect
    shown = show_with_limits(effect.difference, effect.low, effect.high)
    answer = "certified" if required.certified else "NOT certified"
    certain = f"at {level(required.pair.terms.confidence)}"
    sentences = [
        f"{answer}: {required.text}.",
        f"{required.first} minus {required.second} (positive is better): {shown} {certain}.",
    ]
    if required.margin < 0:
        loss = "nothing" if math.isinf(required.bound) else f"a loss of at most {max(0.0, -required.bound):.2g}"
        needs = "; the bounds of the score are needed for more" if math.isinf(required.bound) else ""
        sentences.append(f"Certified, allowing for failures that no run has shown: {loss}{needs}.")
    return tuple(sentences)
