"""The battery: seeded chunks, the same for any number of workers, going on after an interruption."""

import sys
import warnings

import numpy as np
import pytest
from scipy import stats

from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.report.terminal.simulation import coverage_table
from levelbest.simulation import battery
from levelbest.simulation.battery import clopper_pearson, false_winner, simulate
from levelbest.simulation.distributions import named_distribution

LAW = named_distribution("uniform")
SMALL = {"n_samples": 120, "n_resamples": 99, "methods": ("percentile", "jackknife")}


def test_the_unbiased_estimator_is_unbiased_and_v_is_low():
    u = simulate(LAW, 20, [1, 10], estimator="u", **SMALL | {"n_samples": 600})
    v = simulate(LAW, 20, [1, 10], estimator="v", **SMALL | {"n_samples": 600})
    error = u.sd_estimate / np.sqrt(600)
    assert (np.abs(u.mean_estimate - u.truth) < 5 * error).all()  # false alarm 1e-6
    # E[V_10 of 20] for uniforms: sum of w_j j / 21, against 10/11
    j = np.arange(1, 21)
    expected = ((j / 20) ** 10 - ((j - 1) / 20) ** 10) @ (j / 21)
    assert expected < 10 / 11
    assert abs(v.mean_estimate[1] - expected) < 5 * v.sd_estimate[1] / np.sqrt(600)


def test_one_job_and_two_give_the_same():
    one = simulate(LAW, 12, [1, 6], jobs=1, **SMALL).to_dict()
    two = simulate(LAW, 12, [1, 6], jobs=2, **SMALL).to_dict()
    other = simulate(LAW, 12, [1, 6], seed=1, **SMALL).to_dict()
    assert one == two
    assert one["points"] != other["points"]


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    keep = tmp_path / "chunks.jsonl"
    whole = simulate(LAW, 12, [1, 6], **SMALL).to_dict()
    real, calls = battery.run_chunk, []

    def breaks_on_the_second(plan, truth, chunk):
        calls.append(chunk)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(plan, truth, chunk)

    monkeypatch.setattr(battery, "run_chunk", breaks_on_the_second)
    with pytest.raises(KeyboardInterrupt):
        simulate(LAW, 12, [1, 6], keep=keep, **SMALL)
    with keep.open("a") as file:
        file.write('{"plan": {"law')  # cut short by the interruption
        file.write("\n")
    calls.clear()
    monkeypatch.setattr(battery, "run_chunk", lambda *args: calls.append(args[2]) or real(*args))
    assert simulate(LAW, 12, [1, 6], keep=keep, **SMALL).to_dict() == whole
    assert calls == [1, 2]  # the first chunk is not run again
    with pytest.raises(DataError, match="another simulation"):
        simulate(LAW, 12, [1, 5], keep=keep, **SMALL)


def test_progress_counts_chunks():
    seen = []
    simulate(LAW, 12, [1], progress=lambda done, total: seen.append((done, total)), **SMALL)
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("hits", "size"), [(0, 20), (20, 20), (7, 20), (1900, 2000)])
def test_limits_of_proportions_are_clopper_pearson(hits, size):
    exact = stats.binomtest(hits, size).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(clopper_pearson(hits / size, size), (exact.low, exact.high), rtol=1e-10)


def test_a_worse_law_that_never_looks_better():
    rows = false_winner(named_distribution("uniform(1, 1)"), named_distribution("uniform"), 10, [1, 10], n_samples=50)
    assert [row["false_winner"] for row in rows] == [0, 0]
    assert rows[0]["true_difference"] == pytest.approx(1)


def test_equal_looking_laws_are_confused_half_the_time():
    rows = false_winner(
        named_distribution("uniform(0.0001, 1)"), named_distribution("uniform"), 10, [5], n_samples=1000
    )
    assert abs(rows[0]["false_winner"] - 0.5) < 5 * np.sqrt(0.25 / 1000)  # false alarm 6e-7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ("percentil",)}, "did you mean 'percentile'"),
        ({"confidence": 95}, "did you mean 0.95"),
        ({"jobs": 0}, "jobs must be at least 1"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        simulate(LAW, 12, [1], **SMALL | options)
    with pytest.raises(InputError, match="at most the number of trials"):
        simulate(LAW, 12, [13], **SMALL)


def test_an_unknown_engine_is_refused():
    with pytest.raises(InputError, match="engine"):
        simulate(LAW, 12, [1, 6], engine="dask", **SMALL)


def test_without_ray_it_says_how(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"levelbest\[ray\]"):
        simulate(LAW, 12, [1, 6], engine="ray", **SMALL)


@pytest.mark.long
def test_chunks_on_ray_give_the_same_result():
    ray = pytest.importorskip("ray", reason="needs ray: pip install 'levelbest[ray]'")
    distribution = LAW.rounded(0.01)  # a distribution that holds functions which plain pickles cannot carry
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own, as it starts
        there = simulate(distribution, 12, [1, 6], engine="ray", **SMALL).to_dict()
    assert not ray.is_initialized()
    assert there == simulate(distribution, 12, [1, 6], jobs=2, **SMALL).to_dict()


def test_a_budget_without_an_interval_has_no_coverage():
    simulated = simulate(named_distribution("norm"), 10, [1, 10], n_samples=5, n_resamples=99)
    assert np.isfinite(simulated.covered["default"]).tolist() == [True, False]
    assert [point["coverage"] is None for point in simulated.points("default")] == [False, True]
    cells = next(column for column in coverage_table(simulated, "default").columns if column.name == "coverage").cells
    assert cells[1] == "no interval"


def test_equal_curves_differ_by_nothing():
    first, second = named_distribution("norm(0.5,0.1)"), named_distribution("-norm(-0.5,0.1)")
    assert [row["true_difference"] for row in false_winner(first, second, 5, [1, 3], n_samples=2)] == [0.0, 0.0]
