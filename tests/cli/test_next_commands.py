"""Every command that an answer proposes (``next``) runs: over data sets of every design, with the options as given."""

import re
import shlex

import numpy as np
import pytest

from levelbest.cli.main import main

QUICK = ("--resamples", "99")
PROPOSES = ("equal means", "a baseline with spaces", "a condition", "seeds by name")
"""Data sets that leave a question open: something is proposed."""


def trials(rng, rows=20, gap=0.01, names=("a", "b"), **columns):
    """Rows of each family, with what else stands in them."""
    made = []
    for place, name in enumerate(names):
        for row in range(rows):
            score = round(float(0.7 + gap * place + 0.03 * rng.standard_normal()), 4)
            made.append({"model": name, "val_acc": score, **{key: of(rng, row) for key, of in columns.items()}})
    return made


def rows_of(**made):
    return made


def every(count):
    """A number that counts blocks of so many rows."""
    return lambda _, row: row // count


def within(count):
    """A number that counts the rows of such a block."""
    return lambda _, row: row % count


def drawn(low, high):
    return lambda rng, _: round(float(rng.uniform(low, high)), 5)


def correct(rng, _):
    return int(rng.random() < 0.6)


def ended(_, row):
    return "failed" if row % 7 == 3 else "ok"


number = every(1)
AXIS = ("--axis", "cost")
DATA = {
    "two families": (rows_of(rows=20), ()),
    "few trials": (rows_of(rows=6), ()),
    "unequal means": (rows_of(rows=30, gap=0.2), ()),
    "equal means": (rows_of(rows=30, gap=0.0), ()),
    "four families": (rows_of(rows=15, names=("a", "b", "c", "d")), ()),
    "names with spaces": (rows_of(rows=15, names=("model one", "it's two")), ()),
    "a baseline with spaces": (rows_of(rows=15, names=("model one", "it's two")), ("--baseline", "it's two")),
    "a search": (rows_of(rows=25, lr=drawn(0.001, 0.1)), ()),
    "seeds": (rows_of(rows=8, seed=number), ()),
    "few seeds": (rows_of(rows=3, seed=number), ()),
    "seeds by name": (rows_of(rows=8, draw=number), ("--seed-column", "draw")),
    "configurations with seeds": (rows_of(rows=24, lr=every(3), seed=within(3)), ()),
    "reported": (rows_of(rows=25, test_acc=drawn(0.6, 0.8)), ()),
    "cost": (rows_of(rows=20, seconds=drawn(1, 2)), ()),
    "cost axis": (rows_of(rows=20, seconds=drawn(1, 2)), AXIS),
    "cost budgets": (rows_of(rows=20, seconds=drawn(1, 2)), (*AXIS, "--budget", "5")),
    "failures": (rows_of(rows=20, status=ended), ()),
    "failures dropped": (rows_of(rows=20, status=ended), ("--failed", "drop")),
    "bounds": (rows_of(rows=15), ("--bounds", "0", "1")),
    "a headline": (rows_of(rows=20), ("--headline", "3")),
    "budgets": (rows_of(rows=20), ("--n", "1,2,5")),
    "a median": (rows_of(rows=20), ("--statistic", "median")),
    "a condition": (rows_of(rows=20, lr=drawn(0.001, 0.1)), ("--where", "lr > 0.002 and model <> 'c d'")),
    "confidence": (rows_of(rows=20), ("--confidence", "0.9", "--seed", "3")),
    "problems": (rows_of(rows=24, problem_id=every(3), correct=correct), ("--selection", "correct")),
    "one sample a problem": (rows_of(rows=30, problem_id=number, correct=correct), ("--selection", "correct")),
    "searches": (rows_of(rows=30, repeat=every(6), trial=within(6)), ()),
    "tasks": (rows_of(rows=18, task=within(3), seed=every(3)), ()),
    "checkpoints": (rows_of(rows=32, run=every(4), epoch=within(4)), ()),
    "a worth": (rows_of(rows=20, gap=0.0), ("--bounds", "0", "1", "--worth", "0.02")),
    "unpaired": (rows_of(rows=20, lr=number), ("--unpaired",)),
    "paired": (rows_of(rows=20, lr=number), ()),
}
REPORTED = ("two families", "a baseline with spaces", "one sample a problem", "few seeds")


def written(folder, name, rows):
    path = folder / ("my results.csv" if "spaces" in name else "results.csv")
    lines = [rows[0], *(row.values() for row in rows)]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return path.name


def proposed(text):
    """The commands of an answer: lines of their own, which go on after a backslash."""
    joined = re.sub(r"\\\s*\n\s*", " ", text)
    return [line.strip() for line in joined.splitlines() if line.strip().startswith("levelbest ")]


def test_there_are_enough_data_sets():
    assert len(DATA) >= 30


@pytest.mark.parametrize("verb", ["compare", "report"])
@pytest.mark.parametrize("name", DATA)
def test_what_is_proposed_runs(verb, name, tmp_path, monkeypatch, capsys):
    if verb == "report" and name not in REPORTED:
        return
    made, options = DATA[name]
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, name, trials(np.random.default_rng(29), **made))
    assert main([verb, path, *options, *QUICK, "--details"]) == 0
    commands = proposed(capsys.readouterr().out)
    assert name not in PROPOSES or commands
    for command in commands:
        code = main(shlex.split(command)[1:])
        assert code == 0, (command, capsys.readouterr().err)
        capsys.readouterr()
