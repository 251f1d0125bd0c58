"""``--where``: comparisons, logic, text, arithmetic and mistakes, against plain Python on the same rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.readers.raw import Coded
from levelbest.readers.steps.conditions import checked_condition, matching_rows
from levelbest.readers.tables.engine import connect

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
        ("epoch <> 1 and epoch < 3", [0, 2]),
        ("not epoch >= 2", [0, 1]),
        ("not (epoch >= 2 or epoch = 0)", [1]),
        ("epoch between 1 and 2 and epoch != 1", [2]),
        ("epoch in (0, 3)", [0, 3]),
        ("epoch not in (0, 3)", [1, 2]),
        ("0 < epoch", [1, 2, 3]),
        ("epoch * 2 + 1 > 4", [2, 3]),
        ("epoch % 2 = 1", [1, 3]),
        ("-epoch > -1.5", [0, 1]),
        ("epoch / 0 > 1", []),
        ("not (epoch / 0 > 1)", []),
        ("log_path like '%dist%'", [0, 3]),
        ("log_path like '%dist%' and epoch > 0", [3]),
        ("log_path not like '%dist%'", [1]),
        ("log_path ilike '%DIST%'", [0, 3]),
        ("log_path like '_'", [1]),
        ("'dist' in log_path", [0, 3]),
        ("contains(log_path, 'dist')", [0, 3]),
        ("starts_with(log_path, 'a') or ends_with(log_path, 'dist')", [0, 3]),
        ("length(log_path) = 1", [1]),
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
        ("code == 'x'", [0, 3]),
        ("done", [0, 2]),
        ("done = true", [0, 2]),
        ("done == False", [1, 3]),
        ("not done and epoch > 1", [3]),
        ("id = 7", [0]),
        ("id = '007'", [0]),
        ("try_cast(id as double) > 8", [2, 3]),
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
        ("", "must hold a condition"),
        ("epoch", "must compare columns"),
        ("*", "where="),
        ("epoch >", "must be one condition"),
        ("epoch > 1)", "must be one condition"),
        ("(epoch > 1", "must be one condition"),
        ("epoch > 1) or (epoch < 1", "must be one condition"),
        ("epoch > 1, done", "must be one condition"),
        ("epoch > 1; drop table x", "must be one condition"),
        ("epch > 1", "no column 'epch'; did you mean 'epoch'"),
        ("val_loss > 1", "did you mean 'epoch_40/val_loss'"),
        ("Epoch > 1", "no column 'Epoch'; did you mean 'epoch'"),
        ("code = x", "text goes in single quotes"),
        ('code = "x"', "text goes in single quotes"),
        ("matches(log_path, 'a')", "no function 'matches': write regexp_matches"),
        ("startswith(log_path, 'a')", "write starts_with"),
        ("epoch > 1 && done", "write 'and' for '&&'"),
        ("epoch > 1 | done", "write 'or' for"),
        ("!done", "write 'not' for '!'"),
        ("id > 8", "text is compared with a number.*try_cast"),
        ("log_path = 1", "'a/dist/1' is not a number.*try_cast"),
        ("regexp_matches(log_path, '(')", "missing"),
        ("(" * 5000 + "epoch > 1", "nested too deeply"),
        ("count(*) > 1", "where="),
        ("row_number() over () > 1", "where="),
        ("epoch = $1", "where="),
    ],
)
def test_mistakes_are_sentences(expression, sentence):
    with pytest.raises(InputError, match=sentence):
        matching_rows(expression, COLUMNS, 4, "runs.csv")


@pytest.mark.parametrize(
    "expression",
    [
        "read_csv('{file}') = 1",
        "exists (select * from read_csv('{file}'))",
        "exists (from '{file}')",
        "exists (from read_text('{file}'))",
        "exists (from glob('{folder}/*'))",
        "exists (from read_blob('{file}'))",
        "epoch > 0; copy (select 1) to '{folder}/out.csv'",
        "epoch > 0; attach '{folder}/x.db'",
        "epoch > 0; install httpfs",
        "epoch > 0; set enable_external_access = true",
        "epoch > 0) union (select content from read_text('{file}')",
        "exists (from duckdb_secrets())",
        "getenv('HOME') != ''",
        "system('ls') = 1",
        "__import__('os').system('ls')",
        "random() < 0.5",
        "gen_random_uuid() != ''",
        "sleep_ms(100000) is null",
        "current_setting('access_mode') != ''",
        "exists (from COLUMNS)",
        "epoch > (select 1)",
        "(/* */ from range(3)) is null",
    ],
)
def test_a_condition_reaches_nothing_but_its_table(expression, tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    asked = expression.replace("{file}", str(tmp_path / "secret.csv")).replace("{folder}", str(tmp_path))
    with pytest.raises(InputError):
        matching_rows(asked, COLUMNS, 4, "runs.csv")
    with pytest.raises(InputError):
        checked_condition(asked, {"epoch": "DOUBLE", "done": "BOOLEAN"}, "runs.parquet")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["secret.csv"]


def test_text_is_text_whatever_stands_in_it():
    assert rows("log_path = 'epoch > 0; drop table x --'") == []
    assert rows("log_path = '(select 1)'") == []
    assert rows("epoch > 1 -- epoch") == [2, 3]
    assert rows("epoch > 1 /* or done */") == [2, 3]


@pytest.mark.parametrize(
    "expression", ["not (temp >= 0.5)", "temp >= 0.5", "temp is null", "temp / n > 0.1", "temp != 0"]
)
def test_memory_and_parquet_agree_on_empty_cells_and_nan(expression, tmp_path):
    """Of 64 rows every fourth is empty or NaN; a plain loop over them is the judge."""
    import duckdb

    temp = [None if row % 8 == 0 else float("nan") if row % 8 == 4 else row / 64 for row in range(64)]
    n = [float(row % 3) for row in range(64)]
    path = tmp_path / "samples.parquet"
    table = {"temp": np.ma.MaskedArray([t or 0.0 for t in temp], mask=[t is None for t in temp]), "n": np.array(n)}
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute(f"COPY given TO '{path}' (FORMAT parquet)")
    known = [t is not None and t == t for t in temp]
    holds = {
        "not (temp >= 0.5)": lambda t, _: not t >= 0.5,
        "temp >= 0.5": lambda t, _: t >= 0.5,
        "temp is null": lambda *_: False,
        "temp / n > 0.1": lambda t, m: m != 0 and t / m > 0.1,
        "temp != 0": lambda t, _: t != 0,
    }[expression]
    expected = [bool(k and holds(t, m)) for t, m, k in zip(temp, n, known, strict=True)]
    if expression == "temp is null":
        expected = [not k for k in known]
    assert matching_rows(expression, table, 64, "t").tolist() == expected
    sql = checked_condition(expression, {"temp": "DOUBLE", "n": "DOUBLE"}, "t")
    count = connect().execute(f"SELECT count(*) FROM read_parquet('{path}') WHERE {sql}").fetchone()[0]
    assert count == sum(expected)


def test_numbers_as_people_write_them_are_numbers():
    columns = {"acc": np.array(["80%", "NA", "91%"], dtype=object), "id": np.array(["007", "7", None], dtype=object)}
    assert matching_rows("acc > 0.85", columns, 3, "t").tolist() == [False, False, True]
    assert matching_rows("acc is null", columns, 3, "t").tolist() == [False, True, False]
    assert matching_rows("id = '007'", columns, 3, "t").tolist() == [True, False, False]


def test_names_that_differ_in_case_are_different_columns():
    columns = {"Acc": np.array([1.0, 0.0]), "acc": np.array([0.0, 1.0]), "end": np.array([1.0, 2.0])}
    assert matching_rows("acc > 0.5", columns, 2, "t").tolist() == [False, True]
    assert matching_rows("end > 1", columns, 2, "t").tolist() == [False, True]


@given(st.text(alphabet="epoch done like in not and or ()'\"`%<>=!+-*/.,0123456789 ", max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_text_gives_rows_or_our_error(expression):
    try:
        mask = matching_rows(expression, COLUMNS, 4, "runs.csv")
    except InputError:
        return
    assert mask.dtype == bool
    assert mask.shape == (4,)
