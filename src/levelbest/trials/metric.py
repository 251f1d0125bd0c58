"""What scores are: which columns, which way is better, and between which bounds they lie."""

from __future__ import annotations

from dataclasses import dataclass

from levelbest import _check
from levelbest._check import Bounds

__all__ = ["Metric"]


@dataclass(frozen=True)
class Metric:
    """What the scores are: which columns, which way is better, and between which bounds they lie."""

    direction: str
    selection: str = "selection"
    reported: str | None = None
    bounds: Bounds = (None, None)
    """Bounds of the score that curves are of: the reported one, or the selection score where there is no other."""
    cost: str | None = None
    cost_unit: str | None = None

    def __post_init__(self) -> None:
        _check.as_direction(self.direction)
        object.__setattr__(self, "bounds", _check.as_bounds(self.bounds))

    @property
    def sign(self) -> float:
        """1 where higher is better, -1 where lower is: a score times this is turned so that higher is better."""
        return _check.sign_of(self.direction)

    @property
    def score(self) -> str:
        """The column that curves are of."""
        return self.reported or self.selection

    @property
    def worst(self) -> float | None:
        """The worst possible score, where there is one."""
        return self.bounds[0 if self.direction == "max" else 1]

    @property
    def turned_bounds(self) -> Bounds:
        """The bounds of scores turned so that higher is better."""
        from levelbest.stats.best import turned_bounds

        return turned_bounds(self.bounds, self.direction)
