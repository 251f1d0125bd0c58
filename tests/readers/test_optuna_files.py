"""Optuna stores and journals, against Optuna's own reader of the same files."""

import math
import os
import runpy
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from sqlalchemy.pool import NullPool

from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.formats.optuna import READERS as OPTUNA

ARTEFACTS = Path(__file__).parent / "artefacts"
STATUS = {"COMPLETE": "ok", "PRUNED": "pruned", "FAIL": "failed", "RUNNING": "running"}
STORE, JOURNAL = OPTUNA
READERS = {"db": STORE, "journal": JOURNAL}


def storage_of(path):
    if path.suffix == ".db":
        # Without a pool every connection is closed after use; from Python 3.13 an open one is a warning.
        return RDBStorage(f"sqlite:///{path}", engine_kwargs={"poolclass": NullPool})
    return JournalStorage(JournalFileBackend(str(path)))


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Stores that the installed Optuna wrote just now."""
    folder = tmp_path_factory.mktemp("optuna")
    write = runpy.run_path(str(ARTEFACTS / "make_optuna.py"))["write_studies"]
    for path in (folder / "study.db", folder / "study.journal"):
        write(storage_of(path))
    return folder


@pytest.fixture(params=["fresh-db", "fresh-journal", "committed-db", "committed-journal"])
def store(request, fresh, tmp_path):
    """Each store in a folder of its own, so that Optuna's reader may write beside it."""
    home, kind = request.param.split("-")
    source = (fresh if home == "fresh" else ARTEFACTS / "optuna") / f"study.{kind}"
    return Path(shutil.copy(source, tmp_path / source.name))


def same(ours, theirs):
    if theirs is None or (isinstance(theirs, float) and math.isnan(theirs)):
        return ours is None or ours is np.ma.masked or math.isnan(ours)
    return ours == theirs


def test_tables_agree_with_load_study(store):
    reader = READERS[store.suffix[1:]]
    assert reader.recognises(store)
    tables = {table.source: table for table in reader.read(store)}
    assert set(tables) == {"cnn", "grid", "two objectives"}
    for name, table in tables.items():
        study = optuna.load_study(study_name=name, storage=storage_of(store))
        trials = [t for t in study.trials if t.state.name != "WAITING"]
        assert table.n_rows == len(trials)
        assert table.columns["number"].tolist() == [t.number for t in trials]
        assert table.columns["state"].tolist() == [STATUS[t.state.name] for t in trials]
        assert set(table.columns["study"]) == {name}
        objectives = ["value"] if len(study.directions) == 1 else ["values_0", "values_1"]
        for place, column in enumerate(objectives):
            assert table.columns[column].dtype == np.float64
            expected = [None if t.values is None else t.values[place] for t in trials]
            assert all(map(same, table.columns[column].tolist(), expected))
            wanted = {"MINIMIZE": "min", "MAXIMIZE": "max"}[study.directions[place].name]
            assert table.facts[f"direction:{column}"] == wanted
        for trial, cost in zip(trials, table.columns["duration"], strict=True):
            assert same(cost, None if trial.duration is None else trial.duration.total_seconds())
        params = {f"params_{p}" for t in trials for p in t.params}
        assert set(table.configuration) == params
        for place, trial in enumerate(trials):
            for column in params:
                assert same(table.columns[column][place], trial.params.get(column.removeprefix("params_")))


def test_roles_and_facts(store):
    cnn, grid, two = READERS[store.suffix[1:]].read(store)
    assert cnn.roles == {
        "family": "study",
        "order": "number",
        "status": "state",
        "cost": "duration",
        "selection": "value",
    }
    assert (cnn.direction, grid.direction, two.direction) == ("max", "min", None)
    assert cnn.cost_unit == "s"
    assert "selection" not in two.roles
    assert grid.facts["sampler:grid"] == "GridSampler"
    assert two.facts["sampler:two objectives"] == "NSGAIISampler"
    assert not any(fact.startswith("sampler:") for fact in cnn.facts)  # random search leaves no mark
    skipped = {one.where: one.why for one in cnn.skipped}
    assert skipped["study 'cnn', trial 10"] == "queued, never started"
    assert skipped["study 'empty'"] == "it has no trials"
    assert cnn.columns["user_attrs_test.seed"][7] == 7
    assert cnn.columns["intermediate_steps"][5] == 2  # pruned at its second report
    assert cnn.columns["state"].tolist().count("pruned") == 1
    assert math.isinf(cnn.columns["value"][8])


def test_one_study_by_name(store):
    reader = READERS[store.suffix[1:]]
    assert [table.source for table in reader.read(store, study="grid")] == ["grid"]
    with pytest.raises(InputError, match="did you mean 'grid'"):
        reader.read(store, study="grids")


def test_nothing_beside_a_store_is_written(fresh, tmp_path):
    for mode in ("delete", "wal"):
        path = Path(shutil.copy(fresh / "study.db", tmp_path / f"{mode}.db"))
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.close()
        before = path.read_bytes()
        assert len(STORE.read(path)) == 3
        assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["delete.db", "wal.db"]


def test_a_store_whose_writer_was_killed(fresh, tmp_path):
    """What was committed to a write-ahead log counts, though nobody has merged it, and the log is left as it was."""
    live = Path(shutil.copy(fresh / "study.db", tmp_path / "live.db"))
    writer = sqlite3.connect(live)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("UPDATE trial_values SET value = 123.5 WHERE trial_id = 1")
    writer.commit()
    assert STORE.read(live)[0].columns["value"][0] == 123.5  # while the writer still runs
    left = tmp_path / "left"
    left.mkdir()
    for name in ("live.db", "live.db-wal"):
        shutil.copy(tmp_path / name, left / name)
    writer.close()
    before = {p.name: p.read_bytes() for p in left.iterdir()}
    assert STORE.read(left / "live.db")[0].columns["value"][0] == 123.5
    assert {p.name: p.read_bytes() for p in left.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="a folder is never closed to root")
def test_a_store_in_a_folder_one_may_not_write(fresh, tmp_path):
    path = Path(shutil.copy(fresh / "study.db", tmp_path / "study.db"))
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert len(STORE.read(path)) == 3
    finally:
        tmp_path.chmod(0o755)


def test_journal_cut_in_the_middle(fresh, tmp_path):
    whole = (fresh / "study.journal").read_bytes()
    path = tmp_path / "cut.journal"
    path.write_bytes(whole[:-10])
    *_, table = JOURNAL.read(path)
    first = JOURNAL.read(path)[0]
    assert any("ends in the middle" in one.why for one in first.skipped)
    assert table.n_rows == 6
    lines = whole.splitlines(keepends=True)
    lines.insert(4, b'{"op_code": 77, "worker_id": "x"}\n')
    lines.insert(5, b"[1, 2]\n")
    path.write_bytes(b"".join(lines))
    notes = [one.where for one in JOURNAL.read(path)[0].skipped]
    assert "cut.journal, line 5" in notes
    assert "cut.journal, line 6" in notes


def test_what_is_no_store(tmp_path):
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE studies (a)")
    connection.close()
    assert not STORE.recognises(other)
    with pytest.raises(DataError, match="no table trial_params, trials"):
        STORE.read(other)
    text = tmp_path / "text.db"
    text.write_text("not a database at all, but long enough to be one " * 20)
    assert not STORE.recognises(text)
    with pytest.raises(DataError, match="not a readable SQLite database"):
        STORE.read(text)
    with pytest.raises(InputError, match="there is no file or folder"):
        STORE.read(tmp_path / "absent.db")
    assert not STORE.recognises(tmp_path / "absent.db")
    assert not JOURNAL.recognises(text)
    assert not JOURNAL.recognises(tmp_path)
    with pytest.raises(DataError, match="no Optuna journal"):
        JOURNAL.read(text)


def test_damaged_stores_give_only_our_errors(fresh, tmp_path):
    """Bytes flipped anywhere: a table or our own error, never another exception."""
    rng = np.random.default_rng(4)
    whole = (ARTEFACTS / "optuna" / "study.db").read_bytes()
    journal = (fresh / "study.journal").read_bytes()
    outcomes = {"read": 0, "refused": 0}
    for reader, content, suffix in (
        (STORE, whole, "db"),
        (JOURNAL, journal, "log"),
    ):
        for case in range(100):
            damaged = bytearray(content)
            for place in rng.integers(len(content), size=rng.integers(1, 40)):
                damaged[place] = rng.integers(256)
            if case % 5 == 0:
                damaged = damaged[: rng.integers(len(content))]
            path = tmp_path / f"damaged.{suffix}"
            path.write_bytes(damaged)
            reader.recognises(path)
            try:
                tables = reader.read(path)
            except (DataError, InputError):
                outcomes["refused"] += 1
            else:
                outcomes["read"] += 1
                assert all(table.n_rows >= 0 for table in tables)
    assert min(outcomes.values()) > 15  # both ways are really exercised


def test_trials_of_a_store(store):
    """Through the whole pipeline: directions that disagree are refused with the way out, and each study has its own."""
    with pytest.raises(InputError, match=r"different directions.*where=\"study = 'cnn'\""):
        read_trials(store)
    cnn = read_trials(store, where="study == 'cnn'")
    assert (cnn.metric.direction, cnn.n_trials, cnn.n_failed, cnn.n_running) == ("max", 9, 3, 1)
    assert read_trials(store, study="grid").metric.direction == "min"
    two = [read_trials(store, study="two objectives", selection=f"values_{i}").metric.direction for i in range(2)]
    assert two == ["min", "max"]


def test_wrong_cells_lose_no_trial_silently(tmp_path):
    """Any cell of any table replaced by nonsense: every trial is a row or listed, or the store is refused."""
    whole = (ARTEFACTS / "optuna" / "study.db").read_bytes()
    nonsense = ["words", None, 2**62, -1, 1e308, float("inf"), b"\x00\xff", "NaN", '{"a": [', "", "COMPLETE", 0.5]
    rng = np.random.default_rng(11)
    path = tmp_path / "study.db"
    outcomes = {"read": 0, "refused": 0}
    for _ in range(150):
        path.write_bytes(whole)
        with sqlite3.connect(path) as connection:
            tables = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            table = tables[rng.integers(len(tables))]
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            column, value = columns[rng.integers(len(columns))], nonsense[rng.integers(len(nonsense))]
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA synchronous = OFF")  # the test need not survive a power cut
            chosen = f"(SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {rng.integers(4)})"
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = {chosen}", (value,))
            except sqlite3.IntegrityError:
                continue  # a key that may not repeat
            (stored,) = connection.execute("SELECT count(*) FROM trials").fetchone()
        connection.close()
        try:
            tables = STORE.read(path)
        except (DataError, InputError):
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        lost = [one for table in tables for one in table.skipped if one.where.split(", ")[-1].startswith("trial")]
        assert sum(table.n_rows for table in tables) + len(lost) == stored
    assert outcomes["read"] > 75
