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
from levelbest.report.view_tables import families_table, paper_table
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
    return write_report(
        _trials(), folder / "r.html", hide=("secret",), published={"SOTA": 0.9}, figures=("svg", "pdf", "png"), **FAST
    )


def test_everything_is_written(report):
    names = {path.name for path in report.files}
    assert {"r.html", "curves.svg", "curves.pdf", "curves.png", "families.tex", "checklist.md", "trials.csv"} <= names
    assert all(path.stat().st_size for path in report.files)
    assert str(report).startswith(report.view.verdict[0])
    assert report.page.stat().st_size < 1_500_000


def test_formats_are_written_on_request(tmp_path):
    found = write_report(_trials(), tmp_path / "r.html", **FAST)
    assert {path.suffix for path in found.files} == {".html", ".svg", ".md", ".tex", ".csv", ".json"}
    with pytest.raises(InputError, match="unknown figure format 'jpg'"):
        write_report(_trials(), tmp_path / "s.html", figures=("jpg",), **FAST)


def test_nothing_of_the_machine_is_in_the_files(report):
    marks = {socket.gethostname(), str(Path.home()), str(report.page.parent), str(Path.cwd())}
    marks |= {getpass.getuser()} if getpass.getuser() != "root" else set()
    for path in report.files:
        if path.suffix in (".html", ".md", ".tex", ".csv", ".json", ".svg"):
            # the figures inside the page are files too, and their pixels may spell a short host name
            text = re.sub(r"base64,[\w+/=\s]+", "", path.read_text(encoding="utf-8"))
            found = [mark for mark in marks if re.search(rf"(?<!\w){re.escape(mark)}(?!\w)", text)]
            assert not found, path.name
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
    with pytest.raises(InputError, match="cannot be made a folder"):
        write_report(_trials(), tmp_path / "file" / "r.html", **FAST)
    with pytest.raises(InputError, match="is a folder"):
        write_report(_trials(), tmp_path, **FAST)


def test_a_page_without_an_ending_is_html(tmp_path):
    page = write_report(_trials(), tmp_path / "first.v2", page_only=True, **FAST).page
    assert page == tmp_path / "first.v2.html"
    written = write_report(_trials(), tmp_path / "name", **FAST)
    assert {path.parent for path in written.files} == {tmp_path, tmp_path / "name"}
    with pytest.raises(InputError, match=r"name\.html exists and is kept"):  # and not: name is a folder
        write_report(_trials(), tmp_path / "name", **FAST)
    with pytest.raises(InputError, match=r"a report is a page of HTML, got r\.pdf; name it r\.html"):
        write_report(_trials(), tmp_path / "r.pdf", **FAST)


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


def test_columns_that_tell_of_a_machine_stay_out(tmp_path):
    told = {
        "log_path": ["/home/someone/runs/1"] * 48,
        "win": ["C:\\Users\\someone\\x"] * 48,
        "host": ["gpu-7"] * 48,
        "info.user_name": ["someone"] * 48,
        "share": ["train/test"] * 48,
        "lr": [0.5] * 48,
    }
    found = write_report(_trials(configuration=told), tmp_path / "r.html", **FAST)
    assert set(found.view.table) >= {"share", "lr"}
    assert "log_path, win, host, info.user_name" in found.view.provenance.values()
    for path in found.files:
        if path.suffix in (".html", ".md", ".tex", ".csv", ".json", ".svg"):
            text = path.read_text(encoding="utf-8")
            assert not [mark for mark in ("someone", "gpu-7") if mark in text], path.name


def test_seeds_keep_all_their_digits(tmp_path):
    seeds = np.arange(48) + 1_376_384_000.0
    found = write_report(_trials(seed=seeds), tmp_path / "r.html", **FAST)
    assert "<td>1376384000" in found.page.read_text(encoding="utf-8")
    assert ",1376384000," in (tmp_path / "r" / "trials.csv").read_text(encoding="utf-8")
    assert found.view.provenance["random seed"] == "0"


def test_a_family_without_known_costs_has_no_curve_over_cost():
    rng = np.random.default_rng(0)
    cost = np.r_[rng.uniform(1, 2, 48), np.full(24, np.nan)]
    trials = Trials.from_arrays(
        rng.beta(8, 2, 72), family=["a"] * 24 + ["b"] * 24 + ["c"] * 24, direction="max", bounds=(0, 1), cost=cost
    )
    view = build_view(trials, **FAST)
    assert {line.family for line in view.lines_of("mean", "cost")} == {"a", "b"}
    assert {pair.families for pair in view.pairs_of("mean", "cost")} == {("a", "b")}
    assert len(view.pairs_of("mean")) == 3
    for line in view.lines_of("mean", "cost"):
        assert 0 <= np.nanmin(line.low) <= np.nanmax(line.high) <= 1  # within the bounds of the score


def test_many_families_get_a_figure_for_each_rival_of_the_best():
    from levelbest.report.figures.verdicts import difference_figure

    rng = np.random.default_rng(1)
    scores = np.concatenate([rng.beta(8, 2, 12) * (0.5 + 0.05 * i) for i in range(9)])
    trials = Trials.from_arrays(scores, family=np.repeat(list("abcdefghi"), 12), direction="max", bounds=(0, 1))
    view = build_view(trials, **FAST)
    panels = [ax for ax in difference_figure(view.pairs_of("mean"), "i").axes if ax.axison]
    assert len(panels) == 6
    assert all(ax.get_title(loc="left").startswith("i − ") for ax in panels)
    rival = panels[0].get_title(loc="left").removeprefix("i − ")
    pair = next(one for one in view.pairs_of("mean") if set(one.families) == {"i", rival})
    sign = 1 if pair.families[0] == "i" else -1
    drawn = panels[0].get_lines()[1]
    np.testing.assert_allclose(drawn.get_ydata(), sign * np.array(pair.difference)[np.isfinite(pair.low)])


def test_a_family_of_one_trial_is_shown_and_left_out_of_the_verdict():
    rng = np.random.default_rng(3)
    *_, lonely = scores = rng.random(21)
    trials = Trials.from_arrays(scores, family=["a"] * 10 + ["b"] * 10 + ["lonely"], direction="max", bounds=(0, 1))
    view = build_view(trials, **FAST)
    assert [one.name for one in view.families] == ["a", "b", "lonely"]
    assert {pair.families for pair in view.pairs} == {("a", "b")}
    assert view.verdict[-1] == f"lonely: one trial ({trials.metric.score} {lonely:.4g}), too few to compare."
    assert "10 trials each" in " ".join(view.verdict)
    # the best of 5 of one trial does not exist: the number says that it is of one
    row = next(line for line in paper_table(view).markdown().splitlines() if line.startswith("| lonely"))
    assert "(n = 1) | – |" in row
    assert families_table(view).csv().splitlines()[3].startswith("lonely,1,0,1,")
    assert paper_table(view).latex().count("(n = 1)") == 1
    alone = build_view(trials[["a", "lonely"]], **FAST)
    assert {part.verdict for pair in alone.pairs for part in pair.verdicts} == {"not comparable"}
    assert alone.verdict[0].startswith("a and lonely cannot be compared")


def test_repeated_searches_are_reported_search_by_search(tmp_path):
    rng = np.random.default_rng(5)
    scores = rng.random((2, 6, 10)) + np.array([0.0, 1.0])[:, None, None]
    trials = Trials.from_arrays(
        scores.ravel(), family=["a"] * 60 + ["b"] * 60, search=np.repeat(np.arange(12), 10), direction="max"
    )
    found = write_report(trials, tmp_path / "r.html", page_only=True, n_resamples=199)
    best_of_5 = np.maximum.accumulate(scores, axis=2)[:, :, 4].mean(axis=1)
    np.testing.assert_allclose([one.headline[0] for one in found.view.families], best_of_5)
    assert found.view.statistics == ("mean",)
    assert "The unit is the whole search, of which there are 12" in found.view.methods
    assert found.view.verdict[0].startswith("With 5 trials: b, better than a by ")


def test_an_emoji_in_a_name_warns_nobody(tmp_path):
    trials = _trials(family=["🙂"] * 24 + ["b"] * 24)
    assert write_report(trials, tmp_path / "r.html", **FAST).page.exists()  # warnings are errors here


def test_a_family_that_failed_throughout_is_named_and_left_out():
    scores = np.r_[np.linspace(0.5, 0.9, 10), np.linspace(0.4, 0.7, 10), np.full(5, np.nan)]
    names = ["a"] * 10 + ["b"] * 10 + ["lost"] * 5
    view = build_view(Trials.from_arrays(scores, family=names, direction="max"), **FAST)
    assert view.verdict[-1] == "lost: none of 5 trials has a score: left out."
    assert [one.name for one in view.families] == ["a", "b"]
    assert view.n_rows == 25  # the table of trials keeps them
    assert ("failures", "lost", 5) in {(one.code, one.family, one.value) for one in view.cautions}
