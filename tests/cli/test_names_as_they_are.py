"""Text from data is never markup: names print as they are, in every command."""

import numpy as np
import pytest

from levelbest.cli.main import main

NAMES = ["cnn[big]", "lr[/b]", "[red]:smile:", "old trials"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["model,task,clinical_trial_success,test[b]"]
    for i, name in enumerate(NAMES):
        scores = rng.uniform(0.2, 0.6, 24) + 0.1 * i
        rows += [f"{name},{('[i]easy', 'hard')[j % 2]},{x:.4f},{x - 0.01:.4f}" for j, x in enumerate(scores)]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


COLUMNS = ["--family", "model", "--selection", "clinical_trial_success", "--reported", "test[b]", "--direction", "max"]


@pytest.mark.parametrize(
    "command",
    [
        ["compare"],
        ["compare", "--task", "task"],
        ["curve"],
        ["curve", "--failed", "both"],
        ["describe"],
        ["reach", "--target", "sh[u]t=0.5", "--task", "none"],
        ["plan", "--n", "3", "--resamples", "99", "--task", "none"],
    ],
    ids=" ".join,
)
def test_names_print_as_they_are(command, table, capsys):
    code = main([command[0], table, *COLUMNS, *command[1:]])
    out = " ".join(capsys.readouterr().out.split())
    assert code == 0
    for name in NAMES:
        assert name in out, name
    assert "clinical_sample" not in out
