"""CONTRIBUTING's examples, run from outside the package: a new design, interval and statistic are one file each."""

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
import levelbest.cli.curve  # its help lists the intervals of the package: loaded before the examples add one
from levelbest.cli.main import main
from levelbest.designs import _protocol
from levelbest.errors import InputError
from levelbest.stats.bands import Terms, _methods, all_intervals
from levelbest.stats.best import _statistics

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
DESIGN, INTERVAL, STATISTIC = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)


@pytest.fixture(autouse=True)
def _forgotten():
    """What the examples register is forgotten afterwards."""
    _protocol.designs()
    kept = list(_protocol._KNOWN), dict(_methods._METHODS), dict(_statistics._STATISTICS)
    yield
    _protocol._KNOWN[:] = kept[0]
    for registry, before in ((_methods._METHODS, kept[1]), (_statistics._STATISTICS, kept[2])):
        registry.clear()
        registry.update(before)


def test_a_design_from_outside():
    exec(DESIGN, {})
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(5), 4)
    scores = [rng.normal(shift, 0.1, 5)[site] + 0.01 * rng.normal(size=20) for shift in (0.0, 1.0)]
    trials = lb.Trials.from_arrays(
        np.concatenate(scores),
        direction="max",
        family=["a"] * 20 + ["b"] * 20,
        configuration={"site": np.tile(site, 2)},
    )
    compared = lb.compare(trials)
    means = [np.array([own[site == m].mean() for m in range(5)]) for own in scores]
    assert (compared.terms.design, compared.terms.unit) == ("sites", "site")
    assert compared.pair("b", "a").difference[0] == pytest.approx(means[1].mean() - means[0].mean())
    assert [(one.start, one.end, one.verdict) for one in compared.pairs[0].verdicts] == [(1, 1, "b")]
    assert compared.pairs[0].n_trials == (5, 5)  # sites, as all counts
    assert [(own.n_trials, own.value) for own in compared.standings] == [
        (5, pytest.approx(own.mean())) for own in reversed(means)
    ]
    with pytest.raises(InputError, match="leave out the cost axis"):
        lb.compare(trials, axis="cost")
    lost = lb.compare(replace(trials, status=np.where(np.arange(40) < 2, 1, 0)), n_resamples=199)
    assert lost.pairs[0].n_failed == (1, 0)  # two trials of one site
    plain = lb.Trials.from_arrays(np.concatenate(scores), direction="max", family=["a"] * 20 + ["b"] * 20)
    assert lb.compare(plain, n_resamples=199).terms.design == "trials"
    with pytest.raises(InputError, match="a design called 'sites' is known already"):
        exec(DESIGN, {})


def test_the_only_budget_of_a_design_is_planned_for():
    exec(DESIGN, {})
    rng = np.random.default_rng(0)
    options = {"family": ["a"] * 12 + ["b"] * 12, "configuration": {"site": np.tile(np.arange(12), 2)}}
    trials = lb.Trials.from_arrays(rng.normal(size=24), direction="max", **options)
    plan = lb.plan_trials(trials, n_resamples=200)
    assert plan.separations[0][2].n == 1
    assert "Planned for" not in str(plan)
    with pytest.raises(InputError, match="the only budget here is one site, n = 1, got 10; leave out n="):
        lb.plan_trials(trials, n=10)


def test_an_interval_and_a_statistic_from_outside(tmp_path, capsys):
    exec(INTERVAL, {})
    exec(STATISTIC, {})
    scores = np.array([-3.0, -1.0, 2.0, 5.0])
    many = np.repeat(scores, 25)
    # 100 trials: 100 groups of one, 50 of two; the bounds lie 20 apart, and log(2 / .05) = log 40
    mean = np.array([0.75, np.mean([max(pair) for pair in combinations(many, 2)])])
    width = 20 * np.sqrt(np.log(40) / np.array([200, 100]))
    drawn = lb.curve(many, direction="max", bounds=(-10, 10), interval="hoeffding", n=[1, 2])
    assert drawn.method == "hoeffding"
    assert drawn.low == pytest.approx(mean - width)
    assert drawn.high == pytest.approx(mean + width)
    for reading, wrong in (
        ({}, "'hoeffding' needs both bounds of the score, got none"),
        ({"bounds": (-10, None)}, "'hoeffding' needs both bounds of the score, got one"),
        ({"bounds": (-10, 10), "statistic": "median"}, "'hoeffding' has no interval for statistic 'median'"),
        ({"bounds": (-10, 10), "simultaneous": True}, "covers each budget separately, not all at once"),
    ):
        with pytest.raises(InputError, match=wrong):
            lb.curve(scores, direction="max", interval="hoeffding", n=[1, 2], **reading)
    with pytest.raises(InputError, match="unknown interval for differences 'hoeffding'"):
        lb.compare(scores, direction="max", bounds=(-10, 10), interval="hoeffding", family=["a", "a", "b", "b"])
    chance = lb.curve(scores, direction="max", statistic="chance", n=[1, 2], n_resamples=199)
    # of 6 pairs one, (-3, -1), has no score above 0
    assert chance.value == pytest.approx([1 / 2, 5 / 6])
    (tmp_path / "r.csv").write_text("acc\n-3\n-1\n2\n5\n")
    asked = ["curve", str(tmp_path / "r.csv"), "--n", "1,2", "--resamples", "199", "--json"]
    assert main([*asked, "--statistic", "chance"]) == 0
    (family,) = json.loads(capsys.readouterr().out)["families"]
    assert [point["value"] for point in family["points"]] == pytest.approx([1 / 2, 5 / 6])
    simulated = ["simulate", "--trials", "8", "--n", "1,4", "--samples", "20", "--resamples", "99"]
    for law in (["--law", "norm"], ["--law", "bernoulli(0.5)"], ["--law", "norm", "--direction", "min"]):
        assert main([*simulated, *law, "--statistic", "chance", "--json"]) == 0
        points = json.loads(capsys.readouterr().out)["points"]
        # one of n is above 0, or below where lower is better (the value is turned back: minus the chance)
        sign = -1 if "min" in law else 1
        assert [sign * point["truth"] for point in points] == pytest.approx([1 / 2, 15 / 16], abs=1e-5)
    assert main([*asked, "--interval", "hoeffding"]) == 2
    assert "--bounds" in capsys.readouterr().err
    assert main([*asked, "--interval", "hoeffding", "--bounds", "-10", "10"]) == 0
    (family,) = json.loads(capsys.readouterr().out)["families"]
    assert [point["high"] for point in family["points"]] == [10, 10]  # four trials say no more than the bounds
    # simulations leave it out where no bounds are known
    assert "hoeffding" in all_intervals(scores, [1], terms=Terms(bounds=(-10, 10)))
    assert "hoeffding" not in all_intervals(scores, [1])
