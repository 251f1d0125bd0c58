"""A Slurm of one node, private to the tests: its own key, ports, spool and configuration."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={first}
SlurmdPort={second}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=tests Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@contextlib.contextmanager
def slurm() -> Iterator[None]:
    """Start Slurm; ``SLURM_CONF`` points to it. Needs root, Debian's slurm-wlm and munge."""
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("slurmctld", "slurmd", "munged", "sbatch")):
        pytest.skip("a Slurm to test against needs root and the packages slurm-wlm and munge")
    folder = Path("/tmp") / f"levelbest-slurm-{os.getpid()}"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    first, second = _free_port(), _free_port()
    text = CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], folder=folder, first=first, second=second, cpus=os.cpu_count()
    )
    (folder / "slurm.conf").write_text(text)
    munge = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket"]
    munge += [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
    env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    before = os.environ.get("SLURM_CONF")
    daemons = []
    try:
        for command in (munge, ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-c"]):
            with (folder / f"{command[0]}.out").open("wb") as out:
                daemons.append(subprocess.Popen(command, env=env, stdout=out, stderr=out))
            time.sleep(1)
        os.environ["SLURM_CONF"] = env["SLURM_CONF"]
        deadline = time.monotonic() + 60
        while "idle" not in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True).stdout:
            if time.monotonic() > deadline:
                pytest.skip("Slurm did not come up: " + (folder / "slurmctld.out").read_text()[-500:])
            time.sleep(0.5)
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(20)
            daemon.kill()
        if before is None:
            os.environ.pop("SLURM_CONF", None)
        else:
            os.environ["SLURM_CONF"] = before
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
