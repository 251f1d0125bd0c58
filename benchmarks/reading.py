"""How often tables are read rightly, asked about, and read wrongly: ``python benchmarks/reading.py [--tables 200]``.

Each table has a known meaning: its columns are renamed, shuffled and mixed with columns that mean nothing, and so are
its rows where their order means nothing. A table is *answered* where `read_trials` gives trials of at least as many
families as there are; else it is a *question*. An answer is *wrong* where a column plays another part than it should,
where the trials are not so many as there are, or where a column that means nothing is taken for a setting.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from _labelled import Columns, Labelled, judge
from reading_habits import habit_table
from reading_labs import lab_table

FAMILY = ["model", "method", "algorithm", "algo", "Model", "model_name", "arch", "architecture", "approach", "system"]
FAMILY += ["classifier", "config.model", "agent", "network", "llm", "learner", "estimator", "variant"]
SELECTION = [
    "val_acc",
    "valid_accuracy",
    "dev_f1",
    "validation/accuracy",
    "ValAcc",
    "val accuracy",
    "valid.f1",
    "dev_em",
]
SELECTION += ["val_auc", "accuracy", "f1", "bleu", "reward", "return", "auroc", "eval_accuracy", "score", "metric"]
SEED = ["seed", "random_seed", "Seed", "config.seed", "random_state", "rng_seed"]
COST = ["runtime", "gpu_hours", "duration", "train_time", "cost", "wall_time", "time_seconds"]
COUNTER = ["epoch", "step", "global_step", "iteration", "training_iteration", "total_timesteps", "tokens_seen", "Epoch"]
RUN = ["run", "run_id", "trial_id", "run_name", "Run", "uuid"]
TASK = ["task", "dataset", "env_id", "benchmark", "game", "language", "env", "dataset_name", "domain", "corpus"]
PROBLEM = ["problem", "problem_id", "task_id", "question_id", "instance_id", "prompt_id", "puzzle_id"]
SETTINGS = ["lr", "learning_rate", "dropout", "weight_decay", "batch_size", "hidden", "n_layers", "config.lr", "width"]
SETTINGS += ["optimizer", "C", "gamma", "limit_train", "max_depth"]


class Maker:
    """Draws names and values."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.used: set[str] = set()

    def name(self, names: list[str]) -> str:
        """One of the names, that no other column has."""
        free = [name for name in names if name.lower() not in self.used]
        name = str(self.rng.choice(free))
        self.used.add(name.lower())
        return name

    def families(self) -> list[str]:
        """Two to four names."""
        return [
            str(name) for name in self.rng.permutation(["cnn", "lstm", "bert", "resnet-50"])[: self.rng.integers(2, 5)]
        ]

    def scores(self, level: float, count: int) -> list[float]:
        """Accuracies."""
        return np.clip(level + 0.03 * self.rng.standard_normal(count), 0.01, 0.99).round(4).tolist()

    def settings(self, count: int, rows: int) -> Columns:
        """Hyperparameters as a random search draws them."""
        columns: Columns = {}
        for _ in range(count):
            name = self.name(SETTINGS)
            plain = name.removeprefix("config.")
            if plain == "optimizer":
                columns[name] = self.rng.choice(["adam", "sgd", "lion"], rows).tolist()
            elif plain in ("batch_size", "hidden", "n_layers", "width", "limit_train", "max_depth"):
                columns[name] = (2 ** self.rng.integers(3, 9, rows)).tolist()
            else:
                columns[name] = (10 ** self.rng.uniform(-5, -1, rows)).tolist()
        return columns


def _settings_of(made: Maker, rows: int) -> Columns:
    return made.settings(int(made.rng.integers(1, 4)), rows)


def _beside(made: Maker, labelled: Labelled, level: np.ndarray) -> Labelled:
    """Often a test score, and a cost."""
    selection = labelled.roles["selection"]
    reported = re.sub(r"^(validation|valid|val|dev)(?=[^a-z]|$)", "test", selection).replace("Val", "Test")
    if reported != selection and made.rng.random() < 0.6:
        labelled.columns[reported] = np.clip(level - 0.01 + 0.01 * made.rng.standard_normal(level.size), 0, 1).tolist()
        labelled.roles["reported"] = reported
    else:
        labelled.roles["reported"] = None
    if made.rng.random() < 0.5:
        name = made.name(COST)
        labelled.columns[name] = made.rng.gamma(3, 100, level.size).round(1).tolist()
        labelled.roles["cost"] = name
    return labelled


def search(made: Maker) -> Labelled:
    """Random search: a row a trial."""
    families, n = made.families(), int(made.rng.integers(12, 40))
    family, selection = made.name(FAMILY), made.name(SELECTION)
    names = np.repeat(families, n).tolist()
    scores = [score for i in range(len(families)) for score in made.scores(0.6 + 0.05 * i, n)]
    settings = _settings_of(made, len(names))
    roles = {"family": family, "selection": selection, "trial": None, "task": None, "group": None, "search": None}
    columns = {family: names, selection: scores, **settings}
    labelled = Labelled("search", columns, roles, set(settings), len(names), len(families))
    return _beside(made, labelled, np.array(scores))


def seeds(made: Maker) -> Labelled:
    """A few seeds of each family."""
    families, n = made.families(), int(made.rng.integers(3, 11))
    family, selection, seed = made.name(FAMILY), made.name(SELECTION), made.name(SEED)
    names = np.repeat(families, n).tolist()
    scores = [score for i in range(len(families)) for score in made.scores(0.6 + 0.05 * i, n)]
    columns = {family: names, seed: list(range(n)) * len(families), selection: scores}
    roles = {"family": family, "selection": selection, "seed": seed, "trial": None, "task": None, "group": None}
    if seed == "rng_seed":
        roles.pop("seed")
    return _beside(made, Labelled("seeds", columns, roles, set(), len(names), len(families)), np.array(scores))


def nested(made: Maker) -> Labelled:
    """Configurations with several seeds each."""
    families, n, k = made.families()[:2], int(made.rng.integers(5, 12)), int(made.rng.integers(3, 6))
    family, selection, seed = made.name(FAMILY), made.name(SELECTION), made.name(SEED[:5])
    settings = _settings_of(made, 2 * n)
    rows = np.repeat(np.arange(2 * n), k)
    scores = made.scores(0.7, rows.size)
    columns = {family: np.repeat(families, n * k).tolist(), seed: list(range(k)) * (2 * n), selection: scores}
    columns |= {name: [values[row] for row in rows] for name, values in settings.items()}
    roles = {"family": family, "selection": selection, "seed": seed, "trial": None, "task": None, "group": None}
    return _beside(made, Labelled("nested", columns, roles, set(settings), rows.size, 2), np.array(scores))


def checkpoints(made: Maker) -> Labelled:
    """A row an epoch of runs that a column or the seed tells apart."""
    families, n, places = made.families(), int(made.rng.integers(3, 8)), int(made.rng.integers(5, 25))
    family, selection, counter = made.name(FAMILY), made.name(SELECTION), made.name(COUNTER)
    by_seed = made.rng.random() < 0.5
    run = made.name(SEED[:5] if by_seed else RUN)
    ids = list(range(n)) * len(families) if by_seed else [f"r{i:03d}" for i in range(n * len(families))]
    size = 1 if counter.lower() in ("epoch", "iteration", "training_iteration") else 100
    step = [size * (i + 1) for i in range(places)]
    scores = made.scores(0.7, n * len(families) * places)
    columns = {
        family: np.repeat(families, n * places).tolist(),
        run: np.repeat(ids, places).tolist(),
        counter: step * (n * len(families)),
        selection: scores,
    }
    settings: Columns = {}
    if not by_seed:
        settings = {name: np.repeat(values, places).tolist() for name, values in _settings_of(made, len(ids)).items()}
    roles = {"family": family, "selection": selection, "trial": run, "task": None, "group": None}
    n_runs = n * len(families)
    return Labelled("checkpoints", columns | settings, roles, set(settings), n_runs, len(families), ordered=True)


def tasks(made: Maker) -> Labelled:
    """Seeds of each family on each task."""
    families, n = made.families(), int(made.rng.integers(3, 9))
    family, selection, seed, task = made.name(FAMILY), made.name(SELECTION), made.name(SEED[:5]), made.name(TASK)
    names = ["pong", "qbert", "seaquest", "breakout"][: made.rng.integers(2, 5)]
    columns: Columns = {
        family: np.repeat(families, n * len(names)).tolist(),
        task: np.repeat(names, n).tolist() * len(families),
        seed: list(range(n)) * (len(names) * len(families)),
        selection: made.scores(0.7, n * len(names) * len(families)),
    }
    roles = {"family": family, "selection": selection, "seed": seed, "task": task, "group": None, "trial": None}
    return Labelled("tasks", columns, roles, set(), len(columns[family]), len(families))


def problems(made: Maker) -> Labelled:
    """Samples of problems, right or wrong."""
    families, n, k = made.families(), int(made.rng.integers(10, 40)), int(made.rng.integers(2, 6))
    family, problem = made.name(FAMILY), made.name(PROBLEM)
    selection = made.name(["correct", "passed", "solved", "success", "resolved", "pass"])
    rows = len(families) * n * k
    columns: Columns = {
        family: np.repeat(families, n * k).tolist(),
        problem: np.repeat([f"p{i}" for i in range(n)], k).tolist() * len(families),
        selection: made.rng.integers(0, 2, rows).tolist(),
    }
    if made.rng.random() < 0.5:
        columns["sample_id"] = list(range(k)) * (n * len(families))
    roles = {"family": family, "selection": selection, "group": problem, "task": None, "trial": None}
    return Labelled("problems", columns, roles, set(), rows, len(families))


def repeats(made: Maker) -> Labelled:
    """Repeated searches that learn."""
    families, n, k = made.families(), int(made.rng.integers(3, 6)), int(made.rng.integers(8, 20))
    family, selection = made.name(FAMILY), made.name(SELECTION)
    again = made.name(["repeat", "search", "search_id", "repetition", "rep"])
    number = made.name(["trial", "trial_number", "iteration"])
    columns: Columns = {
        family: np.repeat(families, n * k).tolist(),
        again: np.repeat(np.arange(n), k).tolist() * len(families),
        number: list(range(k)) * (n * len(families)),
        selection: made.scores(0.7, n * k * len(families)),
    }
    roles = {"family": family, "selection": selection, "search": again, "trial": None, "task": None, "group": None}
    return Labelled("repeats", columns, roles, set(), len(columns[family]), len(families), ordered=True)


KINDS: tuple[Callable[[Maker], Labelled], ...] = (search, search, seeds, nested, checkpoints, tasks, problems, repeats)


def _nothing(made: Maker, rows: int) -> Columns:
    """Columns that mean nothing for a comparison."""
    rng = made.rng
    made_of: dict[str, Callable[[], list]] = {
        "worker": lambda: rng.integers(0, 4, rows).tolist(),
        "node": lambda: [f"node{i}" for i in rng.integers(0, 3, rows)],
        "hostname": lambda: [f"gpu-{i}.cluster" for i in rng.integers(0, 3, rows)],
        "gpu_id": lambda: rng.integers(0, 8, rows).tolist(),
        "batch": lambda: rng.integers(0, 3, rows).tolist(),
        "job_id": lambda: rng.integers(10**6, 10**7, rows).tolist(),
        "timestamp": lambda: [f"2026-01-0{i % 9 + 1} 10:{i % 60:02d}:00" for i in range(rows)],
        "created_at": lambda: (1.7e9 + np.sort(rng.random(rows)) * 1e6).tolist(),
        "commit": lambda: [f"{i:07x}" for i in rng.integers(0, 2**27, rows)],
        "log_file": lambda: [f"logs/run_{i}.log" for i in range(rows)],
        "notes": lambda: [f"looks fine so far {i}" for i in range(rows)],
        "Unnamed: 0": lambda: list(range(rows)),
        "train_loss": lambda: rng.random(rows).round(4).tolist(),
        "train_acc": lambda: rng.random(rows).round(4).tolist(),
        "grad_norm": lambda: rng.gamma(2, 1, rows).round(4).tolist(),
        "num_parameters": lambda: rng.integers(10**5, 10**8, rows).tolist(),
        "version": lambda: ["1.2.0"] * rows,
        "user": lambda: rng.choice(["ann", "bo"], rows).tolist(),
        "peak_memory": lambda: rng.random(rows).round(3).tolist(),
        "uuid4": lambda: [f"{i:08x}-aaaa-4bbb-8ccc-{i:012x}" for i in rng.integers(0, 2**31, rows)],
        "n_gpus": lambda: [1] * rows,
    }
    names = [name for name in made_of if name.lower() not in made.used]
    chosen = rng.choice(names, int(rng.integers(0, 6)), replace=False)
    return {str(name): made_of[str(name)]() for name in chosen}


def labelled_table(seed: int) -> Labelled:
    """The table of this number."""
    rng = np.random.default_rng([29, seed])
    made = Maker(rng)
    labelled = KINDS[seed % len(KINDS)](made)
    rows = len(next(iter(labelled.columns.values())))
    extra = _nothing(made, rows)
    labelled.nothing = set(extra)
    columns = labelled.columns | extra
    order = np.arange(rows) if labelled.ordered or "Unnamed: 0" in extra else rng.permutation(rows)
    names = [str(name) for name in rng.permutation(list(columns))]
    labelled.columns = {name: [columns[name][row] for row in order] for name in names}
    return labelled


def main() -> int:
    """Print how many were read rightly, asked about and read wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="The number of the first table.")
    parser.add_argument("--labs", action="store_true", help="The second set, `reading_labs.py`, as CSV files.")
    parser.add_argument("--habits", action="store_true", help="The third set, `reading_habits.py`, as CSV files.")
    parser.add_argument("--show", action="store_true", help="Print what was asked or read wrongly.")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.tables):
            made_by = lab_table if given.labs else habit_table if given.habits else labelled_table
            labelled = made_by(seed)
            path = None if made_by is labelled_table else Path(folder) / "results.csv"
            judged, why = judge(labelled, path)
            counts[judged] += 1
            if given.show and judged not in ("right", "asked"):
                print(f"{judged:9} {seed:5} {labelled.kind:12} {why}")
    total = sum(counts.values())
    answered, telling = total - counts["question"] - counts["asked"], total - counts["asked"]
    print(f"tables {total}, answered without a question {answered / total:.1%} (wanted: at least 75 %)")
    if counts["asked"]:
        print(
            f"{counts['asked']} do not tell (the metric meant, the direction): asked, and read rightly "
            f"with the answer; of the others {answered / telling:.1%} are answered without a question"
        )
    print(f"answered with a wrong role {counts['wrong'] / total:.1%} (wanted: at most 2 %)")
    return 0 if counts["wrong"] <= 0.02 * total and answered >= 0.75 * total else 1


if __name__ == "__main__":
    sys.exit(main())
