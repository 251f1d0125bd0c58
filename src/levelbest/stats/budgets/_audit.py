"""Estimates the true improvements behind the kept scores of a finished loop, given the noise of one run.

Each version differs from the version that was kept before it by a step; what was recorded is its true score plus noise
of a known standard deviation. The steps of all attempts, kept and discarded, come from one unknown distribution, which
is estimated from all of them; then each kept step has a distribution given everything that was recorded. Selection by
score does not bias this: the choice is a function of the scores, and all scores are included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
_AROUND = 5.0
"""A true score lies within so many standard deviations of a run of what was recorded."""
_FURTHEST = 12.0
"""Steps beyond so many standard deviations share one weight: no noise makes them."""
_RANGE_TAIL = 0.002
"""On either side of the range of false keeps.

NOTE: the steps' distribution is estimated from the same log, and that is not in the probabilities. The range held the
true number in .93 to 1.00 of 80 generated logs a row (docs/gates.md); with .025 in .89 to .94.
"""
_TINY = 1e-300
_EM_ROUNDS = 30
"""Of EM, from weights that are half on no step.

NOTE: more of them fit the noise of one log. Logs within 20 % or 1 (40 a row, the rows of docs/gates.md but the last):
.70 to .97 with 30, .60 to .97 with 100, .72 to 1.00 with 10, which counts 5 % more; .20 to .97 with a gamma
distribution of steps on either side of none; .80 to 1.00 where the true distribution is known.
"""
_AT_ONCE = 1000
"""Attempts whose pairs of true scores are in memory at a time."""


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
    1. True scores lie on a grid, each near what was recorded of it; a step is none, or the difference of two points at
       least half an sd apart. Half of the weight is on none to begin with.
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
    chain, leaves = np.flatnonzero(kept), np.flatnonzero(~kept)
    place = np.full(scores.size, -1)
    place[chain] = np.arange(chain.size)
    grid = _Grid(scores, errors, sd)
    possible = (grid.steps == 0) | (np.abs(grid.steps) * grid.spacing >= _SHORTEST_STEP * sd)
    weights = np.where(grid.steps == 0, 0.5, 0.5 / max(1, possible.sum() - 1)) * possible
    for _ in range(_EM_ROUNDS):
        discarded = [
            _Attempts(grid, weights, some, parents[some], place[parents[some]])
            for some in np.array_split(leaves, leaves.size // _AT_ONCE + 1)
        ]
        joint = _of_chain(grid, weights, chain, discarded)
        counts = grid.sums(chain[1:], chain[:-1], joint.pairs) + sum(each.counts(joint.states) for each in discarded)
        # one attempt's worth besides: no possible step has a weight of zero
        counts = counts * possible + possible / possible.sum()
        weights = counts / counts.sum()
    true = grid.differences(chain[1:], chain[:-1])
    gain = grid.spacing * (joint.pairs * true).sum(axis=(1, 2))
    return Steps((joint.pairs * (true <= 0)).sum(axis=(1, 2)), gain, float(gain.sum()))


class _Grid:
    """True scores that are possible, around what was recorded of each version, and the steps between them."""

    def __init__(self, scores: FloatArray, errors: FloatArray, sd: float) -> None:
        self.spacing = _GRID_STEP * sd
        around, self.furthest = round(_AROUND / _GRID_STEP), round(_FURTHEST / _GRID_STEP)
        self.steps = np.arange(-self.furthest, self.furthest + 1)
        nearest = np.rint((scores - scores[0]) / self.spacing).astype(np.int64)
        self.places = nearest[:, None] + np.arange(-around, around + 1)  # version x possible score
        self.seen = np.exp(-0.5 * ((scores[:, None] - scores[0] - self.places * self.spacing) / errors[:, None]) ** 2)

    def differences(self, after: IntArray, before: IntArray) -> IntArray:
        """The steps from each score of some versions (second axis) to each of others (third), in points of the grid."""
        return np.asarray(self.places[after][:, None, :] - self.places[before][:, :, None], dtype=np.int64)

    def codes(self, after: IntArray, before: IntArray) -> IntArray:
        """Where the weight of each step stands."""
        return np.clip(self.differences(after, before), -self.furthest, self.furthest) + self.furthest

    def sums(self, after: IntArray, before: IntArray, joint: FloatArray) -> FloatArray:
        """By step, of what stands at pairs of scores."""
        summed = np.bincount(self.codes(after, before).ravel(), joint.ravel(), self.steps.size)
        return np.asarray(summed, dtype=np.float64)


class _Attempts:
    """Discarded attempts: what each says of the true score of its parent."""

    def __init__(
        self, grid: _Grid, weights: FloatArray, versions: IntArray, parents: IntArray, places: IntArray
    ) -> None:
        self.grid, self.versions, self.parents, self.places = grid, versions, parents, places
        self.moves = weights[grid.codes(versions, parents)] * grid.seen[versions][:, None, :]
        self.density = np.maximum(self.moves.sum(axis=2), _TINY)

    def counts(self, states: FloatArray) -> FloatArray:
        """How many of them made each step, expected, given how likely each true score of a parent is."""
        joint = (states[self.places] / self.density)[:, :, None] * self.moves
        return self.grid.sums(self.versions, self.parents, joint)


class _Joint(NamedTuple):
    """What is known of the kept versions: each true score, and the true scores of each two in succession."""

    states: FloatArray
    pairs: FloatArray


def _of_chain(grid: _Grid, weights: FloatArray, chain: IntArray, discarded: Sequence[_Attempts]) -> _Joint:
    """Forwards with each state's evidence in, backwards with it out; both scaled."""
    evidence = np.log(np.maximum(grid.seen[chain], _TINY))
    for attempts in discarded:
        np.add.at(evidence, attempts.places, np.log(attempts.density))
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    moves = weights[grid.codes(chain[1:], chain[:-1])]
    forward, backward = np.empty_like(evidence), np.ones_like(evidence)
    forward[0] = evidence[0] / evidence[0].sum()
    for k in range(1, len(evidence)):
        forward[k] = np.maximum((forward[k - 1] @ moves[k - 1]) * evidence[k], _TINY)
        forward[k] /= forward[k].sum()
    for k in range(len(evidence) - 2, -1, -1):
        backward[k] = np.maximum(moves[k] @ (evidence[k + 1] * backward[k + 1]), _TINY)
        backward[k] /= backward[k].max()
    states = np.maximum(forward * backward, _TINY)
    pairs = forward[:-1, :, None] * moves * (evidence[1:] * backward[1:])[:, None, :]
    pairs /= np.maximum(pairs.sum(axis=(1, 2), keepdims=True), _TINY)
    return _Joint(states / states.sum(axis=1, keepdims=True), pairs)


def likely_count(chances: FloatArray) -> tuple[int, int]:
    """The range of how many of several events happen, each with its own chance (Poisson binomial).

    Parameters
    ----------
    chances
        One for each; where there are several rows, each of them is as likely as the others.

    Returns
    -------
    tuple
        The least and the largest likely count.

    Examples
    --------
    >>> likely_count(np.array([0.0, 1.0, 1.0])), likely_count(np.full(4, 0.5))
    ((2, 2), (0, 4))
    """
    rows = np.atleast_2d(chances)
    shares = np.zeros(rows.shape[1] + 1)
    for row in rows:
        counts = np.ones(1)
        for chance in row:
            counts = np.convolve(counts, [1 - chance, chance])
        shares += counts / len(rows)
    below = np.cumsum(shares)
    return int(np.searchsorted(below, _RANGE_TAIL)), int(min(rows.shape[1], np.searchsorted(below, 1 - _RANGE_TAIL)))


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
