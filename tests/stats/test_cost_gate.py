"""Verdicts over cost need a permutation test of one distribution of score and cost."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import levelbest as lb
from levelbest.stats.best import Sample, expected_best
from levelbest.stats.inference import joint_p
from levelbest.stats.inference._contrasts import CostUnits


def test_the_statistics_are_t_of_the_curves_and_the_difference_of_mean_costs():
    rng = np.random.default_rng(1)
    scores, costs = rng.normal(size=(2, 12)), rng.exponential(size=(2, 12))
    joint = CostUnits([Sample(row) for row in scores], list(costs))
    seen = dict(zip(joint.nodes.tolist(), joint.observed((0, 1), joint.nodes), strict=True))

    def jackknife(row, n):
        left = [expected_best(np.delete(row, i), n) for i in range(row.size)]
        return (row.size - 1) / row.size * np.square(left - np.mean(left)).sum()

    for n in joint.nodes[:-1].tolist():
        difference = expected_best(scores[0], n) - expected_best(scores[1], n)
        error = np.sqrt(sum(jackknife(row, n) for row in scores))
        assert np.isclose(seen[n], abs(difference) / error, rtol=1e-9)
    assert np.isclose(seen[joint.nodes[-1]], abs(costs[0].mean() - costs[1].mean()))


def test_families_that_differ_in_cost_alone_are_told_apart():
    rng = np.random.default_rng(2)
    samples = [Sample(rng.normal(size=15)), Sample(rng.normal(size=15))]
    costs = [rng.uniform(1, 2, 15), rng.uniform(4, 5, 15)]
    assert joint_p(samples, costs, 0.05) <= 0.05
    assert joint_p(samples[::-1], costs[::-1], 0.05) == joint_p(samples, costs, 0.05)
    mixed = rng.permutation(np.concatenate(costs))
    assert joint_p(samples, [mixed[:15], mixed[15:]], 0.05) > 0.05


def test_three_trials_of_each_cannot_be_told_apart():
    # 20 assignments: the least p-value is .1
    assert joint_p([Sample(np.arange(3.0)), Sample(np.arange(3.0) + 9)], [np.ones(3), np.ones(3)], 0.05) == 1.0
    assert len(list(combinations(range(6), 3))) == 20


def test_ten_trials_whose_score_costs_have_no_winner_under_one_distribution():
    # At most 5 % are promised; more than 6 of 40 samples have a chance of 1 in 300 if the truth is 5 %.
    named = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 10])
        cost = rng.exponential(size=20) + 0.2
        trials = lb.Trials.from_arrays(
            rng.normal(size=20) + cost, cost=cost, family=["a"] * 10 + ["b"] * 10, direction="max"
        )
        verdicts = lb.compare(trials, axis="cost").pairs[0].verdicts
        named += any(row.verdict in ("a", "b") for row in verdicts)
    assert named <= 6
