"""The coverage that simulation has certified for each interval, as shipped with the package."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources

__all__ = ["certified_coverage"]


Cells = dict[str, dict[str, dict[str, float]]]
"""method -> n_trials -> n / n_trials -> coverage"""


@lru_cache(maxsize=1)
def _certificate() -> dict[str, Cells]:
    """kind -> method -> n_trials -> n / n_trials -> lowest coverage over the laws; empty where none is shipped."""
    file = resources.files("levelbest") / "data" / "coverage.json"
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    kinds: dict[str, Cells] = json.loads(text)["kinds"]
    return kinds


def certified_coverage(method: str, n_trials: int, n: int, *, kind: str = "mean") -> float | None:
    """Lowest coverage over all laws of the certificate, at the nearest smaller number of trials and n / n_trials.

    ``kind`` is ``mean``, ``bounded mean``, ``reported mean``, ``bounded reported mean`` or ``reported median``. None
    where the certificate has nothing at or below this size.
    """
    sizes = _certificate().get(kind, {}).get(method, {})
    smaller = [size for size in sizes if int(size) <= n_trials]
    if not smaller:
        return None
    cells = sizes[max(smaller, key=int)]
    shares = [share for share in cells if float(share) <= n / n_trials + 1e-9]
    # below the first share of the certificate, the first one is the nearest
    chosen = max(shares, key=float) if shares else min(cells, key=float)
    return float(cells[chosen])
