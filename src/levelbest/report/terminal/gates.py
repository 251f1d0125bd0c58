"""Audits and gates in the terminal: the answer, one table, the next step; one screen."""

from __future__ import annotations

from levelbest.report.tables.gates import audit_table, gate_table
from levelbest.report.terminal.console import (
    console,
    drawn_table,
    held,
    print_steps,
    print_text,
    release,
    screen_lines,
)
from levelbest.report.words.audits import audit_sentences, audit_steps, scenario_title
from levelbest.report.words.gates import gate_details, gate_headline, gate_steps
from levelbest.results import Audit, GateDecision

_COLOURS = {"pass": "green", "regressed": "red", "inconclusive": "yellow"}
_MOST_KEEPS = 7
"""Rows of the table: with the paragraph and the next steps it is one screen."""


def print_audit(audit: Audit) -> None:
    """The paragraph, the keeps (or what would follow from some sizes of the noise), and what to do next."""
    out = console()
    print_text(" ".join(audit_sentences(audit)), out)
    out.print()
    shown = audit_table(audit)
    if audit.scenarios:
        print_text(scenario_title(audit), out, "yellow")
        out.print(drawn_table(shown))
        out.print()
    elif audit.keeps:
        least = sorted(range(shown.size), key=lambda row: audit.keeps[row].false or 0.0)[:_MOST_KEEPS]
        out.print(drawn_table(shown.part(sorted(least))))
        if shown.size > _MOST_KEEPS:
            which = "first" if audit.sd == 0 else "likeliest"
            print_text(f"The {which} {_MOST_KEEPS} of {shown.size} keeps; the JSON form has all.", out, "dim")
        out.print()
    print_steps(audit_steps(audit), out)


def print_gate(gate: GateDecision) -> None:
    """The answer, the problems that are worse, what stands behind it, and what would decide."""
    out = console()
    head = held(out, lambda: print_text(gate_headline(gate), out, f"bold {_COLOURS[gate.decision]}"), out.print)
    behind = " ".join(gate_details(gate, names=not gate.broken))
    foot = held(out, lambda: print_text(behind, out), lambda: print_steps(gate_steps(gate), out))
    release(out, head)
    if gate.broken:
        room = screen_lines(head, foot) - 1
        out.print(drawn_table(gate_table(gate).part(range(len(gate.broken))), most=room))
        out.print()
    release(out, foot)
