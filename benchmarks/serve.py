"""Fifty readers of the live page against the runner: trials a second with and without them, in one run.

One study runs from beginning to end; readers come and go in turns (off, on, on, off, ...), so that a busy machine slows
both. The ledger says how many trials ended in each stretch. Server, readers and runner are processes of their own, as
for a user; the readers, who would sit at other machines, have the lowest priority. Everything stays on this machine's
loopback. ``python benchmarks/serve.py [--readers 50] [--stretches 12] [--seconds 5]``
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from _table import Table
from levelbest._ledger.file import connect_to_read

MOST_SLOWER = 0.10
SETTLE = 1.0
"""Seconds left out after readers came or went."""
WORK = """
import sys
from time import process_time
began = process_time()
while process_time() - began < 0.02:
    pass
print('{{"dev": %s}}' % sys.argv[1])
"""
READERS = """
import asyncio, os, sys, urllib.parse
os.nice(19)
place, count, events = urllib.parse.urlsplit(sys.argv[1]), int(sys.argv[2]), 0
async def read():
    global events
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(f"GET {place.path}events HTTP/1.1\\r\\nHost: {place.netloc}\\r\\n\\r\\n".encode())
    try:
        while data := await reader.read(1 << 16):
            events += data.count(b"data: ")
    finally:
        writer.close()
async def main():
    tasks = []
    while word := await asyncio.to_thread(sys.stdin.readline):
        if word == "on\\n" and tasks:
            pass
        elif word == "on\\n":
            tasks = [asyncio.create_task(read()) for _ in range(count)]
        else:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            tasks = []
        print(events, flush=True)
asyncio.run(main())
"""


def write_study(folder: Path) -> Path:
    """Short trials that keep both cores busy, and a ledger that changes many times a second; more than will run."""
    family = {
        "command": [sys.executable, "-S", "-c", WORK, "{x}"], "space": {"x": {"uniform": [0, 1]}}, "n_trials": 100_000
    }  # fmt: skip
    metric = {"selection": "dev", "direction": "max"}
    path = folder / "study.json"
    path.write_text(json.dumps({"metric": metric, "families": {"a": family, "b": family}}), encoding="utf-8")
    return path


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: Path, readers: int, stretches: int, seconds: float) -> dict[str, Any]:
    """Trials a second in each stretch, by whether there were readers, and what the server took."""
    ledger = folder / "study.db"
    levelbest = [sys.executable, "-m", "levelbest"]
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    runner = subprocess.Popen(
        [*levelbest, "run", str(write_study(folder)), "--quiet", "--workers", "2"], stdout=subprocess.DEVNULL
    )
    processes = [runner]
    found: dict[str, Any] = {"on": [], "off": [], "cpu": [], "events": 0}
    spans: list[tuple[str, int, int]] = []
    try:
        while not ledger.exists():
            time.sleep(0.1)
        serve = subprocess.Popen([*levelbest, "serve", str(ledger)], stderr=subprocess.DEVNULL, **options)
        processes.insert(0, serve)
        assert serve.stdout is not None
        address = serve.stdout.readline().split()[-1]
        crowd = subprocess.Popen([sys.executable, "-c", READERS, address, str(readers)], **options)
        processes.insert(0, crowd)
        assert crowd.stdin is not None
        assert crowd.stdout is not None
        for at in range(stretches):
            kind = ("off", "on", "on", "off")[at % 4]
            print(kind, file=crowd.stdin, flush=True)
            found["events"] = int(crowd.stdout.readline())
            time.sleep(SETTLE)
            began, spent = time.time_ns() // 1000, cpu_seconds(serve.pid)
            time.sleep(seconds)
            ended = time.time_ns() // 1000
            spans.append((kind, began, ended))
            if kind == "on":
                found["cpu"].append((cpu_seconds(serve.pid) - spent) / seconds)
        print("off", file=crowd.stdin, flush=True)
        found["events"] = int(crowd.stdout.readline())
    finally:
        for one in processes:
            one.terminate()
            one.wait(60)
            for stream in (one.stdin, one.stdout):
                if stream is not None:
                    stream.close()
    connection = connect_to_read(ledger)
    for kind, began, ended in spans:
        query = "SELECT count(*) FROM records WHERE kind = 'end' AND status = 'ok' AND at BETWEEN ? AND ?"
        found[kind].append(connection.execute(query, (began, ended)).fetchone()[0] / ((ended - began) / 1e6))
    connection.close()
    return found


def main() -> int:
    """Print one table; 1 where the limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--stretches", type=int, default=12, help="a multiple of 4")
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), options.readers, options.stretches, options.seconds)
    alone, read = statistics.mean(found["off"]), statistics.mean(found["on"])
    table = Table("The live page under load", ("levelbest", "starlette", "uvicorn"))
    pairs = zip(found["on"], found["off"], strict=True)
    table.add(
        f"runner with {options.readers} readers (2 workers, trials of 20 ms CPU)",
        f"without readers, {alone:.3g} trials/s",
        f">= {1 - MOST_SLOWER:g} times",
        f"{read / alone:.3f} times (pairs {', '.join(f'{on / off:.2f}' for on, off in pairs)})",
        read / alone >= 1 - MOST_SLOWER,
    )
    updates = found["events"] / options.readers
    table.add("CPU of the server with these readers", f"one core, {updates:.0f} updates each", "-",
              f"{100 * statistics.mean(found['cpu']):.2g} %", None)  # fmt: skip
    print(table)
    return int(table.missed() > 0)


if __name__ == "__main__":
    sys.exit(main())
