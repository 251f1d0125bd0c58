"""Simulations: bias, false conclusions and coverage of any estimator or interval on any distribution."""

from __future__ import annotations

from levelbest._lazy import lazy_names

_NAMES = {
    "distributions": ("JointDistribution", "Distribution", "kde_distribution", "named_distribution"),
    "battery": ("Simulation", "false_winner", "simulate"),
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
