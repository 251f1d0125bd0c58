"""A study that stops once its families are decided, by limits that hold at every look."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.run.runner import run_study
from levelbest.run.standing import LiveStanding
from levelbest.run.study import Study

STUDY = {
    "seed": 3,
    "metric": {"selection": "acc", "direction": "max", "bounds": [0, 1]},
    "headline": 1,
    "n_trials": 60,
    "families": {"a": {}, "b": {}},
}


def study(folder, gap: float, **changed: object) -> Study:
    families = {
        "a": {"function": lambda config, _: {"acc": config["x"] + gap}, "space": {"x": {"uniform": [0, 0.4]}}},
        "b": {"function": lambda config, _: {"acc": config["x"]}, "space": {"x": {"uniform": [0, 0.4]}}},
    }
    return Study.from_dict({**STUDY, "families": families, **changed}, folder=folder, name="s")


def test_it_stops_where_the_bands_are_apart(tmp_path):
    done = run_study(study(tmp_path, 0.5), tmp_path / "s.db", engine="inline", stop_when="decided")
    assert (done.finished, done.decided) == (False, True)
    counts = [counts.n_trials for counts in done.families]
    assert max(counts) - min(counts) <= 1  # in turn
    assert 10 <= min(counts) < 30  # the first look is at 10 trials
    assert done.saved == pytest.approx(1 - sum(counts) / 120)
    assert "of the planned trials were not needed" in str(done)
    again = run_study(study(tmp_path, 0.5), tmp_path / "s.db", engine="inline")
    assert (again.finished, again.decided, again.saved) == (True, False, 0)


def test_it_runs_its_plan_where_nothing_is_decided(tmp_path):
    """Equal families: they are called decided at one of the looks in 5 % of studies at most; this seed is not one."""
    done = run_study(study(tmp_path, 0.0), tmp_path / "s.db", engine="inline", stop_when="decided")
    assert (done.finished, done.decided) == (True, False)


def test_equal_families_seldom_stop_a_study():
    """60 equal studies of 40 trials, each stopped with probability .05 at most: 9 or more stop in .3 % of such runs."""
    from types import SimpleNamespace

    from levelbest._ledger.chain import End, LedgerFamily
    from levelbest.run.study import Judge

    stopped = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        families = {k: LedgerFamily(k, name, name, {}, "", 40, 40) for k, name in enumerate("ab")}
        standing = LiveStanding(SimpleNamespace(families=families, study={"headline": 1}), Judge("x", None, "max"))
        for trial in range(40):
            for family in families.values():
                family.finish(trial, End("ok", {"x": float(rng.random())}))
            if trial in (9, 12, 16, 21, 27, 39) and standing.decided(1):
                stopped += 1
                break
    assert stopped <= 8


def test_what_it_needs_is_asked_for(tmp_path, capsys):
    with pytest.raises(InputError, match="headline: 5 in the study"):
        run_study(study(tmp_path, 0.5, headline=None), tmp_path / "s.db", engine="inline", stop_when="decided")
    (tmp_path / "named_for_stopping.py").write_text("def score(config, seed):\n    return {'acc': config['x']}\n")
    text = """
seed: 1
metric: {selection: acc, direction: max}
headline: 1
n_trials: 40
function: named_for_stopping:score
families:
  a: {space: {x: {uniform: [1, 2]}}}
  b: {space: {x: {uniform: [0, 1]}}}
"""
    (tmp_path / "study.yaml").write_text(text)
    options = ["--engine", "inline", "--stop-when", "decided", "--json"]
    assert main(["run", str(tmp_path / "study.yaml"), *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["decided"]
    assert 0.3 < document["saved"] < 0.8
