"""Limits of differences: families compared over their budgets, pairs, permutations, searches."""

from __future__ import annotations

from levelbest.stats.contrasts._differences import (
    as_quantile,
    difference_band,
    difference_bands,
    draw,
    mean_differences,
)
from levelbest.stats.contrasts._paired import jackknife_errors, leave_one_out
from levelbest.stats.contrasts._pairwise import Draws, PairBand, draw_families, pair_bands, reach_words, widest
from levelbest.stats.contrasts._samples import Difference, Sample, turn
from levelbest.stats.contrasts._searches import best_so_far, search_differences, search_interval

__all__ = [
    "Difference",
    "Draws",
    "PairBand",
    "Sample",
    "as_quantile",
    "best_so_far",
    "difference_band",
    "difference_bands",
    "draw",
    "draw_families",
    "jackknife_errors",
    "leave_one_out",
    "mean_differences",
    "pair_bands",
    "reach_words",
    "search_differences",
    "search_interval",
    "turn",
    "widest",
]
