"""Small files that stand for much: limits are stated, can be raised, and hold before memory does."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import zipfile

import pytest

try:
    from compression import zstd
except ImportError:  # before Python 3.14
    from backports import zstd

import levelbest as lb
from levelbest.errors import DataError, InputError


def packed(path, data):
    """The same bytes in the compression of the path's ending."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.stem, data)
        return path
    if path.suffix == ".zst":
        path.write_bytes(zstd.compress(data))
        return path
    path.write_bytes({".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[path.suffix](data))
    return path


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zip", ".zst"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "json"])
def test_what_unpacks_to_more_than_the_limit_is_refused(tmp_path, monkeypatch, kind, ending):
    row = {"csv": b"a,0.5\n", "jsonl": b'{"val_acc": 0.5}\n', "json": b'{"val_acc": 0.5},'}[kind] * 20_000
    text = {"csv": b"model,val_acc\n" + row, "jsonl": row, "json": b"[" + row[:-1] + b"]"}[kind]
    path = packed(tmp_path / f"runs.{kind}{ending}", text)
    assert lb.read_trials(path).n_trials == 20_000
    monkeypatch.setenv("LEVELBEST_MAX_EXPANDED", "60KB")
    with pytest.raises(DataError, match=r"unpacks to more than .*LEVELBEST_MAX_EXPANDED"):
        lb.read_trials(path)


def test_large_compressed_tables_are_counted_too(tmp_path, monkeypatch):
    from levelbest.readers.formats import plain

    monkeypatch.setattr(plain, "IN_MEMORY_UP_TO", 10_000)
    path = packed(tmp_path / "runs.csv.gz", b"model,val_acc\n" + b"a,0.5\n" * 100_000)
    assert lb.read_trials(path).n_trials == 100_000
    monkeypatch.setenv("LEVELBEST_MAX_EXPANDED", "100KB")
    with pytest.raises(DataError, match="unpacks to more than"):
        lb.read_trials(path)


def test_columns_and_families_are_limited(monkeypatch):
    monkeypatch.setenv("LEVELBEST_MAX_COLUMNS", "50")
    columns = {f"x{i}": [1.0] for i in range(60)} | {"val_acc": [0.5]}
    with pytest.raises(DataError, match=r"has 61 columns, and at most 50 are read.*LEVELBEST_MAX_COLUMNS"):
        lb.read_trials(columns)
    monkeypatch.setenv("LEVELBEST_MAX_FAMILIES", "5")
    with pytest.raises(DataError, match="has 6 families, and at most 5 are read"):
        lb.read_trials({"model": list("abcdef") * 2, "val_acc": [0.5] * 12})
    monkeypatch.setenv("LEVELBEST_MAX_FAMILIES", "many")
    with pytest.raises(InputError, match="LEVELBEST_MAX_FAMILIES must be a number"):
        lb.read_trials({"model": list("ab") * 2, "val_acc": [0.5] * 4})


def bomb(path, ending, size):
    """A compressed file of one repeated line; a few kilobytes for each gigabyte."""
    line = {"csv": b"a,0.5\n", "json": b'{"val_acc": 0.5},\n'}[ending] * 10_000
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"model,val_acc\n" if ending == "csv" else b"[")
        for _ in range(size // len(line)):
            file.write(line)
    return path


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_bomb_is_refused_within_memory(tmp_path, ending):
    """300 MB from about a megabyte, with 1 GB of address space beyond what the imports take."""
    path = bomb(tmp_path / f"runs.{ending}.gz", ending, 300_000_000)
    code = (
        "import resource, duckdb, numpy, levelbest as lb, sys\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 10**9,) * 2)\n"
        "try:\n    lb.read_trials(sys.argv[1])\nexcept lb.DataError as error:\n    print(error)\n"
    )
    limited = {**os.environ, "LEVELBEST_MAX_EXPANDED": "200MB"}
    command = [sys.executable, "-c", code, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, env=limited, check=False)
    assert "unpacks to more than" in run.stdout, run.stderr[-500:]


def test_an_archive_is_counted(tmp_path, monkeypatch):
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for job in range(5):
            archive.writestr(f"{job}/.hydra/config.yaml", f"lr: 0.{job + 1}\n")
            archive.writestr(f"{job}/metrics.json", json.dumps({"val_acc": 0.5, "pad": "x" * 50_000}))
    assert lb.read_trials(path).n_trials == 5
    monkeypatch.setenv("LEVELBEST_MAX_EXPANDED", "100KB")
    with pytest.raises(DataError, match="unpacks to more than"):
        lb.read_trials(path)
