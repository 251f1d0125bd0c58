"""Variance by source as a result: what configurations, data splits and seeds add to the variance of a run's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from levelbest._frames import Frame, as_frame
from levelbest._plain import plain
from levelbest.stats.checks import Source, VarianceComponents

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FamilyVariance", "Variances"]


@dataclass(frozen=True)
class FamilyVariance:
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
    def sources(self) -> tuple[Source, ...]:
        """Configurations first, seeds last."""
        return self.components.sources

    @property
    def confidence(self) -> float:
        """Of the limits, for each source by itself."""
        return self.components.confidence

    def __getitem__(self, name: str) -> Source:
        """One source by its name: ``configuration``, ``split`` or ``seed``."""
        return self.components[name]

    def __str__(self) -> str:
        from levelbest.report.words.variances import variance_sentence

        return variance_sentence(self)

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return plain(
            {
                "family": self.family,
                "score": self.score,
                "n_configurations": self.n_configurations,
                "n_runs": self.n_runs,
                "n_failed": self.n_failed,
                "split": self.split,
                "confidence": self.confidence,
                "sources": [
                    {
                        "source": source.name,
                        "levels": source.levels,
                        "df": source.df,
                        "variance": source.variance,
                        "low": source.low,
                        "high": source.high,
                        "share": self.components.share(source.name),
                        "share_low": self.components.share_limits(source.name)[0],
                        "share_high": self.components.share_limits(source.name)[1],
                    }
                    for source in self.sources
                ],
            }
        )


class Variances(tuple[FamilyVariance, ...]):
    """The variance by source of several families: a tuple that notebooks show as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        shares = [
            f"{own.family}: {', '.join(f'{source.name} {source.variance:.3g}' for source in own.sources)}"
            for own in self
        ]
        return f"Variances({'; '.join(shares)})"

    def _repr_html_(self) -> str:
        """How a notebook shows it: a table."""
        from levelbest._plain import html_table
        from levelbest.report.words.variances import variance_heading, variance_table

        heads, rows = variance_table(self)
        return html_table(heads, rows, caption=variance_heading(self))

    def to_frame(self) -> Frame:
        """One row per family and source, as a dataframe of pandas where it is installed, else of polars."""
        rows = [
            (
                own.family,
                source.name,
                source.levels,
                source.df,
                source.variance,
                source.low,
                source.high,
                own.components.share(source.name),
                *own.components.share_limits(source.name),
            )
            for own in self
            for source in own.sources
        ]
        names = ("family", "source", "levels", "df", "variance", "low", "high", "share", "share_low", "share_high")
        return as_frame(dict(zip(names, zip(*rows, strict=True), strict=True)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the standard deviation of every source with its limits on a matplotlib Axes, and return it."""
        from levelbest.report.figures.variances import draw_variances

        return draw_variances(ax, self)

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {"variances": [own.to_dict() for own in self]}
