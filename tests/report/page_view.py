"""Views made by hand: names that try to break out, and many families."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from levelbest.cautions import Caution
from levelbest.report.view import Line, ShownFamily, View
from levelbest.results import TRIALS, ComparisonTerms, Effect, PairComparison, Verdict
from levelbest.trials import Metric, Settings

HOSTILE = "<script>window.hacked=1</script>\"'&%$#_{}~^\\ עברית 🙂"
PLAIN = "plain"


def line(family, statistic, axis, values, low, high, x=None):
    x = tuple(float(i + 1) for i in range(len(values))) if x is None else x
    return Line(family, statistic, axis, x, values, low, high, "studentised", True)


def compared(both, statistic, axis, x, difference, low, high, verdicts):
    """Two families over the budgets ``x``."""
    metric = Metric("max", "dev_acc", "test_acc", (0.0, 1.0), "seconds", "s")
    terms = ComparisonTerms("trials", TRIALS, metric, Settings(), 1, statistic, axis, headline=2)
    columns = [np.array(column, dtype=float) for column in (x, difference, low, high)]
    nowhere = [math.nan] * 4
    return PairComparison(
        both, terms, *columns, np.full(len(x), math.nan), tuple(verdicts), Effect(2, *nowhere, None, False, False),
        math.nan, "limits", "band", False, (4, 4), (0, 0),
    )  # fmt: skip


def make_view(reported="test_acc"):
    up, flat, inf, nan = (0.5, 0.6, 0.7, 0.75), (0.6, 0.62, 0.63, 0.64), math.inf, math.nan
    lines = []
    for statistic in ("mean", "median"):
        lines.append(line(HOSTILE, statistic, "trials", up, (0.4, 0.5, 0.6, 0.65), (0.6, 0.7, 0.8, inf)))
        lines.append(line(PLAIN, statistic, "trials", flat, (0.55, 0.6, 0.61, nan), (0.65, 0.64, 0.65, nan)))
    costs = (3600.0, 7200.0, 14400.0, 28800.0)
    lines.append(line(HOSTILE, "mean", "cost", up, (0.4, 0.5, 0.6, 0.65), (0.6, 0.7, 0.8, 0.85), costs))
    lines.append(line(PLAIN, "mean", "cost", flat, (0.55, 0.6, 0.61, 0.62), (0.65, 0.64, 0.65, 0.66), costs))
    ranges = (Verdict(1, 1, PLAIN), Verdict(2, 2, "undecided"), Verdict(3, 4, HOSTILE))
    pairs = tuple(
        compared(
            (HOSTILE, PLAIN), statistic, "trials", (1, 2, 3, 4), (-0.1, -0.02, 0.07, 0.11),
            (-0.2, -0.1, 0.01, 0.05), (-0.01, 0.1, 0.2, 0.2), ranges,
        )
        for statistic in ("mean", "median")
    )  # fmt: skip
    families = tuple(
        ShownFamily(
            name, 4, failed, 0, 0.6, 0.1, 0.6, 0.75, 0.5, 3600.0, 14400.0, (0.75, 0.65, 0.85),
            {"lr": "0.1"}, {HOSTILE: HOSTILE},
        )
        for name, failed in ((HOSTILE, 1), (PLAIN, 0))
    )  # fmt: skip
    table = {
        "family": (HOSTILE, PLAIN, PLAIN, HOSTILE),
        "dev_acc": (0.5, 0.9, 0.1, math.nan),
        "test_acc": (0.4, 0.8, 0.2, math.nan),
        HOSTILE: ("=HYPERLINK(1)", None, "b", HOSTILE),
    }
    return View(
        title=f"Report {HOSTILE}", verdict=(f"{HOSTILE} is better than {PLAIN} from 3 to 4 trials.",), details=(),
        selection="dev_acc", reported=reported, direction="max", bounds=(0.0, 1.0), cost_unit="s", confidence=0.95,
        failed="worst", seed=0, headline=2, families=families, lines=tuple(lines), pairs=pairs, table=table, n_rows=4,
        cautions=(Caution.of("failures", HOSTILE, 1, n_failed=1, of=4, failed="worst", unit="trial"),),
        methods=f"We ran {HOSTILE}.",
        references=("Someone. Something. 2018.",), published={"SOTA <b>": 0.7}, provenance={"seed": "0"},
    )  # fmt: skip


def large_view(count, n_trials=60):
    """``count`` families with curves of two statistics and over cost, every pair with verdicts of its own, and all
    trials: about what a report of so many families has."""
    rng = np.random.default_rng(5)
    view, names = make_view(), [f"model-{i:02d}" for i in range(count)]
    budgets = tuple(float(n) for n in range(1, n_trials + 1))
    costs = tuple(np.geomspace(0.93, 74.6, 45).tolist())

    def curve(name, statistic, axis, x):
        rise = np.sort(rng.uniform(0.6, 0.98, len(x)))
        half = rng.uniform(0.02, 0.1, len(x))
        return line(name, statistic, axis, tuple(rise), tuple(rise - half), tuple(rise + half), x)

    def any_pair(both, statistic, axis, x):
        difference = np.cumsum(rng.normal(0, 0.01, len(x)))
        first, second = sorted(rng.choice(np.array(x[1:-1]), 2, replace=False).tolist())
        step = 1.0 if axis == "trials" else 0.0
        parts = (
            Verdict(x[0], first, "undecided"),
            Verdict(first + step, second, both[0]),
            Verdict(second + step, x[-1], "not comparable", "beyond-half"),
        )
        return compared(both, statistic, axis, x, difference, difference - 0.2, difference + 0.2, parts)

    kinds = [("mean", "trials", budgets), ("median", "trials", budgets), ("mean", "cost", costs)]
    families = [
        replace(view.families[1], name=name, headline=(0.9 - i / 1000, 0.85, 0.95)) for i, name in enumerate(names)
    ]
    rows = count * n_trials
    table = {
        "family": tuple(name for name in names for _ in range(n_trials)),
        **{key: tuple(rng.uniform(0, 1, rows).round(4).tolist()) for key in ("dev_acc", "test_acc", "gpu_hours", "lr")},
        "layers": tuple(rng.integers(1, 9, rows).tolist()),
    }
    sentence = "The data cannot tell {} from {} with 1 to 30 trials; from 31 on, 60 trials are too few to tell. " * 3
    return replace(
        view,
        families=tuple(families),
        lines=tuple(curve(name, *kind) for kind in kinds for name in names),
        pairs=tuple(any_pair(both, *kind) for kind in kinds for both in combinations(names, 2)),
        details=tuple(sentence.format(*both, *both, *both) for both in combinations(names, 2)),
        headline=5,
        table=table,
        n_rows=rows,
        published={},
    )


def many_families(count):
    """``model 0`` to ``model k``, each better than those before it by a hundredth, certified at 2 trials and more."""
    view, x = make_view(), (1.0, 2.0, 3.0, 4.0)
    names = [f"model {i}" for i in range(count)]

    def values(i, shift=0.0):
        return tuple(0.5 + 0.01 * i + 0.02 * n + shift for n in x)

    lines = [line(name, "mean", "trials", values(i), values(i, -0.01), values(i, 0.01)) for i, name in enumerate(names)]
    pairs = []
    for i, j in combinations(range(count), 2):
        lead = 0.01 * (j - i)
        ranges = (Verdict(1, 1, "undecided"), Verdict(2, 4, names[j]))
        limits = (-2 * lead,) * 4, (lead, *(-lead / 2,) * 3)
        pairs.append(compared((names[i], names[j]), "mean", "trials", x, (-lead,) * 4, *limits, ranges))
    families = [
        replace(view.families[1], name=name, headline=(values(i)[1], values(i, -0.01)[1], values(i, 0.01)[1]))
        for i, name in enumerate(names)
    ]
    verdict = (f"{names[-1]} is better than all others.",)
    return replace(
        view, families=tuple(families), lines=tuple(lines), pairs=tuple(pairs), verdict=verdict, table={}, published={}
    )
