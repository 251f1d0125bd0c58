"""The methods paragraph: every number is one of the results', and nothing is claimed that was not done."""

import numpy as np
import polars as pl
import pytest
from comparing import comparison, pair, terms

from levelbest import family_curves, read_trials
from levelbest.report.words.methods import methods_paragraph


def _curves(problems=None):
    rng = np.random.default_rng(0)
    columns = {
        "model": np.repeat(["old trials", "b"], 12),
        "clinical_trial_success": rng.uniform(size=24),
        "test_trial": rng.uniform(size=24),
    }
    roles = {"family": "model", "selection": "clinical_trial_success", "reported": "test_trial", "direction": "max"}
    if problems:
        columns["task"] = np.tile(np.repeat([f"p{i}" for i in range(problems)], 12 // problems), 2)
        roles["group"] = "task"
    return family_curves(read_trials(pl.DataFrame(columns), **roles), n=[1, 2])


def test_random_searches():
    text = methods_paragraph(_curves(), headline=2)
    assert text.startswith(
        "We ran 12 trials each of 2 families and report the test_trial of the trial with the best "
        "clinical_trial_success as a function of the number of trials n [1, 2]. "
    )
    assert "No trial failed. The headline number is the best of n = 2. Computed with levelbest" in text
    assert "tested alone" not in text
    assert "compared" not in text


def test_samples_of_problems_keep_the_columns_names():
    text = methods_paragraph(_curves(problems=4), headline=2, named="tested alone", weight="trial_points")
    assert text.startswith(
        "On 4 problems we drew 12 samples with each of 2 systems and report the test_trial of the sample with the best "
        "clinical_trial_success among n samples of a problem, averaged over problems. "
    )
    assert "Problems are weighted by trial_points." in text
    assert "best of n = 2, tested alone." in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "by the difference of their curves; a family is called better only where that excludes equality at 95 % "),
        ({"adjustment": "closed"}, "permutations of the runs, closed testing over 1 pair"),
        ({"worth": 0.02}, "Differences below 0.02 were not considered worth having."),
    ],
)
def test_comparisons_say_how(changes, words):
    shown = comparison(pair("a", "b", (1, 5, "a"), terms=terms(**changes)))
    assert words in methods_paragraph(_curves(), shown, headline=2)
