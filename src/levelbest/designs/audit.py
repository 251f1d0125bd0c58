"""Judge a finished keep/discard log: which keeps survive, and how much of the gain is selection."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from levelbest import _check
from levelbest.readers.attempt_words import CRASHED, DISCARDED, KEPT
from levelbest.readers.attempts import AttemptLog, LoggedRun, read_attempts
from levelbest.results import Audit, AuditedKeep, IfNoise, LoggedVersion
from levelbest.stats.budgets import Steps, expected_records, likely_count, true_steps
from levelbest.trials import Settings

BASELINE_DECISION = "baseline"
_SCENARIOS = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Standard deviations that are tried where noise is unknown, in median distances of an attempt from its parent."""
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
_MANY = 50
"""Degrees of freedom from which on the standard deviation counts as known.

NOTE: with fewer, results are averaged over what it may be. Taken as known, of the survivors of logs with five runs of
the baseline and one of all others .12 were false, .07 as it is; with ten .09 and .03 (60 logs each).
"""
_LONGEST = 40


def audit(
    source: object,
    *,
    selection: str | None = None,
    direction: str | None = None,
    confidence: float = Settings.confidence,
) -> Audit:
    """Which keeps of a finished loop survive, and how much of its gain is selection?

    Parameters
    ----------
    source
        The log: a TSV, CSV or JSONL file with a row for each run: a score, what was decided (``status``: keep, discard,
        crash, best, tentative, revert ...) and which version it was (``commit``, ``name`` ...). Rows of one version
        are runs of it.
    selection
        The column of the score that decided; by default the one that reads like a score.
    direction
        ``max`` or ``min``; by default as the column's name says, or as the kept scores go.
    confidence
        A keep survives where it is an improvement with this probability.

    Returns
    -------
    Audit
        Attempts, keeps, crashes; keeps expected from noise alone; which survive. Where nothing was run twice the noise
        is unknown, and there is a table of what would follow from it instead.

    Notes
    -----
    The standard deviation of a run is that of the runs of one version, pooled. Given it, each keep has a probability of
    being no improvement, from the scores of all attempts (`levelbest.stats.budgets.true_steps`).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> log = Path(tempfile.mkdtemp()) / "results.tsv"
    >>> _ = log.write_text("commit\\tval_bpb\\tstatus\\na1\\t1.20\\tkeep\\nb2\\t1.21\\tdiscard\\nc3\\t1.10\\tkeep\\n")
    >>> audit(log)
    Audit(results.tsv: 2 attempts, 1 kept)
    """
    confidence = _check.as_confidence(confidence)
    toward = None if direction is None else _check.as_direction(direction)
    return audited(read_attempts(source, selection, toward), confidence)


def audited(log: AttemptLog, confidence: float) -> Audit:
    """A log that was read, judged."""
    sign = 1 if log.direction == "max" else -1
    inferred = not any(run.decision == DISCARDED or (run.decision == KEPT and not run.baseline) for run in log.runs)
    parts = [_versions(runs, sign, inferred) for runs in _parts(log.runs)]
    sd, df = _noise(log.runs)
    versions = [version for part in parts for version in part]
    judged = Audit(
        **log.facts,
        versions=tuple(versions),
        keeps=tuple(keep for part in parts for keep in _keeps(part, sign, None)),
        by_noise=sum(expected_records(len(_in(part)[0]) - 1) for part in parts if _in(part)[0]),
        claimed=sum(_claimed(part, sign) for part in parts),
        confidence=confidence,
        sd=sd,
        df=df,
        inferred=inferred,
    )
    if sd is None:
        return replace(judged, scenarios=tuple(_scenarios(parts, sign, confidence)))
    return _averaged(judged, [_judged(parts, sign, likely) for likely in _likely(sd, df)])


def _averaged(audit: Audit, each: Sequence[Sequence[AuditedKeep]]) -> Audit:
    """With what is behind the keeps, on average over what the standard deviation may be."""
    chances = np.array([[keep.false or 0.0 for keep in keeps] for keeps in each])
    gains = np.mean([[keep.gain or 0.0 for keep in keeps] for keeps in each], axis=0)
    keeps = tuple(
        replace(keep, false=float(false), gain=float(gain))
        for keep, false, gain in zip(each[0], chances.mean(axis=0), gains, strict=True)
    )
    return replace(audit, keeps=keeps, gain=float(gains.sum()), false_range=likely_count(chances))


def _likely(sd: float, df: int) -> list[float]:
    """What the standard deviation may be, each as likely as the others, given an estimate of it."""
    if df >= _MANY:
        return [sd]
    from scipy.special import gammaincinv

    return [sd * math.sqrt(df / (2 * float(gammaincinv(df / 2, 1 - share)))) for share in _SHARES]


def _parts(runs: Sequence[LoggedRun]) -> list[list[LoggedRun]]:
    count = 1 + max(run.part for run in runs)
    return [[run for run in runs if run.part == part] for part in range(count)]


def _versions(runs: Sequence[LoggedRun], sign: int, inferred: bool) -> list[LoggedVersion]:
    """The versions of one part in the order of their first runs; the first with a score is its baseline."""
    by_label: dict[str, list[LoggedRun]] = {}
    for run in runs:
        by_label.setdefault(run.label, []).append(run)
    versions: list[LoggedVersion] = []
    best = -math.inf
    for label, rows in by_label.items():
        scores = [run.score for run in rows if run.score is not None]
        score = float(np.mean(scores)) if scores else None
        words = [run.decision for run in rows if run.decision not in ("", CRASHED)]
        crashed = score is None and any(run.decision == CRASHED for run in rows)
        decision = CRASHED if crashed else words[-1] if words else ""
        if score is not None and not any(version.decision == BASELINE_DECISION for version in versions):
            decision = BASELINE_DECISION
        elif score is not None and inferred:
            decision = KEPT if sign * score > best else DISCARDED
        best = best if score is None else max(best, sign * score)
        name = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 3]}..."
        versions.append(LoggedVersion(name, decision, len(rows), score, rows[0].part, rows[0].line))
    return versions


def _noise(runs: Sequence[LoggedRun]) -> tuple[float | None, int]:
    """The standard deviation of a run, pooled over the versions that were run again, and its degrees of freedom."""
    by_version: dict[tuple[int, str], list[float]] = {}
    for run in runs:
        if run.score is not None:
            by_version.setdefault((run.part, run.label), []).append(run.score)
    repeated = [np.array(scores) for scores in by_version.values() if len(scores) > 1]
    df = sum(scores.size - 1 for scores in repeated)
    if not df:
        return None, 0
    return math.sqrt(sum(float(((scores - scores.mean()) ** 2).sum()) for scores in repeated) / df), df


def _in(part: Sequence[LoggedVersion]) -> tuple[list[LoggedVersion], list[int]]:
    """The versions with a score, and the place of the one that was kept before each (-1: none)."""
    scored = [version for version in part if version.score is not None]
    parents, last = [], -1
    for place, version in enumerate(scored):
        parents.append(last)
        if version.decision in (BASELINE_DECISION, KEPT):
            last = place
    return scored, parents


def _keeps(part: Sequence[LoggedVersion], sign: int, steps: Steps | None) -> list[AuditedKeep]:
    scored, parents = _in(part)
    keeps: list[AuditedKeep] = []
    for version, parent in zip(scored, parents, strict=True):
        if version.decision == KEPT and version.score is not None:
            before = scored[parent].score
            assert before is not None
            place = len(keeps)
            known = (None, None) if steps is None else (float(steps.false[place]), float(steps.gain[place]))
            step = sign * (version.score - before)
            keeps.append(AuditedKeep(version.label, version.line, version.score, step, *known))
    return keeps


def _claimed(part: Sequence[LoggedVersion], sign: int) -> float:
    return sum(keep.step for keep in _keeps(part, sign, None))


def _judged(parts: Iterable[Sequence[LoggedVersion]], sign: int, sd: float) -> list[AuditedKeep]:
    """The keeps of all parts with what is behind them."""
    keeps: list[AuditedKeep] = []
    for part in parts:
        scored, parents = _in(part)
        if not any(version.decision == KEPT for version in scored):
            continue
        if sd == 0:
            plain = _keeps(part, sign, None)
            keeps += [replace(keep, false=float(keep.step <= 0), gain=keep.step) for keep in plain]
            continue
        scores = np.array([sign * version.score for version in scored if version.score is not None])
        errors = sd / np.sqrt([version.n_runs for version in scored])
        kept = np.array([version.decision in (BASELINE_DECISION, KEPT) for version in scored])
        keeps += _keeps(part, sign, true_steps(scores, errors, np.array(parents), kept, sd))
    return keeps


def _scenarios(parts: Sequence[Sequence[LoggedVersion]], sign: int, confidence: float) -> list[IfNoise]:
    """What would follow from some sizes of the noise, around the typical distance of an attempt from its parent."""
    distances: list[float] = []
    for part in parts:
        scored, parents = _in(part)
        for version, parent in zip(scored, parents, strict=True):
            if parent >= 0 and version.score is not None:
                before = scored[parent].score
                assert before is not None
                distances.append(abs(version.score - before))
    typical = float(np.median(distances)) if distances else 0.0
    rows = []
    for share in _SCENARIOS if typical > 0 and any(_keeps(part, sign, None) for part in parts) else ():
        sd = float(f"{share * typical:.1g}")
        keeps = _judged(parts, sign, sd)
        survive = sum((keep.false or 0.0) <= 1 - confidence for keep in keeps)
        false, gain = sum(keep.false or 0.0 for keep in keeps), sum(keep.gain or 0.0 for keep in keeps)
        rows.append(IfNoise(sd, survive, false, gain))
    return rows
