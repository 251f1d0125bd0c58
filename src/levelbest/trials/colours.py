"""The colour of each family, the same on the page, in figures, in the terminal and in LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from levelbest._check import Column, FloatArray

Hues = Mapping[str, int]
"""By family its place in the palette; `GREY` is that of a family that is not told apart by colour."""
GREY = 6
MOST_COLOURED = GREY
"""More colours cannot be told apart at a glance: of more families the contenders have one, the others are grey."""

# NOTE: The hues differ in lightness too, so that they stay apart for readers with protanopia, deuteranopia and
# tritanopia (tests/test_colours.py simulates them). LIGHT has a contrast of 4.5 or more to white, DARK to the dark
# card: names are written in them. TERMINAL lies between, since the background of a terminal is unknown.
LIGHT = ("#2a55e0", "#c8500a", "#0a7358", "#8a2190", "#137ca6", "#7a4300", "#66707b")
DARK = ("#6f9dff", "#f08a3c", "#2fd6a0", "#d17fc0", "#93e6ff", "#f5d75a", "#9aa6b3")
TERMINAL = ("#5c7cfa", "#d9691e", "#159a74", "#b75bbb", "#1e93c4", "#a8762a", "#808a95")


def place_hues(families: Sequence[str], ranked: Sequence[str] = ()) -> dict[str, int]:
    """A place for each family: its known where they are few, else the first places for those ``ranked`` first.

    Examples
    --------
    >>> place_hues(["svm", "mlp"])
    {'svm': 0, 'mlp': 1}
    >>> place_hues("abcdefgh", ranked="hgfedcba")["a"] == GREY
    True
    """
    if len(families) <= MOST_COLOURED:
        return {name: place for place, name in enumerate(families)}
    first = list(ranked or families)[:MOST_COLOURED]
    return {name: first.index(name) if name in first else GREY for name in families}


def contender_hues(hues: Hues, contenders: Sequence[str]) -> dict[str, int]:
    """The same with the contenders in colour and all others grey, where there are more families than colours.

    A contender that has a colour keeps it; the others take those that are free, in their order.

    Examples
    --------
    >>> hues = place_hues("abcdefgh")
    >>> contender_hues(hues, ["h", "b"])["h"], contender_hues(hues, ["h", "b"])["b"]
    (0, 1)
    """
    if len(hues) <= MOST_COLOURED:
        return dict(hues)
    shown = list(contenders)[:MOST_COLOURED]
    kept = {name: hues[name] for name in shown if hues[name] != GREY}
    free = iter(place for place in range(GREY) if place not in kept.values())
    coloured = {name: kept[name] if name in kept else next(free) for name in shown}
    return {name: coloured.get(name, GREY) for name in hues}


def ranked_hues(families: Sequence[str], family: Column, scores: FloatArray) -> Hues:
    """Places by the mean of the best fifth of each family's ``scores``, higher is better: about what the best of five
    trials comes to."""

    def level(code: int) -> tuple[float, float]:
        known = scores[family == code]
        known = known[np.isfinite(known)]
        if not known.size:
            return -np.inf, -np.inf
        last = known.size - max(1, known.size // 5)
        return float(np.partition(known, last)[last:].mean()), float(known.mean())

    order = sorted(range(len(families)), key=level, reverse=True)
    return place_hues(families, [families[code] for code in order])


def family_styles(hues: Hues, families: Sequence[str]) -> dict[str, str]:
    """The colour of each family, that of the page and the figures; rich takes the nearest that a terminal has."""
    return {name: TERMINAL[hues.get(name, GREY)] for name in families}
