"""What every command of the README prints fits a terminal of 80 x 24; ``--details`` prints more."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from levelbest.cli.main import COMMANDS, main

WIDTH, HEIGHT = 80, 24
ROOT = Path(__file__).resolve().parents[2]
CLAIM = ["base 76.3 ± 0.4 (5), tuned 10", "ours 77.0 ± 0.6 (5), tuned 100"]
SCREENS = {
    "demo": [[]],
    "report": [["seeds.csv"]],
    "describe": [["digits.csv"], ["digits.csv", "--where", "family = 'svm'"], ["seeds.csv"]],
    "curve": [["digits.csv", "--resamples", "200"], ["seeds.csv", "--resamples", "200"]],
    "compare": [["digits.csv"], ["digits.csv", "--axis", "cost"], ["digits.csv", "--baseline", "mlp"], ["seeds.csv"]],
    "plan": [["digits.csv", "--resamples", "200"], ["seeds.csv", "--resamples", "200"]],
    "claim": [CLAIM],
    "reach": [["digits.csv", "--target", "0.95", "--resamples", "200"]],
    "simulate": [["--law", "norm", "--samples", "20"]],
    "checklist": [["digits.csv"]],
    "convert": [["digits.csv"]],
}
ELSEWHERE = {"run", "serve", "verify", "loop", "audit", "gate"}
"""Progress, a server and a few lines: tests/run, tests/web and tests/cli have them."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = files("levelbest") / "data" / "digits.csv"
    (tmp_path / "digits.csv").write_bytes(shipped.read_bytes())
    rows = [
        f"{name},{seed},{level + 0.004 * seed}" for name, level in (("base", 0.8), ("large", 0.82)) for seed in range(5)
    ]
    (tmp_path / "seeds.csv").write_text("\n".join(["model,seed,accuracy", *rows]))
    monkeypatch.setattr("levelbest.report.terminal.console.is_terminal", lambda: True)  # documents are cut there alone


def test_every_command_of_the_readme_has_a_screen():
    named = set(re.findall(r"^\| `(\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M))
    assert named == set(COMMANDS)
    assert named - ELSEWHERE <= set(SCREENS)


@pytest.mark.parametrize("words", [[name, *rest] for name, each in SCREENS.items() for rest in each], ids=" ".join)
@pytest.mark.usefixtures("folder")
def test_it_fits_a_terminal(words, capsys):
    assert main(words) == 0
    lines = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).splitlines()
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.usefixtures("folder")
def test_the_details_say_more(capsys):
    assert main(["compare", "digits.csv", "--details"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        "one fixed configuration, not a search",
        "space Searched",
        "share their score",
        "the verdict is the same",
    ):
        assert words in text


@pytest.mark.usefixtures("folder")
def test_strips_are_letters_where_there_are_no_blocks(capsys, monkeypatch):
    monkeypatch.setattr("levelbest.report.terminal.comparison.has_blocks", lambda: False)
    assert main(["compare", "digits.csv"]) == 0
    out = capsys.readouterr().out
    assert "B better than all   o may be best   - beaten" in out
    assert not re.search("[█▒·]", out)


def test_help_lists_the_commands_by_job_on_one_screen(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    jobs = [line.split()[0] for line in lines if re.match(r"  (look|decide|run|tools) ", line)]
    assert jobs == ["look", "decide", "run", "tools"]
    assert all(any(re.search(rf"\b{name} ", line) for line in lines) for name in COMMANDS)
