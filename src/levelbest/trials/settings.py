"""Settings: what every verb can be told, with its default, in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from levelbest import _check
from levelbest._check import N_RESAMPLES
from levelbest.trials.failures import as_failure_policy, as_missing_policy

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How surely, how failures and missing reported scores count, and how many random draws from which seed.

    Parameters
    ----------
    confidence
        Of limits and verdicts.
    failed
        ``worst``: a failed trial has the worst score; ``drop``: it is left out, which flatters its family.
    missing
        What a trial without a reported score is: ``refuse``, ``drop``, ``worst`` or ``selection`` (use the selection
        score alone).
    n_resamples
        Random draws behind a limit.
    rng
        The random seed; the same seed gives the same numbers.

    Examples
    --------
    >>> Settings(confidence=0.9).failed
    'worst'
    """

    confidence: float = 0.95
    failed: str = "worst"
    missing: str = "refuse"
    n_resamples: int = N_RESAMPLES
    rng: int | None = 0

    def __post_init__(self) -> None:
        _check.as_confidence(self.confidence)
        as_failure_policy(self.failed)
        as_missing_policy(self.missing)
        _check.as_count(self.n_resamples, "n_resamples")

    @property
    def other_policy(self) -> Settings:
        """The same with failures counted the other way."""
        return replace(self, failed="drop" if self.failed == "worst" else "worst")
