"""Converts the input of public functions to trials; checks which families can be compared, and what was registered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from numbers import Real
from typing import Any, TypeGuard, overload

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._read import limit_of
from levelbest.cautions import Caution
from levelbest.designs._protocol import Request, Table
from levelbest.errors import DataError, InputError, called, named
from levelbest.trials import OK, Trials, one_table
from levelbest.trials.problems import ProblemTable

_PIECE = 1 << 16
PairPlaces = tuple[tuple[int, int], ...]


def as_table(source: object, reading: Mapping[str, object] | None = None) -> Table:
    """As `as_trials`, but for samples of problems that are read in parts, which stay where they are."""
    return source if not reading and isinstance(source, ProblemTable) else as_trials(source, reading)


def as_trials(source: object, reading: Mapping[str, object] | None = None) -> Trials:
    """Trials from trials, several tables of them, a list of scores, or what `read_trials` reads.

    ``reading`` are the arguments of `read_trials`.
    """
    options: dict[str, Any] = dict(reading or {})
    if isinstance(source, (list, tuple)) and not source:
        raise InputError("there is nothing to read: the list is empty")
    if isinstance(source, ProblemTable):
        raise InputError("samples that are read in parts have curves and comparisons; read them whole for the rest")
    if isinstance(source, Trials) or _are_trials(source):
        if options:
            raise InputError(f"these trials have been read already; leave out {', '.join(map(named, options))}")
        return source if isinstance(source, Trials) else one_table(source)
    if isinstance(source, np.ndarray) or _all_are(source, Real):
        return _from_scores(np.asarray(source), options)
    from levelbest.readers import read_trials

    return read_trials(source, **options)


def _are_trials(source: object) -> TypeGuard[Sequence[Trials]]:
    return _all_are(source, Trials)


def _all_are(source: object, kind: type) -> bool:
    return isinstance(source, Sequence) and not isinstance(source, str) and all(isinstance(x, kind) for x in source)


def _from_scores(scores: npt.ArrayLike, reading: dict[str, Any]) -> Trials:
    """One score per trial; the direction cannot be known."""
    if not reading.get("direction"):
        raise InputError(
            f"a list of scores needs {named('direction')} 'max' (higher is better) or 'min' (lower is better)"
        )
    known = ("direction", "family", "reported", "cost", "group", "search", "bounds")
    for name in reading:
        if name not in known:
            raise InputError(f"a list of scores has no columns, so {named(name)} cannot name one; give a table")
    return Trials.from_arrays(scores, **reading)


@overload
def with_scores(trials: Trials, baseline: str | None = None) -> Trials: ...
@overload
def with_scores(trials: Table, baseline: str | None = None) -> Table: ...
def with_scores(trials: Table, baseline: str | None = None) -> Table:
    """The families of which anything can be estimated, with a warning for each that is left out.

    Where there is none, or the baseline has no score, all are kept: what comes next says so.
    """
    if not isinstance(trials, Trials):
        return trials
    lost = {
        name: Caution.of("failures", name, len(trials[name]), kind="left-out", n_trials=len(trials[name]))
        for name, scored in zip(trials.families, _scored(trials), strict=True)
        if not scored
    }
    return _without(trials, lost, 1, baseline)


def _scored(trials: Trials) -> list[bool]:
    """Whether each family has a score; of ten million trials the first few say so of all families, as a rule."""
    scored = np.zeros(len(trials.families), dtype=bool)
    for start in range(0, len(trials), _PIECE):
        piece = slice(start, start + _PIECE)
        scored[trials.family[piece][trials.status[piece] == OK]] = True
        if scored.all():
            break
    return scored.tolist()


def comparable(trials: Table, baseline: str | None = None) -> Table:
    """The families that have a score and more than one trial, with a warning for each that is left out of a comparison.

    Where fewer than two would be left, or the baseline is one of the others, all are kept: verdicts say why not.
    """
    everything, trials = trials, with_scores(trials, baseline)
    if not isinstance(trials, Trials):
        return trials
    refuse_leaderboard(everything)
    if len(trials.families) < 2 <= len(everything.families):
        return everything
    alone = [name for name in trials.families if trials[name].n_trials < 2]
    lost = {name: _alone(trials[name]) for name in alone}
    return _without(trials, lost, 2, baseline)


def _alone(family: Trials) -> Caution:
    """That a family has one trial, with its score: as a baseline of one run."""
    scores = family.selection if family.reported is None else family.reported
    facts = {"column": family.metric.score, "score": float(scores[int(np.argmax(family.status == OK))])}
    return Caution.of("beyond-trials", family.families[0], 1, kind="one-trial", **facts)


def refuse_leaderboard(trials: Table) -> None:
    """Raise where a table has one score of each family and nothing else, as a leaderboard does."""
    if not isinstance(trials, Trials) or not trials.source or not 2 <= len(trials) == len(trials.families):
        return
    known = (trials.group, trials.search, trials.seed, trials.sample, trials.path, trials.order)
    if trials.configuration or any(column is not None for column in known):
        return
    raise DataError(
        f"each of the {len(trials)} families has one score, and the spread of its runs is not known: no difference can "
        f"be judged. Give every run; or add the standard deviation and the number of runs (columns mean, std and n), "
        f"and {called('claim')} compares the means"
    )


def without_one_search(trials: Trials, baseline: str | None = None) -> Trials:
    """The families whose trials are a sample, with the warning of each that is one search that learns.

    What one such search says of another budget is nothing: where all families are one, that is all there is to say.
    """
    trials.refuse_tasks()
    if trials.search is not None or trials.group is not None:
        return trials
    adaptive = {c.family: c for c in trials.cautions if c.code == "adaptive-sampler" and c.family is not None}
    kept = _without(trials, adaptive, 1, baseline)
    if adaptive and kept is trials:
        raise DataError(
            f"{', '.join(adaptive)}: one search that learns from its own trials is one observation, which says "
            f"nothing about other budgets; repeat the whole search, at least 3 times, and name the column that "
            f"distinguishes the searches ({named('search')}; 'none' there if the trials are independent)"
        )
    return kept


def _without(trials: Trials, lost: Mapping[str, Caution], least: int, baseline: str | None) -> Trials:
    """The other families, with what is said of those lost; all where fewer than ``least`` or no baseline is left."""
    kept = [name for name in trials.families if name not in lost]
    if not lost or len(kept) < least or baseline in lost:
        return trials
    left = trials[kept]
    return replace(left, cautions=(*left.cautions, *lost.values()))


def is_judged(trials: object) -> bool:
    """Whether a judge's scores are held against the labels of some samples."""
    return isinstance(trials, Trials) and trials.facts.get("judge") == "yes"


def refuse_judge(trials: object, verb: str, remedy: str = "") -> None:
    """Raise where a judge's scores would be taken for the selection score, and samples without a label for missing."""
    if is_judged(trials):
        remedy = remedy or f"compare them ({called('compare')}), or take the label as the score ({named('selection')})"
        raise InputError(f"{verb} does not take a judge ({named('judge')}): {remedy}")


def pairs_of(families: Sequence[str], baseline: str | None) -> PairPlaces:
    """Places of the families compared: every one with the baseline, or all with all."""
    if baseline is not None and baseline not in families:
        near = _check.nearest_first(baseline, families)
        raise InputError(f"there is no family {baseline!r} to use as the baseline; {near}")
    if len(families) < 2:
        only = f" and there is only {families[0]!r}" if families else " and there is none"
        raise InputError(
            f"a comparison needs at least two families,{only}; name the column that distinguishes them with "
            f"{named('family')}, or several files"
        )
    if baseline is None:
        _refuse_many(len(families))
        return tuple(combinations(range(len(families)), 2))
    at = families.index(baseline)
    return tuple((i, at) for i in range(len(families)) if i != at)


def _refuse_many(n_families: int) -> None:
    """Every pair is corrected for all others: their number is what a comparison costs, in time and memory.

    NOTE: comparing only those that look best, at the level of so few, would be wrong: they were chosen by their scores.
    """
    pairs, most = math.comb(n_families, 2), limit_of("PAIRS")
    if pairs > most:
        raise InputError(
            f"{n_families:,} families make {pairs:,} pairs, and at most {most:,} are compared at once; choose "
            f"families by something known before their scores ({named('where')}), compare each with one of them "
            f"({named('baseline')}), or set LEVELBEST_MAX_PAIRS"
        )


def is_registered(trials: Table, request: Request) -> bool:
    """Whether the budget tested alone was registered, for these trials and this question."""
    registered = trials.registered if isinstance(trials, Trials) else None
    return registered is not None and registered.n == request.named and not departures(trials, request)


def departures(trials: Table, request: Request) -> tuple[Caution, ...]:
    """How the comparison departs from what was registered, if the registered budget is used; otherwise empty.

    A budget should be chosen before the results are seen ([B] section 3.3). If trials, families or pairs are then left
    out, failures dropped or another statistic used, the budget does not count as registered, only as tested alone.
    """
    registered = trials.registered if isinstance(trials, Trials) else None
    if not isinstance(trials, Trials) or registered is None or registered.n != request.named:
        return ()
    noticed, n, settings = [], registered.n, request.settings
    for name in trials.families:
        run, here = registered.trials[name][0], trials[name]
        if len(here) < run:
            left = run - len(here)
            noticed.append(Caution.of("registered", name, left, kind="trials", left=left, run=run, n=n))
        if settings.failed == "drop" and here.n_failed:
            noticed.append(Caution.of("registered", name, here.n_failed, kind="failed", n_failed=here.n_failed, n=n))
        lost = 0 if here.reported is None else int(np.isnan(here.reported[here.status == OK]).sum())
        if lost and settings.missing != "refuse":
            noticed.append(Caution.of("registered", name, lost, kind="missing", lost=lost, n=n))
    # A family without a score, or with a single trial, is left out by no choice of the reader's.
    left_out = [
        name
        for name, (run, scored) in registered.trials.items()
        if name not in trials.families and scored > 0 and run > 1
    ]
    if left_out:
        noticed.append(Caution.of("registered", None, len(left_out), kind="families", families=left_out, n=n))
    if request.baseline is not None and len(trials.families) > 2:
        noticed.append(Caution.of("registered", kind="baseline", baseline=request.baseline, n=n))
    if request.statistic != "mean":
        noticed.append(Caution.of("registered", kind="statistic", statistic=request.statistic, n=n))
    return tuple(noticed)
