"""What it takes to reach a score, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from levelbest._frames import as_frame
from levelbest._plain import picked, plain
from levelbest.cautions import Caution


@dataclass(frozen=True)
class Reach:
    """What one family needs to reach one target. Infinite limits mean: not within the data."""

    family: str
    target: float
    name: str | None
    """Where the number comes from, e.g. the paper that published it."""
    n: float
    low: float
    high: float
    cost: float
    cost_low: float
    cost_high: float
    cost_unit: str | None
    axis: str
    n_trials: int
    n_failed: int
    score: str
    statistic: str
    confidence: float
    best: float
    """The curve's best value within the data."""
    furthest: float
    """The largest budget the data speak of."""
    failed: str = "worst"
    unit: str = "trial"

    @property
    def interval(self) -> tuple[float, float, float]:
        """The number of trials with its limits."""
        return self.n, self.low, self.high

    @property
    def reached(self) -> bool:
        """Whether the estimate reaches the target within the data."""
        return bool(np.isfinite(self.cost if self.axis == "cost" else self.n))

    def __str__(self) -> str:
        from levelbest.report.words.curves import reach_sentence

        return reach_sentence(self)

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; what is not within the data is None."""
        needed = picked(self, "family", "target", "name", "n", "low", "high", "cost", "cost_low", "cost_high")
        basis = picked(self, "cost_unit", "axis", "reached", "n_trials", "n_failed", "failed", "confidence")
        return plain(needed | basis | {"sentence": str(self)})


@dataclass(frozen=True)
class Reaches:
    """What every family needs to reach every target: goes through as its targets do."""

    targets: tuple[Reach, ...]
    cautions: tuple[Caution, ...] = ()
    seed: int | None = 0

    def __iter__(self) -> Iterator[Reach]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, place: int) -> Reach:
        return self.targets[place]

    def __repr__(self) -> str:
        rows = (f"{r.family} {r.target:g} at {r.cost if r.axis == 'cost' else r.n:g}" for r in self.targets)
        return f"Reaches({', '.join(rows)})"

    def __str__(self) -> str:
        return "\n".join(map(str, self.targets))

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {
            "targets": [target.to_dict() for target in self.targets],
            "warnings": [caution.to_dict() for caution in self.cautions],
            "seed": self.seed,
        }

    def to_frame(self) -> object:
        """One row per family and target, as a dataframe of pandas where it is installed, else of polars."""
        names = ("family", "target", "n", "low", "high", "cost", "cost_low", "cost_high")
        return as_frame({name: [getattr(target, name) for target in self.targets] for name in names})
