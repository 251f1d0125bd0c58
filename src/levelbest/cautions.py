"""Warnings as data: what a careful reviewer would raise, with a code, a number and a sentence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CODES", "Caution"]

CODES = frozenset(
    {
        "failures", "trend", "repeated-configurations", "grid", "adaptive-sampler", "nested-seeds",
        "stops-at-success", "few-values", "ties", "selection-is-reported", "selection-uncorrelated",
        "leaky-reported", "missing-reported", "no-reported", "unequal-groups", "outlier", "beyond-trials",
        "beyond-horizon", "extrapolated", "fixed-sample", "not-normal", "paired-design", "guessed-columns",
        "converted-numbers", "skipped-rows", "still-running",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Caution:
    """One warning. It never changes a number; it says what to think of it."""

    code: str
    message: str
    family: str | None = None
    value: float | None = None

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise AssertionError(f"unknown caution code {self.code!r}")

    def __str__(self) -> str:
        return f"{self.family}: {self.message}" if self.family else self.message

    def to_dict(self) -> dict[str, str | float | None]:
        """The form that ``--json`` prints."""
        return {"code": self.code, "family": self.family, "value": self.value, "message": self.message}
