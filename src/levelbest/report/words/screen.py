"""What the page's script says, as templates that it fills: the script draws, and has no sentences of its own."""

from __future__ import annotations

from levelbest.results import DesignWords

_WORDS = {
    "best": "{name} is best",
    "better": "{name} is better",
    "better_at": "{name} is better at {where}",
    "undecided": "undecided",
    "undecided_at": "undecided at {where}",
    "one_of": "undecided, one of {names}",
    "apart": "too few {units} to compare",
    "too_few": "too few to tell",
    "too_few_short": "too few",
    "not_comparable": "not comparable",
    "pair": "{first} and {second}: {verdicts}",
    "pair_elsewhere": "{pair}. The curve of this pair is in report.json.",
    "cannot": "{first} and {second} cannot be compared.",
    "cannot_because": "{first} and {second} cannot be compared: {why}.",
    "minus": "{first} minus {second}, above zero {first} is better",
    "no_pair": "No pair can be compared at this budget.",
    "best_of_all": "Best: {name}, better than all {count} others.",
    "best_of_two": "Best: {name}, better than {other}.",
    "no_best": "Undecided: no family is better than another.",
    "open": "Undecided.",
    "best_among": "Undecided: the best is {names}.",
    "best_among_many": "Undecided: the best is one of {count} families that none is better than.",
    "more": "and {count} more",
    "none_shown": "No family is switched on.",
    "whole": "whole chart",
    "family": "family",
    "one": "one {unit}",
    "best_of": "best of {budget}",
    "band": "{level} band",
    "band_means": "holds over all budgets at once",
    "units": "{units}",
    "failed": "failed",
    "better_than": "better than",
    "share": "{count} of {total}",
    "beyond": "beyond its {units}",
    "no_limits": "no limits",
    "no_low": "no lower limit",
    "no_high": "no upper limit",
    "tapes": "a cell takes the colour of who is better, grey is undecided; open one for the difference",
    "cells": "at {budget}: filled where the family of the row is better, ringed where it is worse, grey undecided; "
    "open one for the difference",
    "against_trials": "the number of {units}",
    "against_cost": "the cost",
    "copied": "Copied.",
    "selected": "Selected: press Ctrl+C to copy.",
}

_OF_ONE = {"band": "{level}", "band_means": "holds for each family by itself", "one": "{single}"}
"""What is said otherwise where there is one budget, and nothing to choose."""


def screen_words(words: DesignWords, level: str) -> dict[str, str]:
    """The templates, with what is known before anything is chosen.

    Examples
    --------
    >>> screen_words(DesignWords(), "95 %")["apart"]
    'too few trials to compare'
    """
    known = {"{unit}": words.unit, "{units}": words.units, "{single}": words.single, "{level}": level}
    filled = {}
    for key, template in (_WORDS | (_OF_ONE if words.single else {})).items():
        for name, value in known.items():
            template = template.replace(name, value)
        filled[key] = template
    return filled
