"""Warnings for reading: each matter once, no number lost, and a sentence for every kind from its facts."""

import ast
import inspect
import re
import string
from pathlib import Path

import pytest

import levelbest
from levelbest.cautions import CODES, Caution
from levelbest.report.words.cautions import SENTENCES, remarks
from levelbest.report.words.phrases import Several


def _failures(family, n_failed, of=120):
    return Caution.of("failures", family, n_failed, n_failed=n_failed, of=of, failed="worst", unit="trial")


def _ties(family, share):
    return Caution.of("ties", family, share, share=share)


def test_the_same_matter_is_said_once_with_every_family_and_number():
    said = remarks(
        [
            Caution.of("guessed-columns", columns=[("seed", "seed")]),
            _ties("a", 0.76),
            _failures("a", 11),
            _ties("b", 0.80),
            _failures("c", 9),
        ],
        3,
    )
    assert [str(remark) for remark in said] == [
        "a and c: 11 and 9 of 120 trials failed and are counted as the worst score",  # the gravest first
        "a and b: 76% and 80% of the trials share their score with another",
        "by name: seed = 'seed'",  # how the files were read comes last
    ]
    assert [remark.severity for remark in said] == [0, 1, 2]


def test_facts_that_differ_twice_stay_apart():
    said = remarks([_failures("a", 1, 10), _failures("b", 2, 20)], 2)
    assert [str(remark) for remark in said] == [
        "a: 1 of 10 trials failed and is counted as the worst score",
        "b: 2 of 20 trials failed and are counted as the worst score",
    ]


def test_kinds_and_texts_stay_apart():
    same = [
        Caution.of("grid", "a", kind="recorded", sampler="grid"),
        Caution.of("grid", "b", kind="steps", column="lr"),
    ]
    assert [remark.families for remark in remarks(same, 2)] == [("a",), ("b",)]
    texts = [Caution.of("grid", name, kind="steps", column=name) for name in "ab"]
    assert [remark.families for remark in remarks(texts, 2)] == [("a",), ("b",)]


def test_what_holds_of_all_needs_no_names():
    cautions = [Caution.of("few-values", name, 7, distinct=7, n_trials=20) for name in "abc"]
    assert remarks(cautions, 3)[0].families == ()
    assert remarks(cautions, 4)[0].families == ("a", "b", "c")


def test_many_families_become_a_range_of_every_number():
    shares = (0.50, 0.09, 1.00, 0.20, 0.30, 0.40)
    (said,) = remarks([_ties(f"f{100 * share:.0f}", share) for share in shares], 6)
    assert str(said) == "f50, f9, f100, f20 and 2 more: 9% to 100% of the trials share their score with another"
    (said,) = remarks([_failures(f"f{i}", i, 20 + i) for i in range(2, 9)], 7)
    assert "2 to 8 of 22 to 28 trials failed" in str(said)


def test_validation_only_is_one_remark():
    cautions = [
        Caution.of("no-reported", "a", selection="x"),
        Caution.of("no-reported", kind="oracle", selection="y"),
    ]
    (said,) = remarks(cautions, 2)
    assert said.families == ()


def test_how_failures_count_is_not_said_beside_that_they_failed():
    bare = Caution.of("failures", "a", 2, kind="no-score", lost=2, n_trials=9, n_failed=2, n_diverged=0, n_pruned=0)
    assert len(remarks([bare, _failures("a", 2, 9)])) == 1
    assert len(remarks([bare])) == 1


@pytest.mark.parametrize("name", ["old trials", "clinical_trial_success", "3 of 5", "lr[/b]", "-1.5"])
def test_names_are_never_rewritten(name):
    """Numbers and words within a name are the name's: nothing searches a sentence for them."""
    other = f"{name} 2"
    (said,) = remarks([_ties(name, 0.5), _ties(other, 0.25)], 3)
    assert said.families == (name, other)
    assert str(said).startswith(f"{name} and {other}: 50% and 25% ")
    (columns,) = remarks([Caution.of("leaky-reported", reported=name)])
    assert name in columns.text


FACTS = {
    "n_labels": 40,
    "n_samples": 200,
    "judge": 0.6,
    "corrected": 0.5,
    "weight": 0.7,
    "halved": 120,
    "labels": ("k1", "k2"),
    "baseline": "b",
    "statistic": "median",
    "run": 41,
    "within": ("b", "c"),
    "window": 100,
    "words": ["won", "lost"],
    "n_failed": 2,
    "of": 30,
    "failed": "worst",
    "unit": "trial",
    "lost": 3,
    "n_trials": 30,
    "n_diverged": 1,
    "n_pruned": 0,
    "count": 4,
    "mark": "killed",
    "n_running": 2,
    "left": 5,
    "planned": 30,
    "rho": -0.31,
    "better": True,
    "levels": (3, 3),
    "filled": 8,
    "cells": 9,
    "column": "score",
    "by": "seed",
    "inside": 9,
    "sampler": "TPE",
    "n_searches": 2,
    "configurations": 6,
    "n_runs": 24,
    "least": 3,
    "most": 5,
    "fewest": "a",
    "richest": "b",
    "n_families": 2,
    "tool": "Ray Tune",
    "repeated": 4,
    "sample": "7",
    "problem": "p1",
    "problems": ("p1", "p2"),
    "distinct": 5,
    "share": 0.5,
    "score": 0.97,
    "distance": 4.0,
    "gap": 2.0,
    "reported": "test",
    "task": "gsm8k",
    "others": ("flexible",),
    "known": 5,
    "finished": 9,
    "selection": "val",
    "smallest": 2,
    "largest": 8,
    "total": 20,
    "reasons": (("too-close", 4, 5, False),),
    "estimator": "u",
    "method": "gaussian",
    "p_value": 0.01,
    "families": ("a", "b"),
    "shared": 5,
    "what": "problems",
    "columns": (("seed", "seed"),),
    "role": "reported",
    "runs": 5,
    "direction": "max",
    "first": "1",
    "last": 9,
    "group": "task",
    "source": "a.csv",
    "how": "percent",
    "where": "row 3",
    "why": "no score",
    "n": 4,
    "ends": True,
    "run_cost": "sum",
    "counter": "epoch",
    "several": 3,
    "batch": 5,
    "parts": ["seed", "folder"],
    "successes": "c",
    "rows": "seed",
    "copies": 4,
    "tied": "first",
    "n_rows": 8,
    "low": 0.0,
    "high": 1.0,
}


def _taken(sentence):
    """The facts that a sentence takes, and those that it needs."""
    if isinstance(sentence, str):
        fields = {re.split(r"[.\[]", field)[0] for _, field, _, _ in string.Formatter().parse(sentence) if field}
        return fields - {"named"}, fields - {"named"}
    parameters = inspect.signature(sentence).parameters
    return set(parameters), {name for name, own in parameters.items() if own.default is inspect.Parameter.empty}


def _given():
    """(file and line, code, kind, names of facts) of every warning that is made in the sources with names in full."""
    for path in Path(levelbest.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("Caution.of", "cls.of"):
                continue
            facts = {keyword.arg: keyword.value for keyword in node.keywords}
            kind = facts.pop("kind", ast.Constant(""))
            if None not in facts and isinstance(node.args[0], ast.Constant) and isinstance(kind, ast.Constant):
                yield f"{path.name}:{node.lineno}", node.args[0].value, kind.value, set(facts) - {"family", "value"}


def test_every_warning_is_made_with_the_facts_that_its_sentence_takes():
    assert {code for code, _ in SENTENCES} == CODES
    given = list(_given())
    assert len(given) > 30  # most are made with their names in full
    for where, code, kind, facts in given:
        taken, needed = _taken(SENTENCES[code, kind])
        assert needed <= facts <= taken, where


@pytest.mark.parametrize(("code", "kind"), sorted(SENTENCES))
def test_every_kind_has_a_sentence_also_for_the_numbers_of_several_families(code, kind):
    facts = {name: FACTS[name] for name in _taken(SENTENCES[code, kind])[0]}
    if code == "stops-at-success":
        facts["problems"] = 12
    sentence = Caution.of(code, "a", kind=kind, **facts).sentence
    assert sentence
    assert "{" not in sentence
    assert not sentence.endswith(".")  # it stands in a list, after a name
    for name, fact in facts.items():
        if isinstance(fact, (int, float)) and not isinstance(fact, bool) and code != "skipped-rows":
            assert Caution.of(code, "a", kind=kind, **(facts | {name: Several([3, 4])})).sentence


def test_one_is_singular():
    assert "1 of 20 trials repeats" in Caution.of("repeated-configurations", "a", 1, repeated=1, n_trials=20).sentence
    assert "2 of 20 trials repeat " in Caution.of("repeated-configurations", "a", 2, repeated=2, n_trials=20).sentence
