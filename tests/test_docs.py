"""Documentation that runs: every command is in the reference, every page is in the index."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from levelbest.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def _help_pages():
    spec = importlib.util.spec_from_file_location("write_cli", DOCS / "write_cli.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.help_pages()


def test_the_command_reference_is_up_to_date():
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == _help_pages(), "run: python docs/write_cli.py"


def test_every_command_exists_and_says_what_it_does():
    for name in COMMANDS:
        command = cli.get_command(None, name)
        assert command.name == name
        assert command.get_short_help_str(200)


def test_every_page_is_in_the_index():
    listed = set(re.findall(r"^([\w-]+)$", (DOCS / "index.md").read_text(), flags=re.M))
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages == listed


def test_every_command_is_in_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"`{name}" in text, name


@pytest.mark.long
def test_the_site_builds_without_warnings(tmp_path):
    pytest.importorskip("sphinx")
    # a process of its own: the deprecations of Sphinx's extensions are not the site's warnings
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(DOCS), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "Start in one minute" in (tmp_path / "start.html").read_text(encoding="utf-8")
