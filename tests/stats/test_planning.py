"""Plans are kept: what is promised is what new trials of the law reach."""

import json
import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from levelbest._check import budget_grid
from levelbest.errors import DataError, InputError
from levelbest.stats import best_interval
from levelbest.stats.budgets import as_power, trials_for_width
from levelbest.stats.inference import Hypotheses, Sample, run_contrasts, sign_contrasts, trial_contrasts
from levelbest.stats.inference._power import Pilot


def test_the_planned_number_gives_the_width_on_average():
    # over 25 pilots the median answer is right to 25 %: each pilot's own error is known to about 15 %
    widths = [
        best_interval(
            np.random.default_rng([1, s]).normal(size=200), 5, method="studentised", n_resamples=300, rng=s
        ).width
        for s in range(30)
    ]
    truth = 200 * (np.mean(widths) / 0.4) ** 2
    needed = [
        trials_for_width(np.random.default_rng([2, s]).normal(size=60), 5, 0.4, n_resamples=300).needed
        for s in range(25)
    ]
    assert np.median(needed) == pytest.approx(truth, rel=0.25)


def test_an_answer_is_tried_out_on_the_pilot():
    x = np.random.default_rng(3).normal(size=80)
    found = trials_for_width(x, 4, 0.3, n_resamples=400)
    assert found.tried == pytest.approx(0.3, rel=0.05)
    assert found.low < found.needed < found.high
    half = trials_for_width(x, 4, 0.15, n_resamples=400)
    assert half.needed == pytest.approx(4 * found.needed, rel=0.15)


def of_t(t, *, freedom=math.inf, critical=0.0, level=0.05, size=100):
    """What a pilot with this t knows, its standard error being 1."""
    return Pilot(t, (0.5, 0.5), (size, size), freedom, level, critical)


def test_the_chance_of_a_verdict_is_averaged_over_what_the_pilot_leaves_open():
    """Where the sign is certain: P(t sqrt(k) + sqrt(1 + k) Z > critical) = .8 for k times as many units, by hand."""
    t, critical, z = 5.0, special.ndtri(0.975), special.ndtri(0.8)
    needed = of_t(t, size=1_000).planned(0.8, 0.95, 1, 1).needed
    k = needed / 1_000
    assert t * math.sqrt(k) - critical == pytest.approx(z * math.sqrt(1 + k), rel=0.01)
    # taken for the truth, the estimate asks for fewer
    assert needed > 1_000 * ((critical + z) / t) ** 2


@pytest.mark.parametrize("critical", [1.96, 2.4, 3.2])  # one budget, many, and many of six pairs
@pytest.mark.parametrize("theta", [1.0, 1.5, 2.0, 3.0, 5.0, 8.0])
def test_the_power_promised_is_delivered_whatever_the_true_difference(theta, critical):
    """Over pilots, by quadrature: t is normal about the true difference in standard errors of the pilot."""
    t = theta + special.ndtri((np.arange(60) + 0.5) / 60)
    level = 2 * special.ndtr(-critical)
    k = np.array([of_t(own, level=level).planned(0.8, 0.95, 1, 1).needed / 100 for own in t])
    assert 0.75 <= special.ndtr(theta * np.sqrt(k) - critical).mean() <= 0.86


def test_the_ends_of_the_interval_have_the_power_of_a_noncentral_t():
    pilot = of_t(6.0, freedom=58.0, size=30)
    planned, reach = pilot.planned(0.8, 0.95, 1, 1), stats.t.isf(0.025, 58)
    for number, t in ((planned.low, 6 + reach), (planned.high, 6 - reach)):
        freedom = 2 * number - 2
        shift = t * math.sqrt(number / 30)
        assert stats.nct.sf(stats.t.isf(0.025, freedom), freedom, shift) == pytest.approx(0.8, abs=0.06)  # whole units
    assert stats.nct.sf(stats.t.isf(0.025, 58), 58, planned.detectable) == pytest.approx(0.8, abs=0.005)


def test_few_units_have_an_interval_and_no_number():
    planned = of_t(2.5, size=29).planned(0.8, 0.95, 1, 1)
    assert math.isnan(planned.needed)
    assert math.isnan(planned.further)
    assert (planned.code, planned.low < 29 < planned.high) == ("few", True)
    assert json.loads(json.dumps(planned.to_dict()))["needed"] is None
    assert of_t(2.5, size=30).planned(0.8, 0.95, 1, 1).needed > 30


def test_a_difference_is_too_small_only_where_the_pilots_interval_says_so():
    assert of_t(0.0, size=30).planned(0.8, 0.95, 1, 1).code == ""
    assert of_t(0.0, size=10).planned(0.8, 0.95, 1, 1).code == "few"
    # whatever lies within 1.96 standard errors takes (1.96 + .84)^2 / 1.96^2 = 2.04 times as many
    assert [of_t(0.0, size=size).planned(0.8, 0.95, 1, 1).code for size in (4_800, 5_000)] == ["", "small"]
    assert of_t(3.0, size=5_000).planned(0.8, 0.95, 1, 1).code == ""


def test_unequal_pilots_have_the_standard_error_of_as_many_of_each():
    pilot = Pilot(2.0, (4.0 / 20, 1.0 / 100), (20, 100), 19.0, 0.05, 0.0)
    assert pilot.units == pytest.approx(5 / (4 / 20 + 1 / 100))


def planned_trials(a, b, n, *, n_pairs=1):
    """What the comparison at budget n asks for, over its own budgets and one of so many pairs."""
    least = min(a.n_trials, b.n_trials)
    grid = np.union1d(budget_grid(least // 2, whole=100, points=60), [min(n, least // 4)])
    hypotheses = Hypotheses(((0, 1),), 1 - 0.05 / n_pairs, planned=n)
    return trial_contrasts([a, b], grid, hypotheses).pairs[0].needed


def planned_runs(a, b, *, n_pairs=1):
    return run_contrasts([a, b], Hypotheses(((0, 1),), 1 - 0.05 / n_pairs, planned=1)).pairs[0].needed


def delivered(a, b, size, n, n_samples, n_pairs):
    """How often a comparison of so many trials, over its own budgets, has a verdict for the first family at n."""
    grid = np.union1d(budget_grid(size // 2, whole=100, points=60), [n])
    hypotheses = Hypotheses(((0, 1),), confidence=1 - 0.05 / n_pairs)
    won = 0
    for seed in range(n_samples):
        draw = np.random.default_rng([5, seed])
        families = [Sample(draw.choice(b, size)), Sample(draw.choice(a, size))]
        won += trial_contrasts(families, grid, hypotheses).pairs[0].certified[int(np.searchsorted(grid, n))] == -1
    return won / n_samples


@pytest.mark.parametrize(("n_pairs", "shift"), [(1, 0.9), (10, 1.8)])
def test_a_comparison_over_its_own_budgets_and_pairs_has_the_power_promised(n_pairs, shift):
    rng = np.random.default_rng(4)
    a, b = rng.normal(shift, 1, 500), rng.normal(0, 1, 500)
    planned = planned_trials(Sample(a), Sample(b), 5, n_pairs=n_pairs)
    # 40 samples: 3.5 standard errors of .8 are .22
    assert abs(delivered(a, b, int(planned.needed), 5, 40, n_pairs) - 0.8) <= 0.22


def test_further_units_are_those_of_the_plan():
    rng = np.random.default_rng(9)
    a, b = rng.lognormal(0.05, 0.6, 40), rng.lognormal(0, 0.6, 40)
    grid = np.arange(1, 21)
    for contrasts in (
        lambda hypotheses: trial_contrasts([Sample(a), Sample(b)], grid, hypotheses),
        lambda hypotheses: trial_contrasts([Sample(a), Sample(b)], grid, hypotheses, paired=True),
        lambda hypotheses: run_contrasts([a, b], hypotheses),
        lambda hypotheses: sign_contrasts([(a - b)[:, None]], np.array([1]), hypotheses),
    ):
        (pair,) = contrasts(Hypotheses(((0, 1),))).pairs
        (planned,) = contrasts(Hypotheses(((0, 1),), planned=1)).pairs
        assert pair.effect.certified == 0
        assert pair.further == planned.needed.needed - 40 > 0


def test_a_plan_does_not_depend_on_the_order_of_the_families():
    rng = np.random.default_rng(40)
    a, b = Sample(rng.exponential(1.0, 200)), Sample(rng.normal(0, 1, 200))
    plans = [planned_trials(first, second, 3) for first, second in ((a, b), (b, a))]
    assert plans[0].to_dict() == plans[1].to_dict()


def test_runs_do_not_depend_on_the_order_and_share_the_error():
    rng = np.random.default_rng(11)
    a, b = rng.normal(0.6, 1, 32), rng.normal(0, 1, 32)
    planned = planned_runs(a, b)
    assert planned_runs(b[::-1], a).needed == planned.needed
    assert planned_runs(a, b, n_pairs=10).needed > planned.needed


def test_equal_families_have_no_end():
    a = np.random.default_rng(6).normal(size=40)
    planned = planned_trials(Sample(a), Sample(a + 1e-9), 3)
    assert math.isinf(planned.high)
    assert planned.needed > 40


def test_large_budgets_are_capped_at_a_quarter_of_the_pilot():
    x = np.random.default_rng(7).normal(size=40)
    found = trials_for_width(x, 30, 0.5, n_resamples=200)
    assert (found.n, found.asked, found.capped) == (10, 30, True)
    assert not trials_for_width(x, 10, 0.5, n_resamples=200).capped


def test_a_plan_says_where_the_budget_is_capped():
    rng = np.random.default_rng(12)
    planned = planned_trials(Sample(rng.normal(1, 1, 40)), Sample(rng.normal(0, 1, 40)), 30)
    assert (planned.n, planned.asked, planned.capped) == (10, 30, True)
    assert planned.needed >= 20  # a comparison at n = 10 has 20 trials at the least


def test_direction_is_a_mirror():
    x = np.random.default_rng(8).normal(size=40)
    up, down = (trials_for_width(s * x, 3, 0.4, direction=d, n_resamples=200) for s, d in ((1, "max"), (-1, "min")))
    assert up.needed == down.needed


def test_refusals():
    x = np.random.default_rng(9).normal(size=40)
    with pytest.raises(InputError, match="target width must be more than 0, got 0"):
        trials_for_width(x, 3, 0)
    with pytest.raises(DataError, match="a pilot of at least 8 trials in each family, got 4"):
        trials_for_width(x[:4], 1, 0.1)
    with pytest.raises(DataError, match="has no spread"):
        trials_for_width(np.ones(20), 1, 0.1)
    with pytest.raises(InputError, match=r"power must lie in \(0, 1\), got 80"):
        as_power(80)


def test_a_budget_named_in_advance_shows_a_smaller_difference():
    rng = np.random.default_rng(5)
    families = [Sample(rng.normal(0.0, 1, 40)), Sample(rng.normal(0.3, 1, 40))]
    needed = trial_contrasts(families, np.arange(1, 21), Hypotheses(((0, 1),), planned=1)).pairs[0].needed
    error = math.sqrt(sum(family.selection.var(ddof=1) / 40 for family in families))
    at = stats.t.isf(0.025, 78)
    wanted = optimize.brentq(lambda d: stats.nct.sf(at, 78, d / error) - 0.8, 0, 5)
    assert needed.detectable_named == pytest.approx(wanted, rel=0.01)
    assert needed.detectable_named < needed.detectable
    alone = trial_contrasts(families, np.array([1]), Hypotheses(((0, 1),), planned=1)).pairs[0].needed
    assert math.isnan(alone.detectable_named)
