"""Very many rows and very many families: the page stays a page, and what would not end is refused at once."""

import re

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import InputError
from levelbest.report import build
from levelbest.report.page import html


def table(n_families: int, n_trials: int, **more: object) -> dict[str, object]:
    rng = np.random.default_rng(31)
    names = [f"f{k}" for k in range(n_families) for _ in range(n_trials)]
    columns = {"family": names, "lr": rng.uniform(size=len(names)), "dev": rng.normal(size=len(names))}
    return {**columns, **more}


READING = {"family": "family", "selection": "dev", "direction": "max"}


@pytest.mark.parametrize("verb", [lb.compare, lb.write_report])
def test_very_many_families_are_refused_before_anything_is_computed(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("levelbest.designs._table.TableDesign.__init__", None)
    told = r"1,000 families make 499,500 pairs, and at most 5,000 .*where.*baseline.*LEVELBEST_MAX_PAIRS"
    with pytest.raises(InputError, match=told):
        verb(table(1000, 2), **READING)


def test_the_limit_can_be_set_and_a_baseline_needs_few_pairs(monkeypatch):
    monkeypatch.setenv("LEVELBEST_MAX_PAIRS", "2")
    with pytest.raises(InputError, match="3 families make 3 pairs, and at most 2"):
        lb.compare(table(3, 4), **READING)
    assert len(lb.compare(table(3, 4), baseline="f0", n_resamples=99, **READING).pairs) == 2


def test_a_page_of_many_rows_compares_what_the_verdict_is_of_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MOST_COMPARED", 30)
    monkeypatch.setattr(html, "MOST_CELLS", 80)
    columns = table(2, 20, seconds=np.linspace(1, 2, 40))
    report = lb.write_report(columns, tmp_path / "page.html", cost="seconds", n_resamples=99, **READING)
    assert {(pair.terms.statistic, pair.terms.axis) for pair in report.view.pairs} == {("mean", "trials")}
    assert {(line.statistic, line.axis) for line in report.view.lines} == {
        ("mean", "trials"),
        ("median", "trials"),
        ("mean", "cost"),
    }
    page = report.page.read_text()
    assert "compare(trials, statistic=&#39;median&#39;)" in page
    assert "compare(trials, axis=&#39;cost&#39;)" in page
    rows = int(re.search(r"The first (\d+) of 40 trials; all of them are in the table beside this page", page)[1])
    assert page.count("<tr>", page.index('id="trials-table"')) == rows + 1 < 41
    assert len((tmp_path / "page" / "trials.csv").read_text().splitlines()) == 41


def test_fewer_rows_are_all_compared():
    columns = table(2, 20, seconds=np.linspace(1, 2, 40))
    view = build.build_view(lb.read_trials(columns, cost="seconds", **READING), n_resamples=99)
    assert {(pair.terms.statistic, pair.terms.axis) for pair in view.pairs} == {
        ("mean", "trials"),
        ("median", "trials"),
        ("mean", "cost"),
    }
    assert view.uncompared == ()
