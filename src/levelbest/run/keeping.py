"""The decision rule of a research loop, independent of files: from runs to answers.

A candidate has one run, then three, then twelve fresh ones, and is discarded where a stage is not ahead of the
baseline. The twelve runs, which played no part in the first stages, are tested at the level that SAFFRON assigns when
the stage begins, so levels stay valid while several candidates are open. The pool of the baseline is fresh as well:
after a keep, the runs that made the candidate win are optimistic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from levelbest._check import FloatArray
from levelbest._ledger.records import DecisionBody, LoopBody
from levelbest.errors import InputError, MissingExtra, named
from levelbest.stats.budgets import clears, improvement_p_value

RULE: LoopBody = {"confidence": 0.95, "pool": 16, "widen": 4, "stages": [1, 3, 12], "margin": 0.5, "share": 0.25}
"""
NOTE: the margin (in sd of the baseline) trades improvements that are lost for runs, the share (SAFFRON's lambda) early
levels for later ones; ``widen`` is how many baseline runs are added after each candidate that came to the last stage.
Chosen on loops of normal scores, 10 % at +1 sd and 40 % at -1 sd (600 loops; true keeps per 1,000 runs, and null loops
with a false keep): 8.7 and .027; margin .75 8.1, .010; share .5 8.3, .027; nothing added 7.3, .037, for all candidates
meet the same runs. `benchmarks/gates/loops.py` has the rule as it is, on six distributions.
"""
BASELINE = "baseline"
_EXACT = 3
"""Runs of a candidate that must score the same before it is kept without noise.

NOTE: rounded scores of a noisy metric agree by chance; at a rounding of one sd three runs add .013 to the chance of a
false keep, two .06.
"""


class BegunTest(Protocol):
    """A test that has begun."""

    test_level: float


class TestLevels(Protocol):
    """Who gives levels to tests that overlap, of what is known when each begins."""

    def start_test(self, test_id: str) -> BegunTest:
        """The level of a test that begins now."""

    def finish_test(self, test_id: str, p_val: float) -> bool:
        """Whether its p-value is at most its level."""


def saffron(rule: LoopBody) -> TestLevels:
    """Who gives levels: SAFFRON for tests that overlap (Zrnic, Ramdas & Jordan 2021), from online-fdr."""
    try:
        from online_fdr.p_values.async_methods.saffron_async import SaffronAsync
    except ImportError:
        raise MissingExtra("online-fdr", "loop") from None
    levels: TestLevels = SaffronAsync(alpha=1 - rule["confidence"], lambda_=rule["share"])
    return levels


@dataclass
class Version:
    """The baseline or a candidate, as far as it was run."""

    name: str
    scores: list[float | None] = field(default_factory=list)
    """Turned so that higher is better; None where a run failed."""
    against: Version | None = None
    """The baseline that a candidate began from."""
    n_tests: int = 0
    """Of a baseline: candidates that came to the last stage against it."""
    level: float | None = None
    """Its level, from the beginning of the last stage on."""
    answer: DecisionBody | None = None

    @property
    def known(self) -> FloatArray:
        """The scores of the runs that have one."""
        return np.array([score for score in self.scores if score is not None])

    @property
    def steady(self) -> bool | None:
        """Whether all runs scored exactly the same; None before the second."""
        return None if self.known.size < 2 else bool((self.known == self.known[0]).all())


class Keeping:
    """The state of a loop: one call for each run, in the order in which they were recorded.

    The same runs in the same order give the same answers, so that a ledger that holds the runs holds the state.
    """

    def __init__(self, rule: LoopBody = RULE, levels: TestLevels | None = None) -> None:
        self.rule = rule
        self.levels = saffron(rule) if levels is None else levels
        self.baseline = Version(BASELINE)
        self.candidates: dict[str, Version] = {}
        self.noisy = False
        """Whether two runs of one version ever differed."""

    @property
    def deterministic(self) -> bool:
        """Whether the baseline was run twice and every version that was, scored exactly the same."""
        return not self.noisy and self.baseline.steady is True

    @property
    def pool(self) -> int:
        """Runs that the baseline must have before a noisy candidate is judged: more with every candidate that met them.

        All candidates meet the same runs, so that their luck is shared; what is added is new to the next one.
        """
        return self.rule["pool"] + self.rule["widen"] * self.baseline.n_tests

    @property
    def missing(self) -> int:
        """Baseline runs that are to be recorded before a candidate can be judged."""
        known = self.baseline.known.size
        return max(0, (2 if self.deterministic or known < 2 else self.pool) - known)

    def run_baseline(self, score: float | None) -> None:
        """A run of the version that candidates must beat."""
        self._take(self.baseline, score)

    def check_candidate(self, name: str) -> None:
        """Refuse a run of a candidate that cannot be judged now."""
        version = self.candidates.get(name)
        if version is not None and version.answer is not None and version.answer["answer"] != "again":
            done = {"keep": "kept", "discard": "discarded"}[version.answer["answer"]]
            raise InputError(
                f"{name} is {done} already, and a candidate is judged once: submit another version under another name"
            )
        if self.missing and not self._is_moved(version):
            known = self.baseline.known.size
            runs = f"{known} run{'s' * (known != 1)}"
            of = "two runs show whether the metric is noisy" if known < 2 else f"its pool has {self.pool}"
            name = BASELINE if self.baseline.name == BASELINE else f"{BASELINE}, now {self.baseline.name},"
            raise InputError(
                f"the {name} has {runs} and {of}: record {self.missing} more ({named('baseline')} "
                f"with {named('score')}) before a candidate is judged"
            )

    def run_candidate(self, name: str, score: float | None) -> DecisionBody:
        """A run of a candidate, and what follows from it."""
        self.check_candidate(name)
        version = self.candidates.setdefault(name, Version(name, against=self.baseline))
        was_deterministic = self.deterministic
        self._take(version, score)
        version.answer = self._answer(version, was_deterministic)
        if version.level is not None and version.answer["answer"] != "again":
            p_value = version.answer["p_value"]
            self.levels.finish_test(name, 1.0 if p_value is None else p_value)
        if version.answer["answer"] == "keep":
            self._move_to(version)
        return version.answer

    def answer_to(self, name: str) -> DecisionBody:
        """What is wanted of a candidate: nothing more where its baseline was replaced while it was open."""
        version = self.candidates[name]
        assert version.answer is not None
        if version.answer["answer"] == "again" and self._is_moved(version):
            return _body(version, "discard", "moved")
        return version.answer

    def _is_moved(self, version: Version | None) -> bool:
        """Whether the baseline that a candidate was offered on top of was replaced."""
        return version is not None and version.against is not self.baseline

    def _take(self, version: Version, score: float | None) -> None:
        version.scores.append(score)
        self.noisy = self.noisy or version.steady is False

    def _answer(self, version: Version, deterministic: bool) -> DecisionBody:
        if version.scores[-1] is None:
            return _body(version, "discard", "failed")
        if self._is_moved(version):
            return _body(version, "discard", "moved")
        if deterministic:
            return self._without_noise(version)
        return self._staged(version)

    def _without_noise(self, version: Version) -> DecisionBody:
        """One run decides; that it is the same again shows that it may."""
        if self.noisy:
            return _body(version, "discard", "noisy")
        if version.known[0] <= self.baseline.known[0]:
            return _body(version, "discard", "not-better")
        missing = _EXACT - version.known.size
        return _body(version, "again", "repeat", again=missing) if missing else _body(version, "keep", "exact")

    def _staged(self, version: Version) -> DecisionBody:
        ends = np.cumsum(self.rule["stages"])
        runs, pool = version.known.size, self.baseline.known
        stage = int(np.searchsorted(ends, runs))
        if runs < ends[stage]:
            return _body(version, "again", "stage", again=int(ends[stage]) - runs)
        fresh = version.known[int(ends[stage]) - self.rule["stages"][stage] :]
        if stage + 1 < len(ends):
            if not clears(fresh, pool, self.rule["margin"]):
                return _body(version, "discard", "below")
            if stage + 2 == len(ends):
                version.level = self.levels.start_test(version.name).test_level
            return _body(version, "again", "stage", again=self.rule["stages"][stage + 1])
        self.baseline.n_tests += 1
        p_value = improvement_p_value(fresh, pool)
        kept = version.level is not None and p_value <= version.level
        return _body(version, "keep" if kept else "discard", "shown" if kept else "not-shown", p_value=p_value)

    def _move_to(self, version: Version) -> None:
        """What was kept is the baseline; where there is noise, with runs that had no part in choosing it."""
        exact = version.scores if self.deterministic else ()
        self.baseline = Version(version.name, list(exact))


def _body(version: Version, answer: str, reason: str, *, again: int = 0, p_value: float | None = None) -> DecisionBody:
    runs = len(version.scores)
    level = None if p_value is None else version.level
    return DecisionBody(answer=answer, reason=reason, n_runs=runs, again=again, p_value=p_value, level=level)
