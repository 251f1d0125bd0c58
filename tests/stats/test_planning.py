"""Plans are kept: what is promised is what new trials of the law reach."""

import math

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.stats import best_interval, difference_band
from levelbest.stats.budgets._planning import trials_for_width, trials_to_separate
from levelbest.stats.contrasts._samples import Sample


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


def test_separation_has_the_power_it_promises():
    rng = np.random.default_rng(4)
    a, b = rng.normal(0.9, 1, 60), rng.normal(0, 1, 60)
    found = trials_to_separate(Sample(a), Sample(b), 5, power=0.8, n_resamples=500)
    assert found.tried == pytest.approx(0.8, abs=0.08)
    size = int(found.needed)
    # new samples from the pilots' own laws, the whole band made anew: 60 samples, 4 standard errors of .8 are .21
    certified = 0
    for seed in range(60):
        draw = np.random.default_rng([5, seed])
        new = draw.choice(a, size), draw.choice(b, size)
        certified += difference_band(*new, np.arange(1, 6), n_resamples=200).certified[-1] == 1
    assert abs(certified / 60 - 0.8) <= 0.21


def test_equal_families_cannot_be_promised_anything():
    rng = np.random.default_rng(6)
    a = rng.normal(size=40)
    found = trials_to_separate(Sample(a), Sample(a + 1e-9), 3, n_resamples=300)
    assert found.needed > 10_000 or math.isinf(found.needed)
    assert math.isinf(found.high)


def test_large_budgets_are_capped_at_a_quarter_of_the_pilot():
    x = np.random.default_rng(7).normal(size=40)
    found = trials_for_width(x, 30, 0.5, n_resamples=200)
    assert (found.n, found.asked, found.capped) == (10, 30, True)
    assert "up to a quarter of its size: planned for n = 10, not 30" in found.caption()
    assert trials_for_width(x, 10, 0.5, n_resamples=200).caption() == ""


def test_direction_is_a_mirror():
    x = np.random.default_rng(8).normal(size=40)
    up, down = (trials_for_width(s * x, 3, 0.4, direction=d, n_resamples=200) for s, d in ((1, "max"), (-1, "min")))
    assert up.needed == down.needed


def test_refusals():
    x = np.random.default_rng(9).normal(size=40)
    with pytest.raises(InputError, match="width wanted must be more than 0, got 0"):
        trials_for_width(x, 3, 0)
    with pytest.raises(DataError, match="a pilot of at least 8 trials in each family, got 4"):
        trials_for_width(x[:4], 1, 0.1)
    with pytest.raises(DataError, match="has no spread"):
        trials_for_width(np.ones(20), 1, 0.1)
    with pytest.raises(InputError, match=r"power must lie in \(0, 1\), got 80"):
        trials_to_separate(Sample(x), Sample(x), 3, power=80)
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        trials_to_separate(Sample(x), Sample(x), 0)
