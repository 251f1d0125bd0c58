"""Samples read in parts: the same bits whatever the memory and whoever reads them."""

import json
import sys

import numpy as np
import pytest

from levelbest import large
from levelbest.cli.main import main
from levelbest.curves import curve, large_curves
from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.readers.engine import connect
from levelbest.trials import Trials

OPTIONS = {"group": "problem", "selection": "verifier", "reported": "correct", "direction": "max"}


def write(path, **columns):
    """A Parquet file from lists, in the order given."""
    names = list(columns)
    rows = ", ".join(
        "(" + ", ".join("NULL" if v is None else f"'{v}'" if isinstance(v, str) else f"{v!r}" for v in row) + ")"
        for row in zip(*columns.values(), strict=True)
    )
    kinds = ", ".join(f"{name}::{_kind(columns[name])} AS {name}" for name in names)
    connect().execute(
        f"COPY (SELECT {kinds} FROM (VALUES {rows}) AS t({', '.join(names)})) TO '{path}' (FORMAT parquet)"
    )
    return str(path)


def _kind(values):
    return "VARCHAR" if isinstance(values[0], str) else "INTEGER" if isinstance(values[0], int) else "DOUBLE"


def samples(seed=0, n_problems=23, text=True):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, n_problems)
    code = rng.permutation(np.repeat(np.arange(n_problems), sizes))
    correct = (rng.random(code.size) < rng.random(n_problems)[code]).astype(float)
    verifier = np.round(correct + rng.normal(0, 1, code.size), 1)
    problem = [f"p{i:02d}" for i in code] if text else [int(i) * 7 - 20 for i in code]
    return problem, verifier.tolist(), correct.tolist()


@pytest.mark.parametrize("text", [True, False])
def test_parts_give_the_numbers_of_the_whole(tmp_path, monkeypatch, text):
    problem, verifier, correct = samples(text=text)
    half = len(problem) // 2
    files = [
        write(tmp_path / f"{i}.parquet", problem=problem[part], verifier=verifier[part], correct=correct[part])
        for i, part in enumerate((slice(0, half), slice(half, None)))
    ]
    trials = Trials.from_arrays(verifier, reported=correct, group=problem, direction="max", family="whole")
    whole = curve(trials, n_resamples=200)
    (once,) = large_curves(files, n_resamples=200, **OPTIONS)
    assert once.value == pytest.approx(whole.value, abs=1e-12)
    assert once.problems.n_groups.tolist() == whole.problems.n_groups.tolist()
    assert once.method == "gaffke"
    monkeypatch.setattr(large, "CHUNK", 20)
    (chunked,) = large_curves(files, n_resamples=200, **OPTIONS)
    monkeypatch.setattr(large, "BYTES", 2_000_000)  # a part holds fifty samples
    (parted,) = large_curves(files, n_resamples=200, memory="200MB", **OPTIONS)
    assert chunked.value == pytest.approx(once.value, abs=1e-12)
    assert parted.problems.by_group.tobytes() == chunked.problems.by_group.tobytes()
    assert parted.low.tobytes() == chunked.low.tobytes()


@pytest.mark.parametrize("direction", ["max", "min"])
def test_counts_are_enough_for_zeros_and_ones(tmp_path, direction):
    problem, _, correct = samples(1)
    scores = [None if i % 11 == 0 else value for i, value in enumerate(correct)]
    path = write(tmp_path / "s.parquet", problem=problem, score=[*scores[1:], scores[0]])
    problem = [*problem]
    values = [np.nan if v is None else v for v in [*scores[1:], scores[0]]]
    for failed in ("worst", "drop"):
        trials = Trials.from_arrays(values, group=problem, direction=direction)
        whole = curve(trials, failed=failed, n_resamples=200)
        (found,) = large_curves(
            path, group="problem", selection="score", direction=direction, failed=failed, n_resamples=200
        )
        assert found.value == pytest.approx(whole.value, abs=1e-12)
        assert found.n_failed == whole.n_failed > 0
        assert any(c.code == "failures" for c in found.cautions)


def test_failed_samples_with_a_verifier(tmp_path):
    problem, verifier, correct = samples(2)
    verifier = [0.5, *(None if i % 7 == 0 else v for i, v in enumerate(verifier[1:]))]
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    values = [np.nan if v is None else v for v in verifier]
    trials = Trials.from_arrays(values, reported=correct, group=problem, direction="max")
    for failed in ("worst", "drop"):
        whole = curve(trials, failed=failed, n_resamples=200)
        (found,) = large_curves(path, failed=failed, n_resamples=200, **OPTIONS)
        assert found.value == pytest.approx(whole.value, abs=1e-12)


def test_from_the_command_line_with_families(tmp_path, capsys):
    problem, verifier, correct = samples(3)
    model = ["a" if i % 2 else "b" for i in range(len(problem))]
    path = write(tmp_path / "s.parquet", model=model, problem=problem, verifier=verifier, correct=correct)
    common = ["--family", "model", "--group", "problem", "--selection", "verifier", "--reported", "correct"]
    assert main(["curve", path, *common, "--direction", "max", "--memory", "1GB", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["family"] for one in document["families"]] == ["a", "b"]
    assert main(["curve", path, *common, "--memory", "1GB"]) == 2
    assert "need --direction" in capsys.readouterr().err
    assert main(["curve", path, *common, "--direction", "max", "--memory", "1GB", "--statistic", "median"]) == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"memory": "1"}, InputError, "at least 200MB, written like 4GB, got '1'"),
        ({"group": "problm"}, InputError, "no column 'problm'; did you mean 'problem'"),
        ({"engine": "spark"}, InputError, "unknown engine 'spark'"),
        ({"where": "nothing > 3"}, DataError, "cannot be read"),
        ({"where": "verifier > 1e9"}, DataError, "none of 0 samples has a score"),
        ({"n": 100}, InputError, "at most the number of trials"),
    ],
)
def test_what_is_refused(tmp_path, options, error, message):
    problem, verifier, correct = samples(4)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    with pytest.raises(error, match=message):
        large_curves(path, **(OPTIONS | options))


def test_other_files_and_missing_scores_are_refused(tmp_path):
    text = tmp_path / "s.csv"
    text.write_text("problem,verifier,correct\n1,2,3\n")
    with pytest.raises(InputError, match=r"must be Parquet, got s\.csv"):
        large_curves(str(text), **OPTIONS)
    path = write(tmp_path / "s.parquet", problem=["a", "a"], verifier=[0.5, 1.0], correct=[1.0, None])
    with pytest.raises(DataError, match="missing for 1 samples"):
        large_curves(path, **OPTIONS)


def test_without_ray_it_says_how_to_get_it(tmp_path, monkeypatch):
    problem, verifier, correct = samples(5)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"levelbest\[ray\]"):
        large_curves(path, engine="ray", **OPTIONS)


@pytest.mark.long
def test_two_workers_give_the_same_bits_as_none(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    problem, verifier, correct = samples(6, n_problems=60)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    monkeypatch.setattr(large, "CHUNK", 60)
    monkeypatch.setattr(large, "BYTES", 1_000_000)
    (alone,) = large_curves(path, memory="200MB", **OPTIONS)
    (both,) = large_curves(path, memory="200MB", engine="ray", workers=2, **OPTIONS)
    assert both.problems.by_group.tobytes() == alone.problems.by_group.tobytes()
    assert both.low.tobytes() == alone.low.tobytes()
