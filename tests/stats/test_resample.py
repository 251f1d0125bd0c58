"""The bootstrap engine against estimators written the slow and obvious way."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats.bands import _resample as resample
from levelbest.stats.bands._resample import Ranked, bootstrap, smooth_bootstrap
from levelbest.stats.best import rank_weights


def best_by_enumeration(selection, reported, n):
    """Mean reported score of the winner over every subset of n trials; a tie is won by each of its members equally."""
    total, subsets = 0.0, 0
    for subset in combinations(range(len(selection)), n):
        top = max(selection[i] for i in subset)
        total += np.mean([reported[i] for i in subset if selection[i] == top])
        subsets += 1
    return total / subsets


def jackknife_by_enumeration(selection, reported, n):
    m = len(selection)
    kept = [[j for j in range(m) if j != i] for i in range(m)]
    left_out = np.array([best_by_enumeration([selection[j] for j in k], [reported[j] for j in k], n) for k in kept])
    return np.sqrt((m - 1) / m * np.sum((left_out - left_out.mean()) ** 2)), left_out


scores = st.lists(st.integers(0, 4), min_size=3, max_size=6)


@settings(deadline=None, max_examples=60)
@given(scores, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_estimates_and_errors_of_any_resample_are_the_enumerated_ones(chosen, random, separate, tied):
    m = len(chosen)
    selection = np.array(chosen, dtype=float)
    if not tied:
        selection += np.linspace(0, 0.5, m)
    reported = np.array([random.uniform(-1, 1) for _ in range(m)]) if separate else None
    n = np.arange(1, m + 1)
    trials = Ranked(selection, n, reported)
    drawn = [random.randrange(m) for _ in range(m)]
    counts = np.bincount(drawn, minlength=m)[None]
    estimates, errors = trials.resampled(counts, errors=True)
    picked = np.repeat(trials.order, counts[0])
    first = selection[picked]
    second = first if reported is None else reported[picked]
    for i, budget in enumerate(n):
        assert estimates[i, 0] == pytest.approx(best_by_enumeration(first, second, budget), abs=1e-12)
        if budget < m:
            assert errors[i, 0] == pytest.approx(
                jackknife_by_enumeration(first, second, budget)[0], abs=1e-7
            )  # sqrt of 1e-14
    assert np.isnan(errors[-1, 0])


@pytest.mark.parametrize("separate", [False, True])
def test_leave_one_out_estimates(separate):
    selection = np.array([3.0, 1, 3, 2, 2, 3, 5])
    reported = np.array([0.3, 0.9, 0.1, 0.5, 0.7, 0.6, 0.2]) if separate else None
    trials = Ranked(selection, np.arange(1, 8), reported)
    deviations = trials.leave_one_out()
    first, second = selection[trials.order], (selection if reported is None else reported)[trials.order]
    for n in range(1, 7):
        error, left_out = jackknife_by_enumeration(first, second, n)
        assert deviations[n - 1] == pytest.approx(left_out - left_out.mean(), abs=1e-12)
        assert trials.error[n - 1] == pytest.approx(error, abs=1e-12)
        assert trials.estimate[n - 1] == pytest.approx(best_by_enumeration(first, second, n), abs=1e-12)
    assert np.isnan(deviations[6]).all()


def test_one_column_of_ties_needs_no_grouping():
    selection = np.array([1.0, 1, 2, 2, 2])
    assert not Ranked(selection, np.array([2])).grouped
    assert Ranked(selection, np.array([2]), np.arange(5.0)).grouped


def test_the_input_order_of_tied_trials_does_not_matter():
    rng = np.random.default_rng(1)
    selection = rng.integers(0, 5, 50).astype(float)
    reported = rng.random(50)
    mixed = rng.permutation(50)
    n = np.array([1, 5, 25])
    one = bootstrap(Ranked(selection, n, reported), 300, np.random.default_rng(2), errors=True)
    two = bootstrap(Ranked(selection[mixed], n, reported[mixed]), 300, np.random.default_rng(2), errors=True)
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])


def test_five_level_verifier_centres_on_the_estimate():
    # Section 4's trap: the plain product gave .921 to .976 around .949, depending on the order of tied trials.
    rng = np.random.default_rng(3)
    selection = np.repeat(np.arange(5.0), 10)
    reported = np.where(selection == 4, np.r_[np.zeros(41), np.ones(9)], rng.random(50))
    trials = Ranked(selection, np.array([5]), reported)
    estimates, _ = bootstrap(trials, 20_000, np.random.default_rng(4))
    # U is unbiased for its expectation under the resampling law: V of the sample ([B] eq. 7). Enumerated by levels.
    cumulative = (np.arange(6) / 5) ** 5
    means = [reported[selection == level].mean() for level in range(5)]
    expected = float(np.sum(np.diff(cumulative) * means))
    # Monte Carlo: 5 standard errors, a false alarm in two million
    assert abs(estimates.mean() - expected) < 5 * estimates.std() / np.sqrt(20_000)


def test_the_generator_decides_and_pieces_do_not(monkeypatch):
    x = np.random.default_rng(0).normal(size=30)
    trials = Ranked(x, np.array([1, 7, 29]))
    one = bootstrap(trials, 500, np.random.default_rng(5), errors=True)
    other = bootstrap(trials, 500, np.random.default_rng(6), errors=True)
    assert not np.array_equal(one[0], other[0])
    monkeypatch.setattr(resample, "_RESAMPLED_AT_ONCE", 30 * 7)
    monkeypatch.setattr(resample, "_BLOCK", 8)
    again = bootstrap(trials, 500, np.random.default_rng(5), errors=True)
    np.testing.assert_allclose(one[0], again[0], rtol=1e-13)
    np.testing.assert_allclose(one[1], again[1], rtol=1e-11)


def test_a_large_offset_and_a_diverged_trial_cost_no_digits():
    rng = np.random.default_rng(7)
    x = rng.normal(size=20)
    n = np.array([1, 3, 15])
    near, far = (bootstrap(Ranked(x + c, n), 50, np.random.default_rng(1), errors=True) for c in (0.0, 2.0**30))
    np.testing.assert_allclose(far[0] - 2.0**30, near[0], atol=1e-6)
    np.testing.assert_allclose(far[1], near[1], rtol=1e-5, atol=1e-12)
    x[4] = -1e30
    diverged = Ranked(x, np.array([10]))
    counts = np.ones((1, 20), dtype=np.int64)
    counts[0, 0], counts[0, 5] = 0, 2
    kept = np.sort(np.r_[np.delete(x, 4), np.sort(x)[5]])
    expected = np.sum([kept[j] * rank_weights(20, [10])[0, j] for j in range(20)])
    assert diverged.resampled(counts)[0][0, 0] == pytest.approx(expected, rel=1e-12)


def test_more_memory_than_allowed_is_refused_with_the_number():
    with pytest.raises(InputError, match=r"n_resamples must be at most 2684354 for 50 budgets, got 1000000000: .*GiB"):
        bootstrap(Ranked(np.arange(50.0), np.arange(1, 51)), 10**9, np.random.default_rng(0))


@pytest.mark.parametrize("separate", [False, True])
def test_smoothed_resamples_are_draws_from_scipys_kernel_estimate(separate):
    from scipy.stats import gaussian_kde, ks_2samp

    rng = np.random.default_rng(8)
    selection = rng.gamma(2, size=25)
    reported = 0.5 * selection + rng.normal(size=25) if separate else None
    estimates = smooth_bootstrap(Ranked(selection, np.array([1, 5]), reported), 4000, np.random.default_rng(9))
    kernel = gaussian_kde(selection if reported is None else np.stack([selection, reported]))  # Scott by default
    weights = rank_weights(25, [1, 5])
    drawn = kernel.resample(25 * 4000, seed=rng).reshape(-1, 4000, 25)
    naive = weights @ np.take_along_axis(drawn[-1], np.argsort(drawn[0], axis=1), axis=1).T
    for ours, theirs in zip(estimates, naive, strict=True):
        assert ks_2samp(ours, theirs).pvalue > 1e-4  # fixed seeds; four tests, a false alarm in 2,500
