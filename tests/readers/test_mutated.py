"""Damaged files of every reader, plain and compressed: one line or trials, within a minute and two gigabytes each.

The default suite damages a hundred files; with ``--long`` it is five thousand, in a process with no more memory.
"""

import bz2
import gzip
import resource
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

try:
    from compression import zstd
except ImportError:  # before Python 3.14
    from backports import zstd

import levelbest as lb
from levelbest.errors import LevelbestError

sys.path.insert(0, str(Path(__file__).parent))
from test_contract import ARTEFACTS, HERE

SECONDS, BYTES = 60, 2 << 30
PLAIN = (".csv", ".tsv", ".json", ".jsonl")


def compressed(path, kind):
    """The file packed, as people send results."""
    data = path.read_bytes()
    target = path.with_name(f"{path.name}.{kind}")
    if kind == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.name, data)
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd.compress}[kind]
        target.write_bytes(pack(data))
    path.unlink()
    return target


def hurt(data, rng):
    """A few places of the bytes changed, removed, doubled or overwritten."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(max(1, len(data))))
        match int(rng.integers(5)):
            case 0:
                data[place : place + 1] = bytes([int(rng.integers(256))])
            case 1:
                del data[place : place + int(rng.integers(1, 60))]
            case 2:
                data[place:place] = data[place : place + int(rng.integers(1, 300))]
            case 3:
                data[place : place + 8] = bytes(rng.integers(0, 256, 8, dtype=np.uint8))
            case _:
                del data[place:]
    return bytes(data)


def check(seed, folder):
    """Damage one file of one artefact and read it; the trials, or the words of our own error."""
    rng = np.random.default_rng(seed)
    _, source, options = ARTEFACTS[seed % len(ARTEFACTS)]
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    if callable(source):
        path = Path(source(home))
    else:
        path = home / Path(source).name
        (shutil.copytree if (HERE / source).is_dir() else shutil.copyfile)(HERE / source, path)
    if path.is_file() and path.suffix in PLAIN and rng.random() < 0.5:
        path = compressed(path, ("gz", "bz2", "zst", "zip")[int(rng.integers(4))])
    files = [path] if path.is_file() else sorted(part for part in path.rglob("*") if part.is_file())
    victim = files[int(rng.integers(len(files)))]
    victim.write_bytes(hurt(victim.read_bytes(), rng))
    signal.alarm(SECONDS)  # a hang ends the process
    try:
        trials = lb.read_trials(path, **options)
        return f"{len(trials)} trials, {len(trials.skipped)} skipped"
    except LevelbestError as error:
        message = str(error)
        assert "\n" not in message, message
        return message
    finally:
        signal.alarm(0)


def test_a_hundred_damaged_files(tmp_path):
    told = [check(seed, tmp_path) for seed in range(4 * len(ARTEFACTS))]
    read = sum(" trials, " in words for words in told)
    assert 0 < read < len(told)  # some damage does not matter, some does


def test_a_file_that_brings_the_engine_down_does_no_harm_to_the_next(tmp_path):
    # this damaged Parquet file ends the engine in DuckDB 2.0; what is read after it must not notice
    check(102133, tmp_path)
    table = tmp_path / "fine.csv"
    table.write_text("model,val_acc\n" + "\n".join(f"a,0.{i}" for i in range(10, 30)))
    parquet = lb.write_trials(lb.read_trials(table), tmp_path / "fine.parquet")
    assert len(lb.read_trials(parquet)) == 20


@pytest.mark.long
def test_five_thousand_damaged_files_within_bounds(tmp_path):
    run = subprocess.run(
        [sys.executable, __file__, "100000", "105000", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.endswith("5000 files\n")


if __name__ == "__main__":
    first, last, where = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    check(0, where)  # what is imported does not count
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
    for number in range(first, last):
        try:
            check(number, where)
        except BaseException:
            print("seed", number, file=sys.stderr)
            raise
    print(f"{last - first} files")
