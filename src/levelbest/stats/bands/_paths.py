"""Exact probabilities that an empirical distribution stays between limits.

With n_trials uniform numbers and N(t) = how many of them are at most t, every exact band of this package needs
P(low_k <= N(t_k) <= high_k for every k). N is a Markov chain. Seen as a Poisson process of rate n_trials its
increments are independent, so one step is a convolution with Poisson masses, cut to the window low_k..high_k;
given N(1) = n_trials the process is N again, so the result is divided by P(Poisson(n_trials) = n_trials).

Numerics. Every term is positive, so nothing cancels: the relative rounding error is a small multiple of the number
of steps times 2e-16. Poisson masses beyond both 1e-20 tails are left out; with K steps that changes the result by
at most 2e-20 K sqrt(2 pi n_trials), 1e-13 for the largest problems this package poses. The masses that are kept
sum to at most one and end at about 1/sqrt(2 pi n_trials), so nothing underflows that matters.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import scipy

from levelbest._check import FloatArray, IntArray

_PATH_TAIL = 1e-20
_EXACT_REACH = 64.0  # up to this mean the 1e-20 points are tabulated, beyond it they are bounded in closed form


def path_probability(n_trials: int, levels: FloatArray, low: IntArray, high: IntArray) -> float:
    """P(low_k <= N(levels_k) <= high_k for every k), for levels in (0, 1) that do not fall."""
    if levels.size == 0:
        return 1.0
    if (low > high).any():
        return 0.0
    state, base = _last(_forward(n_trials, levels, low, high))
    return _close(n_trials, float(levels[-1]), state, base)


def symmetric_order_probability(n_trials: int, lower: FloatArray, upper: FloatArray) -> float:
    """P(lower_i <= U_(i) <= upper_i for every i), U_(i) the i-th smallest of n_trials uniform numbers.

    The limits do not fall with i, and are their own mirror image, upper_i = 1 - lower_(n_trials+1-i): half the work.

    Read backwards from 1 the process has the same distribution and meets the same limits, so with f(c) the Poisson mass
    of the paths that reach c at t = 1/2, the probability is sum_c f(c) f(n_trials - c) / P(Poisson(n_trials) =
    n_trials).
    """
    if upper[0] <= 0:
        return 0.0
    levels, low, high = _merged(lower, upper)
    half = int(np.searchsorted(levels, 0.5))
    # The half way point is itself a level: its window is that of the nearest limits on either side.
    first_low = low[half - 1] if half else 0
    first_high = high[half] if half < levels.size else n_trials
    levels = np.append(levels[:half], 0.5)
    low, high = np.append(low[:half], first_low), np.append(high[:half], first_high)
    if (low > high).any():
        return 0.0
    state, base = _last(_forward(n_trials, levels, low, high))
    mirrored = np.zeros_like(state)  # f(n_trials - c) for the counts c of state
    counts = n_trials - base - np.arange(state.size) - base
    held = (counts >= 0) & (counts < state.size)
    mirrored[held] = state[counts[held]]
    return min(1.0, float(state @ mirrored) / _mass_at_mean(n_trials))


def limit_losses(
    n_trials: int, levels: FloatArray, low: IntArray, high: IntArray
) -> tuple[float, FloatArray, FloatArray]:
    """The path probability, and what each limit alone would take from it if it were one count tighter.

    One pass forward and one backward give all of them: the paths lost are those through (levels_k, low_k),
    whose mass is the forward mass there times the backward mass.
    """
    ahead = list(_forward(n_trials, levels, low, high))
    behind = _backward(n_trials, levels, low, high)
    total = _close(n_trials, float(levels[-1]), *ahead[-1])
    at_low, at_high = np.zeros(levels.size), np.zeros(levels.size)
    scale = _mass_at_mean(n_trials)
    for k, ((state, base), rest) in enumerate(zip(ahead, behind, strict=True)):
        for place, out in ((low[k], at_low), (high[k], at_high)):
            if 0 <= place - base < state.size:
                out[k] = state[place - base] * rest[place - low[k]] / scale
    return total, at_low, at_high


def largest_level(coverage: Callable[[float], float], confidence: float, guess: float, *, most: float = 1.0) -> float:
    """The local level in (0, most) at which a coverage that falls smoothly with the level meets ``confidence``.

    Secant steps on log(1 - coverage) against log(level), which is close to a straight line, held inside a bracket.
    The level returned has coverage >= confidence - 1e-12.
    """
    target, top = math.log1p(-confidence), math.log(most)
    below, above = -700.0, top
    x, slope = min(math.log(guess), top - 1e-9), 1.15
    seen: tuple[float, float] | None = None
    for _ in range(200):
        covered = coverage(math.exp(x))
        if abs(covered - confidence) <= 1e-12:
            return math.exp(x)
        y = math.log1p(-covered) if covered < 1 else -800.0
        below, above = (x, above) if covered >= confidence else (below, x)
        if above - below < 1e-12:
            break
        if seen is not None and seen[0] != x and seen[1] != y:
            slope = (y - seen[1]) / (x - seen[0])
        seen, step = (x, y), (target - y) / slope
        x = x + min(max(step, -3.0), 3.0)
        if not below < x < above:
            x = 0.5 * (max(below, above - 6.0) + above) if above < top else 0.5 * (below + above)
    return math.exp(below)


def _merged(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Limits on order statistics as limits on counts: U_(i) >= a is N(a) <= i - 1, U_(i) <= b is N(b) >= i."""
    levels = np.sort(np.concatenate([lower, upper]))
    levels = levels[(levels > 0) & (levels < 1)]
    return levels, np.searchsorted(upper, levels, side="right"), np.searchsorted(lower, levels, side="left")


def _forward(n_trials: int, levels: FloatArray, low: IntArray, high: IntArray) -> Iterator[tuple[FloatArray, int]]:
    """After every level: Poisson masses of the paths inside all windows so far, and the count of the first."""
    state, base = np.ones(1), 0
    convolve, steps = np.convolve, _steps(n_trials, levels, low, high)
    for (jump, masses), least, most in zip(steps, low.tolist(), high.tolist(), strict=True):
        state = convolve(state, masses)
        base += jump
        if base < least:
            state, base = state[least - base :], least
        state = state[: max(0, most + 1 - base)]
        if state.size == 0:
            state, base = np.zeros(1), least
        yield state, base


def _last(states: Iterator[tuple[FloatArray, int]]) -> tuple[FloatArray, int]:
    return deque(states, maxlen=1)[0]


def _backward(n_trials: int, levels: FloatArray, low: IntArray, high: IntArray) -> list[FloatArray]:
    """At every level, for the counts low_k..high_k: the Poisson mass of going on inside the windows to n_trials."""
    counts = np.arange(low[-1], high[-1] + 1)
    rest = _poisson(n_trials - counts, n_trials * (1 - levels[-1]))
    out = [rest]
    steps = _steps(n_trials, levels, low, high)
    for k in range(levels.size - 1, 0, -1):
        jump, masses = steps[k]
        spread = np.convolve(rest, masses[::-1])
        first = int(low[k]) - jump - (masses.size - 1)  # the count that spread[0] stands for
        rest = np.zeros(int(high[k - 1] - low[k - 1]) + 1)
        start, stop = max(first, int(low[k - 1])), min(first + spread.size, int(high[k - 1]) + 1)
        if start < stop:
            rest[start - low[k - 1] : stop - low[k - 1]] = spread[start - first : stop - first]
        out.append(rest)
    return out[::-1]


def _close(n_trials: int, level: float, state: FloatArray, base: int) -> float:
    left = n_trials - base - np.arange(state.size)
    return min(1.0, float(state @ _poisson(left, n_trials * (1 - level))) / _mass_at_mean(n_trials))


def _steps(n_trials: int, levels: FloatArray, low: IntArray, high: IntArray) -> list[tuple[int, FloatArray]]:
    """For every step the smallest increment kept and the Poisson masses from there on."""
    means = n_trials * np.diff(levels, prepend=0.0)
    least, most = _reach(means)
    # Increments that no window allows are left out as well.
    most = np.minimum(most, high - np.insert(low[:-1], 0, 0))
    least = np.maximum(least, np.maximum(0, low - np.insert(high[:-1], 0, 0)))
    sizes = np.maximum(most - least + 1, 1)
    ends = np.cumsum(sizes)
    increments = np.arange(ends[-1]) - np.repeat(ends - sizes - least, sizes)
    masses = _poisson(increments, np.repeat(means, sizes))
    bounds = [0, *ends.tolist()]
    return [(int(least[k]), masses[bounds[k] : bounds[k + 1]]) for k in range(levels.size)]


def _reach(means: FloatArray) -> tuple[IntArray, IntArray]:
    """Increments least..most outside which a Poisson variable falls with probability at most 1e-20 on each side."""
    upper, lower = _reach_table()
    nats = -math.log(_PATH_TAIL)
    # Bernstein: P(X >= mean + x) <= exp(-x^2 / (2 mean + 2 x / 3)), P(X <= mean - x) <= exp(-x^2 / (2 mean)).
    far_most = np.ceil(means + nats / 3 + np.sqrt((nats / 3) ** 2 + 2 * nats * means))
    far_least = np.floor(np.maximum(0.0, means - np.sqrt(2 * nats * means)))
    small = means <= _EXACT_REACH
    most = np.where(small, np.searchsorted(upper, means, side="left"), far_most)
    least = np.where(small, np.searchsorted(lower, means, side="right"), far_least)
    return least.astype(np.int64), most.astype(np.int64)


@cache
def _reach_table() -> tuple[FloatArray, FloatArray]:
    # P(Poisson(mean) > j) = P(Gamma(j + 1) <= mean) and P(Poisson(mean) < j) = P(Gamma(j) > mean).
    above = np.arange(1.0, 256.0)
    upper, lower = scipy.special.gammaincinv(above, _PATH_TAIL), scipy.special.gammainccinv(above[:64], _PATH_TAIL)
    return np.asarray(upper, dtype=np.float64), np.asarray(lower, dtype=np.float64)


def _poisson(count: IntArray, mean: FloatArray | float) -> FloatArray:
    """Poisson masses, zero for negative counts.

    exp(k log mean - mean - log k!) loses about k log(k) 1e-16, so for large means it is Loader's form instead: with
    d = (k - mean) / mean the exponent is -mean ((1 + d) log1p(d) - d) - R(k), R the Stirling remainder, and its
    rounding error is mean |d| 1e-16, of order sqrt(mean) 1e-16 wherever the mass matters.
    """
    mean = np.broadcast_to(np.asarray(mean, dtype=np.float64), count.shape)
    k = np.maximum(count, 0).astype(np.float64)
    big = (mean > 256) & (count > 32)
    out = np.exp(scipy.special.xlogy(k, mean) - mean - scipy.special.gammaln(k + 1))
    if big.any():
        kb, mb = k[big], mean[big]
        d = (kb - mb) / mb
        out[big] = np.exp(-mb * ((1 + d) * np.log1p(d) - d) - _stirling(kb)) / np.sqrt(2 * np.pi * kb)
    out[count < 0] = 0.0
    return np.asarray(out)


def _mass_at_mean(n: int) -> float:
    """P(Poisson(n) = n) = n^n exp(-n) / n!."""
    if n <= 32:
        return math.exp(n * math.log(n) - n - math.lgamma(n + 1))
    return math.exp(-float(_stirling(np.array([float(n)]))[0])) / math.sqrt(2 * math.pi * n)


def _stirling(k: FloatArray) -> FloatArray:
    """log k! - (k log k - k + log(2 pi k) / 2), to 1e-16 for k > 32."""
    return (1 / 12 - (1 / 360 - 1 / (1260 * k * k)) / (k * k)) / k
