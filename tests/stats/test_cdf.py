"""CDF bands against golden levels, SciPy's Kolmogorov law, a brute-force shortest interval, and simulation."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from whole_paths import order_probability

from levelbest.errors import InputError
from levelbest.report.words.curves import rule_words
from levelbest.stats.bands._cdf import cdf_band, mean_curve_bounds

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "ld_equal_tailed.json").read_text())
METHODS = ["ld", "ld-hd", "ks", "dkw"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['n_trials']}-{case['confidence']}")
def test_equal_tailed_bands_equal_the_golden_ones(case):
    band = cdf_band(np.arange(case["n_trials"]), case["confidence"])
    assert band.level == pytest.approx(case["local_level"], rel=1e-9)
    got = band.low[0], band.high[0], band.low[-1], band.high[-1]
    want = [case[k] for k in ("low_first", "high_first", "low_last", "high_last")]
    assert got == pytest.approx(want, rel=1e-8, abs=1e-12)
    if "simulated_coverage_400k" in case:
        # The simulation's own error: five sd, a false alarm in 1.7 million.
        spread = math.sqrt(case["confidence"] * (1 - case["confidence"]) / 400_000)
        assert abs(case["simulated_coverage_400k"] - band.coverage) < 5 * spread


@pytest.mark.parametrize("m", [2, 3, 4, 9, 50, 333])
@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("method", METHODS)
def test_the_coverage_is_exact(m, confidence, method):
    band = cdf_band(np.arange(m), confidence, method=method)
    covered = order_probability(m, band.low, band.high)  # the whole path, not the mirrored half
    assert covered == pytest.approx(band.coverage, abs=1e-11)
    if method == "dkw":
        assert covered > confidence
    else:
        assert covered == pytest.approx(confidence, abs=1e-11)
    np.testing.assert_allclose(band.low, 1 - band.high[::-1], atol=1e-15)
    assert (np.diff(band.low) >= 0).all()
    assert (band.low >= 0).all()
    assert (band.low < band.high).all()


@pytest.mark.parametrize("m", [2, 10, 100, 139])
@pytest.mark.parametrize("confidence", [0.2, 0.8, 0.95])
def test_ks_has_scipys_distance(m, confidence):
    band = cdf_band(np.arange(m), confidence, method="ks")
    assert band.level == pytest.approx(stats.kstwo.ppf(confidence, m), rel=1e-9)
    i = np.arange(1, m + 1)
    np.testing.assert_allclose(band.low, np.maximum(i / m - band.level, 0), atol=1e-15)
    np.testing.assert_allclose(band.high, np.minimum((i - 1) / m + band.level, 1), atol=1e-12)


def test_dkw_is_the_closed_form():
    band = cdf_band(np.arange(40), 0.9, method="dkw")
    assert band.level == pytest.approx(math.sqrt(math.log(2 / 0.1) / 80), rel=1e-15)


@pytest.mark.parametrize("m", [3, 8, 60, 900])
@pytest.mark.parametrize("confidence", [0.3, 0.95])
def test_highest_density_intervals_are_the_shortest(m, confidence):
    band = cdf_band(np.arange(m), confidence, method="ld-hd")
    for i in sorted({1, 2, m // 2, (m + 1) // 2, m - 1, m}):
        law = stats.beta(i, m + 1 - i)
        low, high = band.low[i - 1], band.high[i - 1]
        assert law.cdf(low) + law.sf(high) == pytest.approx(band.level, rel=1e-8)

        def length(share, law=law):
            return law.isf((1 - share) * band.level) - law.ppf(share * band.level)

        best = optimize.minimize_scalar(length, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
        assert high - low <= min(best.fun, length(0.0), length(1.0)) * (1 + 1e-7)


def test_which_band_is_narrowest():
    width = {
        method: np.mean(np.subtract(*(lambda b: (b.high, b.low))(cdf_band(np.arange(50), method=method))))
        for method in METHODS
    }
    assert width["ld-hd"] < width["ld"] < width["ks"] < width["dkw"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("atoms", [None, 3, 20])
def test_holds_for_continuous_and_for_discrete_laws(method, atoms):
    # 3,000 samples of 25; four sd below nominal is a false alarm once in 30,000 runs (each of twelve tests).
    rng, m, confidence, draws = np.random.default_rng(7), 25, 0.8, 3000
    held = held_at_scores = 0
    for uniform in rng.random((draws, m)):
        scores = uniform if atoms is None else np.ceil(uniform * atoms) / atoms  # F(k / atoms) = k / atoms
        band = cdf_band(scores, confidence, method=method)
        at = np.linspace(0, 1, 401) if atoms is None else np.arange(atoms + 1) / atoms
        low, high = band.limits(at)
        held += bool(((low <= at + 1e-12) & (at <= high + 1e-12)).all())
        held_at_scores += bool(((band.low <= band.x + 1e-12) & (band.x <= band.high + 1e-12)).all())
    floor = confidence - 4 * math.sqrt(confidence * (1 - confidence) / draws)
    assert held / draws >= floor
    if atoms is None or atoms == 3:  # with 20 atoms some show no tie: limits() is for those
        assert held_at_scores / draws >= floor
    if atoms is None and method != "dkw":
        assert held_at_scores / draws <= confidence + 4 * math.sqrt(confidence * (1 - confidence) / draws)


def test_limits_by_hand_between_and_beyond_the_scores():
    band = cdf_band([3.0, 1.0, 2.0, 2.0])
    a, b = band.rank_low, band.rank_high
    low, high = band.limits([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 9.0])
    np.testing.assert_array_equal(low, [0, a[0], a[0], a[2], a[2], a[3], a[3]])
    np.testing.assert_array_equal(high, [b[0], b[1], b[1], b[3], b[3], 1, 1])
    np.testing.assert_array_equal(band.x, [1, 2, 2, 3])
    np.testing.assert_array_equal(band.low, [a[0], a[2], a[2], a[3]])
    np.testing.assert_array_equal(band.high, [b[0], b[3], b[3], b[3]])
    assert band.rule.code == "tied"


def test_the_kept_limits_cannot_be_spoilt():
    band = cdf_band(np.arange(12.0))
    with pytest.raises(ValueError, match="read-only"):
        band.low[0] = 0.5


@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_mean_bounds_integrate_the_band(direction, n):
    scores, (a, b) = np.random.default_rng(2).beta(8, 2, size=15), (0.0, 1.0)
    scores[:3] = scores[0]
    band = cdf_band(scores, 0.8)
    got = mean_curve_bounds(band, n, (a, b), direction)
    points = np.unique(band.x).tolist()

    def mean(limit):  # E max = b - integral of F^n, E min = a + integral of (1 - F)^n
        def tail(x):
            f = band.limits(x)[limit]
            return f**n if direction == "max" else (1 - f) ** n

        edges = [a, *points, b]
        area = sum(integrate.quad(tail, s, t)[0] for s, t in itertools.pairwise(edges))
        return b - area if direction == "max" else a + area

    # The upper limit of F gives the lower limit of the curve.
    assert got.low == pytest.approx(mean(1), rel=1e-9)
    assert got.high == pytest.approx(mean(0), rel=1e-9)
    assert got.simultaneous
    assert got.method == "ld"


def test_mean_bounds_mirror_and_miss_where_a_bound_is_missing():
    scores = np.random.default_rng(4).normal(size=20)
    n = np.arange(1, 30)
    up = mean_curve_bounds(cdf_band(scores), n, (-9, 7))
    down = mean_curve_bounds(cdf_band(-scores), n, (-7, 9), "min")
    np.testing.assert_allclose(up.low, -down.high, rtol=1e-12)
    np.testing.assert_allclose(up.high, -down.low, rtol=1e-12)
    assert (np.diff(up.low) >= 0).all()
    assert (np.diff(up.high) >= 0).all()
    none = mean_curve_bounds(cdf_band(scores), [1, 2], None)
    assert (none.low == -math.inf).all()
    assert (none.high == math.inf).all()
    half = mean_curve_bounds(cdf_band(scores), 3, (None, 7))
    assert half.low == -math.inf
    assert half.high == pytest.approx(up.high[2])
    assert "without a lower bound" in rule_words(half.rule)
    loss = mean_curve_bounds(cdf_band(scores), 3, (-9, None), "min")
    assert loss.high == math.inf
    assert np.isfinite(loss.low)


def test_mean_bounds_hold_for_every_n_at_once():
    # 2,000 samples; four sd below .8: a false alarm in 30,000.
    rng, n, draws = np.random.default_rng(9), np.array([1, 2, 5, 20, 100]), 2000
    truth = n / (n + 1)  # the largest of n uniforms
    held = 0
    for scores in rng.random((draws, 20)):
        got = mean_curve_bounds(cdf_band(scores, 0.8), n, (0, 1))
        held += bool(((got.low <= truth) & (truth <= got.high)).all())
    assert held / draws >= 0.8 - 4 * math.sqrt(0.16 / draws)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=30), st.sampled_from(METHODS))
def test_order_does_not_matter_and_negation_mirrors(scores, method):
    band = cdf_band(scores, method=method)
    again = cdf_band(sorted(scores, reverse=True), method=method)
    mirror = cdf_band([-s for s in scores], method=method)
    at = np.arange(-6, 7) + 0.5
    np.testing.assert_array_equal(band.limits(at), again.limits(at))
    np.testing.assert_allclose(band.limits(at)[0], 1 - mirror.limits(-at)[1], atol=1e-15)


@pytest.mark.parametrize(
    ("scores", "change", "message"),
    [
        ([1, 2, 3], {"confidence": 95}, "did you mean 0.95"),
        ([1, 2, 3], {"confidence": 1}, r"must lie in \(0, 1\)"),
        ([1, 2, 3], {"method": "ld_hd"}, "did you mean 'ld-hd'.*dkw"),
        ([1], {}, "at least 2 trials"),
        ([], {}, "at least 2 trials"),
        ([1, math.inf], {}, "must be finite"),
        (np.zeros(100_001), {}, "up to 100,000 trials, got 100,001; method='dkw'"),
    ],
)
def test_bad_input_is_refused_with_the_remedy(scores, change, message):
    with pytest.raises(InputError, match=message):
        cdf_band(scores, **change)


def test_many_scores_still_have_dkw():
    band = cdf_band(np.arange(100_001.0), method="dkw")
    assert band.coverage is None
    assert band.level == pytest.approx(math.sqrt(math.log(40) / 200_002))
