"""One search that learns from its own trials: no verdict, the best that it found, and a study that can be compared."""

import json
import os
import shlex
import sys

import numpy as np
import pytest

import levelbest as lb
from levelbest.cautions import Caution
from levelbest.cli.main import main

TRAIN = """
import argparse, json, random
parser = argparse.ArgumentParser()
for name in ("model", "lr", "width", "opt"):
    parser.add_argument("--" + name)
parser.add_argument("--seed", type=int)
given = parser.parse_args()
random.seed(given.seed)
better = given.model == "res net {x}" and given.width == "57" and given.opt == "adam"
print(json.dumps({"value": 0.8 + 0.1 * better + random.gauss(0, 0.005)}))
"""


@pytest.fixture(scope="module")
def searched():
    """Two studies of a sampler that learns; the best trial of each is known."""
    rng = np.random.default_rng(1)
    rows = 2 * 20
    table = {
        "study": ["res net {x}"] * 20 + ["vit"] * 20,
        "params_lr": rng.uniform(0.001, 0.1, rows),
        "params_width": rng.integers(16, 64, rows).astype(float),
        "params_opt": rng.choice(["adam", "sgd"], rows),
        "value": rng.uniform(0.5, 0.8, rows),
    }
    for row, value in ((7, 0.91), (33, 0.89)):
        table["value"][row], table["params_width"][row], table["params_opt"][row] = value, 57, "adam"
    trials = lb.read_trials(table, family="study", selection="value", direction="max")
    told = tuple(Caution.of("adaptive-sampler", name, sampler="TPESampler") for name in trials.families)
    return type(trials)(**{**trials.__dict__, "cautions": told}), table


def test_there_is_no_verdict_but_the_best_of_each_search(searched):
    trials, table = searched
    compared = lb.compare(trials, n_resamples=199)
    assert {part.verdict for part in compared.pairs[0].verdicts} == {"not comparable"}
    assert [(own.family, own.value, own.n_trials) for own in compared.best_found] == [
        ("res net {x}", 0.91, 20),
        ("vit", 0.89, 20),
    ]
    lr = table["params_lr"][7]
    assert f"res net {{x}} 0.91 (lr = {lr:.4g}, width = 57, opt = adam)" in " ".join(compared.summary)
    assert "allows no verdict" in compared.summary[0]
    assert compared.to_dict()["best_found"][1]["configuration"]["params_opt"] == "adam"
    assert "| 0.9100 |" in compared.to_markdown()
    assert lb.compare({"m": ["a"] * 9 + ["b"] * 9, "acc": [*np.linspace(0, 1, 18)]}, family="m").best_found == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials are run on Linux and macOS")
def test_the_report_writes_a_study_whose_runs_can_be_compared(searched, tmp_path, monkeypatch, capsys):
    report = lb.write_report(searched[0], tmp_path / "page.html", n_resamples=199)
    assert "Best found: " in report.page.read_text(encoding="utf-8")
    text = (tmp_path / "page" / "retrain.yaml").read_text(encoding="utf-8")
    (tmp_path / "train.py").write_text(TRAIN)
    study = tmp_path / "retrain.yaml"
    study.write_text(text.replace("python train.py", f"{shlex.quote(sys.executable)} train.py"))
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(study), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["compare", "retrain.db", "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert [part["verdict"] for part in pair["verdicts"]] == ["res net {x}"]  # better by .1, twenty sd
    assert pair["n_trials"] == [5, 5]
