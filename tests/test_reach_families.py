"""Reaching a target with families of trials, in trials and in cost."""

import numpy as np
import pytest

from levelbest import Trials, reach
from levelbest.errors import DataError, InputError
from levelbest.stats import expected_best


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(0, 1, 60), rng.normal(1, 0.2, 60)])
    cost = np.concatenate([rng.exponential(100, 60) + 1, np.full(60, 60.0)])
    return Trials.from_arrays(scores, direction="max", family=["wide"] * 60 + ["narrow"] * 60, cost=cost, cost_unit="s")


def test_each_family_and_each_target(trials):
    found = reach(trials, {"A 2018": 0.5, "B 2019": 1.3}, n_resamples=300)
    assert [(one.family, one.name) for one in found] == [
        ("wide", "A 2018"), ("wide", "B 2019"), ("narrow", "A 2018"), ("narrow", "B 2019"),
    ]  # fmt: skip
    curve = expected_best(trials["wide"].selection, np.arange(1, 61))
    wide = found[0]
    assert wide.n == 1 + int(np.argmax(curve >= 0.5))
    assert wide.low <= wide.n <= wide.high
    assert wide.cost == pytest.approx(wide.n * trials["wide"].cost.mean())
    assert "wide reaches an expected best selection of 0.5 (A 2018) with" in str(wide)
    assert "95 % limits: " in str(wide)
    assert " min" in str(wide)
    assert found[2].n == 1


def test_not_within_the_data_says_so(trials):
    (one,) = reach(trials["narrow"], 9.0, n_resamples=300)
    assert not one.reached
    assert one.to_dict()["n"] is None
    assert one.to_dict()["high"] is None
    assert "does not reach" in str(one)
    assert "within the data" in str(one)


def test_in_cost(trials):
    (one,) = reach(trials["narrow"], 1.1, axis="cost", n_resamples=300)
    curve = expected_best(trials["narrow"].selection, np.arange(1, 61))
    n = 1 + int(np.argmax(curve >= 1.1))
    assert np.isnan(one.n)
    assert (n - 1) * 60 <= one.cost <= n * 60 * 1.05  # equal costs: whole trials
    assert one.cost_low <= one.cost <= one.cost_high
    assert one.to_dict()["n"] is None


def test_bad_input(trials):
    with pytest.raises(InputError, match="worse than every trial"):
        reach(trials, -9.0)
    plain = Trials.from_arrays([1.0, 2.0, 3.0], direction="max")
    with pytest.raises(InputError, match="a cost axis needs a cost for every trial"):
        reach(plain, 2.0, axis="cost")
    with pytest.raises(DataError, match="leave no budget"):
        reach(Trials.from_arrays([1.0, 2.0], direction="max", cost=[1.0, 1.0]), 2.0, axis="cost")
