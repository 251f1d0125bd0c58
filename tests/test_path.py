"""The path of one call: how many modules it enters, and how deep. Both may fall, not grow (docs/architecture.md)."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

import levelbest
from levelbest.cli.main import main

ROOT = Path(levelbest.__file__).parent
DOCS = Path(__file__).resolve().parents[1] / "docs"
COMPARE_MODULES, COMPARE_DEPTH, REPORT_MODULES = 54, 16, 99
"""Of a comparison the modules and the depth, of a report the modules, without designs that were only asked whether they
fit: a new design must not cost a module elsewhere. Where a change needs more: join what belongs together."""


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("write_architecture", DOCS / "write_architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entered(followed):
    """The modules of a trace, without those in which only a design was asked whether it fits."""
    return {module for _, module, function in followed.steps if not function.endswith(".fits")}


def test_a_comparison_enters_few_modules(script):
    followed = script.trace(script.comparison)
    assert "designs.compare" in followed.modules
    assert len(entered(followed)) <= COMPARE_MODULES, followed.modules
    assert followed.depth <= COMPARE_DEPTH


def test_a_report_of_the_shipped_results_enters_few_modules(script, tmp_path):
    columns = ["--family", "family", "--selection", "val_accuracy", "--reported", "test_accuracy", "--cost", "seconds"]
    command = ["report", str(ROOT / "data" / "digits.csv"), *columns, "--bounds", "0", "1", "--resamples", "99"]

    def report():
        with contextlib.redirect_stdout(io.StringIO()):
            assert main([*command, "--out", str(tmp_path / "report.html")]) == 0

    followed = script.trace(report, every_depth=False)
    assert "report.write" in followed.modules
    assert len(entered(followed)) <= REPORT_MODULES, followed.modules


def test_the_page_shows_the_house_as_it_is(script):
    drawn = (DOCS / "figures" / "architecture.svg").read_text(encoding="utf-8")
    assert drawn == script.picture(), "run: python docs/write_architecture.py"
    named = re.findall(r"^\| `([\w.]+)` \|", (DOCS / "architecture.md").read_text(encoding="utf-8"), flags=re.M)
    assert named
    gone = [name for name in named if not any((ROOT / (name.replace(".", "/") + end)).exists() for end in (".py", ""))]
    assert gone == [], "run: python docs/write_architecture.py"
