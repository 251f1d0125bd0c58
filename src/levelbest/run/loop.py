"""A research loop that keeps only improvements; every run, attempt and answer is recorded in a ledger."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import levelbest
from levelbest import _check
from levelbest._ledger.chain import Chain, LedgerFamily
from levelbest._ledger.plan import fingerprint_of
from levelbest._ledger.records import DecisionBody, LoopBody
from levelbest._ledger.space import Space, as_seed
from levelbest.errors import DataError, InputError, named
from levelbest.results import Attempt, LoopDecision, LoopState
from levelbest.run.keeping import BASELINE, RULE, Keeping
from levelbest.run.ledger import Entry, Ledger
from levelbest.run.lock import check_platform, hold_file, hold_ledger
from levelbest.run.view import LedgerView

_PATIENCE = 60.0
"""Seconds to wait while another process records its run; a record takes a few hundredths of one."""
_SPACE = Space({})
_DEFINITION: dict[str, object] = {"space": [], "seeds": 1, "command": None, "function": None}
_ALIKE = 1e-9
"""Levels that differ by less, relatively, are the same: arithmetic differs between machines."""


class Loop:
    """A research loop that keeps only real improvements, with the error rate controlled over the whole loop.

    The answer for each candidate is ``discard``, ``again`` (with the number of further runs) or ``keep``. A candidate
    has one run, then three, then twelve fresh ones, compared with a pool of sixteen runs of the baseline; a kept
    candidate becomes the next baseline and is run sixteen more times. SAFFRON limits false keeps to 1 - confidence of
    all keeps, however long the loop is. A metric with exactly the same score in two runs has no noise: then one run
    decides, and two more confirm it.

    Parameters
    ----------
    ledger
        The file that everything is recorded in; it is made at the first run, and gone on with where it is there.
        Several processes may record in it: each waits for the other.
    direction
        ``max`` where higher is better, ``min`` where lower is. Needed at the first run.
    metric
        What the score is called.
    confidence
        1 minus the share of false keeps.
    seed
        For the seeds that are offered for runs.

    Notes
    -----
    SAFFRON: Ramdas, Zrnic, Wainwright & Jordan 2018; for tests that overlap: Zrnic, Ramdas & Jordan 2021. It comes with
    the package online-fdr (the extra ``loop``). What is measured of this rule stands in docs/gates.md.

    Examples
    --------
    >>> import tempfile
    >>> loop = Loop(tempfile.mkdtemp() + "/loop.db", direction="max")
    >>> for score in (0.71, 0.71):
    ...     state = loop.baseline(score)
    >>> loop.candidate("wider", 0.70).answer
    'discard'
    >>> [loop.candidate("deeper", 0.74).answer for _ in range(3)]
    ['again', 'again', 'keep']
    """

    def __init__(
        self,
        ledger: str | Path,
        *,
        direction: str | None = None,
        metric: str | None = None,
        confidence: float | None = None,
        seed: int | None = None,
    ) -> None:
        self.path = Path(ledger)
        self._direction = None if direction is None else _check.as_direction(direction)
        self._metric = metric
        self._confidence = None if confidence is None else _check.as_confidence(confidence)
        self._seed = None if seed is None else as_seed(seed)

    def baseline(self, score: float | None = None, *, failed: str | None = None) -> LoopState:
        """Record a run of the version that candidates must beat: the first baseline, or what was kept last.

        Parameters
        ----------
        score
            Of the run; one that is not finite is a run that failed.
        failed
            Why the run has no score, where it has none.

        Returns
        -------
        LoopState
            How the loop stands.
        """
        with self._open() as (ledger, keeping):
            value, entry = self._ended(ledger.chain, score, failed)
            family = _family(ledger.chain, _baseline_name(keeping))
            number = len(ledger.chain.families) if family is None else family.number
            entries = _declared(number, _baseline_name(keeping), keeping.rule["pool"]) if family is None else []
            trial = 0 if family is None else len(family.ends)
            if family is not None and trial >= family.n_planned:
                entries.append(Entry("plan", {"n_trials": trial + 1}, number))
            keeping.run_baseline(value)
            ledger.append([*entries, *_run(ledger.chain, number, trial, entry)])
            return _state(ledger.chain, keeping)

    def candidate(self, name: str, score: float | None = None, *, failed: str | None = None) -> LoopDecision:
        """Record a run of a candidate; without a score and without a failure, only ask what is wanted of it.

        Parameters
        ----------
        name
            Of this attempt; another version has another name.
        score, failed
            As of `baseline`.

        Returns
        -------
        LoopDecision
            ``discard``, ``again`` or ``keep``, and why.
        """
        if not name or name == BASELINE or name.startswith(f"{BASELINE} ") or not name.isprintable():
            raise InputError(f"a candidate needs a name, got {name!r}")
        if score is None and failed is None:
            return self._asked(name)
        with self._open() as (ledger, keeping):
            keeping.check_candidate(name)
            value, entry = self._ended(ledger.chain, score, failed)
            family = _family(ledger.chain, name)
            number = len(ledger.chain.families) if family is None else family.number
            entries = _declared(number, name, 1) if family is None else []
            trial = 0 if family is None else len(family.ends)
            decision = keeping.run_candidate(name, value)
            entries += [*_run(ledger.chain, number, trial, entry), Entry("decision", {**decision}, number)]
            if decision["again"] and trial + 1 + decision["again"] > (1 if family is None else family.n_planned):
                entries.append(Entry("plan", {"n_trials": trial + 1 + decision["again"]}, number))
            ledger.append(entries)
            return _decided(ledger.chain, keeping, name)

    @property
    def state(self) -> LoopState:
        """How the loop stands, from the ledger as it is; before its first run nothing is in it."""
        if not self.path.exists() and self._direction is not None:
            begun = Keeping(self._rule())
            return _standing(begun, [], self._metric or "score", self._direction, n_runs=0, head="")
        with LedgerView(self.path) as view:
            return state_of(view)

    def _asked(self, name: str) -> LoopDecision:
        with LedgerView(self.path) as view:
            keeping = replayed(view)
            if name not in keeping.candidates:
                raise InputError(f"{self.path.name} has no run of {name} yet; record one with {named('score')}")
            return _decided(view, keeping, name)

    @contextlib.contextmanager
    def _open(self) -> Iterator[tuple[Ledger, Keeping]]:
        """The ledger, held and followed, and the state that its runs give."""
        check_platform()
        with hold_ledger(self.path, patience=_PATIENCE), contextlib.ExitStack() as stack:
            if not self.path.exists():
                Ledger.create(self.path, self._first()).close()
            if self.path.is_file():
                stack.enter_context(hold_file(self.path))
            ledger = stack.enter_context(Ledger(self.path))
            self._refuse_other(ledger.chain)
            yield ledger, replayed(ledger.chain)

    def _rule(self) -> LoopBody:
        return {**RULE, "confidence": RULE["confidence"] if self._confidence is None else self._confidence}

    def _first(self) -> list[Entry]:
        if self._direction is None:
            raise InputError(
                f"the direction is fixed with the first run: give {named('direction')} max (an accuracy) or min "
                "(a loss)"
            )
        rule = self._rule()
        Keeping(rule)  # what it needs is there
        metric = {
            "selection": self._metric or "score",
            "reported": None,
            "direction": self._direction,
            "bounds": (None, None),
        }
        body = {"name": self.path.stem, "seed": self._seed or 0, "metric": metric, "cost": {"unit": "seconds"}}
        return [Entry("study", {**body, "levelbest": levelbest.__version__, "loop": rule})]

    def _refuse_other(self, chain: Chain) -> None:
        """What was fixed with the first run stays so."""
        rule = _rule_of(chain, self.path.name)
        metric = chain.study["metric"]
        fixed_values = {
            "direction": (self._direction, metric["direction"]),
            "metric": (self._metric, metric["selection"]),
            "confidence": (self._confidence, rule["confidence"]),
            "seed": (self._seed, chain.study["seed"]),
        }
        for name, (given, fixed) in fixed_values.items():
            if given is not None and given != fixed:
                raise InputError(
                    f"{self.path.name} has {named(name)} {fixed} since its first run, got {given}; leave it out, or "
                    "begin another ledger"
                )

    def _ended(self, chain: Chain, score: float | None, failed: str | None) -> tuple[float | None, Entry]:
        """The score, turned so that higher is better, and the record of the run's end."""
        if (score is None) == (failed is None):
            raise InputError(f"a run has a score or has failed: give {named('score')} or {named('failed')}")
        value = math.nan if score is None else _check.as_number(score)
        if score is not None and math.isnan(value) and not isinstance(score, float):
            raise InputError(f"a score is a number, got {score!r}")
        finite = math.isfinite(value)
        status = "ok" if finite else "failed" if score is None else "diverged"
        name = chain.study["metric"]["selection"] or ""
        body: dict[str, object] = {"scores": {name: value if finite else None}, "wall": 0, "cpu": 0, "cost": None}
        if not finite:
            body["reason"] = failed or f"{name} is {value}"
        turned = value if chain.study["metric"]["direction"] == "max" else -value
        return (turned if finite else None), Entry("end", body, status=status)


def _rule_of(chain: Chain, ledger: str) -> LoopBody:
    """The rule of a loop's ledger; an error where it is a study's."""
    if "loop" not in chain.study:
        raise InputError(f"{ledger} is the ledger of a study and not of a loop; choose another name")
    return chain.study["loop"]


def replayed(chain: Chain) -> Keeping:
    """The state that the runs of a ledger give; an error where it did not answer what they give."""
    keeping = Keeping(chain.study["loop"])
    sign = 1 if chain.study["metric"]["direction"] == "max" else -1
    name = chain.study["metric"]["selection"] or ""
    seen = dict.fromkeys(chain.families, 0)
    for number, trial in chain.runs:
        family = chain.families[number]
        score = family.ends[trial].scores.get(name) if family.ends[trial].status == "ok" else None
        turned = None if score is None else sign * score
        if _is_baseline(family):
            keeping.run_baseline(turned)
            continue
        answer = keeping.run_candidate(family.name, turned)
        recorded = family.decisions[seen[number]] if seen[number] < len(family.decisions) else None
        seen[number] += 1
        if recorded is None or not _same(recorded, answer):
            raise DataError(
                f"the ledger answered {recorded['answer'] if recorded else 'nothing'} after run {trial + 1} of "
                f"{family.name}, where its runs give {answer['answer']}: it does not follow its rule"
            )
    return keeping


def _same(recorded: DecisionBody, given: DecisionBody) -> bool:
    """Whether two answers agree, but for the rounding of their numbers."""
    if not (_close(recorded["p_value"], given["p_value"]) and _close(recorded["level"], given["level"])):
        return False
    return {**recorded, "p_value": 0, "level": 0} == {**given, "p_value": 0, "level": 0}


def _close(recorded: float | None, given: float | None) -> bool:
    if recorded is None or given is None:
        return recorded is given
    return math.isclose(recorded, given, rel_tol=_ALIKE)


def _is_baseline(family: LedgerFamily) -> bool:
    return family.name == BASELINE or family.name.startswith(f"{BASELINE} ")


def _baseline_name(keeping: Keeping) -> str:
    """The family of its fresh runs: those that made a candidate win are the candidate's."""
    name = keeping.baseline.name
    return BASELINE if name == BASELINE else f"{BASELINE} {name}"


def _family(chain: Chain, name: str) -> LedgerFamily | None:
    return next((family for family in chain.families.values() if family.name == name), None)


def _declared(number: int, name: str, n_trials: int) -> list[Entry]:
    body = {"name": name, "definition": _DEFINITION, "fingerprint": fingerprint_of(_DEFINITION)}
    return [Entry("family", body, number), Entry("plan", {"n_trials": n_trials}, number)]


def _run(chain: Chain, number: int, trial: int, end: Entry) -> list[Entry]:
    """The start and the end of a run, which was made elsewhere."""
    config, seed = _SPACE.draw(chain.study["seed"], number, trial, 1)
    start = Entry("start", {"config": config, "seed": seed}, number, trial, 1)
    return [start, Entry("end", end.body, number, trial, 1, end.status)]


def _decided(chain: Chain, keeping: Keeping, name: str) -> LoopDecision:
    version, family = keeping.candidates[name], _family(chain, name)
    body = keeping.answer_to(name)
    assert family is not None
    wanted = range(body["n_runs"], body["n_runs"] + body["again"])
    return LoopDecision(
        name,
        body["answer"],
        body["reason"],
        body["n_runs"],
        body["again"],
        body["p_value"],
        body["level"],
        baseline=version.against.name if version.against else "",
        seeds=tuple(_SPACE.draw(chain.study["seed"], family.number, trial, 1)[1] for trial in wanted),
        n_attempts=len(keeping.candidates),
        deterministic=not keeping.noisy,
    )


def state_of(chain: Chain) -> LoopState:
    """How the loop of a ledger stands."""
    return _state(chain, replayed(chain))


def _state(chain: Chain, keeping: Keeping) -> LoopState:
    metric = chain.study["metric"]
    sign = 1 if metric["direction"] == "max" else -1
    attempts = []
    for version in keeping.candidates.values():
        body, known = version.answer, version.known
        assert body is not None
        score = float(sign * known.mean()) if known.size else None
        attempts.append(
            Attempt(version.name, body["answer"], body["reason"], body["n_runs"], score, body["p_value"], body["level"])
        )
    names = metric["selection"] or "score", metric["direction"] or "max"
    return _standing(keeping, attempts, *names, n_runs=len(chain.runs), head=chain.head)


def _standing(
    keeping: Keeping, attempts: Sequence[Attempt], metric: str, direction: str, *, n_runs: int, head: str
) -> LoopState:
    return LoopState(
        metric=metric,
        direction=direction,
        confidence=keeping.rule["confidence"],
        baseline=keeping.baseline.name,
        n_baseline=int(keeping.baseline.known.size),
        pool=keeping.pool,
        attempts=tuple(attempts),
        n_runs=n_runs,
        deterministic=keeping.deterministic,
        head=head,
    )
