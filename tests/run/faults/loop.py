"""Loops that are killed at one of their system calls after another: nothing that was answered is lost.

python loop.py FOLDER STEP, beneath `fault.c`: prints how many calls were met by a kill, and what went wrong at them.

Two scenes: the first run of a ledger, which makes it, and the run of a candidate that has one already.
"""

import json
import mmap
import os
import shutil
import signal
import struct
import sys
from pathlib import Path

import levelbest as lb
from levelbest.run.verify import verify_ledger

FOLDER, STEP = Path(sys.argv[1]), int(sys.argv[2])
SCORES = [0.1 * (place * 7 % 16) for place in range(16)]
LEDGER, BEGUN = FOLDER / "scene" / "l.db", FOLDER / "begun.db"


def first():
    """A ledger is made."""
    return lb.Loop(LEDGER, direction="max").baseline(0.5)


def further():
    """The second run of a candidate."""
    return lb.Loop(LEDGER).candidate("wider", 9.0)


def prepare() -> None:
    """A ledger with a pool, and a candidate that is to be run three times more."""
    loop = lb.Loop(BEGUN, direction="max")
    for score in SCORES:
        loop.baseline(score)
    assert loop.candidate("wider", 9.0).again == 3


def killed(act, target: int) -> bool:
    """Whether a process that acts met the kill at this call; what it had answered is in its exit code."""
    with open(os.environ["FAULT_FILE"], "r+b") as file, mmap.mmap(file.fileno(), 32) as state:
        child = os.fork()
        if not child:
            state[:] = struct.pack("4q", 1, 0, target, -1)
            act()
            state[:8] = struct.pack("q", 0)  # answered
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        state[:8] = struct.pack("q", 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def runs() -> int:
    return lb.Loop(LEDGER, direction="max").state.n_runs


def after(act, met: bool, before: int) -> list[str]:
    """What is wrong: a run is recorded whole or not at all, the ledger is whole, and the next call goes on."""
    wrong, now = [], runs()
    if now not in ((before, before + 1) if met else (before + 1,)):
        wrong.append(f"{now} runs after {before}")
    act()
    if runs() != now + 1:
        wrong.append(f"the next run made {runs()} of {now}")
    if problems := verify_ledger(LEDGER).problems:
        wrong.append(f"not whole: {problems}")
    return wrong


def sweep(act, begun: Path | None) -> tuple[int, dict[str, list[str]]]:
    """Every STEP-th call until one is not met."""
    wrong, target, met = {}, 1, True
    while met:
        shutil.rmtree(LEDGER.parent, ignore_errors=True)
        LEDGER.parent.mkdir()
        if begun is not None:
            shutil.copy(begun, LEDGER)
        before = runs() if begun is not None else 0
        met = killed(act, target)
        if said := after(act, met, before):
            wrong[f"{act.__name__} {target}"] = said
        target += STEP
    return (target - 1) // STEP - 1, wrong


prepare()
calls, wrong = zip(sweep(first, None), sweep(further, BEGUN), strict=True)
print(json.dumps({"kills": calls, "wrong": wrong[0] | wrong[1]}))
