"""Tables of loops and audits: attempts, keeps, and what would follow from some sizes of the noise."""

from __future__ import annotations

from levelbest._plain import round_to_uncertainty
from levelbest.report.tables.results import table
from levelbest.report.tables.table import Table, counts, formed, limits, markdown_text, numbers, shares, texts
from levelbest.report.words.gates import gate_details, gate_headline, gate_steps
from levelbest.report.words.phrases import level
from levelbest.results import Audit, GateDecision, LoopState, PairComparison, Requirement

_ANSWERS = {"keep": "kept", "discard": "discarded", "again": "open"}


@table.register
def loop_table(state: LoopState) -> Table:
    """A row for each attempt."""
    rows = state.attempts
    columns = [
        texts("candidate", [row.candidate for row in rows]),
        texts("answer", [_ANSWERS[row.answer] for row in rows]),
        counts("runs", [row.n_runs for row in rows], "n_runs"),
        formed(f"mean {state.metric}", [row.score for row in rows], ".4g", "score"),
        formed("p", [row.p_value for row in rows], ".2g", "p_value"),
        formed("level", [row.level for row in rows], ".2g"),
    ]
    return Table(tuple(columns))


@table.register
def audit_table(audit: Audit) -> Table:
    """A row for each keep; where the noise is unknown, a row for each size of it that is tried."""
    if audit.scenarios:
        return scenario_table(audit)
    columns = [
        texts("kept", [keep.label for keep in audit.keeps]),
        counts("line", [keep.line for keep in audit.keeps]),
        formed(audit.metric, [keep.score for keep in audit.keeps], ".4g", "score"),
        formed("step", [keep.step for keep in audit.keeps], "+.2g"),
    ]
    if audit.sd != 0:  # without noise a step is what it is, on the data it was judged on
        least = 1e-3 * (audit.sd or 0.0)
        true = [None if keep.gain is None else keep.gain * (abs(keep.gain) > least) for keep in audit.keeps]
        columns.append(formed("true step", true, "+.2g", "gain"))
        columns.append(shares("no improvement", [keep.false for keep in audit.keeps], "false"))
    return Table(tuple(columns))


def scenario_table(audit: Audit) -> Table:
    """What would follow if one run had this standard deviation."""
    rows = audit.scenarios
    columns = [
        formed("sd of a run", [row.sd for row in rows], ".2g", "sd"),
        texts("keeps that survive", [f"{row.survive} of {len(audit.keeps)}" for row in rows], right=True),
        formed("true gain", [row.gain for row in rows], ".2g", "gain"),
        shares("of the claimed", [_share(row.gain, audit.claimed) for row in rows], "share"),
    ]
    return Table(tuple(columns))


def _share(gain: float, claimed: float) -> float | None:
    return min(1.0, gain / claimed) if claimed > 0 else None


@table.register
def gate_table(gate: GateDecision) -> Table:
    """The difference, and a row for each problem that is certified to be worse."""
    effect = gate.pair.effect
    digits = round_to_uncertainty(effect.difference, effect.low, effect.high)
    if not gate.broken:
        return _difference_table(gate.candidate, gate.baseline, gate.pair, digits)
    columns = [
        texts("worse on", [row.problem for row in gate.broken]),
        formed(gate.baseline, [row.baseline for row in gate.broken], ".3g", "baseline"),
        formed(gate.candidate, [row.candidate for row in gate.broken], ".3g", "candidate"),
        formed("p (Holm)", [row.p_value for row in gate.broken], ".2g", "p_value"),
    ]
    return Table(tuple(columns))


@table.register
def requirement_table(required: Requirement) -> Table:
    """The difference that the claim is about."""
    effect = required.pair.effect
    digits = round_to_uncertainty(effect.difference, effect.low, effect.high)
    return _difference_table(required.first, required.second, required.pair, digits)


def _difference_table(first: str, second: str, pair: PairComparison, digits: int) -> Table:
    effect = pair.effect
    columns = [
        texts("difference of", [f"{first} - {second}"]),
        numbers("value", [effect.difference], digits),
        limits(level(pair.terms.confidence), [(effect.low, effect.high)], digits),
        counts(f"{pair.terms.words.units} of {first}", [pair.n_trials[0]]),
        counts(f"of {second}", [pair.n_trials[1]]),
    ]
    return Table(tuple(columns))


_MARKS = {"pass": "✅", "regressed": "❌", "inconclusive": "⚠️"}


def gate_markdown(gate: GateDecision) -> str:
    """For a pull request: the answer, the table, and what stands behind it."""
    lines = [
        f"### {_MARKS[gate.decision]} {markdown_text(gate_headline(gate))}",
        "",
        gate_table(gate).markdown().strip(),
        "",
    ]
    details = [*gate_details(gate), *(f"{step.text}." for step in gate_steps(gate))]
    return "\n".join([*lines, *(f"- {markdown_text(sentence)}" for sentence in details)])
