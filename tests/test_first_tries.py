"""Eight kinds of data as strangers have them: ``levelbest compare FILE``, and nothing else, gives the right verdict.

Each law is known, and the better family is better by several times what the limits are wide: a wrong or an open verdict
is no matter of chance (by far less than once in 10,000 draws of these files, whose seeds are fixed).
"""

import json
import re

import numpy as np
import pytest

from doc_tables import write_cv_results
from levelbest.cli.main import main


def _messy(folder, rng):
    """A spreadsheet's export: a title, an empty line, semicolons, decimal commas, percent signs, failures as n/a."""
    lines = ["Ablation study, winter 2024 (exported from Excel)", "", "Model;LR;Val Acc (%);Test Acc (%);Time;Notes"]
    for model, level in (("CNN baseline", 80), ("Our method", 87)):
        for i in range(30):
            score = level + 2 * rng.standard_normal()
            val, test = (f"{value:.1f} %".replace(".", ",") for value in (score, score - 0.8))
            scores = "n/a;n/a;0:12:30;OOM" if i == 7 else f"{val};{test};1:{rng.integers(10, 60)}:30;"
            lines.append(f"{model};{10 ** rng.uniform(-4, -1):.5f};{scores}")
    path = folder / "results export.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    return [path], "Our method"


def _optuna(folder, rng):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "journal.log"))
    storage = optuna.storages.JournalStorage(backend)
    for name, top in (("resnet", 0.9), ("vit", 0.7)):
        sampler = optuna.samplers.RandomSampler(seed=int(rng.integers(1e6)))
        study = optuna.create_study(study_name=name, storage=storage, direction="maximize", sampler=sampler)
        study.optimize(lambda trial, top=top: top - 0.05 * trial.suggest_float("lr", 0, 1) ** 2, n_trials=25)
    return [folder / "journal.log"], "resnet"


def _sklearn(folder, _):
    write_cv_results(folder / "svc.csv", "C", 0.95)
    write_cv_results(folder / "tree.csv", "max_depth", 0.8)
    return [folder / "svc.csv", folder / "tree.csv"], "svc"


def _samples(folder, rng):
    path = folder / "generations.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for model, chance in (("base", 0.2), ("tuned", 0.55)):
            for task in range(80):
                solved = rng.random(10) < np.clip(chance + 0.2 * rng.standard_normal(), 0, 1)
                for passed in solved.tolist():
                    row = {"model": model, "task_id": f"HumanEval/{task}", "completion": "pass", "passed": passed}
                    out.write(json.dumps(row) + "\n")
    return [path], "tuned"


def _json_folder(folder, rng):
    runs = folder / "runs"
    runs.mkdir()
    for model, level in (("bert", 0.80), ("roberta", 0.86)):
        for i in range(20):
            score = level + 0.015 * rng.standard_normal()
            document = {
                "config": {"model": model, "lr": 10 ** rng.uniform(-5, -4), "seed": i},
                "metrics": {"dev": {"f1": score}, "test": {"f1": score - 0.01}},
                "runtime": float(rng.gamma(4, 100)),
            }
            (runs / f"{model}_{i}.json").write_text(json.dumps(document))
    return [runs], "roberta"


def _perplexity(folder, rng):
    rows = ["arch,lr,valid_ppl,test_ppl"]
    for model, level in (("lstm", 60), ("transformer", 45)):
        for _ in range(25):
            score = level + rng.lognormal(1.5, 0.8)
            rows.append(f"{model},{10 ** rng.uniform(-4, -2):.4e},{score:.2f},{1.02 * score:.2f}")
    path = folder / "ppl.csv"
    path.write_text("\n".join(rows) + "\n")
    return [path], "transformer"


def _seeds(folder, rng, levels, count, spread):
    rows = ["method,seed,test_acc"]
    for method, level in levels.items():
        rows += [f"{method},{seed},{level + spread * rng.standard_normal():.4f}" for seed in range(count)]
    path = folder / "seeds.csv"
    path.write_text("\n".join(rows) + "\n")
    return [path], max(levels, key=levels.get)


def _five_by_ten(folder, rng):
    return _seeds(folder, rng, {"ppo": 0.80, "sac": 0.90, "td3": 0.83, "ddpg": 0.75, "a2c": 0.70}, 10, 0.01)


def _two_by_three(folder, rng):
    return _seeds(folder, rng, {"baseline": 0.912, "ours": 0.934}, 3, 0.001)


KINDS = [_messy, _optuna, _sklearn, _samples, _json_folder, _perplexity, _five_by_ten, _two_by_three]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__.strip("_"))
def test_the_first_try_gives_the_right_verdict(make, tmp_path, capsys):
    files, better = make(tmp_path, np.random.default_rng(KINDS.index(make)))
    assert main(["compare", *map(str, files)]) == 0
    told = capsys.readouterr()
    answer = re.sub(r"\A(chosen .*\n( {7}.*\n)*)+", "", told.out)
    assert re.match(rf"(With|For) .*?: {better}, better than ", answer)
    assert not told.out.startswith("chosen ")  # the answer comes first
    assert len(told.out.splitlines()) <= 40
    assert max(map(len, told.out.splitlines())) <= 80
