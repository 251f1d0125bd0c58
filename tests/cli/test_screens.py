"""What every command of the README prints fits a terminal of 80 x 24, with a prompt; ``--details`` prints more."""

import os
import re
import shlex
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from levelbest.cli.main import COMMANDS, cli, main
from levelbest.web.server import Server

WIDTH, HEIGHT = 80, 23
ROOT = Path(__file__).resolve().parents[2]
LONG = "a-very-long-name-of-a-model-of-40-chars"
CLAIM = ["base 76.3 ± 0.4 (5), tuned 10", "ours 77.0 ± 0.6 (5), tuned 100"]
GATE = ["--baseline", "old", "--candidate", "new", "--resamples", "200"]
FEW = ["--resamples", "200"]
TASKS = ["tasks.csv", "--direction", "max"]
SCREENS = {
    "demo": [[]],
    "report": [["seeds.csv"], ["names.csv", "--force"], TASKS],
    "describe": [["digits.csv"], ["digits.csv", "--where", "family = 'svm'"], ["seeds.csv"], ["many.csv"], ["llm.csv"]],
    "curve": [
        ["digits.csv", *FEW],
        ["seeds.csv", *FEW],
        ["many.csv", *FEW],
        ["many.csv", *FEW, "--axis", "cost"],
        ["llm.csv", *FEW],
        [*TASKS, *FEW],
    ],
    "compare": [
        ["digits.csv"],
        ["digits.csv", "--axis", "cost"],
        ["digits.csv", "--baseline", "mlp"],
        ["seeds.csv"],
        ["names.csv"],
        ["many.csv"],
        ["losses.csv"],
        ["llm.csv"],
        TASKS,
    ],
    "plan": [["digits.csv", *FEW], ["seeds.csv", *FEW], ["names.csv", *FEW], ["many.csv", *FEW], ["llm.csv", *FEW]],
    "gate": [["suite.csv", *GATE], ["suite.csv", *GATE, "--about", "problems"]],
    "claim": [CLAIM, ["base 76.3 ± 0.4 (5)", "ours 77.0 ± 0.6 (5)"]],
    "reach": [["digits.csv", "--target", "0.95", *FEW], ["many.csv", "--target", "0.5", *FEW]],
    "audit": [["log.csv"], ["again.csv"]],
    "loop": [["loop.db"], ["loop.db", "--candidate", LONG, "--score", "0.9"]],
    "run": [["study.yaml"], ["study.yaml", "--check"]],
    "serve": [["study.db"]],
    "verify": [["study.db"]],
    "simulate": [["--law", "norm", "--samples", "20"]],
    "checklist": [["digits.csv"]],
    "convert": [["digits.csv"], ["many.csv", "--out", "tidy.csv"]],
}
ANSWERS = {"gate": 1, "loop": 3}
"""Exit codes that are answers: regressed, and run it again."""


def _write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]), encoding="utf-8")


def _write_tables(folder):
    """Small ones of every kind: seeds, long names, many families with costs and failures, losses, samples, tasks."""
    rng = np.random.default_rng(3)
    shipped = files("levelbest") / "data" / "digits.csv"
    (folder / "digits.csv").write_bytes(shipped.read_bytes())
    two = (("base", 0.8), ("large", 0.82))
    _write(
        folder / "seeds.csv",
        "model,seed,accuracy",
        [(name, seed, level + 0.004 * seed) for name, level in two for seed in range(5)],
    )
    rows = [(f"{LONG}{i}", *rng.uniform(0, 1, 2).round(4)) for i in range(3) for _ in range(16)]
    _write(folder / "names.csv", "model,lr,val_acc", rows)
    rows = [
        (f"family-{i:02}", x, "" if x > 0.95 else round(x**2, 4), y)
        for i in range(20)
        for x, y in rng.uniform(0.1, 1, (10, 2)).round(4)
    ]
    _write(folder / "many.csv", "model,lr,val_acc,gpu_hours", rows)
    rows = [(name, *rng.uniform(level, 2, 2).round(4)) for name, level in two for _ in range(20)]
    _write(folder / "losses.csv", "model,lr,val_loss", rows)
    solved = rng.uniform(0, 1, 20)
    rows = [
        (f"llm-{i:02}", f"p{p}", s, int(rng.random() < solved[p]))
        for i in range(14)
        for p in range(20)
        for s in range(2)
    ]
    _write(folder / "llm.csv", "model,problem,sample,passed", rows)
    rows = [
        (name, f"env-{t}", seed, round(t + k + rng.normal(), 3))
        for k, name in enumerate(("PPO", "SAC", "DQN"))
        for t in range(12)
        for seed in range(4)
    ]
    _write(folder / "tasks.csv", "algorithm,env,seed,score", rows)


def _write_runs(folder):
    """A suite of tests with broken ones, two logs of kept attempts, and what a study and a loop need."""
    rng = np.random.default_rng(4)
    tests = [f"tests/test_module_{p:02}.py::test_a_rather_long_name" for p in range(30)]
    rows = [
        (version, test, int(p > 14 or version == "old"))
        for version in ("old", "new")
        for p, test in enumerate(tests)
        for _ in range(8)
    ]
    _write(folder / "suite.csv", "model,problem,passed", rows)
    scores = 0.7 + np.cumsum(rng.uniform(0, 0.002, 40)) + rng.normal(0, 0.004, 40)
    best = np.maximum.accumulate(scores)
    rows = [(i, round(x, 4), "keep" if x == best[i] else "discard") for i, x in enumerate(scores)]
    _write(folder / "log.csv", "attempt,score,status", rows)
    again = [(0, round(0.7 + rng.normal(0, 0.004), 4), "keep") for _ in range(6)]
    _write(folder / "again.csv", "attempt,score,status", again + rows[1:])
    (folder / "studied.py").write_text(
        "def trained(config, seed):\n"
        "    if config['lr'] > 0.9:\n"
        "        raise RuntimeError('CUDA out of memory. ' + 'Tried to allocate 2.00 GiB. ' * 5)\n"
        "    return {'val_acc': config['lr']}\n"
    )
    (folder / "study.yaml").write_text(
        "seed: 0\nmetric: {selection: val_acc, direction: max, bounds: [0, 1]}\nn_trials: 12\n"
        "function: studied:trained\nengine: inline\nfamilies:\n"
        + "".join(f"  {name}: {{space: {{lr: {{uniform: [0, 1]}}}}}}\n" for name in ("cnn", LONG))
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("screens")
    _write_tables(folder)
    _write_runs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "study.yaml", "--quiet"]) == 0
        for k in range(16):
            assert main(["loop", "loop.db", "--baseline", "--score", f"0.7{k:02}", "--direction", "max"]) == 0
    return folder


@pytest.fixture
def folder(tmp_path, written, monkeypatch):
    monkeypatch.chdir(shutil.copytree(written, tmp_path / "here"))
    monkeypatch.setattr("levelbest.report.terminal.console.is_terminal", lambda: True)  # documents are cut there alone
    serve = Server.run
    monkeypatch.setattr(Server, "run", lambda server: [server.stop(), serve(server)])
    monkeypatch.setattr("os.nice", lambda step: step)


def test_every_command_of_the_readme_has_a_screen():
    named = set(re.findall(r"^\| `(\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M))
    assert named == set(COMMANDS) == set(SCREENS)


@pytest.mark.parametrize("words", [[name, *rest] for name, each in SCREENS.items() for rest in each], ids=" ".join)
@pytest.mark.usefixtures("folder")
def test_it_fits_a_terminal(words, capsys):
    assert main(words) in {0, ANSWERS.get(words[0], 0)}
    out = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    lines = out.splitlines()
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    assert not re.search(r"\d\n\s*%|±\n|\bn =\n", out)  # a number stays with its sign
    cut = [line for line in lines if re.search(r"-\n?$", line) and not re.search(r"(^|\s)-+$", line)]
    assert not cut  # no word is broken at a hyphen


@pytest.mark.parametrize("words", [["compare", "names.csv"], ["compare", *TASKS], ["plan", "seeds.csv", *FEW]])
@pytest.mark.usefixtures("folder")
def test_the_answer_is_the_first_line(words, capsys):
    assert main(words) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert re.match(r"With \d+ trials?: |Over 12 tasks, |base and large can be told apart", first)


@pytest.mark.parametrize("words", [["compare", "names.csv"], ["compare", "seeds.csv", "--seed-column", "seed"]])
@pytest.mark.usefixtures("folder")
def test_the_next_command_can_be_pasted(words, capsys):
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith("levelbest "))
    command = [lines[start]]
    while command[-1].endswith("\\"):
        command.append(lines[start + len(command)])
    assert "..." not in " ".join(command)
    pasted = " ".join(line.strip().removesuffix("\\") for line in command).split()
    assert main(pasted[1:]) == 0


@pytest.mark.usefixtures("folder")
def test_a_tall_terminal_shows_more_rows(capsys, monkeypatch):
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 40)))
    assert main(["compare", "many.csv"]) == 0
    out = capsys.readouterr().out
    assert all(f"family-{i:02}" in out for i in range(20))
    assert len(out.splitlines()) < 40


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


def test_an_error_is_broken_at_spaces(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["compare", "there-is-no-such-table-of-results-in-this-folder.csv"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH


def test_help_lists_the_commands_by_job_on_one_screen(capsys):
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    jobs = [line.split()[0] for line in lines if re.match(r"  (look|decide|run|tools) ", line)]
    assert jobs == ["look", "decide", "run", "tools"]
    assert all(any(re.search(rf"\b{name} ", line) for line in lines) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_groups_and_examples_that_can_be_typed(name, capsys):
    assert main([name, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"  [A-Z]", lines[2])  # what it is for
    start = lines.index("Examples:")
    examples = [line.strip() for line in lines[start + 1 :]]
    assert examples
    assert max(map(len, lines[start:])) <= WIDTH
    heads = [line for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert heads == [head for head in ("Options:", "Output:", "Reading the table:", "Examples:") if head in heads]
    for example in examples:
        program, command, *words = shlex.split(example, comments=True)
        assert (program, command) == ("levelbest", name)
        cli.get_command(None, name).make_context(name, words)  # a wrong option is refused here
