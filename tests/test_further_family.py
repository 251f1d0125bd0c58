"""A further family that differs beyond doubt changes no verdict on the others, through the public interface."""

import numpy as np
import pytest

import levelbest as lb

SIZE = 24
COST = 0.5 + np.random.default_rng(1).exponential(size=SIZE)
DESIGNS = {
    "trials": ({}, {}),
    "seeds": ({"seed": np.arange(SIZE)}, {}),
    "paired configurations": ({"lr": np.arange(SIZE) * 0.125}, {}),
    "problems": ({"group": np.arange(SIZE)}, {}),
    "cost": ({"cost": COST}, {"axis": "cost"}),
    "spend": ({"cost": COST, "group": np.arange(SIZE) // 4}, {"axis": "cost"}),
}
"""What the trials of every family have, and what is asked of the comparison."""
CASES = [(design, far) for design in DESIGNS for far in (1_000.0, -1_000.0)]
CASES.remove(("cost", -1_000.0))  # where no trial finishes within a budget, the worst score of any family counts


def verdicts(scores, columns, **asked):
    """Of the first two families: where each range of budgets begins and ends, and who is better there."""
    repeated = {name: np.tile(column, len(scores)) for name, column in columns.items()}
    if "lr" in repeated:
        repeated = {"configuration": repeated}
    family = np.repeat(list("abc")[: len(scores)], SIZE)
    trials = lb.Trials.from_arrays(np.concatenate(scores), direction="max", family=family, **repeated)
    (pair,) = (pair for pair in lb.compare(trials, **asked).pairs if set(pair.families) == {"a", "b"})
    return [(part.start, part.end, part.verdict) for part in pair.verdicts]


@pytest.mark.parametrize(("design", "far"), CASES)
def test_a_further_family_changes_no_verdict(design, far):
    columns, asked = DESIGNS[design]
    decided = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, 3])
        scores = [rng.normal(shift, 1, SIZE) for shift in (1.6, 0.0, far)]
        two, three = (verdicts(scores[:k], columns, **asked) for k in (2, 3))
        assert two == three
        decided += any(verdict == "a" for *_, verdict in two)
    assert decided
