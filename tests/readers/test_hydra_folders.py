"""Hydra's job folders, written by Hydra just now and before."""

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.formats.hydra import READERS

(READER,) = READERS

ARTEFACTS = Path(__file__).parent / "artefacts"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hydra") / "multirun"
    run = runpy.run_path(str(ARTEFACTS / "make_hydra.py"))["run"]
    ended = run(folder)
    assert "too wide" in ended.stderr
    return folder


@pytest.fixture(params=["fresh", "committed"])
def multirun(request, fresh):
    return fresh if request.param == "fresh" else ARTEFACTS / "hydra" / "multirun"


def test_jobs_are_trials(multirun):
    assert READER.recognises(multirun)
    (table,) = READER.read(multirun)
    assert table.columns["job"].tolist() == ["0", "1", "2", "3", "4", "5"]
    assert table.columns["status"].tolist() == ["ok", "failed"] * 3
    assert table.columns["config.lr"].tolist() == [0.01, 0.01, 0.001, 0.001, 0.02, 0.02]
    assert table.columns["config.net.width"].tolist() == [2, 8] * 3
    assert table.configuration == ["config.lr", "config.net.width", "config.net.name", "config.seed"]
    expected = [0.5 + 0.02, 0.5 + 0.002, 0.5 + 0.04]  # hydra_app.py: 0.5 + lr * width
    np.testing.assert_allclose(table.columns["val.acc"][::2], expected)
    np.testing.assert_allclose(table.columns["test.acc"][::2], np.array(expected) - 0.1)
    assert table.roles == {"family": "sweep", "status": "status", "order": "order", "seed": "config.seed"}
    assert table.facts["metrics"] == "metrics.json"
    trials = read_trials(multirun)
    assert trials.families == ("hydra_app",)
    assert (trials.n_trials, trials.n_failed) == (6, 3)
    # Every combination of what the user listed: no sampler learnt from anything.
    assert not any(one.code == "adaptive-sampler" for one in trials.cautions)


def test_a_log_of_steps_by_name(multirun):
    (table,) = READER.read(multirun, metrics="*.jsonl")
    assert table.roles["trial"] == "job"
    trials = read_trials(multirun, metrics="steps.jsonl")
    np.testing.assert_allclose(trials.selection[::2], [0.52, 0.502, 0.54])  # the best of three steps is the second
    assert trials.n_failed == 3


def test_the_metrics_file_must_be_found(multirun, tmp_path):
    with pytest.raises(InputError, match=r"has a metrics file 'scores\.json'; the jobs hold"):
        READER.read(multirun, metrics="scores.json")
    copy = Path(shutil.copytree(multirun, tmp_path / "copy"))
    for file in copy.rglob("metrics.json"):
        file.rename(file.with_name("out.json"))
    for file in copy.rglob("steps.jsonl"):
        file.unlink()
    with pytest.raises(InputError, match=r"Hydra stores no scores.*out\.json.*name it with .*metrics"):
        READER.read(copy)
    (table,) = READER.read(copy, metrics="out.json")
    assert table.columns["status"].tolist() == ["ok", "failed"] * 3


def test_packed_folder_is_the_same(multirun, tmp_path):
    for kind in ("zip", "gztar"):
        path = Path(shutil.make_archive(str(tmp_path / "results"), kind, multirun.parent, multirun.name))
        assert READER.recognises(path)
        (packed,), (plain,) = READER.read(path), READER.read(multirun)
        for name in plain.columns:
            assert packed.columns[name].tolist() == plain.columns[name].tolist()


def test_broken_files_are_listed(multirun, tmp_path):
    copy = Path(shutil.copytree(multirun, tmp_path / "copy"))
    (copy / "0" / "metrics.json").write_text('{"val": ')
    (copy / "2" / ".hydra" / "config.yaml").write_text("lr: [")
    (table,) = READER.read(copy)
    assert sorted(one.where for one in table.skipped) == ["0/metrics.json", "2/.hydra/config.yaml"]
    assert table.columns["status"].tolist()[:3] == ["failed", "failed", "ok"]


def test_sweepers_of_plug_ins_are_named(multirun, tmp_path):
    copy = Path(shutil.copytree(multirun, tmp_path / "copy"))
    text = (copy / "0" / ".hydra" / "hydra.yaml").read_text()
    basic = "_target_: hydra._internal.core_plugins.basic_sweeper.BasicSweeper"
    assert basic in text
    plugin = "_target_: hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper\n    sampler:\n      _target_: "
    (copy / "0" / ".hydra" / "hydra.yaml").write_text(text.replace(basic, plugin + "optuna.samplers.TPESampler"))
    (table,) = READER.read(copy)
    assert table.facts["sampler:hydra_app"] == "TPESampler"


def test_two_sweeps_are_two_families(multirun, tmp_path):
    for name in ("cnn", "lstm"):
        shutil.copytree(multirun, tmp_path / name)
    tables = READER.read(tmp_path)
    assert [set(table.columns["sweep"]) for table in tables] == [{"cnn"}, {"lstm"}]


def test_a_bomb_of_aliases_is_refused(tmp_path):
    """Nine lines of YAML that stand for a billion values."""
    lines = ["a0: &a0 {x: 1, y: 2, z: 3, u: 4, v: 5, w: 6, p: 7, q: 8, r: 9, s: 0}"]
    for level in range(1, 9):
        inner = ", ".join(f"k{i}: *a{level - 1}" for i in range(10))
        lines.append(f"a{level}: &a{level} {{{inner}}}")
    job = tmp_path / "0" / ".hydra"
    job.mkdir(parents=True)
    (job / "config.yaml").write_text("\n".join(lines))
    (tmp_path / "0" / "metrics.json").write_text('{"val_acc": 1}')
    (table,) = READER.read(tmp_path)
    assert "nested too deeply" in table.skipped[0].why


def test_what_is_no_job(tmp_path):
    assert not READER.recognises(tmp_path)
    with pytest.raises(DataError, match="no Hydra job"):
        READER.read(tmp_path)


@pytest.mark.parametrize("blank", ["", "\n", "  \n\n"])
def test_a_blank_metrics_file_is_a_failed_job_and_is_listed(tmp_path, blank):
    for place in range(3):
        inner = tmp_path / "multirun" / str(place) / ".hydra"
        inner.mkdir(parents=True)
        (inner / "config.yaml").write_text(f"lr: 0.{place + 1}\n")
        text = blank if place == 1 else f"step,val_acc\n0,0.{place + 5}\n"
        (inner.parent / "metrics.csv").write_text(text)
    trials = read_trials(tmp_path / "multirun")
    assert (trials.n_trials, trials.n_failed) == (3, 1)
    assert [lost.where for lost in trials.skipped] == ["1/metrics.csv"]
