"""Checks whether trials are a random sample; each warning has a code and a number, and none changes a result.

Beyond ``_RANKED_UP_TO`` trials the rank statistics of a family are computed on an evenly spaced subset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from levelbest._check import FloatArray, IntArray, sign_of
from levelbest.cautions import Caution
from levelbest.readers.steps.designs import FamilySettings, paired_cautions, repeated_rows
from levelbest.readers.steps.names import leaky_name
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import OK, RUNNING, STATUSES, Trials

__all__ = ["INDEPENDENT", "diagnose", "with_diagnostics"]

INDEPENDENT = "independent"
"""The fact that the caller says so: trials are then no search that learns, however their scores climb."""

_RANKED_UP_TO = 20_000
_FEW_VALUES = 10
_EXPLODED = 1000.0
"""Interquartile ranges past the worse quartile; the Cauchy distribution gets there once in 6,000 draws."""
_FEW_TRIALS = 10
_STRONG = 0.35
"""NOTE: a rank correlation of score and order from which trials are taken for one search that learns, if chance gives
it in less than 1 of 10,000 families (p_positive). `benchmarks/climbing.py`: of 10,000 random searches of 20, 50 and 100
trials 3, 1 and 0 are refused; searches by Parzen estimators are caught in .12 to .55 of cases at 20 trials, .32 to 1 at
50 and .23 to 1 at 100 (.02 to .98 with a threshold of .5), fewer where noise hides what they learn."""
_BY_CHANCE, _BY_DEFAULT = 1e-4, 5e-3
"""NOTE: how rarely chance must give such a trend; where the tool's sampler learns unless told otherwise (Optuna's), the
level at which any trend is said: of 10,000 random searches run by such a tool 50 are refused, as a question."""
_MOSTLY_STAYS = 0.5
_FEW_FAMILIES = 16
_RANDOM = ("random", "basicvariant", "uniform")
_GRID = ("grid", "bruteforce")
_EVEN = ("qmc", "quasi", "sobol", "halton", "hammersley", "latin", "lhs")


def with_diagnostics(trials: Trials) -> Trials:
    """The trials with every diagnostic's warning added to those of the reading.

    Where a family has several seeds of its configurations, with the configuration of each trial as well, of every
    family: n then counts configurations in all of them.
    """
    families = _families(trials)
    trials = replace(trials, cautions=(*trials.cautions, *_all_cautions(trials, families)))
    if not any(caution.code == "nested-seeds" for caution in trials.cautions):
        return trials
    setting = np.zeros(len(trials), dtype=np.int64)
    first = 0
    for family in families:
        codes = family.codes if family.are_configurations else np.arange(family.rows.size)
        setting[family.rows] = first + codes
        first += int(codes.max(initial=-1)) + 1
    return replace(trials, setting=setting)


def diagnose(trials: Trials) -> tuple[Caution, ...]:
    """All warnings about these trials: the table as a whole, then family by family."""
    return tuple(_all_cautions(trials, _families(trials)))


def _all_cautions(trials: Trials, families: Sequence[FamilySettings]) -> Iterator[Caution]:
    yield from _about_all(trials)
    whole = not trials.status.any() and (trials.reported is None or bool(np.isfinite(trials.reported.sum())))
    for family in families:
        rows, name = family.rows, family.name
        if not whole:
            yield from _about_status(trials, rows, name)
        yield from _about_plan(trials, rows, name)
        yield from _about_sampler(trials, name)
        designed = list(family.cautions())
        if trials.group is not None:
            yield from _about_groups(trials, rows, name)
        else:
            nested = any(caution.code == "nested-seeds" for caution in designed)
            yield from _about_scores(trials, rows, name, family.codes if nested else None, timed=not family.of_splits)
        yield from designed
    yield from paired_cautions(trials, [family.rows for family in families])


def _families(trials: Trials) -> list[FamilySettings]:
    if len(trials.families) == 1:
        return [FamilySettings(trials, np.arange(len(trials)), trials.families[0])]
    # Small codes are sorted by counting, not by comparing; few families are each looked for in less.
    codes = trials.family.astype(np.uint8) if len(trials.families) <= 256 else trials.family
    if len(trials.families) <= _FEW_FAMILIES:
        each = [np.flatnonzero(codes == code) for code in range(len(trials.families))]
    else:
        ends = np.cumsum(np.bincount(trials.family, minlength=len(trials.families)))
        each = np.split(np.argsort(codes, kind="stable"), ends[:-1])
    return [FamilySettings(trials, rows, name) for name, rows in zip(trials.families, each, strict=True)]


_NO_TRIALS = ("above the header", "every cell is empty", "it is a summary of the rows above")
"""Reasons of skipped lines that are clearly not trials; lines that may have been trials are listed first."""


def _about_all(trials: Trials) -> Iterator[Caution]:
    if trials.skipped:
        lost = [row for row in trials.skipped if not row.why.startswith(_NO_TRIALS)]
        count, first = len(trials.skipped), (lost or trials.skipped)[0]
        yield Caution.of("skipped-rows", None, count, where=first.where, why=first.why, count=count)
    metric = trials.metric
    if trials.reported is None:
        if not any(caution.code == "selection-is-reported" for caution in trials.cautions):
            yield Caution.of("no-reported", selection=metric.selection)
    elif metric.reported is not None and leaky_name(metric.reported):
        yield Caution.of("leaky-reported", reported=metric.reported)
    for key, count_text in trials.facts.items():
        if key.startswith("flagged:") and int(count_text) > 0:
            marked = int(count_text)
            yield Caution.of("failures", None, marked, kind="flagged", count=marked, mark=key.removeprefix("flagged:"))


def _about_plan(trials: Trials, rows: IntArray, name: str) -> Iterator[Caution]:
    """A study that stopped before its plan's end: perhaps because of what it showed."""
    left = int(trials.facts.get(f"not_run:{name}", "0"))
    first, planned = (int(trials.facts.get(f"{when}:{name}", "0")) for when in ("planned_first", "planned"))
    if planned > first:
        yield Caution.of("fixed-sample", name, planned - first, kind="grown", first=first, planned=planned)
    if left and not (trials.status[rows] == RUNNING).any():  # while trials run, still-running says it
        yield Caution.of("fixed-sample", name, left, kind="stopped", left=left, planned=planned)


def _about_status(trials: Trials, rows: IntArray, name: str) -> Iterator[Caution]:
    counts = np.bincount(trials.status[rows], minlength=len(STATUSES))
    n_trials, running = int(counts.sum() - counts[RUNNING]), int(counts[RUNNING])
    lost = n_trials - int(counts[OK])
    if lost:
        kinds = {f"n_{kind}": int(counts[STATUSES.index(kind)]) for kind in ("failed", "diverged", "pruned")}
        yield Caution.of("failures", name, lost, kind="no-score", lost=lost, n_trials=n_trials, **kinds)
    if running:
        yield Caution.of("still-running", name, running, n_running=running, unit="trial")
    if trials.reported is not None and "judge" not in trials.facts:
        ok = rows[trials.status[rows] == OK]
        known = int(np.count_nonzero(np.isfinite(trials.reported[ok])))
        if known < ok.size:
            reported = trials.metric.reported
            yield Caution.of("missing-reported", name, known, reported=reported, known=known, finished=int(ok.size))


def _about_sampler(trials: Trials, name: str) -> Iterator[Caution]:
    """What a sampler's name says of how it draws; a reader writes ``(adaptive)`` after one that would mislead."""
    sampler = trials.facts.get(f"sampler:{name}") or trials.facts.get("sampler")
    if sampler is None:
        return
    kinds = {"adaptive": ("(adaptive)",), "recorded": _GRID, "even": _EVEN, "random": _RANDOM}
    kind = next((kind for kind, words in kinds.items() if any(word in sampler.lower() for word in words)), "adaptive")
    if kind in ("recorded", "even"):
        yield Caution.of("grid", name, kind=kind, sampler=sampler)
    elif kind == "adaptive":
        yield Caution.of("adaptive-sampler", name, sampler=sampler)


def _about_scores(
    trials: Trials, rows: IntArray, name: str, settings: IntArray | None, *, timed: bool
) -> Iterator[Caution]:
    """Of one family; ``settings`` are the configurations of its trials, where these have several runs; ``timed``:
    rows may be in the order of time."""
    part = rows[:: max(1, -(-rows.size // _RANKED_UP_TO))]
    part = part[trials.status[part] == OK]
    if trials.reported is not None and part.size and _identical(trials, rows, part):
        yield Caution.of("selection-is-reported", name, rows.size, kind="identical")
    if part.size < _FEW_TRIALS:
        return
    scores = trials.selection[part]
    if settings is None and timed:
        yield from _about_order(trials, part, scores, name)
    elif settings is not None:
        yield from _about_order(trials, *_by_setting(trials, rows, settings), name)
    distinct = diagnostics.distinct_values(scores)
    if distinct <= _FEW_VALUES and part.size >= 2 * _FEW_VALUES:
        yield Caution.of("few-values", name, distinct, distinct=distinct, n_trials=int(rows.size))
    share = diagnostics.tied_share(scores)
    if copies := repeated_rows(trials, rows):
        yield Caution.of("repeated-configurations", name, copies, kind="rows", copies=copies, n_rows=int(rows.size))
    elif share >= 0.5:
        yield Caution.of("ties", name, share, share=share)
    best = diagnostics.outlying_best(scores, trials.metric.direction)
    if best is not None and best.distance > 3.0 and best.gap > 1.0:
        yield Caution.of("outlier", name, best.distance, score=best.score, distance=best.distance, gap=best.gap)
    yield from _about_exploded(trials.metric.direction, scores, name)
    if trials.reported is not None:
        yield from _about_reported(trials, part, name)


def _about_exploded(direction: str, scores: FloatArray, name: str) -> Iterator[Caution]:
    """Scores so far on the worse side (a loss of 1e9 among .07) that they came of a run gone wrong."""
    turned = sign_of(direction) * scores
    low, middle, high = np.quantile(turned, [0.25, 0.5, 0.75])
    spread = max(float(high - low), 1e-3 * abs(float(middle)))
    far = (low - turned) / spread if spread > 0 else np.zeros(turned.size)
    count = int((far > _EXPLODED).sum())
    if count:
        worst = int(np.argmax(far))
        distance = float(far[worst])
        yield Caution.of(
            "outlier", name, distance, kind="worse", score=float(scores[worst]), distance=distance, count=count
        )


def _identical(trials: Trials, rows: IntArray, part: IntArray) -> bool:
    assert trials.reported is not None
    if not np.array_equal(trials.selection[part], trials.reported[part]):
        return False
    ok = rows[trials.status[rows] == OK]
    return np.array_equal(trials.selection[ok], trials.reported[ok])


def _by_setting(trials: Trials, rows: IntArray, settings: IntArray) -> tuple[IntArray, FloatArray]:
    """The first run of each configuration, and its mean score: its runs are alike whatever the order."""
    ok = trials.status[rows] == OK
    rows, settings = rows[ok], settings[ok]
    _, first, inverse = np.unique(settings, return_index=True, return_inverse=True)
    means = np.bincount(inverse, trials.selection[rows]) / np.bincount(inverse)
    by_time = np.argsort(first)
    return rows[first[by_time]], means[by_time]


def _about_order(trials: Trials, part: IntArray, scores: FloatArray, name: str) -> Iterator[Caution]:
    if part.size < _FEW_TRIALS:
        return
    order = None if trials.order is None else trials.order[part].astype(np.float64)
    rho = diagnostics.trend(scores, order, trials.metric.direction)
    one_search = trials.search is None and trials.task is None and INDEPENDENT not in trials.facts
    by_time = scores if order is None else scores[np.argsort(order, kind="stable")]
    if one_search and _is_incumbent(sign_of(trials.metric.direction) * by_time):
        yield Caution.of("adaptive-sampler", name, rho, kind="incumbent")
        return
    # One exchangeable family in a hundred is flagged by chance.
    if abs(rho) > 0.999:
        yield Caution.of("trend", name, rho, kind="sorted")
    elif abs(rho) >= 0.1 and diagnostics.p_positive(abs(rho), scores.size) < 0.005:
        yield Caution.of("trend", name, rho, rho=rho, better=rho > 0)
        level = _BY_DEFAULT if f"learns:{name}" in trials.facts else _BY_CHANCE
        if one_search and _climbs(rho, scores.size, level) and not _is_ordered(trials, part):
            yield Caution.of("adaptive-sampler", name, rho, kind="climbs")


def _is_incumbent(turned: FloatArray) -> bool:
    """Whether scores in their order never fall and mostly stay: the best so far of one search, not its trials."""
    steps = np.diff(turned)
    rises = int(np.count_nonzero(steps > 0))
    return bool((steps >= 0).all()) and 2 <= rises <= _MOSTLY_STAYS * steps.size


def _climbs(rho: float, n_trials: int, level: float = _BY_CHANCE) -> bool:
    """Whether later trials are so much better that they must have learned: by chance once in 10,000 families."""
    return rho >= _STRONG and diagnostics.p_positive(rho, n_trials) < level


def _is_ordered(trials: Trials, part: IntArray) -> bool:
    """Whether a table is sorted by a setting, the cost or the reported score: its rows are in no order of time."""
    if trials.order is not None:
        return False
    columns = [*trials.configuration.values(), *(c for c in (trials.reported, trials.cost) if c is not None)]
    for column in columns:
        values = column[part]
        if values.dtype.kind in "iuf" and np.isfinite(values).all():
            steps = np.diff(values)
            if steps.any() and ((steps >= 0).all() or (steps <= 0).all()):
                return True
    return False


def _about_reported(trials: Trials, part: IntArray, name: str) -> Iterator[Caution]:
    assert trials.reported is not None
    both = part[np.isfinite(trials.reported[part])]
    if both.size < _FEW_TRIALS:
        return
    rho = diagnostics.rank_correlation(trials.selection[both], trials.reported[both])
    if rho < -0.3 and diagnostics.p_positive(rho, both.size) > 0.99:
        yield Caution.of("selection-uncorrelated", name, rho, kind="reversed", rho=rho)
    elif rho < 0.1 or diagnostics.p_positive(rho, both.size) > 0.05:
        yield Caution.of("selection-uncorrelated", name, rho, rho=rho)


def _about_groups(trials: Trials, rows: IntArray, name: str) -> Iterator[Caution]:
    assert trials.group is not None
    rows = rows[trials.status[rows] != RUNNING]
    group = trials.group[rows]
    sizes = np.bincount(group, minlength=len(trials.groups))
    sizes = sizes[sizes > 0]
    if sizes.size and sizes.min() < sizes.max():
        smallest, largest = int(sizes.min()), int(sizes.max())
        yield Caution.of("unequal-groups", name, smallest, smallest=smallest, largest=largest)
    scores = (trials.selection if trials.reported is None else trials.reported)[rows]
    finite = np.isfinite(scores)
    if not finite.any() or not set(np.unique(scores[finite])) <= {0.0, 1.0} or sizes.max() < 2:
        return
    order = rows if trials.order is None else trials.order[rows]
    won = scores == (1.0 if trials.metric.direction == "max" else 0.0)
    stopped = diagnostics.stops_at_success(won, group, order)
    if stopped is not None and stopped.log_chance < np.log(1e-4):
        kind = "" if stopped.batch == 1 else "batches"
        facts = {} if stopped.batch == 1 else {"batch": stopped.batch}
        yield Caution.of("stops-at-success", name, stopped.groups, kind=kind, problems=stopped.groups, **facts)
