"""Answers and state of a research loop, as data."""

from __future__ import annotations

from dataclasses import dataclass

from levelbest._plain import Frame, as_frame
from levelbest._shown import Drawn, Said


@dataclass(frozen=True)
class LoopDecision(Said):
    """The answer of a loop after a run of a candidate."""

    candidate: str
    answer: str
    """``keep``, ``discard``, or ``again``: ``again`` more runs are wanted."""
    reason: str
    """A code of `levelbest.report.words.loops`."""
    n_runs: int
    """Runs of the candidate so far."""
    again: int = 0
    """Further runs of it that are wanted."""
    p_value: float | None = None
    """Of the fresh runs of the last stage, where it came to that."""
    level: float | None = None
    """What the p-value must not exceed: the level that SAFFRON gave this candidate."""
    baseline: str = ""
    """What it was compared with."""
    seeds: tuple[int, ...] = ()
    """Seeds for the runs that are wanted, drawn before any of them."""
    n_attempts: int = 0
    """Candidates of the loop so far, this one included."""
    deterministic: bool = False
    """Whether every version that was run twice scored exactly the same."""

    @property
    def final(self) -> bool:
        """Whether nothing more is asked of this candidate."""
        return self.answer != "again"


@dataclass(frozen=True)
class Attempt:
    """One candidate of a loop."""

    candidate: str
    answer: str
    reason: str
    n_runs: int
    score: float | None
    """The mean of its runs; None where none has a score."""
    p_value: float | None = None
    level: float | None = None


@dataclass(frozen=True)
class LoopState(Drawn):
    """The state of a loop: its baseline, and every attempt in the order of its first run."""

    metric: str
    direction: str
    confidence: float
    baseline: str
    """The version that the next candidate must beat: ``baseline``, or the candidate that was kept last."""
    n_baseline: int
    """Runs in its pool."""
    pool: int
    """Runs that the pool must have before a noisy candidate is judged."""
    attempts: tuple[Attempt, ...]
    n_runs: int
    """Runs in all, those of baselines included."""
    deterministic: bool
    head: str = ""
    """The hash of the ledger's last record."""

    @property
    def missing(self) -> int:
        """Baseline runs that are still to be recorded before a candidate can be judged."""
        wanted = 2 if self.deterministic or self.n_baseline < 2 else self.pool
        return max(0, wanted - self.n_baseline)

    @property
    def kept(self) -> tuple[str, ...]:
        """The candidates that were kept, oldest first."""
        return tuple(attempt.candidate for attempt in self.attempts if attempt.answer == "keep")

    def __repr__(self) -> str:
        return f"LoopState({len(self.attempts)} attempts, {len(self.kept)} kept, {self.n_runs} runs)"

    def to_frame(self) -> Frame:
        """One row per attempt, as a dataframe of pandas where it is installed, else of polars."""
        names = ("candidate", "answer", "reason", "n_runs", "score", "p_value", "level")
        return as_frame({name: [getattr(attempt, name) for attempt in self.attempts] for name in names})
