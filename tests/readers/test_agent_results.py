"""Results of agents and of language models, known by name: problems, tries at them, and what was never judged."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError, InputError

sys.path.insert(0, str(Path(__file__).parent))
import logs


def solved(trials, family):
    """Problem -> the scores of its tries, NaN where a try failed."""
    own = trials[family]
    names = np.array(own.groups)[own.group]
    return {name: own.selection[names == name].tolist() for name in own.groups}


def same(first, second):
    return np.array_equal(np.array(first, dtype=float), np.array(second, dtype=float), equal_nan=True)


def test_tau2_bench(tmp_path):
    trials = lb.read_trials(logs.tau2(tmp_path / "results"))
    assert trials.families == ("claude", "gpt-5")
    wanted = {f"airline #{t}": [float(trial < t % 5) for trial in range(4)] for t in range(10)}
    wanted["airline #9"][3] = np.nan  # the reward of 0 beside an infrastructure error was never earned
    scores = solved(trials, "gpt-5")
    assert all(same(scores[name], wanted[name]) for name in wanted)
    assert (trials.metric.direction, trials.metric.bounds, trials.cost[:2].tolist()) == ("max", (0, 1), [0.02, 0.02])


def test_tau2_bench_in_its_form_of_many_files(tmp_path):
    whole = json.loads((logs.tau2(tmp_path / "whole") / "gpt-5_airline.json").read_text())
    simulations = whole.pop("simulations")
    whole["simulation_index"] = [
        {key: simulation[key] for key in ("id", "task_id", "trial", "termination_reason", "duration")}
        | {"reward": simulation["reward_info"]["reward"]}
        for simulation in simulations
    ]
    logs.document(tmp_path / "parts" / "results.json", whole)
    for simulation in simulations:
        logs.document(tmp_path / "parts" / "simulations" / f"{simulation['id']}.json", simulation)
    parts, file = lb.read_trials(tmp_path / "parts"), lb.read_trials(tmp_path / "whole" / "gpt-5_airline.json")
    assert same(parts.selection, file.selection)
    assert not parts.skipped


def test_harbor(tmp_path):
    trials = lb.read_trials(logs.harbor(tmp_path / "jobs"))
    assert set(trials.families) == {"terminus-2 / m1", "claude-code / m1"}
    scores = solved(trials, "claude-code / m1")
    assert all(same(scores[f"task-{t}"], [float(a < (t + 1) % 4) for a in range(3)]) for t in range(7))
    assert same(scores["task-7"], [0.0, 0.0, np.nan])
    assert trials.cost.tolist() == [0.1] * 48
    assert not trials.skipped  # the summary of a job is no trial


def test_terminal_bench(tmp_path):
    trials = lb.read_trials(logs.terminal_bench(tmp_path / "runs"))
    assert trials.families == ("terminus / m1", "terminus / m2")
    assert same(solved(trials, "terminus / m1")["task-0"], [np.nan, 0.0])
    assert same(solved(trials, "terminus / m2")["task-1"], [1.0, 1.0])


def test_swe_bench(tmp_path):
    trials = lb.read_trials(logs.swe_bench(tmp_path / "reports"))
    scores = solved(trials, "model-b.run1")
    assert len(scores) == 20
    assert all(same(scores[f"django__django-{i}"], [float(i % 3 == 0)]) for i in range(18))
    assert same(scores["django__django-18"], [np.nan])  # its tests could not be run
    assert same(scores["django__django-19"], [0.0])  # it had no patch
    assert "5 instances have no prediction" in trials.skipped[0].why
    single = lb.read_trials(logs.swe_bench_instances(tmp_path / "logs"))
    assert same(single["model-a"].selection, [1, 0, 1, 0, 1, 0])


def test_the_first_reports_of_swe_bench(tmp_path):
    names = {"resolved": ["a"], "generated": ["a", "b"], "no_generation": ["c"], "applied": ["a"], "no_logs": []}
    trials = lb.read_trials(logs.document(tmp_path / "model-x" / "results.json", names))
    assert trials.families == ("model-x",)
    assert {name: scores[0] for name, scores in solved(trials, "model-x").items()} == {"a": 1, "b": 0, "c": 0}
    del names["generated"]
    with pytest.raises(DataError, match="lists the instances that were resolved and not those that were tried"):
        lb.read_trials(logs.document(tmp_path / "results.json", names))


def test_promptfoo(tmp_path):
    path = logs.promptfoo(tmp_path)
    trials = lb.read_trials(path)
    assert trials.families == ("openai:gpt-4.1", "anthropic:sonnet")
    scores = solved(trials, "anthropic:sonnet")
    assert all(same(scores[f"question {t}"], [float(t % 3 == 0)] * 2) for t in range(11))  # --repeat 2
    assert same(scores["question 11"], [0.0, np.nan])
    rows = json.loads(path.read_text())["results"]["results"]
    lines = logs.text(tmp_path / "output.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert same(lb.read_trials(lines).selection, trials.selection)
    rows[0]["score"] = 0.5  # a weighted score beside pass or fail: two readings
    logs.document(path, {"results": {"results": rows}})
    with pytest.raises(InputError, match="could be any of 'success', 'score'"):
        lb.read_trials(path)
    assert lb.read_trials(path, selection="score").selection[0] == 0.5


def with_dollars(path, spent):
    """Rewrites a file of results: what each try cost is what ``spent`` says of its place."""
    document = json.loads(path.read_text(encoding="utf-8"))
    if "simulations" in document:
        for place, simulation in enumerate(document["simulations"]):
            simulation["agent_cost"] = spent(place)
    elif "trial_name" in document:
        document["agent_result"] = {"cost_usd": spent(0), "n_input_tokens": 10}
    elif "results" in document:
        for place, result in enumerate(document["results"]["results"]):
            result["cost"] = spent(place)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("make", [logs.tau2, logs.harbor, logs.promptfoo])
def test_dollars_that_a_tool_wrote_are_the_cost(tmp_path, make):
    """Without options; seconds where it knew no price and wrote 0, and where some of the files know none."""
    made = make(tmp_path / "results")
    files = sorted(made.rglob("*.json")) if made.is_dir() else [made]
    for path in files:
        with_dollars(path, lambda _: 0.0)
    assert lb.read_trials(made).metric.cost_unit == "s"
    for path in files:
        with_dollars(path, lambda place: 0.25 + place % 2)
    trials = lb.read_trials(made)
    assert (trials.metric.cost, trials.metric.cost_unit) == ("cost_usd", "$")
    assert set(trials.cost.tolist()) <= {0.25, 1.25}
    assert lb.read_trials(made, cost="seconds").metric.cost_unit == "s"


def test_dollars_and_seconds_are_not_mixed(tmp_path):
    """Two files of one tool, of which one knows no price: both have seconds."""
    paths = [logs.promptfoo(tmp_path / name) for name in ("priced", "free")]
    with_dollars(paths[0], lambda _: 0.5)
    with_dollars(paths[1], lambda _: 0.0)
    trials = lb.read_trials(paths)
    assert (trials.metric.cost, trials.metric.cost_unit) == ("seconds", "s")
    assert 0.5 not in trials.cost.tolist()


def test_deepeval(tmp_path):
    trials = lb.read_trials(logs.deepeval(tmp_path / "runs"))
    assert trials.families == ("gpt-4.1", "gpt-4o")
    assert same(trials["gpt-4.1"].selection, [1, 0] * 5 + [1, np.nan])
    snake = {"test_results": [{"name": "a", "success": True, "metrics_data": [{"name": "M", "score": 0.7}]}]}
    one = lb.read_trials(logs.document(tmp_path / "mine.json", snake))
    assert (one.families, one.selection.tolist()) == (("mine",), [1.0])
    assert lb.read_trials(tmp_path / "mine.json", selection="metric.M", direction="max").selection.tolist() == [0.7]


def test_a_folder_of_inspect_logs_in_json(tmp_path):
    for model, right in (("m1", 3), ("m2", 1)):
        samples = [
            {"id": str(i), "epoch": 1, "scores": {"match": {"value": "C" if i < right else "I"}}} for i in range(5)
        ]
        log = {
            "version": 2,
            "status": "success",
            "eval": {"task": "sums", "task_id": "t", "run_id": model, "model": model},
        }
        logs.document(tmp_path / f"{model}.json", log | {"results": {"total_samples": 5}, "samples": samples})
    trials = lb.read_trials(tmp_path)
    assert [trials[name].selection.sum() for name in ("m1", "m2")] == [3, 1]


def test_old_results_of_lm_evaluation_harness(tmp_path):
    for model, score in (("org/small", 0.5), ("org/large", 0.6)):
        results = {"arc": {"acc": score, "acc_stderr": 0.01, "acc_norm": score + 0.1, "acc_norm_stderr": 0.01}}
        config = {"model": "hf-causal", "model_args": f"pretrained={model},dtype=float16", "num_fewshot": 0}
        old = {"results": results, "versions": {"arc": 0}, "config": config}
        logs.document(tmp_path / model.replace("/", "_") / "results.json", old)
    trials = lb.read_trials(tmp_path)
    assert {name: trials[name].selection.tolist() for name in trials.families} == {
        "org/small": [0.5],
        "org/large": [0.6],
    }
    assert "the score of arc is 'acc,none', and not 'acc_norm,none'" in " ".join(map(str, trials.cautions))


def test_several_metrics_of_lm_evaluation_harness_are_a_question(tmp_path):
    for model in ("a", "b"):
        scores = {"exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.01, "alias": "gsm8k"}
        scores |= {"exact_match,flexible-extract": 0.6, "exact_match_stderr,flexible-extract": 0.01}
        logs.document(tmp_path / model / "results_1.json", {"results": {"gsm8k": scores}, "model_name": model})
    with pytest.raises(InputError, match="could be any of 'exact_match,strict-match', 'exact_match,flexible-extract'"):
        lb.read_trials(tmp_path)
    assert lb.read_trials(tmp_path, selection="exact_match,flexible-extract").selection.tolist() == [0.6, 0.6]


def test_old_run_histories_of_smac(tmp_path):
    """Before budgets a key had three parts; a status was written by the name of its enumeration."""
    runs = [
        [[1, None, 7], [0.25, 1.5, {"__enum__": "StatusType.SUCCESS"}, None]],
        [[2, None, 7], [2147483647.0, 0.2, {"__enum__": "StatusType.CRASHED"}, None]],
        [[3, None, 7], [0.5, 9.0, {"__enum__": "StatusType.CAPPED"}, None]],
        [[3, None, 8], [0.125, 2.0, {"__enum__": "StatusType.SUCCESS"}, None]],
    ]
    configs = {str(key): {"C": 0.1 * key} for key in (1, 2, 3)}
    path = logs.document(tmp_path / "runhistory.json", {"data": runs, "configs": configs, "config_origins": {}})
    trials = lb.read_trials(path)
    assert same(trials.selection, [0.25, np.nan, np.nan, 0.125])
    assert [lb.trials.STATUSES[code] for code in trials.status] == ["ok", "failed", "pruned", "ok"]
    assert trials.cost.tolist() == [1.5, 0.2, 9.0, 2.0]


def test_several_domains_of_one_agent_are_tasks_of_one_family(tmp_path):
    """The agent is the family, whichever domain it works in; a domain is a task, which has problems of its own."""
    for path in sorted(logs.tau2(tmp_path / "airline").iterdir()):
        results = json.loads(path.read_text())
        results["info"]["environment_info"]["domain_name"] = "retail"
        logs.document(tmp_path / "both" / path.name.replace("airline", "retail"), results)
        (tmp_path / "both" / path.name).write_text(path.read_text())
    trials = lb.read_trials(tmp_path / "both")
    assert trials.families == ("claude", "gpt-5")
    assert (trials.by_task, set(trials.strata), len(trials.groups)) == (True, {"airline", "retail"}, 20)
    comparison = lb.compare(trials, n=[1], n_resamples=200)
    assert comparison.terms.n_groups == 20
