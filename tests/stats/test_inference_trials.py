"""Trials compared by the engine: exchange, limits that agree with verdicts, and what neither may depend on."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from levelbest.errors import InputError
from levelbest.stats import expected_best
from levelbest.stats.inference import Hypotheses, Sample, run_contrasts, trial_contrasts
from levelbest.stats.inference._exchange import Exchange, step_down
from levelbest.stats.inference._paired import PairedTrials
from levelbest.stats.inference._trials import TrialUnits
from levelbest.stats.inference._units import nodes_of

PAIR = Hypotheses(pairs=((0, 1),))


def samples(*scores):
    return [Sample(np.asarray(part, dtype=float)) for part in scores]


def works(rng, size, share):
    return np.where(rng.random(size) < share, 0.9, 0.1) + 0.02 * rng.standard_normal(size)


def jackknife_t(a, b, n):
    """The studentised difference by leaving out one trial at a time."""
    value, variance = 0.0, 0.0
    for sign, scores in ((1, a), (-1, b)):
        m = scores.size
        left = np.array([expected_best(np.delete(scores, i), n) for i in range(m)])
        value += sign * expected_best(scores, n)
        variance += (m - 1) / m * ((left - left.mean()) ** 2).sum()
    return value / math.sqrt(variance)


# ---- the parts


def test_every_budget_is_a_node_where_there_are_few():
    assert nodes_of(np.arange(1, 8)).tolist() == [1, 2, 3, 4, 5, 6, 7]
    wide = nodes_of(np.arange(1, 501), [137])
    assert wide[0] == 1
    assert wide[-1] == 500
    assert 137 in wide
    assert wide.size < 22


def test_step_down_is_westfall_and_youngs():
    rng = np.random.default_rng(0)
    null, observed = np.abs(rng.normal(size=(4, 200))), np.array([2.4, 0.3, 1.9, 1.0])
    order = np.argsort(-observed)
    expected, before = np.empty(4), 0.0
    for place, at in enumerate(order):
        left = order[place:]
        p = (1 + sum(null[left, b].max() >= observed[at] for b in range(200))) / 201
        before = expected[at] = max(before, p)
    assert step_down(observed, null, np.arange(4)) == pytest.approx(expected)


def test_exchanged_t_is_the_jackknifes_of_every_assignment():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 4), rng.normal(1, 2, 5)
    units = TrialUnits(samples(a, b), np.array([1, 2]))
    pooled = np.concatenate([a, b])
    every = []
    for chosen in combinations(range(9), 4):
        rest = [i for i in range(9) if i not in chosen]
        every.append([abs(jackknife_t(pooled[list(chosen)], pooled[rest], n)) for n in (1, 2)])
    (exchanged,) = units.exchanged((0, 1), None, rng)
    assert units.assignments((0, 1)) == len(every) == 126
    assert np.sort(exchanged, axis=1) == pytest.approx(np.sort(np.array(every).T, axis=1))
    (drawn,) = units.exchanged((0, 1), 400, rng)
    # each of the 126 assignments is as likely: 400 draws miss a given one with probability .042
    assert np.unique(drawn[0].round(9)).size > 100


def test_exchanged_t_of_three_families_is_that_of_every_assignment():
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=m) for m in (2, 3, 2)]
    units = TrialUnits(samples(*parts), np.array([1]))
    pooled, every = np.concatenate(parts), []
    for first in combinations(range(7), 2):
        left = [i for i in range(7) if i not in first]
        for second in combinations(left, 3):
            third = [i for i in left if i not in second]
            families = [pooled[list(places)] for places in (first, second, third)]
            every.append([abs(jackknife_t(x, y, 1)) for x, y in combinations(families, 2)])
    exchanged = units.exchanged((0, 1, 2), None, rng)[:, 0]
    assert units.assignments((0, 1, 2)) == len(every) == 210
    order = np.lexsort(exchanged.round(9)), np.lexsort(np.array(every).T.round(9))
    assert exchanged[:, order[0]] == pytest.approx(np.array(every).T[:, order[1]])


def test_swapped_t_is_that_of_pairs():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 6), rng.normal(0, 1, 6)
    d = a - b
    possible = []
    for bits in range(64):
        signs = np.array([1 if bits >> i & 1 else -1 for i in range(6)])
        possible.append(abs((signs * d).mean() / (signs * d).std(ddof=1) * math.sqrt(6)))
    ((exchanged,),) = PairedTrials(samples(a, b), np.array([1])).exchanged((0, 1), None, rng)
    assert np.sort(exchanged) == pytest.approx(np.sort(possible))


def test_p_values_are_uniform_under_equal_distributions():
    below = 0
    for at in range(200):
        rng = np.random.default_rng([11, at])
        units = TrialUnits(samples(works(rng, 8, 0.2), works(rng, 24, 0.2)), np.arange(1, 5))
        test = Exchange(units, (0, 1), units.nodes, units.observed((0, 1), units.nodes)[None], 0.05)
        below += test.p_values().min() <= 0.05
    # 200 samples of a true .05: more than 21 once in 1,000
    assert below <= 21


# ---- verdicts and limits


def test_limits_hold_zero_exactly_where_nothing_is_certified():
    for at in range(12):
        rng = np.random.default_rng([3, at])
        contrast = trial_contrasts(samples(rng.normal(0.6, 1, 30), rng.normal(0, 1, 30)), np.arange(1, 16), PAIR)
        pair = contrast.pairs[0]
        holds = (pair.low <= 0) & (pair.high >= 0)
        assert (holds == (pair.certified == 0)).all()


def test_past_half_the_trials_there_are_estimates_and_no_limits():
    rng = np.random.default_rng(4)
    a, b = rng.normal(1, 1, 20), rng.normal(0, 1, 50)
    pair = trial_contrasts(samples(a, b), np.array([1, 5, 10, 11, 20, 21]), PAIR).pairs[0]
    assert np.isfinite(pair.low).tolist() == [True, True, True, False, False, False]
    assert pair.difference[:5] == pytest.approx([expected_best(a, n) - expected_best(b, n) for n in (1, 5, 10, 11, 20)])
    assert np.isnan(pair.difference[5])
    assert "beyond-half" in pair.reasons


def test_unequal_counts_of_one_distribution_name_no_winner_too_often():
    won = 0
    for at in range(80):
        rng = np.random.default_rng([5, at])
        families = samples(works(rng, 10, 0.1), works(rng, 100, 0.1))
        pair = trial_contrasts(families, np.arange(1, 6), PAIR).pairs[0]
        won += (pair.certified != 0).any()
    # the band alone named one in .37 of samples; 80 of a true .05: more than 11 once in 1,600
    assert won <= 11


def test_a_shift_is_seen_and_more_so_at_a_budget_named_in_advance():
    over_all = named = 0
    for at in range(60):
        rng = np.random.default_rng([6, at])
        families = samples(rng.normal(0.8, 1, 20), rng.normal(0, 1, 20))
        n = np.arange(1, 11)
        over_all += trial_contrasts(families, n, PAIR).pairs[0].certified[0] == 1
        effect = trial_contrasts(families, n, Hypotheses(((0, 1),), headline=1)).pairs[0].effect
        assert effect.named
        named += effect.certified == 1
    # 60 samples of a true .44 and .65: fewer than 15 and 27 once in 1,000 each
    assert over_all >= 15
    assert named >= 27


def test_a_named_budget_of_one_trial_has_welchs_limits_or_a_little_wider_ones():
    rng = np.random.default_rng(7)
    a, b = rng.normal(3, 1, 20), rng.normal(0, 2, 30)
    effect = trial_contrasts(samples(a, b), np.arange(1, 11), Hypotheses(((0, 1),), headline=1)).pairs[0].effect
    limits = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert limits.low - 0.1 * (limits.high - limits.low) < effect.low <= limits.low + 1e-9
    assert limits.high - 1e-9 <= effect.high < limits.high + 0.1 * (limits.high - limits.low)
    assert effect.certified == 1


def test_where_the_named_budget_is_undecided_nothing_else_is_certified():
    rng = np.random.default_rng(8)
    # better by far at one trial, equal at the best
    a, b = rng.uniform(0.5, 1, 40), rng.uniform(0, 1, 40)
    n = np.arange(1, 21)
    assert trial_contrasts(samples(a, b), n, PAIR).pairs[0].certified[0] == 1
    pair = trial_contrasts(samples(a, b), n, Hypotheses(((0, 1),), headline=20)).pairs[0]
    assert pair.effect.certified == 0
    assert not pair.certified.any()


def test_no_order_changes_a_verdict():
    rng = np.random.default_rng(9)
    scores = [rng.normal(0.5 * i, 1, size) for i, size in enumerate((40, 30, 35))]
    n = np.arange(1, 16)
    hypotheses = Hypotheses(pairs=((0, 1), (0, 2), (1, 2)))
    reference = trial_contrasts(samples(*scores), n, hypotheses)
    turned = Hypotheses(pairs=((2, 1), (1, 0), (2, 0)))
    other = trial_contrasts(samples(*(rng.permutation(part) for part in scores)), n, turned)
    by_pair = {pair.pair: pair for pair in other.pairs}
    for pair in reference.pairs:
        mirrored = by_pair.get(pair.pair[::-1])
        assert (mirrored.certified == -pair.certified).all()
        assert mirrored.p_value == pytest.approx(pair.p_value)
        assert mirrored.low == pytest.approx(-pair.high)


def test_too_few_to_be_exchanged_lean_on_t():
    far = trial_contrasts(samples([8.0, 8.9, 7.4], [0.3, -0.5, 0.1]), np.array([1]), PAIR)
    seeds = run_contrasts([np.array([8.0, 8.9, 7.4]), np.array([0.3, -0.5, 0.1])], PAIR)
    assert far.pairs[0].basis == "t"
    assert far.pairs[0].certified[0] == 1
    assert far.pairs[0].low[0] == pytest.approx(seeds.pairs[0].low[0])


def test_scores_without_spread():
    apart = trial_contrasts(samples(np.ones(20), np.zeros(20)), np.arange(1, 11), PAIR).pairs[0]
    assert (apart.certified[:5] == 1).all()  # past a quarter of the trials too few speak for one step of rounding
    same = trial_contrasts(samples(np.ones(20), np.ones(20)), np.arange(1, 11), PAIR).pairs[0]
    assert same.reasons == ("no-spread",)
    assert not same.certified.any()


def test_one_family_with_tied_best_scores_leaves_the_others_limits_alone():
    rng = np.random.default_rng(12)
    a, b = rng.normal(1, 1, 40), rng.normal(0, 1, 40)
    tied = np.minimum(rng.normal(2, 1, 40), 1.5)
    n = np.arange(1, 21)
    a_third = Hypotheses(pairs=((0, 1),), confidence=1 - 0.05 / 3)
    alone = trial_contrasts(samples(a, b), n, a_third).pairs[0]
    among = trial_contrasts(samples(a, b, tied), n, Hypotheses(pairs=((0, 1), (0, 2), (1, 2)))).pairs[0]
    # three pairs have a third of the error each: the limits are those of the pair alone, but for the draws
    assert (among.high - among.low < 1.3 * (alone.high - alone.low)).all()


# ---- bounds


def test_limits_from_bounds_alone_are_gaffkes_and_hold_for_a_rare_mode():
    held = wrong = 0
    truth_at = np.arange(1, 26)
    for at in range(60):
        rng = np.random.default_rng([13, at])
        rare = np.where(rng.random(50) < 0.02, 0.9, 0.5) + 0.01 * rng.uniform(-1, 1, 50)
        steady = 0.55 + 0.01 * rng.uniform(-1, 1, 50)
        hypotheses = Hypotheses(((0, 1),), bounds=(0.0, 1.0), method="gaffke")
        pair = trial_contrasts(samples(rare, steady), truth_at, hypotheses).pairs[0]
        at_best = 0.4 * (1 - 0.98**truth_at) - 0.05  # but for the noise of .01
        held += ((pair.low < at_best + 0.02) & (at_best - 0.02 < pair.high)).all()
        wrong += ((pair.certified < 0) & (at_best > 0.02)).any()
        assert pair.basis == "gaffke"
    assert held >= 57
    assert wrong <= 3


def test_without_bounds_gaffke_says_so_and_with_two_columns_refuses():
    rng = np.random.default_rng(14)
    hypotheses = Hypotheses(((0, 1),), method="gaffke")
    pair = trial_contrasts(samples(rng.random(20), rng.random(20)), np.arange(1, 11), hypotheses).pairs[0]
    assert "no-bounds" in pair.reasons
    assert np.isinf(pair.low).all()
    two = [Sample(rng.random(20), rng.random(20)) for _ in range(2)]
    with pytest.raises(InputError, match="one column"):
        trial_contrasts(two, np.arange(1, 11), Hypotheses(((0, 1),), bounds=(0, 1), method="gaffke"))


def test_limits_are_cut_at_what_the_bounds_allow():
    rng = np.random.default_rng(15)
    families = samples((rng.random(12) < 0.3).astype(float), (rng.random(12) < 0.6).astype(float))
    pair = trial_contrasts(families, np.arange(1, 7), Hypotheses(((0, 1),), bounds=(0.0, 1.0))).pairs[0]
    assert (pair.low >= -1).all()
    assert (pair.high <= 1).all()


def test_bounds_far_away_hide_no_clear_difference():
    """Five narrow families five standard deviations apart: the bounds, far from all of them, take no verdict away."""
    rng = np.random.default_rng(19)
    families = samples(*(rng.normal(centre, 0.02, 10) for centre in (0.5, 0.6, 0.7, 0.8, 0.9)))
    pairs = tuple(combinations(range(5), 2))
    bounded, free = (
        np.array([pair.certified for pair in trial_contrasts(families, np.arange(1, 6), hypotheses).pairs])
        for hypotheses in (Hypotheses(pairs, bounds=(0.0, 1.0)), Hypotheses(pairs))
    )
    assert (bounded[:, 0] == -1).all()
    assert (bounded == free).all()


def test_wide_families_are_told_apart_up_to_half_of_their_trials_with_bounds():
    """Fifteen standard errors apart at every budget: limits from the bounds imagine a further trial near the others."""
    rng = np.random.default_rng(20)
    families = samples(np.clip(rng.normal(0.3, 0.1, 40), 0, 1), np.clip(rng.normal(0.7, 0.1, 40), 0, 1))
    pair = trial_contrasts(families, np.arange(1, 21), Hypotheses(((0, 1),), bounds=(0.0, 1.0))).pairs[0]
    assert (pair.certified == -1).all()


def test_limits_of_mostly_solved_0_1_scores_hold():
    """.9 against .6 with 50 trials each, all budgets together: 60 samples that cover .95 have 51 hits in .998."""
    n = np.arange(1, 26)
    truth = 0.4**n - 0.1**n
    held = 0
    for at in range(60):
        rng = np.random.default_rng([21, at])
        families = samples((rng.random(50) < 0.9).astype(float), (rng.random(50) < 0.6).astype(float))
        pair = trial_contrasts(families, n, Hypotheses(((0, 1),), bounds=(0.0, 1.0))).pairs[0]
        held += ((pair.low <= truth + 1e-9) & (truth - 1e-9 <= pair.high)).all()
    assert held >= 51


# ---- what follows


def test_further_trials_are_fewer_the_larger_the_difference():
    base = np.sort(np.random.default_rng(16).normal(0, 1, 30))
    further = []
    for shift in (0.05, 0.2, 0.4):
        pair = trial_contrasts(samples(base + shift, base), np.arange(1, 16), PAIR).pairs[0]
        assert pair.certified[0] == 0
        further.append(pair.further)
    assert further[0] > further[1] > further[2] > 0
    equal = trial_contrasts(samples(base, base), np.arange(1, 16), PAIR).pairs[0]
    assert equal.further > further[0]
    assert equal.needed.high == math.inf


def test_who_is_above_whom():
    rng = np.random.default_rng(17)
    families = samples(rng.normal(0, 0.1, 20), rng.normal(5, 0.1, 20), rng.normal(5, 0.1, 20))
    contrasts = trial_contrasts(families, np.arange(1, 11), Hypotheses(pairs=((0, 1), (0, 2), (1, 2))))
    assert {pair.pair: pair.effect.certified for pair in contrasts.pairs} == {(0, 1): -1, (0, 2): -1, (1, 2): 0}


def test_a_difference_not_worth_having_takes_bounds():
    rng = np.random.default_rng(18)
    families = samples(*np.clip(rng.normal(0, 1, (2, 200)), -4, 4))
    hypotheses = Hypotheses(((0, 1),), bounds=(-4.0, 4.0), headline=1, worth=0.5)
    pair = trial_contrasts(families, np.arange(1, 101), hypotheses).pairs[0]
    assert pair.effect.negligible
    assert pair.effect.certified == 0
    assert not pair.negligible[-1]  # the best of 100 is not known so well
    # what these trials may not have shown could be anywhere without bounds
    assert (
        not trial_contrasts(families, np.arange(1, 101), replace(hypotheses, bounds=(None, None)))
        .pairs[0]
        .negligible.any()
    )


def test_a_collapse_that_no_run_shows_is_not_called_negligible():
    """A tenth of the runs collapse by .63: the difference is .063, five runs of each show it in .41 of samples."""
    called = 0
    for at in range(100):
        rng = np.random.default_rng([21, at])
        steady, shaky = 0.8 + 0.003 * rng.standard_normal((2, 5))
        shaky = np.where(rng.random(5) < 0.1, shaky - 0.63, shaky)
        hypotheses = Hypotheses(((0, 1),), bounds=(0.0, 1.0), worth=0.02)
        called += bool(run_contrasts([steady, shaky], hypotheses).pairs[0].negligible[0])
    assert called <= 5


def test_medians_are_decided_by_exchanging_trials():
    """One standard deviation apart, 32 trials each: two disjoint exact bands decided .20 at one trial."""
    decided = 0
    for at in range(60):
        rng = np.random.default_rng([19, at])
        families = samples(rng.normal(1, 1, 32), rng.normal(0, 1, 32))
        pair = trial_contrasts(families, np.arange(1, 17), PAIR, statistic="median").pairs[0]
        assert pair.basis == "permutation"
        decided += pair.certified[0] == 1
    # 60 samples of a true .60: fewer than 24 once in 1,000
    assert decided >= 24


def test_a_family_with_tied_best_scores_does_not_widen_the_limits_of_others_among_many_pairs():
    # Five families; in one the best scores tie, so that t has a long tail at large budgets. The limits of its pairs at
    # n = 1, where nothing ties, must stay within 6 standard errors (Bonferroni: 3.5).
    rng = np.random.default_rng(5)
    tied = np.minimum(rng.normal(0.9, 0.05, 120), 0.92)
    families = [Sample(tied), *(Sample(rng.normal(0.5, 0.3, 120)) for _ in range(4))]
    pairs = tuple(combinations(range(5), 2))
    contrasts = trial_contrasts(families, np.arange(1, 61), Hypotheses(pairs=pairs))
    for contrast in contrasts.pairs:
        a, b = (families[f].selection for f in contrast.pair)
        error = np.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
        assert (contrast.high - contrast.low)[0] / (2 * error) < 6


def test_a_clear_winner_is_seen_among_more_pairs_than_resamples_can_tell():
    # 120 pairs: the level of each, 4e-4, is less than 2,000 resamples can reach; six standard deviations are clear
    rng = np.random.default_rng(9)
    families = [Sample(rng.normal(6.0 * (f == 0), 1, 20)) for f in range(16)]
    contrasts = trial_contrasts(families, np.arange(1, 11), Hypotheses(pairs=tuple(combinations(range(16), 2))))
    for contrast in contrasts.pairs:
        assert contrast.certified[0] == (contrast.pair[0] == 0)
        assert (contrast.low[0] > 0) == (contrast.pair[0] == 0)


def test_limits_hold_where_the_best_of_two_levels_is_nearly_certain():
    # Each budget of a band of 95 % holds in some 99 % of samples: fewer than 37 of 40 once in 1,600.
    n, chances, held = np.array([1, 2, 3, 4, 6, 8, 12, 17, 25, 35, 50]), (0.5, 0.3), []
    truth = (1 - chances[1]) ** 8 - (1 - chances[0]) ** 8
    for seed in range(40):
        rng = np.random.default_rng(seed)
        families = samples(*((rng.random(100) < chance) - 1.0 for chance in chances))
        pair = trial_contrasts(families, n, PAIR).pairs[0]
        held.append(pair.low[5] <= truth <= pair.high[5])
    assert sum(held) >= 37
