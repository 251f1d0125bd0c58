"""The chapter on the runner runs: its study file, its commands, its Python."""

import re
import shlex
import types
from pathlib import Path

import levelbest as lb
from levelbest.cli.main import main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "runner.md").read_text(encoding="utf-8")
TRAIN = """
import argparse, json
parser = argparse.ArgumentParser()
for name in ("model", "lr", "layers", "c", "seed"):
    parser.add_argument("--" + name)
given = parser.parse_args()
assert (given.lr is None) == (given.model == "lr")
print("training")
print(json.dumps({"dev_acc": float(given.lr or given.c) % 1, "test_acc": int(given.seed) / 2**31}))
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.S | re.M)


def test_the_study_and_its_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    (study,) = blocks("yaml")
    (tmp_path / "study.yaml").write_text(study.replace("n_trials: 50", "n_trials: 5"))
    ran = []
    for line in "\n".join(blocks("sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] in (["levelbest", "run"], ["levelbest", "verify"]) and "--head" not in words:
            assert main(words[1:]) == 0, capsys.readouterr().err
            ran.append(words[1])
    assert ran == ["run", "run", "verify", "verify"]
    assert "cnn: 5 of 5 trials; lr: 5 of 5 trials (finished)" in capsys.readouterr().out
    trials = lb.read_trials(tmp_path / "study.db")
    assert trials.metric.cost_unit == "dollars"
    assert trials.n_failed == 0


def test_the_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("python")

    def train(lr, seed):
        return types.SimpleNamespace(dev_accuracy=lr, test_accuracy=seed / 2**31)

    code, last = block.replace("n_trials=50", "n_trials=12").split("print(")
    space = {"train": train}
    exec(compile(code, "page", "exec"), space)
    assert space["done"].families == (("cnn", 12, 12, 0),)
    assert last.startswith("lb.compare(done.trials())")


def test_every_word_of_a_space_is_documented():
    from levelbest._ledger.space import KINDS, RESERVED

    for word in (*KINDS, *RESERVED):
        if word not in ("subset", "pair"):  # AllenTune's, read and not advertised
            assert f"{{{word}" in PAGE, word
