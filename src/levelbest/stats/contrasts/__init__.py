"""Limits of differences: families compared over their budgets, in pairs or as whole searches.

`seed_contrasts` compares seeds and `search_contrasts` random searches, all pairs of one `Question` together.
`difference_band` compares two families; `chance_better`, `permutation_p` and `Relative` say more of a pair;
`search_differences` compares repeated searches; `interquartile_mean` and `probability_of_improvement` are over several
tasks. A difference is first minus second, turned so that positive means that the first is better.
"""

from __future__ import annotations

from levelbest.stats.best import Sample
from levelbest.stats.contrasts._aggregates import Aggregate, interquartile_mean, probability_of_improvement
from levelbest.stats.contrasts._contrast import VERDICTS as VERDICTS
from levelbest.stats.contrasts._contrast import Band as Band
from levelbest.stats.contrasts._contrast import Contrast, Contrasts, Difference, Effect, Question
from levelbest.stats.contrasts._contrast import agreeing as agreeing
from levelbest.stats.contrasts._contrast import band_contrasts as band_contrasts
from levelbest.stats.contrasts._contrast import band_differences as band_differences
from levelbest.stats.contrasts._contrast import contrast_of as contrast_of
from levelbest.stats.contrasts._contrast import undefined as undefined
from levelbest.stats.contrasts._families import half_of as half_of
from levelbest.stats.contrasts._gates import one_law_p as one_law_p
from levelbest.stats.contrasts._means import Means as Means
from levelbest.stats.contrasts._means import best_so_far, search_differences, search_interval, seed_contrasts
from levelbest.stats.contrasts._means import further_runs as further_runs
from levelbest.stats.contrasts._means import means_of as means_of
from levelbest.stats.contrasts._means import power_of as power_of
from levelbest.stats.contrasts._means import rounding_variance as rounding_variance
from levelbest.stats.contrasts._means import welch as welch
from levelbest.stats.contrasts._paired import jackknife_errors as jackknife_errors
from levelbest.stats.contrasts._paired import leave_one_out as leave_one_out
from levelbest.stats.contrasts._pairwise import Draws as Draws
from levelbest.stats.contrasts._pairwise import draw_families as draw_families
from levelbest.stats.contrasts._pairwise import pair_bands as pair_bands
from levelbest.stats.contrasts._random_searches import decisive_t as decisive_t
from levelbest.stats.contrasts._random_searches import difference_band, search_contrasts
from levelbest.stats.contrasts._random_searches import paired_evidence as paired_evidence
from levelbest.stats.contrasts._rivals import Relative, chance_better, permutation_p
from levelbest.stats.contrasts._settle import FIRST_DRAWS as FIRST_DRAWS
from levelbest.stats.contrasts._settle import MOST_DRAWS as MOST_DRAWS
from levelbest.stats.contrasts._settle import likely_ends as likely_ends

# What strangers look for; the other names are machinery that later doors build on.
__all__ = [
    "Aggregate",
    "Contrast",
    "Contrasts",
    "Difference",
    "Effect",
    "Question",
    "Relative",
    "Sample",
    "best_so_far",
    "chance_better",
    "difference_band",
    "interquartile_mean",
    "permutation_p",
    "probability_of_improvement",
    "search_contrasts",
    "search_differences",
    "search_interval",
    "seed_contrasts",
]
