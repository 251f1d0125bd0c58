"""``--where``: comparisons, logic, text, arithmetic and mistakes, against plain Python on the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.readers.columns import Coded
from levelbest.readers.filters import matching_rows

COLUMNS = {
    "epoch": np.array([0.0, 1.0, 2.0, 3.0]),
    "log_path": np.array(["a/dist/1", "b", None, "c/dist"], dtype=object),
    "epoch_40/val_loss": np.array([0.1, 0.2, np.nan, 0.4]),
    "--seed": np.array([5.0, 6.0, 7.0, 8.0]),
    "code": Coded(np.array([0, 1, -1, 0], dtype=np.int32), ("x", "y")),
    "done": np.array([True, False, True, False]),
    "id": np.array(["007", "8", "9", "10"], dtype=object),
    "Mixed Name": np.array([1.0, 2.0, 3.0, 4.0]),
    "gone": np.ma.MaskedArray([1.0, 0.0, 0.0, 2.0], mask=[False, True, True, False]),
}


def rows(expression):
    return np.flatnonzero(matching_rows(expression, COLUMNS, 4, "runs.csv")).tolist()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("epoch > 0", [1, 2, 3]),
        ("epoch = 1", [1]),
        ("epoch == 1 or epoch == 3", [1, 3]),
        ("epoch != 1", [0, 2, 3]),
        ("epoch <> 1 && epoch < 3", [0, 2]),
        ("not epoch >= 2", [0, 1]),
        ("not (epoch >= 2 or epoch = 0)", [1]),
        ("epoch between 1 and 2 and epoch != 1", [2]),
        ("epoch in (0, 3)", [0, 3]),
        ("epoch not in (0, 3)", [1, 2]),
        ("0 < epoch", [1, 2, 3]),
        ("epoch * 2 + 1 > 4", [2, 3]),
        ("epoch % 2 = 1", [1, 3]),
        ("-epoch > -1.5", [0, 1]),
        ("epoch / 0 > 1", [1, 2, 3]),
        ("log_path like '%dist%'", [0, 3]),
        ("log_path like '%dist%' and epoch > 0", [3]),
        ("log_path not like '%dist%'", [1]),
        ("log_path ilike '%DIST%'", [0, 3]),
        ("log_path like '_'", [1]),
        ("'dist' in log_path", [0, 3]),
        ("contains(log_path, 'dist')", [0, 3]),
        ("starts_with(log_path, 'a') or endswith(log_path, 'dist')", [0, 3]),
        ("length(log_path) = 1", [1]),
        ("matches(log_path, '^[ab]')", [0, 1]),
        ("regexp_matches(log_path, 'dist$')", [3]),
        ("upper(log_path) = 'B'", [1]),
        ("log_path is null", [2]),
        ("log_path is not null", [0, 1, 3]),
        ("log_path = ''", []),
        ("log_path != 'b'", [0, 3]),
        ("epoch_40/val_loss > 0.1", [1, 3]),
        ('"epoch_40/val_loss" is null', [2]),
        ("epoch_40/val_loss <= .2", [0, 1]),
        ("--seed >= 7", [2, 3]),
        ("`Mixed Name` < 3", [0, 1]),
        ("Mixed Name = 4", [3]),
        ("code = 'x'", [0, 3]),
        ("code != 'x'", [1]),
        ("code in ('x', 'z')", [0, 3]),
        ('code == "x"', [0, 3]),
        ("done", [0, 2]),
        ("done = true", [0, 2]),
        ("done == False", [1, 3]),
        ("not done and epoch > 1", [3]),
        ("id = 7", [0]),
        ("id = '007'", [0]),
        ("id > 8", [2, 3]),
        ("gone > 0", [0, 3]),
        ("gone is null", [1, 2]),
        ("abs(epoch - 2) < 1.5", [1, 2, 3]),
        ("log_path = 'it''s'", []),
        ("epoch > 1e0", [2, 3]),
    ],
)
def test_expressions(expression, expected):
    assert rows(expression) == expected


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.sampled_from(["<", "<=", "=", "!=", ">", ">="]))
def test_comparisons_are_pythons(values, op):
    python = {"=": "=="}.get(op, op)
    column = {"x": np.array(values, dtype=float)}
    found = matching_rows(f"x {op} 1", column, len(values), "t")
    compare = {"<": int.__lt__, "<=": int.__le__, "==": int.__eq__, "!=": int.__ne__, ">": int.__gt__, ">=": int.__ge__}
    assert found.tolist() == [bool(compare[python](value, 1)) for value in values]


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("", "must hold an expression"),
        ("epoch", "must compare columns"),
        ("epoch >", "ends too early"),
        ("epoch > 1)", "cannot be read at '\\)'"),
        ("(epoch > 1", "needs '\\)'"),
        ("epch > 1", "no column 'epch'; did you mean 'epoch'"),
        ("model = cnn", "text stands in single quotes"),
        ("read_csv('/etc/passwd') = 1", "no function 'read_csv'"),
        ("system('ls') = 1", "no function 'system'"),
        ("__import__('os').system('ls')", "cannot be read at"),
        ("epoch > 1; drop table x", "cannot be read at"),
        ("epoch like 3 like 4", "text|cannot"),
        ("abs() > 1", "cannot be read|ends"),
        ("abs(epoch, 2) > 1", "takes 1 value"),
        ("epoch is 3", "knows 'is null'"),
        ("1 = 1", None),
        ("matches(log_path, '(')", "is no regular expression"),
        ("(" * 5000 + "epoch > 1", "nested too deeply"),
        ("epoch and done", "must compare columns"),
        ("log_path + 1 > 2", None),
    ],
)
def test_mistakes_are_sentences(expression, sentence):
    if sentence is None:
        matching_rows(expression, COLUMNS, 4, "runs.csv")
        return
    with pytest.raises(InputError, match=sentence):
        matching_rows(expression, COLUMNS, 4, "runs.csv")


@given(st.text(alphabet="epoch done like in not and or ()'\"`%<>=!+-*/.,0123456789 ", max_size=40))
def test_any_text_gives_rows_or_our_error(expression):
    try:
        mask = matching_rows(expression, COLUMNS, 4, "runs.csv")
    except InputError:
        return
    assert mask.dtype == bool
    assert mask.shape == (4,)
