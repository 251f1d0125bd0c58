"""Make src/levelbest/data/digits.csv: random search on the digits data, five families of 120 trials.

    pip install '.[digits]'
    python examples/digits/make_table.py

Draw i of a family depends on the seed, the family's number and i alone (see spaces.py), so the table does not depend on
the number of processes, and more trials can be added later. Only the column ``seconds`` changes from run to run.
"""

from __future__ import annotations

import argparse
import csv
import math
import platform
import time
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import threadpoolctl
from digits_objective import SPLIT_SEED, TEST, TRAIN, VALIDATION, objective, parts
from spaces import FAMILIES, draw_trial

OUT = Path(__file__).resolve().parents[2] / "src" / "levelbest" / "data" / "digits.csv"
PARAMETERS = list(dict.fromkeys(name for space in FAMILIES.values() for name in space))
COLUMNS = [
    "family", "trial", *(f"config.{name}" for name in PARAMETERS), "seed",
    "val_accuracy", "test_accuracy", "seconds", "status",
]  # fmt: skip


def run_trial(place: tuple[int, int, int]) -> dict[str, Any]:
    """One row of the table: draw, train, score. A trial that fails keeps its row."""
    seed, family, i = place
    config, trial_seed = draw_trial(seed, family, i)
    row: dict[str, Any] = {"family": list(FAMILIES)[family], "trial": i, "seed": trial_seed}
    row |= {f"config.{name}": value for name, value in config.items()}
    parts()  # read before the clock starts
    began = time.process_time()
    try:
        result = objective(config, trial_seed)
    except ValueError as error:
        print(f"{row['family']} {i}: {error}")
        return row | {"seconds": round(time.process_time() - began, 4), "status": "failed"}
    row["seconds"] = round(result["seconds"], 4)
    if not math.isfinite(result["val_accuracy"]):
        return row | {"status": "diverged"}
    return row | {"val_accuracy": result["val_accuracy"], "test_accuracy": result["test_accuracy"], "status": "ok"}


def write_table(rows: Iterable[dict[str, Any]], path: Path) -> None:
    """Numbers as Python prints them, so that they read back bit for bit; an empty cell is a value there is not."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def versions() -> dict[str, str]:
    """What the scores may depend on: the test that trains again asks for the same."""
    kernels = sorted({str(one["architecture"]) for one in threadpoolctl.threadpool_info() if "architecture" in one})
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "BLAS kernels": ", ".join(kernels) or "unknown",
        "machine": platform.machine(),
    }


def write_notes(rows: list[dict[str, Any]], path: Path, seed: int, n_trials: int) -> None:
    """Beside the table: the command, the versions, the columns."""
    counts = {
        name: ", ".join(
            f"{n} {status}"
            for status in ("ok", "failed", "diverged")
            if (n := sum(row["family"] == name and row["status"] == status for row in rows))
        )
        for name in FAMILIES
    }
    text = NOTES.format(
        command=f"python examples/digits/make_table.py --seed {seed} --trials {n_trials}",
        versions="\n".join(f"- {name} {version}" for name, version in versions().items()),
        families="\n".join(f"| {number} | {name} | {counts[name]} |" for number, name in enumerate(FAMILIES)),
        seconds=sum(row["seconds"] for row in rows),
        n_trials=n_trials, seed=seed, train=TRAIN, validation=VALIDATION, test=TEST, split=SPLIT_SEED,
    )  # fmt: skip
    path.write_text(text, encoding="utf-8")


NOTES = """# digits.csv

Real results: random hyperparameter search with scikit-learn on its bundled digits data (1,797 images of 8 x 8 pixels,
ten classes), {n_trials} trials per family. Nothing was removed; trials that failed or diverged are in the table.
The search spaces and the split were chosen so that the curves are instructive: the table shows what levelbest does and
is no evidence about these models.

Made by

    {command}

with

{versions}

Training all of them took {seconds:.0f} CPU seconds. What is promised: configurations and seeds are the same everywhere,
scores of the same distribution in every family. Trial by trial most scores are the same too: rounding differs between
processors, and networks multiply it (with the same versions 28 of 600 moved on another processor, all of `mlp`; with
others 34). A long test trains all of them again, and as many with other draws, and holds every family to that.

| number | family | trials |
|---|---|---|
{families}

`mlp-seeds` has fixed hyperparameters: only the seed varies. The search spaces are in `examples/digits/spaces.py`.

## Split
{train} images to train on, {validation} to select by, {test} to report on: one fixed permutation
(`numpy.random.default_rng({split})`), the same in every trial.

## Columns
- `family`: the model and its search space.
- `trial`: the draw's number within its family, from 0. Configuration and seed come from
  `numpy.random.default_rng([{seed}, family number, trial])` alone.
- `config.*`: the configuration; empty where a family or a configuration has no such parameter.
- `seed`: the trial's own seed (initial weights, bootstrap samples, order of the images).
- `val_accuracy`: the selection score, accuracy on the validation images; empty where the trial gave none.
- `test_accuracy`: the reported score, accuracy on the test images; empty where the trial gave none.
- `seconds`: CPU seconds of training, on one thread.
- `status`: `ok`; `failed` (scikit-learn refused the configuration); `diverged` (weights that are not finite).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=120, help="trials per family")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT, help="the table; its notes go beside it (.md)")
    args = parser.parse_args()
    places = [(args.seed, family, i) for family in range(len(FAMILIES)) for i in range(args.trials)]
    with get_context("spawn").Pool(args.processes) as pool:
        rows = pool.map(run_trial, places, chunksize=1)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    write_table(rows, args.out)
    write_notes(rows, args.out.with_suffix(".md"), args.seed, args.trials)
    print(f"{len(rows)} trials, {sum(row['status'] != 'ok' for row in rows)} without a score: {args.out.name}")


if __name__ == "__main__":
    main()
