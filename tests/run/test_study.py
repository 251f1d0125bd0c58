"""Study files: the three formats say the same, and every mistake is a sentence."""

import json
import sys

import pytest
from click.testing import CliRunner

from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.run.study import Cost, Resources, Study
from levelbest.run.study_file import read_plain, read_study

YAML = """
seed: 7
metric: {selection: dev_acc, reported: test_acc, direction: max, bounds: [0, 1]}
cost: {of: wall, rate: 1.8, per: hour, unit: dollars}
n_trials: 50
time_limit: 2 h
command: python train.py --model {family} --lr {lr} --seed {seed}
families:
  cnn:
    space: {lr: {loguniform: [1e-4, 1e-1]}, units: {choice: [no, on, 16]}}
    resources: {cpus: 2, memory: 4 GB}
  lr:
    n_trials: 20
    seeds: 5
    space: {lr: {uniform: [0, 1]}}
    command: [python, other.py, "{lr}"]
    report: {file: "{out}/metrics.json"}
"""
TOML = """
seed = 7
metric = {selection = "dev_acc", reported = "test_acc", direction = "max", bounds = [0, 1]}
cost = {of = "wall", rate = 1.8, per = "hour", unit = "dollars"}
n_trials = 50
time_limit = "2 h"
command = "python train.py --model {family} --lr {lr} --seed {seed}"
[families.cnn]
space = {lr = {loguniform = [1e-4, 1e-1]}, units = {choice = ["no", "on", 16]}}
resources = {cpus = 2, memory = "4 GB"}
[families.lr]
n_trials = 20
seeds = 5
space = {lr = {uniform = [0, 1]}}
command = ["python", "other.py", "{lr}"]
report = {file = "{out}/metrics.json"}
"""


def test_yaml_toml_and_json_say_the_same(tmp_path):
    (tmp_path / "s.yaml").write_text(YAML)
    (tmp_path / "s.toml").write_text(TOML)
    (tmp_path / "s.json").write_text(json.dumps(read_plain(tmp_path / "s.yaml")))
    studies = [read_study(tmp_path / f"s.{ending}") for ending in ("yaml", "toml", "json")]
    for study in studies:
        assert study.to_dict() == studies[0].to_dict()
        assert [f.definition() for f in study.families] == [f.definition() for f in studies[0].families]
        assert [f.fingerprint for f in study.families] == [f.fingerprint for f in studies[0].families]
    study = studies[0]
    assert (study.name, study.seed, study.folder) == ("s", 7, tmp_path)
    assert study.to_dict()["metric"] == {
        "selection": "dev_acc", "reported": "test_acc", "direction": "max", "bounds": (0.0, 1.0),
    }  # fmt: skip
    cnn, lr = study.families
    assert (cnn.n_trials, cnn.time_limit, cnn.seeds, cnn.retries) == (50, 7200, 1, 3)
    assert cnn.resources == Resources(cpus=2, memory=4_000_000_000)
    assert cnn.command.arguments[:2] == ("python", "train.py")
    assert (lr.n_trials, lr.seeds, lr.report) == (20, 5, "{out}/metrics.json")
    assert lr.command.arguments == ("python", "other.py", "{lr}")
    # YAML 1.2: these are words, and 1e-4 is a number.
    assert {cnn.space.draw(0, 0, i)[0]["units"] for i in range(50)} == {"no", "on", 16}
    assert cnn.space.to_dict()["lr"] == {"loguniform": [1e-4, 1e-1]}


def test_yaml_is_plain_data(tmp_path):
    text = "a: 010\nb: 0x1f\nc: ~\nd: yes\ne: 12:30:45\nf: 2020-01-01\ng: .inf\nh: &x {k: 1}\ni: {<<: *x, l: 2}"
    (tmp_path / "s.yaml").write_text(text)
    assert read_plain(tmp_path / "s.yaml") == {
        "a": 10, "b": 31, "c": None, "d": "yes", "e": "12:30:45", "f": "2020-01-01", "g": float("inf"),
        "h": {"k": 1}, "i": {"k": 1, "l": 2},
    }  # fmt: skip
    for hostile in ("!!python/object/apply:os.system ['true']", "!!python/name:os.system", "{a: 1, a: 2}", "{[1]: 2}"):
        (tmp_path / "s.yaml").write_text(hostile)
        with pytest.raises(InputError, match=r"not valid YAML|twice|must be text"):
            read_plain(tmp_path / "s.yaml")


def test_a_space_may_stand_in_a_file_of_its_own(tmp_path):
    space = {"LR": {"sampling strategy": "loguniform", "bounds": [1e-6, 0.1]}, "EPOCHS": 50}
    (tmp_path / "space.json").write_text(json.dumps(space))
    (tmp_path / "s.yaml").write_text(
        "metric: {selection: a, direction: max}\nfamilies: {x: {command: 'run {LR}', n_trials: 1, space: space.json}}"
    )
    (family,) = read_study(tmp_path / "s.yaml").families
    assert family.space.names == ("LR", "EPOCHS")


def test_costs_are_measured_or_converted():
    assert Cost().amount(10.0, 4.0, {}) == 10
    assert Cost("cpu").amount(10.0, 4.0, {}) == 4
    assert Cost("wall", 1.8, 3600, "dollars").amount(7200.0, 0.0, {}) == pytest.approx(3.6)
    assert Cost("tokens", 2.0, 1000, "cents").amount(1.0, 1.0, {"tokens": 5000}) == 10
    assert Cost("tokens").amount(1.0, 1.0, {}) is None


def test_what_decides_the_results_is_in_the_fingerprint():
    def fingerprint(**changed):
        family = {"command": "run {a} {b}", "space": {"a": {"uniform": [0, 1]}, "b": 2}, "n_trials": 5} | changed
        given = {"metric": {"selection": "s", "direction": "max"}, "families": {"f": family}}
        return Study.from_dict(given, folder=None, name="n").families[0].fingerprint

    same = fingerprint()
    assert fingerprint(n_trials=50, retries=9, resources={"cpus": 4}) == same
    for change in (
        {"space": {"b": 2, "a": {"uniform": [0, 1]}}},  # another order draws other numbers
        {"space": {"a": {"uniform": [0, 2]}, "b": 2}},
        {"command": "run {b} {a}"},
        {"time_limit": 5},
        {"seeds": 5},
        {"env": {"A": "1"}},
        {"report": "exit"},
    ):
        assert fingerprint(**change) != same, change


def study_with(changes: dict, family: dict) -> dict:
    plain = {"command": "run {a}", "space": {"a": {"uniform": [0, 1]}}, "n_trials": 5} | family
    given = {"metric": {"selection": "s", "direction": "max"}, "families": {"f": plain}} | changes
    return {key: value for key, value in given.items() if value is not ...}


@pytest.mark.parametrize(
    ("changes", "family", "sentence"),
    [
        ({"metric": ...}, {}, "a study needs its metric"),
        ({"metric": {"selection": "s"}}, {}, "a study needs its metric"),
        ({"metric": {"selection": "s", "direction": "up"}}, {}, "direction must be 'max'"),
        ({"metric": {"selection": 3, "direction": "max"}}, {}, "selection must name a column, got 3"),
        ({"metric": {"selection": "s", "direction": "max", "bound": 1}}, {}, "no entry 'bound'; did you mean 'bounds'"),
        ({"families": {}}, {}, "needs families"),
        ({"families": {"f": 3}}, {}, "family f: write its command"),
        ({"trials": 3}, {}, "the study has no entry 'trials'"),
        ({"seed": -1}, {}, "seed must be a whole number"),
        ({"workers": 0}, {}, "workers must be a whole number, at least 1"),
        ({"name": 3}, {}, "name must be text"),
        ({"cost": "dollars"}, {}, "cost takes"),
        ({"cost": {"rate": 0}}, {}, "rate must be a number above 0"),
        ({"log_limit": "10 parsecs"}, {}, "log_limit must be a number above 0, with or without a unit"),
        ({}, {"command": None}, "either a command or a function"),
        ({}, {"function": "m:f"}, "either a command or a function"),
        ({}, {"command": 5}, "family f: a command is one text, or a list of its arguments; got 5"),
        ({}, {"command": {"run": 1}}, "a command is one text, or a list of its arguments"),
        (
            {},
            {"space": {"a": {"scipy": "expon", "args": 3}}},
            "a: scipy takes args as a list and kwds as names .* got 3",
        ),
        ({}, {"space": {"a": {"scipy": "expon", "kwds": [3]}}}, r"a: scipy takes args as a list .* got \[3\]"),
        ({"cost": {"rate": None}}, {}, "rate must be a number above 0"),
        ({}, {"command": None, "function": "objective"}, "module:name"),
        ({}, {"command": None, "function": 3}, "callable or named"),
        ({}, {"n_trials": None}, "n_trials must be a whole number, at least 1, got None"),
        ({}, {"n_trials": 2.5}, "n_trials must be a whole number"),
        ({}, {"n_trials": 7, "seeds": 3}, "multiple of seeds: got 7 with 3 seeds per configuration; use 6"),
        ({}, {"time_limit": "soon"}, "time_limit must be a number above 0, with or without a unit"),
        ({}, {"time_limit": -5}, "time_limit must be a number above 0"),
        ({}, {"retries": -1}, "retries must be a whole number, at least 0"),
        ({}, {"resources": {"cores": 3}}, "resources has no entry 'cores'"),
        ({}, {"command": "run {b}"}, r"family f: the command mentions \{b\}, which is not a parameter"),
        ({}, {"env": {"A": "{b}"}}, r"mentions \{b\}"),
        ({}, {"env": "all"}, "or is the word parameters; got 'all'"),
        ({}, {"report": "yaml"}, "report must be json, exit or"),
        ({}, {"report": {"file": "metrics.json"}}, "every trial needs its own metrics file"),
        ({}, {"report": {"file": "{out}/{b}"}}, r"mentions \{b\}"),
        ({}, {"report": {"path": "x"}}, "no entry 'path'"),
        ({}, {"command": None, "function": "m:f", "report": "exit"}, "report is for commands"),
        ({}, {"space": {"a": {"uniform": [1, 0]}}}, "family f: a: uniform takes .* swapped"),
        ({}, {"space": {"a": {"loguniform": [0, 1]}}}, "log scale cannot pass through zero"),
        ({}, {"space": "absent.json"}, "there is no file"),
        ({}, {"spaces": {}}, "family f has no entry 'spaces'; did you mean 'space'"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(tmp_path, capsys, changes, family, sentence):
    path = tmp_path / "s.json"
    path.write_text(json.dumps(study_with(changes, family)))
    with pytest.raises(InputError, match=sentence):
        read_study(path)
    assert main(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("levelbest: s.json: ") or "there is no file" in said
    assert "Traceback" not in said
    assert [one.name for one in tmp_path.iterdir()] == ["s.json"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("s.json", "{", "not valid JSON"),
        ("s.json", '{"a": 1, "a": 2}', "says 'a' twice"),
        ("s.toml", "a = = 2", "not valid TOML"),
        ("s.yaml", "a: [", "not valid YAML"),
        ("s.yaml", "just words", "must hold a study's entries"),
        ("s.txt", "a", "by its ending"),
    ],
)
def test_files_that_are_no_study_are_refused(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_study(tmp_path / name)


def test_an_absent_study_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_study(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    ("function", "said"),
    [("checked_lib:objectiv", "AttributeError"), ("chekced_lib:objective", "No module named 'chekced_lib'")],
)
def test_check_imports_the_functions(tmp_path, capsys, monkeypatch, function, said):
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "checked_lib.py").write_text("def objective(config, seed):\n    return 1.0\n")
    try:
        for name, code in ((function, 2), ("checked_lib:objective", 0)):
            given = {
                "metric": {"selection": "dev", "direction": "max"},
                "families": {"f": {"function": name, "n_trials": 2}},
            }
            (tmp_path / "s.json").write_text(json.dumps(given))
            assert main(["run", str(tmp_path / "s.json"), "--check"]) == code
            if code:
                err = capsys.readouterr().err
                assert f"{name} cannot be imported" in err
                assert said in err
    finally:
        sys.modules.pop("checked_lib", None)


def test_check_prints_the_first_draws_and_runs_nothing(tmp_path):
    from levelbest.cli.run import command

    (tmp_path / "s.yaml").write_text(YAML)
    shown = CliRunner().invoke(command, [str(tmp_path / "s.yaml"), "--check"])
    assert shown.exit_code == 0
    study = read_study(tmp_path / "s.yaml")
    config, seed = study.families[1].space.draw(7, 1, 2, 5)
    assert f"trial 2: {json.dumps(config)}, seed {seed}" in shown.output
    assert [one.name for one in tmp_path.iterdir()] == ["s.yaml"]
