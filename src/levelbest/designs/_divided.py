"""More configurations or more seeds, for each family and pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from levelbest.designs.variance import family_variances
from levelbest.results import DividedRuns, FamilyVariance
from levelbest.stats.budgets import Division, divide_runs, power_of_division
from levelbest.trials import Trials

__all__ = ["Divided"]

Powers = tuple[tuple[str, str, tuple[tuple[Division, float], ...]], ...]


@dataclass(frozen=True)
class Divided:
    """The variance of each family by source, and what follows for how runs are divided."""

    families: tuple[str, ...]
    variances: tuple[FamilyVariance, ...]
    plans: tuple[DividedRuns, ...]
    confidence: float

    @classmethod
    def of(cls, trials: Trials, runs: int | None, confidence: float) -> Divided:
        """Of the families that have configurations with several runs."""
        variances = tuple(family_variances(trials, confidence=confidence))
        sign = trials.metric.sign
        return cls(trials.families, variances, tuple(_plan(own, runs, sign) for own in variances), confidence)

    def powers(self, pairs: Sequence[tuple[int, int]]) -> Powers:
        """For each pair of such families, the chance to tell their means apart in each way."""
        by_name = {own.family: (own, plan) for own, plan in zip(self.variances, self.plans, strict=True)}
        powers = []
        for a, b in pairs:
            first, second = self.families[a], self.families[b]
            if first not in by_name or second not in by_name:
                continue
            (own, plan), (other, _) = by_name[first], by_name[second]
            difference = own.components.mean - other.components.mean
            mean = (
                (_variance(own, "configuration") + _variance(other, "configuration")) / 2,
                (_variance(own, "seed") + _variance(other, "seed")) / 2,
            )
            ways = tuple(
                (
                    way,
                    power_of_division(difference, mean, way, n_pairs=len(pairs), confidence=self.confidence),
                )
                for way in (plan.now, *plan.ways)
            )
            powers.append((first, second, ways))
        return tuple(powers)


def _plan(variance: FamilyVariance, runs: int | None, sign: float) -> DividedRuns:
    configuration = _variance(variance, "configuration")
    seed = _variance(variance, "seed")
    each = max(round(variance.n_runs / variance.n_configurations), 1)
    (now,) = divide_runs(configuration, seed, variance.n_configurations * each, (each,))
    ways = divide_runs(configuration, seed, variance.n_runs if runs is None else runs)
    return DividedRuns(variance.family, variance.components.mean, sign, now, ways)


def _variance(variance: FamilyVariance, source: str) -> float:
    """What seeds add holds what data splits add: a further run has a split of its own too."""
    parts = {own.name: max(own.variance, 0.0) for own in variance.sources}
    return parts[source] + (parts.get("split", 0.0) if source == "seed" else 0.0)
