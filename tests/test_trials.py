"""Trials: failures counted, families taken apart, nothing lost."""

import sys

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError, InputError
from levelbest.trials import STATUSES, Metric, Trials

NAN = float("nan")


def _trials(**more):
    options = {"direction": "max", "family": ["a", "b", "a", "a"], "bounds": (0, 1)}
    return Trials.from_arrays([0.5, 0.6, NAN, 0.7], **{**options, **more})


def test_a_family_keeps_its_trials_in_order():
    one = _trials()["a"]
    assert one.families == ("a",)
    np.testing.assert_array_equal(one.selection, [0.5, NAN, 0.7])
    assert (one.n_trials, one.n_failed, one.n_running) == (3, 1, 0)


def test_several_families_keep_the_order_asked_for():
    both = _trials()[["b", "a"]]
    assert both.families == ("b", "a")
    np.testing.assert_array_equal(both["b"].selection, [0.6])


def test_a_nan_or_infinite_score_is_a_diverged_trial():
    trials = Trials.from_arrays([1.0, NAN, np.inf, -np.inf], direction="min")
    assert [STATUSES[code] for code in trials.status] == ["ok", "diverged", "diverged", "diverged"]


@pytest.mark.parametrize("reported", [None, "test"])
def test_a_score_without_a_square_is_a_diverged_trial(reported):
    """Some tools write the largest number for a trial that failed."""
    loss = [*np.random.default_rng(0).normal(1, 0.3, 40).tolist(), sys.float_info.max, -1e149]
    rows = {"model": ["a", "b"] * 21, "loss": loss, "test": [*loss[:-2], 1.0, 1e149]}
    trials = lb.read_trials(rows, family="model", selection="loss", reported=reported, direction="min")
    built = Trials.from_arrays(loss, direction="min", reported=None if reported is None else rows["test"])
    for table in (trials, built):
        assert [STATUSES[code] for code in table.status] == ["ok"] * 40 + ["diverged", "ok"]
    assert np.isfinite(lb.compare(trials).pairs[0].low).any()


@pytest.mark.parametrize(("direction", "bounds", "worst"), [("max", (0, 1), 0.0), ("min", (0, 1), 1.0)])
def test_failed_trials_count_as_the_worst_bound(direction, bounds, worst):
    scores = Trials.from_arrays([0.5, NAN, 0.7], direction=direction, bounds=bounds).scores()
    np.testing.assert_array_equal(scores.selection, [0.5, worst, 0.7])
    assert (scores.n_trials, scores.n_failed) == (3, 1)


@pytest.mark.parametrize(("direction", "worst"), [("max", 0.5), ("min", 0.7)])
def test_failed_trials_count_as_the_worst_observed_without_bounds(direction, worst):
    scores = Trials.from_arrays([0.5, NAN, 0.7], direction=direction).scores()
    np.testing.assert_array_equal(scores.selection, [0.5, worst, 0.7])


@pytest.mark.parametrize("direction", ["max", "min"])
def test_a_failed_trial_ranks_strictly_below_every_score(direction):
    trials = Trials.from_arrays([0.5, NAN, 0.7], reported=[0.1, NAN, 0.9], direction=direction)
    scores = trials.scores()
    sign = 1 if direction == "max" else -1
    assert np.argmin(sign * scores.selection) == 1
    assert np.unique(scores.selection).size == 3
    assert scores.reported[1] == (0.1 if direction == "max" else 0.9)


def test_dropping_says_how_many_were_dropped():
    scores = _trials()["a"].scores("drop")
    np.testing.assert_array_equal(scores.selection, [0.5, 0.7])
    assert (scores.n_trials, scores.n_failed, scores.failed) == (2, 1, "drop")
    np.testing.assert_array_equal(scores.rows, [0, 2])


def test_running_trials_are_apart():
    trials = Trials.from_arrays([0.5, NAN, 0.7], direction="max", status=["ok", "running", "pruned"])
    assert (trials.n_trials, trials.n_failed, trials.n_running) == (2, 1, 1)
    assert trials.scores().n_trials == 2


def test_a_partly_known_reported_score_is_refused_until_told():
    trials = Trials.from_arrays([0.5, 0.6, 0.7], reported=[NAN, NAN, 0.8], direction="max", bounds=(0, 1))
    with pytest.raises(DataError, match=r"known for 1 of 3 .*missing= drop"):
        trials.scores()
    assert trials.scores(missing="drop").n_trials == 1
    np.testing.assert_array_equal(trials.scores(missing="worst").reported, [0, 0, 0.8])
    assert trials.scores(missing="selection").reported is None


def test_all_failed_is_said():
    with pytest.raises(DataError, match="none of 2 finished trials has a score"):
        Trials.from_arrays([NAN, NAN], direction="max").scores()


def test_bad_input():
    with pytest.raises(InputError, match="did you mean 'a'"):
        _trials()["aa"]
    with pytest.raises(InputError, match="one family"):
        _trials().scores()
    with pytest.raises(InputError, match="one value per trial: reported has 1 of 4"):
        _trials(reported=[1.0])
    with pytest.raises(InputError, match="direction must be 'max'"):
        Metric(direction="up")
    with pytest.raises(InputError, match="lowest < highest"):
        Metric(direction="max", bounds=(1, 0))
    with pytest.raises(InputError, match="unknown failure policy 'wrost'; did you mean 'worst'"):
        _trials()["a"].scores("wrost")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"status": ["ok"]}, "status has 1 of 3"),
        ({"family": ["a", "b"]}, "family has 2 of 3"),
        ({"setting": [0, 1]}, "setting has 2 of 3"),
        ({"cost": ["dear", "cheap", "free"]}, "cost must be one number per trial"),
    ],
)
def test_a_column_that_does_not_fit_is_named(columns, said):
    with pytest.raises(InputError, match=said):
        Trials.from_arrays([1.0, 2.0, 3.0], direction="max", **columns)


def test_columns_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        _trials().selection[0] = 2


def test_going_through_a_table_says_how():
    trials = Trials.from_arrays([1.0, 2.0], direction="max", family=["a", "b"])
    with pytest.raises(TypeError, match=r"for name in trials.families: trials\[name\]"):
        list(trials)
    assert [len(trials[name]) for name in trials.families] == [1, 1]
