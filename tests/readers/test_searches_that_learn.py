"""Visibly adaptive searches are one search: a trace of the best so far, and scores that climb from trial to trial."""

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main


def kinds(table):
    return {
        (caution.family, caution.kind)
        for caution in lb.read_trials(table).cautions
        if caution.code == "adaptive-sampler"
    }


def two(first, second):
    return {"model": ["a"] * len(first) + ["b"] * len(second), "val_acc": [*first, *second]}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_the_best_so_far_is_one_search(rng):
    trace = np.maximum.accumulate(rng.random(30))
    plain = rng.random(30)
    assert kinds(two(trace.tolist(), plain.tolist())) == {("a", "incumbent")}


def test_scores_that_climb_are_one_search(rng):
    climbing = np.linspace(0.5, 0.8, 50) + 0.05 * rng.standard_normal(50)
    plain = 0.7 + 0.05 * rng.standard_normal(50)
    assert kinds(two(climbing.tolist(), plain.tolist())) == {("a", "climbs")}


def test_they_get_no_verdict_from_any_verb_and_none_says_otherwise(rng, tmp_path, capsys):
    climbing = np.linspace(0.5, 0.9, 50) + 0.05 * rng.standard_normal(50)
    table = two(climbing.tolist(), (0.4 + 0.02 * rng.standard_normal(50)).tolist())
    path = tmp_path / "results.csv"
    path.write_text("model,val_acc\n" + "".join(f"{a},{b}\n" for a, b in zip(*table.values(), strict=True)))
    verdict = lb.compare(lb.read_trials(path), n_resamples=99)
    assert not any(part.decided for pair in verdict.pairs for part in pair.verdicts)
    assert main(["compare", str(path), "--resamples", "99", "--search", "none"]) == 0
    assert "a, better than b by" in " ".join(capsys.readouterr().out.split())


def test_random_searches_are_refused_once_in_ten_thousand(rng):
    """2,000 families of 30 trials: more than 4 would be refused by chance in fewer than 1 of 100,000 such tests."""
    from levelbest.readers.steps.diagnose import _climbs
    from levelbest.stats.checks import _diagnostics as diagnostics

    refused = [_climbs(diagnostics.trend(scores, None, "max"), 30) for scores in rng.standard_normal((2000, 30))]
    assert sum(refused) <= 4


def test_a_family_that_cannot_finish_a_trial_is_no_contender(rng):
    cheap = {"model": "cheap", "low": 1.0, "level": 0.6}
    costly = {"model": "costly", "low": 6.0, "level": 0.6}
    table = {"model": [], "val_acc": [], "seconds": []}
    for family in (cheap, costly):
        table["model"] += [family["model"]] * 20
        table["val_acc"] += (family["level"] + 0.03 * rng.standard_normal(20)).round(4).tolist()
        table["seconds"] += (family["low"] * rng.uniform(1, 1.2, 20)).round(3).tolist()
    verdict = lb.compare(lb.read_trials(table), axis="cost", n_resamples=99)
    from levelbest.results.verdict import leading_spans

    below = [span for span in leading_spans(verdict) if span.end < 6.0]
    assert all("costly" not in span.contenders for span in below)


def test_a_tool_whose_sampler_learns_by_default_needs_a_weaker_trend():
    from levelbest.readers.steps.diagnose import _BY_DEFAULT, _climbs
    from levelbest.stats.checks import _diagnostics as diagnostics

    # By chance 0.5 % of random searches, of 2,000 ten with a standard deviation of 3.2: more than 25 once in 100,000.
    rng = np.random.default_rng(5)
    trends = [diagnostics.trend(scores, None, "max") for scores in rng.standard_normal((2000, 30))]
    assert sum(_climbs(rho, 30, _BY_DEFAULT) for rho in trends) <= 25
    assert _climbs(0.8, 12, _BY_DEFAULT)
    assert not _climbs(0.8, 12)
