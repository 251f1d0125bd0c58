"""Windows of orders, by going through each of them trial by trial."""

import numpy as np
import pytest

from levelbest.stats.budgets._orders import TiedWins, Windows, finished_trials, looked_at_sums

LIMITS = np.array([0.0, 0.4, 1.0, 2.5, 6.0, 100.0])


@pytest.fixture(params=[(9, 9), (13, 13), (13, 4), (40, 7), (3, 3)], ids=lambda shape: f"{shape[0]} trials")
def orders(request):
    """Costs and ranks of 6 orders with ties and costs of zero, what they report, and where windows begin."""
    m, rotations = request.param
    rng = np.random.default_rng(m + rotations)
    cost, rank, y = np.round(rng.exponential(size=m), 1), rng.integers(0, max(2, m // 3), m), rng.normal(size=m)
    rank = np.unique(rank, return_inverse=True)[1].astype(np.int16)
    order = rng.permuted(np.tile(np.arange(m), (6, 1)), axis=1)
    return cost[order], rank[order], y[order], order, (np.arange(rotations) * m) // rotations


def windows_of(cost, starts):
    """Each window's index (order, limit, start) with the places that it finishes, one after the other."""
    m = cost.shape[1]
    for o in range(cost.shape[0]):
        for g, limit in enumerate(LIMITS):
            for r, start in enumerate(starts):
                places, spent = [], 0.0
                for step in range(m):
                    spent += cost[o, (start + step) % m]
                    if spent > limit + 1e-9:
                        break
                    places.append((start + step) % m)
                yield (o, g, r), places


def test_windows_finish_what_their_limits_pay_for_and_are_won_by_their_best(orders):
    cost, rank, y, _, starts = orders
    counts = finished_trials(cost, starts, LIMITS * (1 + 1e-9) + 1e-9)
    windows = Windows(starts, counts, cost.shape[1])
    best = windows.highest(np.tile(rank, 2))
    means, also_best = TiedWins(np.tile(rank, 2), np.tile(y, 2)).in_windows(windows)
    for at, places in windows_of(cost, starts):
        assert counts[at] == len(places)
        won = rank[at[0], places].max() if places else -1
        assert best[at] == also_best[at] == won
        if places:
            tied = [place for place in places if rank[at[0], place] == won]
            assert means[at] == pytest.approx(y[at[0], tied].mean(), rel=1e-12)


def test_a_window_counts_for_every_trial_that_it_looks_at(orders):
    cost, _, _, order, starts = orders
    m = cost.shape[1]
    looked_at = np.minimum(finished_trials(cost, starts, LIMITS) + 1, m - 1)
    values = np.random.default_rng(1).normal(size=looked_at.shape)
    expected = np.zeros((2, LIMITS.size, m))
    for (o, g, r), value in np.ndenumerate(values):
        k = looked_at[o, g, r]
        weight = (value - values[:, g].mean()) * m / (m - k)
        expected[o % 2, g, order[o, (starts[r] + np.arange(k)) % m]] += weight
    sums = looked_at_sums(np.argsort(order, axis=1), starts, looked_at, values)
    np.testing.assert_allclose(sums, expected, atol=1e-12)
