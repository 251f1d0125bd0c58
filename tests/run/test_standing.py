"""The verdict while a study runs: right when families differ, silent when they do not, however often one looks."""

import re
import sys
from pathlib import Path

import numpy as np

from levelbest.run.ledger import Ledger
from levelbest.run.standing import current_verdict, look_sizes
from levelbest.run.study import Judge
from levelbest.run.view import End, FamilyView, LedgerView

sys.path.insert(0, str(Path(__file__).parent))
from ledgers import ended, opening, started

JUDGE = Judge("dev", None, "max")


class Families:
    """A view that never touched a disk."""

    def __init__(self, **scores):
        self.families = {}
        for number, (name, values) in enumerate(scores.items()):
            family = FamilyView(number, name, {}, n_planned=60, n_planned_first=60)
            for i, v in enumerate(values):
                fine = bool(np.isfinite(v))
                family.ends[i] = End("ok" if fine else "failed", 1, {"scores": {"dev": float(v)} if fine else {}})
            self.families[name] = family


def test_a_clear_lead_is_said_with_its_budgets():
    rng = np.random.default_rng(0)
    view = Families(good=rng.normal(5, 1, 60), poor=rng.normal(0, 1, 60))
    said = current_verdict(view, JUDGE)
    assert said.startswith("so far (60 of 60, 60 of 60 trials, 95 % at every look, median dev): ")
    assert re.search(r": good is ahead of poor at 1 to \d+ trials$", said)
    down = current_verdict(view, Judge("dev", None, "min"))
    assert "poor is ahead of good at 1" in down


def test_failed_trials_count_as_the_worst():
    scores = np.full(60, np.nan)
    scores[::2] = np.linspace(5, 6, 30)
    good = np.linspace(5.4, 6.4, 60)
    assert "good is ahead of half at" in current_verdict(Families(good=good, half=scores), JUDGE)
    assert current_verdict(Families(good=good, none=np.full(60, np.nan)), JUDGE).endswith("undecided")


def test_nothing_is_said_before_there_is_something_to_compare():
    rng = np.random.default_rng(0)
    assert current_verdict(Families(a=rng.normal(size=60)), JUDGE) is None
    assert current_verdict(Families(a=rng.normal(size=60), b=rng.normal(size=5)), JUDGE) is None
    assert current_verdict(Families(a=rng.normal(size=60), b=rng.normal(size=60)), Judge("dev")) is None
    assert look_sizes(Families(a=rng.normal(size=60), b=rng.normal(size=5)))[1] == 0


def test_looking_after_every_trial_seldom_misleads():
    """Equal families, looked at after every trial of 60. Stated error 5 %; of 40 studies more than 6 wrong ones would
    come up with probability .003 if the error were exactly 5 % (it is less: bands that do not overlap are further apart
    than a difference band needs)."""
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        a, b = rng.normal(size=(2, 60))
        looked: set[tuple[int, ...]] = set()
        for upto in range(10, 61):
            view = Families(a=a[:upto], b=b[:upto])
            if (sizes := look_sizes(view)) in looked:
                continue  # between two looks on the schedule nothing is said anew
            looked.add(sizes)
            if "ahead" in current_verdict(view, JUDGE):
                wrong += 1
                break
    assert wrong <= 6


def test_the_verdict_uses_the_finished_beginning_of_the_plan(tmp_path):
    with Ledger.create(tmp_path / "s.db", opening(20, ("a", "b"))) as ledger:
        for family in range(2):
            for trial in range(20):
                ledger.append([started(trial, family)])
                if trial != 12:
                    ledger.append([ended(trial, family, dev=family * 0.5 + trial / 100)])
    view = LedgerView(tmp_path / "s.db")
    said = current_verdict(view, JUDGE)
    view.close()
    assert "12 of 20, 12 of 20 trials" in said
    assert "b is ahead of a at 1" in said
