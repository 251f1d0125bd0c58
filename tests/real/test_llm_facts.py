"""Language models on many problems: the published numbers, from the published samples."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.stats import all_of_k, pass_at_k


def test_tau_all_of_k(real_data):
    trials = lb.read_trials(real_data / "tau" / "gpt4o_airline_50x4.csv")
    correct = np.bincount(trials.group, weights=trials.selection)
    # Four trials of 50 tasks: pass^1 to pass^4 as published
    assert all_of_k(correct, 4, [1, 2, 3, 4]).mean(axis=0) == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)
    found = lb.curve(trials)
    assert found.value == pytest.approx(pass_at_k(correct, 4, [1, 2, 3, 4]).mean(axis=0))
    assert (found.low[0], found.high[0]) == (pytest.approx(0.32, abs=0.02), pytest.approx(0.54, abs=0.02))


def test_cruxeval_pass_at_k(real_data):
    trials = lb.read_trials(real_data / "cruxeval" / "codellama7b_T0.2_input_scored.csv", direction="max")
    found = lb.curve(trials, n=[1, 5])
    assert 100 * found.value == pytest.approx([35.95, 44.99], abs=0.005)
    assert found.problems.groups.size == 800


def test_game_of_24_crosses_and_the_verdict_respects_100_puzzles(real_data):
    trials = lb.read_trials(str(real_data / "tot" / "*.csv"), direction="max")
    cot, io = "game24_cot_100", "game24_io_100"
    curves = {name: lb.curve(trials[name], n=[1, 5, 10, 100]) for name in (cot, io)}
    assert curves[io].value[0] == pytest.approx(0.0734)
    assert curves[cot].value[0] == pytest.approx(0.0403)
    assert curves[io].value[1] > curves[cot].value[1]
    assert curves[cot].value[2] > curves[io].value[2]
    assert (curves[cot].value[3], curves[io].value[3]) == (pytest.approx(0.49), pytest.approx(0.33))
    result = lb.compare(trials)
    (pair,) = result.pairs
    assert pair.paired
    # 10,000 samples each, but 100 puzzles: where the curves cross, and below, nothing is certain
    assert [pair.verdict_at(k) for k in (1, 5, 10)] == ["undecided"] * 3
    assert pair.verdict_at(100) == cot
    assert pair.crossings[0].budget == pytest.approx(5.65, abs=0.01)
    assert "100 problems" in str(result)
