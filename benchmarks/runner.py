"""The runner's overhead against Optuna and Ray Tune, and large ledgers against reading their table once, in one run.

    pip install 'levelbest[ray]' 'ray[tune]' optuna
    python benchmarks/runner.py                     # a few minutes
    python benchmarks/runner.py --skip-tune         # without Ray

No-op trials, two at once, durable: ours with ``synchronous=FULL`` and every end on the disk before the next trial
starts on that worker; Optuna with RandomSampler and SQLite storage, two processes; Ray Tune as it comes. Everyone runs
in fresh processes and is timed from the first trial to the last, start-up left out, in turns so that a busy machine
slows all of them; the median counts.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from _table import Table, number

SPACE = {"lr": {"loguniform": [1e-4, 1e-1]}, "units": {"integer": [8, 64]}}
COMMAND = ["sh", "-c", "echo '{\"score\": 1}'"]


def noop(config: Any, seed: int) -> float:  # noqa: ARG001
    """A trial that takes no time."""
    return 1.0


def ours(kind: str, n_trials: int) -> float:
    """Trials a second, in a fresh process as the peers: a fork costs what its process has in memory."""
    code = "import sys, runner; print('rate', runner.measure_ours(sys.argv[1], int(sys.argv[2])))"
    done = subprocess.run([sys.executable, "-c", code, kind, str(n_trials)], capture_output=True, text=True, check=True)
    return float(done.stdout.split("rate")[-1])


def measure_ours(kind: str, n_trials: int) -> float:
    """Trials a second, from the first start to the last end in the ledger."""
    from levelbest.run.ledger import connect_to_read
    from levelbest.run.runner import run_trials

    objectives = {
        "function": noop,
        "named function": "runner:noop",
        "command": [word.replace("{", "{{").replace("}", "}}") for word in COMMAND],
    }
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "s.db"
        run_trials(
            objectives[kind], SPACE, n_trials=n_trials, family="f", ledger=ledger, workers=2, progress=False,
            selection="score",
        )  # fmt: skip
        connection = connect_to_read(ledger)
        first, last, count = connection.execute(
            "SELECT min(at), max(at), sum(status = 'ok') FROM records WHERE kind IN ('start', 'end')"
        ).fetchone()
        connection.close()
    assert count == n_trials
    return n_trials / ((last - first) / 1e6)


def _optuna_process(storage: str, kind: str, n_trials: int, seed: int, ready: Any, times: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        trial.suggest_int("units", 8, 64)
        if kind == "command":
            done = subprocess.run(COMMAND, capture_output=True, check=True)
            return float(json.loads(done.stdout)["score"])
        return 1.0

    study = optuna.load_study(study_name="s", storage=storage, sampler=optuna.samplers.RandomSampler(seed=seed))
    ready.wait()
    began = time.time()
    study.optimize(objective, n_trials=n_trials)
    times.put((began, time.time()))


def optuna_rate(kind: str, n_trials: int) -> float:
    """Trials a second with two processes on one SQLite file."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/optuna.db"
        optuna.create_study(study_name="s", storage=storage)
        ready, times = context.Barrier(2), context.Queue()
        arguments = [(storage, kind, n_trials // 2, seed, ready, times) for seed in range(2)]
        processes = [context.Process(target=_optuna_process, args=one) for one in arguments]
        for process in processes:
            process.start()
        spans = [times.get(timeout=600) for _ in processes]
        for process in processes:
            process.join()
    return n_trials / (max(end for _, end in spans) - min(begin for begin, _ in spans))


TUNE = """
import json, subprocess, sys, tempfile, time, os
os.environ["RAY_AIR_NEW_OUTPUT"] = "0"
import ray
from ray import tune
kind, n_trials, command = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
def trainable(config):
    score = 1.0
    if kind == "command":
        score = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["score"]
    tune.report({"score": score})
space = {"lr": tune.loguniform(1e-4, 1e-1), "units": tune.randint(8, 65)}
with tempfile.TemporaryDirectory() as folder:
    tuner = tune.Tuner(
        tune.with_resources(trainable, {"cpu": 1}),
        param_space=space,
        tune_config=tune.TuneConfig(num_samples=n_trials),
        run_config=tune.RunConfig(storage_path=folder, verbose=0),
    )
    began = time.time()
    results = tuner.fit()
    took = time.time() - began
    assert len(results) == n_trials and not results.errors
print("rate", n_trials / took)
"""


def tune_rate(kind: str, n_trials: int) -> float:
    """Trials a second of Ray Tune, Ray itself started before the clock."""
    command = [sys.executable, "-c", TUNE, kind, str(n_trials), json.dumps(COMMAND)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return float(done.stdout.split("rate")[-1])


def compare_overhead(table: Table, rounds: int, with_tune: bool) -> None:
    """Rates in turns; ratios of medians."""
    for kind in ("function", "command"):
        jobs: dict[str, Callable[[], float]] = {
            "ours": lambda kind=kind: ours(kind, 300),
            "optuna": lambda kind=kind: optuna_rate(kind, 60),
        }
        if kind == "function":
            jobs["ours by name"] = lambda: ours("named function", 300)
        if with_tune:
            jobs["tune"] = lambda kind=kind: tune_rate(kind, 30)
        rates: dict[str, list[float]] = {name: [] for name in jobs}
        for _ in range(rounds):
            for name, job in jobs.items():
                rates[name].append(job())
        rate = {name: statistics.median(found) for name, found in rates.items()}
        shown = {name: f"{number(rate['ours'])} against {number(value)} trials/s" for name, value in rate.items()}
        if kind == "function":
            table.add("no-op function, imported by name", "-", "-", f"{number(rate['ours by name'])} trials/s", None)
        for peer, name, wanted in (("optuna", "Optuna, SQLite, 2 processes", 5), ("tune", "Ray Tune", 20)):
            if peer in rate:
                ratio = rate["ours"] / rate[peer]
                reached = f"{number(ratio)} times ({shown[peer]})"
                table.add(f"no-op {kind}", name, f">= {wanted} times as many", reached, ratio >= wanted)


def large_ledger(path: Path, n_trials: int) -> None:
    """A ledger with this many finished trials, written in large batches."""
    from levelbest.run.ledger import Entry, Ledger
    from levelbest.run.space import Space

    space = Space(SPACE)
    metric = {"selection": "score", "reported": None, "direction": "max", "bounds": [None, None]}
    cost = {"of": "wall", "unit": "seconds", "rate": 1, "per": 1}
    study = {"name": "s", "seed": 0, "levelbest": "0", "cost": cost, "metric": metric}
    definition = {"command": ["true"], "function": None, "space": [[k, v] for k, v in space.to_dict().items()],
                  "seeds": 1, "report": "json", "time_limit": None, "env": {}}  # fmt: skip
    opening = [
        Entry("study", study),
        Entry("environment", {}),
        Entry("family", {"name": "f", "definition": definition, "fingerprint": ""}, family=0),
        Entry("plan", {"n_trials": n_trials + 1}, family=0),
    ]
    with Ledger.create(path, opening) as ledger:
        for at in range(0, n_trials, 5000):
            batch = []
            for trial in range(at, min(n_trials, at + 5000)):
                config, seed = space.draw(0, 0, trial)
                scores = {"score": config["lr"], "loss": 0.123456789}
                body = {"scores": scores, "wall": 1.234567, "cpu": 1.1, "cost": 1.234567}
                batch.append(Entry("start", {"config": config, "seed": seed}, 0, trial, 1))
                batch.append(Entry("end", body, 0, trial, 1, "ok"))
            ledger.append(batch)


def compare_large(table: Table, n_trials: int) -> None:
    """Resume and refresh against the floor: reading the table once, as a reader of it must."""
    from levelbest.readers import read_trials
    from levelbest.run.ledger import Entry, Ledger, connect_to_read
    from levelbest.run.verify import verify_ledger
    from levelbest.run.view import LedgerView

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        large_ledger(path, n_trials)

        def floor() -> None:
            connection = connect_to_read(path)
            assert len(connection.execute("SELECT * FROM records ORDER BY seq").fetchall()) == 2 * n_trials + 4
            connection.close()

        def decoded() -> None:
            connection = connect_to_read(path)
            rows = connection.execute("SELECT * FROM records ORDER BY seq").fetchall()
            assert len([json.loads(row[7]) for row in rows]) == 2 * n_trials + 4
            connection.close()

        def resume() -> None:
            with Ledger(path) as ledger:
                progress = ledger.progress()[0]
                assert len(progress.finished) == n_trials

        def page() -> None:
            view = LedgerView(path)
            scores = view.families["f"].scores("score")
            assert scores.size == n_trials
            view.close()

        live = LedgerView(path)
        writer = Ledger(path)
        count = iter(range(n_trials, 10**9))

        def refresh() -> None:
            trial = next(count)
            end = {"scores": {"score": 0.5}, "wall": 1.0, "cpu": 1.0, "cost": 1.0}
            start = Entry("start", {"config": {}, "seed": 1}, 0, trial, 1)
            writer.append([start, Entry("end", end, 0, trial, 1, "ok")])
            began = time.perf_counter()
            live.refresh()
            assert live.families["f"].scores("score").size == trial + 1
            spent.append(time.perf_counter() - began)

        times: dict[str, list[float]] = {name: [] for name in ("floor", "decoded", "resume", "page", "read", "verify")}
        jobs = {"floor": floor, "decoded": decoded, "resume": resume, "page": page}
        for _ in range(5):
            for name, job in jobs.items():
                began = time.perf_counter()
                job()
                times[name].append(time.perf_counter() - began)
        began = time.perf_counter()
        read_trials(path, diagnostics=False)
        times["read"].append(time.perf_counter() - began)
        began = time.perf_counter()
        assert verify_ledger(path).whole
        times["verify"].append(time.perf_counter() - began)
        spent: list[float] = []
        for _ in range(20):
            refresh()
        live.close()
        writer.close()
    rows = (
        ("resume", "floor", min(times["resume"]), 2.0),
        ("refresh of the live page after one more trial", "floor", min(spent), 2.0),
        ("first opening of the live page", "decoded", min(times["page"]), 2.0),
        ("read as a table of trials", "decoded", times["read"][0], None),
        ("verify every record", "decoded", times["verify"][0], None),
    )
    floors = {"floor": "reading the rows once", "decoded": "reading the rows and their JSON once"}
    for what, against, seconds, wanted in rows:
        base = min(times[against])
        ratio = seconds / base
        reached = f"{number(ratio)} times ({number(1e3 * seconds)} against {number(1e3 * base)} ms)"
        limit = "-" if wanted is None else f"<= {wanted:g} times"
        met = None if wanted is None else ratio <= wanted
        table.add(f"{n_trials:,} trials: {what}", floors[against], limit, reached, met)


def main() -> int:
    """Print one table; exit 1 where something wanted was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip-tune", action="store_true", help="leave out Ray Tune")
    parser.add_argument("--skip-large", action="store_true", help="leave out the large ledger")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=100_000, help="finished trials in the large ledger")
    options = parser.parse_args()
    os.chdir(Path(__file__).parent)
    table = Table("runner: overhead and large ledgers", ("levelbest", "numpy", "optuna", "ray"))
    if not options.skip_large:
        compare_large(table, options.trials)
    compare_overhead(table, options.rounds, not options.skip_tune)
    print(table)
    return 1 if table.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
