"""The evaluation of a claim from summary numbers, as data."""

from __future__ import annotations

from dataclasses import dataclass

from levelbest._plain import Frame, as_frame
from levelbest._shown import Shown
from levelbest.stats.budgets import ClaimReading, Summary


@dataclass(frozen=True)
class ClaimedPair:
    """One claim against the baseline: what is said of it, and what follows from each reading of the ±."""

    claim: Summary
    readings: tuple[ClaimReading, ...]

    @property
    def decided(self) -> set[int]:
        """What the readings decide: 1 where the claim is better, -1 where it is worse, 0 where it is not shown."""
        return {reading.decided for reading in self.readings}


@dataclass(frozen=True, eq=False)
class Claim(Shown):
    """Claims made by summary numbers, each judged against one baseline. Prints as sentences."""

    baseline: Summary
    pairs: tuple[ClaimedPair, ...]
    confidence: float
    """Of all claims together."""
    direction: str
    search_sd: float | None = None
    """The standard deviation of the trials of a search, where it was given."""
    noise: float | None = None
    """The standard deviation of the noise of validation, where it was given."""

    def __repr__(self) -> str:
        against = ", ".join(f"{pair.claim.name}: {pair.readings[0].difference:+.4g}" for pair in self.pairs)
        return f"Claim(against {self.baseline.name}: {against})"

    def to_frame(self) -> Frame:
        """One row per claim and reading of the ±, as a dataframe of pandas where it is installed, else of polars."""
        rows = [(pair.claim.name, reading) for pair in self.pairs for reading in pair.readings]
        names = ("reading", "difference", "low", "high", "p_value")
        columns: dict[str, list[object]] = {"claim": [name for name, _ in rows]}
        columns |= {name: [getattr(reading, name) for _, reading in rows] for name in names}
        for place, name in enumerate(("explained", "explained_with_noise")):
            gains = [reading.searches[place].gain if place < len(reading.searches) else None for _, reading in rows]
            columns[name] = list(gains)
        return as_frame(columns)
