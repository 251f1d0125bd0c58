"""A report over several data sets: a panel for each, numbers over all, and a page that shows either."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats as scipy_stats

import levelbest as lb
from levelbest.cli.main import cli
from levelbest.errors import InputError
from levelbest.report.figures.panels import panel_of_view
from levelbest.report.figures.report import panels_figure
from levelbest.report.tasks import published_on

TASKS = {"sst": (0.85, 0.03), "cola": (0.5, 0.1), "mnli": (0.7, 0.05)}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    rows = ["model,dataset,lr,val_acc,test_acc"]
    for task, (centre, spread) in TASKS.items():
        for model, shift in (("cnn", 0.0), ("bert", 1.5)):
            scores = (centre, 0) + spread * (rng.normal(size=(16, 2)) * (1, 0.2) + (shift, 0))
            rows += [f"{model},{task},{rng.random():.4f},{own:.4f},{own + other:.4f}" for own, other in scores]
    path = tmp_path_factory.mktemp("tasks") / "runs.csv"
    path.write_text("\n".join(rows))
    return path


@pytest.fixture(scope="module")
def report(table, tmp_path_factory):
    page = tmp_path_factory.mktemp("report") / "r.html"
    return lb.write_report(
        str(table), page, task="dataset", bounds=(0, 1), n_resamples=200, published={"cola/bert": 0.7, "Smith": 0.8}
    )


def test_every_task_has_the_verdict_it_has_by_itself(table, report):
    for task in TASKS:
        alone = lb.compare(
            str(table), where=f"dataset = '{task}'", bounds=(0, 1), n_resamples=200, paired=False
        ).to_dict()
        assert report.view.tasks[task].comparison.to_dict()["comparisons"] == alone["comparisons"]
    over = lb.compare_tasks(
        {task: lb.read_trials(str(table), where=f"dataset = '{task}'", bounds=(0, 1)) for task in TASKS},
        n_resamples=200,
    )
    assert report.view.over_tasks.overall.to_dict() == over.overall.to_dict()
    assert report.view.over_tasks.iqm == over.iqm


def test_the_file_of_numbers_has_the_aggregates(table, report):
    document = json.loads((report.page.with_suffix("") / "report.json").read_text())
    compared = document["comparison"]
    assert compared["iqm_scale"] == "score"
    trials = lb.read_trials(str(table), group="dataset")
    for row in compared["iqm"]:
        if row["n"] == 1:
            assert row["value"] == pytest.approx(scipy_stats.trim_mean(trials[row["family"]].reported, 0.25), abs=1e-9)
            assert row["low"] < row["value"] < row["high"]
    (chance,) = [row for row in compared["probability_of_improvement"] if row["n"] == 1]
    assert chance["families"] == ["cnn", "bert"]
    assert chance["high"] < 0.5
    assert set(document["tasks"]) == set(TASKS)


def test_the_page_has_all_tasks_and_each(report):
    text = report.page.read_text()
    assert 'id="figure-panels"' in text
    for task in TASKS:
        assert f">{task}</option>" in text
    assert "Probability of improvement" in text
    assert "bert over cnn" in text
    assert "Statistical Precipice" in text


def test_a_panel_for_each_task_with_its_own_heights_where_they_lie_apart(report):
    panels = {name: panel_of_view(own) for name, own in report.view.tasks.items()}
    apart = panels_figure({name: replace(panel, published={}) for name, panel in panels.items()})
    assert len({ax.get_ylim() for ax in apart.axes if ax.get_title(loc="left")}) == 3
    titled = {ax.get_title(loc="left"): ax for ax in panels_figure(panels).axes if ax.get_title(loc="left")}
    assert set(titled) == set(TASKS)
    alike = {name: panel_of_view(report.view.tasks["sst"]) for name in ("one", "two")}
    heights = {ax.get_ylim() for ax in panels_figure(alike).axes if ax.get_title(loc="left")}
    assert len(heights) == 1
    dashed = [line for line in titled["cola"].lines if len(line.get_ydata()) == 2 and len(set(line.get_ydata())) == 1]
    assert sorted(float(line.get_ydata()[0]) for line in dashed) == [0.7, 0.8]


def test_a_published_score_belongs_to_its_task():
    published = {"cola/bert": 0.6, "Smith": 0.5, "a/b": 0.1}
    assert published_on("cola", published, ("cola", "sst")) == {"bert": 0.6, "Smith": 0.5, "a/b": 0.1}
    assert published_on("sst", published, ("cola", "sst")) == {"Smith": 0.5, "a/b": 0.1}


def test_the_checklist_has_the_winner_of_every_task(report):
    answers = {item.key: item.answer for item in report.view.checklist}
    for task in TASKS:
        assert f"{task}: cnn: val_acc" in answers["validation"]


def test_panels_of_curve_and_compare(table, tmp_path):
    for command in ("curve", "compare"):
        out = tmp_path / f"{command}.svg"
        told = CliRunner().invoke(
            cli, [command, str(table), "--task", "dataset", "--resamples", "200", "--out", str(out)]
        )
        assert told.exit_code == 0, told.output
        text = out.read_text()
        assert all(f">{task}<" in text for task in TASKS)
    told = CliRunner().invoke(
        cli, ["curve", str(table), "--task", "dataset", "--resamples", "200", "--json", "--n", "1,4"]
    )
    document = json.loads(told.stdout)
    assert [len(own["families"]) for own in document["tasks"].values()] == [2, 2, 2]


def test_seeds_on_every_task_show_their_runs(tmp_path):
    rng = np.random.default_rng(5)
    rows = [
        f"{algo},{game},{seed},{rng.normal(shift):.4f}"
        for game in ("pong", "qbert") for algo, shift in (("dqn", 0), ("ppo", 4)) for seed in range(4)
    ]  # fmt: skip
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["algo,game,seed,return", *rows]))
    page = tmp_path / "r.html"
    told = CliRunner().invoke(
        cli, ["report", str(path), "--task", "game", "--direction", "max", "--resamples", "200", "--out", str(page)]
    )
    assert told.exit_code == 0, told.output
    assert "a new run" in told.output
    assert 'class="heat"' in page.read_text()
    assert not (tmp_path / "r" / "curves.svg").exists()  # one budget: no chart over budgets


def test_one_task_is_none(table, tmp_path):
    with pytest.raises(InputError, match="at least two, got 1"):
        lb.write_report(str(table), tmp_path / "r.html", task="dataset", where="dataset = 'sst'", bounds=(0, 1))
    with pytest.raises(InputError, match="no column 'datasets' for task="):
        lb.write_report(str(table), tmp_path / "r.html", task="datasets")


def test_the_chart_shows_all_tasks_or_one(report):
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if binary is None:
        pytest.skip("no browser")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=binary, args=["--no-sandbox", "--disable-gpu"])
        tab, errors = browser.new_page(), []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(report.page.resolve().as_uri())
        shown = [(tab.inner_text("#score"), tab.inner_text("#answer"))]
        tab.select_option("select[name=task]", "1")
        shown.append((tab.inner_text("#score"), tab.inner_text("#answer")))
        tab.dispatch_event("input[name=statistic][value=median]", "click")
        assert tab.input_value("select[name=task]") == "1"
        tab.select_option("select[name=task]", "-1")  # over all tasks there are means alone
        assert tab.is_checked("input[name=statistic][value=mean]")
        tab.dispatch_event("input[name=statistic][value=median]", "click")
        assert tab.input_value("select[name=task]") == "0"
        browser.close()
    assert errors == []
    assert [score for score, _ in shown] == ["test_acc (sd from each task's mean)", "test_acc"]
