"""Reference numbers from exact fractions and 30-digit quadrature; none came from this package or a peer."""

import json
from pathlib import Path

import numpy as np
import pytest

from levelbest.stats import expected_best, normal_best

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CASES = json.loads((GOLDEN / "expected_best.json").read_text())


def selection_of(case):
    if "selection_file" in case:
        return json.loads((GOLDEN / case["selection_file"]).read_text())
    return case["selection"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['name']}-{c['estimator']}-{c['n']}")
def test_expected_best_is_the_exact_fraction(case):
    value = expected_best(
        selection_of(case), case["n"], case["reported"], estimator=case["estimator"], direction=case["direction"]
    )
    assert isinstance(value, float)
    assert value == pytest.approx(case["value"], rel=1e-12, abs=0)


def test_a_curve_holds_the_same_numbers_as_its_points():
    for name in {case["name"] for case in CASES}:
        for estimator in ("u", "v"):
            some = [c for c in CASES if c["name"] == name and c["estimator"] == estimator]
            case, selection = some[0], selection_of(some[0])
            curve = expected_best(
                selection,
                np.arange(1, len(selection) + 1),
                case["reported"],
                estimator=estimator,
                direction=case["direction"],
            )
            assert [curve[c["n"] - 1] for c in some] == pytest.approx([c["value"] for c in some], rel=1e-12, abs=0)


def test_normal_best_is_the_integral():
    golden = json.loads((GOLDEN / "normal_best.json").read_text())
    n = [int(key) for key in golden]
    assert normal_best(n) == pytest.approx(list(golden.values()), rel=0, abs=1e-12)
    assert [normal_best(one) for one in n] == pytest.approx(list(golden.values()), rel=0, abs=1e-12)
