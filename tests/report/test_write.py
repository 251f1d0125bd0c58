"""From trials to files: all of them, none overwritten, nothing of the machine in them, refusals in words."""

import getpass
import json
import re
import socket
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.report.build import build_view
from levelbest.report.write import write_report
from levelbest.trials import Trials

FAST = {"n_resamples": 199, "statistics": ("mean",)}


def _trials(size=24, **more):
    rng = np.random.default_rng(4)
    options = {
        "family": ["a"] * size + ["b"] * size,
        "reported": rng.beta(8, 2, 2 * size),
        "direction": "max",
        "bounds": (0, 1),
        "configuration": {"lr": rng.random(2 * size), "secret": ["x"] * 2 * size},
    }
    return Trials.from_arrays(rng.beta(8, 2, 2 * size), **{**options, **more})


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return write_report(_trials(), folder / "r.html", hide=("secret",), published={"SOTA": 0.9}, **FAST)


def test_everything_is_written(report):
    names = {path.name for path in report.files}
    assert {"r.html", "curves.svg", "curves.pdf", "curves.png", "families.tex", "checklist.md", "trials.csv"} <= names
    assert all(path.stat().st_size for path in report.files)
    assert str(report).startswith(report.view.verdict[0])
    assert report.page.stat().st_size < 1_500_000


def test_nothing_of_the_machine_is_in_the_files(report):
    marks = {socket.gethostname(), str(Path.home()), str(report.page.parent), str(Path.cwd())}
    marks |= {getpass.getuser()} if getpass.getuser() != "root" else set()
    for path in report.files:
        if path.suffix in (".html", ".md", ".tex", ".csv", ".json", ".svg"):
            text = path.read_text(encoding="utf-8")
            assert not [mark for mark in marks if mark in text], path.name
            assert "secret" not in text


def test_the_json_is_json_and_says_what_the_page_says(report):
    document = json.loads((report.page.parent / "r" / "report.json").read_text())
    assert document["verdict"] == list(report.view.verdict)
    assert [one["name"] for one in document["families"]] == ["a", "b"]


def test_an_existing_page_is_kept(report):
    before = report.page.read_bytes()
    with pytest.raises(InputError, match="exists and is kept"):
        write_report(_trials(), report.page, **FAST)
    assert report.page.read_bytes() == before


def test_the_same_trials_give_the_same_bytes(tmp_path):
    pages = [write_report(_trials(), tmp_path / name / "r.html", page_only=True, **FAST).page for name in ("x", "y")]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["r.html"]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_report(_trials(), tmp_path / "file" / "r.html", **FAST)
    with pytest.raises(InputError, match="is a folder"):
        write_report(_trials(), tmp_path, **FAST)


def test_one_family_has_a_number_instead_of_a_verdict():
    view = build_view(_trials()["a"], **FAST)
    assert re.match(
        r"a: the expected best reported of 5 trials is 0\.\d+ \(0\.\d+ to 0\.\d+\), from 24", view.verdict[0]
    )
    assert view.pairs == ()


def test_one_trial_and_all_failed():
    view = build_view(Trials.from_arrays([0.5], direction="max", bounds=(0, 1)), **FAST)
    assert view.families[0].n_trials == 1
    assert view.families[0].headline[0] == 0.5
    with pytest.raises(DataError, match="none of 3 finished trials has a score"):
        build_view(Trials.from_arrays([np.nan] * 3, direction="max"), **FAST)


def test_validation_only_is_everywhere(tmp_path):
    found = write_report(_trials(reported=None), tmp_path / "r.html", **FAST)
    for path in found.files:
        if path.name in ("r.html", "families.md", "families.tex", "methods.tex", "curves.svg"):
            assert "validation only" in path.read_text(encoding="utf-8"), path.name


def test_unknown_columns_to_hide():
    with pytest.raises(InputError, match="did you mean 'secret'"):
        build_view(_trials(), hide=("secrt",), **FAST)


def test_costs_get_an_axis_and_lines():
    rng = np.random.default_rng(0)
    view = build_view(_trials(cost=rng.uniform(1, 2, 48), cost_unit="h"), comparing=False, **FAST)
    assert view.axes == ("trials", "cost")
    assert {line.family for line in view.lines_of("mean", "cost")} == {"a", "b"}
    assert view.families[0].total_cost == pytest.approx(view.families[0].mean_cost * 24)
