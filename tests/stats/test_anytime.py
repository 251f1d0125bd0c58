"""Limits under repeated looks: the error over all looks together, against limits that are not made for it."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from levelbest.errors import InputError
from levelbest.report.words.curves import rule_words
from levelbest.stats.bands._anytime import anytime_cdf_band, anytime_quantile_interval, looks
from levelbest.stats.bands._cdf import cdf_band
from levelbest.stats.bands._quantiles import quantile_interval
from levelbest.stats.bands._ranks import rank_band


@pytest.mark.parametrize(("first", "last"), [(10, None), (5, None), (10, 50), (10, 13), (10, 10), (2, 1000)])
def test_the_looks_share_the_error_rate(first, last):
    schedule = looks(10**9, 0.9, first=first, last=last)
    sizes = [size for size, _ in schedule]
    spent = sum(1 - level for _, level in schedule)
    assert sizes[0] == first
    assert sizes == sorted(set(sizes))
    # never from fewer than three quarters of the trials, but for rounding
    assert all(b <= 1.3 * a + 1 for a, b in itertools.pairwise(sizes))
    if last is None:
        assert 0.09 < spent < 0.1
    else:
        assert sizes[-1] == last
        assert spent == pytest.approx(0.1)
    assert looks(sizes[1] - 1 if len(sizes) > 1 else first, 0.9, first=first, last=last) == schedule[:1]
    assert looks(first - 1, 0.9, first=first, last=last) == []


@pytest.mark.parametrize("last", [None, 100])
def test_all_looks_hold_together_and_fixed_sample_limits_do_not(last):
    # 800 searches of 100 trials; a search is in error if any look at any n misses. Limits never widen (below), so
    # the last ones tell. Four sd above the promised error: a false alarm in 30,000.
    draws, n, confidence = 800, np.array([1, 2, 5, 10]), 0.8
    truth = stats.norm.ppf(0.5 ** (1 / n))
    fixed = [rank_band(size, n, confidence=confidence) for size, _ in looks(100, confidence, last=last)]
    wrong = naive = 0
    for scores in np.random.default_rng(21).normal(size=(draws, 100)):
        got = anytime_quantile_interval(scores, n, confidence=confidence, last=last, simultaneous=True)
        wrong += not ((got.low <= truth) & (truth <= got.high)).all()
        for ranks in fixed:
            ordered = np.concatenate([[-math.inf], np.sort(scores[: ranks.n_trials]), [math.inf]])
            if not ((ordered[ranks.low] <= truth) & (truth <= ordered[ranks.high])).all():
                naive += 1
                break
    margin = 4 * math.sqrt(0.2 * 0.8 / draws)
    assert wrong / draws <= 0.2 + margin
    assert naive / draws > 0.2 + 2 * margin


@pytest.mark.parametrize("method", ["ld", "dkw"])
@pytest.mark.parametrize("atoms", [None, 4])
def test_cdf_bands_hold_at_all_looks_together(method, atoms):
    # 800 searches of 60 trials; four sd above the promised error of .2: a false alarm in 30,000.
    draws, wrong = 800, 0
    grid = np.linspace(0, 1, 101) if atoms is None else np.arange(atoms + 1) / atoms
    for uniform in np.random.default_rng(22).random((draws, 60)):
        scores = uniform if atoms is None else np.ceil(uniform * atoms) / atoms
        low, high = anytime_cdf_band(scores, 0.8, method=method).limits(grid)
        wrong += not ((low <= grid + 1e-12) & (grid <= high + 1e-12)).all()
    assert wrong / draws <= 0.2 + 4 * math.sqrt(0.16 / draws)


def test_limits_only_change_at_looks_and_only_tighten():
    scores = np.random.default_rng(23).normal(size=60)
    sizes = {size for size, _ in looks(60)}
    before = anytime_quantile_interval(scores[:9], [1, 3], simultaneous=True)
    assert (before.low == -math.inf).all()
    assert (before.high == math.inf).all()
    assert "no limits before the first look, at 10 trials" in rule_words(before.rule)
    assert before.horizon == 0
    for t in range(10, 61):
        now = anytime_quantile_interval(scores[:t], [1, 3], simultaneous=True)
        assert (now.low >= before.low).all()
        assert (now.high <= before.high).all()
        if t not in sizes:
            np.testing.assert_array_equal(now.low, before.low)
            np.testing.assert_array_equal(now.high, before.high)
        before = now


def test_one_look_at_the_planned_end_is_the_fixed_sample_interval():
    scores = np.random.default_rng(24).normal(size=40)
    got = anytime_quantile_interval(scores, [1, 4], first=40, last=40, simultaneous=True)
    want = quantile_interval(scores, [1, 4], simultaneous=True)
    np.testing.assert_array_equal(got.low, want.low)
    np.testing.assert_array_equal(got.high, want.high)
    assert got.horizon == want.horizon
    band, plain = anytime_cdf_band(scores, first=40, last=40), cdf_band(scores)
    np.testing.assert_array_equal(band.low, plain.low)
    np.testing.assert_array_equal(band.high, plain.high)
    assert band.method == "anytime-ld"
    assert band.coverage is None


def test_the_cdf_band_is_the_intersection_of_its_looks():
    scores = np.round(np.random.default_rng(25).normal(size=23), 1)
    at = np.linspace(-3, 3, 121)
    low, high = anytime_cdf_band(scores).limits(at)
    parts = [cdf_band(scores[:size], level).limits(at) for size, level in looks(23)]
    assert len(parts) == 4
    np.testing.assert_array_equal(low, np.max([p[0] for p in parts], axis=0))
    np.testing.assert_array_equal(high, np.min([p[1] for p in parts], axis=0))
    empty_low, empty_high = anytime_cdf_band(scores[:5]).limits(at)
    assert (empty_low == 0).all()
    assert (empty_high == 1).all()


def test_directions_mirror_and_bounds_fill():
    scores = np.random.default_rng(26).normal(size=30)
    up = anytime_quantile_interval(scores, [1, 2, 50], simultaneous=False)
    down = anytime_quantile_interval(-scores, [1, 2, 50], simultaneous=False, direction="min")
    np.testing.assert_array_equal(up.low, -down.high)
    np.testing.assert_array_equal(up.high, -down.low)
    assert up.high[2] == math.inf
    assert anytime_quantile_interval(scores, 50, bounds=(-9, 9)).high == 9


def test_looks_that_contradict_each_other_are_undefined_with_the_reason():
    drifting = np.concatenate([np.linspace(0, 1, 40), np.linspace(10, 11, 400)])
    got = anytime_quantile_interval(drifting, [1, 2], simultaneous=True)
    assert np.isnan(got.low[0])
    assert np.isnan(got.high[0])
    assert got.why[0] == "looks-apart"


@pytest.mark.parametrize(("last", "price"), [(50, 1.2), (None, 1.5)])
def test_the_price_of_peeking(last, price):
    # What the module's first page says: width, as a part of all ranks, after 50 trials against a fixed sample of 50.
    n = np.arange(1, 26)
    (*_, (size, level)) = looks(50, last=last)
    fixed, peeked = rank_band(50, n), rank_band(size, n, confidence=level)
    ratio = (peeked.high - peeked.low)[:5].mean() / size / ((fixed.high - fixed.low)[:5].mean() / 50)
    assert round(ratio, 1) == price


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": 1}, "first must be at least 2"),
        ({"first": 20, "last": 10}, "last must be at least first"),
        ({"confidence": 95}, "did you mean 0.95"),
    ],
)
def test_bad_schedules_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        anytime_quantile_interval(np.arange(30.0), 1, **change)
    with pytest.raises(InputError, match="known: "):
        anytime_cdf_band(np.arange(30.0), method="bootstrap")


def test_limits_that_are_absent_are_not_called_undefined():
    before_the_first_look = anytime_quantile_interval([0.1, 0.2, 0.3], [1, 2])
    assert np.isinf(before_the_first_look.low).all()
    assert "undefined" not in str(before_the_first_look)
    assert "n = 1: -inf to inf" in str(before_the_first_look)
