"""Many trials: drawing only those that decide gives what drawing all of them gives."""

import numpy as np
import pytest
from scipy import stats

from levelbest.stats.best import Quantile, rank_weights
from levelbest.stats.inference import Hypotheses, Sample, trial_contrasts
from levelbest.stats.inference import _trials as trials_module
from levelbest.stats.inference._draws import curve_draws
from levelbest.stats.inference._large import HEAD, LargeSide, large_side
from levelbest.stats.inference._trials import Side, TrialUnits
from levelbest.stats.inference._units import nodes_of

M = 3_200
NODES = nodes_of(np.unique(np.geomspace(1, M // 2, 60).round().astype(np.int64)))


def pair_of(law, rng):
    if law == "reported":
        chosen = [rng.normal(0, 1, M) for _ in range(2)]
        return [Sample(part, 0.3 * part + rng.normal(0, 1, M)) for part in chosen]
    return [Sample(getattr(rng, law)(size=M)) for _ in range(2)]


@pytest.fixture(params=["normal", "exponential", "reported"])
def both(request, monkeypatch):
    samples = pair_of(request.param, np.random.default_rng(1))
    large = TrialUnits(samples, NODES)
    assert isinstance(large.sides[0], LargeSide)
    monkeypatch.setattr(trials_module, "LARGE", 10**9)
    small = TrialUnits(samples, NODES)
    assert isinstance(small.sides[0], Side)
    return large, small


def test_estimates_and_errors_are_the_same(both):
    large, small = both
    reach = large.reach((0, 1))
    for budgets in (NODES[reach >= NODES], np.array([2, 77, min(NODES[reach >= NODES][-1], 1000)])):
        (d, e, _), (exact_d, exact_e, _) = large.evidence((0, 1), budgets), small.evidence((0, 1), budgets)
        assert d == pytest.approx(exact_d, abs=1e-12)
        # at the nodes but for (m - 1) / m; between them the errors are interpolated
        assert e == pytest.approx(exact_e, rel=3e-4 if budgets[1] == NODES[1] and budgets.size > 3 else 0.05)


def test_exchanged_t_has_the_same_distribution(both):
    exchanged = [own.exchanged((0, 1), 600, np.random.default_rng(4 + at))[0] for at, own in enumerate(both)]
    # 600 each: .13 once in 20,000 at one node; there are 18
    assert max(stats.ks_2samp(ours, theirs).statistic for ours, theirs in zip(*exchanged, strict=True)) < 0.13
    assert stats.ks_2samp(exchanged[0].max(axis=0), exchanged[1].max(axis=0)).statistic < 0.13


def test_a_hundred_thousand_trials_reach_to_half_of_them_and_not_by_order():
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.05, 1, 100_000), rng.normal(0, 1, 20_000)
    n = np.array([1, 30, 1000, 10_000, 10_001])
    pair = trial_contrasts([Sample(a), Sample(b)], n, Hypotheses(((0, 1),))).pairs[0]
    assert np.isfinite(pair.low).tolist() == [True, True, True, True, False]
    assert pair.certified[0] == 1
    families = [Sample(rng.permutation(b)), Sample(rng.permutation(a))]
    mirrored = trial_contrasts(families, n, Hypotheses(((0, 1),))).pairs[0]
    assert (mirrored.certified == -pair.certified).all()
    assert mirrored.p_value[:4] == pytest.approx(pair.p_value[:4], abs=1e-6)


@pytest.mark.parametrize("law", ["normal", "standard_t", "diverged", "five levels", "reported"])
def test_neighbours_that_are_taken_together_have_the_influences_of_all_their_trials(law):
    m, rng = 60_000, np.random.default_rng(6)
    chosen = rng.standard_t(2, m) if law == "standard_t" else rng.normal(0, 1, m)
    if law == "diverged":
        chosen[77] = -1e6
    if law == "five levels":
        chosen = rng.integers(0, 5, m) / 4
    sample = Sample(chosen, chosen + rng.normal(0, 1, m) if law == "reported" else None)
    nodes = np.array([1, 2, 5, 20, 100, 400])
    linear = large_side(sample, nodes, 0.0).linear
    order = np.argsort(chosen)[::-1]
    gaps = -np.diff(sample.claimed[order])
    first = np.array([np.append(0, np.cumsum(rank_weights(m - 1, [n])[0, ::-1] * gaps)) for n in nodes])
    first = (m - 1) * (first.mean(axis=1, keepdims=True) - first)
    exact = np.concatenate([first, first**2])
    assert linear.size == nodes.size
    close = 1e-3 if law == "reported" else 1e-5
    scale = exact.std(axis=1)
    assert linear.whole[6:] == pytest.approx(exact[6:].sum(axis=1), rel=close)
    assert linear.rest.mean / scale == pytest.approx(exact[:, HEAD:].mean(axis=1) / scale, abs=close)
    covariance = linear.rest.root @ linear.rest.root.T
    spread = exact[:, HEAD:].std(axis=1)
    # of the squares' own variance two scores for a group keep less: 3 % of noise, which decides nothing
    apart = covariance / np.outer(spread, spread) - np.corrcoef(exact[:, HEAD:])
    assert np.abs(apart[:6]).max() < close
    assert np.abs(apart).max() < (0.05 if law == "reported" else close)


def test_a_diverged_trial_among_many_changes_no_limits_where_it_has_no_weight():
    rng = np.random.default_rng(7)
    a, b = rng.normal(0, 1, (2, 20_000))
    spoilt = np.where(np.arange(a.size) == 5, -1e6, a)
    n = np.unique(np.geomspace(1, 10_000, 60).round().astype(np.int64))
    plain, wide = (trial_contrasts([Sample(own), Sample(b)], n, Hypotheses(((0, 1),))).pairs[0] for own in (a, spoilt))
    ratio = (wide.high - wide.low) / (plain.high - plain.low)
    assert ratio[0] > 100
    # the best of two is the diverged trial once in 2 10^8 pairs of trials, and 2,000 draws tell a width to 10 %
    assert ratio[1:] == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize("levels", [2, 5])
def test_scores_of_few_levels_have_the_limits_of_trials_drawn_one_by_one(levels, monkeypatch):
    rng = np.random.default_rng(8)
    families = [Sample(rng.integers(0, levels, 2500) / (levels - 1)) for _ in range(2)]
    n, limits = np.array([1, 3, 300, 1250]), []
    for many in (trials_module.LARGE, 10**6):
        monkeypatch.setattr(trials_module, "LARGE", many)
        pair = trial_contrasts(families, n, Hypotheses(((0, 1),))).pairs[0]
        limits.append(np.concatenate([pair.low, pair.high]))
    # the best of 300 is the best level but once in 10^29 times; 999 resamples tell a limit to 10 % of the width
    width = limits[1][4:] - limits[1][:4]
    assert limits[0] == pytest.approx(limits[1], abs=0.15 * width.max())
    assert limits[0][4:] - limits[0][:4] == pytest.approx(width, rel=0.2)


def five_levels(seed, sizes):
    rng = np.random.default_rng([9, seed])
    return [Sample(rng.integers(0, 5, m) / 4) for m in sizes]


def test_families_that_all_reach_the_best_score_there_is_have_no_winner():
    """The digits that adding up loses are no difference, where both curves end at one score."""
    n = np.unique(np.geomspace(1, 800, 30).round().astype(np.int64))
    found = [trial_contrasts(five_levels(seed, (1600, 6000)), n, Hypotheses(((0, 1),))).pairs[0] for seed in range(10)]
    # a false winner in one of 20: in 4 of 10 once in a thousand
    assert sum(bool(pair.certified.any()) for pair in found) < 4
    for pair in found:
        assert 0 < abs(pair.difference[-1]) < 1e-60  # .8^800


@pytest.mark.parametrize("m", [1000, 2000])
def test_budgets_at_which_all_reach_the_best_score_do_not_widen_the_limits_of_others(m):
    n = np.unique(np.geomspace(1, m // 2, 40).round().astype(np.int64))
    a, b = five_levels(1, (m, m))
    pair = trial_contrasts([a, b], n, Hypotheses(((0, 1),))).pairs[0]
    error = np.sqrt(sum(own.selection.var(ddof=1) / m for own in (a, b)))
    # the largest of a dozen |t| that hang together is below 3 in 95 of 100 samples of normal ones
    assert 2 * 1.96 * error < pair.high[0] - pair.low[0] < 2 * 3 * error


def test_assignments_are_those_of_the_ranks_in_any_unit():
    samples = [Sample(scores) for scores in np.random.default_rng(10).normal(0, 1, (2, M))]
    other = [Sample(scores) for scores in np.random.default_rng(11).normal(0, 1, (2, M))]
    percent = [Sample(100 * own.selection) for own in samples]
    first, scaled, fresh = (
        TrialUnits(own, NODES).exchanged((0, 1), 50, np.random.default_rng(1))[0] for own in (samples, percent, other)
    )
    assert scaled == pytest.approx(first, abs=1e-8)
    assert np.corrcoef(first[-1], fresh[-1])[0, 1] < 0.6  # others: below .45 in 999 of 1000


def reported_families(size):
    rng = np.random.default_rng(size)
    selection = rng.normal(size=(2, size))
    return [Sample(x, 0.3 * x + rng.exponential(size=size)) for x in selection]


def test_draws_of_a_median_of_many_reports_are_those_of_every_trial(monkeypatch):
    # Cells of their means would have medians near the mean of the reports, which is .3 above. Medians of 2,000 draws of
    # both kinds: within 6 standard errors of their difference, 1.25 sd / sqrt(1,000); quartiles' distances within 15 %.
    n, (family, _) = np.array([1, 3, 20, 150]), reported_families(2500)
    cells = curve_draws(family, n, Quantile(0.5), np.random.default_rng(1))
    monkeypatch.setattr("levelbest.stats.inference._draws.CELLS_ABOVE", 10_000)
    single = curve_draws(family, n, Quantile(0.5), np.random.default_rng(2))
    for mine, every in zip(cells, single, strict=True):
        sd = every.std(axis=1)
        assert (np.abs(np.median(mine, axis=1) - np.median(every, axis=1)) < 6 * 1.25 * sd / np.sqrt(1000)).all()
        widths = [np.ptp(np.quantile(draws, [0.25, 0.75], axis=1), axis=0) for draws in (mine, every)]
        np.testing.assert_allclose(*widths, rtol=0.15)


def test_permutations_of_many_reports_are_those_of_every_trial(monkeypatch):
    # 90 % quantiles of 1,500 permutations of both kinds: a standard error of about .03 of each; .25 is six of their
    # difference
    n, families = np.array([1, 3, 20, 150]), reported_families(1600)
    units = TrialUnits(families, n, Quantile(0.5))
    cells = units.exchanged((0, 1), 1500, np.random.default_rng(1))[0]
    monkeypatch.setattr(TrialUnits, "heads", lambda *_: None)
    every = TrialUnits(families, n, Quantile(0.5)).exchanged((0, 1), 1500, np.random.default_rng(2))[0]
    np.testing.assert_allclose(np.quantile(cells, 0.9, axis=1) / np.quantile(every, 0.9, axis=1), 1, atol=0.25)
