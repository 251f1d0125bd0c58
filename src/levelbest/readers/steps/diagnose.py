"""Is it a random sample? Each doubt is a warning with a code, a number and a sentence; none changes a number.

Beyond ``_LARGE`` trials the rank statistics of a family are taken over an evenly spread part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray
from levelbest.cautions import Caution
from levelbest.readers.steps.designs import design_cautions, paired_cautions
from levelbest.readers.steps.names import leaky_name
from levelbest.stats.checks import _diagnostics as diagnostics
from levelbest.trials import STATUSES, Trials

__all__ = ["diagnose", "with_diagnostics"]

_OK, _RUNNING = STATUSES.index("ok"), STATUSES.index("running")
_LARGE = 20_000
_FEW_VALUES = 10
_FEW_TRIALS = 10
_RANDOM = ("random", "basicvariant", "uniform")
_GRID = ("grid", "bruteforce")
_EVEN = ("qmc", "quasi", "sobol", "halton", "latin", "lhs")


def with_diagnostics(trials: Trials) -> Trials:
    """The trials with every diagnostic's warning added to those of the reading."""
    return replace(trials, cautions=(*trials.cautions, *diagnose(trials)))


def diagnose(trials: Trials) -> tuple[Caution, ...]:
    """All warnings about these trials: the table as a whole, then family by family."""
    found = list(_about_all(trials))
    rows_by_family = _rows_by_family(trials)
    for code, name in enumerate(trials.families):
        rows = rows_by_family[code]
        found += _about_status(trials, rows, name)
        found += _about_plan(trials, rows, name)
        found += _about_sampler(trials, name)
        if trials.group is not None:
            found += _about_groups(trials, rows, name)
        else:
            found += _about_scores(trials, rows, name)
        found += design_cautions(trials, rows, name)
    found += paired_cautions(trials, rows_by_family)
    return tuple(found)


def _rows_by_family(trials: Trials) -> list[npt.NDArray[np.int64]]:
    if len(trials.families) == 1:
        return [np.arange(len(trials))]
    # Small codes are sorted by counting, not by comparing.
    codes = trials.family.astype(np.uint8) if len(trials.families) <= 256 else trials.family
    ends = np.cumsum(np.bincount(trials.family, minlength=len(trials.families)))
    return np.split(np.argsort(codes, kind="stable"), ends[:-1])


def _about_all(trials: Trials) -> Iterator[Caution]:
    if trials.skipped:
        count, first = len(trials.skipped), trials.skipped[0]
        more = f", and {count - 1} more" if count > 1 else ""
        yield Caution("skipped-rows", f"left out: {first.where}: {first.why}{more}", value=float(count))
    metric = trials.metric
    if trials.reported is None:
        if not any(one.code == "selection-is-reported" for one in trials.cautions):
            message = (
                f"there is no separate reported score: curves are of {metric.selection!r}, which also picks the winner"
            )
            yield Caution("no-reported", message)
    elif metric.reported is not None and leaky_name(metric.reported):
        message = f"the reported score {metric.reported!r} is by its name the best over several looks at the test set"
        yield Caution("leaky-reported", message)
    for key, count_text in trials.facts.items():
        if key.startswith("flagged:") and int(count_text) > 0:
            message = f"{count_text} trials are marked {key[8:]!r}; those with a score before that count with it"
            yield Caution("failures", message, value=float(count_text))


def _about_plan(trials: Trials, rows: npt.NDArray[np.int64], name: str) -> Iterator[Caution]:
    """A study that stopped before its plan's end: perhaps because of what it showed."""
    left = int(trials.facts.get(f"not_run:{name}", "0"))
    if left and not (trials.status[rows] == _RUNNING).any():  # while trials run, still-running says it
        message = (
            f"{left} of {trials.facts[f'planned:{name}']} planned trials have not run: these limits hold for a sample "
            "fixed in advance, not for one that stops when the scores look good"
        )
        yield Caution("fixed-sample", message, name, float(left))


def _about_status(trials: Trials, rows: npt.NDArray[np.int64], name: str) -> Iterator[Caution]:
    if not trials.status.any() and (trials.reported is None or np.isfinite(trials.reported.sum())):
        return  # all ok, all reported
    counts = np.bincount(trials.status[rows], minlength=len(STATUSES))
    n_trials, running = int(counts.sum() - counts[_RUNNING]), int(counts[_RUNNING])
    lost = n_trials - int(counts[_OK])
    if lost:
        kinds = {kind: int(counts[STATUSES.index(kind)]) for kind in ("failed", "diverged", "pruned")}
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        yield Caution("failures", f"{lost} of {n_trials} trials have no score ({listed})", name, float(lost))
    if running:
        message = f"{running} trial{'s are' if running > 1 else ' is'} still running and not counted"
        yield Caution("still-running", message, name, float(running))
    if trials.reported is not None:
        ok = rows[trials.status[rows] == _OK]
        known = int(np.count_nonzero(np.isfinite(trials.reported[ok])))
        if known < ok.size:
            message = (
                f"the reported score {trials.metric.reported!r} is known for {known} of {ok.size} finished trials: "
                "curves of it need to be told how to treat the others"
            )
            yield Caution("missing-reported", message, name, float(known))


def _about_sampler(trials: Trials, name: str) -> Iterator[Caution]:
    sampler = trials.facts.get(f"sampler:{name}") or trials.facts.get("sampler")
    if sampler is None:
        return
    low = sampler.lower()
    if any(word in low for word in _GRID):
        yield Caution("grid", f"the source records a grid ({sampler}): the trials are not a random sample", name)
    elif any(word in low for word in _EVEN):
        message = (
            f"the source records {sampler}, which spreads its points evenly: it does not learn from earlier trials, "
            "but each point keeps away from the others, so they are not independent draws and intervals need not hold"
        )
        yield Caution("grid", message, name)
    elif not any(word in low for word in _RANDOM):
        message = f"the source records {sampler}, which learns from earlier trials: they are not exchangeable"
        yield Caution("adaptive-sampler", message, name)


def _thinned(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return rows if rows.size <= _LARGE else rows[:: -(-rows.size // _LARGE)]


def _about_scores(trials: Trials, rows: npt.NDArray[np.int64], name: str) -> Iterator[Caution]:
    part = _thinned(rows)
    part = part[trials.status[part] == _OK]
    if trials.reported is not None and part.size and _identical(trials, rows, part):
        message = "selection and reported scores are identical: the score that picked the winner is the score claimed"
        yield Caution("selection-is-reported", message, name, float(rows.size))
    if part.size < _FEW_TRIALS:
        return
    scores = trials.selection[part]
    yield from _about_order(trials, part, scores, name)
    distinct = diagnostics.distinct_values(scores)
    if distinct <= _FEW_VALUES and part.size >= 2 * _FEW_VALUES:
        message = f"{rows.size} trials have only {distinct} different scores"
        yield Caution("few-values", message, name, float(distinct))
    share = diagnostics.tied_share(scores)
    if share >= 0.5:
        yield Caution("ties", f"{share:.0%} of the trials share their score with another", name, share)
    best = diagnostics.outlying_best(scores, trials.metric.direction)
    if best is not None and best.distance > 3.0 and best.gap > 1.0:
        message = (
            f"the best score, {best.score:.6g}, lies {best.distance:.1f} interquartile ranges past the better quartile"
            f" and {best.gap:.1f} past the second best: check that trial"
        )
        yield Caution("outlier", message, name, best.distance)
    if trials.reported is not None:
        yield from _about_reported(trials, part, name)


def _identical(trials: Trials, rows: npt.NDArray[np.int64], part: npt.NDArray[np.int64]) -> bool:
    assert trials.reported is not None
    if not np.array_equal(trials.selection[part], trials.reported[part]):
        return False
    ok = rows[trials.status[rows] == _OK]
    return np.array_equal(trials.selection[ok], trials.reported[ok])


def _about_order(trials: Trials, part: npt.NDArray[np.int64], scores: FloatArray, name: str) -> Iterator[Caution]:
    order = None if trials.order is None else trials.order[part].astype(np.float64)
    rho, p_value = diagnostics.trend(scores, order, trials.metric.direction)
    # One exchangeable family in a hundred is flagged by chance.
    if abs(rho) > 0.999:
        yield Caution("trend", "the rows are sorted by their score: the order of the trials is lost", name, rho)
    elif p_value < 0.01 and abs(rho) >= 0.1:
        message = (
            f"scores get {'better' if rho > 0 else 'worse'} with the order of the trials (rank correlation {rho:.2f}): "
            "they are not exchangeable"
        )
        yield Caution("trend", message, name, rho)


def _about_reported(trials: Trials, part: npt.NDArray[np.int64], name: str) -> Iterator[Caution]:
    assert trials.reported is not None
    both = part[np.isfinite(trials.reported[part])]
    if both.size < _FEW_TRIALS:
        return
    rho, p_value = diagnostics.rank_correlation(trials.selection[both], trials.reported[both])
    if p_value > 0.99 and rho < -0.3:
        message = (
            f"trials that are good by the selection score report badly (Spearman {rho:.2f}): picking by it picks the "
            "wrong way round; check --direction"
        )
        yield Caution("selection-uncorrelated", message, name, rho)
    elif p_value > 0.05 or rho < 0.1:
        message = (
            f"the selection score hardly tells which trial reports well (Spearman {rho:.2f}): picking by it is close "
            "to picking at random"
        )
        yield Caution("selection-uncorrelated", message, name, rho)


def _about_groups(trials: Trials, rows: npt.NDArray[np.int64], name: str) -> Iterator[Caution]:
    assert trials.group is not None
    rows = rows[trials.status[rows] != _RUNNING]
    group = trials.group[rows]
    sizes = np.bincount(group, minlength=len(trials.groups))
    sizes = sizes[sizes > 0]
    if sizes.size and sizes.min() < sizes.max():
        message = (
            f"problems have between {sizes.min()} and {sizes.max()} samples: k ends at the smallest for all of them"
        )
        yield Caution("unequal-groups", message, name, float(sizes.min()))
    scores = (trials.selection if trials.reported is None else trials.reported)[rows]
    finite = np.isfinite(scores)
    if not finite.any() or not set(np.unique(scores[finite])) <= {0.0, 1.0} or sizes.max() < 2:
        return
    order = rows if trials.order is None else trials.order[rows]
    won = np.where(finite, scores, 0.0) == (1.0 if trials.metric.direction == "max" else 0.0)
    stopped, with_success = diagnostics.stops_at_success(won, group, order)
    # Were samples exchangeable, the only success of s samples would be the last with probability 1/s.
    stop_sizes = np.bincount(group, minlength=len(trials.groups))[np.unique(group[won])]
    by_chance = float(-np.log(stop_sizes).sum()) if stopped == with_success else 0.0
    if with_success and stopped == with_success and by_chance < np.log(1e-4):
        message = (
            f"in all {with_success} problems with a success it is the last sample: sampling stopped there, and pass@k "
            "from such samples is biased"
        )
        yield Caution("stops-at-success", message, name, float(with_success))
