"""Fifty readers of the live page against the runner: how many trials a second, with and without them.

Everything stays on this machine's loopback. ``python benchmarks/serve.py [--readers 50] [--trials 300] [--rounds 3]``
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _table import Table
from levelbest.run.runner import run_study
from levelbest.run.study import Study

MOST_SLOWER = 0.10
WORK = """
import sys
from time import process_time
began = process_time()
while process_time() - began < 0.02:
    pass
print('{{"dev": %s}}' % sys.argv[1])
"""


def make_study(n_trials: int, folder: Path) -> Study:
    """Short trials that keep both cores busy, and a ledger that changes many times a second."""
    family = {"command": [sys.executable, "-S", "-c", WORK, "{x}"], "space": {"x": {"uniform": [0, 1]}}}
    given = {"seed": 1, "families": {name: {**family, "n_trials": n_trials} for name in ("a", "b")}}
    metric = {"selection": "dev", "reported": None, "direction": "max", "bounds": None}
    return Study.from_dict(given, folder=folder, name="load", metric=metric)


def throughput(ledger: Path, study: Study) -> float:
    """Trials a second."""
    began = time.monotonic()
    done = run_study(study, ledger, workers=2)
    return sum(finished for _, _, finished, _ in done.families) / (time.monotonic() - began)


READERS = """
import asyncio, sys, urllib.parse
async def read(place):
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(f"GET {place.path}events HTTP/1.1\\r\\nHost: {place.netloc}\\r\\n\\r\\n".encode())
    while await reader.read(1 << 16):
        pass
async def main(address, count):
    place = urllib.parse.urlsplit(address)
    await asyncio.gather(*(read(place) for _ in range(count)), return_exceptions=True)
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def with_readers(ledger: Path, study: Study, readers: int) -> float:
    """The same, with a page that this many readers follow: server and readers in processes of their own."""
    run_study(make_study(1, study.folder), ledger, workers=1)  # the page needs a ledger to open
    serve = subprocess.Popen(
        [sys.executable, "-m", "levelbest", "serve", str(ledger)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert serve.stdout is not None
    address = serve.stdout.readline().split()[-1]
    readers_process = subprocess.Popen([sys.executable, "-c", READERS, address, str(readers)])
    try:
        asyncio.run(_wait_for(address))
        return throughput(ledger, study)
    finally:
        for one in (readers_process, serve):
            one.terminate()
            one.wait(30)
        serve.stdout.close()


async def _wait_for(address: str) -> None:
    """Until the page answers and the readers had a second to join."""
    import urllib.parse

    place = urllib.parse.urlsplit(address)
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection(place.hostname, place.port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.1)
    await asyncio.sleep(1)


def main() -> int:
    """Print one table; 1 where the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ratios, alone = [], []
    for round_ in range(options.rounds):  # in turns, so that a busy machine slows both
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            study = make_study(options.trials, folder)
            rates = {}
            for kind in ("alone", "read")[:: 1 if round_ % 2 else -1]:
                ledger = folder / f"{kind}.db"
                rates[kind] = (
                    throughput(ledger, study) if kind == "alone" else with_readers(ledger, study, options.readers)
                )
            alone.append(rates["alone"])
            ratios.append(rates["read"] / rates["alone"])
    ratio = statistics.median(ratios)
    table = Table("The live page under load", ("levelbest", "starlette", "uvicorn"))
    table.add(
        f"runner with {options.readers} readers (2 workers, trials of 20 ms CPU)",
        f"runner alone, {statistics.median(alone):.3g} trials/s",
        f">= {1 - MOST_SLOWER:g} times",
        f"{ratio:.3f} times (rounds {', '.join(f'{one:.3f}' for one in ratios)})",
        ratio >= 1 - MOST_SLOWER,
    )
    print(table)
    return int(table.missed() > 0)


if __name__ == "__main__":
    sys.exit(main())
