"""[D] section 5, footnote 13: what was searched stands beside the verdict, declared or as observed, and said so."""

import json
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.report.build import build_view
from levelbest.report.view_tables import appendix_tables
from levelbest.report.words.methods import parameter_words
from levelbest.trials.spaces import search_spaces

ROOT = Path(__file__).parents[1]
FAST = {"n_resamples": 199}
SPACES = {"search": {"lr": {"loguniform": [1e-4, 100]}, "opt": {"choice": ["sgd", "adam"]}, "model": "net"}}


def _table(**more):
    """20 trials of a search and 20 of one configuration that lies within it, with a host that nobody is told of."""
    rng = np.random.default_rng(3)
    searched = np.exp(rng.uniform(np.log(1e-4), np.log(100), 20))
    return {
        "model_family": ["search"] * 20 + ["fixed"] * 20,
        "config.lr": [*searched, *[0.5] * 20],
        "config.opt": [*rng.choice(["sgd", "adam"], 20), *["adam"] * 20],
        "config.model": ["net"] * 40,
        "config.host": ["gpu17"] * 40,
        "seed": [*range(40)],
        "acc": [*rng.normal(0.7, 0.05, 20), *rng.normal(0.72, 0.01, 20)],
        **more,
    }


def _read(**more):
    return lb.read_trials(_table(), family="model_family", selection="acc", **more)


def test_what_trials_show_is_the_least_and_greatest_value_and_the_set_of_choices():
    table = _table()
    searched, fixed = search_spaces(_read())
    given = {parameter.name: parameter.given for parameter in searched.parameters}
    assert given["lr"] == {"observed": [min(table["config.lr"][:20]), max(table["config.lr"][:20])]}
    assert set(given["opt"]["choice"]) == {"sgd", "adam"}
    assert given["model"] == "net"
    assert "host" not in given
    assert not searched.declared
    assert not searched.fixed
    assert fixed.fixed
    assert searched.holds(fixed)
    assert not fixed.holds(searched)


def test_what_a_study_declares_is_taken_in_place_of_it():
    searched, fixed = search_spaces(_read(spaces=SPACES))
    assert searched.declared
    assert not fixed.declared
    assert {own.name: own.given for own in searched.parameters} == SPACES["search"]


@pytest.mark.parametrize(
    ("lr", "opt", "inside"), [(0.5, "adam", True), (101.0, "adam", False), (0.5, "lamb", False), ("0.5", "sgd", False)]
)
def test_a_point_lies_within_a_space_where_every_value_does(lr, opt, inside):
    declared = {"lr": {"loguniform": [1e-4, 100]}, "opt": {"choice": ["sgd", "adam"]}}
    table = {
        "family": ["a"] * 2 + ["b"] * 2,
        "config.lr": np.array([1e-3, 1.0, lr, lr], dtype=object),
        "config.opt": ["sgd", "adam", opt, opt],
        "acc": [0.1, 0.2, 0.3, 0.4],
    }
    configuration = ["config.lr", "config.opt"]
    first, second = search_spaces(lb.read_trials(table, configuration=configuration, spaces={"a": declared}))
    assert second.fixed
    assert first.holds(second) == inside


def test_the_verdict_says_who_was_not_searched_and_a_reviewer_would_ask():
    compared = lb.compare(_read(), **FAST)
    assert "fixed is one fixed configuration, not a search." in compared.summary
    (caution,) = [caution for caution in compared.cautions if caution.code == "fixed-configuration"]
    assert caution.family == "fixed"
    assert "seeds of one configuration of search, not a search" in str(caution)
    document = compared.to_dict()["searched"]
    assert [(own["family"], own["declared"], own["fixed"]) for own in document] == [
        ("search", False, False),
        ("fixed", False, True),
    ]


def test_two_searches_and_two_fixed_configurations_are_comparable():
    both = _table(model_family=["a", "b"] * 20)
    seeds = _table(**{"config.lr": [0.1] * 40, "config.opt": ["sgd"] * 40})
    for table in (both, seeds):
        compared = lb.compare(lb.read_trials(table, family="model_family", selection="acc"), **FAST)
        assert not any("fixed" in sentence for sentence in compared.summary[:-1] if "configuration" in sentence)
        assert all(caution.code != "fixed-configuration" for caution in compared.cautions)


def test_terminal_page_and_methods_say_the_same_from_one_place(tmp_path, capsys):
    import csv

    path = tmp_path / "trials.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_table())
        writer.writerows(zip(*_table().values(), strict=True))
    study = tmp_path / "study.yaml"
    study.write_text(
        "metric: {selection: acc, direction: max}\nn_trials: 20\ncommand: ['true']\nfamilies:\n  search:\n"
        "    space: {lr: {loguniform: [1e-4, 100]}, opt: [sgd, adam], model: net}\n"
    )
    options = [str(path), "--family", "model_family", "--selection", "acc", "--resamples", "199"]
    page = tmp_path / "page.html"
    assert main(["report", *options, "--spaces", str(study), "--out", str(page), "--details"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    text = page.read_text(encoding="utf-8")
    methods = (tmp_path / "page" / "methods.tex").read_text(encoding="utf-8")
    words = "lr 0.0001 to 100 (log), opt (sgd, adam)"
    assert all(words in where for where in (text, methods))
    assert "search: lr 0.0001 to 100" in said
    observed = "one fixed configuration (lr 0.5, opt adam, model net) (observed)"
    assert all(observed in where for where in (text, methods))
    assert "one fixed configuration (lr 0.5, opt adam, model net" in said  # a line is cut at its end
    assert all("fixed is one fixed configuration, not a search." in where for where in (said, text, methods))
    assert main(["compare", *options, "--details"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Searched, as observed; search: lr" in said
    assert "gpu17" not in said + text + methods
    assert main(["compare", *options, "--spaces", str(study), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["searched"][0]["declared"]


def test_the_appendix_prints_declared_bounds_plain_names_and_the_validation_score():
    trials = lb.read_trials(
        ROOT / "src/levelbest/data/digits.csv",
        spaces={
            family.name: family.space for family in lb.read_study(ROOT / "src/levelbest/data/digits.yaml").families
        },
    )
    table = appendix_tables(build_view(trials["logistic-regression"], **FAST))[0]
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["C"][0] == "log-uniform from 0.0001 to 100"
    assert "as declared" in table.note
    ours = trials["logistic-regression"]
    assert f"(val_accuracy {np.nanmax(ours.selection):.4g})" in table.note
    assert not any(name.startswith("config.") for name in rows)


def test_the_shipped_spaces_are_those_of_the_study_that_made_the_results():
    shipped, made_by = (
        lb.read_study(ROOT / path) for path in ("src/levelbest/data/digits.yaml", "examples/digits/study.yaml")
    )
    assert [(own.name, own.space) for own in shipped.families] == [(own.name, own.space) for own in made_by.families]
    observed = search_spaces(lb.read_trials(ROOT / "src/levelbest/data/digits.csv"))
    for family, space in zip(shipped.families, observed, strict=True):
        for parameter in space.parameters:
            given = family.space.to_dict()[parameter.name]
            if isinstance(given, dict) and parameter.kind == "observed":
                low, high = next(iter(given.values()))
                assert low <= parameter.given["observed"][0] <= parameter.given["observed"][1] <= high


def test_spaces_of_other_families_are_refused():
    with pytest.raises(InputError, match="spaces must belong to families of the table"):
        _read(spaces={"serch": {"lr": 1}})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loguniform": [1e-4, 1e2]}, "log-uniform from 0.0001 to 100"),
        ({"observed": [0.1, 0.9]}, "0.1 to 0.9"),
        (
            {"integer": [2, 5], "when": {"kernel": ["rbf", "poly"]}},
            "whole numbers from 2 to 5 where kernel is rbf or poly",
        ),
        ("net", "always net"),
    ],
)
def test_words_of_a_parameter(given, words):
    assert parameter_words(given) == words


def test_a_proposed_command_names_the_study_without_the_path_of_a_machine(tmp_path, capsys):
    study = tmp_path / "digits.yaml"
    study.write_bytes((ROOT / "examples" / "digits" / "study.yaml").read_bytes())
    table = tmp_path / "digits.csv"
    table.write_bytes((ROOT / "src" / "levelbest" / "data" / "digits.csv").read_bytes())
    roles = ["--family", "family", "--selection", "val_accuracy", "--reported", "test_accuracy", "--n", "5"]
    assert main(["compare", str(table), *roles, "--spaces", str(study), "--details"]) == 0
    shown = capsys.readouterr().out
    assert "--spaces digits.yaml" in " ".join(shown.split())
    assert str(tmp_path) not in shown
