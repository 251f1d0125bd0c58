"""What a question prints in parentheses is an option as the shell takes it: copied as printed, it answers."""

import re
import shlex

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.errors import named, named_condition

OPTION = r"""\((--(?:[^()"']|"(?:[^"\\]|\\.)*"|'[^']*')+)\)"""
"""An option with its value in parentheses; the value may be in quotes, single or double."""


def unknown_column():
    rng = np.random.default_rng(3)
    rows = [("model", "lr", "grad's cos", "test acc")]
    for model in ("a b", "c"):
        for lr in (0.1, 0.03, 0.01, 0.003, 0.001):
            rows += [(model, lr, f"{rng.random():.3f}", f"{rng.random():.3f}") for _ in range(4)]
    return rows


def words_of_all_families():
    rng = np.random.default_rng(4)
    sites = ["north east", "south", "it's far"]
    rows = [("model", "the site", "test acc")]
    return rows + [(model, sites[i % 3], f"{rng.random():.3f}") for model in ("a", "b") for i in range(30)]


def two_conditions():
    rng = np.random.default_rng(5)
    rows = [("model", "dataset", "noise level", "test acc")]
    for model in ("a", "b"):
        for dataset in ("x", "y"):
            rows += [(model, dataset, level, f"{rng.random():.3f}") for level in (0, 0.1, 0.2) for _ in range(4)]
    return rows


@pytest.mark.parametrize("table", [unknown_column, words_of_all_families, two_conditions])
def test_every_option_answers_as_printed(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, row)) for row in table()]
    (tmp_path / "my runs.csv").write_text("\n".join(lines) + "\n")
    assert main(["describe", "my runs.csv"]) == 1
    options = re.findall(OPTION, " ".join(capsys.readouterr().err.split()))
    assert len(options) in (1, 2)
    for option in options:
        assert main(["describe", "my runs.csv", *shlex.split(option)]) == 0, option
        capsys.readouterr()


def test_a_value_in_a_message():
    assert named("task", "data set") == "task='data set'"
    assert named_condition('a "b"', "it's") == "where='\"a \"\"b\"\"\" = \\'it\\'\\'s\\''"
