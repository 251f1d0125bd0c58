"""Variance by source as a result: what configurations, data splits and seeds add to the variance of a run's score."""

from __future__ import annotations

from dataclasses import dataclass

from levelbest._plain import Frame, as_frame, picked
from levelbest._shown import Drawn, Said
from levelbest.stats.checks import VarianceComponents, VarianceSource


@dataclass(frozen=True)
class FamilyVariance(Said):
    """One family's variance by source. Prints as a sentence; ``to_dict`` is its JSON form."""

    family: str
    score: str
    components: VarianceComponents
    n_configurations: int
    n_runs: int
    n_failed: int
    """Runs without a score, which are left out."""
    split: str | None = None
    """The column that tells data splits apart, where they are a source."""

    @property
    def sources(self) -> tuple[VarianceSource, ...]:
        """Configurations first, seeds last."""
        return self.components.sources

    @property
    def confidence(self) -> float:
        """Of the limits, for each source separately."""
        return self.components.confidence

    def __getitem__(self, name: str) -> VarianceSource:
        """One source by its name: ``configuration``, ``split`` or ``seed``."""
        return self.components[name]

    @property
    def rows(self) -> list[dict[str, object]]:
        """One row per source."""
        rows = []
        for source in self.sources:
            low, high = self.components.share_limits(source.name)
            share = {"share": self.components.share(source.name), "share_low": low, "share_high": high}
            rows.append({"source": source.name} | picked(source, "levels", "df", "variance", "low", "high") | share)
        return rows


class Variances(Drawn, tuple[FamilyVariance, ...]):
    """The variance by source of several families: a tuple that notebooks show as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        shares = [
            f"{variance.family}: {', '.join(f'{source.name} {source.variance:.3g}' for source in variance.sources)}"
            for variance in self
        ]
        return f"Variances({'; '.join(shares)})"

    def to_frame(self) -> Frame:
        """One row per family and source, as a dataframe of pandas where it is installed, else of polars."""
        rows = [{"family": variance.family, **row} for variance in self for row in variance.rows]
        return as_frame({name: [row[name] for row in rows] for name in rows[0]})
