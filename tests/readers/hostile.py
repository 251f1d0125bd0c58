"""Folders, files and databases made to hang a reader, to fill its memory, or to show it somebody's secrets."""

import gzip
import json
import os
import socket
import sqlite3
import struct

SECRET = "swordfish"
TABLE = "model,val_acc,test_acc\n" + "".join(f"{'ab'[i % 2]},0.{i + 10},0.{i + 20}\n" for i in range(12))
CASES = {}


def case(make):
    """Every function here makes one hostile source in an empty folder and returns its path."""
    CASES[make.__name__] = make
    return make


def _beside(folder, name="good.csv"):
    (folder / name).write_text(TABLE)
    return folder


def _pipe(name):
    def make(folder):
        os.mkfifo(folder / name)
        return _beside(folder)

    make.__name__ = f"pipe_called_{name.replace('.', '_')}"
    return case(make)


for _name in (
    "runs.csv",
    "runs.json",
    "runs.jsonl",
    "runs.parquet",
    "events.out.tfevents.1",
    "run-a.wandb",
    "log.eval",
):
    _pipe(_name)


def _named_pipe(name):
    def make(folder):
        os.mkfifo(folder / name)
        return folder / name

    make.__name__ = f"the_pipe_{name.replace('.', '_')}"
    return case(make)


for _name in ("runs.csv", "runs.json", "runs.db", "runs.parquet", "runs.tar.gz", "runs.zip"):
    _named_pipe(_name)


def _link(name, target):
    def make(folder):
        (folder / name).symlink_to(target)
        return _beside(folder)

    make.__name__ = f"link_{name.replace('.', '_')}_to{target.replace('/', '_')}"
    return case(make)


for _name, _target in (
    ("a.csv", "/dev/zero"),
    ("a.json", "/dev/zero"),
    ("a.jsonl", "/dev/random"),
    ("a.parquet", "/dev/full"),
    ("a.csv", "/dev/tty"),
    ("a.json", "/proc/kcore"),
    ("a.csv", "/proc/kmsg"),
    ("a.json", "/proc/self/environ"),
    ("a", "/proc"),
    ("runs.csv", "runs.csv"),
):
    _link(_name, _target)


@case
def a_socket(folder):
    listening = socket.socket(socket.AF_UNIX)
    here = os.open(folder, os.O_RDONLY)
    listening.bind(f"/proc/self/fd/{here}/runs.csv")  # a socket's own path must be short
    listening.close()
    os.close(here)
    return _beside(folder)


@case
def a_device_by_name(folder):
    (folder / "runs.csv").symlink_to("/dev/zero")
    return folder / "runs.csv"


@case
def the_kernel_s_folder(folder):
    (folder / "results").symlink_to("/proc/self")
    return folder / "results"


@case
def a_private_file_linked(folder):
    inner = folder / "results"
    inner.mkdir()
    (folder / "private.csv").write_text(f"model,val_acc\n{SECRET},0.99\n{SECRET},0.98\n")
    (inner / "runs.csv").symlink_to(folder / "private.csv")
    return _beside(inner)


@case
def a_private_configuration_linked(folder):
    run = folder / "results" / "run" / ".hydra"
    run.mkdir(parents=True)
    (folder / "private.yaml").write_text(f"password: {SECRET}\n")
    (run / "config.yaml").symlink_to(folder / "private.yaml")
    (run.parent / "metrics.json").write_text('{"val_acc": 0.5}')
    return folder / "results"


@case
def links_in_a_circle(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "outer").symlink_to(folder)
    (folder / "a.csv").symlink_to(folder / "b.csv")
    (folder / "b.csv").symlink_to(folder / "a.csv")
    return _beside(folder)


@case
def very_deep_folders(folder):
    place = folder
    for _ in range(200):
        place = place / "deep"
    place.mkdir(parents=True)
    return _beside(folder)


def _sparse(name, start):
    def make(folder):
        with open(folder / name, "wb") as file:
            file.write(start)
            file.truncate(1 << 36)
        return folder / name

    make.__name__ = f"sparse_{name.replace('.', '_')}"
    return case(make)


for _name, _start in (
    ("runs.json", b"[1, "),
    ("runs.jsonl", b'{"a": 1}\n'),
    ("trainer_state.json", b'{"log_history": ['),
):
    _sparse(_name, _start)


@case
def yaml_that_refers_to_itself(folder):
    run = folder / "run" / ".hydra"
    run.mkdir(parents=True)
    levels = ["a0: &a0 {x: 1, y: 2}"]
    levels += [f"a{i}: &a{i} {{{', '.join(f'k{j}: *a{i - 1}' for j in range(9))}}}" for i in range(1, 12)]
    (run / "config.yaml").write_text("\n".join(levels))
    (run.parent / "metrics.json").write_text('{"val_acc": 0.5}')
    return folder


@case
def an_event_longer_than_memory(folder):
    from levelbest.readers.formats.tensorboard import _masked_crc32c

    length = struct.pack("<Q", 1 << 45)
    (folder / "events.out.tfevents.1").write_bytes(length + struct.pack("<I", _masked_crc32c(length)) + b"x" * 100)
    return folder


@case
def packed_a_thousandfold(folder):
    (folder / "runs.json.gz").write_bytes(gzip.compress(b"[" + b" " * (1 << 28)))
    return folder / "runs.json.gz"


def _optuna(folder, *, fill="", check=""):
    """A database with the tables of Optuna's, and a column of trials as given."""
    path = folder / "study.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE version_info (version_info_id INTEGER PRIMARY KEY, schema_version INTEGER, "
            "library_version TEXT);"
            "CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name TEXT);"
            "CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction TEXT, study_id INTEGER, "
            "objective INTEGER);"
            f"CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER{check}, state TEXT, "
            "datetime_start TEXT, datetime_complete TEXT);"
            "CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name TEXT, "
            "param_value FLOAT, distribution_json TEXT);"
            "CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, "
            "value FLOAT, value_type TEXT);"
            "INSERT INTO version_info VALUES (1, 12, '4.0.0');"
            "INSERT INTO studies VALUES (1, 'tune');"
            "INSERT INTO study_directions VALUES (1, 'MAXIMIZE', 1, 0);" + fill
        )
    database.close()
    return path


_TRIAL = (
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
    "INSERT INTO trials (trial_id, number, study_id, state) SELECT i, i, 1, 'COMPLETE' FROM n;"
)


@case
def a_column_of_zeros(folder):
    return _optuna(folder, fill=_TRIAL, check=", more BLOB AS (zeroblob(60000000))")


@case
def a_column_of_text(folder):
    return _optuna(folder, fill=_TRIAL, check=", more TEXT AS (printf('%.60000000c', 'x'))")


@case
def a_view_for_a_table(folder):
    path = _optuna(folder)
    endless = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE trials")
        database.execute(
            f"CREATE VIEW trials AS {endless} SELECT i AS trial_id, i AS number, 1 AS study_id, 'COMPLETE' AS state, "
            "NULL AS datetime_start, NULL AS datetime_complete FROM n"
        )
    database.close()
    return path


def _pipe_beside(ending):
    def make(folder):
        path = _optuna(folder, fill=_TRIAL)
        os.mkfifo(folder / f"study.db{ending}")
        return path

    make.__name__ = f"a_pipe_for_{ending[1:]}"
    return case(make)


for _ending in ("-wal", "-journal", "-shm"):
    _pipe_beside(_ending)


@case
def pages_counted_many_times(folder):
    """Interior pages whose cells all point to one child: a few pages stand for billions of rows."""
    path = _optuna(folder, fill=_TRIAL.replace("i < 99", "i < 20000"))
    data = bytearray(path.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    interior = [page for page in range(1, len(data) // size) if data[page * size] == 5]
    assert interior
    for page in interior:
        base = page * size
        count = struct.unpack(">H", data[base + 3 : base + 5])[0]
        places = struct.unpack(f">{count}H", data[base + 12 : base + 12 + 2 * count])
        child = data[base + places[0] : base + places[0] + 4]
        for place in places:
            data[base + place : base + place + 4] = child
    path.write_bytes(data)
    return path


@case
def a_database_cut_short(folder):
    path = _optuna(folder, fill=_TRIAL)
    path.write_bytes(path.read_bytes()[:5000])
    return path


@case
def a_long_number_in_a_name(folder):
    columns = f"params,mean_fit_time,mean_score_time,mean_test_score,split{'1' * 5000}_test_score"
    (folder / "cv.csv").write_text(f"{columns}\nx,1,1,0.5,0.5\ny,1,1,0.6,0.6\n")
    return folder / "cv.csv"


@case
def a_date_in_a_list(folder):
    (folder / "runs.csv").write_text('model,"val_acc [2026-01-01.0, 1.0]"\na,0.5\na,0.6\nb,0.5\nb,0.6\n')
    return folder / "runs.csv"


@case
def nested_a_hundred_thousand_deep(folder):
    (folder / "runs.json").write_text("[" * 100_000 + "]" * 100_000)
    return folder / "runs.json"


@case
def a_million_columns(folder):
    (folder / "runs.csv").write_text(
        ",".join(["model", "val_acc", *(f"c{i}" for i in range(999_998))]) + "\n" + ",".join(["1"] * 1_000_000) + "\n"
    )
    return folder / "runs.csv"


@case
def keys_without_end(folder):
    (folder / "runs.json").write_text(json.dumps([{f"k{i}_{j}": 1 for j in range(500)} for i in range(200)]))
    return folder / "runs.json"
