"""Each rule for where the rows of a JSON document are, and for what the names of its lists are of."""

import pytest

from levelbest.errors import Ambiguous, DataError
from levelbest.readers.formats import _shapes as shapes
from levelbest.readers.formats._shapes import records_in

RUNS = [{"model": "a", "acc": 0.5}, {"model": "b", "acc": 0.6}]
NUMBERED_RUNS = list(enumerate(RUNS, 1))
DOCUMENTS = {
    shapes.list_of_objects: (RUNS, NUMBERED_RUNS),
    shapes.split_columns: (
        {"columns": ["model", "acc"], "data": [["a", 0.5], ["b", 0.6]], "index": [0, 1]},
        NUMBERED_RUNS,
    ),
    shapes.lists_by_name: (
        {"a": [0.5], "b": [0.6, 0.7]},
        [(1, {"family": "a", "score": 0.5}), (2, {"family": "b", "score": 0.6}), (3, {"family": "b", "score": 0.7})],
    ),
    shapes.lists_as_columns: ({"model": ["a", "b"], "acc": [0.5, 0.6]}, NUMBERED_RUNS),
    shapes.table_among_facts: (
        {"meta": {"data": "digits", "n": 2}, "runs": RUNS},
        [(number, {"meta.data": "digits", **run}) for number, run in NUMBERED_RUNS],
    ),
    shapes.lists_two_deep: (
        {"dqn": {"pong": [1, 2], "qbert": [3, 4]}, "c51": {"pong": [5, 6], "qbert": [7, 8]}},
        [
            (number, {"outer key": agent, "inner key": game, "run": run, "score": score})
            for number, (agent, game, run, score) in enumerate(
                [
                    *(("dqn", "pong", 1, 1), ("dqn", "pong", 2, 2), ("dqn", "qbert", 1, 3), ("dqn", "qbert", 2, 4)),
                    *(("c51", "pong", 1, 5), ("c51", "pong", 2, 6), ("c51", "qbert", 1, 7), ("c51", "qbert", 2, 8)),
                ],
                1,
            )
        ],
    ),
    shapes.objects_by_name: (
        {"a": {"acc": 0.5}, "b": {"acc": 0.6}},
        [(1, {"key": "a", "acc": 0.5}), (2, {"key": "b", "acc": 0.6})],
    ),
    shapes.one_record: ({"acc": 0.5, "lr": 0.1}, [(1, {"acc": 0.5, "lr": 0.1})]),
}


@pytest.mark.parametrize("rule", DOCUMENTS, ids=lambda rule: rule.__name__)
def test_each_shape_is_known_by_its_own_rule_alone(rule):
    document, records = DOCUMENTS[rule]
    assert rule(document, "x.json", []) == records
    assert records_in(document, "x.json", []) == records
    before = shapes.JSON_SHAPES[: shapes.JSON_SHAPES.index(rule)]
    assert [other.__name__ for other in before if other(document, "x.json", []) is not None] == []


def test_every_rule_is_tested():
    assert {*DOCUMENTS, shapes.several_tables} == set(shapes.JSON_SHAPES)


def test_several_tables_are_a_question_with_its_answer():
    document = {"train": RUNS, "test": RUNS[::-1], "n": 2}
    with pytest.raises(Ambiguous, match=r"holds 2 tables, 'train', 'test': choose one .* rows=train or rows=test"):
        records_in(document, "x.json", [])
    assert records_in(document, "x.json", [], "test")[0] == (1, RUNS[1])
    with pytest.raises(DataError, match="has nothing under 'tst': at 'tst' there are train, test, n"):
        records_in(document, "x.json", [], "tst")


LISTS = {
    "objects, numbered": ({"q/1": [{"ok": 1}], "q/2": [{"ok": 0}]}, {"problem": "q/1", "ok": 1}),
    "objects, few names": ({"a": [{"acc": 1}], "b": [{"acc": 0}]}, {"key": "a", "acc": 1}),
    "numbered": ({f"HumanEval/{i}": [1, 0] for i in range(4)}, {"problem": "HumanEval/0", "correct": 1}),
    "many names": (
        {f"{a}{b}{c}": [0, 1] for a in "xyz" for b in "xyz" for c in "xyz"},
        {"problem": "xxx", "correct": 0},
    ),
    "families by length": ({"a": [0.5], "b": [0.5, 0.7], "c": [0.1]}, {"family": "a", "score": 0.5}),
    "families on one scale": ({"a": [0.5], "b": [0.6], "c": [0.7]}, {"family": "a", "score": 0.5}),
    "families right or wrong": ({"a": [0, 0], "b": [0, 1], "c": [1, 1]}, {"family": "a", "correct": 0}),
}


@pytest.mark.parametrize("name", LISTS)
def test_what_the_names_of_lists_are_of(name):
    document, first = LISTS[name]
    assert records_in(document, "x.json", [])[0] == (1, first)


@pytest.mark.parametrize(
    "columns",
    [
        {"lr": [0.1, 0.2], "x": [0.5, 0.6]},
        {"val_acc": [0.1, 0.2], "x": [0.5, 0.6]},
        {"sample_1": [0, 1], "sample_2": [1, 1]},
        {"x": [1, 2], "y": [100, 300], "z": [0.1, 0.2]},
        {"performances": [0.1, 0.2], "models": ["a", "b"]},
        {"performances": [0.1, 0.2], "models": [{"name": "a"}, {"name": "b"}]},
    ],
)
def test_lists_that_are_columns(columns):
    assert [record for _, record in records_in(columns, "x.json", [])] == [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ]


def test_eight_hundred_names_are_not_eight_hundred_columns():
    """Some of so many names read like a score; ten rows of 800 columns would be the table transposed."""
    letters = "abcdefghij"
    document = {f"task {a}{b}{c}": [0, 1] * 5 for a in letters for b in letters for c in "emxiouft"}
    assert any("em" in name for name in document)
    records = records_in(document, "x.json", [])
    assert len(records) == 8000
    assert records[0][1] == {"problem": "task aae", "correct": 0}


def test_the_curve_of_one_run_is_no_table():
    curve = {"lr": 0.1, "notes": {"a": 1}, "curve": [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}]}
    assert records_in(curve, "x.json", []) == [(1, curve)]
    best = [{"epoch": 9, "acc": 0.5}, {"epoch": 3, "acc": 0.6}]  # the epoch of the best checkpoint of each run
    assert len(records_in({"runs": best, "meta": {}}, "x.json", [])) == 2
