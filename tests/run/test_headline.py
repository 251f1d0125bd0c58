"""[B] 3.3: a budget is chosen before the results are seen. A ledger shows it; a table of results cannot."""

import json
import sys

import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import DataError, InputError
from levelbest.run.runner import run_study
from levelbest.run.study import Study
from levelbest.trials import one_table

SCRIPT = "import sys, json; x = float(sys.argv[1]); print(json.dumps(dict(acc=x, other=1 - x)))"
STUDY = {
    "headline": 2,
    "metric": {"selection": "acc", "direction": "max", "bounds": [0, 1]},
    "families": {
        name: {"command": [sys.executable, "-c", SCRIPT, "{x}"], "space": {"x": {"uniform": ends}}, "n_trials": 8}
        for name, ends in {"low": [0.0, 0.2], "high": [0.7, 0.9]}.items()
    },
}
REGISTERED, ALONE = "registered before the first trial", "tested alone"


def _study(folder, **changes):
    return Study.from_dict(STUDY | changes, folder=folder, name="s")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headline")
    run_study(_study(folder), folder / "s.db", workers=2)
    return folder / "s.db"


def _said(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_it_is_in_the_first_record_and_verify_says_so(ledger, capsys):
    import sqlite3

    connection = sqlite3.connect(ledger)
    kind, body = connection.execute("SELECT kind, body FROM records ORDER BY seq LIMIT 1").fetchone()
    connection.close()
    assert kind == "study"
    assert json.loads(body)["headline"] == 2
    assert f"the best of 2 by acc, was {REGISTERED} for all trials of low, high:" in _said(capsys, "verify", ledger)
    assert json.loads(_said(capsys, "verify", ledger, "--json"))["headline"] == 2


def test_it_is_tested_first_and_said_to_be_registered(ledger, capsys, tmp_path):
    said = _said(capsys, "compare", ledger, "--details")
    assert f"With 2 trials, {REGISTERED}: high, better than low" in said
    assert f"confidence at 2 trials, {REGISTERED}, and after that over all budgets" in said
    assert ALONE not in said
    page = tmp_path / "page.html"
    assert REGISTERED in _said(capsys, "report", ledger, "--out", page)
    text = page.read_text(encoding="utf-8")
    assert f"The best of n = 2, {REGISTERED}" in text
    assert f"The headline number is the best of n = 2, {REGISTERED}." in text
    document = json.loads(_said(capsys, "compare", ledger, "--json"))
    assert (document["headline"], document["tested_alone"], document["fixed_in_advance"]) == (2, True, True)


@pytest.mark.parametrize("asked", [["--n", "3"], ["--headline", "3"], ["--headline", "2", "--selection", "other"]])
def test_what_is_typed_afterwards_is_only_asked_about(ledger, capsys, asked):
    said = _said(capsys, "compare", ledger, *asked, "--direction", "max")
    assert ALONE in said
    assert REGISTERED not in said


def _flaky(config, _):
    """Fails below .3 of its range, and reports a second score."""
    if config["x"] % 1 < 0.3:
        raise ValueError("no luck")
    return {"acc": config["x"], "other": 1 - config["x"]}


@pytest.fixture(scope="module")
def flaky(tmp_path_factory):
    """Three families of 12 trials, of which some fail; the headline is the best of 2."""
    folder = tmp_path_factory.mktemp("flaky")
    families = {
        name: {"function": _flaky, "space": {"x": {"uniform": [low, low + 1]}}, "n_trials": 12}
        for name, low in {"a": 0, "b": 5, "c": 10}.items()
    }
    run_study(_study(folder, families=families, metric={"selection": "acc", "direction": "max"}), folder / "s.db")
    return folder / "s.db"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--where", "family <> 'c'"], "left out here: c"),
        (["--where", "trial <> 3"], "1 of 12 trials are left out here"),
        (["--failed", "drop"], "trials that failed are dropped here"),
        (["--baseline", "a"], "only pairs with a are compared here"),
        (["--statistic", "median"], "the statistic here is median"),
    ],
)
def test_what_is_left_out_after_registration_takes_it_away(flaky, capsys, options, why):
    said = _said(capsys, "compare", flaky, *options, "--details")
    assert f"With 2 trials, {REGISTERED}" not in said
    assert f"2 trials, {REGISTERED}" not in said
    assert ALONE in said
    assert why in said
    document = json.loads(_said(capsys, "compare", flaky, *options, "--json"))
    assert (document["headline"], document["tested_alone"], document["fixed_in_advance"]) == (2, True, False)
    assert "registered" in {warning["code"] for warning in document["warnings"]}


def test_the_page_says_what_was_left_out(flaky, capsys, tmp_path):
    page = tmp_path / "page.html"
    _said(capsys, "report", flaky, "--where", "trial <> 3", "--out", page)
    text = page.read_text(encoding="utf-8")
    assert f"The best of n = 2, {ALONE}" in text
    assert f"The best of n = 2, {REGISTERED}" not in text
    assert "1 of 12 trials are left out here" in text


def test_families_left_out_in_python_take_it_away_too(flaky):
    trials = lb.read_trials(flaky)
    assert lb.compare(trials).terms.registered
    fewer = lb.compare(trials[["a", "b"]])
    assert not fewer.terms.registered
    assert "registered" in {caution.code for caution in fewer.cautions}


def test_a_family_without_a_score_is_nobodys_choice(tmp_path):
    def run(config, _):
        if config["x"] > 5:
            raise ValueError("never")
        return {"acc": config["x"]}

    families = {
        name: {"function": run, "space": {"x": {"uniform": [low, low + 1]}}, "n_trials": 4}
        for name, low in {"a": 0, "b": 2, "never": 10}.items()
    }
    study = _study(tmp_path, families=families, metric={"selection": "acc", "direction": "max"})
    with pytest.raises(DataError, match="the first 3 trials of never failed"):
        run_study(study, tmp_path / "s.db")
    run_study(study, tmp_path / "s.db")
    compared = lb.compare(tmp_path / "s.db")
    assert compared.families == ("a", "b")
    assert compared.terms.registered


def test_a_plan_that_grew_is_said(tmp_path, capsys):
    def run(n_trials):
        families = {
            name: {"function": _flaky, "space": {"x": {"uniform": [low + 0.3, low + 1]}}, "n_trials": n_trials}
            for name, low in {"a": 0, "b": 5}.items()
        }
        metric = {"selection": "acc", "direction": "max"}
        run_study(_study(tmp_path, families=families, metric=metric), tmp_path / "s.db")

    run(4)
    assert "grew" not in _said(capsys, "verify", tmp_path / "s.db")
    run(6)
    assert "The plan of a grew from 4 to 6 trials after its first trial." in _said(capsys, "verify", tmp_path / "s.db")
    grown = json.loads(_said(capsys, "verify", tmp_path / "s.db", "--json"))["grown_plans"]
    assert grown == [{"family": name, "first": 4, "now": 6} for name in ("a", "b")]
    said = _said(capsys, "compare", tmp_path / "s.db", "--details")
    assert "4 trials were planned, and the plan was raised to 6 after the first had run" in said


def test_the_registered_budget_may_be_typed_too(ledger, capsys):
    assert REGISTERED in _said(capsys, "compare", ledger, "--n", "2")


def test_several_budgets_or_cost_name_none(ledger, capsys):
    for asked in (["--n", "1,2"], ["--axis", "cost"]):
        said = _said(capsys, "compare", ledger, *asked)
        assert REGISTERED not in said
        assert ALONE not in said


def test_a_table_made_of_a_ledger_shows_nothing_of_when(ledger, capsys, tmp_path):
    table = tmp_path / "trials.csv"
    _said(capsys, "convert", ledger, "--out", table)
    said = _said(capsys, "compare", table, "--headline", "2")
    assert ALONE in said
    assert REGISTERED not in said


@pytest.mark.parametrize("later", [None, 3])
def test_it_cannot_be_changed_after_the_study_began(ledger, later):
    with pytest.raises(DataError, match="headline"):
        run_study(_study(ledger.parent, headline=later), ledger)


@pytest.mark.parametrize("wrong", [0, 9, 2.5, "5", True])
def test_it_is_a_number_of_trials_that_a_family_has(tmp_path, wrong):
    with pytest.raises(InputError, match="headline must be"):
        _study(tmp_path, headline=wrong)


def test_python_registers_it_too_and_a_ledger_without_says_none(tmp_path):
    def run(family, ledger, **more):
        more |= {"space": {"x": {"uniform": [0, 1]}}, "n_trials": 4, "progress": False}
        more |= {"selection": "score", "direction": "max"}
        return lb.run_trials(lambda config, _: config["x"], family=family, ledger=tmp_path / ledger, **more)

    first = run("a", "a.db", headline=3)
    assert first.trials().registered.n == 3
    assert lb.verify_ledger(first.ledger).headline == 3
    assert run("b", "a.db").trials().registered.n == 3  # what is left out is as the ledger has it
    plain = run("c", "c.db")
    assert plain.trials().registered is None
    assert "No headline budget was registered" in str(lb.verify_ledger(plain.ledger))
    # of families of two ledgers it is registered only where both say the same
    assert one_table([first.trials(), plain.trials()]).registered is None
