"""Which columns that nobody named are hyperparameters."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.readers.raw import Coded
from levelbest.readers.steps.kinds import Look, never_setting

N = 24
COMPLETIONS = [f"Let us think step by step. {i} " + "so the answer is " * 10 for i in range(N)]


def samples(**columns):
    return {
        "model": ["a"] * N,
        "problem_id": [f"p{i // 4}" for i in range(N)],
        "correct": np.arange(N) % 2,
        "temperature": [0.2, 0.8] * (N // 2),
        **columns,
    }


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("completion", COMPLETIONS),
        ("reasoning", COMPLETIONS),
        ("remark", [f"it took {i} steps" for i in range(N)]),
        ("sample_idx", [i % 4 for i in range(N)]),
        ("idx", [i % 4 for i in range(N)]),
        ("completion_id", [i % 4 for i in range(N)]),
        ("answer", [str(i % 7) for i in range(N)]),
    ],
)
def test_what_came_out_of_a_sample_is_no_setting(name, cells):
    trials = lb.read_trials(samples(**{name: cells}), group="problem_id", selection="correct", direction="max")
    assert list(trials.configuration) == ["temperature"]


def test_settings_stay_and_what_is_asked_for_is_given():
    settings = {"prompt_style": ["chain of thought", "direct"] * (N // 2), "optimizer": [f"opt{i}" for i in range(N)]}
    trials = lb.read_trials(samples(**settings), group="problem_id", selection="correct", direction="max")
    assert list(trials.configuration) == ["temperature", "prompt_style", "optimizer"]
    named = lb.read_trials(
        samples(completion=COMPLETIONS),
        group="problem_id",
        selection="correct",
        direction="max",
        configuration=["completion"],
    )
    assert list(named.configuration) == ["completion"]


def test_long_texts_are_no_setting_without_a_group_either_and_an_answer_may_be_one():
    table = {"val_acc": np.linspace(0, 1, N), "lr": np.linspace(1, 2, N), "log": COMPLETIONS, "answer": ["x", "y"] * 12}
    assert list(lb.read_trials(table).configuration) == ["lr", "answer"]


def test_codes_are_judged_as_their_texts():
    for cells in (COMPLETIONS, ["a b", "c d"] * 12, [f"s {i}" for i in range(N)], ["x" * 101] * 13 + ["y"] * 11):
        names = tuple(dict.fromkeys(cells))
        coded = Coded(np.array([*map(names.index, cells), -1], dtype=np.int32), (*names, "never used"))
        expected = None if cells == ["a b", "c d"] * 12 else "prose"
        assert never_setting(Look("x", coded)) == expected
        assert never_setting(Look("x", np.array([*cells, None], dtype=object))) == expected
