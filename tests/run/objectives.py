"""Objectives for the tests, importable by name in a fresh interpreter; standard library only, so workers are light."""

# ruff: noqa: ARG001, RET503

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time


def plain(config, seed):
    return {"dev": config["x"], "test": seed / 2**31}


def number(config, seed):
    return config["x"]


def steps(config, seed):
    for epoch in range(3):
        yield {"dev": epoch + config["x"], "epoch": epoch}


def steps_and_return(config, seed):
    yield {"dev": 0.0}
    return {"dev": 9.0}


def raises(config, seed):
    print("about to fail")
    raise ValueError(f"no good at x = {config['x']}")


def nan(config, seed):
    return {"dev": float("nan"), "test": 1.0}


def nothing(config, seed):
    return None


def exits(config, seed):
    sys.exit(3)


def hard_exit(config, seed):
    os._exit(7)


def segfault(config, seed):
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def killed(config, seed):
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def sleeps(config, seed):
    time.sleep(config.get("seconds", 60))
    return {"dev": 1.0}


def meets(config, seed):
    """Wait for a partner that runs at the same time: 1 where both were there together, 0 where none came."""
    partner, end = os.path.join(config["folder"], config["partner"]), time.monotonic() + 60
    open(os.path.join(config["folder"], config["name"]), "w").close()
    while not (met := os.path.exists(partner)) and time.monotonic() < end:
        time.sleep(0.02)
    return {"dev": float(met)}


def stubborn(config, seed):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def leaves_children(config, seed):
    """Two children that outlive the trial, one of them detached into a session of its own."""
    subprocess.Popen(["sleep", config["nap"]])
    subprocess.Popen(["sleep", config["nap"]], start_new_session=True)
    return {"dev": 1.0}


def leaves_children_and_sleeps(config, seed):
    leaves_children(config, seed)
    time.sleep(60)


def kills_worker(config, seed):
    """Once per file: end the worker that runs this trial, as an operator or the kernel might."""
    path = os.path.join(config["folder"], f"killed-{config.get('i', 0)}")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return {"dev": 2.0}
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def always_kills_worker(config, seed):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def yields_often(config, seed):
    for step in range(1500):
        yield {"dev": step / 1500}


def shows_its_files(config, seed):
    """How many sockets it holds; it opened none."""
    sockets = 0
    for number in range(256):
        with contextlib.suppress(OSError):
            sockets += stat.S_ISSOCK(os.fstat(number).st_mode)
    return {"dev": 1.0, "sockets": sockets}


def floods(config, seed):
    chunk = "x" * 99 + "\n"
    for _ in range(config["megabytes"] * 10_000):
        sys.stdout.write(chunk)
    print("the end")
    return {"dev": 1.0}


def quick(config, seed):
    """A trial of the chaos test: short, of a length that depends on its draw alone."""
    time.sleep(0.002 + 0.02 * config["x"])
    return {"dev": config["x"] * 3 % 1, "test": seed / 2**31}


def watched(config, seed):
    """A trial of the chaos tests: it notices where another attempt at it still runs, whose lock ends with it."""
    import fcntl

    os.makedirs("locks", exist_ok=True)
    with open(f"locks/{seed}", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with open("doubled", "a") as doubled:
                doubled.write(f"{seed}\n")
        if not os.path.exists("calm"):
            time.sleep(0.15 + 0.2 * config["x"])
    return {"dev": config["x"] * 3 % 1, "test": seed / 2**31}


def not_a_function_but(config):
    return config


text = "not a function"
