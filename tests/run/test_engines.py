"""The contract of engines: one suite, every engine."""

import contextlib
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from levelbest.errors import InputError, MissingExtra
from levelbest.run import processes
from levelbest.run.engines import Engine, Job, open_engine
from levelbest.run.processes import MARK
from levelbest.run.study import Resources

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import objectives  # noqa: E402
from slurm_cluster import slurm  # noqa: E402

LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("ray", "slurm")]
KINDS = ["inline", "local-fork", "local-fresh", *LONG]
NAMES = [name for name in vars(objectives) if callable(getattr(objectives, name)) and name != "not_a_function_but"]
adopted = pytest.mark.skipif(
    processes._prctl is None, reason="only on Linux can a process adopt orphans or die with its parent"
)
PATIENCE = 150
"""Seconds after which a test that would wait for ever ends: no promise of speed (Ray starts slowly under load)."""
_nap = itertools.count(os.getpid() % 10_000 * 1000)


@pytest.fixture(scope="module")
def cluster():
    """One Ray and one Slurm for all tests that need them: starting takes seconds."""
    started, stack = [], contextlib.ExitStack()

    def start(kind: str) -> None:
        if kind == "slurm":
            pytest.importorskip("submitit", reason="needs submitit: pip install 'levelbest[slurm]'")
            if "slurm" not in started:
                stack.enter_context(slurm())
                started.append("slurm")
            return
        ray = pytest.importorskip("ray", reason="needs ray: pip install 'levelbest[ray]'")
        if not ray.is_initialized():
            ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
            stack.callback(ray.shutdown)

    with stack:
        yield start


@pytest.fixture
def open_as(tmp_path, cluster):
    """Open an engine of a kind; stopped at the end."""
    opened = []

    def open_one(kind: str, workers: int | None = 2, **more) -> Engine:
        if kind in ("ray", "slurm"):
            cluster(kind)
        if kind == "local-fork":
            functions = {f"objectives:{name}": getattr(objectives, name) for name in NAMES}
            job = Job(folder=tmp_path, logs=tmp_path / "logs", functions=functions, workers=workers, **more)
        else:
            names = tuple(f"objectives:{name}" for name in NAMES)
            job = Job(folder=HERE, logs=tmp_path / "logs", names=names, workers=workers, wait=3, **more)
        (tmp_path / "logs").mkdir(exist_ok=True)
        opened.append(open_engine(kind.partition("-")[0], job))
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.stop()


@pytest.fixture(params=KINDS)
def engine(request, open_as):
    return open_as(request.param)


@pytest.fixture(params=KINDS[1:])
def isolating(request, open_as):
    return open_as(request.param)


@pytest.fixture
def task(tmp_path):
    keys = itertools.count()

    def make(function: str | None = None, argv: list[str] | None = None, limit: float | None = None, **config) -> dict:
        key = next(keys)
        return {
            "key": key,
            "mark": f"{os.getpid()}-{key}",
            "config": {"x": 0.5, **config},
            "seed": 123,
            "argv": argv,
            "function": function and f"objectives:{function}",
            "folder": str(tmp_path),
            "out": None,
            "log": str(tmp_path / "logs" / f"{key}.log"),
            "log_limit": 100_000,
            "limit": limit,
            "report": "json",
            "selection": "dev",
            "env": {"LEVELBEST_TRIAL": str(key)},
        }

    return make


def all_of(engine: Engine, tasks: list[dict], seconds: float = PATIENCE) -> dict[int, dict]:
    """Run tasks as the loop does, up to the capacity at a time."""
    waiting, running, ended = list(tasks), 0, {}
    deadline = time.monotonic() + seconds
    while waiting or running:
        while waiting and running < engine.capacity:
            engine.submit(waiting.pop(0))
            running += 1
        for raw in engine.wait(1.0):
            assert raw["key"] not in ended, "an end was heard of twice"
            ended[raw["key"]] = raw
            running -= 1
        assert time.monotonic() < deadline, f"only {len(ended)} of {len(tasks)} ended"
    return ended


def one(engine: Engine, task: dict) -> dict:
    return all_of(engine, [task])[task["key"]]


def alive(nap: str) -> list[int]:
    """Processes that sleep for just this long."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["cmdline"] == ["sleep", nap] and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def until(condition, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def test_a_function_gets_its_configuration_and_seed(engine, task):
    raw = one(engine, task("plain"))
    assert (raw["end"], raw["code"], raw["scores"]) == ("exit", 0, {"dev": 0.5, "test": 123 / 2**31})
    assert raw["wall"] >= 0
    assert raw["cpu"] >= 0
    assert one(engine, task("number"))["scores"] == {"score": 0.5}


def test_intermediate_scores_arrive_and_the_last_counts(engine, task):
    raw = one(engine, task("steps"))
    assert raw["scores"] == {"dev": 2.5, "epoch": 2}
    assert raw["steps"] == [{"dev": e + 0.5, "epoch": e} for e in range(3)]
    assert one(engine, task("steps_and_return"))["scores"] == {"dev": 9.0}
    many = one(engine, task("yields_often"))
    assert [step["dev"] for step in many["steps"]] == [step / 1500 for step in range(1500)]
    assert "steps_left_out" not in many


def test_an_exception_is_a_failure_with_its_words(engine, task, tmp_path):
    raw = one(engine, task("raises"))
    assert (raw["end"], raw["code"]) == ("exit", 1)
    assert raw["raised"] == "ValueError: no good at x = 0.5"
    if engine.isolates:
        log = next((tmp_path / "logs").glob("[0-9]*.log")).read_text()
        assert log.startswith("about to fail\n")
        assert "Traceback" in log
    assert "TypeError" in one(engine, task("nothing"))["raised"]
    assert one(engine, task("nan"))["scores"]["dev"] != one(engine, task("nan"))["scores"]["dev"]


def test_commands_are_run_without_a_shell(engine, task, tmp_path):
    raw = one(engine, task(argv=["echo", '{"dev": 1, "nested": {"f1": 2}}', "$HOME", ";", "ls"]))
    assert raw["problem"] == "printed no line of JSON with scores"  # the words after it are part of its line
    assert "$HOME ; ls" in (tmp_path / "logs" / f"{raw['key']}.log").read_text()
    printed = "import os; print(1); print('{\"dev\": 0.25, \"t\": ' + os.environ['LEVELBEST_TRIAL'] + '}'); print(2)"
    raw = one(engine, task(argv=[sys.executable, "-c", printed]))
    assert raw["scores"] == {"dev": 0.25, "t": raw["key"]}
    raw = one(engine, task(argv=["sh", "-c", "echo why >&2; exit 4"]))
    assert (raw["code"], raw["problem"]) == (4, "why")
    assert one(engine, task(argv=["no-such-program-anywhere"]))["end"] == "unstarted"
    assert one(engine, task(argv=["sh", "-c", "pwd; echo '{\"dev\": 1}'"]))["scores"] == {"dev": 1}


def test_a_command_may_not_outlive_its_limit_nor_its_children(engine, task):
    nap = f"3000.{next(_nap)}"
    raw = one(engine, task(argv=["sh", "-c", f"sleep {nap} & sleep {nap}"], limit=0.3))
    assert raw["end"] == "timeout"
    assert 0.3 <= raw["wall"] < 10
    until(lambda: not alive(nap))
    raw = one(engine, task(argv=["sh", "-c", f"sleep {nap} & echo '{{\"dev\": 1}}'"], limit=30))
    assert raw["scores"] == {"dev": 1}
    until(lambda: not alive(nap))


def test_many_tasks_end_once_each(engine, task):
    tasks = [task("plain", x=i / 50) for i in range(50)]
    ended = all_of(engine, tasks, 300)
    assert {key: raw["scores"]["dev"] for key, raw in ended.items()} == {t["key"]: t["config"]["x"] for t in tasks}


def test_waiting_for_nothing_returns(engine):
    assert engine.wait(0.01) == []


def test_trials_run_side_by_side(isolating, task, tmp_path):
    assert isolating.capacity == 2
    pair = [task("meets", folder=str(tmp_path), name=a, partner=b) for a, b in (("left", "right"), ("right", "left"))]
    assert [raw["scores"]["dev"] for raw in all_of(isolating, pair).values()] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("function", "end", "code"),
    [("exits", "exit", 3), ("hard_exit", "exit", 7), ("segfault", "signal", 11), ("killed", "signal", 9)],
)
def test_a_crash_harms_no_one_else(isolating, task, function, end, code):
    raw = one(isolating, task(function))
    assert (raw["end"], raw["code"]) == (end, code)
    assert one(isolating, task("plain"))["scores"]["dev"] == 0.5


@pytest.mark.parametrize("function", ["sleeps", "stubborn"])
def test_a_function_may_not_outlive_its_limit(isolating, task, function):
    raw = one(isolating, task(function, limit=0.2))
    assert raw["end"] == "timeout"
    assert raw["wall"] < 10


def test_a_function_has_none_of_the_runners_sockets(isolating, task):
    assert one(isolating, task("shows_its_files"))["scores"]["sockets"] == 0


@pytest.mark.parametrize("days", [25, 300_000])
def test_a_time_limit_may_be_long(isolating, task, days):
    """A month does not fit into the 2^31 milliseconds that the kernel waits at most."""
    raw = one(isolating, task(argv=["sh", "-c", "sleep 0.1; echo '{\"dev\": 1}'"], limit=days * 86400.0))
    assert (raw["end"], raw["scores"]) == ("exit", {"dev": 1})
    assert one(isolating, task("plain", limit=days * 86400.0))["scores"]["dev"] == 0.5


def test_what_a_trial_leaves_behind_is_ended(isolating, task):
    nap = f"3000.{next(_nap)}"
    marked = {MARK: f"left{nap}"}  # how they are known where nobody adopts orphans
    assert one(isolating, {**task("leaves_children", nap=nap), "env": marked})["scores"] == {"dev": 1.0}
    assert alive(nap) == []


def test_a_killed_worker_is_heard_of_and_replaced(isolating, task, tmp_path):
    tasks = [task("kills_worker", folder=str(tmp_path)), *[task("plain") for _ in range(5)]]
    ended = all_of(isolating, tasks)
    assert ended[tasks[0]["key"]]["end"] == "lost"
    assert [ended[t["key"]]["scores"]["dev"] for t in tasks[1:]] == [0.5] * 5
    assert one(isolating, task("kills_worker", folder=str(tmp_path)))["scores"] == {"dev": 2.0}


@adopted
def test_stopping_leaves_nothing(isolating, task):
    nap = f"3000.{next(_nap)}"
    isolating.submit(task("leaves_children_and_sleeps", nap=nap))
    until(lambda: len(alive(nap)) == 2)
    isolating.stop()
    until(lambda: not alive(nap))  # Ray's driver may take ten seconds to leave, and Ray then ends what was its own
    isolating.stop()  # twice is once


def test_output_is_kept_within_its_limit(isolating, task, tmp_path):
    raw = one(isolating, task("floods", megabytes=30))
    assert raw["scores"] == {"dev": 1.0}
    log = (tmp_path / "logs" / f"{raw['key']}.log").read_bytes()
    assert len(log) < 101_000
    assert log.startswith(b"x" * 99 + b"\n")
    assert log.endswith(b"the end\n")
    assert b"bytes left out here" in log
    assert raw["log_bytes"] == 30_000_000 + len("the end\n")


@pytest.mark.parametrize("kind", ["inline", "local-fresh"])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("no_such_module:f", "no_such_module:f cannot be imported: ModuleNotFoundError"),
        ("objectives:no_such", "AttributeError"),
        ("objectives:text", "is not a function"),
    ],
)
def test_a_function_that_cannot_be_imported_is_refused_before_anything_runs(kind, name, sentence, tmp_path):
    with pytest.raises(InputError, match=sentence):
        open_engine(kind.partition("-")[0], Job(folder=HERE, logs=tmp_path, names=(name,), workers=1))


def test_an_unknown_engine_is_refused(tmp_path):
    with pytest.raises(InputError, match="unknown engine 'locla'; did you mean 'local'"):
        open_engine("locla", Job(folder=tmp_path, logs=tmp_path))


def test_resources_decide_how_many_run_at_once(open_as, monkeypatch):
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert open_as("local-fresh", None).capacity == cores
    assert open_as("local-fresh", None, resources=Resources(cpus=cores)).capacity == 1
    assert open_as("local-fresh", 3, resources=Resources(cpus=cores)).capacity == 3
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6")
    assert open_as("local-fresh", None, resources=Resources(gpus=1)).capacity == 3
    with pytest.raises(InputError, match="a trial needs 4 GPUs and this machine shows 3"):
        open_as("local-fresh", None, resources=Resources(gpus=4))


def test_each_worker_sees_its_own_gpus(open_as, task, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    engine = open_as("local-fresh", None, resources=Resources(gpus=2))
    assert engine.capacity == 2
    show = 'sleep 0.3; echo "{\\"dev\\": 1, \\"seen\\": ${CUDA_VISIBLE_DEVICES%,*}}"'
    ended = all_of(engine, [task(argv=["sh", "-c", show]) for _ in range(2)])
    assert {raw["scores"]["seen"] for raw in ended.values()} == {4, 6}


DRIVER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import objectives
from levelbest.run.engines import Job, open_engine
here, logs, nap, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
function = "objectives:leaves_children_and_sleeps"
if kind == "fork":
    job = Job(folder=here, logs=logs, functions={function: objectives.leaves_children_and_sleeps}, workers=2)
else:
    job = Job(folder=here, logs=logs, names=(function,), workers=2)
engine = open_engine("local", job)
command = {"argv": ["sh", "-c", f"setsid sleep {nap} & sleep {nap} & sleep {nap}"], "function": None}
for key, what in enumerate([{"argv": None, "function": function}, command]):
    engine.submit({"key": key, "mark": "", "config": {"nap": nap}, "seed": 1, "folder": str(here), "out": None,
                   "log": str(logs / "x.log"), "log_limit": 1000, "limit": None, "report": "json", "selection": None,
                   "env": {}, **what})
print("going", flush=True)
time.sleep(60)
"""


@adopted
@pytest.mark.parametrize("kind", ["fork", "fresh"])
@pytest.mark.parametrize("victim", ["driver", "guard", "worker", "driver and workers", "all"])
def test_whoever_is_killed_nothing_is_orphaned(tmp_path, kind, victim):
    nap = f"3000.{next(_nap)}"
    command = [sys.executable, "-c", DRIVER, str(HERE), str(tmp_path), nap, kind]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert driver.stdout.readline() == "going\n"
    until(lambda: len(alive(nap)) == 5)
    guards = psutil.Process(driver.pid).children()
    workers = [child for guard in guards for child in guard.children()]
    assert (len(guards), len(workers)) == (2, 2)
    chosen = {"driver": [], "guard": guards, "worker": workers, "driver and workers": workers, "all": workers + guards}
    if victim == "all":  # so that none of them can do anything about it
        for process in [*guards, *workers]:
            process.suspend()
        driver.kill()
    trials = [child for worker in workers for child in worker.children()]
    for process in chosen[victim]:
        process.kill()
    if victim.startswith("driver"):
        driver.kill()
    if victim == "all":  # the kernel ends the trials themselves; what they started is the next attempt's to end
        until(lambda: not any(process.is_running() and process.status() != "zombie" for process in trials))
        for pid in alive(nap):
            psutil.Process(pid).kill()
    until(lambda: not alive(nap))
    until(lambda: not any(process.is_running() and process.status() != "zombie" for process in workers))
    driver.kill()
    driver.communicate()


@pytest.mark.long
def test_ray_is_started_and_ended_where_there_is_none(tmp_path):
    ray = pytest.importorskip("ray", reason="needs ray: pip install 'levelbest[ray]'")
    ray.shutdown()
    engine = open_engine("ray", Job(folder=HERE, logs=tmp_path, names=("objectives:plain",), workers=2))
    assert engine.capacity == 2
    assert not ray.is_initialized()  # it lives in a process of its own
    engine.stop()
    engine.stop()
    with pytest.raises(InputError, match="lives in this session alone"):
        open_engine("ray", Job(folder=HERE, logs=tmp_path, functions={"f": lambda config, seed: 1}))  # noqa: ARG005
    with pytest.raises(InputError, match="cannot be imported"):
        open_engine("ray", Job(folder=HERE, logs=tmp_path, names=("objectives:absent",)))
    ray.shutdown()


def test_a_missing_extra_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"this needs ray: pip install 'levelbest\[ray\]'"):
        open_engine("ray", Job(folder=HERE, logs=tmp_path))
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(MissingExtra, match=r"this needs submitit: pip install 'levelbest\[slurm\]'"):
        open_engine("slurm", Job(folder=HERE, logs=tmp_path))


@pytest.mark.long
def test_a_slurm_job_that_is_cancelled_is_lost(open_as, task):
    engine = open_as("slurm")
    engine.submit(task("sleeps", seconds=60))
    until(lambda: "R" in subprocess.run(["squeue", "-h", "-o", "%t"], capture_output=True, text=True).stdout.split())
    subprocess.run(["scancel", "--full", "--signal=KILL", *_jobs()], check=True)
    subprocess.run(["scancel", *_jobs()], check=True)
    (raw,) = _first(engine)
    assert raw["end"] == "lost"
    assert one(engine, task("plain"))["scores"]["dev"] == 0.5


def _jobs() -> list[str]:
    return subprocess.run(["squeue", "-h", "-o", "%A"], capture_output=True, text=True, check=True).stdout.split()


def _first(engine: Engine) -> list[dict]:
    deadline = time.monotonic() + 60
    while not (found := engine.wait(1.0)):
        assert time.monotonic() < deadline
    return found
