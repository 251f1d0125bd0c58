"""As much of Slurm as submitit uses, in one file: a controller, and sbatch, squeue and scancel that need it alive.

The controller is told of a job by a file in its folder and starts it apart from itself, so that jobs outlive it as they
outlive slurmctld. Whoever starts it again finds the jobs as they are.
"""

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

CPUS = 3
TOOLS = ("sbatch", "squeue", "scancel", "srun")


def install(folder: Path) -> dict[str, str]:
    """Put the tools into a folder; the variables under which they are found."""
    tools = folder / "bin"
    (folder / "jobs").mkdir(parents=True)
    tools.mkdir()
    for name in TOOLS:
        tool = tools / name
        run = f"runpy.run_path({__file__!r}, run_name='__main__')"
        tool.write_text(f"#!{sys.executable}\nimport runpy, sys\nsys.argv.insert(1, {name!r})\n{run}\n")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{tools}:{os.environ['PATH']}", "SLURM_STAND_IN": str(folder)}


def start_controller(folder: Path) -> subprocess.Popen:
    """slurmctld and slurmd in one."""
    env = {**os.environ, "SLURM_STAND_IN": str(folder)}
    command = [sys.executable, __file__, "controller"]
    return subprocess.Popen(command, cwd=folder.parent, env=env, start_new_session=True)


def jobs(folder: Path) -> dict[str, dict]:
    found = {}
    for path in (folder / "jobs").glob("*.json"):
        with contextlib.suppress(ValueError, FileNotFoundError):
            found[path.stem] = json.loads(path.read_text())
    return found


def write(folder: Path, job: str, about: dict) -> None:
    fresh = folder / "jobs" / f"{job}.{os.getpid()}.new"
    fresh.write_text(json.dumps(about))
    fresh.replace(folder / "jobs" / f"{job}.json")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def processes(job: str, folder: Path) -> list[int]:
    """All processes of a job, as a control group would know them."""
    wanted = {f"SLURM_JOB_ID={job}".encode(), f"SLURM_STAND_IN={folder}".encode()}
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if wanted <= set(Path(f"/proc/{name}/environ").read_bytes().split(b"\0")):
                found.append(int(name))
    return found


def end(job: str, folder: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in processes(job, folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        time.sleep(0.1)


def launch(job: str, about: dict, folder: Path) -> None:
    """Start a job apart from the controller, through a process that ends at once."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_JOB")}
    env |= {"SLURM_JOB_ID": job, "SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}
    env |= {"SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NODELIST": "here", "SLURM_STAND_IN": str(folder)}
    begin = 'setsid sh "$0" > /dev/null 2>&1 < /dev/null & echo $! > "$1"'
    pid = folder / "jobs" / f"{job}.pid"
    subprocess.run(["sh", "-c", begin, about["script"], str(pid)], env=env, check=True)
    write(folder, job, {**about, "state": "RUNNING", "pid": int(pid.read_text())})


def controller(folder: Path) -> None:
    (folder / "controller.pid").write_text(str(os.getpid()))
    while True:
        known = jobs(folder)
        for job, about in known.items():
            if about["state"] == "RUNNING" and not alive(about["pid"]):
                end(job, folder)
                write(folder, job, {**about, "state": "COMPLETED"})
        running = sum(about["state"] == "RUNNING" for about in jobs(folder).values())
        for job, about in sorted(known.items(), key=lambda pair: int(pair[0])):
            if about["state"] == "PENDING" and running < CPUS:
                running += 1
                launch(job, about, folder)
        time.sleep(0.05)


def refuse_without_controller(folder: Path) -> None:
    try:
        if alive(int((folder / "controller.pid").read_text())):
            return
    except (OSError, ValueError):
        pass
    sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")


def sbatch(folder: Path, script: Path) -> None:
    kept = folder / "jobs" / f"{time.monotonic_ns()}.sh"
    shutil.copy(script, kept)
    name = next(
        line.split("=", 1)[1] for line in kept.read_text().splitlines() if line.startswith("#SBATCH --job-name")
    )
    job = str(time.monotonic_ns())
    write(folder, job, {"state": "PENDING", "script": str(kept), "name": name})
    print(f"Submitted batch job {job}")


def squeue(folder: Path, wanted: list[str]) -> None:
    known = jobs(folder)
    for job in wanted:
        if job in known:
            print(job, known[job]["state"])


def scancel(folder: Path, names: list[str]) -> None:
    for job, about in jobs(folder).items():
        if about["name"] in names and about["state"] in ("PENDING", "RUNNING"):
            write(folder, job, {**about, "state": "CANCELLED"})
            end(job, folder)


def main() -> None:
    folder = Path(os.environ["SLURM_STAND_IN"])
    tool, *arguments = sys.argv[1:]
    if tool == "controller":
        controller(folder)
    refuse_without_controller(folder)
    if tool == "sbatch":
        sbatch(folder, Path(arguments[-1]))
    elif tool == "squeue":
        squeue(folder, arguments[arguments.index("-j") + 1].split(","))
    elif tool == "scancel":
        scancel(folder, arguments[0].removeprefix("--name=").split(","))


if __name__ == "__main__":
    main()
