"""The tables of the page, as cells for reading."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from levelbest._plain import common_decimals, guarded, round_places, show_cost, show_limits, show_number, show_range
from levelbest.report.columns import cell_text
from levelbest.report.view import Section, View
from levelbest.report.words.phrases import joined
from levelbest.report.words.verdicts import reason_words
from levelbest.results import NOT_COMPARABLE, UNDECIDED

MOST_CELLS = 12_000
"""More cells of trials than this stay in the table beside the page."""
MOST_PAIRS = 200
"""Of more pairs the table names those with a verdict."""
MOST_VALUES = 800
"""Of more points of curves the table has those at round budgets."""
Rows = list[list[str]]


def kinds_of(rows: Sequence[Sequence[str]], columns: int) -> str:
    """For each column ``n`` where every cell is a number, a dash or empty, else ``t``."""
    return "".join("n" if all(_is_number(row[k]) for row in rows) else "t" for k in range(columns))


def _is_number(text: str) -> bool:
    try:
        float(text.removesuffix("%") or "0")
    except ValueError:
        return text in ("–", "∞", "−∞")
    return True


def value_rows(view: View) -> Rows:
    """The points of the first curves, where they are many those at round budgets."""
    rows: Rows = []
    lines = view.lines_of(view.statistics[0])
    many = sum(len(line.x) for line in lines) > MOST_VALUES
    for line in lines:
        points = list(zip(line.value, line.low, line.high, strict=True))
        decimals = common_decimals(points)
        places = round_places([int(x) for x in line.x], most=0 if many else len(line.x))
        rows += [[line.family, f"{line.x[i]:g}", *(show_number(v, decimals) for v in points[i])] for i in places]
    return rows


def verdict_tables(view: View) -> list[Section]:
    """One table for each statistic and axis, one row a pair: who is better where, where nothing is decided, and where
    nothing can be compared; what is the same for every pair is said once."""
    tables = []
    for statistic, axis in dict.fromkeys((pair.terms.statistic, pair.terms.axis) for pair in view.pairs):
        rows, apart = [], []
        pairs = view.pairs_of(statistic, axis)
        told = pairs if len(pairs) <= MOST_PAIRS else [pair for pair in pairs if pair.decided][:MOST_PAIRS]
        for pair in told:
            where: dict[str, list[str]] = {}
            for part in joined(pair.verdicts):
                where.setdefault(part.verdict, []).append(show_range(part.start, part.end, axis, view.cost_unit))
            better = [f"{name}: {', '.join(where[name])}" for name in where if name in pair.families]
            reasons = dict.fromkeys(reason_words(part.reason) for part in pair.verdicts if part.reason)
            nowhere = ", ".join(where.get(NOT_COMPARABLE, ()))
            apart.append(f"{nowhere} ({'; '.join(reasons)})" if nowhere and reasons else nowhere or "–")
            rows.append((" and ".join(pair.families), "; ".join(better) or "–", ", ".join(where.get(UNDECIDED, ["–"]))))
        heads: tuple[str, ...] = ("Families", "better at", "undecided at")
        table: list[tuple[str, ...]] = [*rows]
        note = f"{len(pairs) - len(told)} further pairs are in report.json." if len(told) < len(pairs) else ""
        if len(set(apart)) == 1:
            note = ("" if apart[0] == "–" else f"Not comparable at {apart[0]}. ") + note
        else:
            heads = (*heads, "not comparable at")
            table = [(*row, last) for row, last in zip(rows, apart, strict=True)]
        title = f"{statistic} curves, budgets in {axis if axis == 'cost' else view.word + 's'}"
        tables.append(Section(title, note, heads, tuple(table)))
    return tables


def family_rows(view: View) -> tuple[list[str], Rows]:
    """The families, the best of the headline budget first."""
    at = f"one {view.word}" if view.headline == 1 else f"best of {view.headline}"
    heads = ["Family", f"{view.word}s", "failed", at, "interval", view.winner_word, "mean (sd)"]
    has_cost = view.cost_unit is not None or any(np.isfinite(other.mean_cost) for other in view.families)
    heads += [f"cost of a {view.word}"] if has_cost else []
    decimals = common_decimals([other.headline for other in view.families])
    sign = -1.0 if view.direction == "max" else 1.0
    rows = []
    for family in sorted(view.families, key=lambda other: (np.isnan(other.headline[0]), sign * other.headline[0])):
        value, low, high = family.headline
        best = show_number(value, decimals) + view.headline_mark(family)
        winner, mean, sd = (show_number(x, max(decimals, 3)) for x in (family.winner, family.mean, family.sd))
        row = [family.name, str(family.n_trials), str(family.n_failed), best, show_limits(low, high, decimals)]
        row += [winner, f"{mean} ({sd})"]
        rows.append(row + ([show_cost(family.mean_cost, view.cost_unit)] if has_cost else []))
    return heads, rows


def trial_rows(view: View) -> tuple[list[str], Rows]:
    """The trials, as many as a page can hold."""
    heads = list(view.table)
    most = MOST_CELLS // max(1, len(heads))
    columns = [column[:most] for column in view.table.values()]
    return heads, [[cell_text(cell, 6) for cell in row] for row in zip(*columns, strict=True)]


def trials_csv(view: View) -> str:
    """Every trial as CSV; a text that a spreadsheet would take for a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([guarded(name) for name in view.table])
    for row in zip(*view.table.values(), strict=True):
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell_text(cell, None) for cell in row])
    return out.getvalue()
