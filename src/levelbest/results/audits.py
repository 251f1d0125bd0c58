"""What a finished keep/discard log shows, as data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from levelbest._plain import Frame, as_frame
from levelbest._shown import Drawn


@dataclass(frozen=True)
class LoggedVersion:
    """One version of a log: all runs of one label."""

    label: str
    decision: str
    """``baseline``, ``keep``, ``discard``, ``crash``, or empty where the log does not say."""
    n_runs: int
    score: float | None
    """The mean of its runs."""
    part: int
    line: int
    """The line of its first run."""


@dataclass(frozen=True)
class AuditedKeep:
    """A kept version, and what is behind its score."""

    label: str
    line: int
    score: float
    step: float
    """What its score says it gained over the version kept before it; positive is better."""
    false: float | None = None
    """The probability that it is no improvement; None where the noise is unknown."""
    gain: float | None = None
    """Its expected true gain."""


@dataclass(frozen=True)
class IfNoise:
    """What would follow if one run had this standard deviation."""

    sd: float
    survive: int
    """Keeps that would be improvements at the confidence."""
    false: float
    """The expected number of keeps that would be no improvement."""
    gain: float
    """The expected true gain."""


@dataclass(frozen=True, kw_only=True)
class LogFacts:
    """What a log of attempts is about, and what was found in reading it."""

    source: str
    metric: str
    direction: str
    how: str
    """How the direction is known: ``given``, ``log``, ``name`` or ``kept``, from the kept scores."""
    changes: tuple[str, ...] = ()
    """What changed where a part begins, from the second on: ``budget`` or ``baseline``."""
    unknown: tuple[str, ...] = ()
    """Words of the status column that are no decision."""
    on_top: int = 0
    """Attempts that the log lists under the label of another version."""
    left_out: int = 0
    """Rows of another metric or kind than the one that is judged."""
    kind: tuple[str, str] | None = None
    """The column that distinguishes kinds and the kind that is judged, or an empty string and the metric."""
    skipped: tuple[str, ...] = ()
    """Lines that could not be read as rows."""

    @property
    def facts(self) -> dict[str, Any]:
        """These, by name."""
        return {field.name: getattr(self, field.name) for field in fields(LogFacts)}


@dataclass(frozen=True, kw_only=True)
class Audit(LogFacts, Drawn):
    """A finished loop, judged: its keeps, how many are expected from noise alone, and which survive."""

    versions: tuple[LoggedVersion, ...]
    keeps: tuple[AuditedKeep, ...]
    by_noise: float
    """Keeps expected where no version differs from the first."""
    claimed: float
    """The gain from the first to the last kept score, over all parts."""
    confidence: float
    sd: float | None = None
    """Of one run; None where nothing was run twice."""
    df: int = 0
    """Degrees of freedom behind it."""
    gain: float | None = None
    """The expected true gain."""
    false_range: tuple[int, int] | None = None
    """How many keeps are likely to be no improvement: the least and the most."""
    scenarios: tuple[IfNoise, ...] = ()
    """Where the noise is unknown: what would follow from some sizes of it."""
    inferred: bool = False
    """Whether the log has no decisions, so that every new best score counts as a keep."""

    def count(self, decision: str) -> int:
        """How many versions have this decision."""
        return sum(version.decision == decision for version in self.versions)

    @property
    def n_attempts(self) -> int:
        """Versions after the first of each part."""
        return len(self.versions) - self.count("baseline")

    @property
    def false_keeps(self) -> float | None:
        """How many keeps are no improvement, expected; None where the noise is unknown."""
        known = [keep.false for keep in self.keeps if keep.false is not None]
        return sum(known) if len(known) == len(self.keeps) and self.sd is not None else None

    @property
    def n_no_better(self) -> int:
        """Keeps that scored no better than the version that was kept before them."""
        return sum(keep.step <= 0 for keep in self.keeps)

    @property
    def survivors(self) -> tuple[AuditedKeep, ...]:
        """Keeps that are improvements at the confidence."""
        return tuple(keep for keep in self.keeps if keep.false is not None and keep.false <= 1 - self.confidence)

    def __repr__(self) -> str:
        return f"Audit({self.source}: {self.n_attempts} attempts, {len(self.keeps)} kept)"

    def to_frame(self) -> Frame:
        """One row per keep, as a dataframe of pandas where it is installed, else of polars."""
        names = ("label", "line", "score", "step", "false", "gain")
        return as_frame({name: [getattr(keep, name) for keep in self.keeps] for name in names})
