"""Ledgers that are damaged, or made to do harm: one line and exit code 1, never a traceback, never without end."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.errors import LevelbestError
from levelbest.run.ledger import Entry
from levelbest.web.data import LiveData

sys.path.insert(0, str(Path(__file__).parent))
from forging import append, damage, statements
from ledgers import ended, make, opening, started

STUDY = {
    "seed": 3,
    "metric": {"selection": "dev", "reported": "test", "direction": "max", "bounds": [0, 1]},
    "families": {"cnn": {"command": "true", "space": {"x": {"uniform": [0, 1]}}, "n_trials": 10}},
}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "s.db"
    make(path, 60, 60).close()
    path.with_name("s.json").write_text(json.dumps(STUDY))
    return path


@pytest.fixture
def ledger(original, tmp_path):
    shutil.copy(original.with_name("s.json"), tmp_path)
    return Path(shutil.copy(original, tmp_path))


@pytest.fixture
def soon():
    """No more than this many seconds for each question."""

    def late(*_):
        raise AssertionError("without end")

    before = signal.signal(signal.SIGALRM, late)
    yield lambda: signal.alarm(30)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def ask_all(path: Path, capsys, soon) -> dict[str, int]:
    """What every command that takes a ledger makes of it: an exit code, and one line where that is not 0."""
    codes = {}
    for command in ("verify", "describe", "run"):
        soon()
        capsys.readouterr()
        codes[command] = main([command, str(path.with_suffix(".json") if command == "run" else path)])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        if codes[command] and command != "run":  # run shows the difference to its study in several
            assert said.out or len(said.err.splitlines()) == 1, said.err
            assert len(said.err) < 2000
    soon()
    codes["serve"], problem = 0, ""
    try:
        with contextlib.closing(LiveData(path)) as data:
            data.state()
    except LevelbestError as error:
        codes["serve"], problem = 1, str(error)
    assert "\n" not in problem
    return codes


def in_the_schema(path: Path, *edits: tuple[str, str]) -> None:
    """Change the text of the schema itself, which no statement of SQL would."""
    content = path.read_bytes()
    for old, new in edits:
        assert len(old) == len(new)
        assert old.encode() in content
        content = content.replace(old.encode(), new.encode("latin-1"))
    path.write_bytes(content)


NULL = (
    "CREATE TABLE records (seq INTEGER PRIMARY KEY AUTOINCREMENT, at, kind, family, trial, attempt, status, body, hash)"
)
FOR_EVER = """CREATE VIEW records AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
              SELECT i AS seq, i AS at, 'stop' AS kind, NULL AS family, NULL AS trial, NULL AS attempt, NULL AS status,
              '{"reason":""}' AS body, '' AS hash FROM n"""
DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = {
    "records is a view without end": lambda path: statements(
        path, "ALTER TABLE records RENAME TO other", "DROP VIEW trials", FOR_EVER
    ),
    "records is a view of one row": lambda path: statements(
        path, "ALTER TABLE records RENAME TO other", "CREATE VIEW records AS SELECT * FROM other LIMIT 1"
    ),
    "no records": lambda path: statements(path, "DROP VIEW trials", "DROP TABLE records"),
    "hashes that are NULL": lambda path: statements(
        path, "DROP TABLE records", NULL, "INSERT INTO records (seq, at, kind, body) VALUES (1, 1, 'study', '{}')"
    ),
    "bodies of bytes": lambda path: damage(path, "UPDATE records SET body = CAST(body AS BLOB)"),
    "kinds of bytes": lambda path: damage(path, "UPDATE records SET kind = x'ff00ff'"),
    "families of bytes": lambda path: damage(path, "UPDATE records SET family = x'00', trial = x'01' WHERE seq > 5"),
    "families that are fractions": lambda path: damage(path, "UPDATE records SET family = 0.5 WHERE seq > 5"),
    "trials that are text": lambda path: damage(path, "UPDATE records SET trial = 'first' WHERE seq = 7"),
    "text that is not UTF-8": lambda path: damage(
        path, "UPDATE records SET body = CAST(x'7b22ff' AS TEXT) WHERE seq = 9"
    ),
    "a study that is not UTF-8": lambda path: damage(
        path, "UPDATE records SET body = CAST(x'7b22ff' AS TEXT) WHERE seq = 1"
    ),
    "a schema that is not UTF-8": lambda path: in_the_schema(path, ("microseconds", "micro\xffeconds")),
    "a name that is not UTF-8": lambda path: in_the_schema(path, ("TABLE records (", "TABLE rec\xffrds (")),
    "a schema of nonsense": lambda path: in_the_schema(path, ("CREATE TABLE records", "CREATE FABLE records")),
    "a column that is generated": lambda path: statements(
        path, "DROP VIEW trials", "ALTER TABLE records ADD COLUMN x GENERATED ALWAYS AS (zeroblob(1000000))"
    ),
    "a body without bottom": lambda path: damage(path, f"UPDATE records SET body = '{DEEP}' WHERE seq = 9"),
    "a study without bottom": lambda path: damage(path, f"UPDATE records SET body = '{DEEP}' WHERE seq = 1"),
    "a body that is a list": lambda path: damage(path, "UPDATE records SET body = '[]' WHERE seq IN (1, 3, 9)"),
    "a study of nothing": lambda path: damage(path, "UPDATE records SET body = '{}' WHERE seq = 1"),
    "a family of nothing": lambda path: damage(path, "UPDATE records SET body = '{}' WHERE seq = 3"),
    "a plan without end": lambda path: damage(
        path, f"UPDATE records SET body = '{{\"n_trials\":{10**30}}}' WHERE seq = 4"
    ),
    "a plan of text": lambda path: damage(path, 'UPDATE records SET body = \'{"n_trials":"all"}\' WHERE seq = 4'),
    "a number of 5,000 digits": lambda path: damage(
        path, f"UPDATE records SET body = '{{\"n_trials\":{'9' * 5000}}}' WHERE seq = 4"
    ),
    "a score beyond all bounds": lambda path: append(
        path, [Entry("plan", {"n_trials": 61}, 0), started(60), ended(60, dev=float("inf"))]
    ),
    "a family of minus one": lambda path: append(path, [Entry("family", opening(1)[2].body | {"name": "x"}, -1)]),
    "a space that cannot be drawn from": lambda path: append(
        path,
        [
            Entry(
                "family",
                {
                    "name": "x",
                    "definition": {"space": [["a", {"integer": [0, 10**40]}]], "seeds": 1},
                    "fingerprint": "",
                },
                1,
            ),
            Entry("plan", {"n_trials": 1}, 1),
            Entry("start", {"config": {"a": 1}, "seed": 1}, 1, 0, 1),
        ],
    ),
    "a name that colours the terminal": lambda path: append(
        path, [Entry("\x1b[31mred\nand more", {}), Entry("plan", {"n_trials": 1}, 0)]
    ),
    "half a file": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a header alone": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "a first page of zeros": lambda path: path.write_bytes(bytes(4096) + path.read_bytes()[4096:]),
    "zeros after the header": lambda path: path.write_bytes(
        path.read_bytes()[:100] + bytes(3996) + path.read_bytes()[4096:]
    ),
    "a block of zeros": lambda path: path.write_bytes(
        path.read_bytes()[:20480] + bytes(4096) + path.read_bytes()[24576:]
    ),
    "a log of noise": lambda path: Path(f"{path}-wal").write_bytes(np.random.default_rng(1).bytes(50_000)),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ledgers_are_refused_in_one_line(ledger, name, capsys, soon):
    HOSTILE[name](ledger)
    codes = ask_all(ledger, capsys, soon)
    if name != "a log of noise":  # which SQLite knows for noise, and leaves alone
        assert codes["verify"] in (1, 2)
        assert codes["run"] in (1, 2)
    if name not in ("a log of noise", "a space that cannot be drawn from"):
        assert codes["describe"] in (1, 2)
        assert codes["serve"] == 1


def test_a_pipe_is_not_waited_for(tmp_path, capsys, soon):
    os.mkfifo(tmp_path / "s.db")
    soon()
    assert main(["verify", str(tmp_path / "s.db")]) == 2
    assert "is not a ledger" in capsys.readouterr().err


def flipped(original: Path, target: Path, rng: np.random.Generator) -> None:
    """Some bytes changed, a block zeroed, a piece cut out or doubled."""
    content = bytearray(original.read_bytes())
    at = int(rng.integers(100, len(content)))
    match int(rng.integers(5)):
        case 0:
            content[at] ^= 1 << int(rng.integers(8))
        case 1:
            size = int(2 ** rng.integers(4, 13))
            content[at : at + size] = bytes(min(size, len(content) - at))
        case 2:
            del content[at : at + int(rng.integers(1, 5000))]
        case 3:
            content[at:at] = content[at : at + int(rng.integers(1, 5000))]
        case _:
            for place in rng.integers(0, len(content), 20):
                content[place] = int(rng.integers(256))
    target.write_bytes(content)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.long)])
def test_damaged_ledgers_are_whole_or_refused(original, ledger, capsys, soon, count):
    """Where verify calls a damaged file whole, not one record of it differs."""
    head = sqlite3.connect(original).execute("SELECT hash FROM records ORDER BY seq DESC LIMIT 1").fetchone()[0]
    rng = np.random.default_rng(7)
    seen = 0
    for _ in range(count):
        flipped(original, ledger, rng)
        codes = ask_all(ledger, capsys, soon)
        if codes["verify"] == 0:
            capsys.readouterr()
            assert main(["verify", str(ledger), "--head", head]) == 0
        else:
            seen += 1
        shutil.rmtree(f"{ledger}.logs", ignore_errors=True)
    assert seen > count / 2
