"""``about="suite"`` in every verb: exactly these problems, said in every answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError

BROKEN = {0: 0.4, 1: 0.35, 2: 0.2}


@pytest.fixture(scope="module")
def suite() -> dict[str, list[object]]:
    """20 tests of 10 runs each, three of them broken in the second version."""
    rng = np.random.default_rng(4)
    rows = [
        (version, f"t{test}", run, int(rng.random() < (BROKEN.get(test, 0.97) if version == "new" else 0.97)))
        for version in ("old", "new")
        for test in range(20)
        for run in range(10)
    ]
    return dict(zip(("version", "test", "run", "passed"), map(list, zip(*rows, strict=True)), strict=True))


ROLES = {"family": "version", "group": "test", "selection": "passed", "direction": "max"}


def test_the_suite_is_decided_where_other_problems_are_not(suite):
    problems, itself = (lb.compare(suite, n=1, about=about, **ROLES) for about in ("problems", "suite"))
    assert problems["old", "new"].verdict_at(1) == "undecided"
    assert itself["old", "new"].verdict_at(1) == "old"
    assert itself.to_dict()["about"] == "suite"
    assert "for exactly these problems" in itself.summary[-1]
    assert "for problems like these" in problems.summary[-1]


def test_both_widths_stand_beside_the_mean(suite):
    noise = lb.compare(suite, **ROLES).noises[0]
    over, itself = (lb.family_curves(suite, n=1, about=about, **ROLES)[0] for about in ("problems", "suite"))
    assert noise.problems == pytest.approx((over.high[0] - over.low[0]) / 2)
    assert noise.suite == pytest.approx((itself.high[0] - itself.low[0]) / 2)
    assert itself.to_dict()["interval"]["about"] == "suite"
    assert json.dumps(itself.to_dict()["noise"])


def test_one_sample_of_each_problem_gives_these_no_more_noise_than_others():
    columns = {"version": ["old"] * 50 + ["new"] * 50, "test": [*range(50)] * 2, "passed": [0, 0] + [1] * 98}
    verdict = lb.compare(columns, bounds=(0, 1), about="suite", **ROLES)
    noise, curve = verdict.noises[0], lb.family_curves(columns, about="suite", bounds=(0, 1), **ROLES)[0]
    assert 0 < noise.suite == noise.problems == pytest.approx((curve.high[0] - curve.low[0]) / 2)


def test_one_sample_of_each_problem_does_not_tell_the_two_margins_apart(tmp_path, capsys):
    path = tmp_path / "samples.csv"
    rows = [f"{model},p{i},{int(i % (2 + (model == 'b')) == 0)}" for model in "ab" for i in range(30)]
    path.write_text("\n".join(["model,problem,correct", *rows]) + "\n")
    assert main(["compare", str(path), "--about", "suite"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.count("±") == 2
    assert "for other problems, at most that for these" in words


def test_intervals_for_the_suite_end_at_half_the_samples(suite):
    curve = lb.family_curves(suite, about="suite", **ROLES)[0]
    assert np.isfinite(curve.low[curve.n <= 5]).all()
    assert np.isnan(curve.low[curve.n > 5]).all()


def test_a_suite_needs_problems_that_both_have(suite):
    with pytest.raises(InputError, match="group"):
        lb.compare({"model": ["a"] * 4 + ["b"] * 4, "acc": [0.1, 0.2, 0.3, 0.4] * 2}, about="suite")
    with pytest.raises(InputError, match="within each problem"):
        lb.compare(suite, about="suite", paired=False, **ROLES)
    with pytest.raises(InputError, match="about"):
        lb.compare(suite, about="tests", **ROLES)


def test_graded_scores_with_a_verifier():
    rng = np.random.default_rng(1)
    rows = {
        "model": ["a"] * 60 + ["b"] * 60,
        "problem": [p for _ in range(2) for p in range(10) for _ in range(6)],
        "judge": rng.random(120),
        "score": np.r_[rng.normal(0.7, 0.1, 60), rng.normal(0.4, 0.1, 60)],
    }
    roles = {"family": "model", "group": "problem", "selection": "judge", "reported": "score", "direction": "max"}
    compared = lb.compare(rows, about="suite", **roles)
    assert compared["a", "b"].verdict_at(1) == compared["a", "b"].verdict_at(3) == "a"
    assert compared["a", "b"].basis == "permutation"


def test_no_plan_of_problems_is_proposed_for_exactly_these(tmp_path, capsys):
    """`plan` speaks of further problems and of pass@k: it cannot answer for a suite, or for pass^k."""
    rows = [f"{model},p{i // 4},{int(i % (2 + (model == 'b' and i < 12)) == 0)}" for model in "ab" for i in range(80)]
    path = tmp_path / "samples.csv"
    path.write_text("\n".join(["model,problem,correct", *rows]) + "\n")
    for options, proposed in (([], True), (["--about", "suite"], False), (["--statistic", "all"], False)):
        assert main(["compare", str(path), *options]) == 0
        assert ("levelbest plan" in capsys.readouterr().out) == proposed


@pytest.mark.parametrize("scores", [([1, 1, 0, 1], [0.5, 0.6, 0.1, 0.7]), ([0.5, 0.6, 0.1, 0.7], [1, 1, 0, 1])])
def test_one_system_may_have_scores_of_0_and_1_and_another_graded_ones(scores):
    columns = {"version": ["A"] * 4 + ["B"] * 4, "test": [0, 0, 1, 1] * 2, "passed": [*scores[0], *scores[1]]}
    pair = lb.compare(columns, about="suite", **ROLES).pairs[0]
    assert pair.difference[0] == pytest.approx(np.mean(scores[0]) - np.mean(scores[1]))


def test_a_plan_from_one_sample_of_each_problem_has_the_variance_of_differences():
    """The two questions have one answer there, and so do their plans."""
    rng = np.random.default_rng(3)
    base = rng.normal(0, 1, 60)
    scores = [*(base + 0.12 + rng.normal(0, 0.3, 60)), *(base + rng.normal(0, 0.3, 60))]
    columns = {"version": ["A"] * 60 + ["B"] * 60, "test": list(range(60)) * 2, "passed": scores}
    these, others = (lb.compare(columns, about=about, **ROLES).pairs[0] for about in ("suite", "problems"))
    assert these.further == pytest.approx(others.further, rel=0.02)


@pytest.mark.parametrize("weights", [{0: 0, 1: 0}, {0: -1, 1: 2}, {0: np.nan, 1: 1}, {0: np.inf, 1: 1}])
def test_weights_that_give_no_mean_are_refused(weights):
    with pytest.raises(InputError, match="weights must be finite, at least 0 and not all 0"):
        lb.Trials.from_arrays([1, 0, 1, 1], direction="max", family=list("AABB"), group=[0, 1, 0, 1], weights=weights)
