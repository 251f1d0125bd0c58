"""Tables of loops and audits: attempts, keeps, and what would follow from some sizes of the noise."""

from __future__ import annotations

from levelbest.report.tables.results import table
from levelbest.report.tables.table import Table, counts, formed, shares, texts
from levelbest.results import Audit, LoopState

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
        formed("true step", [keep.gain for keep in audit.keeps], "+.2g", "gain"),
        shares("no improvement", [keep.false for keep in audit.keeps], "false"),
    ]
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
    return gain / claimed if claimed > 0 else None
