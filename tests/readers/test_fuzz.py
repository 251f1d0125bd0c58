"""A thousand damaged files: never anything but our own error, and never a readable row lost without a word.

Each file starts whole, with a known number of rows, and is then hurt: cut short, bytes changed, types mixed, encodings
mixed, headers doubled, integers made huge, JSON nested, formulas and empty lines put in. A row that is still there in
full must come out as a trial or stand in the list of what was skipped.
"""

import json
import math
import sqlite3
from contextlib import suppress

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import Ambiguous, LevelbestError

FILES = 350  # of each kind: CSV, JSON lines, SQLite
ROWS = 20
NASTY = [
    "", "abc", "1e999", "-1e999", "nan", "inf", "1,5", "12%", "=1+1", "=cmd|' /C calc'!A0", "9" * 400, "0x1F", "ä",
    "\x00", "\ufeff", "1_000", "١٢", "--", "true", "[1, 2]", '{"a": 1}', "1e-400", " 0.5 ", "'", "\\", ";", "\t",
]  # fmt: skip


def read(path, **options):
    """Trials, or None where our own error said that there are none."""
    with suppress(LevelbestError):
        return lb.read_trials(path, **options)
    return None


def csv_text(rng):
    scores = [[f"{x:.4f}" for x in pair] for pair in rng.uniform(size=(ROWS, 2))]
    rows = [[f"run{run}", f"m{run % 3}", *pair, "fine"] for run, pair in enumerate(scores)]
    return [["run", "model", "val_acc", "test_acc", "note"], *rows]


def hurt_cells(rows, rng):
    for _ in range(int(rng.integers(1, 6))):
        rows[int(rng.integers(1, len(rows)))][int(rng.integers(5))] = NASTY[int(rng.integers(len(NASTY)))]
    return join(rows, rng).encode()


def join(rows, rng):
    delimiter = [",", "\t", ";"][int(rng.integers(3))]
    ending = ["\n", "\r\n"][int(rng.integers(2))]
    return ending.join(delimiter.join(map(str, row)) for row in rows) + ending


def doubled_header(rows, rng):
    rows[0][4] = rows[0][int(rng.integers(4))]
    return join(rows, rng).encode()


def cut_short(rows, rng):
    data = join(rows, rng).encode()
    return data[: int(rng.integers(len(data)))]


def changed_bytes(rows, rng):
    data = bytearray(join(rows, rng).encode())
    for place in rng.integers(len(data), size=int(rng.integers(1, 10))):
        data[place] = int(rng.integers(256))
    return bytes(data)


def mixed_encodings(rows, rng):
    lines = join(rows, rng).replace("fine", "größe").split("\n")
    codecs = ["utf-8", "latin-1", "cp1252"]
    return b"\n".join(line.encode(codecs[int(rng.integers(3))]) for line in lines)


def ragged(rows, rng):
    for _ in range(int(rng.integers(1, 6))):
        row = rows[int(rng.integers(1, len(rows)))]
        if rng.integers(2):
            row.append("more")
        else:
            row.pop()
    return join(rows, rng).encode()


def stray_quotes(rows, rng):
    for _ in range(int(rng.integers(1, 4))):
        row = rows[int(rng.integers(1, len(rows)))]
        place = int(rng.integers(len(row)))
        row[place] = row[place][:2] + '"' + row[place][2:]
    return join(rows, rng).encode()


def blank_lines(rows, rng):
    for _ in range(4):
        rows.insert(int(rng.integers(1, len(rows))), [""] * int(rng.integers(1, 6)))
    return join(rows, rng).encode()


HURTS = [hurt_cells, doubled_header, cut_short, changed_bytes, mixed_encodings, ragged, stray_quotes, blank_lines]


def whole_rows(data):
    """Lines that are rows of the original shape beyond doubt: five cells, a run's name and two plain scores."""
    found = []
    for line in data.split(b"\n"):
        text = line.decode("latin-1").rstrip("\r")
        for delimiter in (",", "\t", ";"):
            cells = text.split(delimiter)
            if len(cells) != 5 or '"' in text or not cells[0].startswith("run") or cells[0] == "run":
                continue
            with suppress(ValueError):
                if all(cell.isascii() and cell.strip() == cell for cell in cells[2:4]):
                    found.append((float(cells[2]), float(cells[3])))
    return [pair for pair in found if all(map(math.isfinite, pair))]


@pytest.mark.parametrize("hurt", HURTS, ids=[hurt.__name__ for hurt in HURTS])
def test_damaged_csv(hurt, tmp_path):
    rng = np.random.default_rng(HURTS.index(hurt))
    path = tmp_path / "runs.csv"
    n_read = 0
    for _ in range(FILES // len(HURTS) + 1):
        data = hurt(csv_text(rng), rng)
        path.write_bytes(data)
        try:
            trials = lb.read_trials(path, family="model", selection="val_acc", reported="test_acc")
        except Ambiguous:  # a question, about a 12 among shares, loses nothing
            n_read += 1
            continue
        except LevelbestError:
            continue
        n_read += 1
        rows = whole_rows(data)
        scored = set(
            zip(trials.selection.tolist(), [] if trials.reported is None else trials.reported.tolist(), strict=True)
        )
        lost = [row for row in rows if row not in scored]
        # A whole row that did not become a trial is in the list of what was skipped.
        assert len(lost) <= len(trials.skipped), (data, trials.skipped)
        assert len(trials) + len(trials.skipped) >= len(rows), data
    # Refusing everything would pass the above: light damage must not cost a file.
    light = hurt not in (doubled_header, cut_short, changed_bytes)
    assert n_read >= (0.9 if light else 0.3) * (FILES // len(HURTS) + 1)


def json_rows(rng):
    return [
        {"model": f"m{run % 3}", "val": {"acc": float(rng.uniform())}, "test_acc": float(rng.uniform()), "lr": 0.1}
        for run in range(ROWS)
    ]


def deep(depth):
    value = 1
    for _ in range(depth):
        value = {"a": value} if depth % 2 else [value]
    return value


JUNK = [None, True, "x", [1, 2], {}, 10**400, -(10**30), "12%", float("nan"), float("inf"), "=1+1", deep(60), "ä" * 3]


def hurt_lines(rows, rng):
    lines = []
    for row in rows:
        if rng.uniform() < 0.2:
            key = ["model", "val", "test_acc", "lr", "new"][int(rng.integers(5))]
            row = {**row, key: JUNK[int(rng.integers(len(JUNK)))]}
        line = json.dumps(row)
        chance = rng.uniform()
        if chance < 0.05:
            line = line[: int(rng.integers(len(line)))]
        elif chance < 0.1:
            line = ["", "[]", "null", "7", '"text"', "{}", "{" * 5000, "[" * 100_000, "\x00"][int(rng.integers(9))]
        elif chance < 0.13:
            line += line
        lines.append(line)
    return lines


def test_damaged_json_lines(tmp_path):
    rng = np.random.default_rng(7)
    path = tmp_path / "runs.jsonl"
    n_read = 0
    for _ in range(FILES):
        lines = hurt_lines(json_rows(rng), rng)
        data = "\n".join(lines).encode()
        if rng.uniform() < 0.2:
            data = data[: int(rng.integers(len(data) + 1))]
        path.write_bytes(data)
        trials = read(path, family="model", selection="val.acc", reported="test_acc")
        if trials is None:
            continue
        n_read += 1
        rows = 0
        for line in data.decode("utf-8", errors="replace").split("\n"):
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                rows += isinstance(row, dict) and bool(row) and isinstance(row.get("model"), str)
        assert len(trials) + len(trials.skipped) >= rows
    assert n_read > 0.8 * FILES


def store(path, rng):
    """A small Optuna storage, by its schema, without Optuna."""
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        PRAGMA synchronous = OFF;
        PRAGMA journal_mode = MEMORY;
        BEGIN;
        CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name TEXT);
        CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction TEXT, study_id INTEGER,
                                       objective INTEGER);
        CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state TEXT,
                             datetime_start TEXT, datetime_complete TEXT);
        CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, value REAL,
                                   value_type TEXT);
        CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name TEXT, param_value REAL,
                                   distribution_json TEXT);
        CREATE TABLE version_info (version_info_id INTEGER PRIMARY KEY, schema_version INTEGER, library_version TEXT);
        INSERT INTO studies VALUES (1, 'cnn');
        INSERT INTO study_directions VALUES (1, 'MAXIMIZE', 1, 0);
        INSERT INTO version_info VALUES (1, 12, '4.0.0');
        """
    )
    law = json.dumps({"name": "FloatDistribution", "attributes": {"low": 0, "high": 1, "log": False, "step": None}})
    for run in range(ROWS):
        start, end = f"2024-01-01 00:00:{run:02d}", f"2024-01-01 00:01:{run:02d}"
        connection.execute("INSERT INTO trials VALUES (?, ?, 1, 'COMPLETE', ?, ?)", (run + 1, run, start, end))
        connection.execute("INSERT INTO trial_values VALUES (?, ?, 0, ?, 'FINITE')", (run + 1, run + 1, rng.uniform()))
        connection.execute("INSERT INTO trial_params VALUES (?, ?, 'lr', ?, ?)", (run + 1, run + 1, rng.uniform(), law))
    return connection


SPOILS = [
    "UPDATE trial_values SET value = 'abc' WHERE trial_id = {i}",
    "UPDATE trial_values SET value = NULL WHERE trial_id = {i}",
    "UPDATE trial_values SET value = x'00ff' WHERE trial_id = {i}",
    "DELETE FROM trial_values WHERE trial_id = {i}",
    "UPDATE trials SET state = 'ODD' WHERE trial_id = {i}",
    "UPDATE trials SET state = 7 WHERE trial_id = {i}",
    "UPDATE trials SET number = 999999999999999999 WHERE trial_id = {i}",
    "UPDATE trials SET datetime_start = 'yesterday' WHERE trial_id = {i}",
    "UPDATE trial_params SET distribution_json = '{{' WHERE trial_id = {i}",
    "UPDATE trial_params SET param_value = 'x' WHERE trial_id = {i}",
    "UPDATE studies SET study_name = NULL",
    "UPDATE study_directions SET direction = 'SIDEWAYS'",
    "UPDATE trials SET study_id = 9 WHERE trial_id = {i}",
    "DROP TABLE trial_values",
    "ALTER TABLE trials DROP COLUMN number",
]


def test_damaged_sqlite(tmp_path):
    rng = np.random.default_rng(8)
    path = tmp_path / "study.db"
    for _ in range(FILES):
        path.unlink(missing_ok=True)
        connection = store(path, rng)
        spoiled = int(rng.integers(4))
        for _ in range(spoiled):
            with suppress(sqlite3.Error):  # a table that an earlier spoil dropped
                connection.execute(SPOILS[int(rng.integers(len(SPOILS)))].format(i=int(rng.integers(1, ROWS + 1))))
        connection.commit()
        connection.close()
        data = bytearray(path.read_bytes())
        damaged = rng.uniform() < 0.5
        if damaged:
            if rng.uniform() < 0.4:
                data = data[: int(rng.integers(len(data)))]
            for place in rng.integers(max(len(data), 1), size=int(rng.integers(0, 12))):
                if data:
                    data[place] = int(rng.integers(256))
            path.write_bytes(bytes(data))
        trials = read(path)
        assert path.read_bytes() == bytes(data)
        if not damaged and spoiled == 0:
            assert trials.n_trials == ROWS
        elif not damaged and trials is not None:
            # Every trial of the store is a trial, or stands in the list.
            assert len(trials) + len(trials.skipped) >= ROWS
