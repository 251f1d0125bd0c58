"""A ledger that someone changed: every edit is seen, or named as beyond what the file can tell."""

import hashlib
import json
import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from levelbest.cli.main import main
from levelbest.errors import DataError, InputError
from levelbest.run.ledger import Entry, Ledger
from levelbest.run.verify import verify_ledger
from levelbest.run.view import LedgerView
from levelbest.web.data import LiveData

sys.path.insert(0, str(Path(__file__).parent))
from forging import append, damage, rewrite, rows_of, statements
from ledgers import SPACE, ended, make, opening, started

EDIT = "UPDATE records SET {} WHERE seq = 9"
SWAP = """UPDATE records SET body = CASE seq WHEN 9 THEN (SELECT body FROM records WHERE seq = 11)
          ELSE (SELECT body FROM records WHERE seq = 9) END WHERE seq IN (9, 11)"""
COPY = """INSERT INTO records (at, kind, family, trial, attempt, status, body, hash)
          SELECT at, kind, family, trial, attempt, status, body, hash FROM records WHERE seq = 25"""
FAMILY = opening(10)[2]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "s.db"
    make(path).close()
    return path


@pytest.fixture
def ledger(original, tmp_path):
    return Path(shutil.copy(original, tmp_path))


def unmistakable(path: Path, head: str, *words: str) -> None:
    """Verify sees it with and without a head; no report, no page and no further session is made of it."""
    for asked in (None, head):
        problems = " ".join(verify_ledger(path, asked).problems)
        assert all(word in problems for word in words), problems


def refused(path: Path, capsys: pytest.CaptureFixture[str], *, drawn: bool = False) -> str:
    """What verify refuses is neither reported nor shown nor gone on with; the line that a report of it ends in.

    ``drawn``: only drawing the configurations again shows it, which a runner that goes on does not do.
    """
    capsys.readouterr()
    assert main(["describe", str(path)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    for opened in (LiveData,) if drawn else (LiveData, Ledger):
        with pytest.raises(DataError):
            opened(path)
    return output.err


# Changed by hand, hashes as they were: no head is needed to see it.
RAW = {
    "a score": (EDIT.format("body = replace(body, '0.5', '0.9')"), "record 9 (end of cnn trial 1) does not match"),
    "a status": (EDIT.format("status = 'failed'"), "record 9 (end of cnn trial 1) does not match"),
    "a time": (EDIT.format("at = at + 1"), "record 9 (end of cnn trial 1) does not match"),
    "an attempt": (EDIT.format("attempt = 2"), "record 9 (end of cnn trial 1, attempt 2) does not match"),
    "a trial": (EDIT.format("trial = 5"), "record 9 (end of cnn trial 5) does not match"),
    "a kind": (EDIT.format("kind = 'note'"), "is of a kind that this version does not know"),
    "a hash": (EDIT.format("hash = upper(hash)"), "record 9 (end of cnn trial 1) does not match"),
    "half a body": (EDIT.format("body = substr(body, 1, 20)"), "record 9 (end of cnn trial 1) cannot be read"),
    "bytes for a body": (EDIT.format("body = CAST(body AS BLOB)"), "record 9 holds bytes"),
    "bytes for a hash": (EDIT.format("hash = CAST(hash AS BLOB)"), "record 9 holds bytes"),
    "a number for a body": (EDIT.format("body = 5"), "record 9 (end of cnn trial 1) does not match"),
    "a configuration": (
        "UPDATE records SET body = replace(body, '\"lr\":', '\"lr\":1') WHERE seq = 8",
        "not the configuration and seed that the plan draws",
    ),
    "a seed": (
        "UPDATE records SET body = replace(body, '\"seed\":', '\"seed\":1') WHERE seq = 8",
        "record 8 (start of cnn trial 1) does not match",
    ),
    "the metric": ("UPDATE records SET body = replace(body, 'max', 'min') WHERE seq = 1", "record 1 (study) does not"),
    "the environment": ("UPDATE records SET body = '{}' WHERE seq = 2", "record 2 (environment) does not match"),
    "a family's name": (
        "UPDATE records SET body = replace(body, 'cnn', 'gnn') WHERE seq = 3",
        "record 3 (family) does",
    ),
    "a plan": ("UPDATE records SET body = '{\"n_trials\":9}' WHERE seq = 4", "record 4 (plan) does not match its hash"),
    "two bodies swapped": (SWAP, "record 9 (end of cnn trial 1) does not match"),
    "a record deleted": ("DELETE FROM records WHERE seq = 9", "record 9 is missing: deleted"),
    "a trial deleted": ("DELETE FROM records WHERE trial = 3", "records 12 to 13 are missing: deleted"),
    "the beginning deleted": ("DELETE FROM records WHERE seq < 3", "records 1 to 2 are missing: deleted"),
    "the end deleted": ("DELETE FROM records WHERE trial = 9", "the last 2 records are missing: deleted"),
    "everything deleted": ("DELETE FROM records", "the last 25 records are missing: deleted"),
    "a record copied": (COPY, "record 26 (end of cnn trial 9) does not match its hash"),
    "a record before the first": (
        "INSERT INTO records SELECT 0, at, kind, family, trial, attempt, status, body, hash FROM records WHERE seq = 9",
        "has a number below 1",
    ),
    "a number changed": ("UPDATE records SET seq = 40 WHERE seq = 25", "records 25 to 39 are missing"),
}


@pytest.mark.parametrize("name", RAW)
def test_what_was_edited_shows(ledger, name, capsys):
    head = verify_ledger(ledger).head
    statement, words = RAW[name]
    damage(ledger, statement)
    unmistakable(ledger, head, words)
    assert main(["verify", str(ledger)]) == 1
    assert words in " ".join(capsys.readouterr().out.split())
    refused(ledger, capsys)


SCHEMA = {
    "no trigger": (["DROP TRIGGER records_are_never_edited"], "its trigger records_are_never_edited is missing"),
    "another trigger": (
        [
            "DROP TRIGGER records_are_never_edited",
            "CREATE TRIGGER records_are_never_edited BEFORE UPDATE ON records BEGIN SELECT 1; END",
        ],
        "its trigger records_are_never_edited is not the one that levelbest made",
    ),
    "one more trigger": (
        ["CREATE TRIGGER improve AFTER INSERT ON records BEGIN SELECT 1; END"],
        "it holds the trigger improve, which levelbest did not make",
    ),
    "another view": (
        ["DROP VIEW trials", "CREATE VIEW trials AS SELECT 'cnn' AS family, 0.99 AS scores"],
        "its view trials is not the one that levelbest made",
    ),
    "no view": (["DROP VIEW trials"], "its view trials is missing"),
    "one more table": (["CREATE TABLE better (score)"], "it holds the table better, which levelbest did not make"),
    "one more column": (
        ["ALTER TABLE records ADD COLUMN score REAL"],
        "its table records is not the one that levelbest made",
    ),
    "its count of records": (["DELETE FROM sqlite_sequence"], "its count of records was reset"),
    "a trigger that calls itself SQLite's": (
        [
            "PRAGMA writable_schema = ON",
            "INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_improve', 'records', 0, 'CREATE TRIGGER "
            "sqlite_improve AFTER INSERT ON records BEGIN SELECT 1; END')",
        ],
        "it holds the trigger sqlite_improve, which levelbest did not make",
    ),
    "a trigger of the table's name": (
        ["CREATE TRIGGER records AFTER INSERT ON records BEGIN SELECT 1; END"],
        "it holds two objects of the name records",
    ),
    "another comment in the table": (
        [
            "PRAGMA writable_schema = ON",
            "UPDATE sqlite_schema SET sql = replace(sql, '-- JSON', '-- json') WHERE name = 'records'",
        ],
        "its table records is not the one that levelbest made",
    ),
}


@pytest.mark.parametrize("name", SCHEMA)
def test_a_changed_schema_shows(ledger, name, capsys):
    texts, words = SCHEMA[name]
    statements(ledger, *texts)
    code = main(["verify", str(ledger)])
    said = capsys.readouterr()
    assert code == 1
    assert words in said.out + said.err
    refused(ledger, capsys)


def test_what_is_added_to_the_schema_of_an_open_ledger_is_seen_before_the_next_record(tmp_path):
    path = tmp_path / "s.db"
    with make(path, 10, 4) as ledger, LedgerView(path) as view:
        before = view.head
        statements(path, "CREATE TRIGGER improve AFTER INSERT ON records BEGIN SELECT 1; END")
        with pytest.raises(DataError, match="is not written to: it holds the trigger improve"):
            ledger.append([started(4)])
        with pytest.raises(DataError, match="it holds the trigger improve"):
            view.refresh()
        assert view.head == before
        statements(path, "DROP TRIGGER improve")
        ledger.append([started(4)])
        view.refresh()
        assert view.head == ledger.chain.head


def with_score(entry: Entry, score: float) -> Entry:
    entry.body["scores"]["dev"] = score
    return entry


# Appended with hashes that fit: the rules of a ledger are what shows.
FITTING = {
    "a second study": ([opening(10)[0]], "is a second record of the study"),
    "a family declared again": ([FAMILY], "declares family 0 a second time: it is cnn already"),
    "a family of the same name": ([Entry("family", FAMILY.body, 5)], "declares a second family of the name cnn"),
    "a plan that shrinks": ([Entry("plan", {"n_trials": 3}, 0)], "a plan can grow and not shrink"),
    "a plan of nobody": ([Entry("plan", {"n_trials": 30}, 7)], "of a family that the ledger does not declare"),
    "an end that comes again": ([with_score(ended(4), 0.99)], "finishes a trial that is already finished"),
    "a second attempt at what is finished": (
        [started(4, attempt=2), with_score(ended(4, attempt=2), 0.99)],
        "starts a trial that is already finished",
    ),
    "an unknown kind": (
        [Entry("correction", {"trial": 4, "dev": 0.99})],
        "is of a kind that this version does not know",
    ),
    "an unknown status": (
        [Entry("plan", {"n_trials": 11}, 0), started(10), ended(10, status="good")],
        "has the unknown status 'good'",
    ),
    "a trial beyond the plan": ([started(10), ended(10)], "is beyond the plan of 10 trials"),
    "an attempt too many": (
        [Entry("plan", {"n_trials": 11}, 0), started(10, attempt=2), ended(10, attempt=2)],
        "is not the next attempt: 0 were made",
    ),
    "a configuration of one's choice": (
        [Entry("plan", {"n_trials": 11}, 0), Entry("start", {"config": {"lr": 1.0, "units": 8}, "seed": 1}, 0, 10, 1)],
        "is not the configuration and seed that the plan draws",
    ),
    "a score that is no number": (
        [
            Entry("plan", {"n_trials": 11}, 0),
            started(10),
            Entry("end", {**ended(10).body, "scores": {"dev": "1"}}, 0, 10, 1, "ok"),
        ],
        "its scores is not what it must be",
    ),
    "a score beyond the bounds": (
        [
            Entry("plan", {"n_trials": 11}, 0),
            started(10),
            Entry("end", {**ended(10).body, "scores": {"dev": 0.5, "test": 1.5}}, 0, 10, 1, "ok"),
        ],
        "has test = 1.5, outside the bounds of its study",
    ),
    "a fingerprint of another definition": (
        [Entry("family", {**FAMILY.body, "name": "gnn", "fingerprint": "0" * 64}, 1)],
        "has a fingerprint that is not that of its definition",
    ),
    "a family and its results again": (
        [FAMILY, Entry("plan", {"n_trials": 10}, 0)]
        + [entry for trial in range(10) for entry in (started(trial), with_score(ended(trial), 0.99))],
        "declares family 0 a second time",
    ),
}


@pytest.mark.parametrize("name", FITTING)
def test_results_replaced_with_fitting_hashes_show(ledger, name, capsys):
    """Nothing that was there is touched, so that an old head is still in it."""
    head = verify_ledger(ledger).head
    entries, words = FITTING[name]
    append(ledger, entries)
    unmistakable(ledger, head, words)
    assert main(["verify", str(ledger), "--head", head]) == 1
    capsys.readouterr()
    assert words in refused(ledger, capsys, drawn="draws" in words)


def better(rows):
    for row in rows:
        if row[2] == "end":
            row[7] = row[7].replace('"dev":0.', '"dev":0.9')
    return rows


def without_the_worst(rows):
    kept = [row for row in rows if row[4] is None or row[4] < 8]
    kept[3][7] = '{"n_trials":8}'
    return kept


# What no file can tell by itself: verify says so, and a published head tells.
BEYOND = {
    "every score and every hash": lambda path: rewrite(path, better),
    "the last trials, and the count of records": lambda path: damage(
        path, "DELETE FROM records WHERE seq > 19", "UPDATE sqlite_sequence SET seq = 19"
    ),
    "trials left out and all hashes recomputed": lambda path: rewrite(path, without_the_worst),
    "another environment, and all hashes recomputed": lambda path: rewrite(
        path, lambda rows: [rows[0], [*rows[1][:7], '{"python": "2"}'], *rows[2:]]
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_the_file_cannot_tell_is_said(ledger, name, capsys):
    head = verify_ledger(ledger).head
    assert verify_ledger(ledger, head).not_known == ()
    BEYOND[name](ledger)
    assert main(["verify", str(ledger)]) == 0
    assert "Whether records were cut off at its end, or the whole ledger was rewritten, can only be checked" in (
        capsys.readouterr().out.replace("\n", " ")
    )
    assert "Whether records were cut off" in verify_ledger(ledger).to_dict()["not_known"][0]
    assert main(["verify", str(ledger), "--head", head]) == 1
    assert "records were deleted or rewritten" in capsys.readouterr().out


def test_a_longer_plan_with_invented_results_is_not_vouched_for(ledger):
    head = verify_ledger(ledger).head
    append(ledger, [Entry("plan", {"n_trials": 11}, 0), started(10), with_score(ended(10), 0.999)])
    found = verify_ledger(ledger, head)
    assert found.whole
    assert found.grown == 3
    assert "does not cover the 3 records since" in str(found)


def test_a_copy_without_its_log_is_said(tmp_path):
    path, copy = tmp_path / "s.db", tmp_path / "copy" / "s.db"
    copy.parent.mkdir()
    runner = make(path)
    shutil.copy(path, copy)
    whole = verify_ledger(path)
    assert whole.whole
    assert not whole.log_absent
    cut = verify_ledger(copy)
    assert cut.log_absent
    assert "no s.db-wal beside it: if this is a copy, the latest records may have been left behind" in str(cut)
    shutil.copy(f"{path}-wal", f"{copy}-wal")
    assert verify_ledger(copy).head == whole.head
    runner.close()
    assert not verify_ledger(path).log_absent  # closed: one plain file


def test_the_page_shows_no_head_beside_scores_that_do_not_hash_to_it(tmp_path):
    ledger = make(tmp_path / "s.db", 10, 4)
    data = LiveData(tmp_path / "s.db")
    before = json.loads(data.state())
    assert before["head"] == ledger.chain.head
    append(tmp_path / "s.db", [with_score(ended(2), 0.99)])
    after = json.loads(data.state())
    assert "finishes a trial that is already finished" in after["problem"]
    assert (after["head"], after["families"]) == (before["head"], before["families"])
    data.close()
    ledger.close()


def test_a_head_has_enough_digits_that_nobody_finds_another_like_it(ledger):
    head = verify_ledger(ledger).head
    assert verify_ledger(ledger, head[:32]).whole
    for short in (head[:31], "g" * 32, ""):
        with pytest.raises(InputError, match="at least the first 32 of them"):
            verify_ledger(ledger, short)


def test_a_log_is_in_the_chain_by_its_hash(tmp_path):
    path, logs = tmp_path / "s.db", tmp_path / "s.db.logs" / "cnn"
    logs.mkdir(parents=True)
    (logs / "0-1.log").write_text("as it was\n")
    digest = hashlib.sha256(b"as it was\n").hexdigest()
    with Ledger.create(path, opening(1)) as ledger:
        ledger.append([started(0)])
        body = {**ended(0).body, "log": "cnn/0-1.log", "log_hash": digest}
        ledger.append([Entry("end", body, 0, 0, 1, "ok")])
    with LedgerView(path) as view:
        assert view.log("cnn", 0) == "as it was\n"
        assert verify_ledger(path).whole
        (logs / "0-1.log").write_text("as it is now\n")
        assert view.log("cnn", 0) == "This log is not the one that was written, and is not shown."
        assert verify_ledger(path).problems == ("the log of cnn trial 0 is not the one that was written",)
        (logs / "0-1.log").unlink()
        assert view.log("cnn", 0) == ""
        assert verify_ledger(path).whole
        assert "one log of the ledger's is not beside it" in str(verify_ledger(path))


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_log_that_is_no_file_of_its_folder_is_not_shown(tmp_path, kind):
    path, logs, private = tmp_path / "s.db", tmp_path / "s.db.logs" / "cnn", tmp_path / "private"
    logs.mkdir(parents=True)
    private.write_text("swordfish")
    if kind == "link":
        (logs / "0-1.log").symlink_to(private)
    elif kind == "pipe":
        os.mkfifo(logs / "0-1.log")
    else:
        logs.rmdir()
        logs.symlink_to(tmp_path)
        (tmp_path / "0-1.log").write_text("swordfish")
    with Ledger.create(path, opening(1)) as ledger:
        ledger.append([started(0)])
        ledger.append([Entry("end", {**ended(0).body, "log": "cnn/0-1.log"}, 0, 0, 1, "ok")])
    with LedgerView(path) as view:
        assert view.log("cnn", 0) == "This log is not a file in the ledger's folder of logs, and is not shown."


def test_the_documented_view_is_that_of_the_records(ledger):
    connection = sqlite3.connect(ledger)
    seen = {trial: json.loads(config) for trial, config in connection.execute("SELECT trial, config FROM trials")}
    connection.close()
    assert seen == {trial: SPACE.draw(3, 0, trial)[0] for trial in range(10)}
    assert len(rows_of(ledger)) == 25
