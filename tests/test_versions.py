"""Other versions than the tested ones: the lowest that are declared, the newest there are, and every Python from 3.11.

Each in an environment of its own, in which the tour and a small study must run, with the same verdict everywhere.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
STUDY = """
metric: {selection: dev, direction: max}
families: {a: {command: [echo, '{{"dev": {x}}}'], n_trials: 4, space: {x: {uniform: [0, 1]}}}}
"""


def declared() -> list[str]:
    """The package's own requirements and those of the live page, as they are declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["dependencies"] + project["optional-dependencies"]["web"]


def interpreter(version: str) -> str:
    """An interpreter of this version, on the PATH or among pyenv's."""
    candidates = [shutil.which(f"python{version}")]
    candidates += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    for candidate in candidates:
        probe = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        if (
            candidate
            and subprocess.run([candidate, "-c", probe], capture_output=True, text=True).stdout.strip() == version
        ):
            return candidate
    pytest.skip(f"there is no Python {version} here that can make environments")


def make(folder: Path, python: str, *requirements: str) -> Path:
    """The package in a fresh environment; its folder of programs."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(folder / "bin" / "pip"), "install", "--quiet", *requirements, f"{ROOT}[web]"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=1200)
    if done.returncode and re.search("No matching distribution|Could not find a version|Failed to build", done.stderr):
        pytest.skip(f"not to be had here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def tour(programs: Path, folder: Path) -> str:
    """Run the tour and a study there; the verdict of the tour."""
    folder.mkdir()
    (folder / "s.yaml").write_text(STUDY)
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {"OMP_NUM_THREADS": "1"}
    said = ""
    for command in (["run", "s.yaml", "--quiet"], ["verify", "s.db"], ["report", "s.db"], ["demo", "--out", "demo"]):
        done = subprocess.run(
            [str(programs / "levelbest"), *command], cwd=folder, capture_output=True, text=True, env=env, timeout=1200
        )
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr, done.stderr
        said = done.stdout
    return said.partition("page:")[0]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """What the tested versions say."""
    return tour(Path(sys.executable).parent, tmp_path_factory.mktemp("here") / "tour")


def test_the_lowest_declared_versions(tmp_path, here):
    lowest = [requirement.replace(">=", "==") for requirement in declared()]
    assert all("==" in requirement for requirement in lowest)
    assert tour(make(tmp_path / "lowest", interpreter("3.11"), *lowest), tmp_path / "tour") == here


@pytest.mark.parametrize("version", PYTHONS)
def test_the_newest_versions_on_every_python(tmp_path, here, version):
    newest = [re.split("[>=]", requirement)[0] for requirement in declared()]
    assert tour(make(tmp_path / version, interpreter(version), "--upgrade", *newest), tmp_path / "tour") == here
