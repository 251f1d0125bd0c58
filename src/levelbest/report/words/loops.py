"""Sentences about a research loop: its answers, their reasons, and its state."""

from __future__ import annotations

from levelbest.errors import named
from levelbest.report.words.phrases import level, listed, plural, shortened
from levelbest.results import LoopDecision, LoopState

_MOST_NAMES = 4
OVERFITTING = (
    "Repeated runs have exactly the same score: the risk is not noise but overfitting the validation set. {}judged "
    "on the same data: evaluate what is kept on data that no attempt has seen."
)


def decision_sentences(decision: LoopDecision) -> tuple[str, ...]:
    """The answer, as a loop's script reads it, then why."""
    answer = f"again {decision.again}" if decision.answer == "again" else decision.answer
    sentences = [answer, f"{decision.candidate}: {_why(decision)}"]
    if decision.seeds:
        sentences.append(f"Seeds for {'it' if decision.again == 1 else 'them'}: {', '.join(map(str, decision.seeds))}.")
    if decision.deterministic and decision.answer == "keep":
        attempts = plural(decision.n_attempts, "attempt")
        sentences.append(OVERFITTING.format(f"{attempts} {'were' if decision.n_attempts > 1 else 'was'} "))
    if decision.reason == "shown":
        sentences.append(
            f"{decision.candidate} is the new baseline: record fresh runs of it ({named('baseline')}), since the "
            "runs that made it win are optimistic."
        )
    return tuple(sentences)


def _why(decision: LoopDecision) -> str:
    runs = plural(decision.n_runs, "run")
    numbers = ""
    if decision.p_value is not None and decision.level is not None:
        numbers = f"p = {decision.p_value:.2g} at a level of {decision.level:.2g}"
    return {
        "failed": f"a run failed, after {runs}.",
        "moved": (
            f"its baseline, {decision.baseline}, has since been replaced; submit it on top of the new baseline, "
            "under another name."
        ),
        "noisy": (
            "its runs differ, so the metric is noisy after all; record the full pool of baseline runs, then submit "
            "it again under another name."
        ),
        "not-better": f"no better than {decision.baseline}, and the metric has shown no noise.",
        "repeat": f"better than {decision.baseline} in {runs}; run it again to see whether the score repeats.",
        "exact": f"better than {decision.baseline}, and the same in {runs}.",
        "stage": f"{runs} so far, ahead of {decision.baseline}; run it again.",
        "below": f"after {runs} not ahead of {decision.baseline} by half a standard deviation of its runs.",
        "not-shown": f"its fresh runs do not show it to be better than {decision.baseline} ({numbers}).",
        "shown": f"its fresh runs show it to be better than {decision.baseline} ({numbers}).",
    }[decision.reason]


def state_sentences(state: LoopState) -> tuple[str, ...]:
    """How many attempts, what was kept, what is wanted next, and what the error rate is."""
    kept, attempts = state.kept, len(state.attempts)
    what = f"kept {len(kept)}: {shortened(kept)}" if kept else "kept none"
    sentences = [f"{plural(attempts, 'attempt')} in {plural(state.n_runs, 'run')}; {what}."]
    open_ = [attempt.candidate for attempt in state.attempts if attempt.answer == "again"]
    if open_:
        sentences.append(f"Still open: {listed(open_[:_MOST_NAMES])}.")
    sentences.append(_baseline(state))
    if state.deterministic:
        judged = f"{plural(attempts, 'attempt')} {'was' if attempts == 1 else 'were'} "
        sentences.append(OVERFITTING.format(judged if attempts else "All attempts are "))
    else:
        share = level(round(1 - state.confidence, 9))
        sentences.append(f"False keeps are limited to {share} of all keeps, over the whole loop (SAFFRON).")
    return tuple(sentences)


def _baseline(state: LoopState) -> str:
    has = f"The baseline is {state.baseline}" if state.baseline != "baseline" else "The baseline"
    has += " with" if state.baseline != "baseline" else " has"
    runs = f"{has} {plural(state.n_baseline, 'run')}"
    if not state.missing:
        return f"{runs}: ready for a candidate."
    if state.n_baseline < 2:
        return f"{runs}; {state.missing} more will show whether the metric has noise."
    return f"{runs} of a pool of {state.pool}; record {state.missing} more before the next candidate."
