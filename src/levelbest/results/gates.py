"""The decision of a gate, as data."""

from __future__ import annotations

from dataclasses import dataclass

from levelbest._plain import Frame, as_frame
from levelbest._shown import Shown
from levelbest.results.comparison import PairComparison

PASS, REGRESSED, INCONCLUSIVE = "pass", "regressed", "inconclusive"


@dataclass(frozen=True)
class BrokenProblem:
    """A problem on which the candidate is certified to be worse."""

    problem: str
    baseline: float
    candidate: float
    """The mean scores of both."""
    p_value: float
    """Adjusted for all problems together (Holm)."""


@dataclass(frozen=True, eq=False)
class GateDecision(Shown):
    """Whether a candidate may pass: certified to be no worse than ``worth``, certified to be worse, or neither."""

    decision: str
    """``pass``, ``regressed`` or ``inconclusive``."""
    baseline: str
    candidate: str
    pair: PairComparison
    """The candidate minus the baseline, positive where the candidate is better."""
    worth: float
    """The loss that would matter."""
    given: bool
    """Whether that was given, or is the default."""
    confidence: float
    about: str = ""
    """What the decision is about: ``suite``, exactly these problems; ``problems`` that they stand for; empty: runs."""
    broken: tuple[BrokenProblem, ...] = ()
    n_problems: int | None = None
    further: float = float("nan")
    """Further runs of both that would probably decide, of the whole suite; NaN where unknown."""
    absent: tuple[str, ...] = ()
    """Problems of the baseline of which the candidate has no run: without them nothing passes."""
    added: tuple[str, ...] = ()
    """Problems of which only the candidate has runs: they are not compared."""
    n_failed: tuple[int, int] = (0, 0)
    """Runs of single problems that failed: of the candidate, and of the baseline."""
    run_spread: float | None = None
    """The variance of whole runs over that of independent problems; None where it is not known which run a row is."""
    whole_runs: bool = False
    """Whether whole runs are compared, because scores within a run are correlated."""

    @property
    def of_suite(self) -> bool:
        """Whether it is about exactly these problems."""
        return self.about == "suite"

    def __repr__(self) -> str:
        return f"GateDecision({self.decision}: {self.candidate} against {self.baseline})"

    def to_frame(self) -> Frame:
        """One row per broken problem, as a dataframe of pandas where it is installed, else of polars."""
        names = ("problem", "baseline", "candidate", "p_value")
        return as_frame({name: [getattr(row, name) for row in self.broken] for name in names})


@dataclass(frozen=True, eq=False)
class Requirement(Shown):
    """A claim about two families, and whether the trials certify it."""

    text: str
    certified: bool
    first: str
    second: str
    margin: float
    """``first`` is claimed to be better than ``second`` by more than this; a loss that is allowed is negative."""
    bound: float
    """What is certified of the difference: that it is more than this."""
    pair: PairComparison

    def __bool__(self) -> bool:
        return self.certified

    def __repr__(self) -> str:
        return f"Requirement({self.text!r}: {'certified' if self.certified else 'not certified'})"
