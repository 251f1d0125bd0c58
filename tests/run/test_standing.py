"""The verdict while a study runs: right when families differ, silent when they do not, however often one looks."""

import re
import sys
from pathlib import Path

import numpy as np

from levelbest._ledger.chain import End, LedgerFamily
from levelbest.report.words.running import ahead_words
from levelbest.run.ledger import Ledger
from levelbest.run.progress import best_so_far, reporter_for
from levelbest.run.standing import LiveStanding
from levelbest.run.study import Judge
from levelbest.run.view import LedgerView

sys.path.insert(0, str(Path(__file__).parent))
from ledgers import ended, opening, started

JUDGE = Judge("dev", None, "max")


def verdict(view, judge=JUDGE):
    standing = LiveStanding(view, judge)
    while standing.step():
        pass
    return ahead_words(standing.ahead())


class Families:
    """A view that never touched a disk."""

    def __init__(self, **scores):
        self.families = {}
        for name, values in scores.items():
            family = LedgerFamily(len(self.families), name, name, {}, "", n_planned=60, n_planned_first=60)
            self.families[name] = family
            for value in values:
                self.add(**{name: value})

    def add(self, **scores):
        for name, value in scores.items():
            family = self.families[name]
            fine = bool(np.isfinite(value))
            end = End("ok" if fine else "failed", {"dev": float(value)} if fine else {})
            family.finish(len(family.ends), end)


def test_a_clear_lead_is_said_with_its_budgets():
    rng = np.random.default_rng(0)
    view = Families(good=rng.normal(5, 1, 60), poor=rng.normal(0, 1, 60))
    said = verdict(view)
    assert re.fullmatch(r"good is ahead of poor at 1 to \d+ trials", said)
    down = verdict(view, Judge("dev", None, "min"))
    assert "poor is ahead of good at 1" in down


def test_failed_trials_count_as_the_worst():
    scores = np.full(60, np.nan)
    scores[::2] = np.linspace(5, 6, 30)
    good = np.linspace(5.4, 6.4, 60)
    assert "good is ahead of half at" in verdict(Families(good=good, half=scores))
    assert verdict(Families(good=good, none=np.full(60, np.nan))) == "undecided"


def test_nothing_is_said_before_there_is_something_to_compare():
    rng = np.random.default_rng(0)
    assert verdict(Families(a=rng.normal(size=60))) == ""
    assert verdict(Families(a=rng.normal(size=60), b=rng.normal(size=5))) == ""
    assert verdict(Families(a=rng.normal(size=60), b=rng.normal(size=60)), Judge("dev")) == ""


def test_looking_after_every_trial_seldom_misleads():
    """Equal families, looked at after every trial of 60. Stated error 5 %; of 40 studies more than 6 wrong ones would
    come up with probability .003 if the error were exactly 5 % (it is less: bands that do not overlap are further apart
    than a difference band needs)."""
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        a, b = rng.normal(size=(2, 60))
        view = Families(a=a[:0], b=b[:0])
        standing = LiveStanding(view, JUDGE)
        for upto in range(1, 61):
            view.add(a=a[upto - 1], b=b[upto - 1])
            while standing.step():
                pass
            if standing.ahead():
                wrong += 1
                break
    assert wrong <= 6


def test_the_verdict_uses_the_finished_beginning_of_the_plan(tmp_path, monkeypatch):
    with Ledger.create(tmp_path / "s.db", opening(20, ("a", "b"))) as ledger:
        for family in range(2):
            for trial in range(20):
                ledger.append([started(trial, family)])
                if trial != 12:
                    ledger.append([ended(trial, family, dev=family * 0.5 + trial / 100)])
        with LedgerView(tmp_path / "s.db") as view:
            said = verdict(view)
        monkeypatch.setattr("levelbest.run.progress._REST", 0)
        bar = reporter_for("bar")
        bar.begin(ledger, JUDGE)
        shown = [bar.verdict() for _ in range(10)][-1]
        bar.end()
    assert said.startswith("b is ahead of a at 1")
    assert shown == f"so far (12 of 20, 12 of 20 trials, 95 % at every look, median dev): {said}"


def test_what_is_kept_between_looks_is_what_a_fresh_look_finds():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=60)
    scores[rng.random(60) < 0.2] = np.nan
    order = rng.permutation(60)
    view = Families(a=[])
    family = view.families["a"]
    standing = LiveStanding(view, JUDGE)
    for at, trial in enumerate(order):
        fine = bool(np.isfinite(scores[trial]))
        kept = {"dev": float(scores[trial])} if fine else {}
        family.finish(int(trial), End("ok" if fine else "failed", kept))
        done = set(order[: at + 1].tolist())
        prefix = next(n for n in range(61) if n not in done)
        np.testing.assert_array_equal(family.scores("dev"), scores[:prefix])
        seen = scores[sorted(done)]
        if np.isfinite(seen).any():
            assert family.extremes("dev") == (np.nanmin(seen), np.nanmax(seen))
            assert best_so_far(family, JUDGE) == f"best dev {np.nanmax(seen):.4g}"
        else:
            assert best_so_far(family, JUDGE) == ""
        assert sorted(family.failed) == sorted(t for t in done if np.isnan(scores[t]))
        while standing.step():
            pass
    fresh = LiveStanding(view, JUDGE)
    while fresh.step():
        pass
    assert standing.curves() == fresh.curves()
