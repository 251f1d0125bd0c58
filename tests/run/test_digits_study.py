"""The example study: its 600 configurations are the shipped table's, and the runner reproduces the table's scores."""

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
def test_the_runner_reproduces_the_table(rows, tmp_path, n_trials):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'levelbest[digits]'")
    sys.path.insert(0, str(EXAMPLE))
    try:
        versions = importlib.import_module("make_table").versions()
    finally:
        sys.path.remove(str(EXAMPLE))
    notes = (DATA / "digits.md").read_text(encoding="utf-8")
    for name, here in versions.items():
        if name != "python" and f"- {name} {here}" not in notes:
            pytest.skip(f"the table was made with another {name} than {here}: its scores may differ")
    study = read_study(EXAMPLE / "study.yaml")
    small = replace(study, families=tuple(replace(family, n_trials=n_trials) for family in study.families))
    done = lb.run_study(small, tmp_path / "digits.db")
    assert done.finished
    trials = done.trials()
    assert len(trials) == 5 * n_trials
    for family in trials.families:
        one = trials[family]
        for trial in range(n_trials):
            row = rows[family, trial]
            assert STATUSES[one.status[trial]] == row["status"]
            if row["status"] == "ok":
                assert one.selection[trial] == float(row["val_accuracy"])
                assert one.reported[trial] == float(row["test_accuracy"])
    assert trials.metric.cost_unit == "CPU seconds"
    assert lb.verify_ledger(tmp_path / "digits.db").whole
