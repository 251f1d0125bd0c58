"""Swapping systems within problems: exact p-values, stepping down, draws that stand, and limits that agree."""

from itertools import product

import numpy as np
import pytest

from levelbest.errors import InputError
from levelbest.stats.contrasts import Question
from levelbest.stats.problems import expected_best_by_group, group_difference, problem_contrasts
from levelbest.stats.problems._swaps import swap_test


def by_hand(rows):
    """|sum of d| / sqrt(sum of d^2) of every pattern of signs: (pattern, n), in exact order of `product`."""
    scale = np.sqrt((rows**2).sum(axis=0))
    return np.abs(np.array([np.array(signs) @ rows for signs in product((1.0, -1.0), repeat=rows.shape[0])])) / scale


def rejected_by_hand(differences, level, first=None):
    """Romano and Wolf's step-down within pairs, Bonferroni over the pairs that still have something to decide.

    A budget named in advance is alone in being tested until it is rejected.
    """
    patterns = [by_hand(rows) for rows in differences]
    left = [set(range(rows.shape[1])) for rows in differences]
    out = np.zeros((len(differences), differences[0].shape[1]), dtype=bool)
    while True:
        share = level / max(1, sum(bool(budgets) for budgets in left))
        new = []
        for pair, (all_of, of_pair) in enumerate(zip(patterns, left, strict=True)):
            budgets = of_pair & {first} or of_pair
            largest = all_of[:, sorted(budgets)].max(axis=1) if budgets else None
            new += [(pair, k) for k in budgets if np.mean(largest >= all_of[0, k] * (1 - 1e-9)) <= share]
        if not new:
            return out
        for pair, k in new:
            out[pair, k] = True
            left[pair].discard(k)


def test_one_budget_is_the_sign_flip_test_of_every_pattern():
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.normal(0.4, 1, (7, 1)).round(1)
        found = swap_test([rows], None, 0.05, together=True, rng=rng)
        patterns = by_hand(rows)
        assert found.p_value[0, 0] == pytest.approx(np.mean(patterns >= patterns[0] * (1 - 1e-9)))
        assert found.smallest[0] == 2 / 2 ** np.count_nonzero(rows)
        assert found.settled.all()
        assert found.enumerated


def test_all_on_one_side_is_two_patterns_of_all():
    found = swap_test([np.full((8, 2), 0.25)], None, 0.05, together=True, rng=np.random.default_rng(0))
    assert found.p_value.tolist() == [[2 / 256, 2 / 256]]
    assert found.certified.tolist() == [[1, 1]]
    five = swap_test([-np.full((5, 1), 0.25)], None, 0.05, together=True, rng=np.random.default_rng(0))
    assert five.p_value[0, 0] == 2 / 32
    assert five.certified[0, 0] == 0


@pytest.mark.parametrize("seed", range(12))
def test_stepping_down_over_budgets_and_pairs_is_that_by_hand(seed):
    rng = np.random.default_rng(seed)
    level = (0.05, 0.2)[seed % 2]
    common = rng.normal(0, 1, (8, 1))
    differences = [
        shift + 0.7 * common + rng.normal(0, 1, (8, 3)) for shift in (0.0, rng.uniform(0.5, 2), rng.uniform(1, 3))
    ]
    found = swap_test(differences, None, level, together=True, rng=rng)
    assert ((found.certified != 0) == rejected_by_hand(differences, level)).all()
    assert ((found.p_value <= level) == (found.certified != 0)).all()
    # the adjusted p-value is the least level that rejects
    for pair, k in ((0, 0), (1, 1), (2, 2)):
        p = found.p_value[pair, k]
        if p < 1:
            assert rejected_by_hand(differences, p * (1 + 1e-9))[pair, k]
            assert not rejected_by_hand(differences, p * (1 - 1e-6))[pair, k]


@pytest.mark.parametrize("seed", range(12))
def test_a_budget_named_in_advance_is_tested_first_and_alone(seed):
    rng = np.random.default_rng([1, seed])
    level = (0.05, 0.2)[seed % 2]
    differences = [shift + rng.normal(0, 1, (8, 3)) for shift in (0.4, 0.9, 1.5)]
    found = swap_test(differences, None, level, together=True, rng=rng, first=1)
    assert ((found.certified != 0) == rejected_by_hand(differences, level, first=1)).all()
    assert ((found.p_value <= level) == (found.certified != 0)).all()
    # nobody else takes part in its p-value: that of the pair alone is the sign-flip test's
    alone = swap_test(differences[:1], None, level, together=True, rng=rng, first=1)
    own = by_hand(differences[0][:, 1:2])
    assert alone.p_value[0, 1] == pytest.approx(np.mean(own >= own[0] * (1 - 1e-9)))


def test_draws_are_the_patterns_and_the_seed_changes_no_verdict():
    rng = np.random.default_rng(3)
    rows = rng.normal(0.25, 1, (24, 4))
    exact = by_hand_of_many(rows)
    for seed in range(30):
        found = swap_test([rows], None, 0.05, together=True, rng=np.random.default_rng(seed))
        assert found.settled.all()
        assert found.certified[0].tolist() == np.where(exact <= 0.05, np.sign(rows.sum(axis=0)), 0).tolist()
        # 1,000 draws at least: a p-value of p is within 4.5 standard errors but for 7 in a million
        allowed = 4.5 * np.sqrt(exact * (1 - exact) / found.n_swaps) + 1 / found.n_swaps
        assert (np.abs(found.p_value[0] - exact) <= allowed).all()


def by_hand_of_many(rows):
    """Adjusted p-values from 400,000 patterns drawn here."""
    rng = np.random.default_rng(99)
    scale = np.sqrt((rows**2).sum(axis=0))
    observed = np.abs(rows.sum(axis=0)) / scale
    drawn = np.concatenate([np.abs(rng.choice([-1.0, 1.0], (20_000, rows.shape[0])) @ rows) / scale for _ in range(20)])
    order = np.argsort(-observed)
    out, before = np.empty(observed.size), 0.0
    for place, k in enumerate(order):
        before = max(before, float(np.mean(drawn[:, order[place:]].max(axis=1) >= observed[k])))
        out[k] = before
    return out


def test_many_problems_are_drawn_from_the_normal_limit():
    rng = np.random.default_rng(4)
    rows = rng.uniform(-1, 1, (20_000, 2)) + 0.0125
    found = swap_test([rows], None, 0.05, together=True, rng=rng)
    z = np.abs(rows.sum(axis=0)) / np.sqrt((rows**2).sum(axis=0))
    from scipy.stats import norm

    # nearly independent columns: Sidak's for two, and the smaller statistic alone
    largest = 1 - (1 - 2 * norm.sf(z.max())) ** 2
    assert found.p_value.min() == pytest.approx(largest, abs=4.5 * np.sqrt(largest / found.n_swaps) + 0.001)


def test_what_no_problem_shows_has_no_p_value():
    rows = np.column_stack([np.zeros(9), np.full(9, np.nan), np.full(9, 0.5)])
    found = swap_test([rows], None, 0.05, together=True, rng=np.random.default_rng(0))
    assert np.isnan(found.p_value[0]).tolist() == [True, True, False]
    assert found.certified[0].tolist() == [0, 0, 1]


def test_a_weight_counts_and_its_unit_does_not():
    rng = np.random.default_rng(5)
    rows, weights = rng.normal(0.5, 1, (9, 2)), rng.uniform(1, 5, 9)
    weighted = swap_test([rows], weights, 0.05, together=True, rng=rng)
    assert weighted.p_value == pytest.approx(
        swap_test([rows * weights[:, None]], None, 0.05, together=True, rng=rng).p_value
    )
    assert weighted.p_value == pytest.approx(swap_test([rows], 7 * weights, 0.05, together=True, rng=rng).p_value)


def systems(seed, rates, n_problems=20, samples=8, n=(1, 2, 4)):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_problems), samples)
    easy = rng.beta(2, 2, n_problems)
    found = []
    for shift in rates:
        rate = np.clip(easy + shift, 0, 1)
        scores = (rng.random((n_problems, samples)) < rate[:, None]).astype(float)
        found.append(expected_best_by_group(scores.ravel(), group, list(n)))
    return found


@pytest.mark.parametrize("bounds", [(0, 1), (None, None)])
def test_limits_agree_with_the_verdicts(bounds):
    decided = 0
    for seed in range(40):
        three = systems(seed, (0.0, 0.1, 0.3))
        question = Question(((0, 1), (0, 2), (1, 2)), bounds=bounds)
        for found in problem_contrasts(three, question, n_resamples=400, rng=seed).pairs:
            assert found.basis == "swaps"
            above, below = found.certified == 1, found.certified == -1
            assert (found.low[above] > 0).all()
            assert (found.high[below] < 0).all()
            open_ = ~above & ~below
            assert (found.low[open_] <= 0).all()
            assert (found.high[open_] >= 0).all()
            assert (found.low <= found.difference).all()
            assert (found.difference <= found.high).all()
            assert ((found.p_value <= 0.05) == (above | below)).all()
            decided += int((above | below).sum())
    assert decided > 40  # 360 in all, of which a third differ by .3


def test_the_budget_named_in_advance_has_limits_of_its_own_and_more_power():
    named_wins, band_wins = 0, 0
    for seed in range(60):
        pair = systems([8, seed], (0.0, 0.12), n=(1, 2, 4, 8))
        plain, named = (
            problem_contrasts(pair, Question(((0, 1),), bounds=(0, 1), headline=headline), n_resamples=400, rng=seed)
            for headline in (None, 4)
        )
        band, effect = plain.pairs[0], named.pairs[0].effect
        assert (plain.pairs[0].effect.n, plain.pairs[0].effect.named) == (1, False)
        assert (effect.n, effect.named) == (4, True)
        assert effect.high - effect.low <= band.high[2] - band.low[2] + 1e-9
        assert (effect.certified != 0) == (effect.p_value <= 0.05) == (named.pairs[0].certified[2] != 0)
        if effect.certified == 0:
            assert (named.pairs[0].certified == 0).all()
        named_wins += effect.certified != 0
        band_wins += band.certified[2] != 0
    assert named_wins >= band_wins > 0
    with pytest.raises(InputError, match="must be one of those compared"):
        problem_contrasts(pair, Question(((0, 1),), headline=3))


def test_further_problems_are_those_of_a_paired_t_test():
    # the textbook: power .8 at .05 two-sided for a standardised effect of .5 needs 34 pairs in all
    values = np.tile([1.0, -1.0], 5)
    shifted = values / values.std(ddof=1) + 0.5
    group = np.arange(10)
    a, b = (expected_best_by_group(scores, group, [1]) for scores in (shifted, np.zeros(10)))
    found = problem_contrasts([a, b], Question(((0, 1),))).pairs[0]
    assert found.certified.tolist() == [0]
    assert found.further == 34 - 10
    same = problem_contrasts([a, a], Question(((0, 1),))).pairs[0]
    assert same.further == np.inf
    far = expected_best_by_group(shifted + 100, group, [1])
    assert problem_contrasts([far, b], Question(((0, 1),))).pairs[0].further == 0


def test_effects_and_further_problems_are_those_of_the_budget_shown():
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(12), 6)
    a, b = (expected_best_by_group(rng.normal(shift, 1, 72), group, [1, 2, 5]) for shift in (0.15, 0.0))
    alone = [problem_contrasts([a.select(slice(None)), b], Question(((0, 1),), headline=n)).pairs[0] for n in (1, 2, 5)]
    assert len({found.further for found in alone}) == 3
    for found, (shown, n) in zip([*alone, alone[1]], ((1, 1), (2, 2), (5, 5), (4, 2)), strict=True):
        other = problem_contrasts([a, b], Question(((0, 1),), shown=shown)).pairs[0]
        assert (other.effect.n, other.effect.named) == (n, False)
        assert other.further == found.further
        assert other.effect.difference == found.effect.difference


def test_a_difference_that_is_worth_nothing():
    a, b = systems(3, (0.0, 0.0), n_problems=400, n=(1,))
    for worth, expected in ((0.001, False), (0.2, True)):
        found = problem_contrasts([a, b], Question(((0, 1),), bounds=(0, 1), worth=worth)).pairs[0]
        assert found.effect.negligible is expected
        assert bool(-worth < found.low[0] and found.high[0] < worth) is expected


@pytest.mark.parametrize("direction", ["max", "min"])
def test_systems_on_problems_of_their_own_lie_between_their_bands(direction):
    rng = np.random.default_rng(9)
    sign = 1 if direction == "max" else -1
    scores = [np.clip(sign * (shift + rng.normal(0, 0.1, 60)), -1, 1) for shift in (0.6, 0.2)]
    a, b = (
        expected_best_by_group(values, [f"{name}{i // 2}" for i in range(60)], [1, 2], direction=direction)
        for name, values in zip("ab", scores, strict=True)
    )
    found = problem_contrasts([a, b], Question(((0, 1), (1, 0)), bounds=(-1, 1)), paired=False)
    there, back = found.pairs
    assert there.basis == "limits"
    assert there.difference == pytest.approx(sign * (a.value - b.value))
    assert there.certified.tolist() == [1, 1]
    assert (there.low < there.difference).all()
    assert (there.difference < there.high).all()
    assert back.low == pytest.approx(-there.high)
    assert back.certified.tolist() == [-1, -1]


def test_turning_a_pair_round_turns_the_verdict():
    a, b = systems(1, (0.0, 0.25))
    there, back = group_difference(a, b, bounds=(0, 1)), group_difference(b, a, bounds=(0, 1))
    assert there.certified.tolist() == (-back.certified).tolist()
    assert there.p_value == pytest.approx(back.p_value)


def test_five_problems_cannot_decide_and_say_so():
    group = np.repeat(np.arange(5), 4)
    a, b = (expected_best_by_group(np.full(20, score), group, [1]) for score in (1.0, 0.0))
    found = group_difference(a, b, bounds=(0, 1))
    assert found.smallest_p == 2 / 32
    assert found.certified.tolist() == [0]
    assert found.low[0] <= 0


def test_a_named_method_decides_by_its_limits():
    a, b = systems(2, (0.3, 0.0), n_problems=60)
    for method in ("gaffke", "imagined", "studentised", "t"):
        found = group_difference(a, b, method=method, bounds=(0, 1), rng=0)
        assert found.basis == "limits"
        assert found.p_value is None
        assert (found.certified == np.where(found.low > 0, 1, np.where(found.high < 0, -1, 0))).all()


def test_the_power_is_nearly_that_of_a_paired_t():
    # 15 problems, 12 samples, rates that differ by .2: measured .90 at n = 1 over four budgets together (t: .95).
    # Of 200, fewer than 160 (.80) have a chance of 1e-5.
    certified = 0
    for seed in range(200):
        rng = np.random.default_rng([6, seed])
        easy = rng.beta(2, 2, 15) * 0.8
        group = np.repeat(np.arange(15), 12)
        a, b = (
            expected_best_by_group((rng.random((15, 12)) < rate[:, None]).ravel().astype(float), group, [1, 2, 4, 8])
            for rate in (easy + 0.2, easy)
        )
        certified += int(group_difference(a, b, bounds=(0, 1), n_resamples=99, rng=seed).certified[0] == 1)
    assert certified >= 160


def test_equal_systems_are_seldom_told_apart():
    # exact at .05: of 300, more than 32 have a chance of 2e-5
    wrong = 0
    for seed in range(300):
        a, b = systems([7, seed], (0.0, 0.0), n_problems=12, n=(1, 2, 4, 8))
        wrong += int((group_difference(a, b, bounds=(0, 1), n_resamples=99, rng=seed).certified != 0).any())
    assert wrong <= 32
