"""The best of n: enumeration, algebra, quantiles, a naive jackknife, and bad input."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats import best_weights, expected_best, quantile_best, spread_of_best, standard_error, unseen

FUNCTIONS = (expected_best, quantile_best, spread_of_best, standard_error)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 3))


@st.composite
def tied_trials(draw, least=1, most=8):
    """Few trials with few selection scores: ties are the rule. Whole numbers, for exact fractions."""
    size = draw(st.integers(least, most))
    selection = draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size))
    reported = draw(st.none() | st.lists(st.integers(-20, 20), min_size=size, max_size=size))
    return selection, reported, draw(st.integers(1, size)), draw(st.sampled_from(["max", "min"]))


@st.composite
def any_trials(draw, least=1):
    size = draw(st.integers(least, 60))
    selection = np.array(draw(st.lists(numbers, min_size=size, max_size=size)))
    reported = draw(st.none() | st.lists(numbers, min_size=size, max_size=size))
    n = draw(st.integers(1, size))
    return selection, None if reported is None else np.array(reported), n


def winners(selection, n, reported, estimator, direction):
    """The law of the winner's reported score over every draw of n: tied winners share. Exact."""
    claimed = selection if reported is None else reported
    everyone = range(len(selection))
    # Which of the drawn are tied for best matters, not their order: subsets, or sequences with repetition.
    draws = itertools.combinations(everyone, n) if estimator == "u" else itertools.product(everyone, repeat=n)
    best_of = max if direction == "max" else min
    law, count = {}, 0
    for draw in draws:
        best = best_of(selection[i] for i in draw)
        tied = [claimed[i] for i in draw if selection[i] == best]
        for score in tied:
            law[score] = law.get(score, 0) + Fraction(1, len(tied))
        count += 1
    return {score: share / count for score, share in law.items()}


def moments(law):
    mean = sum(score * share for score, share in law.items())
    return float(mean), math.sqrt(sum((score - mean) ** 2 * share for score, share in law.items()))


@given(tied_trials())
@settings(max_examples=150)
def test_u_equals_enumeration(trials):
    selection, reported, n, direction = trials
    mean, spread = moments(winners(selection, n, reported, "u", direction))
    assert expected_best(selection, n, reported, direction=direction) == pytest.approx(mean, rel=1e-12, abs=1e-13)
    assert spread_of_best(selection, n, reported, direction=direction) == pytest.approx(spread, rel=1e-12, abs=1e-13)


@given(tied_trials())
@settings(max_examples=60)
def test_v_equals_enumeration(trials):
    selection, reported, n, direction = trials
    assume(len(selection) ** n <= 5000)
    options = {"estimator": "v", "direction": direction}
    mean, spread = moments(winners(selection, n, reported, "v", direction))
    assert expected_best(selection, n, reported, **options) == pytest.approx(mean, rel=1e-12, abs=1e-13)
    assert spread_of_best(selection, n, reported, **options) == pytest.approx(spread, rel=1e-12, abs=1e-13)


def test_eight_trials_with_replacement():
    """8^5 draws, once: the largest that is enumerated."""
    selection, reported = [3, 1, 3, 2, 2, 5, 5, 3], [1, 8, -4, 0, 7, 2, 9, -3]
    mean, spread = moments(winners(selection, 5, reported, "v", "max"))
    assert expected_best(selection, 5, reported, estimator="v") == pytest.approx(mean, rel=1e-13)
    assert spread_of_best(selection, 5, reported, estimator="v") == pytest.approx(spread, rel=1e-13)


def test_naive_uses_the_first_n_trials_alone():
    rng = np.random.default_rng(8)
    selection, reported = rng.integers(0, 5, 12), rng.integers(-9, 9, 12)
    for n in (1, 2, 5, 12):
        part = (selection[:n], n, reported[:n])
        assert expected_best(selection, n, reported, estimator="naive") == expected_best(*part, estimator="v")
        assert spread_of_best(selection, n, reported, estimator="naive") == spread_of_best(*part, estimator="v")
    # [D] eq. 7 on three trials, by hand: 1/27 * 2 + 7/27 * 4 + 19/27 * 9
    assert expected_best([4, 9, 2, 100], 3, estimator="naive") == pytest.approx((2 + 28 + 171) / 27, rel=1e-15)


@given(any_trials(), st.randoms(use_true_random=False), st.sampled_from(["u", "v"]))
def test_the_order_of_trials_does_not_matter(trials, random, estimator):
    selection, reported, n = trials
    order = list(range(len(selection)))
    random.shuffle(order)
    shuffled = None if reported is None else reported[order]
    for function in (expected_best, spread_of_best):
        value = function(selection, n, reported, estimator=estimator)
        assert function(selection[order], n, shuffled, estimator=estimator) == pytest.approx(value, rel=1e-12, abs=1e-8)
    value = quantile_best(selection, n, 0.5, reported)
    assert quantile_best(selection[order], n, 0.5, shuffled) == pytest.approx(value, rel=1e-12)


@given(any_trials(), st.integers(-100, 100), st.sampled_from([0.25, 2.0, 1024.0]), st.sampled_from(["u", "v", "naive"]))
def test_shift_and_scale(trials, shift, scale, estimator):
    selection, reported, n = trials
    claimed = selection if reported is None else reported
    moved = scale * claimed + shift
    mean = expected_best(selection, n, reported, estimator=estimator)
    # A positive scale and a shift keep the order; where they would round scores together, only the claim is moved.
    moved_mean = expected_best(selection, n, moved, estimator=estimator)
    size = 1 + np.abs(moved).max()
    assert moved_mean == pytest.approx(scale * mean + shift, rel=1e-12, abs=1e-12 * size)
    spread = spread_of_best(selection, n, reported, estimator=estimator)
    assert spread_of_best(selection, n, moved, estimator=estimator) == pytest.approx(
        scale * spread, rel=1e-12, abs=1e-12 * size
    )


@given(any_trials(least=2), st.floats(0.01, 0.99))
def test_min_is_the_mirror_of_max(trials, q):
    selection, reported, n = trials
    turned = None if reported is None else -reported
    for estimator in ("u", "v", "naive"):
        options = {"estimator": estimator, "direction": "min"}
        value = expected_best(selection, n, reported, estimator=estimator)
        assert expected_best(-selection, n, turned, **options) == pytest.approx(-value, rel=1e-12, abs=1e-9)
    value = quantile_best(selection, n, q, reported)
    assert quantile_best(-selection, n, q, turned, direction="min") == pytest.approx(-value, rel=1e-12, abs=0)
    if n < selection.size:
        value = standard_error(selection, n, reported)
        assert standard_error(-selection, n, turned, direction="min") == pytest.approx(value, rel=1e-9, abs=1e-9)


@given(any_trials(), st.sampled_from(["max", "min"]))
def test_u_of_all_trials_is_the_best_trial(trials, direction):
    selection, reported, _ = trials
    best = selection.max() if direction == "max" else selection.min()
    claimed = (selection if reported is None else reported)[selection == best]
    value = expected_best(selection, selection.size, reported, direction=direction)
    assert value == pytest.approx(claimed.mean(), rel=1e-12, abs=1e-9)


@given(any_trials())
def test_v_is_at_most_u(trials):
    selection, _, n = trials
    slack = 1e-12 * (1 + np.abs(selection).max())
    assert expected_best(selection, n, estimator="v") <= expected_best(selection, n) + slack


@given(any_trials())
def test_one_column_never_falls(trials):
    selection, _, _ = trials
    curve = expected_best(selection, np.arange(1, selection.size + 1))
    assert (np.diff(curve) >= -1e-12 * (1 + np.abs(selection).max())).all()


@given(any_trials(), st.sampled_from(["max", "min"]))
def test_weights_are_shares_and_make_the_mean(trials, direction):
    selection, reported, n = trials
    claimed = selection if reported is None else reported
    for estimator in ("u", "v", "naive"):
        weights = best_weights(selection, n, estimator=estimator, direction=direction)
        assert weights.shape == selection.shape
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1, rel=1e-13)
        mean = expected_best(selection, n, reported, estimator=estimator, direction=direction)
        assert weights @ claimed == pytest.approx(mean, rel=1e-12, abs=1e-8)
        for score in np.unique(selection[:n] if estimator == "naive" else selection):
            tied = weights[:n][selection[:n] == score] if estimator == "naive" else weights[selection == score]
            assert tied == pytest.approx(tied[0], rel=1e-12)


def test_shapes_follow_n():
    x = [0.1, 0.5, 0.3]
    for function in FUNCTIONS:
        assert isinstance(function(x, 2), float)
        assert function(x, [2, 1, 2]) == pytest.approx([function(x, 2), function(x, 1), function(x, 2)], rel=1e-14)
    assert best_weights(x, 2).shape == (3,)
    assert best_weights(x, [1, 2]).shape == (2, 3)
    assert expected_best(x, 2.0) == expected_best(x, np.int32(2)) == expected_best(x, 2)


def test_pass_at_k():
    """0/1 scores: 1 - C(m - c, k) / C(m, k)."""
    for right in (0, 1, 3, 10):
        scores = [1] * right + [0] * (10 - right)
        for k in (1, 2, 8, 10):
            exact = 1 - math.comb(10 - right, k) / math.comb(10, k)
            assert expected_best(scores, k) == pytest.approx(exact, rel=1e-14)


def test_median_of_one_trial_is_the_median():
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 10, 11, 1000):
        x = rng.normal(size=size)
        assert quantile_best(x, 1) == pytest.approx(np.median(x), rel=1e-15)
        assert quantile_best(x, 1, 0.5, x) == pytest.approx(np.median(x), rel=1e-15)


def test_quantiles_follow_the_rule():
    x = [10.0, 20, 30, 40]
    assert quantile_best(x, 2, 0.25) == 25  # 4 * sqrt(1/4) = 2: the second and the third
    assert quantile_best(x, 2, 0.26) == 30
    assert quantile_best(x, 2, 0.24) == 20
    assert quantile_best(x, 2, 0.25, direction="min") == 25
    assert quantile_best(x, 2, 0.24, direction="min") == 30  # q counts from worse to better
    assert quantile_best(x, [1, 2, 4], 0.01).tolist() == [10, 10, 20]
    assert quantile_best(x, 4, 0.99) == 40
    # 1000 * 0.1^(1/3)... never whole; 0.9^1 * 1000 is, though the product is 900.0000000000001 or so
    assert quantile_best(np.arange(1000.0), 1, 0.9) == 899.5


@given(tied_trials(), st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]))
@settings(max_examples=150)
def test_reported_quantile_is_that_of_the_winner(trials, q):
    """The quantile of the winner's exact law over all draws without replacement."""
    selection, reported, n, direction = trials
    if reported is None:
        reported = [7 * s % 5 for s in selection]
    law = winners(selection, n, reported, "u", direction)
    from_worse = sorted(law, reverse=direction == "min")
    total = Fraction(0)
    place = -1
    while total < q:
        place += 1
        total += law[from_worse[place]]
    wanted = (from_worse[place] + from_worse[place + 1]) / 2 if total == q else from_worse[place]
    assert quantile_best(selection, n, float(q), reported, direction=direction) == wanted


def jackknife(selection, n, reported, estimator, direction):
    size = len(selection)
    estimates = []
    for out in range(size):
        kept = np.delete(np.arange(size), out)
        claimed = None if reported is None else reported[kept]
        estimates.append(expected_best(selection[kept], n, claimed, estimator=estimator, direction=direction))
    return math.sqrt((size - 1) / size * ((np.array(estimates) - np.mean(estimates)) ** 2).sum())


@pytest.mark.parametrize("estimator", ["u", "v"])
@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize("values", [1, 3, 12, 10**6])
def test_standard_error_is_the_leave_one_out_jackknife(estimator, direction, values):
    """From no ties to nothing but ties, one score column or two."""
    rng = np.random.default_rng(values)
    selection = rng.integers(0, values, 40) / values
    for reported in (None, selection + rng.normal(size=40)):
        n = [1, 2, 3, 10, 25, 38, 39]
        fast = standard_error(selection, n, reported, estimator=estimator, direction=direction)
        slow = [jackknife(selection, k, reported, estimator, direction) for k in n]
        assert fast == pytest.approx(slow, rel=1e-9, abs=1e-14)


def test_standard_error_of_the_mean():
    x = np.random.default_rng(1).normal(1e6, 1, 200)
    assert standard_error(x, 1) == pytest.approx(x.std(ddof=1) / math.sqrt(200), rel=1e-9)


def test_standard_error_is_undefined_for_all_trials():
    errors = standard_error([1.0, 2, 4], [1, 2, 3])
    assert np.isnan(errors).tolist() == [False, False, True]
    with pytest.raises(InputError, match="less than the number of trials, 3, got 3"):
        standard_error([1.0, 2, 4], 3)
    with pytest.raises(InputError, match="at least 2 trials, and it has 1"):
        standard_error([1.0], 1)
    with pytest.raises(InputError, match="unknown estimator with a standard error 'naive'"):
        standard_error([1.0, 2], 1, estimator="naive")


def test_spread_and_error_are_two_things():
    """At m = 50, n = 10, normal scores: 0.53 against 0.23 on average."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(400, 50))
    spread = np.mean([spread_of_best(x, 10) for x in samples])
    error = np.mean([standard_error(x, 10) for x in samples])
    # Over 400 samples both averages stand to about 1 %; the bounds are five times as wide.
    assert spread == pytest.approx(0.53, abs=0.03)
    assert error == pytest.approx(0.23, abs=0.02)


def test_extreme_sizes_of_scores():
    for unit in (1e-300, 1e200, 1e300):
        x = unit * np.array([3.0, 1, 2, 4])
        assert expected_best(x, 2) == pytest.approx(unit * 10 / 3, rel=1e-14)
        assert spread_of_best(x, 2) == pytest.approx(unit * math.sqrt(5) / 3, rel=1e-14)
        assert standard_error(x, 1) == pytest.approx(unit * math.sqrt(5 / 12), rel=1e-13)
        y = unit * np.array([3.0, 1, 2, 2])
        assert spread_of_best([1, 1, 2, 2], 1, y) == pytest.approx(unit * math.sqrt(0.5), rel=1e-14)
    assert spread_of_best([5.0, 5, 5], [1, 2, 3]).tolist() == [0, 0, 0]
    assert standard_error([5.0, 5, 5], [1, 2]).tolist() == [0, 0]
    assert expected_best([0.0, 0, 0], 2) == 0


@pytest.mark.parametrize("function", [*FUNCTIONS, best_weights])
@pytest.mark.parametrize(
    ("selection", "n", "message"),
    [
        ([], 1, "selection needs at least [12] trials?, and it is empty"),
        ([1.0, math.nan, 2], 1, "selection must be finite, got 1 NaN or infinite of 3 .first at position 1.; count a"),
        ([1.0, 2, -math.inf], 1, "selection must be finite, got 1 NaN or infinite of 3"),
        ([[1.0, 2], [3, 4]], 1, "one-dimensional, got shape .2, 2."),
        (["a", "b"], 1, "selection must be numbers"),
        ([1.0, 2, 3], 0, "n must be at least 1, got 0; the best of no trials does not exist"),
        ([1.0, 2, 3], -2, "n must be at least 1, got -2"),
        ([1.0, 2, 3], 1.5, "n must be a whole number of trials, got 1.5; a part of a trial has no score; round it"),
        ([1.0, 2, 3], math.nan, "n must be a whole number of trials, got nan"),
        ([1.0, 2, 3], "2", "n must be a whole number of trials"),
        ([1.0, 2, 3], [], "n must hold at least one budget"),
        ([1.0, 2, 3], [[1]], "n must be a number or a one-dimensional list"),
        ([1.0, 2, 3], 4, "n must be at most the number of trials, 3, got 4; run more trials"),
        ([1.0, 2, 3], [1, 4], "n must be at most the number of trials, 3, got 4"),
        ([1.0, 2, 3], 1e300, "n must be at most the number of trials, 3, got 1e.300"),
    ],
)  # fmt: skip
def test_bad_input(function, selection, n, message):
    with pytest.raises(InputError, match=message) as caught:
        function(selection, n)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bad_columns_and_names(function):
    with pytest.raises(InputError, match="one score per trial each, got 3 and 2"):
        function([1.0, 2, 3], 1, reported=[1.0, 2])
    with pytest.raises(InputError, match="reported must be finite"):
        function([1.0, 2, 3], 1, reported=[1.0, 2, math.inf])
    with pytest.raises(InputError, match=r"direction must be 'max' .* or 'min' .*, got 'up'"):
        function([1.0, 2, 3], 1, direction="up")
    if function is not quantile_best:
        with pytest.raises(InputError, match=r"unknown estimator.* 'w'"):
            function([1.0, 2, 3], 1, estimator="w")


@pytest.mark.parametrize("q", [0, 1, -0.1, 50, math.nan, "half"])
def test_bad_quantile(q):
    with pytest.raises(InputError, match=r"q must lie in \(0, 1\)"):
        quantile_best([1.0, 2, 3], 1, q)


def test_v_past_the_trials_ends_before_it_is_the_maximum():
    """Drawn with replacement n may pass n_trials; what would be the best score to the last digit is refused."""
    mean = 1 * 0.5**4 + 2 * (1 - 0.5**4)
    assert expected_best([1.0, 2], 4, estimator="v") == pytest.approx(mean, rel=1e-15)
    assert expected_best([1.0, 2], 51, estimator="v") < 2
    with pytest.raises(InputError, match="n must be at most 51 for the v estimator of 2 trials, got 52"):
        expected_best([1.0, 2], 52, estimator="v")
    with pytest.raises(InputError, match="n must be at most 1 for the v estimator of 1 trials"):
        expected_best([1.0], 2, estimator="v")
    with pytest.raises(InputError, match="at most the number of trials, 2, got 3"):
        expected_best([1.0, 2], 3, estimator="naive")


def test_what_a_sample_may_not_have_shown():
    # A mode with this share is missed by all units with probability 1 - confidence.
    for units, confidence in ((1, 0.95), (20, 0.95), (1000, 0.9)):
        share = unseen(units, confidence)
        assert (1 - share) ** units == pytest.approx(1 - confidence, rel=1e-12)
    assert unseen(10_000) == pytest.approx(3 / 10_000, rel=0.002)  # the rule of three: -log(.05) = 2.9957
    with pytest.raises(InputError, match="did you mean"):
        unseen(20, 95)
    with pytest.raises(InputError, match="n_units"):
        unseen(0)
