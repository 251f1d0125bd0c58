"""The best of n: what one may expect of it, from the trials at hand or from a known distribution.

Estimates (`expected_best`, `quantile_best`, `best_statistic`), how much one search differs from another
(`spread_of_best`), the error of the estimate (`standard_error`), the weight of each trial (`best_weights`), known
distributions (`normal_best`, `law_best`, `gaussian_best` with its fit test, `normality`), and what a sample may not
have shown (`unseen`).
"""

from __future__ import annotations

from levelbest.stats.best._distributions import gaussian_best, law_best, normal_best
from levelbest.stats.best._held_out import new_run_of_best as new_run_of_best
from levelbest.stats.best._moments import means_and_spreads as means_and_spreads
from levelbest.stats.best._moments import weight_squares as weight_squares
from levelbest.stats.best._normality import Normality, normality
from levelbest.stats.best._order import (
    best_statistic,
    best_weights,
    expected_best,
    quantile_best,
    spread_of_best,
    standard_error,
)
from levelbest.stats.best._order import mean_and_spread as mean_and_spread
from levelbest.stats.best._samples import Sample as Sample
from levelbest.stats.best._samples import standardised as standardised
from levelbest.stats.best._samples import turned_bounds as turned_bounds
from levelbest.stats.best._samples import turned_limits as turned_limits
from levelbest.stats.best._samples import unseen
from levelbest.stats.best._statistics import LONG_ROW as LONG_ROW
from levelbest.stats.best._statistics import Mean as Mean
from levelbest.stats.best._statistics import Quantile as Quantile
from levelbest.stats.best._statistics import Statistic, register_statistic
from levelbest.stats.best._statistics import order_quantiles as order_quantiles
from levelbest.stats.best._statistics import running_sums as running_sums
from levelbest.stats.best._statistics import statistic_named as statistic_named
from levelbest.stats.best._weights import TiedShares as TiedShares
from levelbest.stats.best._weights import kept_weights as kept_weights
from levelbest.stats.best._weights import log_share as log_share
from levelbest.stats.best._weights import rank_weights as rank_weights
from levelbest.stats.best._weights import subset_fraction as subset_fraction
from levelbest.stats.best._weights import weights_below as weights_below

# What strangers look for; the other names are machinery that later doors build on.
__all__ = [
    "Normality",
    "Statistic",
    "best_statistic",
    "best_weights",
    "expected_best",
    "gaussian_best",
    "law_best",
    "normal_best",
    "normality",
    "quantile_best",
    "register_statistic",
    "spread_of_best",
    "standard_error",
    "unseen",
]
