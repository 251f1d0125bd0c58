"""Files in the shapes of tools and of people, through the command line: each gets the right answer or a question.

An answer is what ``describe --json`` says of each family: trials, those that failed, and the mean score. A question is
one line on standard error that names the readings, with exit code 1.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from levelbest.cli.main import main

sys.path.insert(0, str(Path(__file__).parent))
import logs

ARTEFACTS = Path(__file__).parent / "artefacts"
rng = np.random.default_rng(29)


def table(path, columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def trial_tables(folder, *names):
    """Tables of eight trials each, whose mean is .5 + .1 k for the k-th."""
    for k, name in enumerate(names):
        scores = 0.5 + 0.1 * k + np.linspace(-0.01, 0.01, 8)
        table(folder / name, {"val_acc": scores, "lr": rng.random(8)})
    return folder


def arguments_of_folders(folder):
    trial_tables(folder, "adam/run1.csv", "adam/run2.csv", "sgd/run1.csv", "sgd/run2.csv")
    return [folder / "adam", folder / "sgd"]


def crossed_folders(folder):
    return trial_tables(folder, *(f"{a}/{b}.csv" for a in ("adam", "sgd") for b in ("resnet", "vit")))


def searches_of_allentune(folder):
    for name, score in (("cnn", 0.8), ("lr", 0.6)):
        for run in range(3):
            trial = folder / name / f"run_{run}_2020-01-01_00-00-0{run}" / "trial"
            logs.document(trial / "config.json", {"trainer": {"lr": run / 10}})
            metrics = {"best_validation_accuracy": score + (run - 1) / 100, "training_duration": "0:01:00"}
            logs.document(trial / "metrics.json", metrics)
    return folder


def runs_among_facts(folder):
    runs = [{"model": m, "lr": i / 10, "val_acc": 0.5 + i / 10} for m in ("bert", "gpt") for i in range(3)]
    return logs.document(folder / "r.json", {"meta": {"date": "2026-01-02", "seed": 3, "tags": {}}, "runs": runs})


def models_and_performances(folder):
    told = {"performances": [0.5, 0.7, 0.6, 0.8], "models": ["a", "b", "a", "b"]}
    return logs.document(folder / "r.json", told)


def many_keys(folder):
    kinds = ("easy", "hard", "odd", "plain", "em")
    names = [f"{a}{b}{c} {kind}" for a in "bcdf" for b in "aeiou" for c in "klmn" for kind in kinds]
    names = [*names, *(f"{name} again" for name in names)]
    return logs.document(folder / "r.json", {name: [1, 0, 0, 0, 0, 0, 0, 0, 0, 1] for name in names})


def two_tables(folder):
    rows = [{"acc": 0.5}, {"acc": 0.7}]
    return logs.document(folder / "r.json", {"first": rows, "second": rows[::-1], "n": 2})


def old_smac(folder):
    runs = [[[k, None, 7], [k / 10, 1.5, {"__enum__": "StatusType.SUCCESS"}, None]] for k in (1, 2, 3)]
    runs.append([[4, None, 7], [2147483647.0, 0.1, {"__enum__": "StatusType.CRASHED"}, None]])
    configs = {str(key): {"C": 0.1 * key} for key in (1, 2, 3, 4)}
    return logs.document(folder / "runhistory.json", {"data": runs, "configs": configs, "config_origins": {}})


def old_lm_eval(folder):
    for model, score in (("org/small", 0.5), ("org/large", 0.6)):
        results = {"arc": {"acc": score, "acc_stderr": 0.01, "acc_norm": 0.9, "acc_norm_stderr": 0.01}}
        config = {"model": "hf-causal", "model_args": f"pretrained={model}"}
        logs.document(
            folder / model[4:] / "results.json", {"results": results, "versions": {"arc": 0}, "config": config}
        )
    return folder


def several_metrics(folder):
    scores = {"exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.01}
    scores |= {"exact_match,flexible-extract": 0.6, "exact_match_stderr,flexible-extract": 0.01}
    for model in ("a", "b"):
        logs.document(folder / model / "results_1.json", {"results": {"gsm8k": scores}, "model_name": model})
    return folder


def resolved_instances(folder):
    columns = {"model": ["a"] * 6 + ["b"] * 6, "instance_id": [f"django-{i}" for i in range(6)] * 2}
    return table(folder / "r.csv", columns | {"resolved": ["True", "False"] * 3 + ["True"] * 6})


def pass_or_fail(folder):
    columns = {"model": ["a"] * 8 + ["b"] * 8, "problem": [f"q{i}" for i in range(8)] * 2}
    return table(
        folder / "r.csv", columns | {"result": ["PASS", "FAIL", "FAIL", "FAIL"] * 2 + ["Pass"] * 6 + ["fail"] * 2}
    )


def detectors(folder):
    return table(folder / "r.csv", {"model": ["n", "s"] * 4, "mAP": [0.3, 0.4] * 4, "lr": rng.random(8)})


def returns(folder):
    return table(folder / "r.csv", {"algo": ["ppo", "sac"] * 4, "ep_rew_mean": [10, 20] * 4, "lr": rng.random(8)})


def error_rates(folder):
    columns = {"model": ["a", "b"] * 4, "val_error": [0.2, 0.1] * 4, "test_error": [0.3, 0.2] * 4, "lr": rng.random(8)}
    return table(folder / "r.csv", columns)


def spreadsheet(folder):
    return logs.text(folder / "r.xlsx", "PK\x03\x04")


def inspect_folder(folder):
    for model, right in (("m1", 3), ("m2", 1)):
        samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": "CI"[i >= right]}}} for i in range(5)]
        about = {"task": "sums", "task_id": "t", "run_id": model, "model": model}
        log = {"version": 2, "status": "success", "eval": about, "results": {"total_samples": 5}, "samples": samples}
        logs.document(folder / f"{model}.json", log)
    return folder


def long_ids(folder):
    """Whole numbers of 31 digits tell runs apart, and are neither scores nor settings."""
    ids = [10**30 + 7919 * i for i in range(8)]
    return table(folder / "r.csv", {"model": ["a", "b"] * 4, "job": ids, "val_acc": [0.5, 0.7] * 4})


def weighted_promptfoo(folder):
    path = logs.promptfoo(folder)
    document = json.loads(path.read_text())
    document["results"]["results"][0]["score"] = 0.5
    return logs.document(path, document)


# name -> how it is made, the options, and family -> (trials, failed, mean)
ANSWERS = {
    "logger of Stable-Baselines3": (logs.stable_baselines, [], {"a2c": (3, 0, 206), "ppo": (3, 0, 106)}),
    "one log of Stable-Baselines3": (
        lambda folder: logs.stable_baselines(folder) / "ppo_seed1" / "progress.csv",
        [],
        {"ppo_seed1": (1, 0, 106)},
    ),
    "episodes of a monitor": (logs.monitor, [], {"a2c": (3, 0, 201), "ppo": (3, 0, 200)}),
    "Spinning Up": (logs.spinning_up, [], {"ppo": (3, 0, 15), "vpg": (3, 0, 25)}),
    "Ultralytics": (logs.ultralytics, [], {"yolo11n": (3, 0, 0.34), "yolo11s": (3, 0, 0.44)}),
    "Sacred": (logs.sacred, [], {"mlp": (4, 1, 0.53), "cnn": (4, 1, 0.63)}),
    "folders as arguments": (arguments_of_folders, [], {"adam": (16, 0, 0.55), "sgd": (16, 0, 0.75)}),
    "a folder of folders": (
        lambda folder: arguments_of_folders(folder)[0].parent,
        [],
        {"adam": (16, 0, 0.55), "sgd": (16, 0, 0.75)},
    ),
    "crossed folders, answered": (
        crossed_folders,
        ["--family", "folder"],
        {"adam": (16, 0, 0.55), "sgd": (16, 0, 0.75)},
    ),
    "searches of AllenTune": (searches_of_allentune, [], {"cnn": (3, 0, 0.8), "lr": (3, 0, 0.6)}),
    "runs among facts": (runs_among_facts, [], {"bert": (3, 0, 0.6), "gpt": (3, 0, 0.6)}),
    "models and performances": (
        models_and_performances,
        ["--direction", "max"],
        {"a": (2, 0, 0.55), "b": (2, 0, 0.75)},
    ),
    "800 keys of ten items": (many_keys, [], {"r": (8000, 0, 0.2)}),
    "one of two tables": (two_tables, ["--reader-option", "rows=second"], {"r": (2, 0, 0.6)}),
    "old SMAC": (old_smac, [], {"smac": (4, 1, 0.2)}),
    "old lm-evaluation-harness": (old_lm_eval, [], {"org/large": (1, 0, 0.6), "org/small": (1, 0, 0.5)}),
    "one of several metrics": (
        several_metrics,
        ["--selection", "exact_match,flexible-extract"],
        {"a": (1, 0, 0.6), "b": (1, 0, 0.6)},
    ),
    "resolved": (resolved_instances, [], {"a": (6, 0, 0.5), "b": (6, 0, 1)}),
    "PASS and FAIL": (pass_or_fail, [], {"a": (8, 0, 0.25), "b": (8, 0, 0.75)}),
    "mAP": (detectors, [], {"n": (4, 0, 0.3), "s": (4, 0, 0.4)}),
    "ep_rew_mean": (returns, [], {"ppo": (4, 0, 10), "sac": (4, 0, 20)}),
    "test_error": (error_rates, [], {"a": (4, 0, 0.2), "b": (4, 0, 0.1)}),
    "tau2-bench": (logs.tau2, [], {"claude": (40, 1, 20 / 39), "gpt-5": (40, 1, 19 / 39)}),
    "Harbor": (logs.harbor, [], {"terminus-2 / m1": (24, 1, 11 / 23), "claude-code / m1": (24, 1, 12 / 23)}),
    "Terminal-Bench": (logs.terminal_bench, [], {"terminus / m1": (16, 1, 7 / 15), "terminus / m2": (16, 1, 8 / 15)}),
    "SWE-bench": (logs.swe_bench, [], {"model-a.run1": (20, 1, 9 / 19), "model-b.run1": (20, 1, 6 / 19)}),
    "instances of SWE-bench": (logs.swe_bench_instances, [], {"model-a": (6, 0, 0.5), "model-b": (6, 0, 1 / 3)}),
    "promptfoo": (logs.promptfoo, [], {"openai:gpt-4.1": (24, 1, 12 / 23), "anthropic:sonnet": (24, 1, 8 / 23)}),
    "DeepEval": (logs.deepeval, [], {"gpt-4.1": (12, 1, 6 / 11), "gpt-4o": (12, 1, 4 / 11)}),
    "a folder of inspect logs": (inspect_folder, [], {"m1": (5, 0, 0.6), "m2": (5, 0, 0.2)}),
    "identifiers of 31 digits": (long_ids, [], {"a": (4, 0, 0.5), "b": (4, 0, 0.7)}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_right(name, tmp_path, capsys):
    make, options, families = ANSWERS[name]
    home = tmp_path / ("smac" if make is old_smac else "results")
    made = make(home)
    sources = [str(path) for path in (made if isinstance(made, list) else [made])]
    code = main(["describe", *sources, *options, "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    described = {family["family"]: family for family in json.loads(printed.out)["families"]}
    assert set(described) == set(families)
    for family, (n_trials, n_failed, mean) in families.items():
        assert (described[family]["n_trials"], described[family]["n_failed"]) == (n_trials, n_failed)
        assert described[family]["mean"] == pytest.approx(mean)


QUESTIONS = {
    "crossed folders": (crossed_folders, ["'folder' (adam, sgd)", "'name 1' (resnet, vit)", "--family"]),
    "performances": (models_and_performances, ["a higher 'performances' better, or a lower one", "--direction"]),
    "two tables": (two_tables, ["'first', 'second'", "rows=first or rows=second"]),
    "several metrics": (
        several_metrics,
        ["'exact_match,strict-match'", "'exact_match,flexible-extract'", "--selection"],
    ),
    "pass or score": (weighted_promptfoo, ["'success'", "'score'", "--selection"]),
    "spreadsheet": (spreadsheet, ["save the sheet", "CSV"]),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_question_names_the_readings(name, tmp_path, capsys):
    make, parts = QUESTIONS[name]
    code = main(["compare", str(make(tmp_path / "results"))])
    printed = capsys.readouterr()
    assert code in ((1, 2) if name == "spreadsheet" else (1,))
    assert printed.out == ""
    (line,) = printed.err.strip().splitlines()
    assert all(part in line for part in parts), line
