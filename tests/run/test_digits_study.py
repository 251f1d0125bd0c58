"""The example study: its 600 configurations are the shipped table's, its scores those of training by hand."""

import csv
import importlib
import math
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

import levelbest as lb
from levelbest.run.study_file import read_study
from levelbest.trials import STATUSES

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"
DATA = resources.files("levelbest") / "data"


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, int], dict[str, str]]:
    table = csv.DictReader((DATA / "digits.csv").read_text(encoding="utf-8").splitlines())
    return {(row["family"], int(row["trial"])): row for row in table}


def test_the_study_draws_the_tables_configurations(rows):
    study = read_study(EXAMPLE / "study.yaml")
    assert sum(family.n_trials for family in study.families) == len(rows) == 600
    for number, family in enumerate(study.families):
        for trial in range(family.n_trials):
            config, seed = family.space.draw(study.seed, number, trial)
            row = rows[family.name, trial]
            assert int(row["seed"]) == seed
            shown = {key.removeprefix("config."): v for key, v in row.items() if key.startswith("config.") and v}
            assert set(shown) == set(config)
            for name, value in config.items():
                if isinstance(value, float):
                    # The C library's exp may differ in its last bit from one platform to the next.
                    assert math.isclose(float(shown[name]), value, rel_tol=4e-16)
                else:
                    assert shown[name] == str(value)


@pytest.mark.parametrize("n_trials", [2, pytest.param(120, marks=pytest.mark.long)])
def test_the_runner_gives_the_scores_of_training_by_hand(rows, tmp_path, n_trials):
    """Against the script that made the table, run here: scores move with the machine, not with the runner."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'levelbest[digits]'")
    sys.path.insert(0, str(EXAMPLE))
    try:
        run_trial = importlib.import_module("make_table").run_trial
    finally:
        sys.path.remove(str(EXAMPLE))
    study = read_study(EXAMPLE / "study.yaml")
    small = replace(study, families=tuple(replace(family, n_trials=n_trials) for family in study.families))
    done = lb.run_study(small, tmp_path / "digits.db")
    assert done.finished
    trials = done.trials()
    assert len(trials) == 5 * n_trials
    for number, name in enumerate(trials.families):
        family = trials[name]
        for trial in range(n_trials):
            by_hand = run_trial((study.seed, number, trial))
            assert by_hand["seed"] == int(rows[name, trial]["seed"])
            assert STATUSES[family.status[trial]] == by_hand["status"]
            if by_hand["status"] == "ok":
                assert family.selection[trial] == by_hand["val_accuracy"]
                assert family.reported[trial] == by_hand["test_accuracy"]
    assert trials.metric.cost_unit == "CPU seconds"
    assert lb.verify_ledger(tmp_path / "digits.db").whole
