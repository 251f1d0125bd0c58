"""Tables and paragraphs as Markdown, LaTeX and CSV, every name escaped for where it goes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape

import numpy as np

from levelbest._plain import guarded, round_to_uncertainty, show_cost, show_limits, show_number
from levelbest.report.paper.checklist import Item
from levelbest.report.view import View
from levelbest.report.words.phrases import plural

ROUNDING = "Numbers are rounded to two digits of half their interval's width."

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": "$-$",
    "∞": r"$\infty$",
}
_MARKDOWN = "\\`*_{}[]<>#|~"


def latex_text(text: str) -> str:
    """A text as LaTeX text: nothing in it is a command."""
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))


def markdown_text(text: str) -> str:
    """A text as Markdown text: nothing in it is markup or HTML."""
    return "".join(f"\\{char}" if char in _MARKDOWN else char for char in " ".join(text.split()))


def families_markdown(view: View) -> str:
    """The families' table, with the headline number and its interval."""
    heads = ["family", view.words.units, "failed", f"best of {view.headline}", "interval", view.words.winner]
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1)]
    for family in view.families:
        value, low, high = family.headline
        decimals = round_to_uncertainty(value, low, high)
        best = show_number(value, decimals) + view.headline_mark(family)
        numbers = [best, show_limits(low, high, decimals), show_number(family.winner, decimals)]
        cells = [family.name, str(family.n_trials), str(family.n_failed), *numbers]
        lines.append([markdown_text(cell) for cell in cells])
    rows = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{rows}\n\n{markdown_text(_caption(view))} {ROUNDING}\n"


def families_csv(view: View) -> str:
    """The families' table with full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = ["family", "n_trials", "n_failed", "n", "value", "low", "high", "winner", "mean", "sd", "mean_cost"]
    writer.writerow(heads)
    for family in view.families:
        numbers = [*family.headline, family.winner, family.mean, family.sd, family.mean_cost]
        shown = ["" if not np.isfinite(number) else repr(number) for number in numbers]
        writer.writerow(
            [guarded(family.name), family.n_trials, family.n_failed, min(view.headline, family.n_trials), *shown]
        )
    return out.getvalue()


def families_latex(view: View) -> str:
    """A booktabs table; the number columns are siunitx S columns. Needs booktabs and siunitx."""
    heads = ["Family", view.words.units.capitalize(), "Failed", f"Best of {view.headline}", "Low", "High"]
    heads.append(view.words.winner.capitalize())
    body = []
    for family in view.families:
        value, low, high = family.headline
        decimals = round_to_uncertainty(value, low, high)
        shown = [(show_number(number, decimals), np.isfinite(number)) for number in (value, low, high, family.winner)]
        if mark := view.headline_mark(family):
            shown[0] = (shown[0][0] + mark, False)
        # siunitx wants what is no number in braces
        numbers = [text if is_number else f"{{{latex_text(text)}}}" for text, is_number in shown]
        body.append([latex_text(family.name), str(family.n_trials), str(family.n_failed), *numbers])
    return _table("l" + "S" * 6, heads, body, f"{_caption(view)} {ROUNDING}")


def appendix_latex(view: View) -> str:
    """[D]'s appendix tables, one a family: search space, best assignment, infrastructure and durations."""
    machine = next((item.answer for item in view.checklist if item.key == "infrastructure" and item.answer), None)
    where = f" Infrastructure: {machine}." if machine else ""
    tables = []
    for family in view.families:
        names = dict.fromkeys([*family.space, *family.assignment])
        rows = [(key, family.space.get(key, "–"), family.assignment.get(key, "–")) for key in names]
        known = family.mean_cost == family.mean_cost
        cost = f", {show_cost(family.mean_cost, view.cost_unit)} a {view.words.unit} on average" if known else ""
        best = f" ({family.path})" if family.path else ""
        trials = f"{view.words.count(family.n_trials)}, {family.n_failed} failed{cost}"
        caption = f"{family.name}: search space as observed and best assignment{best}; {trials}.{where}"
        body = [[latex_text(cell) for cell in row] for row in rows]
        tables.append(_table("lll", ["Hyperparameter", "Searched", "Best"], body, caption))
    return "\n".join(tables)


def methods_latex(view: View) -> str:
    """The methods paragraph and its references."""
    entries = "\n".join(rf"\item {latex_text(reference)}" for reference in view.references)
    return f"{latex_text(view.methods)}\n\n\\begin{{enumerate}}\n{entries}\n\\end{{enumerate}}\n"


def checklist_markdown(items: Sequence[Item]) -> str:
    """A task list: answered items ticked, open ones with what to write."""
    lines = ["# Reporting checklist", ""]
    for item in items:
        box = "x" if item.answer else " "
        answer = markdown_text(item.answer) if item.answer else f"**Open:** {markdown_text(item.hint)}"
        lines.append(f"- [{box}] **{item.question}** ({markdown_text(item.asked_by)})  \n  {answer}")
    return "\n".join(lines) + "\n"


def checklist_latex(items: Sequence[Item]) -> str:
    """A description list for an appendix."""
    lines = [r"\begin{description}"]
    for item in items:
        answer = latex_text(item.answer) if item.answer else rf"\emph{{Open:}} {latex_text(item.hint)}"
        lines.append(rf"\item[{{{latex_text(item.question)}}}] {answer} ({latex_text(item.asked_by)})")
    return "\n".join([*lines, r"\end{description}"]) + "\n"


def checklist_html(items: Sequence[Item]) -> str:
    """A list to paste into a page."""
    lines = []
    for item in items:
        answer = escape(item.answer) if item.answer else f"<em>Open:</em> {escape(item.hint)}"
        lines.append(f"<dt>{escape(item.question)} ({escape(item.asked_by)})</dt>\n<dd>{answer}</dd>")
    return "<dl>\n" + "\n".join(lines) + "\n</dl>\n"


def _caption(view: View) -> str:
    words = view.words
    chosen = f"selected by {view.selection}" if view.reported else words.unchecked
    over = "" if view.n_groups is None else f" of each of {plural(view.n_groups, words.group)}"
    return (
        f"Expected best {view.score} of n = {view.headline} {words.units}{over} ({chosen}) with a pointwise "
        f"{100 * view.confidence:g} % interval, and the {words.winner}."
    )


def _table(columns: str, heads: Sequence[str], body: Sequence[Sequence[str]], caption: str) -> str:
    braced = " & ".join(f"{{{head}}}" for head in heads)
    rows = "\n".join(" & ".join(row) + r" \\" for row in body)
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{latex_text(caption)}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{braced} \\\\\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )
