"""The simulation battery: bias, false conclusions and coverage of any estimator or interval on any law."""

from __future__ import annotations

from levelbest._lazy import lazy_names

_HOMES = {
    "JointLaw": "laws",
    "Law": "laws",
    "Simulation": "battery",
    "false_winner": "winners",
    "kde_law": "laws",
    "named_law": "laws",
    "simulate": "battery",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
