"""HELM's runs, read against its own aggregate."""

import json
import shutil
from pathlib import Path

import pytest

import levelbest as lb

HERE = Path(__file__).parent / "artefacts" / "helm"
(RUN,) = (folder for folder in HERE.iterdir() if folder.is_dir())


def aggregate(metric):
    stats = json.loads((RUN / "stats.json").read_text())
    return next(one["mean"] for one in stats if one["name"]["name"] == metric)


@pytest.mark.parametrize("path", [HERE, RUN, RUN / "per_instance_stats.json"], ids=["suite", "run", "file"])
def test_instances_are_problems_and_the_mean_is_helms(path):
    trials = lb.read_trials(path, selection="exact_match")
    assert (trials.families, trials.metric.direction) == (("simple/model1",), "max")
    assert (len(trials), len(trials.groups)) == (8, 4)
    assert trials.selection.mean() == aggregate("exact_match") == 0.25
    assert (trials.cost > 0).all()
    assert trials.metric.cost_unit == "s"


def test_altered_copies_are_left_out_and_said_to_be():
    (lost,) = lb.read_trials(HERE, selection="exact_match").skipped
    assert "8 altered copies" in lost.why
    both = lb.read_trials(HERE, selection="exact_match", perturbed="yes")
    assert (len(both), len(both.groups), both.skipped) == (16, 8, ())


def test_several_scores_are_asked_about():
    with pytest.raises(lb.LevelbestError, match=r"any of 'stats.exact_match', 'stats.quasi_exact_match'"):
        lb.read_trials(HERE)


def test_models_are_families_and_tasks_are_told_apart(tmp_path):
    for model in ("a", "b"):
        copy = shutil.copytree(RUN, tmp_path / f"mcqa:model={model}")
        spec = json.loads((copy / "run_spec.json").read_text())
        spec["name"], spec["adapter_spec"]["model"] = f"mcqa:model={model}", model
        (copy / "run_spec.json").write_text(json.dumps(spec))
    trials = lb.read_trials(tmp_path, selection="exact_match")
    assert (trials.families, len(trials.groups)) == (("a", "b"), 4)
    shutil.copytree(RUN, tmp_path / "other")
    (tmp_path / "other" / "run_spec.json").unlink()
    several = lb.read_trials(tmp_path, selection="exact_match")
    assert several.families[:2] == ("a", "b")
    assert {name for name, task in zip(several.groups, several.strata, strict=True) if task == "mcqa"} == set(
        trials.groups
    )
    assert len(several.families) == 3
    (tmp_path / "other" / "per_instance_stats.json").write_text("[")
    assert "other/per_instance_stats.json" in {
        x.where for x in lb.read_trials(tmp_path, selection="exact_match").skipped
    }


def test_runs_with_an_aggregate_alone_are_one_score_each(tmp_path):
    for model in ("a", "b"):
        copy = shutil.copytree(RUN, tmp_path / f"mcqa:model={model}")
        (copy / "per_instance_stats.json").unlink()
        spec = json.loads((copy / "run_spec.json").read_text())
        spec["name"], spec["adapter_spec"]["model"] = f"mcqa:model={model}", model
        (copy / "run_spec.json").write_text(json.dumps(spec))
    trials = lb.read_trials(tmp_path)
    assert (trials.families, trials.group, trials.selection.tolist()) == (("a", "b"), None, [0.25, 0.25])
    shutil.copytree(RUN, tmp_path / "whole")
    mixed = lb.read_trials(tmp_path, selection="exact_match")
    assert (len(mixed), len(mixed.groups)) == (8, 4)
    left = {lost.where for lost in mixed.skipped if "single instances" in lost.why}
    assert left == {"mcqa:model=a/stats.json", "mcqa:model=b/stats.json"}
