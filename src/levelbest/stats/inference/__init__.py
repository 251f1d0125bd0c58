"""Inference: one engine behind every verdict.

A design hands over its units; `trial_contrasts`, `run_contrasts`, `search_contrasts`, `sign_contrasts`
answer one `Hypotheses` about all pairs of families (`_decide` says how, in five sentences).
`difference_band` compares two arrays of scores. A difference is first minus second, turned so that positive means that
the first is better.
"""

from __future__ import annotations

from levelbest.stats.best import Sample
from levelbest.stats.inference._aggregates import Aggregate, interquartile_mean, probability_of_improvement
from levelbest.stats.inference._aggregates import performance_profile as performance_profile
from levelbest.stats.inference._contrasts import (
    best_so_far,
    chance_better,
    difference_band,
    relative_improvement,
    run_contrasts,
    search_contrasts,
    search_interval,
    sign_contrasts,
    trial_contrasts,
)
from levelbest.stats.inference._contrasts import joint_p as joint_p
from levelbest.stats.inference._contrasts import trial_units as trial_units
from levelbest.stats.inference._decide import contrasts_of as contrasts_of
from levelbest.stats.inference._decide import curve_limits as curve_limits
from levelbest.stats.inference._decide import decide as decide
from levelbest.stats.inference._draws import HEAVIER as HEAVIER
from levelbest.stats.inference._draws import imagined_ends as imagined_ends
from levelbest.stats.inference._draws import mean_draws as mean_draws
from levelbest.stats.inference._families import in_turn as in_turn
from levelbest.stats.inference._hypotheses import Band as Band
from levelbest.stats.inference._hypotheses import Contrast, Contrasts, Difference, EffectAt, Hypotheses
from levelbest.stats.inference._hypotheses import Pair as Pair
from levelbest.stats.inference._hypotheses import agreeing as agreeing
from levelbest.stats.inference._hypotheses import band_contrasts as band_contrasts
from levelbest.stats.inference._hypotheses import band_differences as band_differences
from levelbest.stats.inference._hypotheses import undefined as undefined
from levelbest.stats.inference._macro import MacroUnits as MacroUnits
from levelbest.stats.inference._means import MeanUnits as MeanUnits
from levelbest.stats.inference._means import SignUnits as SignUnits
from levelbest.stats.inference._means import weighted_mean as weighted_mean
from levelbest.stats.inference._power import MOST_PLANNED as MOST_PLANNED
from levelbest.stats.inference._power import OUT_OF_REACH as OUT_OF_REACH
from levelbest.stats.inference._power import POWER as POWER
from levelbest.stats.inference._power import Needed as Needed
from levelbest.stats.inference._power import Pilot as Pilot
from levelbest.stats.inference._samples import CountSamples as CountSamples
from levelbest.stats.inference._samples import ProblemSamples as ProblemSamples
from levelbest.stats.inference._samples import ScoreSamples as ScoreSamples
from levelbest.stats.inference._suite import SuiteUnits as SuiteUnits
from levelbest.stats.inference._suite import TaskShares as TaskShares
from levelbest.stats.inference._tasks import StratifiedUnits as StratifiedUnits
from levelbest.stats.inference._trials import TrialUnits as TrialUnits
from levelbest.stats.inference._trials import half_of as half_of
from levelbest.stats.inference._trials import reach_of as reach_of

# The public names; the others are for other packages of levelbest.
__all__ = [
    "Aggregate",
    "Contrast",
    "Contrasts",
    "Difference",
    "EffectAt",
    "Hypotheses",
    "Sample",
    "best_so_far",
    "chance_better",
    "difference_band",
    "interquartile_mean",
    "probability_of_improvement",
    "relative_improvement",
    "run_contrasts",
    "search_contrasts",
    "search_interval",
    "sign_contrasts",
    "trial_contrasts",
]
