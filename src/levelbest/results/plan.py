"""What it would take to know, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from levelbest._plain import plain
from levelbest.cautions import Caution
from levelbest.stats.budgets import Needed
from levelbest.stats.problems import GroupPlan

__all__ = ["TrialPlan"]


@dataclass(frozen=True, eq=False)
class TrialPlan:
    """How many more trials (or problems), and how far exact bands reach. Prints as sentences."""

    widths: tuple[tuple[str, Needed], ...]
    separations: tuple[tuple[str, str, Needed], ...]
    problems: tuple[tuple[str, GroupPlan], ...]
    horizons: tuple[tuple[int, int], ...]
    """(number of trials, largest n at which the median curve has a limit on the side that is best)."""
    confidence: float
    power: float
    score: str
    seed: int | None
    cautions: tuple[Caution, ...] = ()
    unplanned: tuple[tuple[str, str, str], ...] = ()
    """(family, stratum, why): strata whose problems allow no plan."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to do, in words."""
        from levelbest.report.words.plans import plan_sentences

        return plan_sentences(self)

    def __repr__(self) -> str:
        widths = [f"{family}: {needed.needed:g}" for family, needed in self.widths]
        pairs = [f"{first} - {second}: {needed.needed:g}" for first, second, needed in self.separations]
        return f"TrialPlan({', '.join([*widths, *pairs])})"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """The form that ``--json`` prints; what is out of reach is None."""
        document: dict[str, object] = plain(
            {
                "widths": [{"family": family} | one.to_dict() for family, one in self.widths],
                "separations": [
                    {"families": [first, second]} | one.to_dict() for first, second, one in self.separations
                ],
                "problems": [
                    {
                        "family": family,
                        "n": one.n,
                        "error": one.error,
                        "target": one.target,
                        "n_groups": one.n_groups,
                        "groups_needed": one.groups_needed,
                        "samples_needed": one.samples_needed,
                    }
                    for family, one in self.problems
                ],
                "unplanned": [
                    {"family": family, "stratum": stratum, "reason": why} for family, stratum, why in self.unplanned
                ],
                "horizons": [{"n_trials": size, "n": n} for size, n in self.horizons],
                "confidence": self.confidence,
                "power": self.power,
                "seed": self.seed,
                "sentences": list(self.sentences),
                "warnings": [caution.to_dict() for caution in self.cautions],
            }
        )
        return document
