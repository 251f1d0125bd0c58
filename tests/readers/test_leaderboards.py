"""Every Eval Ever and Hugging Face: results of models on tasks, read against the files."""

import json
import shutil
from pathlib import Path

import pytest

import levelbest as lb

HERE = Path(__file__).parent / "artefacts"
EVERY, HUB = HERE / "every_eval_ever", HERE / "huggingface"


def test_samples_are_tries_at_problems():
    trials = lb.read_trials(EVERY)
    assert trials.families == ("org/large", "org/small")
    assert (len(trials), len(trials.groups), trials.metric.direction, trials.metric.bounds) == (12, 3, "max", (0, 1))
    for code, model in enumerate(trials.families):
        document = json.loads((EVERY / "sums" / model / "result.json").read_text())
        assert trials.selection[trials.family == code].mean() == pytest.approx(
            document["evaluation_results"][0]["score_details"]["score"]
        )
    assert set(trials.cost) == {1.5}
    assert not trials.skipped


def test_results_alone_are_one_score_a_model(tmp_path):
    home = shutil.copytree(EVERY, tmp_path / "every")
    for file in home.rglob("*.jsonl"):
        file.unlink()
    trials = lb.read_trials(home)
    assert (trials.families, trials.group) == (("org/large", "org/small"), None)
    assert trials.selection.tolist() == pytest.approx([5 / 6, 3 / 6])


def test_evaluations_are_told_apart_and_lower_may_be_better(tmp_path):
    document = json.loads((EVERY / "sums/org/small/result.json").read_text())
    toxic = json.loads(json.dumps(document["evaluation_results"][0]))
    toxic |= {"evaluation_name": "toxicity"}
    toxic["metric_config"]["lower_is_better"] = True
    toxic["score_details"]["score"] = 0.125
    document["evaluation_results"].append(toxic)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(document))
    with pytest.raises(lb.LevelbestError, match=r"sums \(max\), toxicity \(min\)"):
        lb.read_trials(path)
    trials = lb.read_trials(path, where="task = 'toxicity'")
    assert (trials.families, trials.selection.tolist(), trials.metric.direction) == (
        ("org/small / toxicity",),
        [0.125],
        "min",
    )


def test_a_score_that_no_result_explains_is_asked_about(tmp_path):
    lines = [json.loads(line) for line in (EVERY / "sums/org/small/result.jsonl").read_text().splitlines()]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert lb.read_trials(path).metric.direction == "max"  # 1 for right answers, 0 for wrong ones
    lines[0]["evaluation"] = {"score": 0.75, "is_correct": True}
    lines[1]["error"] = "timeout"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{}\n")
    with pytest.raises(lb.LevelbestError, match="higher 'score' better"):
        lb.read_trials(path)
    trials = lb.read_trials(path, direction="max")
    assert (trials.n_failed, [lost.where for lost in trials.skipped]) == (1, ["samples.jsonl, line 7"])


def test_model_cards():
    with pytest.raises(lb.LevelbestError, match=r"different directions.*metric = 'accuracy'"):
        lb.read_trials(HUB / "cards")
    trials = lb.read_trials(HUB / "cards", where="metric = 'accuracy'")
    assert sorted(trials.selection.tolist()) == [0.81, 0.86]  # make_huggingface.py
    assert (trials.metric.direction, trials.metric.selection) == ("max", "accuracy")
    loss = lb.read_trials(HUB / "cards", where="metric = 'loss'", family="model")
    assert (loss.families, loss.selection.tolist(), loss.metric.direction) == (("large", "small"), [0.31, 0.42], "min")
    alone = lb.read_trials(HUB / "card.json", where="metric = 'loss'", family="model")
    assert (alone.families, alone.selection.tolist()) == (("large",), [0.31])


def test_eval_results():
    trials = lb.read_trials(HUB / "entries", direction="max")
    assert (trials.families, trials.selection.tolist()) == (("large", "small"), [33.25, 21.5])
    for path in (HUB / "entries/small/.eval_results", HUB / "entries/small/.eval_results/hle.yaml"):
        assert lb.read_trials(path, direction="max").selection.tolist() == [21.5]
    with pytest.raises(lb.LevelbestError, match="higher 'value' better"):
        lb.read_trials(HUB / "entries")


def test_results_that_are_no_number_are_named(tmp_path):
    (tmp_path / "m" / ".eval_results").mkdir(parents=True)
    (tmp_path / "m" / ".eval_results" / "a.yaml").write_text(
        "- {dataset: {id: a, task_id: b}, value: 0.5}\n- {dataset: {id: a, task_id: b}, value: high}\n- 3\n"
    )
    (tmp_path / "m" / "README.md").write_text("# a card without results\n")
    trials = lb.read_trials(tmp_path / "m", direction="max")
    assert trials.selection.tolist() == [0.5]
    assert [lost.where for lost in trials.skipped] == [".eval_results/a.yaml, 2", ".eval_results/a.yaml, 3"]
