"""The certificates of verdicts and over problems: their truth, their cells, their seed and their pages."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "coverage"
MODULES = (
    "certificate",
    "distributions",
    "designs",
    "invariance",
    "unequal_cells",
    "cells",
    "designs_page",
    "problems",
)


@pytest.fixture(scope="module")
def load():
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(FOLDER))
        for name in MODULES:
            sys.modules.pop(name, None)


def test_expected_bests_are_those_of_many_draws(load):
    module = load("distributions")
    n = np.array([1, 5])
    rng = np.random.default_rng(0)
    for name in ("triangular", "three modes", "18 % failures", "four values"):
        drawn = module.QUANTILES[name](rng.random((100_000, 5)))
        # values within 0 to 1: five standard errors of the mean of 100,000 are below .008
        assert module.expected_bests(module.QUANTILES[name], n) == pytest.approx(
            [drawn.mean(), drawn.max(axis=1).mean()], abs=0.008
        )
    assert module.expected_bests(module.QUANTILES["0/1 .3"], n) == pytest.approx([0.3, 1 - 0.7**5], abs=1e-4)
    # E max of 5 standard normals is 1.16296
    assert module.expected_bests(module.QUANTILES["normal"], n) == pytest.approx([0, 1.162964], abs=1e-4)


def test_no_distribution_is_both_chosen_on_and_held_out(load):
    module = load("distributions")
    assert not set(module.CHOSEN_ON) & set(module.HELD_OUT)
    u = np.linspace(0.0005, 0.9995, 1000)
    for name, quantile in module.QUANTILES.items():
        scores = quantile(u)
        assert np.isfinite(scores).all(), name
        assert (np.diff(scores) >= 0).all(), name


def test_curves_that_meet_do_so(load):
    designs, known = load("designs"), load("distributions")
    law = known.QUANTILES["18 % failures"]
    rival = designs.meeting(law, known.steady(0.0), 3)
    # [failures at 0 with .18, beta(5, 2) else]: the best of 3 exceeds x with probability 1 - F(x)^3
    assert known.expected_bests(rival, np.array([3])) == pytest.approx(known.expected_bests(law, np.array([3])))


def test_the_cells_are_those_promised(load):
    cells = load("cells").all_cells()
    keys = [cell.key for cell in cells]
    assert len(set(keys)) == len(keys)
    assert all(key.count(" | ") == 2 for key in keys)
    held_out = load("distributions").HELD_OUT
    for design, least in (("trials", 5), ("seeds", 5), ("searches", 5), ("pairs", 5), ("tasks", 4), ("medians", 5)):
        rows = {cell.row for cell in cells if cell.table == f"equal: {design}"}
        assert len(rows & set(held_out)) >= least - 1
        assert len(rows) >= least
    for column in ("2 tasks, 5-50", "2 tasks, 10-100", "5 tasks, 5-50", "5 tasks, 10-100"):
        assert any(cell.column == column for cell in cells)


def test_a_run_goes_on_where_it_stopped_and_writes_its_page(load, tmp_path):
    certificate, page = load("certificate"), load("designs_page")
    wanted = (
        "equal: seeds | normal | 2 x 3",
        "power: seeds | 8 sd | 3-3",
        "unequal | Laplace / gamma, meet at 1 | 30-30",
        "skewed problems | +0.1 on 0.9, -0.9 on 0.1 | 20 problems",
        "invariance | four values | 25-25",
    )
    few = [cell for cell in load("cells").all_cells() if cell.key in wanted]
    assert len(few) == len(wanted)
    path, whole = tmp_path / "some.json", tmp_path / "whole.json"
    certificate.run(few, path, rounds=(1,))
    certificate.run(few, path, rounds=(1, 2))
    results = certificate.run(few, whole, rounds=(2,))
    first, second = (json.loads(file.read_text())["cells"] for file in (path, whole))
    # the same samples in one run or in two
    assert first.keys() == second.keys()
    for key, row in first.items():  # sums are written rounded
        assert row["sums"] == pytest.approx(second[key]["sums"], rel=1e-8)
    page.write_page(results, {wanted[1]: {"decided at 1": 0.75}}, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "## Equal distributions: seeds" in text
    assert "| 8 sd | 3-3 | 1.000 (0.750) | 0.000 | 1.000 | 2 |" in text
    assert "| Laplace / gamma, meet at 1 \\* | 30-30 |" in text
    assert "| order of rows | 0.000 |" in text


@pytest.mark.parametrize("scale", [1.0, 0.7])
def test_the_truth_over_problems_is_the_mean_over_rates(load, scale):
    module = load("problems")
    for rates in (*module.RATES, module.HARD, module.EASY, module.NEVER, module.ALWAYS):
        drawn = rates.draw(400_000, np.random.default_rng(0))
        for k in (1, 4, 16):
            # the standard error of the mean of values within 0 to 1 is below .0008: .004 is five of them
            assert rates.truth(k, scale) == pytest.approx(np.mean(1 - (1 - scale * drawn) ** k), abs=0.004)


def test_a_cell_over_problems_is_decided_by_its_number_and_written(load, tmp_path):
    module, certificate = load("problems"), load("certificate")
    few = [cell for cell in module.cells() if cell.column in ("8", "12")]
    assert few[0].sample(1) == few[0].sample(1)
    assert few[0].sample(1) != few[0].sample(2)
    results = certificate.run([few[0], few[-1]], tmp_path / "problems.json", rounds=(2,))
    module.write(results, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    for row in (
        "| default | ",
        "| beta(.3,.7), 16 samples | 8 |",
        "| strata weighted 4 to 1, half easy, half hard | 12 |",
    ):
        assert row in text
