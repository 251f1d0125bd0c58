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
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
from _table import Table, number

if TYPE_CHECKING:
    from levelbest.run.study import Study

SPACE = {"lr": {"loguniform": [1e-4, 1e-1]}, "units": {"integer": [8, 64]}}
COMMAND = ["sh", "-c", "echo '{\"score\": 1}'"]
COMMAND_TEMPLATE = [word.replace("{", "{{").replace("}", "}}") for word in COMMAND]


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
    from levelbest._ledger.file import connect_to_read
    from levelbest.run.runner import run_trials

    objectives = {
        "function": noop,
        "named function": "runner:noop",
        "command": COMMAND_TEMPLATE,
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


def large_ledger(path: Path, n_trials: int) -> Study:
    """A study whose ledger holds this many finished trials, written in large batches."""
    from levelbest.run.ledger import Entry, Ledger
    from levelbest.run.reconcile import reconcile
    from levelbest.run.study import Study

    given = {
        "metric": {"selection": "score", "direction": "max"},
        "families": {"f": {"command": COMMAND_TEMPLATE, "space": SPACE, "n_trials": n_trials}},
    }
    study = Study.from_dict(given, folder=path.parent, name="large")
    space = study.families[0].space
    opening = [Entry("study", {"name": study.name, **study.to_dict(), "levelbest": "0"}), Entry("environment", {})]
    with Ledger.create(path, opening) as ledger:
        ledger.append(reconcile(study, ledger)[1])
        for at in range(0, n_trials, 5000):
            batch = []
            for trial in range(at, min(n_trials, at + 5000)):
                config, seed = space.draw(0, 0, trial)
                scores = {"score": config["lr"], "loss": 0.123456789}
                body = {"scores": scores, "wall": 1.234567, "cpu": 1.1, "cost": 1.234567}
                batch.append(Entry("start", {"config": config, "seed": seed}, 0, trial, 1))
                batch.append(Entry("end", body, 0, trial, 1, "ok"))
            ledger.append(batch)
    return study


def compare_large(table: Table, n_trials: int) -> None:
    """Resume and refresh against the floor: reading the table once, as a reader of it must."""
    from levelbest._ledger.file import connect_to_read
    from levelbest.readers import read_trials
    from levelbest.run.ledger import Entry, Ledger
    from levelbest.run.runner import run_study
    from levelbest.run.verify import verify_ledger
    from levelbest.web.data import LiveData

    with tempfile.TemporaryDirectory() as folder:
        small, path = Path(folder) / "small.db", Path(folder) / "large.db"
        large_ledger(small, 20)
        LiveData(small).state()  # imports are not what is timed here
        study = large_ledger(path, n_trials)

        def rows() -> list[Any]:
            connection = connect_to_read(path)
            found = connection.execute("SELECT * FROM records ORDER BY seq").fetchall()
            connection.close()
            return found

        def decoded() -> None:
            for row in rows():
                json.loads(row[7])

        def drawn() -> None:
            decoded()
            for trial in range(n_trials):
                study.families[0].space.draw(0, 0, trial)

        def resume() -> None:
            assert run_study(study, path, workers=2).finished

        def page() -> None:
            live = LiveData(path)
            assert json.loads(live.state())["curves"][0]["n_trials"] == n_trials
            live.close()

        jobs = {"rows": rows, "decoded": decoded, "drawn": drawn, "resume": resume, "page": page}
        times: dict[str, list[float]] = {name: [] for name in (*jobs, "refresh", "read", "verify")}

        def timed(name: str, job: Callable[[], Any]) -> None:
            began = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - began)

        for _ in range(5):
            for name, job in jobs.items():
                timed(name, job)
        timed("read", lambda: read_trials(path, diagnostics=False))
        timed("verify", lambda: verify_ledger(path))
        live = LiveData(path)
        before = b""
        while (now := live.state()) is not before:  # every look since the first trial, a piece at a time
            before = now
        with Ledger(path) as writer:
            writer.append([Entry("plan", {"n_trials": n_trials + 20}, family=0)])
            for trial in range(n_trials, n_trials + 20):
                body = {"scores": {"score": 0.5}, "wall": 1.0, "cpu": 1.0, "cost": 1.0}
                config, seed = study.families[0].space.draw(0, 0, trial)
                start = Entry("start", {"config": config, "seed": seed}, 0, trial, 1)
                writer.append([start, Entry("end", body, 0, trial, 1, "ok")])
                timed("refresh", live.state)
        assert json.loads(live.state())["curves"][0]["n_trials"] == n_trials + 20
        live.close()
    wanted: tuple[tuple[str, str, str, float | None], ...] = (
        ("resume", "resume (the whole call, workers started)", "rows", 2.0),
        ("refresh", "refresh of the live page after one more trial", "rows", 2.0),
        # The page follows the chain of hashes before it shows a head, and SHA-256 with its text is a third of the time.
        ("page", "first opening of the live page, every record checked", "drawn", 4.0),
        ("read", "read as a table of trials", "drawn", None),
        ("verify", "verify every record", "drawn", None),
    )
    floors = {"rows": "reading the rows once", "decoded": "reading the rows and their JSON once"}
    floors["drawn"] = f"{floors['decoded']}, and drawing every configuration"
    for name, what, against, most in wanted:
        seconds, base = statistics.median(times[name]), statistics.median(times[against])
        ratio = seconds / base
        reached = f"{number(ratio)} times ({number(1e3 * seconds)} against {number(1e3 * base)} ms)"
        limit, met = ("-", None) if most is None else (f"<= {most:g} times", ratio <= most)
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
