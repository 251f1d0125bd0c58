"""How results are shown: through `levelbest.report.present` only, which is imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TableText(Protocol):
    """A table that can be written as text."""

    def markdown(self) -> str:
        """As Markdown."""

    def latex(self, colours: Mapping[str, str] = MappingProxyType({})) -> str:
        """As LaTeX, with marks of these colours before the families."""


class Presenter(Protocol):
    """What `levelbest.report.present` answers of a result."""

    def sentences(self, result: object, n: int | None = None) -> tuple[str, ...]:
        """What it says."""

    def document(self, result: object) -> dict[str, object]:
        """Plain values for JSON."""

    def html(self, result: object) -> str:
        """How a notebook shows it."""

    def table(self, result: object) -> TableText:
        """Its numbers as one table."""

    def colours(self, result: object) -> Mapping[str, str]:
        """The colours of its families."""

    def draw(
        self,
        result: object,
        ax: Axes | None,
        *,
        bands: bool = True,
        log: bool = True,
        style: Mapping[str, object],
        **how: object,
    ) -> Axes:
        """Its picture on an Axes."""


def presenter() -> Presenter:
    """Who knows how results are shown."""
    from levelbest.report import present

    return present


class Documented:
    """A result that has a JSON form."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """The form that ``--json`` prints; a limit or value that does not exist is None."""
        return presenter().document(self)


class Said(Documented):
    """A result that prints as sentences."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(presenter().sentences(self))


class Shown(Said):
    """A result that notebooks show, and that has a table for a paper."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """How a notebook shows it: sentences or a picture, and a short table."""
        return presenter().html(self)

    def to_markdown(self) -> str:
        """Its table, for a README or a pull request."""
        return presenter().table(self).markdown()

    def to_latex(self) -> str:
        """Its table, for a paper: any document class compiles it; with the package booktabs it has its rules, with
        xcolor a mark of its colour before each family."""
        return presenter().table(self).latex(presenter().colours(self))


class Drawn(Shown):
    """A result that has a picture."""

    __slots__ = ()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bands: bool = True,
        log: bool = True,
        colors: Mapping[str, str] = MappingProxyType({}),
        **style: object,
    ) -> Axes:
        """Draw it on a matplotlib Axes, a new one where none is given, and return it.

        Several curves go on one Axes: ``ax = a.plot(); b.plot(ax)``.

        Parameters
        ----------
        ax
            Where to draw.
        bands
            Whether to draw limits.
        log
            Whether budgets stand on a log scale.
        colors
            By family, as matplotlib names them: ``{"svm": "tab:red"}``. Others keep the colour that they have in every
            figure and on the page.
        style
            Of the lines, as of ``Axes.plot``: ``color="black"``, ``linestyle="--"``, ``label="ours"``; a band has the
            colour of its line.
        """
        return presenter().draw(self, ax, bands=bands, log=log, colors=colors, style=style)


class DrawnVerdict(Shown):
    """A verdict, which has several pictures."""

    __slots__ = ()

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "difference",
        bands: bool = True,
        log: bool = True,
        colors: Mapping[str, str] = MappingProxyType({}),
        **style: object,
    ) -> Axes:
        """Draw it on a matplotlib Axes, a new one where none is given, and return it.

        Parameters
        ----------
        ax
            Where to draw.
        kind
            ``difference``: of each pair, over the budgets or in rows; ``ribbon``: who is best at which budget;
            ``forest``: the families at one budget, with limits; ``pareto``: their scores against what a solved problem
            costs, of samples with costs.
        bands
            Whether to draw limits.
        log
            Whether budgets stand on a log scale.
        colors
            By family, as matplotlib names them; others keep the colour that they have in every figure and on the page.
        style
            Of the lines, as of ``Axes.plot``.
        """
        return presenter().draw(self, ax, kind=kind, bands=bands, log=log, colors=colors, style=style)
