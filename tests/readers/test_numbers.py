"""Numbers as people write them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import levelbest as lb
from levelbest.readers.raw import Coded
from levelbest.readers.steps.cells import as_numbers


def column(*cells):
    return np.array(cells, dtype=object)


@pytest.mark.parametrize(
    ("cells", "values", "kinds"),
    [
        (["1", "2.5", "-3e2", ".5", "+7."], [1, 2.5, -300, 0.5, 7], set()),
        (["84.3%", "90 %"], [0.843, 0.9], {"percent"}),
        (["1,234", "12,345,678.5"], [1234, 12345678.5], {"thousands"}),
        (["0,843", "1,234"], [0.843, 1.234], {"decimal-comma"}),
        (["84,31", "7"], [84.31, 7], {"decimal-comma"}),
        (["12,5%", "50%"], [0.125, 0.5], {"percent"}),
        (["1,200%"], [12.0], {"percent"}),
        (["83.5", "80.5%", "0.9"], [83.5, 80.5, 0.9], {"percent-points"}),
        (["80,5%", "83,5"], [80.5, 83.5], {"percent-points", "decimal-comma"}),
        ([83.5, "80.5%"], [83.5, 80.5], {"percent-points"}),
        (["0.835", "80.5%", "1", "inf"], [0.835, 0.805, 1, np.inf], {"percent"}),
        (["١٢"], [12], set()),
        (["inf", "-Infinity", "NaN"], [np.inf, -np.inf, np.nan], set()),
    ],
)
def test_written_numbers(cells, values, kinds):
    found = as_numbers(column(*cells))
    assert np.allclose(found.values, values, equal_nan=True, rtol=1e-15)
    assert set(found.converted) == kinds
    assert not found.words


def test_what_is_no_number_stays_a_word():
    cells = ["abc", "1_000", "0x1F", "12 34", "1.2.3", "1,2,3", [1], {"a": 1}]
    found = as_numbers(column(*cells))
    assert set(found.words) == set(range(len(cells)))


def test_empty_is_not_nan():
    found = as_numbers(column("", None, "NA", "-", "nan", " "))
    assert found.empty.tolist() == [True, True, True, True, False, True]
    masked = as_numbers(np.ma.MaskedArray([1.0, np.nan, 2.0], mask=[True, False, False]))
    assert masked.empty.tolist() == [True, False, False]
    assert np.isnan(masked.values[:2]).all()


def test_huge_integers_become_infinite_and_not_an_error():
    assert as_numbers(column(10**400, -(10**400))).values.tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(("first", "last"), [("1", 5), ("83.5", 5), ("1", 1)])
def test_codes_give_what_objects_give(first, last):
    names = (first, "5%", "x", "", "1,234"[:last])
    codes = np.array([0, 1, 2, 3, 4, -1, 1], dtype=np.int32)
    ours = as_numbers(Coded(codes, names))
    theirs = as_numbers(column(*[None if code < 0 else names[code] for code in codes]))
    assert np.array_equal(ours.values, theirs.values, equal_nan=True)
    assert ours.empty.tolist() == theirs.empty.tolist()
    assert ours.words == theirs.words
    assert ours.converted == theirs.converted


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_every_float_comes_back_from_its_text(values):
    assert as_numbers(column(*map(repr, values))).values.tolist() == values


GERMAN = {
    "thousands": ("1.200 980 2.300", [1200, 980, 2300]),
    "decimals": ("1,234 1,310 2,300", [1.234, 1.31, 2.3]),
    "both": ("950,5 1.310 2.300", [950.5, 1310, 2300]),
}


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", GERMAN)
def test_other_columns_say_what_a_comma_or_point_is(kind, large, tmp_path, monkeypatch):
    cells, numbers = GERMAN[kind]
    rows = [f"m;{cell};0,{place}5" for place, cell in enumerate(cells.split(), 1)]
    (tmp_path / "t.csv").write_text("\n".join(["model;reward;lr", *rows]) + "\n")
    if large:
        monkeypatch.setattr("levelbest.readers.formats.plain.IN_MEMORY_UP_TO", 10)
    trials = lb.read_trials(tmp_path / "t.csv")
    assert trials.selection.tolist() == pytest.approx(numbers)
    assert "converted-numbers" in {caution.code for caution in trials.cautions}


@pytest.mark.parametrize(
    ("table", "numbers"),
    [
        ('model,reward,gpus\nm,1.234,"0,1"\nm,1.311,"2,3"\n', [1.234, 1.311]),  # a list between commas
        ("model;reward;lr\nm;1.234;0.01\nm;1.311;0.02\n", [1.234, 1.311]),
        ("model;reward;share;lr\nm;1.234;0,5;0.01\nm;1.311;0,6;0.02\n", [1.234, 1.311]),  # both writings
    ],
)
def test_a_point_is_one_of_decimals_otherwise(table, numbers, tmp_path):
    (tmp_path / "t.csv").write_text(table)
    assert lb.read_trials(tmp_path / "t.csv", selection="reward").selection.tolist() == numbers


@pytest.mark.parametrize("cells", ["1.200 980 2.300", "950,5 1.310 2.300"])
def test_a_point_that_may_part_thousands_is_asked_about(cells, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["model;reward", *(f"m;{cell}" for cell in cells.split())]) + "\n")
    with pytest.raises(lb.InputError, match="its point may part thousands: write such numbers without separators"):
        lb.read_trials(tmp_path / "t.csv")
