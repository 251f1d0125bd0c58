"""Thresholds on graded scores, the headline over problems, and what it is called."""

from __future__ import annotations

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import InputError

RNG = np.random.default_rng(0)
TABLE = {
    "model": ["a"] * 40 + ["b"] * 40,
    "problem": [p for _ in range(2) for p in range(10) for _ in range(4)],
    "score": RNG.random(80).round(2).tolist(),
    "verifier": RNG.random(80).tolist(),
}
ROLES = {"family": "model", "group": "problem", "direction": "max"}


@pytest.mark.parametrize("condition", [">= 0.8", "0.8", ">=.8"])
def test_a_threshold_makes_successes_of_scores(condition):
    trials = lb.read_trials(TABLE, selection="score", success=condition, **ROLES)
    assert trials.selection.tolist() == [float(score >= 0.8) for score in TABLE["score"]]
    expected = np.mean([max(x) >= 0.8 for x in np.array(TABLE["score"]).reshape(20, 4)[:10]])
    assert lb.curve(trials["a"]).value[-1] == pytest.approx(expected)


def test_lower_is_better_and_a_verifier_keeps_its_scores():
    low = lb.read_trials(TABLE, selection="score", success="0.2", **(ROLES | {"direction": "min"}))
    assert low.selection.tolist() == [float(score <= 0.2) for score in TABLE["score"]]
    assert low.metric.direction == "max"
    both = lb.read_trials(TABLE, selection="verifier", reported="score", success="> .5", **ROLES)
    assert both.selection.tolist() == TABLE["verifier"]
    assert both.reported.tolist() == [float(score > 0.5) for score in TABLE["score"]]


@pytest.mark.parametrize("condition", ["about 0.8", ">= 2", "score > 1"])
def test_what_is_no_threshold_is_refused(condition):
    with pytest.raises(InputError, match="success"):
        lb.read_trials(TABLE, selection="score", success=condition, **ROLES)


def test_the_headline_over_problems_is_pass_at_1_and_called_so():
    compared = lb.compare(TABLE, selection="score", success="0.5", **ROLES)
    assert compared.terms.headline == 1
    assert compared.standings[0].budget == 1
    curve = lb.family_curves(TABLE, selection="score", success="0.5", **ROLES)[0]
    assert "pass@4" in curve.sentence(4)
    every = lb.family_curves(TABLE, selection="score", success="0.5", statistic="all", **ROLES)[0]
    assert "pass^4" in every.sentence(4)
    assert lb.compare(TABLE, selection="score", headline=3, success="0.5", **ROLES).standings[0].budget == 3
    assert "pass@" not in lb.family_curves(TABLE, selection="score", **ROLES)[0].sentence()
