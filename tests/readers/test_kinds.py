"""The rules of what a column cannot be: each holds for a column of its kind, and for no plain score or setting."""

import numpy as np
import pytest

from levelbest.readers.steps.kinds import NEVER_SCORES, NEVER_SETTINGS, Look, never_score, never_setting

RNG = np.random.default_rng(0)
TWO = np.repeat([0, 1], 10).astype(np.int32)


def texts(*cells):
    return np.array(cells, dtype=object)


SCORES = {
    "index": Look("sample_id", RNG.random(20)),
    "setting": Look("params_loss", RNG.random(20)),
    "attribute": Look("user_attrs_accuracy", RNG.random(20)),
    "counts-rows": Look("order", RNG.permutation(20).astype(float)),
    "identifier": Look("key", texts(*(str(10**30 + i) for i in range(20)))),
    "same-in-every-family": Look("threshold", np.tile(RNG.random(10), 2), TWO),
}
SETTINGS = {
    "place": Look("gpu_id", RNG.integers(0, 4, 20).astype(float)),
    "result": Look("best_epoch", RNG.random(20)),
    "counts-rows": Look("Unnamed: 0", np.arange(20.0)),
    "identifier": Look("key", texts(*(str(10**30 + i) for i in range(20)))),
    "path": Look("out", texts(*(f"exp/lr0.1_s{i}" for i in range(20)))),
    "hash": Look("revision", texts(*(f"{i:07x}" for i in range(10**6, 10**6 + 20)))),
    "moment": Look("when", 1.7e9 + 1e6 * RNG.random(20)),
    "list": Look("curve", np.array([[1, 2]] * 4 + [None], dtype=object)[:4]),
    "numbers-runs": Look("study", texts(*(f"exp_{i:03}" for i in range(20)))),
    "prose": Look("thoughts", texts(*(f"it went well {i}" for i in range(20)))),
}


@pytest.mark.parametrize("rule", NEVER_SCORES)
def test_what_is_no_score(rule):
    assert never_score(SCORES[rule]) == rule


@pytest.mark.parametrize("rule", NEVER_SETTINGS)
def test_what_is_no_setting(rule):
    assert never_setting(SETTINGS[rule]) == rule


@pytest.mark.parametrize("name", ["val_acc", "score", "reward", "num_correct", "outcome"])
def test_scores_stay_scores(name):
    assert never_score(Look(name, RNG.random(20), TWO)) is None


@pytest.mark.parametrize("name", ["lr", "limit_train", "batch_size", "optimizer", "train_size", "n_layers"])
def test_settings_stay_settings(name):
    cells = texts(*RNG.choice(["adam", "sgd"], 20)) if name == "optimizer" else RNG.random(20)
    assert never_setting(Look(name, cells)) is None


def test_results_of_training_are_no_settings():
    assert [never_setting(Look(name, RNG.random(20))) for name in ("train_loss", "val_acc", "train")] == ["result"] * 3
