"""Repeated searches: the unit is the search."""

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from levelbest import Trials, compare, curve
from levelbest.cli.main import main
from levelbest.designs.curve import family_curves as search_curves
from levelbest.errors import InputError
from levelbest.stats.bands import best_interval
from levelbest.stats.inference import Hypotheses, best_so_far, search_contrasts, search_interval


def test_best_so_far_follows_the_first_best():
    selection = np.array([2.0, 1.0, 3.0, 3.0, 5.0])
    reported = np.array([20.0, 10.0, 31.0, 32.0, 50.0])
    assert list(best_so_far(selection, None)) == [2, 2, 3, 3, 5]
    assert list(best_so_far(selection, reported)) == [20, 20, 31, 31, 50]


def test_intervals_are_those_of_scipy():
    rng = np.random.default_rng(0)
    curves = rng.normal(size=(6, 3))
    mean, low, high = search_interval(curves, 0.9)
    for i in range(3):
        reference = scipy_stats.ttest_1samp(curves[:, i], 0.0).confidence_interval(0.9)
        assert (low[i], high[i]) == pytest.approx((reference.low, reference.high))
        assert mean[i] == pytest.approx(curves[:, i].mean())


def test_searches_are_exchanged_as_wholes():
    """3 against 30 searches with a good mode in 12 % of trials: Welch's t named a winner in half of the samples."""
    named = 0
    for at in range(120):
        rng = np.random.default_rng([at, 4])
        trials = np.where(rng.random((33, 4)) < 0.12, 0.85, 0.2) + rng.uniform(-0.02, 0.02, (33, 4))
        curves = np.maximum.accumulate(trials, axis=1)
        contrast = search_contrasts([curves[:3], curves[3:]], np.arange(1, 5), Hypotheses(((0, 1),))).pairs[0]
        named += bool(contrast.certified.any())
    # 120 samples of a true .05: more than 15 once in 1,000
    assert named <= 15


def searches(k, m=20, shift=2.0, direction="max", seed=0):
    rng = np.random.default_rng(seed)
    sign = 1 if direction == "max" else -1
    scores, family, search, order = [], [], [], []
    for name, mean in (("tpe", shift), ("random", 0.0)):
        for s in range(k):
            # an adaptive search: trials get better as it goes on
            scores.append(sign * (rng.normal(mean, 0.3, m) + np.linspace(0, 1, m)))
            family += [name] * m
            search += [f"{name}-{s}"] * m
            order.append(np.arange(m))
    return Trials.from_arrays(
        np.concatenate(scores), direction=direction, family=family, search=search, order=np.concatenate(order)
    )


@pytest.mark.parametrize("direction", ["max", "min"])
def test_verdicts_over_searches(direction):
    result = compare(searches(6, direction=direction))
    (pair,) = result.pairs
    assert pair.verdict_at(20) == "tpe"
    assert pair.n_searches == (6, 6)
    assert result.terms.statistic == "mean best so far"
    assert pair.basis == "permutation"
    assert 0 < pair.unseen < 0.5


def test_curves_over_searches():
    trials = searches(4)
    curve = search_curves(trials)[0]
    best = np.maximum.accumulate(trials["tpe"].selection.reshape(4, 20), axis=1)
    assert curve.value == pytest.approx(best.mean(axis=0))
    assert curve.estimator == "best so far"
    assert (curve.low < curve.value).all()
    down = search_curves(searches(4, direction="min"))[0]
    assert down.value == pytest.approx(-curve.value)
    assert down.low == pytest.approx(-curve.high)


def test_the_order_of_rows_does_not_matter_where_it_was_recorded():
    trials = searches(3)
    shuffled = trials.take(np.random.default_rng(2).permutation(len(trials)))
    assert search_curves(shuffled)[0].value == pytest.approx(search_curves(trials)[0].value)


def test_one_search_says_what_would_help():
    result = compare(searches(1))
    (pair,) = result.pairs
    assert {one.verdict for one in pair.verdicts} == {"not comparable"}
    assert pair.verdicts[0].reason == "few-searches"
    assert np.isfinite(pair.difference).all()
    assert any(c.code == "adaptive-sampler" and "repeat" in c.sentence for c in result.cautions)
    assert np.isnan(search_curves(searches(1))[0].low).all()


def test_refusals():
    with pytest.raises(InputError, match="without other options"):
        compare(searches(3), axis="cost")
    with pytest.raises(InputError, match="length of the shortest search, 20, got 21"):
        compare(searches(3), n=[21])


def test_command(tmp_path, capsys):
    rng = np.random.default_rng(3)
    path = tmp_path / "r.csv"
    rows = [f"{m},{s},{rng.normal(9 * (m == 'a'), 1)}" for m in "ab" for s in range(4) for _ in range(10)]
    path.write_text("\n".join(["model,repeat,val_acc", *rows]))
    assert main(["compare", str(path), "--search", "repeat", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparisons"][0]["verdicts"][0]["verdict"] == "a"
    assert main(["curve", str(path), "--search", "repeat", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["families"][0]["estimator"] == "best so far"


def test_the_interval_of_a_curve_is_the_one_asked_for():
    trials = searches(6, m=4)
    table = Trials.from_arrays(
        trials.selection / 10, direction="max", bounds=(-1, 1), family=trials.family, search=trials.search
    )
    drawn = search_curves(table, interval="gaffke", rng=3)
    assert {each.method for each in drawn} == {"gaffke"}
    for code, each in enumerate(drawn):
        last = np.maximum.accumulate(table.selection[table.family == code].reshape(6, 4), axis=1)[:, -1]
        alone = best_interval(last, 1, method="gaffke", bounds=(-1, 1), rng=3)
        assert (each.low[-1], each.high[-1]) == (alone.low, alone.high)
    with pytest.raises(InputError, match="needs a bound on the score"):
        search_curves(trials, interval="gaffke")


def test_a_band_over_searches_is_refused(tmp_path, capsys):
    trials = searches(4, m=3)
    with pytest.raises(InputError, match="over repeated searches there is no simultaneous="):
        search_curves(trials, simultaneous=True)
    with pytest.raises(InputError, match="over repeated searches there is no simultaneous="):
        curve(trials["tpe"], simultaneous=True)
    rows = zip(trials.family, trials.search, trials.selection, strict=True)
    text = "\n".join(["model,search,acc", *(f"m{a},{b},{c:.4f}" for a, b, c in rows)])
    (tmp_path / "t.csv").write_text(text + "\n")
    assert main(["curve", str(tmp_path / "t.csv"), "--search", "search", "--simultaneous"]) == 2
    assert "over repeated searches there is no --simultaneous" in capsys.readouterr().err
