"""Which system a sample is of, which score of a benchmark is meant, and what its tokens cost, in files of tools."""

import json
import sys
from pathlib import Path

import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.readers.formats._rows import system_names

sys.path.insert(0, str(Path(__file__).parent))
import logs

TOKENS = "2025-06-01T10-00-00.000001"


def harness_samples(folder, task, scores, filters=("none",), models=("org/a", "org/b")):
    """Sample files of lm-evaluation-harness: model k gets document d right where d % (k + 2) == 0, by every score."""
    for k, model in enumerate(models):
        lines = []
        for document in range(12):
            for name in filters:
                row = {"doc_id": document, "doc": {}, "target": "A", "arguments": {}, "resps": [["A"]]}
                row |= {"filtered_resps": ["A"], "filter": name, "metrics": list(scores)}
                row |= dict.fromkeys(scores, float(document % (k + 2) == 0))
                lines.append(json.dumps(row))
        logs.text(folder / model.replace("/", "__") / f"samples_{task}_{TOKENS}.jsonl", "\n".join(lines) + "\n")
    return folder


def test_no_benchmark_is_left_out_because_it_has_an_accuracy_and_a_normalised_one(tmp_path):
    harness_samples(tmp_path, "arc_easy", ["acc", "acc_norm"])
    harness_samples(tmp_path, "triviaqa", ["exact_match"])
    trials = lb.read_trials(tmp_path)
    assert (trials.by_task, set(trials.strata), len(trials.groups)) == (True, {"arc_easy", "triviaqa"}, 24)
    assert not trials.skipped
    assert any(caution.fact("column") == "acc,none" for caution in trials.cautions if caution.kind == "primary")


def test_a_benchmark_with_several_scores_among_others_is_a_question(tmp_path):
    harness_samples(tmp_path, "boolq", ["acc"])
    harness_samples(tmp_path, "gsm8k", ["exact_match"], ("strict-match", "flexible-extract"))
    with pytest.raises(
        InputError, match=r"'exact_match,strict-match', 'exact_match,flexible-extract'.*task <> 'gsm8k'"
    ):
        lb.read_trials(tmp_path)
    assert len(lb.read_trials(tmp_path, where="not (task = 'gsm8k')").groups) == 12
    strict = lb.read_trials(tmp_path, selection="exact_match,strict-match")
    assert {name.partition(" ")[0] for name in strict.groups} == {"gsm8k"}


def test_results_of_tau2_are_found_in_a_parent_of_their_folder(tmp_path):
    logs.tau2(tmp_path / "data" / "simulations")
    below = lb.read_trials(tmp_path / "data" / "simulations")
    for folder in (tmp_path, tmp_path / "data"):
        assert lb.read_trials(folder).selection.tobytes() == below.selection.tobytes()


def test_one_agent_with_other_settings_is_another_system(tmp_path):
    results = json.loads((logs.tau2(tmp_path / "made") / "gpt-5_airline.json").read_text())
    for effort in ("low", "high"):
        results["info"]["agent_info"]["llm_args"] = {"reasoning_effort": effort, "timeout": len(effort)}
        logs.document(tmp_path / "runs" / effort / "results.json", results)
    assert lb.read_trials(tmp_path / "runs").families == (
        "gpt-5 (reasoning_effort=high)",
        "gpt-5 (reasoning_effort=low)",
    )
    results["info"]["agent_info"]["llm_args"]["timeout"] = 99  # how it was run, not what it is
    logs.document(tmp_path / "again" / "first" / "results.json", results)
    results["info"]["agent_info"]["llm_args"]["timeout"] = 9
    logs.document(tmp_path / "again" / "second" / "results.json", results)
    assert lb.read_trials(tmp_path / "again").families == ("gpt-5",)


def test_columns_of_one_provider_are_systems_of_their_own(tmp_path):
    path = logs.promptfoo(tmp_path, providers=("openai:gpt-4.1", "openai:gpt-4.1"))
    trials = lb.read_trials(path)
    assert trials.families == ("openai:gpt-4.1 (1)", "openai:gpt-4.1 (2)")
    assert [len(trials[name]) for name in trials.families] == [24, 24]


def harbor_with_cache(folder):
    for path in logs.harbor(folder).rglob("result.json"):
        trial = json.loads(path.read_text())
        if "trial_name" in trial:
            effort = "low" if "claude" in trial["agent_info"]["name"] else "high"
            trial["config"]["agent"]["kwargs"] = {"reasoning_effort": effort}
            trial["agent_info"]["name"] = "terminus-2"
            trial["agent_result"] |= {"n_input_tokens": 1000, "n_cache_tokens": 400, "n_output_tokens": 50}
            path.write_text(json.dumps(trial))
    return folder


def test_harbor_counts_cached_tokens_among_the_input(tmp_path):
    folder = harbor_with_cache(tmp_path)
    with pytest.raises(InputError, match=r"add cached=PRICE"):
        lb.read_trials(folder, cost={"input": 3, "output": 15})
    trials = lb.read_trials(folder, cost={"input": 3, "output": 15, "cached": 0.3})
    assert trials.cost == pytest.approx([(600 * 3 + 400 * 0.3 + 50 * 15) / 1e6] * 48, rel=1e-12)
    assert set(trials.families) == {
        "terminus-2 / m1 (reasoning_effort=low)",
        "terminus-2 / m1 (reasoning_effort=high)",
    }


def inspect_log(folder, name, usage, *, value=1.0, metric="accuracy", temperature=None):
    samples = [
        {"id": str(i), "epoch": 1, "scores": {"right": {"value": value if i < 3 else 0.0}}, "model_usage": usage}
        for i in range(5)
    ]
    about = {"task": "sums", "task_id": name, "run_id": name, "model": "m", "task_args": {}}
    about["model_generate_config"] = {"temperature": temperature, "max_connections": len(name)}
    scores = [{"name": "right", "scorer": "right", "metrics": {metric: {"name": metric, "value": 0.6}}}]
    log = {"version": 2, "status": "success", "eval": about, "results": {"total_samples": 5, "scores": scores}}
    return logs.document(folder / f"{name}.json", log | {"samples": samples})


@pytest.mark.parametrize(("total", "fresh"), [(120, 60), (160, 100)])
def test_inspect_counts_cached_tokens_as_its_total_says(tmp_path, total, fresh):
    """100 tokens of input, 20 of output, 40 from a cache: among the input where they add up to 120."""
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": total, "input_tokens_cache_read": 40}
    path = inspect_log(tmp_path, "log", {"m": usage, "grader": {"input_tokens": 9_000, "output_tokens": 1}})
    trials = lb.read_trials(path, cost={"input": 3, "output": 15, "cached": 0.3})
    assert trials.cost == pytest.approx([(3 * fresh + 15 * 20 + 0.3 * 40) / 1e6] * 5, rel=1e-12)
    assert any("grader" in part.why for part in trials.skipped)


def test_a_scorer_of_inspect_that_gives_numbers_points_up_where_its_result_is_an_accuracy(tmp_path):
    trials = lb.read_trials(inspect_log(tmp_path, "log", {}))
    assert (trials.metric.direction, trials.selection.tolist()) == ("max", [1, 1, 1, 0, 0])
    with pytest.raises(InputError, match="max or min"):
        lb.read_trials(inspect_log(tmp_path, "other", {}, metric="mean"))


def test_logs_of_one_model_with_other_settings_are_not_pooled(tmp_path):
    for name, temperature in (("a", 0.0), ("bb", 1.0)):
        inspect_log(tmp_path, name, {}, temperature=temperature)
    assert set(lb.read_trials(tmp_path).families) == {"m (temperature=0.0)", "m (temperature=1.0)"}
    (tmp_path / "same").mkdir()
    for name in ("a", "bb"):
        inspect_log(tmp_path / "same", name, {}, temperature=1.0)
    assert lb.read_trials(tmp_path / "same").families == ("m",)


def test_long_names_costs_and_failures_fit_into_the_terminal(tmp_path, capsys):
    for effort in ("low", "high"):
        for path in logs.tau2(tmp_path / "made").iterdir():
            results = json.loads(path.read_text())
            results["info"]["agent_info"]["llm_args"] = {"reasoning_effort": effort}
            logs.document(tmp_path / "runs" / effort / path.stem / "results.json", results)
    assert main(["compare", str(tmp_path / "runs")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) <= 80
    (head,) = [line for line in shown if "per solved" in line or "solved" in line.split()]
    assert head.rstrip().endswith("beats")


@pytest.mark.parametrize("name", ["results/results.json", "final_report.json"])
def test_reports_of_swe_bench_in_folders_of_their_runs_are_named_by_these(tmp_path, name):
    for run, resolved in (("20250101_a", ["x__1"]), ("20250202_b", ["x__1", "x__2"])):
        ids = ["x__1", "x__2", "y__3"]
        report = {"resolved_ids": resolved, "submitted_ids": ids, "completed_ids": ids, "error_ids": []}
        report["unresolved_ids"] = [i for i in ids if i not in resolved]
        logs.document(tmp_path / run / name, report)
    trials = lb.read_trials(tmp_path)
    assert {family: trials[family].selection.sum() for family in trials.families} == {"20250101_a": 1, "20250202_b": 2}
    assert sorted(lb.read_trials(tmp_path, cluster="prefix").clusters) == ["x", "x", "y"]


def test_tokens_of_promptfoo_have_a_price(tmp_path):
    path = logs.promptfoo(tmp_path)
    output = json.loads(path.read_text())
    for result in output["results"]["results"]:
        result["response"] = {"tokenUsage": {"prompt": 20, "completion": 10, "total": 30}}
    trials = lb.read_trials(logs.document(path, output), cost={"input": 3, "output": 15})
    assert trials.cost == pytest.approx([(20 * 3 + 10 * 15) / 1e6] * 48, rel=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        [{"task_args.prompt": f"prompts/math/chain_of_thought/with_examples/v{k}.txt"} for k in (1, 2)],
        [{"task_args.prompt": f"{'a' * 30}{k}{'b' * 30}"} for k in (1, 2)],
        [{"config.k": 1, "task_args.k": 1}, {"config.k": 2, "task_args.k": 1}, {"config.k": 1, "task_args.k": 2}],
    ],
)
def test_systems_of_other_settings_have_other_names(settings):
    """Long values were cut, and keys that end alike overwrote each other: two systems were pooled as one."""
    names = system_names([("m", "t", given) for given in settings])
    assert len(set(names)) == len(settings)
    assert system_names([("m", "t", settings[0])] * 2) == ["m", "m"]
