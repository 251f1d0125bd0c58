"""The runner's ledger as trials: the finished beginning of the plan, failures counted, facts for the checklist."""

import json
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError
from levelbest.readers.registry import reader_for
from levelbest.run.ledger import Ledger
from levelbest.trials import STATUSES

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
from ledgers import SPACE, ended, opening, started


@pytest.fixture
def finished(tmp_path):
    with Ledger.create(tmp_path / "s.db", opening(4, ("a", "b"))) as ledger:
        for family in range(2):
            ledger.append([started(trial, family) for trial in range(4)])
            ledger.append([ended(3, family, dev=0.9), ended(0, family, dev=0.1 + family), ended(1, family, dev=0.2)])
            ledger.append([ended(2, family, status="lost"), started(2, family, 2)])
            ledger.append([ended(2, family, 2, status="diverged" if family else "failed")])
    return tmp_path / "s.db"


def test_a_ledger_is_read_with_all_it_knows(finished):
    assert reader_for(finished).name == "ledger"
    trials = lb.read_trials(finished, diagnostics=False)
    assert trials.families == ("a", "b")
    assert (trials.metric.selection, trials.metric.reported, trials.metric.direction) == ("dev", "test", "max")
    assert trials.metric.bounds == (0, 1)
    assert trials.metric.cost_unit == "s"
    assert not trials.cautions  # nothing was guessed
    a, b = trials["a"], trials["b"]
    np.testing.assert_array_equal(a.selection, [0.1, 0.2, np.nan, 0.9])
    assert [STATUSES[code] for code in a.status] == ["ok", "ok", "failed", "ok"]
    assert [STATUSES[code] for code in b.status] == ["ok", "ok", "diverged", "ok"]
    np.testing.assert_array_equal(a.order, range(4))
    np.testing.assert_array_equal(a.cost, [1, 2, 3, 4])
    for trial in range(4):
        config, seed = SPACE.draw(3, 0, trial)
        assert a.configuration["config.lr"][trial] == config["lr"]
        assert a.seed[trial] == seed
    assert a.n_failed == 1


def test_bounds_of_the_ledger_hold_for_its_own_score(finished):
    assert lb.read_trials(finished).metric.bounds == (0, 1)
    assert lb.read_trials(finished, bounds=(0, 2)).metric.bounds == (0, 2)
    assert lb.read_trials(finished, reported="none").metric.bounds == (None, None)  # they are of the reported score


def test_while_a_study_runs_only_the_finished_beginning_counts(tmp_path):
    with Ledger.create(tmp_path / "s.db", opening(6)) as ledger:
        ledger.append([started(trial) for trial in range(5)])
        ledger.append([ended(0, dev=0.5), ended(1, dev=0.6), ended(3, dev=0.9), ended(4, dev=0.95)])
        during = lb.read_trials(tmp_path / "s.db")  # beside the writer
    for trials in (during, lb.read_trials(tmp_path / "s.db")):
        assert (trials.n_trials, trials.n_running) == (2, 3)
        np.testing.assert_array_equal(trials.scores().selection, [0.5, 0.6])
        assert {"still-running", "skipped-rows"} <= {caution.code for caution in trials.cautions}
        assert "2 trials ended while trial 2 still runs" in trials.skipped[0].why
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


def test_facts_name_the_head_and_no_one(finished):
    facts = lb.read_trials(finished).facts
    assert facts["ledger:head"] == lb.verify_ledger(finished).head
    assert facts["sampler:a"] == "random search"
    assert facts["planned:a"] == "4"
    assert json.loads(facts["space:a"]) == SPACE.to_dict()
    assert str(finished.parent) not in json.dumps(dict(facts))


def test_a_study_that_was_run_reads_back(tmp_path):
    def objective(config, seed):  # noqa: ARG001
        return {"val_loss": config["x"], "cost": 3.0}

    done = lb.run_trials(
        objective, {"x": {"uniform": [0, 1]}, "layers": {"constant": [8, 4]}}, n_trials=5, family="f",
        ledger=tmp_path / "s.db", progress=False,
    )  # fmt: skip
    trials = done.trials()  # selection and direction are known by their name alone
    assert (trials.metric.selection, trials.metric.direction) == ("val_loss", "min")
    assert trials.n_trials == 5
    np.testing.assert_array_equal(trials.selection, trials.configuration["config.x"])
    assert trials.metric.cost == "cost"
    assert (trials.cost != 3).all()  # the runner's, not the column of that name
    assert {code for code in trials.configuration["config.layers"]} == {"[8, 4]"}  # noqa: C416


def test_bad_ledgers_are_refused_in_a_sentence(finished, tmp_path):
    with Ledger.create(tmp_path / "empty.db", opening(3)):
        pass
    with pytest.raises(DataError, match=r"empty.db holds no trial yet"):
        lb.read_trials(tmp_path / "empty.db")
    connection = sqlite3.connect(finished)
    connection.execute("DROP TRIGGER records_are_never_edited")
    connection.execute("UPDATE records SET body = '{}' WHERE kind = 'start'")
    connection.commit()
    with pytest.raises(
        DataError, match=r"is not intact.*records_are_never_edited is missing.*levelbest verify lists all"
    ):
        lb.read_trials(finished)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(DataError, match="newer levelbest"):
        lb.read_trials(finished)
