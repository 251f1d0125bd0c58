"""A finished keep/discard log, in words: one paragraph, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import show_number
from levelbest.report.words.phrases import level, listed, plural, shortened
from levelbest.report.words.plans import RETRAINED, Step
from levelbest.results import Audit, LoggedVersion

_MOST_NAMES = 5


def audit_sentences(audit: Audit) -> tuple[str, ...]:
    """What was tried and kept, what noise alone would keep, how large it is, and what survives."""
    sentences = [_counts(audit), *_odd(audit), *([] if audit.sd == 0 else [_by_noise(audit)])]
    return (*sentences, *(_unknown(audit) if audit.sd is None else _known(audit)))


def _counts(audit: Audit) -> str:
    parts = [f"{len(audit.keeps)} kept", f"{audit.count('discard')} discarded", f"{audit.count('crash')} crashed"]
    if undecided := audit.count(""):
        parts.append(f"{undecided} not decided")
    tried = f"{audit.source}: {plural(audit.n_attempts, 'attempt')} after the first version, {listed(parts)}."
    better = {"max": "higher", "min": "lower"}[audit.direction]
    known = {"given": "", "name": "", "log": "", "kept": ", judging by the kept scores"}[audit.how]
    return f"{tried} {better.capitalize()} {audit.metric} is better{known}."


def _odd(audit: Audit) -> list[str]:
    """What of the log needs a word."""
    sentences = []
    if audit.inferred:
        sentences.append("The log does not say what was kept: every score better than all before it counts as a keep.")
    if audit.kind is not None:
        column, which = audit.kind
        judged = f"rows with {column} {which or 'empty'}" if column else f"rows of {which}"
        sentences.append(f"Only the {judged} are judged; {plural(audit.left_out, 'row')} of another kind are left out.")
    for what, words in (("budget", "the budget changes"), ("baseline", "a new baseline begins")):
        if count := audit.changes.count(what):
            often = "once" if count == 1 else f"{count} times"
            sentences.append(f"Within the log {words} {often}: scores are compared within each part only.")
    if audit.skipped:
        lines = plural(len(audit.skipped), "line")
        sentences.append(f"{lines} could not be read ({audit.skipped[0]}{' first' if len(audit.skipped) > 1 else ''}).")
    if audit.unknown:
        sentences.append(f"In its status column {shortened(audit.unknown)} {_are(audit.unknown)}.")
    if audit.on_top:
        sentences.append(
            f"{plural(audit.on_top, 'row')} with the name of another version, but another decision or description: "
            "each counts as an attempt of its own."
        )
    if worse := audit.n_no_better:
        sentences.append(f"{plural(worse, 'keep')} scored no better than the version kept before.")
    return sentences


def _are(words: Sequence[str]) -> str:
    return "is not a known decision" if len(words) == 1 else "are not known decisions"


def _by_noise(audit: Audit) -> str:
    each = "if no attempt changed anything and the best score of one run was kept"
    return f"About {audit.by_noise:.1f} keeps are expected from noise alone, {each}."


def _known(audit: Audit) -> list[str]:
    assert audit.sd is not None
    assert audit.gain is not None
    again = plural(sum(version.n_runs > 1 for version in audit.versions), "version")
    if audit.sd == 0:
        return [
            f"{again}, run again, scored exactly the same. Unless scores are rounded or rows were copied, the risk is "
            f"not noise but overfitting the validation set: {plural(audit.n_attempts, 'attempt')} "
            f"{'was' if audit.n_attempts == 1 else 'were'} judged on it."
        ]
    noise = f"One run has a standard deviation of {audit.sd:.2g} ({again} run again, {_freedom(audit.df)})"
    sentences = [f"{noise}{'; that is few, and the results below depend on it' if audit.df < 5 else ''}."]
    if not audit.keeps:
        return sentences
    survivors = audit.survivors
    names = shortened([keep.label for keep in survivors], _MOST_NAMES) if survivors else ""
    assert audit.false_keeps is not None
    false = f"About {audit.false_keeps:.1f} of {plural(len(audit.keeps), 'keep')} are no improvement"
    sentences.append(f"{false} (below half of that{_range(audit)}).")
    verb = "survives" if len(survivors) == 1 else "survive"
    which = (
        f"{len(survivors)} {verb} at {level(audit.confidence)}: {names}" if survivors else "No keep survives on its own"
    )
    sentences.append(f"{which}.")
    sentences.append(_selection(audit.claimed, audit.gain))
    return sentences


def _freedom(df: int) -> str:
    return f"{df} degree{'s' * (df != 1)} of freedom"


def _selection(claimed: float, gain: float) -> str:
    """How much of what was gained by the scores is luck."""
    if claimed <= 0:
        return (
            f"The last version kept scores no better than the first ({-claimed:.3g} worse): there is no gain to judge."
        )
    luck = claimed - gain
    share = round(100 * luck / claimed)
    if share < 1:
        return f"None of the gain of {claimed:.3g} is attributed to selection."
    if share >= 100:
        return f"All of the gain of {claimed:.3g} is attributed to selection."
    return f"About {luck:.2g} ({share} %) of the gain of {claimed:.3g} is selection."


def _range(audit: Audit) -> str:
    low, high = audit.false_range or (0, 0)
    return f"; likely {low} to {high}" if high > low else ""


def _unknown(audit: Audit) -> list[str]:
    unknown = "No version was run twice, so the noise of one run is unknown"
    if not audit.keeps:
        return [f"{unknown}. Nothing was kept after the first version: there is no gain to judge."]
    if audit.claimed <= 0:
        return [f"{unknown}, and so is which keeps are improvements. {_selection(audit.claimed, 0.0)}"]
    return [
        f"{unknown}, and so is which keeps are improvements and how much of the gain of {audit.claimed:.3g} is "
        "selection."
    ]


def audit_steps(audit: Audit) -> tuple[Step, ...]:
    """The next step: fresh runs of the first and the last version, and a loop that asks for them itself."""
    kept = [version for version in audit.versions if version.decision in ("baseline", "keep")]
    if not kept:
        return ()
    first, last = _named(audit, kept[0]), _named(audit, kept[-1])
    which, gained = f"{first} and {last}, the first and the last version", "what the loop gained in all"
    if audit.sd == 0:
        which = which if len(kept) > 1 else first
        unseen = Step(f"Evaluate {which}, on data that no attempt has seen", "", gained if len(kept) > 1 else "")
        return (unseen, Step(f"Run {last} once more: another score would show that there is noise"))
    alike = " at one budget" if "budget" in audit.changes else ""
    again = Step(f"Run {which}, with {RETRAINED} fresh seeds each{alike}, and compare them", "", gained)
    if len(kept) == 1:
        again = Step(f"Run {first} with {RETRAINED} fresh seeds", "", "the noise of one run")
    return (again, Step("Run the next loop with levelbest loop, which asks for the runs it needs", "", ""))


def _named(audit: Audit, version: LoggedVersion) -> str:
    return version.label if not version.label.startswith("row ") else f"{version.label} ({audit.source})"


SCENARIOS = (
    "IF one run had this standard deviation (an assumption, not a finding; in the median, an attempt differs by {} "
    "from the version before it):"
)


def scenario_title(audit: Audit) -> str:
    """What the table of scenarios is, and what it is not."""
    typical = audit.scenarios[3].sd if len(audit.scenarios) > 3 else float("nan")
    return SCENARIOS.format(show_number(typical, 6).rstrip("0").rstrip("."))
