"""./test explains what a machine lacks instead of failing somewhere inside."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="./test is a bash script and bash is absent")


@pytest.fixture
def copy(tmp_path):
    """The script alone in a folder: whatever it makes, it makes there."""
    shutil.copy2(ROOT / "test", tmp_path / "test")
    shutil.copy2(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def _command(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(folder / "test"), *arguments],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_old_python_is_named_and_refused(copy):
    old = _command(copy / "bin" / "old", 'if [ "$1" = --version ]; then echo Python 3.9.2; else exit 1; fi')
    done = _run(copy, PYTHON=str(old))
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, found Python 3.9.2" in done.stderr
    assert not (copy / ".venv-test").exists()


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_is_explained(copy, missing):
    # The module cannot be imported, as in Debian's python3 without python3-venv.
    lacking = _command(
        copy / "bin" / "lacking",
        f'shift; exec "{sys.executable}" -c "import sys; sys.modules[\'{missing}\'] = None; exec(sys.argv[1])" "$@"',
    )
    done = _run(copy, PYTHON=str(lacking))
    assert done.returncode == 1
    assert "venv and ensurepip are missing" in done.stderr
    assert "apt install python3-venv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (copy / ".venv-test").exists()


def _only(folder: Path, *tools: str) -> str:
    """A PATH with these tools and no other, so without a browser."""
    tools_folder = folder / "tools"
    tools_folder.mkdir()
    for tool in ("bash", "sh", "env", "dirname", "id", "head", "grep", "sed", "rm", "timeout", *tools):
        (tools_folder / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
    return str(tools_folder)


@pytest.mark.parametrize(
    ("user", "environment", "arguments", "asks_apt", "said"),
    [
        ("0", {}, (), True, "installing Debian's chromium for the browser tests (to leave it out: ./test --no-apt"),
        ("0", {"LEVELBEST_NO_APT": "1"}, (), False, "no Debian package is to be installed"),
        ("0", {}, ("--no-apt",), False, "no Debian package is to be installed"),
        ("1000", {}, (), False, "chromium is absent (as root: apt install chromium)"),
    ],
)
def test_a_missing_browser_is_never_a_failure(copy, user, environment, arguments, asks_apt, said):
    path = _only(copy)
    _command(copy / "fakes" / "id", f"echo {user}")
    _command(copy / "fakes" / "apt-get", f'echo "$@" >> "{copy / "apt.log"}"; exit 100')
    # Every check is stood in for: what is asked is whether the script reaches them.
    _command(copy / "fakes" / "python3", f'[ "$2" = venv ] && exit 9; exec "{sys.executable}" "$@"')
    environment = {"LEVELBEST_NO_APT": "0", "PYTHON": "python3", **environment}
    done = _run(copy, *arguments, PATH=f"{copy / 'fakes'}{os.pathsep}{path}", **environment)
    assert said in done.stdout
    assert "the browser tests will be skipped" in done.stdout
    assert (copy / "apt.log").exists() == asks_apt
    assert "could not make .venv-test" in done.stderr  # the step after the browser was reached


def test_the_long_tests_ask_for_a_slurm_and_do_without_it(copy):
    path = _only(copy)
    _command(copy / "fakes" / "id", "echo 0")
    _command(copy / "fakes" / "apt-get", f'echo "$@" >> "{copy / "apt.log"}"; exit 100')
    _command(copy / "fakes" / "python3", f'[ "$2" = venv ] && exit 9; exec "{sys.executable}" "$@"')
    environment = {"PATH": f"{copy / 'fakes'}{os.pathsep}{path}", "LEVELBEST_NO_APT": "0", "PYTHON": "python3"}
    done = _run(copy, "--long", **environment)
    assert "slurmctld could not be installed: the tests on a real Slurm will be skipped" in done.stdout
    asked = (copy / "apt.log").read_text(encoding="utf-8").splitlines()
    assert any(line.endswith("install slurm-wlm munge") for line in asked)
    assert sum(line.endswith("update") for line in asked) == 1
    assert "could not make .venv-test" in done.stderr


def test_help_is_the_head_of_the_script(copy):
    done = _run(copy, "--help")
    assert done.returncode == 0
    assert "./test --long" in done.stdout
    assert "set -u" not in done.stdout


def _with_a_pip_that_fails(copy: Path) -> Path:
    """A Python whose environments have a pip that says what it was asked for, and then fails."""
    pip = 'echo "$@" >> asked; exit 1'
    make = f"mkdir -p $4/bin; printf '#!/bin/sh\\n%s\\n' '{pip}' > $4/bin/python"
    return _command(
        copy / "bin" / "made",
        f'case "$*" in *"-m venv"*) {make}; chmod +x $4/bin/python ;; *) exec "{sys.executable}" "$@" ;; esac',
    )


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize(
    ("long", "versions", "extras"),
    [([], "constraints.txt", ".[test]"), (["--long"], "constraints-long.txt", ".[test,long]")],
)
def test_the_tested_versions_are_installed_and_where_they_cannot_be_the_newest(copy, freeze, long, versions, extras):
    """The long tests have versions of their own, and an environment of their own to put them into."""
    (copy / versions).write_text("numpy==1.26.4\n")
    arguments = ["--no-apt", *long, *(["--freeze"] if freeze else [])]
    done = _run(copy, *arguments, PYTHON=str(_with_a_pip_that_fails(copy)))
    assert done.returncode == 1
    assert "could not install the test requirements" in done.stderr
    asked = [line.partition("--quiet ")[2] for line in (copy / "asked").read_text().splitlines() if "--quiet" in line]
    newest = [f"--editable {extras}"]
    assert asked == (newest if freeze else [f"--constraint {versions} --editable {extras}", *newest])
    assert ("taking the newest instead" in done.stdout) is not freeze
    assert (copy / versions).read_text() == "numpy==1.26.4\n"


@pytest.mark.parametrize("long", [[], ["--long"]])
def test_newest_versions_are_named_again_at_the_end_and_in_the_next_run(copy, long):
    (copy / ("constraints-long.txt" if long else "constraints.txt")).write_text("numpy==1.26.4\n")
    environment = _with_checks_that_are_recorded(copy, 'case "$*" in *--constraint*) exit 1 ;; esac')
    for _ in range(2):
        done = _run(copy, "--no-apt", "--lint", *long, **environment)
        assert done.returncode == 0, done.stderr
        assert "NOTE: these are the newest versions, not those of constraints" in done.stdout.splitlines()[-2]


def test_the_pinned_versions_of_the_long_tests_cover_its_large_tools():
    pinned = dict(line.split("==") for line in (ROOT / "constraints-long.txt").read_text().splitlines() if "==" in line)
    assert {"ray", "mlflow", "wandb", "torch", "lightning", "inspect_ai", "Sphinx"} <= {*pinned}


def _with_checks_that_are_recorded(copy: Path, before: str = "") -> dict[str, str]:
    """A Python whose environments have ruff, mypy and pytest that note that they ran and pass."""
    note = "printf '%s\\n' \"$(basename $0) $*\" >> ran"
    make = "mkdir -p $4/bin; for tool in python ruff mypy; do cp tool $4/bin/$tool; done"
    _command(copy / "tool", f"{before}\n{note}")
    made = _command(
        copy / "bin" / "made",
        f'case "$*" in *"-m venv"*) {make} ;; *) exec "{sys.executable}" "$@" ;; esac',
    )
    return {"PYTHON": str(made)}


@pytest.mark.parametrize(
    ("arguments", "checks"),
    [
        (("--lint",), ["ruff check", "ruff format"]),
        (("--types",), ["mypy"]),
        (("--lint", "--types"), ["ruff check", "ruff format", "mypy"]),
        (("--tests", "-k", "order"), ["pytest"]),
        ((), ["ruff check", "ruff format", "mypy", "pytest"]),
    ],
)
def test_the_parts_run_alone(copy, arguments, checks):
    done = _run(copy, "--no-apt", *arguments, **_with_checks_that_are_recorded(copy))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"test: passed: {', '.join(checks)}"
    ran = (copy / "ran").read_text().splitlines()
    assert all(line.endswith("-k order") for line in ran if "pytest" in line and "-k" in arguments)
    assert any(line.startswith("ruff") for line in ran) == ("ruff check" in checks)
    assert any(line.startswith("mypy") for line in ran) == ("mypy" in checks)
    assert any("pytest" in line for line in ran) == ("pytest" in checks)


def test_the_workflow_and_the_hooks_call_parts_of_the_script():
    import yaml

    parts = {"./test --lint", "./test --types", "./test --lint --types", "./test --tests"}
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    entries = [hook["entry"] for hook in hooks]
    assert steps
    assert set(steps) | set(entries) <= parts
    tested = {str(python) for python in workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]}
    declared = set(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    assert tested == declared
