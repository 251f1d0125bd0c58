"""Repeated runs by any name are runs of one configuration, or a question; and the table of them for a paper."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous
from levelbest.report.build import build_view
from levelbest.report.view_tables import paper_table

FAST = {"n_resamples": 199}


def runs(number, labels=range(1, 6), score="Accuracy", **more):
    """Five runs each, .81 and .85 on average with a standard deviation of .008: Ours is better in any sample."""
    rng = np.random.default_rng(4)
    n = len(labels)
    scores = np.r_[rng.normal(0.81, 0.008, n), rng.normal(0.85, 0.008, n)].round(4)
    return {"Model": ["Base"] * n + ["Ours"] * n, number: [*labels] * 2, score: scores.tolist(), **more}


@pytest.mark.parametrize(
    ("number", "labels"),
    [
        ("Run", range(1, 6)),
        ("rep", range(5)),
        ("Repetition", range(5)),
        ("replicate", [f"rep{i}" for i in range(5)]),
        ("fold", [f"fold_{i}" for i in range(5)]),
        ("run_id", [101, 102, 103, 104, 105]),
        ("rep", "abcde"),
        ("Run", ["I", "II", "III", "IV", "V"]),
        ("fold", ["first", "second", "third", "fourth", "fifth"]),
        ("Versuch", range(1, 6)),
        ("Wdh.", range(1, 6)),
        ("Saat", range(5)),
    ],
)
def test_a_column_that_only_numbers_runs_is_one_of_seeds(number, labels):
    compared = lb.compare(runs(number, labels), **FAST)
    assert compared.terms.design == ("folds" if number == "fold" else "seeds")
    assert compared["Ours", "Base"].verdict_at(1) == "Ours"
    trials = lb.read_trials(runs(number, labels))
    assert number not in trials.configuration
    assert ("seed", number) in trials.columns.items()


def test_runs_are_numbered_on_their_task():
    table = runs("rep")
    table = {name: column * 2 for name, column in table.items()} | {"dataset": ["x"] * 10 + ["y"] * 10}
    compared = lb.compare(table, task="dataset", **FAST)
    assert {own.terms.design for own in compared.tasks.values()} == {"seeds"}


@pytest.mark.parametrize("number", ["Nr.", "session", "k", "rs", "day"])
def test_a_column_of_another_name_that_counts_the_rows_is_asked_about(number):
    table = runs(number)
    with pytest.raises(Ambiguous, match=rf"'{number}' counts the rows of every family, .*seed_column='{number}'\)"):
        lb.compare(table, **FAST)
    assert lb.compare(table, seed_column=number, **FAST).terms.design == "seeds"
    assert lb.compare(table, seed_column="none", **FAST).terms.design != "seeds"


@pytest.mark.parametrize(
    ("number", "more"),
    [("depth", {}), ("level", {"lr": [0.1, 0.2, 0.3, 0.4, 0.5, 0.15, 0.25, 0.35, 0.45, 0.55]})],
)
def test_a_known_hyperparameter_or_one_of_several_is_a_setting(number, more):
    assert number in lb.read_trials(runs(number, **more)).configuration


@pytest.mark.parametrize(
    ("table", "design"),
    [
        (runs("run", score="val_acc"), "trials"),  # a validation score chooses among trials of a search
        (runs("Run", lr=[0.1, 0.2, 0.3, 0.4, 0.5] * 2), "pairs"),  # a setting varies, as in both families
        (runs("rep", [0, 0, 1, 1, 2]), "trials"),  # these number something else
    ],
)
def test_what_may_be_a_search_is_not_taken_for_repeated_runs(table, design):
    compared = lb.compare(table, **FAST)
    assert compared.terms.design != "seeds"
    assert compared.terms.design in (design, "configurations", "trials", "pairs")


def test_trials_without_settings_are_asked_about(tmp_path, capsys):
    with pytest.raises(Ambiguous, match=r"runs of one configuration \(seed_column='trial'\), or trials of a search"):
        lb.compare(runs("trial"))
    assert lb.compare(runs("trial"), seed_column="trial", **FAST).terms.design == "seeds"
    assert lb.compare(runs("trial"), seed_column="none", **FAST).terms.design == "trials"
    path = tmp_path / "trials.csv"
    table = runs("trial")
    path.write_text("\n".join(map(",".join, [list(table), *zip(*(map(str, c) for c in table.values()), strict=True)])))
    assert main(["compare", str(path)]) == 1
    assert "--seed-column trial" in capsys.readouterr().err


def test_the_table_for_a_paper_has_mean_sd_and_interval_with_equal_decimals(tmp_path):
    table = runs("Run")
    shown = paper_table(build_view(lb.read_trials(table), **FAST))
    assert shown.heads == ("family", "runs", "a new run", "SD", "interval")
    scores = np.array(table["Accuracy"])
    for row, own in zip(shown.rows, (scores[5:], scores[:5]), strict=True):
        decimals = len(row[2].split(".")[1])
        assert float(row[2]) == round(own.mean(), decimals)
        assert float(row[3]) == round(own.std(ddof=1), decimals)
        assert {len(number.split(".")[1]) for number in (row[2], row[3], *row[4].split(" to "))} == {decimals}
    report = lb.write_report(table, tmp_path / "r.html", **FAST)
    assert "appendix.tex" not in {path.name for path in report.files}  # nothing was searched
    assert all(path.stat().st_size > 40 for path in report.files)
    latex = (tmp_path / "r" / "families.tex").read_text(encoding="utf-8")
    assert r"Family & Runs & A new run & SD & Interval \\" in latex
    assert "usepackage" not in latex
