"""Comparisons made by hand, for tests of what is said and drawn of them."""

import numpy as np

from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.seeds import Seeds
from levelbest.results import (
    TRIALS,
    Comparison,
    ComparisonTerms,
    DesignWords,
    Effect,
    PairComparison,
    Standing,
    Verdict,
)
from levelbest.trials import Metric, Settings

WORDS = {own.words.unit: own.words for own in (Seeds, ProblemsDesign)}
NAN = float("nan")


def terms(**changes):
    """Terms of a plain comparison of random searches."""
    metric = changes.pop("metric", None) or Metric(changes.pop("direction", "max"), "val", "test")
    settings = changes.pop("settings", None) or Settings(failed=changes.pop("failed", "worst"))
    plain = {"design": "trials", "words": TRIALS, "metric": metric, "settings": settings, "n_pairs": 1, "headline": 5}
    if "unit" in changes:
        changes["words"] = WORDS.get(changes["unit"]) or DesignWords(unit=changes["unit"])
    return ComparisonTerms(**(plain | {key: value for key, value in changes.items() if key != "unit"}))


def pair(a, b, *ranges, terms, effect=None, **changes):
    """Two families with verdicts given as (start, end, verdict[, reason])."""
    verdicts = tuple(Verdict(*row) for row in ranges)
    budget = np.arange(1, int(verdicts[-1].end) + 1)
    nothing = np.full(budget.size, NAN)
    shown = effect or Effect(terms.headline or 1, NAN, NAN, NAN, NAN, None, False, terms.named)
    plain = {"further": NAN, "basis": "permutation", "method": "band", "paired": False, "n_trials": (10, 10)}
    plain |= {"n_failed": (0, 0)}
    return PairComparison(
        (a, b), terms, budget, nothing, nothing, nothing, nothing, verdicts, shown, **(plain | changes)
    )


def comparison(*pairs, **changes):
    """The pairs as one comparison, their families in the order in which they come."""
    families = tuple(dict.fromkeys(name for one in pairs for name in one.families))
    return Comparison(pairs[0].terms, families, tuple(pairs), **changes)


def effect(difference, low, high, winner=None, *, budget=5, negligible=False, named=False):
    """A difference with its limits."""
    return Effect(budget, difference, low, high, NAN, winner, negligible, named)


def standing(family, value=NAN, low=NAN, high=NAN, *, n_trials=10, n_failed=0, budget=5, better_than=(), worse_than=()):
    """A row of the table."""
    return Standing(family, n_trials, n_failed, 0, budget, value, low, high, tuple(better_than), tuple(worse_than))
