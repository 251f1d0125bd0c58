"""The ledger: append-only, chained, whole after any power cut, and clear about what it cannot do."""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from levelbest._ledger.file import connect_to_read
from levelbest.errors import DataError, InputError
from levelbest.run.ledger import CannotWrite, Ledger
from levelbest.run.lock import hold_ledger
from levelbest.run.verify import verify_ledger
from levelbest.run.view import LedgerView

sys.path.insert(0, str(Path(__file__).parent))
from forging import damage, rewrite
from ledgers import SPACE, ended, make, opening, started


def test_a_ledger_at_rest_is_one_plain_whole_file(tmp_path):
    make(tmp_path / "s.db").close()
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]
    found = verify_ledger(tmp_path / "s.db")
    assert found.whole
    assert found.families == (("cnn", 10, 10, 0),)
    assert found.n_records == 5 + 20
    assert "none deleted or edited" in str(found)
    assert f"head {found.head}" in str(found)


def test_the_hash_is_the_documented_one(tmp_path):
    make(tmp_path / "s.db", 2, 2).close()
    previous = ""
    connection = sqlite3.connect(tmp_path / "s.db")
    rows = connection.execute("SELECT * FROM records ORDER BY seq").fetchall()
    connection.close()
    for row in rows:
        fields = json.dumps(list(row[:-1]))
        previous = hashlib.sha256(previous.encode() + b"\n" + fields.encode()).hexdigest()
        assert previous == row[-1]


def test_records_cannot_be_edited_or_deleted_by_accident(tmp_path):
    make(tmp_path / "s.db", 2, 2).close()
    connection = sqlite3.connect(tmp_path / "s.db")
    for statement in ("DELETE FROM records WHERE seq = 9", "UPDATE records SET status = 'ok'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM records WHERE seq = 9", "record 9 is missing: deleted"),
        ("DELETE FROM records WHERE trial = 3", "records 12 to 13 are missing: deleted"),
        ("DELETE FROM records WHERE trial = 9", "the last 2 records are missing: deleted"),
        ("DELETE FROM records WHERE seq = 1", "record 1 is missing"),
        (
            "UPDATE records SET body = replace(body, '0.5', '0.9') WHERE seq = 9",
            "record 9 .end of cnn trial 1. does not",
        ),
        ("UPDATE records SET status = 'failed' WHERE seq = 9", "record 9 .end of cnn trial 1. does not match its hash"),
        ("UPDATE records SET at = at + 1 WHERE seq = 3", "record 3 .family. does not match its hash"),
        ("UPDATE records SET body = '{' WHERE seq = 3", "record 3 .family. cannot be read"),
        ("DELETE FROM records", "the last 25 records are missing"),
    ],
)
def test_a_deleted_or_edited_record_shows(tmp_path, statement, sentence):
    make(tmp_path / "s.db").close()
    damage(tmp_path / "s.db", statement)
    found = verify_ledger(tmp_path / "s.db")
    assert not found.whole
    assert any(re.search(sentence, problem) for problem in found.problems), found.problems


def test_a_forged_chain_shows_by_the_published_head_and_by_the_draws(tmp_path):
    make(tmp_path / "s.db").close()
    head = verify_ledger(tmp_path / "s.db").head
    assert verify_ledger(tmp_path / "s.db", head).grown == 0
    assert verify_ledger(tmp_path / "s.db", head[:32].upper()).whole

    dropped = tmp_path / "dropped.db"
    shutil.copy(tmp_path / "s.db", dropped)
    rewrite(dropped, lambda rows: [row for row in rows if row[4] != 4])
    assert verify_ledger(dropped).whole  # nothing but the published head can tell
    assert "records were deleted or rewritten" in verify_ledger(dropped, head).problems[0]

    swapped = tmp_path / "swapped.db"
    shutil.copy(tmp_path / "s.db", swapped)

    def other_configuration(rows):
        for row in rows:
            if row[2] == "start" and row[4] == 4:
                row[7] = row[7].replace('"lr":', '"lr":1')
        return rows

    rewrite(swapped, other_configuration)
    assert "not the configuration and seed that the plan draws" in verify_ledger(swapped).problems[0]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([ended(0)], "ends an attempt that did not start"),
        ([started(0), started(0)], "starts a trial that is already open"),
        ([started(0), ended(0), started(0)], "starts a trial that is already finished"),
        ([started(0), ended(0, attempt=2)], "ends an attempt that did not start"),
        ([started(12)], "beyond the plan of 10"),
        ([started(0), ended(0, status="fine")], "unknown status 'fine'"),
        ([started(0, family=7)], "does not declare"),
    ],
)
def test_records_out_of_place_show(tmp_path, entries, sentence):
    with Ledger.create(tmp_path / "s.db", opening(10)) as ledger, pytest.raises(DataError, match=sentence):
        ledger.append(entries)
    with pytest.raises(DataError, match=sentence):  # nobody goes on with it either
        Ledger(tmp_path / "s.db")
    assert sentence in " ".join(verify_ledger(tmp_path / "s.db").problems)


def test_a_head_grows_and_stays_in_the_chain(tmp_path):
    ledger = make(tmp_path / "s.db", 10, 4)
    early = ledger.chain.head
    ledger.append([started(4), ended(4)])
    ledger.close()
    found = verify_ledger(tmp_path / "s.db", early)
    assert found.whole
    assert found.grown == 2
    with pytest.raises(InputError, match="at least the first 32"):
        verify_ledger(tmp_path / "s.db", "abc")


def commits_within(log: bytes, upto: int) -> int:
    """How many commit frames of a write-ahead log lie wholly within its first bytes, by SQLite's file format."""
    page = struct.unpack(">I", log[8:12])[0]
    count, at = 0, 32
    while at + 24 + page <= upto:
        count += struct.unpack(">I", log[at + 4 : at + 8])[0] != 0
        at += 24 + page
    return count


def test_a_power_cut_leaves_exactly_the_trials_whose_end_was_complete(tmp_path):
    ledger = Ledger.create(tmp_path / "s.db", opening(40))
    assert ledger._connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    assert ledger._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    ledger.append([started(0)])
    for trial in range(30):  # as the loop does it: an end and the next start share a commit
        ledger.append([ended(trial), started(trial + 1)])
    main, log = (tmp_path / "s.db").read_bytes(), (tmp_path / "s.db-wal").read_bytes()
    assert commits_within(log, len(log)) == 31

    rng = np.random.default_rng(0)
    seen = set()
    for at in [0, 1, 31, 32, 33, len(log) - 1, len(log), *rng.integers(0, len(log), 45).tolist()]:
        # Cut clean, or torn into garbage.
        tail = b"" if rng.random() < 0.5 else rng.bytes(5000)
        cut = tmp_path / "cut.db"
        cut.write_bytes(main)
        Path(f"{cut}-wal").write_bytes(log[:at] + tail)
        whole = max(0, commits_within(log, at) - 1)
        found = verify_ledger(cut)
        assert found.whole, found.problems
        assert found.families == (("cnn", 40, whole, 0),)
        with Ledger(cut) as again:
            progress = again.chain.families.get(0)
            assert set(progress.ends if progress else ()) == set(range(whole))
            again.append([ended(whole)] if progress and progress.open else [started(0)])
        assert verify_ledger(cut).whole
        seen.add(whole)
        for left in tmp_path.glob("cut.db*"):
            left.unlink()
    assert {0, 30} <= seen
    assert len(seen) > 15
    ledger.close()


def test_a_full_disk_adds_nothing_and_goes_on_when_there_is_room(tmp_path):
    ledger = make(tmp_path / "s.db", 10, 3)
    pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
    ledger._connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then answers as on a full disk
    head = ledger.chain.head
    long = ended(3)
    long.body["reason"] = "x" * 100_000
    ledger.append([started(3)])
    before = ledger.chain.head
    with pytest.raises(CannotWrite, match="disk is full"):
        ledger.append([long])
    assert ledger.chain.head == before != head
    ledger._connection.execute("PRAGMA max_page_count = 1000000")
    ledger.append([long])
    ledger.close()
    assert verify_ledger(tmp_path / "s.db").families == (("cnn", 10, 4, 0),)


def test_progress_says_what_to_run_again(tmp_path):
    with Ledger.create(tmp_path / "s.db", opening(10, ("a", "b"))) as ledger:
        ledger.append([started(0), ended(0), started(1), ended(1, status="failed"), started(2)])
        killed = [ended(3, attempt=attempt, status="lost") for attempt in (1, 2)]
        killed[1].body["blame"] = "outside"
        ledger.append([started(3), killed[0], started(3, attempt=2), killed[1]])
        ledger.append([started(4, 1), ended(4, 1, status="interrupted"), started(4, 1, 2), ended(4, 1, 2)])
        progress = ledger.chain.families
    assert {trial: end.status for trial, end in progress[0].ends.items()} == {0: "ok", 1: "failed"}
    assert progress[0].open == {2}
    assert progress[0].attempts == {2: 1, 3: 2}
    assert progress[0].killed == {3: 1}  # the machinery lost the first one
    assert {trial: end.status for trial, end in progress[1].ends.items()} == {4: "ok"}
    assert not progress[1].open
    assert not progress[1].attempts


def test_a_view_follows_a_ledger_as_it_grows(tmp_path):
    ledger = Ledger.create(tmp_path / "s.db", opening(10, ("a", "b")))
    view = LedgerView(tmp_path / "s.db")
    assert view.family("a").n_planned == 10
    assert not view.finished
    assert view.refresh() == 0
    ledger.append([started(0), started(1), started(2), ended(1, dev=0.25), ended(2, status="failed")])
    assert view.refresh() == 5
    a = view.family("a")
    assert (len(a.ends), len(a.failed), a.prefix) == (2, 1, 0)  # trial 0 still runs: nothing is a fair sample yet
    assert a.scores("dev").size == 0
    ledger.append([ended(0, dev=0.75)])
    view.refresh()
    assert a.prefix == 3
    np.testing.assert_array_equal(a.scores("dev"), [0.75, 0.25, np.nan])
    assert a.failed == [2]
    assert view.configuration("a", 1) == SPACE.draw(3, 0, 1)
    assert view.head == ledger.chain.head
    assert view.log("a", 2) == ""
    with pytest.raises(InputError, match="has not started"):
        view.configuration("b", 0)
    with pytest.raises(InputError, match="no family 'c'; it has a, b"):
        view.configuration("c", 0)
    view.close()
    ledger.close()


def test_a_log_is_read_from_the_ledgers_own_folder_alone(tmp_path):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "s.db.logs").mkdir()
    (tmp_path / "s.db.logs" / "0.log").write_bytes(b"first\nlast \xff")
    with Ledger.create(tmp_path / "s.db", opening(3)) as ledger:
        for trial, log in enumerate(["0.log", "../secret", str(tmp_path / "secret")]):
            end = ended(trial, status="failed")
            end.body["log"] = log
            ledger.append([started(trial), end])
    view = LedgerView(tmp_path / "s.db")
    assert [view.log("cnn", trial) for trial in range(3)] == ["first\nlast �", "", ""]
    assert view.log("cnn", 0, most=6) == "last �"
    view.close()


def test_a_newer_ledger_is_refused_and_left_alone(tmp_path):
    make(tmp_path / "s.db", 2, 2).close()
    connection = sqlite3.connect(tmp_path / "s.db")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = (tmp_path / "s.db").read_bytes()
    for use in (Ledger, LedgerView, verify_ledger):
        with pytest.raises(DataError, match=r"newer levelbest \(ledger version 2; this one knows up to 1\): upgrade"):
            use(tmp_path / "s.db")
    assert (tmp_path / "s.db").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0" + bytes(200)])
def test_another_file_is_never_overwritten(tmp_path, content):
    (tmp_path / "s.db").write_bytes(content)
    with pytest.raises(InputError, match="not a ledger of levelbest, and is left as it is"):
        Ledger(tmp_path / "s.db")
    with pytest.raises(InputError, match="already there and is not overwritten"):
        Ledger.create(tmp_path / "s.db", opening(1))
    assert (tmp_path / "s.db").read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot be made in the folder .*absent: No such file"):
        Ledger.create(tmp_path / "absent" / "s.db", opening(1))
    if Path("/proc/self").exists():  # a folder that not even root can write
        with pytest.raises(InputError, match="choose a folder that exists and can be written"):
            Ledger.create(Path("/proc/self/s.db"), opening(1))
        with (
            pytest.raises(InputError, match="choose a folder that exists and can be written"),
            hold_ledger(Path("/proc/s")),
        ):
            pass
    with pytest.raises(InputError, match="there is no ledger"):
        verify_ledger(tmp_path / "absent.db")


def test_a_ledger_at_rest_is_read_without_writing_beside_it(tmp_path):
    make(tmp_path / "s.db", 2, 2).close()
    before = (tmp_path / "s.db").read_bytes()
    connection = connect_to_read(tmp_path / "s.db")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("INSERT INTO records VALUES (99, 0, '', 0, 0, 0, '', '', '')")
    connection.close()
    assert (tmp_path / "s.db").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]


HOLD = """
import sys, time
from pathlib import Path
from levelbest.run.lock import hold_ledger
with hold_ledger(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_runner_is_refused_and_the_first_ones_process_named(tmp_path):
    path = tmp_path / "s.db"
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout.readline() == "held\n"
    with pytest.raises(DataError, match=rf"s.db is already being run by process {first.pid}, since"), hold_ledger(path):
        pass
    first.kill()  # however it dies, the ledger is free
    first.communicate()
    with hold_ledger(path):
        with pytest.raises(DataError, match="by this process"), hold_ledger(path):
            pass
        child = os.fork()
        if child == 0:  # a forked worker does not take the hold with it
            os._exit(0)
        os.waitpid(child, 0)
        refused = subprocess.run(
            [sys.executable, "-c", HOLD, path], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert f"process {os.getpid()}" in refused.stderr
