"""cv_results_ of scikit-learn: the dictionary, frames of it, and files."""

import json
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from levelbest.errors import InputError
from levelbest.readers import read_trials
from levelbest.readers.formats.exported import READERS

(READER,) = [reader for reader in READERS if reader.name == "sklearn"]

ARTEFACTS = Path(__file__).parent / "artefacts"
SEARCH = runpy.run_path(str(ARTEFACTS / "make_sklearn.py"))["search"]


@pytest.fixture(scope="module")
def results():
    return SEARCH()


def as_csv(results, folder):
    pd.DataFrame(results).to_csv(folder / "search.csv")
    return folder / "search.csv"


def as_json(results, folder):
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in results.items()}
    (folder / "search.json").write_text(json.dumps(plain))
    return folder / "search.json"


def as_polars(results, _folder):
    return pl.from_pandas(pd.DataFrame(results).drop(columns="params"))


FORMS = {
    "dict": lambda results, _: results,
    "pandas": lambda results, _: pd.DataFrame(results),
    "polars": as_polars,
    "csv": as_csv,
    "json": as_json,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_trials(form, results, tmp_path):
    trials = read_trials(FORMS[form](results, tmp_path))
    assert (len(trials), trials.n_failed) == (7, 2)
    assert trials.metric.selection == "mean_test_score"
    assert trials.metric.reported is None  # "test" is the fold that was held out: a score to select by
    assert trials.metric.direction == "max"
    np.testing.assert_array_equal(trials.selection, results["mean_test_score"])
    np.testing.assert_allclose(trials.cost, 3 * (results["mean_fit_time"] + results["mean_score_time"]), rtol=1e-12)
    assert trials.metric.cost_unit == "s"
    assert set(trials.configuration) | {"param_random_state"} == {
        "param_max_depth",
        "param_criterion",
        "param_min_samples_leaf",
        "param_random_state",
    }
    depth = trials.configuration["param_max_depth"]
    assert [float(value) for value in depth[:3]] == [1, 2, -5]
    assert all(value is None or np.isnan(value) for value in depth[3:])
    assert trials.facts["splits"] == "3"


def test_several_metrics_must_be_chosen_from():
    results = SEARCH(["accuracy", "neg_log_loss"])
    with pytest.raises(InputError, match="no column is obviously the selection score"):
        read_trials(results)
    trials = read_trials(results, selection="mean_test_neg_log_loss")
    assert trials.metric.direction == "max"
    np.testing.assert_array_equal(trials.selection, results["mean_test_neg_log_loss"])


@pytest.mark.parametrize("name", ["cv_results.csv", "cv_results.json"])
def test_committed_files(name):
    path = ARTEFACTS / "sklearn" / name
    assert READER.recognises(path)
    trials = read_trials(path)
    assert (len(trials), trials.n_failed) == (7, 2)
    # The mean of the folds, from the columns that hold them.
    table = pd.read_csv(ARTEFACTS / "sklearn" / "cv_results.csv")
    folds = table[[f"split{i}_test_score" for i in range(3)]].mean(axis=1, skipna=False)
    np.testing.assert_allclose(trials.selection, folds, rtol=1e-12)


def test_a_fit_that_failed_in_one_fold_is_named(results):
    broken = {key: np.array(value) if key.startswith("split") else value for key, value in results.items()}
    broken["split1_test_score"][0] = np.nan
    broken["mean_test_score"] = np.where(np.arange(7) == 0, np.nan, results["mean_test_score"])
    trials = read_trials(broken)
    assert trials.n_failed == 3
    assert [one.why for one in trials.skipped] == [
        "the fit failed in some of its splits; its mean score is not defined"
    ]


def test_other_tables_are_not_taken_for_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("model,mean_test_score\ncnn,0.5\n")
    assert not READER.recognises(path)
    assert not READER.recognises(tmp_path)
    assert not READER.recognises(tmp_path / "absent.csv")


def test_a_search_itself_is_read_and_its_pickle_is_not(results, tmp_path):
    class Search:
        cv_results_ = results

    assert len(read_trials(Search())) == len(read_trials(results)) == 7
    path = tmp_path / "search.joblib"
    path.write_bytes(b"\x80\x04\x95")
    with pytest.raises(InputError, match=r"runs code when it is opened.*to_csv"):
        read_trials(path)
    with pytest.raises(InputError, match="a source must be a path"):
        read_trials(object())
