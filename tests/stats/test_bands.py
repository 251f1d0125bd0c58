"""Quantile-curve limits against golden bands, a naive chain of binomials, brute force and laws that hurt."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from levelbest.errors import InputError
from levelbest.report.words.curves import rule_words
from levelbest.stats.bands._quantiles import horizon, quantile_interval
from levelbest.stats.bands._ranks import rank_band

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "median_band.json").read_text())
CASES = [pytest.param(case, id="-".join(str(case[k]) for k in ("n_trials", "n_max", "confidence"))) for case in GOLDEN]


def chain(m, p, low, high):
    """P(low_k <= N(p_k) < high_k for all k) by conditional binomials: given N(p) = c, N(p') - c is binomial."""
    state = stats.binom.pmf(np.arange(m + 1), m, p[0])
    for k in range(len(p)):
        if k:
            moved = np.zeros(m + 1)
            for c in np.flatnonzero(state):
                step = (p[k] - p[k - 1]) / (1 - p[k - 1])
                moved[c:] += state[c] * stats.binom.pmf(np.arange(m - c + 1), m - c, step)
            state = moved
        state[: low[k]] = 0
        state[high[k] :] = 0
    return state.sum()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", ["narrow", "long"])
def test_covers_exactly_and_is_no_wider_than_the_golden_band(case, shape):
    m, confidence = case["n_trials"], case["confidence"]
    n = np.arange(1, case["n_max"] + 1)
    low, high = np.array(case["low_order_statistic"]), np.array(case["high_order_statistic"])
    band = rank_band(m, n, confidence=confidence, shape=shape)
    covered = chain(m, 0.5 ** (1 / n), band.low, band.high)
    assert band.coverage == pytest.approx(covered, abs=1e-12)
    assert covered >= confidence
    assert chain(m, 0.5 ** (1 / n), low, high) == pytest.approx(case["joint_coverage"], abs=1e-12)
    reach = int((high <= m).sum())
    assert band.horizon >= reach
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    if shape == "narrow":
        assert (band.high - band.low).sum() <= (high - low).sum()
    else:
        assert (band.high - band.low)[:reach].mean() <= 1.05 * (high - low)[:reach].mean()


def test_the_long_shape_reaches_further():
    # The width that it may cost is checked above.
    assert horizon(50, 0.95) == 7
    assert horizon(50, 0.95, shape="long") == 9
    assert horizon(50, 0.8) == 10
    assert horizon(50, 0.8, shape="long") >= 13


@pytest.mark.parametrize("m", [2, 5, 17, 60])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_pointwise_limits_are_the_tightest_with_half_the_error_each(m, q, confidence):
    n = np.array([1, 2, 3, 7, 30, 200])
    band = rank_band(m, n, q, confidence=confidence, pointwise=True)
    half = (1 - confidence) / 2 + 1e-13
    for budget, low, high, covered in zip(n, band.low, band.high, band.coverage, strict=True):
        law = stats.binom(m, q ** (1 / budget))
        fits_low = [rank for rank in range(m + 1) if law.cdf(rank - 1) <= half]
        fits_high = [rank for rank in range(1, m + 2) if law.sf(rank - 1) <= half]
        assert (low, high) == (max(fits_low), min(fits_high))
        assert covered == pytest.approx(law.cdf(high - 1) - law.cdf(low - 1), abs=1e-13)
        assert covered >= confidence - 1e-12
        assert (high <= m) == (budget <= band.horizon)


@pytest.mark.parametrize("m", [5, 17, 60])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_long_pointwise_intervals_hold_and_reach_further(m, confidence):
    n = np.arange(1, 200)
    long = rank_band(m, n, confidence=confidence, pointwise=True, shape="long")
    narrow = rank_band(m, n, confidence=confidence, pointwise=True)
    law = stats.binom(m, 0.5 ** (1 / n))
    assert (law.cdf(long.high - 1) - law.cdf(long.low - 1) >= confidence - 1e-12).all()
    assert long.horizon >= narrow.horizon
    assert ((long.high <= m) == (n <= long.horizon)).all()
    assert (long.low[: narrow.horizon] == narrow.low[: narrow.horizon]).all()


@given(
    st.integers(2, 25),
    st.lists(st.integers(1, 60), min_size=1, max_size=6),
    st.sampled_from([0.1, 0.5, 0.75, 0.95]),
    st.sampled_from([0.5, 0.8, 0.95, 0.99]),
    st.sampled_from(["narrow", "long"]),
)
def test_any_set_of_budgets_is_covered_jointly(m, n, q, confidence, shape):
    band = rank_band(m, n, q, confidence=confidence, shape=shape)
    order = np.argsort(n, kind="stable")
    p = q ** (1 / np.sort(n))
    covered = chain(m, p, band.low[order], band.high[order])
    assert covered == pytest.approx(band.coverage, abs=1e-12)
    assert covered >= confidence - 1e-12
    limited = [budget for budget, high in zip(n, band.high, strict=True) if high <= m]
    assert band.horizon == max(limited, default=0)
    for budget, low, high in zip(n, band.low, band.high, strict=True):  # repeated budgets have the same limits
        assert (low, high) == (band.low[n.index(budget)], band.high[n.index(budget)])


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("q", [0.5, 0.2])
def test_max_and_min_are_mirror_images(simultaneous, q):
    scores = np.random.default_rng(3).normal(size=40)
    n = np.arange(1, 15)
    up = quantile_interval(scores, n, q, simultaneous=simultaneous)
    down = quantile_interval(-scores, n, q, simultaneous=simultaneous, direction="min")
    np.testing.assert_array_equal(up.low, -down.high)
    np.testing.assert_array_equal(up.high, -down.low)
    assert up.horizon == down.horizon
    assert "bounded above up to" in rule_words(up.rule)
    assert "bounded below up to" in rule_words(down.rule)


def test_the_order_of_the_scores_does_not_matter_and_moves_go_along():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=30)
    one = quantile_interval(scores, [1, 4, 9], simultaneous=True)
    two = quantile_interval(10 + 2 * rng.permutation(scores), [1, 4, 9], simultaneous=True)
    np.testing.assert_allclose(10 + 2 * one.low, two.low)
    np.testing.assert_allclose(10 + 2 * one.high, two.high)


def test_an_ordinary_median_by_hand():
    # Nine trials, n = 1: P(Bin(9, 1/2) <= 1) = 10/512 < .025 <= P(<= 2): order statistics 2 and 8.
    interval = quantile_interval([9, 2, 3, 4, 5, 6, 7, 8, 1], 1)
    assert (interval.low, interval.high) == (2, 8)
    assert interval.coverage == pytest.approx(1 - 20 / 512, abs=1e-14)
    assert interval.method == "exact"
    assert interval.statistic == "median"
    assert not interval.simultaneous
    assert isinstance(interval.low, float)


LAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "rounded": lambda rng, size: np.round(rng.beta(8, 2, size=size), 1),
    "three points": lambda rng, size: rng.choice([0.0, 0.5, 1.0], p=[0.2, 0.5, 0.3], size=size),
    "failures": lambda rng, size: np.where(rng.random(size) < 0.3, -1.0, rng.normal(size=size)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_simultaneous_coverage_by_simulation(law, confidence):
    # 4,000 samples; the bound lies four standard deviations below the nominal coverage: a false alarm in 30,000 runs.
    m, n, draws = 30, np.arange(1, 16), 4000
    p = 0.5 ** (1 / n)
    reference = np.sort(LAWS[law](np.random.default_rng(12), 2_000_000))
    truth = stats.norm.ppf(p) if law == "normal" else reference[np.ceil(p * 2e6).astype(int) - 1]
    samples = LAWS[law](np.random.default_rng(11), (draws, m))
    bands = [quantile_interval(sample, n, confidence=confidence, simultaneous=True) for sample in samples]
    held = sum(bool(((band.low <= truth) & (truth <= band.high)).all()) for band in bands)
    assert held / draws >= confidence - 4 * math.sqrt(confidence * (1 - confidence) / draws)
    if law == "normal":  # and not much more than promised: the exact coverage, within four standard deviations
        exact = rank_band(m, n, confidence=confidence).coverage
        assert held / draws <= exact + 4 * math.sqrt(exact * (1 - exact) / draws)


def test_absent_limits_are_infinite_or_the_bounds():
    scores = np.linspace(0.1, 0.9, 10)
    plain = quantile_interval(scores, [1, 40])
    assert plain.high[1] == math.inf
    assert np.isfinite(plain.low).all()
    assert quantile_interval(scores, [1, 40], bounds=(0, 1)).high[1] == 1
    down = quantile_interval(scores, [1, 40], direction="min")
    assert down.low[1] == -math.inf
    assert quantile_interval(scores, [1, 40], direction="min", bounds=(0, 1)).low[1] == 0
    two = quantile_interval([0.3, 0.4], 1)
    assert (two.low, two.high) == (-math.inf, math.inf)
    assert two.horizon == 0
    assert "not bounded above" in rule_words(two.rule)


def test_budgets_beyond_the_trials_have_the_limit_from_below():
    scores = np.arange(1.0, 21.0)
    band = quantile_interval(scores, [1, 20, 1000], simultaneous=True)
    assert np.isfinite(band.low).all()
    assert band.high[2] == math.inf


@pytest.mark.parametrize("m", [2, 12])
def test_more_budgets_than_are_walked_one_by_one(m):
    n = np.arange(1, 301)
    band = rank_band(m, n, confidence=0.7)
    covered = chain(m, 0.5 ** (1 / n), band.low, band.high)
    assert covered == pytest.approx(band.coverage, abs=1e-12)
    assert covered >= 0.7
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()


def test_many_trials_and_budgets_are_feasible():
    band = rank_band(5000, np.arange(1, 5001), confidence=0.9)
    assert 0.9 <= band.coverage < 0.901
    assert band.horizon > 500


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": 95}, "did you mean 0.95"),
        ({"confidence": 0}, r"confidence must lie in \(0, 1\)"),
        ({"confidence": 1}, r"confidence must lie in \(0, 1\)"),
        ({"scores": [0.5]}, "at least 2 trials"),
        ({"scores": [0.5, math.nan]}, "must be finite"),
        ({"n": 0}, "at least 1"),
        ({"n": 1.5}, "whole number"),
        ({"q": 50}, r"q must lie in \(0, 1\)"),
        ({"shape": "longer"}, "did you mean 'long'.*narrow"),
        ({"direction": "up"}, "'max'"),
        ({"bounds": (0, 0.5)}, "within the bounds"),
    ],
)
def test_bad_input_is_refused_with_the_remedy(change, message):
    arguments = {"scores": [0.1, 0.2, 0.9], "n": [1, 2], "simultaneous": True, **change}
    scores, n = arguments.pop("scores"), arguments.pop("n")
    with pytest.raises(InputError, match=message):
        quantile_interval(scores, n, **arguments)


def test_one_trial_has_no_horizon():
    with pytest.raises(InputError, match="at least 2 trials, got 1"):
        horizon(1)
