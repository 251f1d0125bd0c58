"""Methods of intervals by the names that a paper would give them; their construction is in the documentation."""

from __future__ import annotations

__all__ = ["interval_name"]

_NAMES = {
    "default": "default limits",
    "gaffke": "Gaffke's limits",
    "studentised": "studentised bootstrap",
    "percentile": "percentile bootstrap",
    "basic": "basic bootstrap",
    "bca": "BCa bootstrap",
    "bootstrap": "bootstrap with a further trial imagined",
    "smoothed": "smoothed bootstrap",
    "jackknife": "jackknife",
    "gaussian": "a Gaussian fit",
    "exact": "exact limits from order statistics",
    "t": "Student's t",
}


def interval_name(method: str) -> str:
    """A method's name in words; the bare name where there is none.

    Examples
    --------
    >>> interval_name("bca")
    'BCa bootstrap'
    """
    return _NAMES.get(method, method)
