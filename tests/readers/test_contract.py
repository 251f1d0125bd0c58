"""What every reader promises, checked for each of them on an artefact of its own kind.

A new reader adds one to ``ARTEFACTS``: its name, a path below ``artefacts`` or a function that makes one in a folder,
and the options that ``read_trials`` needs for it.
"""

import hashlib
import json
import os
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import levelbest as lb
from levelbest.cli.main import cli
from levelbest.errors import LevelbestError
from levelbest.readers import registry
from levelbest.readers.raw import Coded
from levelbest.readers.registry import read_path, reader_for, readers
from levelbest.run.ledger import Ledger
from levelbest.trials import STATUSES

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
from ledgers import ended, opening, started

sys.path.insert(0, str(Path(__file__).parent))
import logs
import makers

HERE = Path(__file__).parent / "artefacts"


def small_csv(folder):
    path = folder / "runs.csv"
    path.write_text("model,val_acc,test_acc,seconds,lr\ncnn,.8,.75,1,.1\nlr,.7,.71,.5,.2\ncnn,nan,,2,.3\n,,,,\n")
    return path


def small_markdown(folder):
    path = folder / "notes.md"
    head = ["# Runs", "", "| model | val_acc | lr |", "|---|--:|---|"]
    rows = ["| cnn | 0.8 | 0.1 |", "| **lr** | 0.7 | 0.2 |", "| cnn | | 0.3 |"]
    path.write_text("\n".join([*head, *rows, "", "So much for that."]) + "\n")
    return path


def small_latex(folder):
    path = folder / "table.tex"
    rows = [r"cnn & 0.8 & 0.1 \\", r"\textbf{lr} & $0.7$ & 0.2 \\ \hline", r"cnn & 0.6 & 0.3 \\"]
    head = [r"\begin{table}\begin{tabular}{lrr} \toprule", r"model & val\_acc & lr \\ \midrule"]
    path.write_text("\n".join([*head, *rows, r"\end{tabular}\end{table}"]) + "\n")
    return path


def small_lines(folder):
    path = folder / "runs.jsonl"
    path.write_text('{"model": "a", "val": {"acc": 0.5}, "lr": 1}\n{"model": "b", "val": {"acc": 0.6}}\nnot json\n')
    return path


def small_parquet(folder):
    source = small_csv(folder)
    path = lb.write_trials(lb.read_trials(source), folder / "runs.parquet")
    source.unlink()
    return path


def allentune_search(folder):
    search = folder / "search"
    for place, score in enumerate([0.8, 0.7, None]):
        trial = search / f"run_{place}_2020-01-01_00-00-0{place}" / "trial"
        trial.mkdir(parents=True)
        (trial / "config.json").write_text(json.dumps({"model": {"type": "cnn"}, "trainer": {"lr": place / 10}}))
        if score is not None:
            metrics = {"best_validation_accuracy": score, "test_accuracy": score, "training_duration": "0:01:00"}
            (trial / "metrics.json").write_text(json.dumps(metrics))
    return search


def small_ledger(folder):
    path = folder / "study.db"
    with Ledger.create(path, opening(3, ("a", "b"))) as ledger:
        for family in range(2):
            ledger.append([started(trial, family) for trial in range(3)])
            ledger.append([ended(0, family, dev=0.1), ended(1, family, dev=0.2), ended(2, family, status="failed")])
    return path


def small_folder(folder):
    path = folder / "runs"
    for place in range(6):
        run = path / "ab"[place % 2] / f"seed{place // 2}.json"
        run.parent.mkdir(parents=True, exist_ok=True)
        run.write_text(json.dumps({"lr": 0.1 * place, "val_acc": 0.5 + place / 100, "seconds": place + 1.0}))
    return path


def below(maker):
    """A maker of results in a folder of their own."""

    def make(folder):
        return maker(folder / "results")

    make.__name__ = maker.__name__
    return make


ARTEFACTS = [
    ("stable-baselines3", below(logs.stable_baselines), {}),
    ("stable-baselines3", below(logs.monitor), {}),
    ("spinning-up", below(logs.spinning_up), {}),
    ("ultralytics", below(logs.ultralytics), {}),
    ("sacred", below(logs.sacred), {}),
    ("tau2-bench", below(logs.tau2), {}),
    ("harbor", below(logs.harbor), {}),
    ("terminal-bench", below(logs.terminal_bench), {}),
    ("swe-bench", below(logs.swe_bench), {}),
    ("swe-bench", below(logs.swe_bench_instances), {}),
    ("promptfoo", below(logs.promptfoo), {}),
    ("deepeval", below(logs.deepeval), {}),
    ("folder", small_folder, {}),
    ("keras-tuner", "keras_tuner/accuracy", {}),
    ("smac", makers.smac, {}),
    ("smac", "smac/svm", {}),
    ("amltk", "amltk/one_metric.csv", {}),
    ("evalplus", "evalplus/some-model_eval_results.json", {}),
    ("evalplus", "bigcodebench/some-model--bigcodebench-complete_eval_results.json", {}),
    ("nevergrad", "nevergrad/log.jsonl", {}),
    ("helm", "helm", {"selection": "stats.exact_match"}),
    ("helm", str(next(HERE.glob("helm/*/per_instance_stats.json")).relative_to(HERE)), {"selection": "exact_match"}),
    ("every-eval-ever", "every_eval_ever", {}),
    ("every-eval-ever", "every_eval_ever/sums/org/small/result.jsonl", {}),
    ("huggingface", "huggingface/entries", {"direction": "max"}),
    ("huggingface", "huggingface/card.json", {"where": "metric = 'loss'"}),
    ("nni", "nni/mlp", {}),
    ("nni", "nni/mlp/db/nni.sqlite", {}),
    ("nni-export", "nni/export.json", {"direction": "max"}),
    ("nni-export", "nni/export.csv", {"direction": "max"}),
    ("ray-table", "ray_tune/table.csv", {}),
    ("syne-tune", "syne_tune", {}),
    ("syne-tune", str(next(HERE.glob("syne_tune/*/results.csv.zip")).relative_to(HERE)), {}),
    ("printed", small_markdown, {}),
    ("printed", small_latex, {}),
    ("table", small_csv, {}),
    ("table", small_lines, {}),
    ("table", small_parquet, {}),
    ("optuna", "optuna/study.db", {"study": "cnn"}),
    ("optuna-journal", "optuna/study.journal", {"study": "cnn"}),
    ("mlflow", "mlflow/mlflow.db", {}),
    ("mlflow-folder", "mlflow/mlruns.tar.gz", {}),
    ("wandb", "wandb/wandb", {}),
    ("wandb-csv", "wandb_export/runs.csv", {}),
    ("ray-tune", "ray_tune/cnn", {}),
    ("hydra", "hydra/multirun", {}),
    ("lightning", "lightning/logs", {}),
    ("tensorboard", "tensorboard/cnn", {}),
    ("sklearn", "sklearn/cv_results.csv", {}),
    ("allentune", allentune_search, {}),
    ("inspect", "inspect/model.eval", {}),
    ("inspect", "inspect/model.json", {}),
    ("lm-eval", str(next(HERE.glob("lm_eval/*/samples_mini_choice_*.jsonl")).relative_to(HERE)), {}),
    ("lm-eval-results", str(next(HERE.glob("lm_eval/*/results_*.json")).relative_to(HERE)), {}),
    ("ledger", small_ledger, {}),
]


@pytest.fixture(params=ARTEFACTS, ids=[f"{name}-{getattr(a, '__name__', a)}" for name, a, _ in ARTEFACTS])
def artefact(request, tmp_path):
    """(reader, path to a copy, options)."""
    name, source, options = request.param
    home = tmp_path / "home"
    home.mkdir()
    if callable(source):
        path = source(home)
    else:
        path = home / Path(source).name
        (shutil.copytree if (HERE / source).is_dir() else shutil.copyfile)(HERE / source, path)
    return next(reader for reader in readers() if reader.name == name), path, options


def prints(path):
    """Every file's name, bytes and time."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {str(one): (hashlib.sha256(one.read_bytes()).hexdigest(), one.stat().st_mtime_ns) for one in files}


def test_every_reader_is_under_contract():
    names = [reader.name for reader in readers()]
    assert len(set(names)) == len(names)
    assert {name for name, _, _ in ARTEFACTS} == set(names)
    assert all(reader.about for reader in readers())


def test_it_is_recognised_and_no_other_claims_it(artefact):
    reader, path, _ = artefact
    module = next(module for module in registry._MODULES if reader in registry._readers_in(module))
    assert registry._sort_of(path) in registry._MODULES[module], f"the line of {module} in readers/registry.py lacks it"
    assert reader_for(path) is reader


def test_tables_are_whole(artefact):
    reader, path, options = artefact
    tables, by = read_path(path, reader.name, options)
    assert tables
    assert by is reader
    for table in tables:
        sizes = {len(column) for column in table.columns.values()}
        assert sizes == {table.n_rows}
        assert set(table.roles.values()) <= set(table.columns)
        assert set(table.configuration or ()) <= set(table.columns)
        assert table.direction in (None, "max", "min")
        assert not os.path.isabs(table.source)
        for column in table.columns.values():
            assert isinstance(column, Coded) or column.dtype.kind in "fibO"


def test_trials_are_sound(artefact):
    _, path, options = artefact
    trials = lb.read_trials(path, **options)
    assert len(trials) > 0
    assert set(np.unique(trials.status)) <= set(range(len(STATUSES)))
    assert np.isfinite(trials.selection[trials.status == STATUSES.index("ok")]).all()
    assert set(np.unique(trials.family)) == set(range(len(trials.families)))
    for column in (*trials.configuration.values(), trials.cost, trials.reported, trials.seed):
        assert column is None or len(column) == len(trials)
    assert bool(trials.skipped) == any(one.code == "skipped-rows" for one in trials.cautions)


def test_nothing_is_written_and_twice_is_the_same(artefact):
    _, path, options = artefact
    before = prints(path.parent)
    one, two = lb.read_trials(path, **options), lb.read_trials(path, **options)
    assert prints(path.parent) == before
    assert str(one) == str(two)
    assert np.array_equal(one.selection, two.selection, equal_nan=True)
    assert one.cautions == two.cautions
    assert one.skipped == two.skipped


def test_no_path_of_this_machine_is_told(artefact):
    _, path, options = artefact
    trials = lb.read_trials(path, **options)
    told = [*trials.source, *trials.facts.values(), *map(str, trials.skipped), *map(str, trials.cautions)]
    assert not [text for text in told if str(path.parent) in text]


def test_the_tidy_table_of_it_is_the_same(artefact, tmp_path):
    _, path, options = artefact
    trials = lb.read_trials(path, **options)
    back = lb.read_trials(lb.write_trials(trials, tmp_path / "tidy.parquet"))
    assert back.families == trials.families
    assert np.array_equal(back.selection, trials.selection, equal_nan=True)
    assert back.status.tolist() == trials.status.tolist()
    assert (back.metric.direction, back.metric.cost_unit) == (trials.metric.direction, trials.metric.cost_unit)


def test_describe_says_how_it_was_read_on_one_screen(artefact):
    _, path, options = artefact
    words = ("direction", "selection", "where")
    given = [f"--{key}={value}" if key in words else f"--reader-option={key}={value}" for key, value in options.items()]
    shown = CliRunner().invoke(cli, ["describe", str(path), *given]).stdout.splitlines()
    assert len(shown) <= 40
    assert max(map(len, shown)) <= 86  # a word of a path is not cut
    assert {"read", "design"} <= {line[:7].strip() for line in shown}
    document = json.loads(CliRunner().invoke(cli, ["describe", str(path), *given, "--json"]).stdout)
    assert set(document) >= {"columns", "metric", "settings", "designs", "skipped", "warnings"}
    trials = lb.read_trials(path, **options)
    assert document["columns"]["selection"] == trials.columns["selection"]
    assert document["metric"]["cost_unit"] == trials.metric.cost_unit
    assert len(document["skipped"]) == len(trials.skipped)


def test_what_is_not_its_kind_is_not_recognised_and_gives_our_error(artefact, tmp_path):
    reader, _, _ = artefact
    others = {
        "gone": tmp_path / "gone.csv",
        "empty": tmp_path / "empty.db",
        "noise": tmp_path / "noise.bin",
        "folder": tmp_path / "folder",
        "text": tmp_path / "text.md",
    }
    others["empty"].write_bytes(b"")
    others["noise"].write_bytes(np.random.default_rng(0).bytes(5000))
    others["folder"].mkdir()
    others["text"].write_text("# Notes\n\nNothing here.\n")
    for path in others.values():
        if not (reader.name == "table" and path.suffix == ".csv"):
            assert not reader.recognises(path), path.name
        with pytest.raises(LevelbestError) as caught:
            lb.read_trials(path)
        assert re.fullmatch(r"[^\n]+", str(caught.value))


def test_damage_gives_trials_or_our_error(artefact):
    _, path, options = artefact
    rng = np.random.default_rng(0)
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    whole = {one: one.read_bytes() for one in files}
    for _ in range(25):
        one = files[int(rng.integers(len(files)))]
        data = bytearray(whole[one])
        if not data:
            continue
        kind = rng.integers(3)
        if kind == 0:
            data = data[: int(rng.integers(len(data)))]
        elif kind == 1:
            for place in rng.integers(len(data), size=8):
                data[place] = int(rng.integers(256))
        else:
            start = int(rng.integers(len(data)))
            data[start : start + 50] = rng.bytes(20)
        one.write_bytes(bytes(data))
        with suppress(LevelbestError):
            lb.read_trials(path, **options)
        one.write_bytes(whole[one])
