"""Systems that are not here, simulated by taking away what they lack: everything works but the runner on Windows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "run"))
from ledgers import make  # noqa: E402

SYSTEMS = {"macos": "runs", "windows": "refuses"}


def on(system: str, *arguments: str, **more) -> subprocess.CompletedProcess:
    """Run Python as if on another system."""
    path = os.pathsep.join([str(HERE / "platforms" / system), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, "USERNAME": "somebody"},
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_works_everywhere_works_there(tmp_path, system):
    make(tmp_path / "s.db").close()
    program = str(HERE / "platforms" / "elsewhere.py")
    done = on(system, "-W", "error", program, str(tmp_path), str(tmp_path / "s.db"), SYSTEMS[system], timeout=300)
    assert done.stdout == "works\n", done.stderr[-3000:]


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "suites"),
    [
        ("macos", ["run/test_engines.py", "run/test_runner.py", "run/test_trouble.py", "run/test_standby.py"]),
        ("windows", ["test_write_door.py", "readers/test_contract.py", "report", "test_comparisons.py"]),
    ],
)
def test_the_suites_pass_there(tmp_path, system, suites):
    paths = [str(HERE / suite) for suite in suites]
    done = on(system, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'b'}", *paths)
    assert done.returncode == 0, done.stdout[-3000:]
