"""Twenty trials, ten commands that write to folders of their own and ten functions; its calls can be made to fail.

python study.py FOLDER: prints nothing, exits 0 where all is finished, 1 where the session ended before.
"""

import contextlib
import mmap
import os
import struct
import sys
from pathlib import Path

from levelbest.errors import DataError, LevelbestError
from levelbest.run.runner import run_study
from levelbest.run.session import Session
from levelbest.run.study import Study
from levelbest.run.verify import verify_ledger

Session.__init__.__defaults__ = (None, 0.2)  # it does not wait ten minutes for room on the disk
FOLDER = Path(sys.argv[1])
PROGRAM = "echo '{{\"dev\": {x}}}' > {out}/m.json; echo said"


def objective(config, _):
    print("said")
    return {"dev": config["x"]}


def counting(on):
    """Count calls from here on, or no more."""
    if name := os.environ.get("FAULT_FILE"):
        with open(name, "r+b") as file, mmap.mmap(file.fileno(), 32) as state:
            state[:8] = struct.pack("q", on)


space = {"x": {"uniform": [0, 1]}}
families = {
    # The calls of somebody's command are not ours: an error there is the command's to handle.
    "command": {"command": ["sh", "-c", PROGRAM], "report": {"file": "{out}/m.json"}, "env": {"LD_PRELOAD": ""}},
    "function": {"function": objective},
}
given = {"metric": {"selection": "dev", "direction": "max"}, "n_trials": 10, "retries": 3}
given |= {"families": {name: {**family, "space": space} for name, family in families.items()}}
study = Study.from_dict(given, folder=FOLDER, name="s")
with contextlib.suppress(LevelbestError):
    verify_ledger(FOLDER / "absent.db")  # all is imported before calls are counted
counting(1)
try:
    finished = run_study(study, FOLDER / "s.db", workers=2).finished
except DataError as error:
    print(error, file=sys.stderr)
    finished = False
finally:
    counting(0)
sys.exit(0 if finished else 1)
