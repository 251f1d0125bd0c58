"""Estimates the true improvements behind the kept scores of a finished loop, given the noise of one run.

Each version differs from the version that was kept before it by a step; what was recorded is its true score plus noise
of a known standard deviation. The steps of all attempts, kept and discarded, come from one unknown distribution, which
is estimated from all of them; then each kept step has a distribution given everything that was recorded. That what was
kept was chosen by its score changes nothing there: the choice is a function of the scores, and all scores are in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from levelbest._check import BoolArray, FloatArray, IntArray

_GRID_STEP = 0.25
"""Grid of true scores, in standard deviations of a run.

NOTE: it trades time for detail; a step is at least `_SHORTEST_STEP`, so that a finer grid moves no count.
"""
_SHORTEST_STEP = 0.5
"""Steps shorter than this, in standard deviations, count as none.

NOTE: the expected number of false keeps over the true one, generated logs with 2, 3 and 5 runs a version: .98 to 1.14
with .5, .98 to 1.36 with 1; without the gap .5 to .65, because the scores of equal versions fit short steps as well.
"""
_FURTHEST = 4.0
"""Largest step of one attempt that the grid has beyond those observed, in standard deviations."""
_RANGE_TAIL = 0.002
"""On either side of the range of false keeps.

NOTE: the steps' distribution is estimated from the same log, and that is not in the probabilities. The range held the
true number in .93 to 1.00 of 80 generated logs a row (docs/gates.md); with .025 in .89 to .94.
"""
_TINY = 1e-300
_MOST_STATES = 400
_EM_ROUNDS = 30


@dataclass(frozen=True)
class Steps:
    """What is known of the kept steps of a loop."""

    false: FloatArray
    """For each keep the probability that it is no improvement."""
    gain: FloatArray
    """For each keep the expected true step."""
    total: float
    """The expected true gain from the first version to the last that was kept."""


def true_steps(scores: FloatArray, errors: FloatArray, parents: IntArray, kept: BoolArray, sd: float) -> Steps:
    """The true steps behind the keeps of a loop.

    Parameters
    ----------
    scores
        One for each version, in order, the first baseline first; higher is better.
    errors
        The standard deviation of each score: that of a run, over the root of how many there were.
    parents
        The version that each was compared with; of the first -1.
    kept
        Which of them were kept; the first is.
    sd
        The standard deviation of one run, above 0: the scale of the grid.

    Returns
    -------
    Steps
        For each keep after the first, in order.

    Notes
    -----
    1. True scores lie on a grid; a step is none, or the difference of two points at least half an sd apart. Half of the
       weight is on none to begin with.
    2. The kept versions are a chain: forwards and backwards over it, as in a hidden Markov model, each state having
       seen its own score and those of all discarded attempts on top of it.
    3. The weights become the expected shares of the steps of all attempts; 2 and 3 are repeated (EM).

    Examples
    --------
    >>> import numpy as np
    >>> scores, kept = np.array([0.0, 5.0, 5.5, 4.9]), np.array([True, True, True, False])
    >>> steps = true_steps(scores, np.full(4, 1.0), np.array([-1, 0, 1, 2]), kept, 1.0)
    >>> bool(steps.false[0] < steps.false[1])
    True
    """
    grid, width = _grid(scores, sd)
    offsets = np.arange(-width, width + 1)
    possible = (offsets == 0) | (np.abs(offsets) * (grid[1] - grid[0]) >= _SHORTEST_STEP * sd)
    weights = np.where(offsets == 0, 0.5, 0.5 / max(1, possible.sum() - 1)) * possible
    chain, leaves = np.flatnonzero(kept), np.flatnonzero(~kept)
    place = np.full(scores.size, -1)
    place[chain] = np.arange(chain.size)
    parent = place[parents[leaves]]
    seen = np.exp(-0.5 * ((scores[:, None] - grid) / errors[:, None]) ** 2)  # version x true score
    shift = _Shift(grid.size, offsets)
    for _ in range(_EM_ROUNDS):
        moves = shift.matrix(weights)
        # what a discarded attempt says of its parent: sum over steps of weight times the density of its score
        density = np.maximum(seen[leaves] @ moves.T, _TINY)
        evidence = seen[chain].copy()
        for k, row in zip(parent, density / density.max(axis=1, keepdims=True), strict=True):
            evidence[k] *= row
        forward, backward = _passes(evidence, moves)
        before, after = forward[:-1], evidence[1:] * backward[1:]
        of_pairs = np.maximum(np.einsum("ki,ki->k", before @ moves, after), _TINY)
        without = (forward * backward)[parent] / density
        of_leaves = np.maximum(np.einsum("ki,ki->k", without, density), _TINY)
        joint = (before / of_pairs[:, None]).T @ after + (without / of_leaves[:, None]).T @ seen[leaves]
        # one attempt's worth besides: no possible step has a weight of zero
        counts = weights * shift.sums(joint) + possible / possible.sum()
        last, weights = weights, counts / counts.sum()
    shares = np.stack([last * shift.sums(np.outer(*pair)) for pair in zip(before, after, strict=True)])
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), _TINY)
    gain = shares @ (offsets * (grid[1] - grid[0]))
    return Steps(shares[:, offsets <= 0].sum(axis=1), gain, float(gain.sum()))


def _grid(scores: FloatArray, sd: float) -> tuple[FloatArray, int]:
    """True scores that are possible, and the largest step in points of it."""
    low, high = float(scores.min()) - 3 * sd, float(scores.max()) + 3 * sd
    spacing = max(_GRID_STEP * sd, (high - low) / _MOST_STATES)
    grid = np.arange(low, high + spacing, spacing)
    return grid, min(grid.size - 1, round((_FURTHEST * sd + float(np.ptp(scores))) / spacing))


class _Shift:
    """Steps between the true scores of a grid: from each (row) to each (column)."""

    def __init__(self, size: int, offsets: IntArray) -> None:
        places = np.arange(size)[None, :] - np.arange(size)[:, None] - offsets[0]
        self.n_steps = offsets.size
        self.inside = (places >= 0) & (places < offsets.size)
        self.places = np.clip(places, 0, offsets.size - 1)

    def matrix(self, weights: FloatArray) -> FloatArray:
        """The weight of the step from one score to another."""
        return np.where(self.inside, weights[self.places], 0.0)

    def sums(self, joint: FloatArray) -> FloatArray:
        """By step, of what stands at pairs of scores."""
        summed = np.bincount(self.places[self.inside], joint[self.inside], self.n_steps)
        return np.asarray(summed, dtype=np.float64)


def _passes(evidence: FloatArray, moves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Forwards with each state's evidence in, backwards with it out; both scaled."""
    forward, backward = np.empty_like(evidence), np.ones_like(evidence)
    forward[0] = evidence[0] / evidence[0].sum()
    for k in range(1, len(evidence)):
        forward[k] = (forward[k - 1] @ moves) * evidence[k]
        forward[k] /= max(forward[k].sum(), _TINY)
    for k in range(len(evidence) - 2, -1, -1):
        backward[k] = np.maximum(moves @ (evidence[k + 1] * backward[k + 1]), _TINY)
        backward[k] /= backward[k].max()
    return forward, backward


def likely_count(chances: FloatArray) -> tuple[int, int]:
    """The range of how many of several events happen, each with its own chance (Poisson binomial).

    Parameters
    ----------
    chances
        One for each.

    Returns
    -------
    tuple
        The least and the largest likely count.

    Examples
    --------
    >>> likely_count(np.array([0.0, 1.0, 1.0])), likely_count(np.full(4, 0.5))
    ((2, 2), (0, 4))
    """
    shares = np.ones(1)
    for chance in chances:
        shares = np.convolve(shares, [1 - chance, chance])
    below = np.cumsum(shares)
    return int(np.searchsorted(below, _RANGE_TAIL)), int(np.searchsorted(below, 1 - _RANGE_TAIL))


def expected_records(n_attempts: int) -> float:
    """How many of so many attempts beat the best before them where none differs from the first version.

    Of k + 1 equal scores the last is the best with probability 1 / (k + 1).

    Parameters
    ----------
    n_attempts
        After the first version, each with one run.

    Returns
    -------
    float
        1/2 + 1/3 + ... + 1/(N + 1).

    Examples
    --------
    >>> round(expected_records(100), 2)
    4.2
    """
    return float((1 / np.arange(2, n_attempts + 2)).sum())
