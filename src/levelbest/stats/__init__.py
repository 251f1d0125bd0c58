"""The mathematics: arrays in, arrays out. NumPy and SciPy only; no files, no frames, no plots.

Scores are one number per trial. ``selection`` picks the winner and ``reported`` is what is claimed of it;
without ``reported`` the two are the same. ``n`` is how many trials one may try.
"""

from __future__ import annotations

from levelbest._lazy import lazy_names

# name -> the module it lives in
_HOMES: dict[str, str] = {
    "Interval": "results",
    "claim_gate": "gate",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
