"""Limits of Gaffke's type for the expected best of n, from the bounds of the score.

The ranks of a continuous sample are those of sorted uniforms U_1 < ... < U_m, and E[best of n] is the integral of
the quantile function against d(u^n). Where the scores are X_1 <= ... <= X_m, a quantile function that steps up to X_j
already at U_{j-1} lies above what the sample allows, and one that stays at X_j until U_{j+1} below. With X_0 and
X_{m+1} the bounds of the score, over random U the limits are

    upper: the 1 - alpha/2 quantile of sum_{j=1}^{m+1} (U_j^n - U_{j-1}^n) X_j = X_{m+1} - sum U_j^n (X_{j+1} - X_j)
    lower: the alpha/2 quantile of sum_{j=0}^{m} (U_{j+1}^n - U_j^n) X_j = X_m - sum U_j^n (X_j - X_{j-1})

For n = 1 these are Gaffke's (2005) limits for a mean, and for 0/1 scores Clopper-Pearson's. That they cover at least at
the nominal rate for every law is a conjecture even for n = 1 (Phan, Thomas and Learned-Miller 2021 prove a relative):
the evidence is simulation. Nothing is studentised, so heavy ties do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest._check import FloatArray, IntArray
from levelbest.stats.bands._resample import allow

__all__ = ["gaffke_draws", "sorted_uniforms", "whole_power"]

_CELLS = 1 << 16  # uniforms in one piece


def gaffke_draws(
    scores: FloatArray,
    n: IntArray,
    below: Sequence[float],
    above: Sequence[float],
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draws whose quantiles are the limits: (choice, n, draw) for each X_0 in ``below``, each X_{m+1} in ``above``.

    Higher scores are better, and n increases. All choices use the same uniforms. Where the lower bound is unknown, the
    worst score may stand for it: the weight of X_0 is U_1^n, about n! m^-n, so that it matters at n = 1 and hardly
    beyond.
    """
    allow(n_draws, n.size, len(below) + len(above))
    x = np.sort(scores)
    gaps = np.column_stack([np.diff(x, prepend=start) for start in below] + [np.diff(x, append=end) for end in above])
    lost = np.empty((gaps.shape[1], n.size, n_draws))
    piece = max(1, _CELLS // x.size)
    for start in range(0, n_draws, piece):
        cut = slice(start, min(start + piece, n_draws))
        power = u = sorted_uniforms(x.size, cut.stop - start, rng)
        last = 1
        for i, budget in enumerate(n):
            step = int(budget) - last
            if step:
                power = power * whole_power(u, step)
                last = int(budget)
            lost[:, i, cut] = (power @ gaps).T
    split = len(below)
    np.subtract(x[-1], lost[:split], out=lost[:split])
    np.subtract(np.asarray(above)[:, None, None], lost[split:], out=lost[split:])
    return lost[:split], lost[split:]


def whole_power(u: FloatArray, exponent: int) -> FloatArray:
    """u to a whole power >= 1 by squaring: several times faster than the general power, and as precise here."""
    result, square = None, u
    while True:
        if exponent & 1:
            result = square if result is None else result * square
        exponent >>= 1
        if not exponent:
            return u if result is None else result
        square = square * square


def sorted_uniforms(size: int, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Order statistics of ``size`` uniforms, one draw per row: sums of exponential spacings, so nothing is sorted."""
    sums = np.cumsum(rng.standard_exponential((n_draws, size + 1)), axis=1)
    return np.asarray(sums[:, :-1] / sums[:, -1:])
