"""Numbers for JSON and for people."""

import json
import math

import numpy as np
import pytest

from levelbest._plain import dump_json, round_places, round_to_uncertainty, show_cost, show_number


def test_json_has_null_where_a_number_does_not_exist():
    document = {"a": np.float64("nan"), "b": [np.inf, np.int64(3), np.bool_(True)], "c": "text", "d": None}
    assert json.loads(dump_json(document)) == {"a": None, "b": [None, 3, True], "c": "text", "d": None}


# Two significant digits of half the width decide.
@pytest.mark.parametrize(
    ("value", "low", "high", "decimals"),
    [(0.81234, 0.79, 0.83, 3), (0.81234, 0.7, 0.9, 2), (812.34, 700, 900, 0), (0.5, 0.4999, 0.5001, 5)],
)
def test_decimals_follow_the_uncertainty(value, low, high, decimals):
    assert round_to_uncertainty(value, low, high) == decimals


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (7200, "s", "2.00 h"),
        (90, "s", "1.50 min"),
        (259200, "s", "3.00 d"),
        (0.5, "s", "0.500 s"),
        (36, "h", "1.50 d"),
        (12.5, "GPU h", "12.5 GPU h"),
        (3, "USD", "$3.00"),
        (42, None, "42.0"),
        (0, "s", "0 s"),
    ],
)
def test_costs_are_readable(value, unit, text):
    assert show_cost(value, unit) == text


def test_missing_numbers_have_signs_of_their_own():
    assert [show_number(x, 2) for x in (math.nan, math.inf, -math.inf, 0.125)] == ["–", "∞", "−∞", "0.12"]
    assert [show_number(x, 2) for x in (-0.0, -0.004, -0.006)] == ["0.00", "0.00", "-0.01"]  # no negative zero


def test_round_places_keep_the_last_and_all_of_few():
    assert round_places([4, 6, 9]) == [0, 1, 2]
    n = list(range(1, 124))
    assert [n[i] for i in round_places(n)] == [1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 123]
