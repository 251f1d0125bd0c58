"""The part of a report that is about problems: which of them limit the curve, and what the verifier brings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from levelbest._plain import round_to_uncertainty, show_number, show_with_limits
from levelbest.report.view import Line, Section
from levelbest.results import Curve, DesignWords, VerifierEffect
from levelbest.stats.problems import GroupBest

MOST_PROBLEMS = 200
"""More problems than this are not listed: those that hold the curve back most come first."""
_SHOWN = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 1000, 10_000)


def problem_section(curves: Sequence[Curve], columns: Mapping[str, str]) -> Section:
    """Every problem with its samples and its best of n, those that hold the curves back most first."""
    sign = 1.0 if curves[0].direction == "max" else -1.0
    names = list(dict.fromkeys(str(name) for curve in curves for name in _best(curve).groups))
    rows: dict[str, list[str]] = {name: [name] for name in names}
    last: dict[str, list[float]] = {name: [] for name in names}
    heads, stuck = ["Problem"], []
    for role, attribute in (("stratum", "stratum"), ("weight", "weights")):
        known: dict[str, str] = {}
        for best in map(_best, curves):
            if (column := getattr(best, attribute)) is not None:
                texts = map(str, column) if role == "stratum" else (f"{weight:g}" for weight in column.tolist())
                known |= dict(zip(map(str, best.groups), texts, strict=True))
        if known:
            heads.append(columns.get(role, role))
            for name, row in rows.items():
                row.append(known.get(name, ""))
    for curve in curves:
        best = _best(curve)
        prefix = f"{curve.family}: " if len(curves) > 1 else ""
        heads += [f"{prefix}samples", f"{prefix}n = 1", f"{prefix}n = {curve.n[-1]}"]
        place = {str(name): i for i, name in enumerate(best.groups)}
        # each problem's value at the largest budget that it allows
        last_known = best.by_group.shape[1] - 1 - np.argmax(~np.isnan(best.by_group[:, ::-1]), axis=1)
        ends = best.by_group[np.arange(best.groups.size), last_known]
        for name in names:
            i = place.get(name)
            if i is None:
                rows[name] += ["", "", ""]
                continue
            shown = [best.by_group[i, 0], best.by_group[i, -1]]
            rows[name] += [str(int(best.sizes[i])), *("" if np.isnan(v) else show_number(v, 3) for v in shown)]
            last[name].append(sign * float(ends[i]))
        still, worst = best.by_group[:, 0] == ends, (sign * ends).min()
        never = int(np.count_nonzero(still & (sign * ends <= worst)))
        clause = f"{np.count_nonzero(still)} of {best.groups.size} problems gain nothing from more samples"
        if never:
            clause += f", {never} of them at the lowest value, {show_number(float(sign * worst), 3)}"
        stuck.append(f"{curve.family}: {clause}")
    ordered = sorted(names, key=lambda name: (float(np.mean(last[name])), names.index(name)))
    note = ". ".join(stuck) + "."
    if len(ordered) > MOST_PROBLEMS:
        note += f" The {MOST_PROBLEMS} problems of {len(ordered)} that hold the curves back most."
    return Section("Problems", note, tuple(heads), tuple(tuple(rows[name]) for name in ordered[:MOST_PROBLEMS]))


def stratum_section(curves: Sequence[Curve], headline: int) -> Section:
    """Each stratum over its own problems, at one sample, the headline budget and the end of the curve."""
    rows = []
    budgets = list(dict.fromkeys([1, headline, *(int(curve.n[-1]) for curve in curves)]))
    for curve in curves:
        for part in curve.strata:
            points = np.array([part.best.value, part.limits.low, part.limits.high]).T
            known = {int(n): point for n, point in zip(part.best.n, points, strict=True) if not np.isnan(point[0])}
            cells = (show_with_limits(*known[n].tolist()) if n in known else "" for n in budgets)
            rows.append((part.label, curve.family, str(part.best.groups.size), *cells))
    return Section(
        title="Strata",
        note=(
            "Each stratum averaged over its own problems, with an interval over them alone. The curves above are over "
            "all problems together, drawn as they are: where strata are rare or frequent by design, give weights."
        ),
        heads=("Stratum", "Family", "problems", *(f"n = {n}" for n in budgets)),
        rows=tuple(sorted(rows, key=lambda row: row[0])),
    )


def all_table(curves: Sequence[Curve]) -> Section | None:
    """Curves of the chance that all of n succeed, at round budgets; None where there is one sample each."""
    rows = []
    for curve in curves:
        for i, n in enumerate(curve.n):
            if curve.n[-1] > 1 and (n in _SHOWN or i == curve.n.size - 1):
                decimals = round_to_uncertainty(curve.value[i], curve.low[i], curve.high[i])
                shown = (show_number(x, decimals) for x in (curve.value[i], curve.low[i], curve.high[i]))
                rows.append((curve.family, str(int(n)), *shown))
    note = (
        "pass^k: the chance that all of n samples of a problem are right, averaged over problems, with bands for all n "
        "at once."
    )
    return Section("All of n succeed", note, ("Family", "n", "value", "low", "high"), tuple(rows)) if rows else None


def _best(curve: Curve) -> GroupBest:
    assert curve.problems is not None
    return curve.problems


def verifier_section(found: Sequence[VerifierEffect], selection: str) -> Section:
    """The three side by side at round budgets, with the share of the possible gain that the verifier brings."""
    rows = []
    for one in found:
        for i, n in enumerate(one.n):
            if n in _SHOWN or i == one.n.size - 1:
                gain = "" if np.isnan(one.gained[i]) else f"{100 * one.gained[i]:.0f} %"
                values = (one.oracle[i], one.verifier[i], one.random[i])
                rows.append((one.family, str(int(n)), *(show_number(float(v), 4) for v in values), gain))
    return Section(
        title="What the verifier brings",
        note=(
            f"Of n samples of each problem: the best by the reported score (oracle; pass@k for 0/1 scores), the one "
            f"that {selection} picks (verifier), and one at random. The last column is the verifier's part of what an "
            "oracle gains over a random pick."
        ),
        heads=("Family", "n", "oracle", "verifier", "random", "share of the gain"),
        rows=tuple(rows),
    )


def verifier_lines(found: Sequence[VerifierEffect], words: DesignWords) -> tuple[Line, ...]:
    """The three as lines of one figure."""
    lines = []
    for one in found:
        nowhere = (math.nan,) * one.n.size
        for name in ("oracle", "verifier", "random"):
            label = f"{one.family}: {name}" if len(found) > 1 else name
            columns = (tuple(map(float, one.n)), tuple(map(float, getattr(one, name))), nowhere, nowhere)
            lines.append(Line(label, "mean", "trials", *columns, method="none", simultaneous=False, words=words))
    return tuple(lines)
