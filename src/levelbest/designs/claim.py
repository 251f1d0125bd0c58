"""Judges a claim: from summary numbers, or a best score after many attempts against runs of a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from levelbest import _check
from levelbest.designs._input import as_trials
from levelbest.errors import Ambiguous, DataError, InputError, called, named
from levelbest.results import Claim, ClaimedPair
from levelbest.stats.budgets import READINGS, Gate, Summary, claim_gate, judge_summary
from levelbest.trials import Settings, Trials

if TYPE_CHECKING:
    from levelbest.readers.raw import RawTable


def claim(
    *source: object,
    claimed: float | None = None,
    attempts: int | None = None,
    baseline: str | None = None,
    plus_minus: str | None = None,
    runs: int | Sequence[int] | None = None,
    search_sd: float | None = None,
    noise: float | None = None,
    direction: str | None = None,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    **reading: object,
) -> Claim | Gate:
    """Is a claimed improvement more than luck, and more than the effect of a larger search?

    There are two forms. From **summary numbers**, as in a paper: Welch's interval for the difference, for each reading
    of the ±; what the larger search explains under a stated assumption; and what would be needed to know. With
    ``claimed`` and ``attempts``, from **runs of a baseline**: the exact p-value of the best score after so many
    attempts. Every option of the command line is a parameter of the same name.

    Parameters
    ----------
    source
        Summary numbers: a text for each method, the baseline first, or a table (a file, a dataframe, a mapping) with
        a row for each and columns ``mean``, ``sd`` or ``se``, ``n`` and ``tuned``. With ``claimed``: trials of the
        baseline, or whatever `read_trials` takes, with its arguments as ``reading``.
    claimed, attempts
        The best score of the attempts, and how many were made, all of them.
    baseline
        The method that the others are compared with, by default the first; with ``claimed`` the family that holds the
        baseline's runs.
    plus_minus
        What stands after a ± that no word explains: ``sd``, the standard deviation of the runs, or ``se``, the
        standard error of their mean; None: both readings are shown.
    runs
        Of how many runs the means of a table are, where no column says so: one number, or one for each row.
    search_sd
        The standard deviation of the trials within a search; None: that of the runs.
    noise
        The standard deviation of the noise of validation; None: none at all, and as much as ``search_sd``.
    direction
        ``max`` where higher is better, ``min`` where lower is; None: as the name of a table's column says, else ``max``
        for claims above the baseline, and a question for those below it.
    confidence
        Of the interval of each claim, over all claims together (Bonferroni); the claim after many attempts passes where
        its p-value is at most 1 - confidence.
    failed, missing
        As of `levelbest.trials.Settings`, for runs of a baseline.

    Returns
    -------
    Claim or Gate
        What the summary numbers say; or the p-value, the smallest one possible, and what follows.

    Examples
    --------
    >>> judged = claim("base 76.3 ± 0.4 (5), tuned 10", "ours 77.0 ± 0.6 (5), tuned 100", plus_minus="sd")
    >>> round(judged.pairs[0].readings[0].p_value, 3)
    0.067
    >>> claim({"val_acc": [0.81, 0.83, 0.82]}, claimed=0.84, attempts=5).p_value
    0.625
    """
    if claimed is None and attempts is None:
        score, where = reading.pop("selection", None), reading.pop("where", None)
        if reading:
            raise InputError(f"summary numbers need no {', '.join(map(named, reading))}; leave them out")
        each = [runs] if isinstance(runs, int) else runs
        confidence = _check.as_confidence(confidence)
        summaries, by_name = _summaries(source, plus_minus, None if score is None else str(score), each, where)
        way = None if (direction or by_name) is None else _check.as_direction(direction or by_name)
        return _judged(summaries, baseline, confidence, way, search_sd, noise)
    if claimed is None or attempts is None:
        lacking = "claimed" if claimed is None else "attempts"
        raise InputError(
            f"the best score of many attempts needs {named('claimed')} and {named('attempts')}; give "
            f"{named(lacking)} too"
        )
    if direction is not None:
        reading = {**reading, "direction": direction}
    trials = as_trials(source[0] if len(source) == 1 else list(source), reading)
    return _gate(_runs_of(trials, baseline), claimed, attempts, Settings(confidence, failed, missing))


def _judged(
    summaries: Sequence[Summary],
    baseline: str | None,
    confidence: float,
    direction: str | None,
    search_sd: float | None,
    noise: float | None,
) -> Claim:
    """Every other summary against the baseline's; ``direction`` None: nothing tells it."""
    if len(summaries) < 2:
        raise InputError(f"a claim compares two methods, and there is only {summaries[0].name}; add the other")
    names = [summary.name for summary in summaries]
    _refuse_two_of_a_name(names)
    base = summaries[0 if baseline is None else names.index(_check.as_choice(baseline, names, named("baseline")))]
    others = [summary for summary in summaries if summary is not base]
    each = 1 - (1 - confidence) / len(others)
    direction = direction or _direction(base, others)
    pairs = []
    for other in others:
        readings = {summary.reading for summary in (base, other)} - {None}
        if len(readings) > 1:
            raise InputError(
                f"{base.name} has the {'standard deviation' if base.reading == 'sd' else 'standard error'} and "
                f"{other.name} the other; give both in one way (sd = se times the root of the number of runs)"
            )
        judged = [
            judge_summary(
                base, other, reading=way, direction=direction, confidence=each, search_sd=search_sd, noise=noise
            )
            for way in (readings or READINGS)
            if way is not None
        ]
        pairs.append(ClaimedPair(other, tuple(judged)))
    return Claim(base, tuple(pairs), confidence, direction, search_sd, noise)


def _refuse_two_of_a_name(names: Sequence[str]) -> None:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Ambiguous(
            f"{twice!r} occurs in {names.count(twice)} rows, perhaps of several data sets: keep those of one with "
            f"{named('where')}"
        )


def _direction(base: Summary, others: Sequence[Summary]) -> str:
    """The direction, if no name gives it: claims above the baseline count as gains; below it the user is asked."""
    below = next((other for other in others if other.mean < base.mean), None)
    if below is None:
        return "max"
    raise Ambiguous(
        f"is a higher score better, or a lower one? {below.name} ({below.mean:g}) is below {base.name} "
        f"({base.mean:g}), and no name tells: give {named('direction')} max or min"
    )


def _summaries(
    source: Sequence[object], plus_minus: str | None, score: str | None, runs: Sequence[int] | None, where: object
) -> tuple[list[Summary], str | None]:
    """A summary for each text, or for each row of a table; and the direction that the name of its column tells."""
    from levelbest.readers.registry import read_path
    from levelbest.readers.steps.summaries import (
        direction_in,
        is_summary_table,
        is_summary_text,
        rows_where,
        summaries_of,
        summary_of,
    )
    from levelbest.readers.tables.files import as_paths
    from levelbest.readers.tables.frames import frame_table, is_frame

    if plus_minus is not None:
        _check.as_choice(plus_minus, READINGS, named("plus_minus"))
    if not source:
        raise InputError("there is nothing to judge: give a text for each method, or a table of them")
    every: list[Summary] = []
    ways: set[str | None] = set()
    of_a_table = [name for name, given in (("selection", score), ("runs", runs), ("where", where)) if given is not None]
    for place, item in enumerate(source):
        if isinstance(item, str) and is_summary_text(item):
            if of_a_table:
                raise InputError(
                    f"{named(of_a_table[0])} is for tables; leave it out for a text, which says all: 'ours 7 ± 0.6 (5)'"
                )
            every.append(summary_of(item, "claim" if place else "baseline", plus_minus))
            continue
        if isinstance(item, str) and not Path(item).expanduser().exists():
            summary_of(item, "")  # which says how to write one
        tables = [frame_table(item)] if is_frame(item) else [t for path in as_paths(item) for t in read_path(path)[0]]
        for table in tables:
            if not is_summary_table(table):
                raise _no_summaries(table)
            every += summaries_of(table if where is None else rows_where(table, str(where)), plus_minus, score, runs)
            ways.add(direction_in(table, score))
    return every, ways.pop() if len(ways) == 1 else None


def _no_summaries(table: RawTable) -> InputError:
    """What is missing in a table without means and their spread."""
    from levelbest.readers.steps.summaries import interval_columns

    if (ends := interval_columns(table.columns)) is not None:
        return Ambiguous(
            f"{table.source} has an interval ({ends[0]!r} to {ends[1]!r}), and nothing says its confidence, or over "
            "what it is (runs, or examples of a test set): give the standard deviation or the standard error of the "
            "runs and their number (columns std or se, and n)"
        )
    return InputError(
        f"{table.source} has no columns mean, sd (or se) and n, nor acc_mean and acc_std, and no cells with ±; for "
        f"runs of a baseline give {named('claimed')} and {named('attempts')}, and families with several trials each "
        f"are compared by {called('compare')}"
    )


def _runs_of(trials: Trials, baseline: str | None) -> Trials:
    """The runs of one baseline."""
    if trials.group is not None:
        raise DataError(
            "a claim after many attempts is judged against runs of the baseline, and these are samples of problems: "
            f"compare systems problem by problem ({called('compare')}), or give the score of each whole run"
        )
    trials.refuse_tasks()
    if baseline is not None:
        return trials[baseline]
    if len(trials.families) > 1:
        raise InputError(
            f"a claim needs the runs of one baseline, and here are {', '.join(trials.families)}; choose by "
            f"{named('baseline')}"
        )
    return trials


def _gate(trials: Trials, claimed: float, attempts: int, settings: Settings) -> Gate:
    scores = trials.scores(settings.failed, missing=settings.missing)
    return claim_gate(
        scores.curve_of,
        claimed,
        attempts,
        direction=trials.metric.direction,
        bounds=trials.metric.bounds,
        confidence=settings.confidence,
    )
