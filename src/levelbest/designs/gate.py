"""The gate: compares a candidate with a baseline (pass, regressed or inconclusive), and certifies required claims."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np

from levelbest import _check
from levelbest.designs._input import as_trials, refuse_judge
from levelbest.designs._protocol import Request
from levelbest.designs._versions import SuiteVersions
from levelbest.designs.compare import compare_request
from levelbest.errors import DataError, InputError, named
from levelbest.results import INCONCLUSIVE, PASS, REGRESSED, GateDecision, PairComparison, Requirement
from levelbest.trials import OK, Settings, Trials, one_table

WORTH = 0.05
"""The loss that matters where none is given, as a share of the range of the score: 5 points of an accuracy."""
_MOST_FURTHER = 20
"""So many times the runs there are: more is not worth a number."""
_SURELY = 1.43
"""How many times the width of the limits must fit, so that it is decided with probability .8: (1.96 + .84) / 1.96."""
_TOGETHER = 0.01
"""The p-value from which on the problems of a run are taken to rise and fall together.

NOTE: it trades passes of independent problems, of which so many are judged by their few runs instead, for false reds
where problems are not independent (table "runs" of docs/gates.md).
"""


def gate(
    trials: object,
    *,
    baseline: str,
    candidate: str,
    worth: float | None = None,
    about: str | None = None,
    headline: int | None = None,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> GateDecision:
    """Compares a candidate with a baseline: pass, regressed or inconclusive. Every option is a parameter.

    Parameters
    ----------
    trials
        Runs of both, or samples of problems, as trials or whatever `read_trials` takes, with its arguments as
        ``reading``.
    baseline, candidate
        The two families, by their names.
    worth
        The loss that would matter: *pass* says that the candidate is certified not to be worse by that much. By default
        5 % of the range of the score.
    about
        Where there are problems: ``suite``, exactly these problems (the default: in CI the suite is the population), or
        ``problems`` that they stand for.
    headline
        The budget compared at; by default 1, a new run.
    confidence
        A change that changes nothing is called regressed with probability 1 - confidence at most, and one that loses
        more than ``worth`` passes with that probability at most.
    failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    GateDecision
        ``regressed`` where the candidate is certified to be worse, or some problem is (half of the error is for each);
        ``pass`` where it is certified not to be worse by ``worth``; else ``inconclusive``, with how many further runs
        would probably decide.

    Notes
    -----
    The verdict is that of `compare` at one budget. *Pass* needs limits that hold for what the runs may not have shown,
    too, and so the bounds of the score: that runs differ little does not show that none of them can fail.

    Examples
    --------
    >>> runs = {"version": ["old"] * 40 + ["new"] * 40, "problem": [*range(4)] * 20, "seed": [*range(80)],
    ...         "passed": [1] * 40 + [0, 1, 1, 1] * 10}
    >>> decision = gate(runs, baseline="old", candidate="new", family="version", group="problem", selection="passed",
    ...                 direction="max", bounds=(0, 1))
    >>> decision.decision, [row.problem for row in decision.broken]
    ('regressed', ['0'])
    """
    table = _with_bounds(_only(as_trials(trials, reading), baseline, candidate))
    table.refuse_tasks()
    refuse_judge(table, "a gate")
    grouped = table.group is not None
    chosen = (about or "suite") if grouped else "problems"
    if about == "suite" and not grouped:
        raise InputError(f"{named('about', 'suite')} is for samples of problems; name their column by {named('group')}")
    loss = _worth(worth, table)
    settings = Settings(confidence, failed, missing, n_resamples, rng)
    request = Request(headline=headline or 1, n=(headline or 1,), worth=loss, about=chosen, settings=settings)
    suite = SuiteVersions.of(table, (baseline, candidate), settings) if grouped else None
    whole = suite.whole_runs(table) if suite is not None and chosen == "suite" and request.headline == 1 else None
    together = whole is not None and whole.spread.p_value <= _TOGETHER
    decided = GateDecision(
        decision=INCONCLUSIVE,
        baseline=baseline,
        candidate=candidate,
        pair=_pair(whole.runs if whole is not None and together else table, request, candidate),
        worth=loss,
        given=worth is not None,
        confidence=settings.confidence,
        run_spread=None if whole is None else whole.spread.ratio,
        whole_runs=together,
    )
    if suite is None:
        decided = replace(decided, n_failed=decided.pair.n_failed)
    else:
        broken = suite.broken(table.metric.sign, (1 - settings.confidence) / 2)
        decided = replace(
            decided,
            about=chosen,
            broken=broken,
            n_problems=len(suite.problems),
            absent=suite.absent,
            added=suite.added,
            n_failed=suite.n_failed,
        )
    decided = replace(decided, decision=_decision(decided))
    return replace(decided, further=_further(decided))


def _pair(table: Trials, request: Request, candidate: str) -> PairComparison:
    """The candidate minus the baseline; of whole runs, which have no problems, by their means."""
    request = request if table.group is not None else replace(request, about="problems")
    pair = compare_request(table, request, pairs_only=True).pairs[0]
    return pair if pair.families[0] == candidate else pair.mirrored()


def _decision(gate: GateDecision) -> str:
    """What follows from the difference, and from problems that are certified to be worse, or that were not run."""
    if gate.pair.effect.winner == gate.baseline or gate.broken:
        return REGRESSED
    return PASS if gate.pair.effect.floor > -gate.worth and not gate.absent else INCONCLUSIVE


def _only(table: Trials, first: str, second: str) -> Trials:
    """The trials of two families."""
    if first == second:
        raise InputError(f"two different families are needed, got {first} twice")
    if len(table.families) == 1:
        raise InputError(
            f"{table.families[0]} is all there is to compare; name the column that holds {first} and {second} by "
            f"{named('family')}"
        )
    return one_table([table[first], table[second]])


def _with_bounds(table: Trials) -> Trials:
    """Where none are given: those of a share by its name; successes and failures lie between 0 and 1 by any name."""
    metric, scores = table.metric, table.selection if table.reported is None else table.reported
    if metric.bounds != (None, None):
        return table
    binary = table.group is not None and np.isin(scores[table.status == OK], (0, 1)).all()
    return replace(table, metric=replace(metric, bounds=(0.0, 1.0) if binary else metric.natural))


def _worth(given: float | None, table: Trials) -> float:
    if given is not None:
        if not given > 0:
            raise InputError(f"{named('worth')} is the loss that would matter, above 0, got {given}")
        return float(given)
    low, high = table.metric.bounds
    if low is None or high is None:
        raise InputError(
            f"how large a loss of {table.metric.score} would matter? Give {named('worth')}, or the bounds of the score "
            f"({named('bounds')}), of whose range {100 * WORTH:g} % is the default"
        )
    return WORTH * (high - low)


def _further(decided: GateDecision) -> float:
    """Further runs of both until it is probably decided, at the difference that was observed; NaN where none would do.

    Limits narrow with the root of the number of runs; what is left beyond them, of failures that no run has shown, with
    that number itself. To show a loss, the limits must lie below none; to pass, the floor above ``worth``, where being
    ahead of the baseline is not counted on.

    NOTE: after so many, .73 to 1.00 of simulated suites and seeds were decided (60 of each of eight kinds, equal
    versions and losses of .05 and .1); counting on it, .55 to 1.00.
    """
    if decided.decision != INCONCLUSIVE:
        return 0.0
    effect, pair = decided.pair.effect, decided.pair
    runs, difference = min(pair.n_trials), effect.difference
    width = _SURELY * (effect.high - effect.low) / 2
    unseen = max(0.0, effect.low - effect.floor)
    ways = [_times(width, 0.0, -difference), _times(width, unseen, decided.worth + min(difference, 0.0))]
    likely = [(times - 1) * runs for times in ways if times - 1 <= _MOST_FURTHER]
    each = decided.n_problems or 1 if decided.of_suite and not decided.whole_runs else 1
    return max(1.0, min(likely) / each) if likely else math.nan  # a run of a suite has a sample of each problem


def _times(width: float, unseen: float, room: float) -> float:
    """How many times the runs until width / sqrt(times) + unseen / times fits into the room; infinite where never."""
    if not (room > 0 and math.isfinite(width) and math.isfinite(unseen)):
        return math.inf
    return ((width + math.sqrt(width**2 + 4 * unseen * room)) / (2 * room)) ** 2


@dataclass(frozen=True)
class _Claim:
    first: str
    second: str
    margin: float


_FORM = re.compile(
    r"\s*(?P<first>.+?)\s+(?P<how>not\s+worse|no\s+worse|better)\s+than\s+(?P<second>.+?)(?:\s+by\s+(?P<by>[-+.\deE]+))?\s*"
)


def _claim(text: str, families: tuple[str, ...]) -> _Claim:
    """``new not worse than base by .01``, ``new better than base``, ``new better than base by .02``."""
    match = _FORM.fullmatch(text)
    by = math.nan if match is None else _check.as_number(match["by"] or 0.0)
    if match is None or not by >= 0:
        raise InputError(f"a claim reads 'A not worse than B by 0.01' or 'A better than B (by 0.02)', got {text!r}")
    for name in (match["first"], match["second"]):
        _check.as_choice(name, families, "family")
    allowed = match["how"] != "better"
    if allowed and not by > 0:
        raise InputError(f"'not worse' needs how much worse would matter: '{text.strip()} by 0.01'")
    return _Claim(match["first"], match["second"], -by if allowed else by)


def require(
    trials: object,
    claim: str,
    *,
    about: str = "problems",
    headline: int | None = None,
    statistic: str | float = "mean",
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> Requirement:
    """Do the trials certify a claim? True where they do; the options of `compare` that matter are parameters.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes, with its arguments as ``reading``.
    claim
        ``new not worse than base by 0.01``, ``new better than base`` or ``new better than base by 0.02``.
    about, headline, statistic
        As of `compare`; the budget is by default 1, a new run.
    confidence
        Of the claim.
    failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    Requirement
        Whether it is certified, and what is.

    Examples
    --------
    >>> runs = {"model": ["a"] * 5 + ["b"] * 5, "seed": [*range(5), *range(5)],
    ...         "acc": [.81, .82, .80, .83, .82, .70, .71, .74, .73, .72]}
    >>> bool(require(runs, "a better than b", family="model", selection="acc", direction="max"))
    True
    """
    table = as_trials(trials, reading)
    table.refuse_tasks()
    settings = Settings(confidence, failed, missing, n_resamples, rng)
    request = Request.of(headline=headline, statistic=statistic, about=about, settings=settings)
    return requirement(table, claim, request)


def requirement(table: Trials, text: str, request: Request) -> Requirement:
    """Whether a claim is certified, at the budget asked about, by default 1."""
    claim = _claim(text, table.families)
    table = _with_bounds(table)
    budget = request.named or 1
    alone = replace(request, n=(budget,), headline=budget, worth=abs(claim.margin) or None, baseline=None)
    pairs = compare_request(_only(table, claim.first, claim.second), alone, pairs_only=True).pairs
    if not pairs:
        raise DataError(f"{claim.first} and {claim.second} cannot be compared")
    pair = pairs[0] if pairs[0].families[0] == claim.first else pairs[0].mirrored()
    effect = pair.effect
    if claim.margin < 0:
        bound = effect.floor
        certified = bound > claim.margin
    else:
        bound = effect.low
        certified = effect.winner == claim.first and bound > claim.margin
    return Requirement(text.strip(), bool(certified), claim.first, claim.second, claim.margin, float(bound), pair)
