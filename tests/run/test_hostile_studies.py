"""Study files that are damaged, or made to do harm: refused by ``--check`` in one line, and at once."""

import json
import os
import re
import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from levelbest.cli.main import main

HEAD = "metric: {selection: dev, direction: max}\n"
FAMILY = HEAD + "families: {a: {command: 'true', n_trials: 3, space: {x: %s}}}\n"


def ninefold(depth: int) -> str:
    """A list of nine aliases of a list of nine aliases of ...: 9 ** depth values in a few hundred bytes."""
    text = "&a0 [x, x, x, x, x, x, x, x, x]"
    for level in range(1, depth):
        text = f"&a{level} [{text}{f', *a{level - 1}' * 8}]"
    return text


SPACES = {
    "{integer: [0, 1e30]}": "whole numbers up to 2^53",
    "{integer: [0, 9223372036854775807]}": "whole numbers up to 2^53",
    "{integer: [-1" + "0" * 400 + ", 0]}": "takes finite numbers",
    "{log-integer: [1, 1e30]}": "whole numbers up to 2^53",
    "{uniform: [-1e308, 1e308]}": "whose distance is finite",
    "{normal: [0, 1e308]}": "finite draws",
    "{normal: [1e308, 1e307]}": "finite draws",
    "{choice: [1, 2], weights: [1e308, 1e308]}": "one weight per value",
    "{choice: [1, 2], weights: [.nan, 1]}": "one weight per value",
    "{scipy: norm, args: [0, .inf]}": "values must be numbers",
    f"{{choice: {ninefold(11)}}}": "more than 100,000 values, its aliases followed",
    "&x [*x]": "found unconstructable recursive node",
    "[" * 5000 + "]" * 5000: "nests lists or entries more than 50 deep",
    "[" * 60 + "]" * 60: "nests lists or entries more than 50 deep",
}


@pytest.mark.parametrize("space", SPACES)
def test_a_space_that_cannot_be_drawn_from_is_refused_by_check(tmp_path, capsys, space):
    (tmp_path / "s.yaml").write_text(FAMILY % space)
    began = time.monotonic()
    assert main(["run", str(tmp_path / "s.yaml"), "--check"]) == 2
    assert time.monotonic() - began < 20
    said = capsys.readouterr()
    assert SPACES[space] in said.err
    assert len(said.err.splitlines()) == 1
    assert len(said.err) < 500


@pytest.mark.parametrize("largest", [2**53, 9007199254740991])
def test_large_whole_numbers_are_drawn_as_they_are_written(tmp_path, capsys, largest):
    (tmp_path / "s.yaml").write_text(FAMILY % f"{{integer: [{largest}, {largest}]}}")
    assert main(["run", str(tmp_path / "s.yaml"), "--check"]) == 0
    assert f'{{"x": {largest}}}' in capsys.readouterr().out


OTHERS = {
    "deep.json": ('{"metric": ' + "[" * 100_000 + "]" * 100_000 + "}", "more than 50 deep"),
    "deep.toml": ("metric = " + "[" * 100_000 + "]" * 100_000, "more than 50 deep"),
    "keys.toml": (".".join(["a"] * 5000) + " = 1", "more than 50 deep"),
    "long.yaml": ("# " + "x" * 1_000_001, "a plain file of 1 MB at most"),
    "digits.yaml": (HEAD + "seed: " + "9" * 10_000, "not valid YAML"),
    "open.yaml": ("a: [1, 2\nb: {", "not valid YAML"),
    "tag.yaml": ("!!python/object/apply:os.system ['true']", "not valid YAML"),
    "limit.yaml": (HEAD + "time_limit: 1e300 d\nfamilies: {a: {command: 'true', n_trials: 3}}", "at most 3650 d"),
    "workers.yaml": (HEAD + "workers: 1000000\nfamilies: {a: {command: 'true', n_trials: 3}}", "at most 100000"),
    "trials.yaml": (HEAD + "families: {a: {command: 'true', n_trials: 99999999999}}", "at most 4294967295"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_study_file_made_to_do_harm_is_refused_in_one_line(tmp_path, capsys, name):
    text, words = OTHERS[name]
    (tmp_path / name).write_text(text)
    assert main(["run", str(tmp_path / name), "--check"]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1


def test_a_device_or_a_pipe_is_no_study_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    for name in ("pipe.yaml", "zero.yaml"):
        done = subprocess.run(
            [sys.executable, "-m", "levelbest", "run", str(tmp_path / name), "--check"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 2
        assert "is not a study file" in done.stderr


def test_a_month_is_a_time_limit(tmp_path):
    text = HEAD + "time_limit: 31 d\nfamilies: {a: {command: [echo, '{{\"dev\":1}}'], n_trials: 2}}\n"
    (tmp_path / "s.yaml").write_text(text)
    assert main(["run", str(tmp_path / "s.yaml"), "--quiet"]) == 0


STUDY = {
    "seed": 3,
    "metric": {"selection": "dev", "reported": "test", "direction": "max", "bounds": [0, 1]},
    "cost": {"of": "wall", "rate": 1.8, "per": "hour", "unit": "dollars"},
    "n_trials": 6,
    "time_limit": "2 h",
    "resources": {"cpus": 1, "gpus": 0, "memory": "2 GB"},
    "families": {
        "a": {
            "command": "true --lr {lr} --seed {seed} {args}",
            "space": {
                "lr": {"loguniform": [1e-4, 0.1]},
                "units": {"log-integer": [16, 512]},
                "kind": {"choice": ["p", "q"], "weights": [1, 3]},
                "momentum": {"uniform": [0.5, 0.99], "when": {"kind": "p"}},
                "c": {"scipy": "expon", "args": [0, 10]},
            },
        },
        "b": {
            "command": ["true", "{x}"],
            "space": {"x": {"normal": [0, 1]}},
            "seeds": 2,
            "report": {"file": "{out}/m"},
        },
    },
}
SIGNS = "[]{}:,-&*!|>'\"\\#%@`~\x00\t\n"
PIECES = [*SIGNS, "<<: *a", "&a ", "!!int", ".inf", "1e999", "0x1f", "null", "é", "𝄞"]


def mutated(text: str, rng: np.random.Generator) -> bytes:
    """Words swapped for other words or signs, pieces cut out or doubled, bytes flipped."""
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(text) + 1))
        match int(rng.integers(5)):
            case 0:
                text = text[:at] + str(rng.choice(PIECES)) + text[at:]
            case 1:
                text = text[:at] + text[at + int(rng.integers(1, 30)) :]
            case 2:
                text = text[:at] + text[at : at + int(rng.integers(1, 80))] * int(rng.integers(2, 5)) + text[at:]
            case 3:
                words = list(re.finditer(r"[\w.]+", text))
                one, other = words[int(rng.integers(len(words)))], words[int(rng.integers(len(words)))]
                text = text[: one.start()] + other[0] + text[one.end() :]
            case _:
                words = list(re.finditer(r"[0-9.]+", text))
                one = words[int(rng.integers(len(words)))]
                number = str(rng.choice(["-1", "0", "1e30", "1e-320", "1e308", "9" * 30, "''", "[]", "{}", "nan"]))
                text = text[: one.start()] + number + text[one.end() :]
    data = bytearray(text.encode())
    if rng.random() < 0.2 and data:
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


@pytest.mark.parametrize("count", [150, pytest.param(1500, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["json", "yaml", "toml"])
def test_damaged_study_files_are_studies_or_refused_in_one_line(tmp_path, capsys, kind, count):
    rng = np.random.default_rng([19, len(kind), count])
    path = tmp_path / f"s.{kind}"
    text = json.dumps(STUDY, indent=1)
    if kind == "yaml":
        import yaml

        text = yaml.safe_dump(STUDY, sort_keys=False)
    elif kind == "toml":
        text = "\n".join(
            [
                'seed = 3\nn_trials = 6\n[metric]\nselection = "dev"\ndirection = "max"\nbounds = [0, 1]',
                '[families.a]\ncommand = "true --lr {lr} {args}"\n[families.a.space]\nlr = {loguniform = [1e-4, 0.1]}',
                'kind = {choice = ["p", "q"], weights = [1, 3]}\nm = {uniform = [0, 1], when = {kind = "p"}}\n',
            ]
        )
    codes = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        path.write_bytes(mutated(text, rng))
        began = time.monotonic()
        codes.append(main(["run", str(path), "--check"]))
        said = capsys.readouterr()
        assert time.monotonic() - began < 60
        assert codes[-1] in (0, 2), path.read_bytes()
        if codes[-1]:
            assert said.out == "", path.read_bytes()
            assert len(said.err.splitlines()) == 1, said.err
    assert 0.1 < np.mean(np.array(codes) == 2) < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000_000  # kilobytes
