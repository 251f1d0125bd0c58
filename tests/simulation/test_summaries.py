"""[B] figures 2 and 3: the mean, the best single model and the expected best of n as experiments grow; estimators."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from levelbest.cli.main import cli
from levelbest.errors import InputError
from levelbest.simulation.summaries import resampled_summaries
from levelbest.stats import expected_best, gaussian_best, normal_best


def test_summaries_of_a_wide_pool_are_those_of_the_law():
    # 20,000 normal scores: the kernel adds n^(-1/3) = .0014 of the variance. The best of 5 of a normal distribution is
    # 1.163.
    pool = np.random.default_rng(1).standard_normal(20_000)
    varied = resampled_summaries(pool, sizes=[1, 5, 50], n_samples=4_000, rng=2)
    error = 5 / np.sqrt(4_000)  # five standard errors of a mean with sd at most 1: false alarm 6e-7 each
    assert varied.mean["mean"] == pytest.approx([pool.mean()] * 3, abs=error)
    assert varied.mean["best single model"][1] == pytest.approx(1.163, abs=error)
    assert np.isnan(varied.mean["best of n"][0])
    # V of 5 scores at n = 5 is below the truth, of 50 nearly not (the bias is of the order of 1/m)
    assert varied.mean["best of n"][2] == pytest.approx(1.163, abs=0.05)
    assert varied.mean["best of n"][1] < 1.163 - error
    width = varied.high["mean"] - varied.low["mean"]
    assert width == pytest.approx(2 * 1.96 / np.sqrt([1, 5, 50]), rel=0.1)


def test_v_is_the_estimate_of_the_library():
    pool = np.random.default_rng(3).random(8)
    reported = np.random.default_rng(4).random(8)
    one = resampled_summaries(pool, reported, sizes=[6], n_samples=1, rng=5)
    rng = np.random.default_rng(5)
    both = np.stack([pool, reported])
    values, vectors = np.linalg.eigh(np.cov(both))
    drawn = rng.integers(0, 8, (1, 6))
    noise = np.tensordot(vectors * np.sqrt(values) * 8 ** (-1 / 6), rng.standard_normal((2, 1, 6)), 1)
    sample = both[:, drawn[0]] + noise[:, 0]
    assert one.mean["best of n"][0] == pytest.approx(expected_best(sample[0], 5, sample[1], estimator="v"))
    assert one.mean["best single model"][0] == pytest.approx(sample[1][np.argmax(sample[0])])
    assert one.mean["mean"][0] == pytest.approx(sample[1].mean())


def test_estimators_are_those_of_the_library():
    # selection scores that tie with different reported ones, drawn again one by one
    pool = np.array([0.1, 0.4, 0.4, 0.7, 0.7, 0.9])
    reported = np.array([0.2, 0.1, 0.5, 0.3, 0.8, 0.7])
    drawn = np.random.default_rng(8).integers(0, 6, (200, 6))
    assert (np.ptp(pool[drawn], axis=1) > 0).all()  # else a sample defines no Gaussian estimate
    found = resampled_summaries(pool, reported, sizes=[6], n=3, n_samples=200, estimators=True, rng=8)
    rho, constant = np.corrcoef(pool, reported)[0, 1], float(normal_best(3))
    values = {
        "V": [expected_best(pool[rows], 3, reported[rows], estimator="v") for rows in drawn],
        "U": [expected_best(pool[rows], 3, reported[rows]) for rows in drawn],
        "Gaussian": [gaussian_best(pool[rows], 3, reported[rows]) for rows in drawn],
        "Gaussian, correlation known": [
            reported[rows].mean() + rho * reported[rows].std(ddof=1) * constant for rows in drawn
        ],
    }
    assert list(found.sd) == list(values)
    for name, each in values.items():
        assert found.mean[name][0] == pytest.approx(np.mean(each))
        assert found.sd[name][0] == pytest.approx(np.std(each, ddof=1))
        assert found.low[name][0] == pytest.approx(np.quantile(each, 0.025))


def test_a_sample_of_equal_scores_defines_no_gaussian_estimate():
    pool = np.array([0.5, 0.5, 0.5, 0.9])
    found = resampled_summaries(pool, pool[::-1], sizes=[1, 2], n=2, n_samples=400, estimators=True)
    assert np.isnan(found.sd["V"][0])  # fewer experiments than n
    assert np.isfinite(found.sd["Gaussian"][1])
    assert list(resampled_summaries(pool, sizes=[2], n=2, n_samples=9, estimators=True).sd) == ["V", "U", "Gaussian"]


def test_losses_are_the_mirror_image():
    pool = np.random.default_rng(6).random(40)
    up, down = resampled_summaries(pool), resampled_summaries(-pool, direction="min")
    for name, mean in up.mean.items():
        np.testing.assert_allclose(down.mean[name], -mean, equal_nan=True)
        np.testing.assert_allclose(down.low[name], -up.high[name], equal_nan=True)


def test_command(tmp_path):
    rng = np.random.default_rng(7)
    valid = rng.random(30)
    rows = [f"cnn,{v:.4f},{v - 0.05 * e:.4f}" for v, e in zip(valid, rng.random(30), strict=True)]
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(["model,val_acc,test_acc", *rows]))
    run = CliRunner()
    asked = ["simulate", "--summaries", "--kde", str(table), "--reported", "test_acc", "--samples", "200"]
    told = run.invoke(cli, [*asked, "--json", "--n", "3", "--out", str(tmp_path / "f.svg")])
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    assert (document["family"], document["n"]) == ("cnn", 3)
    assert {row["summary"] for row in document["points"]} == {"mean", "best single model", "best of n"}
    assert next(row for row in document["points"] if row["summary"] == "best of n")["mean"] is None
    assert (tmp_path / "f.svg").stat().st_size > 1000
    shown = run.invoke(cli, asked)
    assert "best single model" in shown.stdout
    assert "best of 5" in shown.stdout
    spread = [word.replace("--summaries", "--estimators") for word in asked]
    told = run.invoke(cli, [*spread, "--json", "--out", str(tmp_path / "g.svg")])
    assert {row["summary"] for row in json.loads(told.stdout)["points"]} >= {"V", "U", "Gaussian"}
    assert (tmp_path / "g.svg").stat().st_size > 1000
    assert "correlation" in run.invoke(cli, spread).stdout
    for wrong in (["simulate", "--summaries", "--law", "norm"], [*asked, "--n", "1,2"], [*asked, "--estimators"]):
        assert isinstance(run.invoke(cli, wrong).exception, InputError)  # main() prints it and exits with 2
