"""Further tables of a report: problems, strata, what a verifier brings, aggregates over tasks, what a plan costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from levelbest._check import FloatArray
from levelbest._plain import common_decimals, round_to_uncertainty, show_number, show_with_limits
from levelbest.report.tables.table import Table, TableColumn, counts, limits, numbers, shares, texts
from levelbest.report.words.phrases import level, plural
from levelbest.report.words.spending import spend_words, spending_rows, way_rows
from levelbest.report.words.tasks import aggregate_budgets, aggregate_words, low_is_better, rows_at, scale_words
from levelbest.results import Comparison, Curve, OverTasks, TaskComparison, TrialPlan, VerifierEffect
from levelbest.stats.problems import GroupBest

MOST_PROBLEMS = 200
"""More problems than this are not listed: those that hold the curve back most come first."""
_SHOWN = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 1000, 10_000)


def problem_section(curves: Sequence[Curve], columns: Mapping[str, str]) -> Table:
    """Every problem with its samples and its best of n, those that lower the curves most first."""
    words = curves[0].words
    sign = 1.0 if curves[0].direction == "max" else -1.0
    names = list(dict.fromkeys(str(name) for curve in curves for name in _best(curve).groups))
    last = {name: [] for name in names}  # type: dict[str, list[float]]
    shown = [texts(words.group, names), *_attributes(curves, names, columns)]
    stuck = []
    for curve in curves:
        best = _best(curve)
        # each problem's value at the largest budget that it allows
        last_known = best.by_group.shape[1] - 1 - np.argmax(~np.isnan(best.by_group[:, ::-1]), axis=1)
        ends = best.by_group[np.arange(best.groups.size), last_known]
        for name, end in zip(map(str, best.groups), ends, strict=True):
            last[name].append(sign * float(end))
        shown += _of_family(curve, names, f"{curve.family}: " if len(curves) > 1 else "")
        stuck.append(f"{curve.family}: {_stuck(best, ends, sign)}")
    order = sorted(range(len(names)), key=lambda place: (float(np.mean(last[names[place]])), place))
    note = ". ".join(stuck) + "."
    if len(order) > MOST_PROBLEMS:
        note += f" The {MOST_PROBLEMS} {words.group}s of {len(order)} that lower the curves most."
    title = f"{words.group}s".capitalize()
    return Table(tuple(shown), title, note).part(order[:MOST_PROBLEMS])


def _attributes(curves: Sequence[Curve], names: Sequence[str], columns: Mapping[str, str]) -> list[TableColumn]:
    """The stratum and the weight of each problem, where there are any."""
    shown = []
    for role, attribute in (("stratum", "stratum"), ("weight", "weights")):
        known: dict[str, str] = {}
        for best in map(_best, curves):
            if (column := getattr(best, attribute)) is not None:
                given = map(str, column) if role == "stratum" else (f"{weight:g}" for weight in column.tolist())
                known |= dict(zip(map(str, best.groups), given, strict=True))
        if known:
            shown.append(
                texts(columns.get(role, role), [known.get(name, "") for name in names], right=role == "weight")
            )
    return shown


def _of_family(curve: Curve, names: Sequence[str], prefix: str) -> list[TableColumn]:
    """Each problem's samples, its value at one sample and at the end of the curve."""
    best = _best(curve)
    place = {str(name): i for i, name in enumerate(best.groups)}

    def values(column: FloatArray) -> list[float | None]:
        known = {name: float(column[i]) for name, i in place.items() if not np.isnan(column[i])}
        return [known.get(name) for name in names]

    sizes = [int(best.sizes[place[name]]) if name in place else None for name in names]
    return [
        counts(f"{prefix}{curve.words.units}", sizes),
        numbers(f"{prefix}n = 1", values(best.by_group[:, 0]), 3),
        numbers(f"{prefix}n = {curve.n[-1]}", values(best.by_group[:, -1]), 3),
    ]


def _stuck(best: GroupBest, ends: FloatArray, sign: float) -> str:
    """How many problems gain nothing from more samples."""
    still, worst = best.by_group[:, 0] == ends, (sign * ends).min()
    never = int(np.count_nonzero(still & (sign * ends <= worst)))
    clause = f"{np.count_nonzero(still)} of {best.groups.size} problems gain nothing from more samples"
    if never and worst < (sign * ends).max():
        clause += f", {never} of them at the lowest value, {show_number(float(sign * worst), 3)}"
    return clause


def benchmarks_table(comparison: Comparison) -> Table:
    """Families by tasks: each by itself, and the mean over tasks; marked where a family is better than all others."""
    order = [row.family for row in comparison.standings] or list(comparison.families)
    others = len(order) - 1

    def column(name: str, inside: Comparison) -> TableColumn:
        rows = {row.family: row for row in inside.standings}
        digits = common_decimals([(row.value, row.low, row.high) for row in rows.values()])
        values = [rows[family].value if family in rows else None for family in order]
        marks = [
            " *" if family in rows and others and len(rows[family].better_than) == others else "" for family in order
        ]
        return numbers(name, values, digits, name, marks)

    columns = [texts("family", order), column("all tasks", comparison)]
    columns += [column(label, inside) for label, inside in comparison.strata]
    terms = comparison.terms
    note = (
        f"{terms.words.best_of(terms.headline or 1)} ({terms.metric.score}) of each task and, for all tasks, the mean "
        "over them. * better than every other family; each task has its own verdict, and all tasks together have one."
    )
    return Table(tuple(columns), "Tasks", note)


def stratum_section(curves: Sequence[Curve], headline: int) -> Table:
    """Each stratum over its own problems, at one sample, the headline budget and the end of the curve."""
    budgets = list(dict.fromkeys([1, headline, *(int(curve.n[-1]) for curve in curves)]))
    parts = sorted(((part, curve) for curve in curves for part in curve.strata), key=lambda pair: pair[0].label)
    columns = [
        texts("stratum", [part.label for part, _ in parts]),
        texts("family", [curve.family for _, curve in parts]),
        counts(f"{curves[0].words.group}s", [int(part.best.groups.size) for part, _ in parts]),
    ]
    for n in budgets:
        cells = []
        for part, _ in parts:
            points = np.array([part.best.value, part.limits.low, part.limits.high]).T
            known = {int(k): point for k, point in zip(part.best.n, points, strict=True) if not np.isnan(point[0])}
            cells.append(show_with_limits(*known[n].tolist()) if n in known else "")
        columns.append(texts(f"n = {n}", cells))
    note = (
        "Each stratum averaged over its own problems, with an interval over them alone. The curves above weight all "
        "problems equally: where strata are over- or under-represented by design, give weights."
    )
    return Table(tuple(columns), "Strata", note)


_BESIDE = {
    "all": ("pass^k", "the chance that all of n samples of a problem are right"),
    "majority": ("maj@k", "how often the answer of most of n samples is right, answers that tie sharing the choice"),
}


def sections_beside(curves: Sequence[Curve]) -> list[Table]:
    """What stands beside pass@k, at round budgets."""
    known = dict.fromkeys(curve.statistic for curve in curves)
    return [
        _beside([curve for curve in curves if curve.statistic == statistic], *_BESIDE[statistic]) for statistic in known
    ]


def _beside(curves: Sequence[Curve], title: str, what: str) -> Table:
    shown = [(curve, i) for curve in curves for i in _round(curve.n)]
    points = [(float(curve.value[i]), float(curve.low[i]), float(curve.high[i])) for curve, i in shown]
    digits = [round_to_uncertainty(*point) for point in points]
    columns = [
        texts("family", [curve.family for curve, _ in shown]),
        counts("n", [int(curve.n[i]) for curve, i in shown]),
        *(numbers(name, [point[k] for point in points], digits) for k, name in enumerate(("value", "low", "high"))),
    ]
    note = f"{title}: {what}, averaged over problems, with bands for all n at once."
    return Table(tuple(columns), title, note)


def _round(budgets: Iterable[int]) -> list[int]:
    """The places of round budgets, and the last."""
    every = list(budgets)
    return [i for i, n in enumerate(every) if n in _SHOWN or i == len(every) - 1]


def _best(curve: Curve) -> GroupBest:
    assert curve.problems is not None
    return curve.problems


def verifier_section(effects: Sequence[VerifierEffect], selection: str) -> Table:
    """The three side by side at round budgets, with the share of the possible gain that the verifier brings."""
    shown = [(effect, i) for effect in effects for i in _round(effect.n)]
    columns = [
        texts("family", [effect.family for effect, _ in shown]),
        counts("n", [int(effect.n[i]) for effect, i in shown]),
        *(
            numbers(name, [float(getattr(effect, name)[i]) for effect, i in shown], 4)
            for name in ("oracle", "verifier", "random")
        ),
        shares("share of the gain", [float(effect.gained[i]) for effect, i in shown]),
    ]
    note = (
        f"Of n samples of each problem: the best by the reported score (oracle; pass@k for 0/1 scores), the one "
        f"that {selection} picks (verifier), and one at random. The last column is the verifier's part of what an "
        "oracle gains over a random pick."
    )
    return Table(tuple(columns), "What the verifier gains", note)


def aggregate_section(comparison: TaskComparison) -> Table:
    """Of each family its mean rank and interquartile mean, the best first, at each budget that has them."""
    budgets, head = aggregate_budgets(comparison), level(comparison.overall.confidence)
    sign = 1.0 if low_is_better(comparison) else -1.0
    rows: list[tuple[OverTasks | None, OverTasks, int]] = []
    for n in budgets:
        middle = {row.family: row for row in rows_at(comparison.iqm, n)}
        ranks = {row.family: row for row in rows_at(comparison.ranks, n)}
        digits = common_decimals((row.value, row.low, row.high) for row in middle.values())
        ordered = sorted(
            middle, key=lambda name: (ranks[name].value if name in ranks else 0, sign * middle[name].value)
        )
        rows += [(ranks.get(name), middle[name], digits) for name in ordered]
    columns = [
        texts("family", [middle.family for _, middle, _ in rows]),
        *([counts("n", [middle.n for _, middle, _ in rows])] if len(budgets) > 1 else []),
        numbers("mean rank", [None if rank is None else rank.value for rank, _, _ in rows], 2),
        limits(head, [None if rank is None else (rank.low, rank.high) for rank, _, _ in rows], 2),
        numbers("interquartile mean", [middle.value for _, middle, _ in rows], [digits for *_, digits in rows]),
        limits(head, [(middle.low, middle.high) for _, middle, _ in rows], [digits for *_, digits in rows]),
    ]
    note = (
        "Mean rank (1 is best) and interquartile mean (IQM), the mean of the middle half of all scores "
        f"({scale_words(comparison)}), over {plural(len(comparison.tasks), 'task')} with equal weights, of "
        f"{aggregate_words(comparison)}. Intervals are for each number separately and resample "
        f"{comparison.overall.terms.words.units} within tasks: they are about these tasks."
    )
    return Table(tuple(columns), "Over all tasks", note)


def improvement_section(comparison: TaskComparison) -> Table:
    """Of each pair the probability of improvement, from its better side, the surer pairs first."""
    budgets = aggregate_budgets(comparison)
    rows: list[OverTasks] = []
    for n in budgets:
        for row in sorted(rows_at(comparison.improvements, n), key=lambda row: -abs(row.value - 0.5)):
            turned = OverTasks(row.families[::-1], row.n, 1 - row.value, 1 - row.high, 1 - row.low)
            rows.append(turned if row.value < 0.5 else row)
    columns = [
        texts("pair", [" over ".join(row.families) for row in rows]),
        *([counts("n", [row.n for row in rows])] if len(budgets) > 1 else []),
        numbers("probability of improvement", [row.value for row in rows], 2),
        limits(level(comparison.overall.confidence), [(row.low, row.high) for row in rows], 2),
    ]
    note = (
        f"The chance that {aggregate_words(comparison)} of the first beats that of the second, averaged over the "
        "tasks; a tie counts half."
    )
    return Table(tuple(columns), "Probability of improvement", note)


def spending_table(plan: TrialPlan) -> Table | None:
    """A row for each pair, and one for all: what is still to be paid; None where costs are not known."""
    rows = spending_rows(plan)
    if not rows:
        return None
    names, *spent = zip(*rows, strict=True)
    heads = (f"remaining cost ({plan.cost_unit})", f"at {plan.price:g} {plan.currency} each" if plan.price else "")
    columns = [texts(head, cells, right=True) for head, cells in zip(heads, spent, strict=False)]
    return Table((texts("pair", names), *columns))


def ways_table(plan: TrialPlan) -> Table | None:
    """A row for each pair and way to divide a spend into problems and samples; None where nothing is divided."""
    rows = way_rows(plan)
    if not rows:
        return None
    names, ways, *spent, shows, chances = zip(*rows, strict=True)
    columns = [
        texts(f"pair, {spend_words(plan)}", names),
        texts("problems x samples", ways, right=True),
        *(texts("costs", cells, right=True) for cells in spent),
        texts("shows", shows, right=True),
        texts("told apart", chances, right=True),
    ]
    return Table(tuple(columns))
