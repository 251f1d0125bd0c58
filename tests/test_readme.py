"""The README runs: its Python blocks as they stand, its commands on a table with its columns."""

import re
import shlex
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from levelbest import read_trials
from levelbest.cli.main import main
from levelbest.report.build import build_view

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md"]


def _blocks(language):
    pattern = re.compile(rf"^```{language}\n(.*?)^```", flags=re.S | re.M)
    return [
        pytest.param(block, id=f"{path.name}:{i}")
        for path in PAGES
        for i, block in enumerate(pattern.findall(path.read_text(encoding="utf-8")))
    ]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """results.csv with the columns that the pages name, and the table that the demo leaves behind."""
    (tmp_path / "levelbest-demo").mkdir()
    shipped = files("levelbest") / "data" / "digits.csv"
    (tmp_path / "levelbest-demo" / "digits.csv").write_bytes(shipped.read_bytes())
    rng = np.random.default_rng(0)
    rows = ["model,dev_acc,test_acc,gpu_hours"]
    for name in ("cnn", "lr"):
        rows += [f"{name},{a:.3f},{b:.3f},{c:.2f}" for a, b, c in rng.uniform(0.5, 0.9, (15, 3))]
    (tmp_path / "results.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("block", _blocks("python"))
@pytest.mark.usefixtures("results")
def test_python_blocks_run(block):
    exec(compile(block, "page", "exec"), {})


@pytest.mark.parametrize("block", _blocks("sh"))
@pytest.mark.usefixtures("results")
def test_commands_run(block):
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["levelbest"] and words[1] != "demo":
            assert main(words[1:]) == 0


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/levelbest demo" in text
    assert "\n./test\n" in text


def test_the_readme_quotes_the_verdict_on_the_shipped_results():
    shipped = files("levelbest") / "data" / "digits.csv"
    columns = {"family": "family", "selection": "val_accuracy", "reported": "test_accuracy"}
    trials = read_trials(str(shipped), direction="max", bounds=(0, 1), **columns)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = " ".join(line.removeprefix("> ") for line in text.splitlines() if line.startswith("> "))
    assert "20 of 600 failed" in quoted  # as tests/test_digits.py counts them
    assert quoted == " ".join(build_view(trials, statistics=["mean"]).verdict)
