"""Grids: the best of n is that of n points drawn at random from the grid, and is said to be."""

from itertools import combinations, product

import numpy as np
import pytest

import levelbest as lb


def grid(families=("cnn", "mlp"), *, shared=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = {"model": [], "lr": [], "depth": [], "val_acc": []}
    for place, family in enumerate(families):
        for lr, depth in product((0.1, 0.03, 0.01), (1, 2, 3)):
            rows["model"].append(family)
            rows["lr"].append(lr * (1 if shared else 1 + place))
            rows["depth"].append(depth)
            rows["val_acc"].append(rng.normal(0.8, 0.03))
    return rows


READING = {"family": "model", "selection": "val_acc"}


def test_the_best_of_n_points_is_that_of_every_subset_of_the_grid():
    columns = grid(("cnn",))
    drawn = lb.curve(columns, **READING)
    for n in (1, 2, 5, 9):
        every = [max(points) for points in combinations(columns["val_acc"], n)]
        assert drawn.value[n - 1] == pytest.approx(np.mean(every))
    assert drawn.unit == drawn.to_dict()["unit"] == "grid point"
    assert "best val_acc of 9 grid points drawn at random is" in str(drawn)
    assert "from 9 grid points" in str(drawn)


def test_comparisons_and_pages_speak_of_points_of_the_grid(tmp_path):
    trials = lb.read_trials(grid(), **READING)
    compared = lb.compare(trials, n_resamples=200)
    assert compared.terms.unit == compared.to_dict()["counted"] == "grid point"
    assert "9 grid points each, none failed" in " ".join(compared.summary)
    (grids,) = {str(caution).partition(": ")[2] for caution in compared.cautions if caution.code == "grid"}
    assert "3 x 3 values" in grids
    assert "the best of n is that of n of its points drawn at random" in grids
    lb.write_report(trials, tmp_path / "page.html", n_resamples=200)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "We ran 9 grid points each of 2 families" in page
    assert "all subsets of n grid points" in page


def test_the_same_grid_in_both_families_is_compared_point_by_point():
    compared = lb.compare(lb.read_trials(grid(shared=True), **READING), n_resamples=200)
    assert (compared.terms.design, compared.terms.unit) == ("pairs", "grid point")


def test_a_random_search_has_trials_also_beside_a_grid():
    rng = np.random.default_rng(1)
    alone = {"lr": rng.random(20), "depth": rng.integers(1, 9, 20), "val_acc": rng.random(20)}
    assert lb.curve(alone).unit == "trial"
    beside = grid(("cnn",))
    beside["model"] += ["mlp"] * 20
    for name in ("lr", "depth", "val_acc"):
        beside[name] += list(alone[name])
    assert lb.compare(beside, **READING, n_resamples=200).terms.unit == "trial"
