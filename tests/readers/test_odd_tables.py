"""Odd tables: our own error or trials, nothing lost unsaid, no role taken without a word of it.

The default suite reads a part of them; with ``--long`` it is 500. Damaged files are in ``test_mutated``, records with a
value changed in ``test_mutated_records``.
"""

import csv
import io
import json
import shutil

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import LevelbestError

SCORES = ["val_acc", "valid.loss", "score", "test_acc", "dev f1", "acc", "passed", "RMSE", "reward", "metrics.auc"]
OTHERS = {
    "model": lambda rng, n: [f"m{x}" for x in rng.integers(0, 3, n)],
    "arch": lambda _, n: [f"net {x}" for x in range(n)],
    "test_acc": lambda rng, n: rng.random(n).round(4).tolist(),
    "lr": lambda rng, n: (10.0 ** rng.uniform(-4, 0, n)).tolist(),
    "layers": lambda rng, n: rng.integers(1, 5, n).tolist(),
    "seed": lambda rng, n: rng.integers(0, 5, n).tolist(),
    "epoch": lambda _, n: [x % 7 for x in range(n)],
    "run": lambda _, n: [f"r{x // 7}" for x in range(n)],
    "step": lambda _, n: list(range(n)),
    "runtime": lambda rng, n: [f"{x}:{y:02d}" for x, y in rng.integers(0, 60, (n, 2))],
    "gpu_hours": lambda rng, n: rng.random(n).tolist(),
    "status": lambda rng, n: rng.choice(["finished", "failed", "running"], n).tolist(),
    "state": lambda rng, n: rng.choice(["Ohio", "Utah"], n).tolist(),
    "problem": lambda _, n: [f"p{x // 3}" for x in range(n)],
    "n": lambda _, n: [10] * n,
    "c": lambda rng, n: rng.integers(0, 11, n).tolist(),
    "config_id": lambda _, n: [x // 2 for x in range(n)],
    "grad_norm": lambda rng, n: rng.random(n).tolist(),
    "diverged": lambda rng, n: (rng.random(n) < 0.2).tolist(),
    "notes": lambda _, n: ["a longer text, with a comma"] * n,
    "s1": lambda rng, n: rng.integers(0, 2, n).tolist(),
    "s2": lambda rng, n: rng.integers(0, 2, n).tolist(),
    "s3": lambda rng, n: rng.integers(0, 2, n).tolist(),
    "max": lambda rng, n: rng.random(n).tolist(),
    "": lambda _, n: list(range(n)),
}
JUNK = [None, "", "NA", "OOM", "nan", "inf", "12%", "1,5", "=1+1", "x", "-", 1e300, -1, True, "1e999"]


def odd_table(rng):
    """Columns as a dictionary, with a few junk cells."""
    n = int(rng.integers(1, 30))
    names = rng.choice(list(OTHERS), int(rng.integers(0, 7)), replace=False).tolist()
    columns = {name: OTHERS[name](rng, n) for name in names}
    if rng.random() < 0.9:
        columns[str(rng.choice(SCORES))] = rng.random(n).round(4).tolist()
    for _ in range(int(rng.integers(0, 4))):
        if columns:
            name = str(rng.choice(list(columns)))
            columns[name][int(rng.integers(n))] = JUNK[int(rng.integers(len(JUNK)))]
    order = list(columns)
    rng.shuffle(order)
    return {name: columns[name] for name in order}, n


def written(columns, n, kind, path):
    """The table in one of the shapes that people write."""
    rows = [{name: column[row] for name, column in columns.items()} for row in range(n)]
    if kind in ("csv", "tsv", "csv;", "titled"):
        out = io.StringIO()
        writer = csv.writer(out, delimiter={"csv": ",", "tsv": "\t", "csv;": ";", "titled": ";"}[kind])
        if kind == "titled":
            writer.writerow(["Results of the week", *[""] * (len(columns) - 1)])
        writer.writerow(columns)
        writer.writerows([["" if cell is None else cell for cell in row.values()] for row in rows])
        target = path / ("runs.tsv" if kind == "tsv" else "runs.csv")
        target.write_text(out.getvalue())
        return target
    if kind == "files":
        folder = path / "runs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for place, row in enumerate(rows):
            (folder / f"seed{place}.json").write_text(json.dumps(row))
        return folder
    if kind in ("utf-16", "index", "header twice", "ragged"):
        lines = written(columns, n, "csv", path).read_text().splitlines()
        if kind == "index":
            lines = [f"{place or ''},{line}" for place, line in enumerate(lines)]
        elif kind == "header twice":
            lines.insert(len(lines) // 2 + 1, lines[0])
        elif kind == "ragged":
            lines[-1] += ",9,9"
        (path / "runs.csv").write_bytes("\n".join(lines).encode("utf-16" if kind == "utf-16" else "utf-8"))
        return path / "runs.csv"
    whole = {
        "jsonl": "\n".join(map(json.dumps, rows)),
        "json": json.dumps(rows),
        "lists": json.dumps(columns),
        "split": json.dumps({"columns": list(columns), "data": [list(row.values()) for row in rows]}),
    }
    target = path / f"{kind}.{'jsonl' if kind == 'jsonl' else 'json'}"
    target.write_text(whole[kind])
    return target


KINDS = ("frame", "csv", "tsv", "csv;", "jsonl", "json", "lists", "files", "titled", "utf-16", "index", "header twice")
KINDS += ("ragged", "split")


def attempt(source, **options):
    """The trials, or None and our own error's message; any other error is a failure."""
    try:
        return lb.read_trials(source, **options), ""
    except LevelbestError as error:
        return None, str(error)


def check_odd(seed, path):
    """Whether the table was read; raises where something is lost or taken without a word."""
    rng = np.random.default_rng(seed)
    columns, n = odd_table(rng)
    kind = KINDS[seed % len(KINDS)]
    source = columns if kind == "frame" else written(columns, n, kind, path)
    options = {} if rng.random() < 0.5 else {"direction": "max"}
    trials, message = attempt(source, **options)
    if trials is None:
        assert "\n" not in message, message
        assert len(message) < 700, message
        return False
    cautions = [caution for caution in trials.cautions if caution.code == "guessed-columns"]
    kinds = {caution.kind for caution in cautions}
    blank = sum(all(column[row] in (None, "") for column in columns.values()) for row in range(n))
    if "trial" not in trials.columns:
        assert len(trials) + len(trials.skipped) + (blank if kind == "files" else 0) >= n, (columns, trials.skipped)
    else:
        assert "checkpoints" in kinds or "files" in kinds
    guessed = {role for caution in cautions if caution.kind == "" for role, _ in caution.fact("columns", ())}
    made = bool(kinds & {"counts", "by-column", "samples", "rows", "lists", "files"})
    unsaid = set(trials.columns) - guessed - {"trial"}
    assert not unsaid or made, (unsaid, trials.cautions)
    return True


def test_odd_tables(tmp_path):
    """None is misread in silence, and a good part can be read: refusing all would pass otherwise."""
    assert sum(check_odd(seed, tmp_path) for seed in range(112)) >= 40


@pytest.mark.long
def test_many_odd_tables(tmp_path):
    assert sum(check_odd(seed, tmp_path) for seed in range(1000, 1500)) >= 166
