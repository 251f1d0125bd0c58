"""Every command that a comparison proposes runs, with all options that the first one was given."""

import re
import shlex

import numpy as np
import pytest

from levelbest.cli.main import main

FAST = ("--resamples", "199")


def _rows(seed):
    """One of several kinds of data, by its number, and the options it is read with."""
    rng = np.random.default_rng([12, seed])
    kind, shift = seed % 6, rng.choice([0.0, 0.3, 1.0])
    score = lambda i: round(float(0.5 + 0.1 * (shift * i + rng.standard_normal())), 4)  # noqa: E731
    families = ["a", "b", "c"][: 2 + seed % 2]
    if kind == 0:  # trials, some of which failed
        rows = [(f, "" if rng.random() < 0.1 else score(i)) for i, f in enumerate(families) for _ in range(20)]
        return "model,val_acc", rows, ()
    if kind == 1:  # seeds
        return "model,seed,test_acc", [(f, s, score(i)) for i, f in enumerate(families) for s in range(6)], ()
    if kind == 2:  # names that do not tell, and a filter
        rows = [(f, score(i), rng.integers(3)) for i, f in enumerate(families) for _ in range(24)]
        options = ("--family", "who", "--selection", "s core", "--direction", "max", "--where", "part < 2")
        return "who,s core,part", rows, options
    if kind == 3:  # problems
        rows = [
            (f, p, int(rng.random() < 0.4 + 0.1 * i)) for i, f in enumerate(families) for p in range(12) for _ in "xyz"
        ]
        return "model,problem,correct", rows, ("--bounds", "0", "1")
    if kind == 4:  # a reported score that some lack
        rows = [(f, score(i), "" if k == 3 else score(i)) for i, f in enumerate(families) for k in range(20)]
        return "model,val_acc,test_acc", rows, ("--missing-reported", "drop", "--confidence", "0.9")
    rows = [(f, score(i), 1 + rng.random()) for i, f in enumerate(families) for _ in range(16)]
    return "model,val_acc,seconds", rows, ("--baseline", "a", "--unpaired", "--failed", "drop")


def proposed(screen):
    """The commands of the ``next`` lines, their folded lines put together."""
    return [re.sub(r"\\\n\s+", "", command) for command in re.findall(r"^ {9}(levelbest (?:.*\\\n)*.*)$", screen, re.M)]


@pytest.mark.parametrize("seed", range(30))
def test_next_commands_run(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    header, rows, options = _rows(seed)
    (tmp_path / "r.csv").write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    assert main(["compare", "r.csv", *options, *FAST]) == 0
    commands = proposed(capsys.readouterr().out)
    for command in commands:
        words = shlex.split(command)
        assert [option for option in options if option not in words] in ([], ["--failed", "drop"], ["--unpaired"])
        assert main(words[1:]) == 0, command
        capsys.readouterr()
