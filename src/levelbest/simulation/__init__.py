"""The simulation battery: bias, false conclusions and coverage of any estimator or interval on any law."""

from __future__ import annotations

from levelbest._lazy import lazy_names

_NAMES = {
    "laws": ("JointLaw", "Law", "kde_law", "named_law"),
    "battery": ("Simulation", "false_winner", "simulate"),
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
