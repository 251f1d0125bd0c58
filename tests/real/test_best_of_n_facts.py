"""The data of *A Boo(n)*: numbers of the paper and of its authors' results."""

import csv

import numpy as np
import pytest

from levelbest.stats import expected_best, normality


@pytest.fixture(scope="module")
def resnet(real_data):
    """74 runs that trained long enough: validation and test precision at the best validation step."""
    with (real_data / "boon" / "cifar100-resnet-oct17.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["step_test"]) >= 35000]
    assert len(rows) == 74
    return tuple(np.array([float(row[name]) for row in rows]) for name in ("Precision_valid", "Precision_test"))


def test_resnet_curve_is_not_monotone(resnet):
    valid, test = resnet
    assert expected_best(valid, [1, 5, 50], test, estimator="v").round(5).tolist() == [0.68451, 0.68570, 0.68416]
    assert expected_best(valid, [1, 5, 50], test).round(5).tolist() == [0.68451, 0.68571, 0.68501]


def test_resnet_scores_look_normal(resnet):
    assert not normality(resnet[1]).rejected  # [B] section 5: Anderson-Darling, level 0.05


def test_as_reader(real_data):
    with (real_data / "boon" / "cbt_fixed_hyppar.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if "dist" in row["log_path"] and float(row["epoch"]) > 0]
    valid, test = (np.array([float(row[name]) for row in rows]) for name in ("valid.accuracy", "accuracy"))
    assert test.size == 370
    assert len(set(valid)) == 54, "ties: the selection score has 54 values"
    assert round(100 * expected_best(test, 1), 3) == 63.157
    # Tied trials share: the input order must not matter.
    order = np.random.default_rng(0).permutation(370)
    n = np.arange(1, 371)
    curve = expected_best(valid, n, test)
    assert expected_best(valid[order], n, test[order]) == pytest.approx(curve, rel=1e-13)
