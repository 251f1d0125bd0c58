"""Variance by source as a result: what configurations, data splits and seeds add to the variance of a run's score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from levelbest._frames import Frame, as_frame
from levelbest._plain import picked, plain
from levelbest.stats.checks import Source, VarianceComponents

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        own = picked(self, "family", "score", "n_configurations", "n_runs", "n_failed", "split", "confidence")
        return plain(own | {"sources": self._rows()})

    def _rows(self) -> list[dict[str, object]]:
        rows = []
        for source in self.sources:
            low, high = self.components.share_limits(source.name)
            share = {"share": self.components.share(source.name), "share_low": low, "share_high": high}
            rows.append({"source": source.name} | picked(source, "levels", "df", "variance", "low", "high") | share)
        return rows


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
        rows = [{"family": own.family, **row} for own in self for row in own._rows()]
        return as_frame({name: [row[name] for row in rows] for name in rows[0]})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the standard deviation of every source with its limits on a matplotlib Axes, and return it."""
        from levelbest.report.figures.axes import draw_variances

        return draw_variances(ax, self)

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints."""
        return {"variances": [own.to_dict() for own in self]}
