"""Past the data: the fit is exact where its form is, labelled, checked, and refuses where it must."""

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.stats import extrapolated_best
from levelbest.stats.budgets._extrapolation import _curves, _law, _points


@pytest.mark.parametrize("shape", [-1.5, -0.5, 0.0, 0.4])
def test_a_curve_of_the_form_is_continued_exactly(shape):
    points = np.array([6, 12, 24])
    n = np.array([30, 60, 200])

    def curve(k):
        return 2.0 + (np.log(k) if shape == 0 else np.sign(shape) * k**shape)

    found, limit, fitted = _curves(points, curve(points.astype(float))[:, None], n)
    assert found[:, 0] == pytest.approx(curve(n.astype(float)), abs=1e-9)
    assert fitted[0] == pytest.approx(shape, abs=1e-9)
    assert limit[0] == (pytest.approx(2.0) if shape < 0 else np.inf)


def test_the_law_has_the_curve_it_was_made_from():
    points = np.array([6, 12, 24])
    e = 2.0 - points**-0.5
    law = _law(points, e, -0.5)
    drawn = law(np.random.default_rng(0).random((200_000, 24)))
    best = drawn.max(axis=1)
    assert best.mean() == pytest.approx(e[2], abs=4 * best.std() / np.sqrt(200_000))  # false alarm 6e-5


def test_it_says_what_it_is():
    x = np.random.default_rng(1).beta(8, 2, 60)
    found = extrapolated_best(x, [90, 120], bounds=(0, 1), n_resamples=300)
    assert found.label == "extrapolation"
    assert str(found).startswith("extrapolation past 60 trials")
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert (found.high <= 1).all()
    assert found.check.n == 36
    check = found.to_dict()["check"]
    assert check["held"] is bool(found.check.low <= check["observed"] <= found.check.high)


def test_min_is_the_mirror_image():
    x = np.random.default_rng(2).normal(size=50)
    up, down = (
        extrapolated_best(x, [100], n_resamples=200),
        extrapolated_best(-x, [100], direction="min", n_resamples=200),
    )
    assert up.value == pytest.approx(-down.value)
    assert up.low == pytest.approx(-down.high)
    assert up.check.predicted == pytest.approx(-down.check.predicted)


def test_it_covers_what_its_documentation_says():
    # uniform scores, n = 100 of 50 trials: E = 100/101; documented .93 to .97 for nominal .95.
    # 100 samples: fewer than 83 hits have probability 6e-4 at .93
    hits = 0
    for seed in range(100):
        found = extrapolated_best(np.random.default_rng([3, seed]).random(50), [100], n_resamples=200, rng=seed)
        hits += found.low[0] <= 100 / 101 <= found.high[0]
    assert hits >= 83


def test_a_law_that_breaks_the_form_fails_the_check():
    # a rare jackpot: half of the trials seldom show how the best of 36 of all behaves
    failed = 0
    for seed in range(20):
        rng = np.random.default_rng([4, seed])
        x = np.where(rng.random(60) < 0.03, 50.0, rng.random(60))
        x[:2] = 50.0
        failed += not extrapolated_best(rng.permutation(x), [100], n_resamples=200, rng=seed).check.held
    assert failed >= 3


def test_the_best_reached_all_the_time_stays():
    x = np.r_[np.ones(40), 0.9, 0.8, 0.7]
    found = extrapolated_best(x, [60], bounds=(0, 1), n_resamples=200)
    assert found.value[0] == 1.0
    assert np.isnan(found.low[0])


def test_refusals():
    x = np.random.default_rng(5).normal(size=30)
    with pytest.raises(InputError, match=r"for n past the 30 trials, got 20; within them use expected_best"):
        extrapolated_best(x, [20])
    with pytest.raises(InputError, match="4 times the number of trials, 120, got 121"):
        extrapolated_best(x, [121])
    with pytest.raises(DataError, match="at least 24 trials, got 10"):
        extrapolated_best(x[:10], [20])
    with pytest.raises(DataError, match="at least 4 distinct scores, got 2"):
        extrapolated_best(np.arange(30) % 2, [40])
    assert list(_points(50)) == [8, 16, 32]
