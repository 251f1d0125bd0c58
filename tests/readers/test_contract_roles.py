"""Which column plays which part, through the command line: each file is read rightly, or the right question is asked.

A file is generated from known distributions. ``describe --json`` says how it was read; a question exits with 1, in one
line that names both readings and the option for each.
"""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from levelbest.cli.main import main

MODELS = (("small", 0.70), ("large", 0.80))


@dataclass(frozen=True)
class Case:
    """A file, how it is asked about, and what must come of it."""

    name: str
    rows: list[dict]
    argv: tuple[str, ...] = ()
    columns: dict = field(default_factory=dict)
    """Role -> column, as read; None: the role has no column."""
    n_trials: int | None = None
    n_failed: int = 0
    mean: float | None = None
    question: tuple[str, ...] = ()
    """Words of the question, the options among them."""


class At(NamedTuple):
    """Where a row stands: the level of its model, the place of the trial or checkpoint, and its run."""

    level: float
    place: int
    run: int = 0


def noise(rng, level, spread=0.01):
    return round(float(level + spread * rng.standard_normal()), 5)


def trials(rng, n=20, score="val_acc", **columns):
    """A row for each trial of two models; a column is a function of where a row stands."""
    rows = []
    for model, level in MODELS:
        for i in range(n):
            row = {"model": model, score: noise(rng, level)}
            rows.append(row | {name: make(At(level, i)) for name, make in columns.items()})
    return rows


def best(rows, score, *keys):
    """The mean over runs of their best score, for a file whose rows are checkpoints."""
    runs = {}
    for row in rows:
        runs.setdefault(tuple(row[key] for key in keys), []).append(row[score])
    return float(np.mean([max(values) for values in runs.values()]))


def runs(rng, counter, places, n_runs=6, score="val_acc", **columns):
    """A row for each checkpoint."""
    rows = []
    for model, level in MODELS:
        for run in range(n_runs):
            for place in places:
                row = {"model": model, "seed": run, counter: place, score: noise(rng, level)}
                rows.append(row | {name: make(At(level, place, run)) for name, make in columns.items()})
    return rows


def without(rows, *names):
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


def cases():
    rng = np.random.default_rng(29)
    lr = lambda *_: round(float(10 ** rng.uniform(-4, -1)), 6)  # noqa: E731

    # ---- 1. an index is no score
    correct = [
        {"model": m, "sample": i, "correct": int(rng.random() < p)}
        for m, p in (("a", 0.9), ("b", 0.5))
        for i in range(20)
    ]
    by_itself = ("--reported", "correct")
    yield Case("a sample is no score", correct, by_itself, {"selection": "correct"}, 40)
    seeded = [{**row, "seed": row.pop("sample")} for row in map(dict, correct)]
    yield Case("a seed is no score", seeded, by_itself, {"selection": "correct", "seed": "seed"}, 40)
    tested = trials(rng, score="test_acc", fold=lambda at: at.place % 5)
    yield Case("a fold is no score", tested, ("--reported", "test_acc"), {"selection": "test_acc"}, 40)
    both = trials(rng, test_acc=lambda at: noise(rng, at.level))
    yield Case("a validation score selects", both, ("--reported", "test_acc"), {"selection": "val_acc"}, 40)
    planned = trials(rng, score="outcome", budget=lambda at: 100 + 7 * at.place)
    yield Case("what is the same in every family", planned, ("--direction", "max"), {"selection": "outcome"}, 40)
    optuna = [
        {
            "number": i, "value": noise(rng, 0.5), "datetime_start": f"2026-01-01 00:00:{i:02d}", "params_loss": lr(),
            "params_lr": lr(), "user_attrs_accuracy": noise(rng, 0.9), "state": "COMPLETE",
        }
        for i in range(20)
    ]  # fmt: skip
    yield Case("Optuna's export", optuna, ("--direction", "min"), {"selection": "value"}, 20)
    summary = trials(rng, score="accuracy", error_instances=lambda _: int(rng.integers(9)))
    yield Case("a count of errors is no score", summary, (), {"selection": "accuracy"}, 40)
    ids = trials(rng, score="reward", run=lambda at: 10**30 + at.place)
    yield Case("an id of 31 digits is no score", ids, (), {"selection": "reward"}, 40)
    two = trials(rng, val_f1=lambda at: noise(rng, at.level), lr=lr)
    yield Case("two validation scores", two, question=("selection score could be any of", "'val_acc'", "--selection"))
    twins = trials(rng, val_loss=lambda at: noise(rng, 1 - at.level), test_acc=lambda at: noise(rng, at.level))
    yield Case("the one with a test score", twins, (), {"selection": "val_acc", "reported": "test_acc"}, 40)
    unnamed = trials(rng, score="val_score")
    yield Case("no direction", unnamed, question=("higher 'val_score' better", "--direction"))

    # ---- 2. tasks are no hyperparameters
    for column in ("task", "dataset", "env_id", "benchmark", "game", "language"):
        rows = [
            {"algo": a, column: t, "seed": s, "return": noise(rng, 10 * at + level, 0.1)}
            for a, level in MODELS
            for at, t in enumerate(("one", "two", "three"))
            for s in range(5)
        ]
        yield Case(f"{column} is a task", rows, (), {"task": column, "seed": "seed", "family": "algo"}, 30)
        if column == "dataset":
            yield Case("a task that is a setting", rows, ("--task", "none"), {"task": None}, 30)
    many = [
        {"model": m, "instance": f"i{i}", "solved": int(rng.random() < p)}
        for m, p in (("a", 0.4), ("b", 0.6))
        for i in range(40)
        for _ in range(3)
    ]
    yield Case("many instances", many, question=("problems", "--group instance", "--task instance"))
    problems = [
        {"model": m, "benchmark": b, "problem": i, "correct": int(rng.random() < p)}
        for m, p in (("a", 0.4), ("b", 0.6))
        for b in ("x", "y")
        for i in range(12)
        for _ in range(4)
    ]
    given = ("--task", "benchmark", "--group", "problem")
    mean = float(np.mean([row["correct"] for row in problems]))
    yield Case("problems within tasks", problems, given, {"group": "problem"}, 192, mean=mean)

    # ---- 3. checkpoints are no trials
    for counter, places in {
        "epoch": range(25), "global_step": range(0, 5000, 200), "total_timesteps": range(2048, 2048 * 20, 2048),
        "tokens_seen": range(10**6, 10**7, 10**6), "training_iteration": range(1, 11), "step": range(0, 100, 10),
        "frame": range(1000, 20000, 1000),
    }.items():  # fmt: skip
        rows = runs(rng, counter, places)
        expected = best(rows, "val_acc", "model", "seed")
        yield Case(f"{counter} counts checkpoints", rows, (), {"trial": "seed"}, 12, mean=expected)
    schedule = runs(rng, "epoch", range(25), lr=lambda at: round(0.1 * 0.9**at.place, 6), worker=lambda *_: lr())
    expected = best(schedule, "val_acc", "model", "seed")
    yield Case("whatever else varies", schedule, (), {"trial": "seed"}, 12, mean=expected)
    nameless = without(runs(rng, "epoch", range(10)), "seed")
    yield Case("runs that begin again", nameless, (), {}, 12)
    settings = without(runs(rng, "epoch", range(10), lr=lambda at: at.run / 10, wd=lambda at: at.run % 2), "seed")
    yield Case("runs by their settings", settings, (), {}, 12)
    one_run = [{"epoch": i, "val_acc": noise(rng, 0.5 + i / 100), "lr": round(0.1 * 0.9**i, 6)} for i in range(25)]
    yield Case("one run", one_run, (), {}, 1, mean=max(row["val_acc"] for row in one_run))
    generations = [{"generation": i, "fitness": noise(rng, i)} for i in range(30)]
    argv = ("--direction", "max")
    yield Case("generations", generations, argv, question=("'generation'", "one run", "--trial none"))
    drawn = [{"iteration": i, "lr": lr(), "dropout": lr(), "val_acc": noise(rng, 0.5)} for i in range(30)]
    yield Case("an iteration of a random search", drawn, (), {}, 30)
    shuffled = runs(rng, "epoch", range(10))
    rng.shuffle(shuffled)
    expected = best(shuffled, "val_acc", "model", "seed")
    yield Case("rows in another order", shuffled, (), {"trial": "seed"}, 12, mean=expected)

    # ---- 4. crashes are no scores
    for word in ("crash", "crashed", "aborted", "interrupted", "timeout", "killed"):
        rows = trials(rng, score="val_loss", status=lambda _: "ok")
        for row in rows[::7]:
            row |= {"status": word, "val_loss": 0.0}
        kept = float(np.mean([row["val_loss"] for row in rows if row["status"] == "ok"]))
        yield Case(f"{word} with a score of 0", rows, (), {"status": "status"}, 40, 6, mean=kept)
    loop = [
        {
            "commit": f"{i * 7919:07x}",
            "val_bpb": 0.0 if i % 6 == 3 else noise(rng, 1),
            "status": w,
            "description": f"try {i}",
        }
        for i, w in enumerate(["keep", "discard", "revert", "crash", "keep", "discard"] * 4)
    ]
    yield Case("a research loop", loop, (), {"status": "status"}, 24, 4)
    odd = trials(rng, status=lambda at: "failed" if at.place == 3 else f"phase {at.place % 3}")
    yield Case("failures beside other words", odd, (), {"status": "status"}, 40, 2)
    zeros = trials(rng, score="val_loss")
    for row in zeros[::9]:
        row["val_loss"] = 0.0
    yield Case("zeros far from all others", zeros, question=("exactly 0", "--where", "--status", "--bounds"))
    yield Case("zeros that are scores", zeros, ("--bounds", "0", "1"), {}, 40)

    # ---- 6. what is no setting
    nested = [
        {"out_dir": f"exp/lr{x}_s{s}", "lr": x, "seed": s, "val_acc": noise(rng, x)}
        for x in (0.1, 0.2, 0.3, 0.4, 0.5)
        for s in range(4)
    ]
    yield Case("a seed in a path", nested, (), {"seed": "seed"}, 20)
    yield Case("a seed in a path alone", without(nested, "seed", "lr"), (), {}, 20)

    # ---- 7. repeated searches
    repeated = [
        {"model": m, "repeat": r, "trial": i, "val_acc": noise(rng, level + i / 100)}
        for m, level in MODELS
        for r in range(4)
        for i in range(10)
    ]
    yield Case("repeats of a search", repeated, (), {"search": "repeat"}, 80)

    # ---- 9. scales and zoos
    mixed = trials(rng, score="accuracy")
    for row in mixed[::5]:
        row["accuracy"] *= 100
    yield Case("percent among shares", mixed, question=("in percent", "--bounds"))
    stray = trials(rng, score="accuracy")
    stray[3]["accuracy"] *= 100
    yield Case("one in percent among shares", stray, question=("in percent", "--bounds"))
    zoo = [{"model": f"net{i % 330}", "top1": noise(rng, 70, 5)} for i in range(400)]
    yield Case("a zoo of models", zoo, question=("330 values in 400 rows", "--family model", "--family none"))
    place = trials(rng, lr=lr, worker=lambda *_: int(rng.integers(4)), node=lambda *_: f"n{rng.integers(3)}")
    yield Case("workers and nodes", place, (), {}, 40)


CASES = list(cases())


def written(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [",".join(names), *(",".join(str(row.get(name, "")) for name in names) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_read_right_or_asked(case, tmp_path, capsys):
    path = written(tmp_path / "results.csv", case.rows)
    code = main(["describe", path, *case.argv, "--json"])
    out, err = capsys.readouterr()
    if case.question:
        assert (code, out) == (1, "")
        assert len(err.strip().splitlines()) == 1
        assert [words for words in case.question if words not in err] == []
        return
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert {role: document["columns"].get(role) for role in case.columns} == case.columns
    assert sum(family["n_trials"] for family in document["families"]) == case.n_trials
    assert sum(family["n_failed"] for family in document["families"]) == case.n_failed
    if case.mean is not None:
        scored = [(row["mean"], row["n_trials"] - row["n_failed"]) for row in document["families"]]
        mean = sum(value * count for value, count in scored) / sum(count for _, count in scored)
        assert mean == pytest.approx(case.mean, abs=1e-9)


def test_there_are_enough_shapes():
    assert len(CASES) >= 40


def case_named(name):
    return next(case for case in CASES if case.name == name)


def document_of(capsys, *argv):
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_settings_are_those_that_chose(tmp_path, capsys):
    for name, settings in {"a seed in a path": ["lr", "out_dir.lr"], "workers and nodes": ["lr"]}.items():
        path = written(tmp_path / "results.csv", case_named(name).rows)
        assert document_of(capsys, "describe", path)["settings"] == settings


@pytest.mark.parametrize("name", ["a seed in a path", "a seed in a path alone"])
def test_a_seed_in_a_path_does_not_hide_nested_seeds(name, tmp_path, capsys):
    path = written(tmp_path / "results.csv", case_named(name).rows)
    document = document_of(capsys, "describe", path)
    (nested,) = [warning for warning in document["warnings"] if warning["code"] == "nested-seeds"]
    assert nested["value"] == 5


def test_games_are_compared_one_by_one(tmp_path, capsys):
    path = written(tmp_path / "results.csv", case_named("game is a task").rows)
    document = document_of(capsys, "compare", path)
    assert set(document["tasks"]) == {"one", "two", "three"}
    for command in (
        ["reach", "--target", "5"],
        ["plan"],
        ["claim", "--baseline", "small", "--claimed", "9", "--attempts", "3"],
    ):
        assert main([command[0], path, *command[1:]]) == 1
        err = capsys.readouterr().err
        assert "the trials are of 3 tasks in 'game'" in err
        assert "--task none" in err


def test_families_on_other_tasks_are_not_compared(tmp_path, capsys):
    rows = [row for row in case_named("game is a task").rows if (row["algo"], row["game"]) != ("small", "two")]
    assert main(["compare", written(tmp_path / "results.csv", rows)]) == 1
    err = capsys.readouterr().err
    assert "every family needs trials on every task: small is missing on two" in err
    assert "--where" in err


def test_problems_within_tasks_are_kept(tmp_path, capsys):
    """The mean over problems, and not the best over the samples of all of them."""
    case = case_named("problems within tasks")
    path = written(tmp_path / "results.csv", case.rows)
    document = document_of(capsys, "curve", path, *case.argv, "--n", "1,4")
    for family in document["families"]:
        rows = [row for row in case.rows if row["model"] == family["family"]]
        assert family["points"][0]["value"] == pytest.approx(np.mean([row["correct"] for row in rows]))
        solved = {(row["benchmark"], row["problem"]) for row in rows if row["correct"]}
        assert family["points"][1]["value"] == pytest.approx(len(solved) / 24)


def test_a_status_survives_a_conversion(tmp_path, capsys):
    case = case_named("crash with a score of 0")
    path = written(tmp_path / "results.csv", case.rows)
    tidy = str(tmp_path / "tidy.csv")
    assert main(["convert", path, "--out", tidy]) == 0
    capsys.readouterr()
    documents = [document_of(capsys, "describe", given)["families"] for given in (path, tidy)]
    assert [row["n_failed"] for row in documents[0]] == [3, 3]
    assert documents[0] == documents[1]
