"""Verdicts: which family is better at which budget, and what would be needed to know."""

from __future__ import annotations

from levelbest.comparisons.results import Comparison, Crossing, PairComparison, Verdict
from levelbest.comparisons.verdicts import compare

__all__ = ["Comparison", "Crossing", "PairComparison", "Verdict", "compare"]
