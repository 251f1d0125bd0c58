"""The same for many problems at once, with any number of samples each (`_drawing` has one problem)."""

from __future__ import annotations

import numpy as np

from levelbest._check import Budgets, FloatArray, IntArray
from levelbest.stats.problems._drawing import orders_for, values_of_costs, values_of_counts
from levelbest.stats.problems._groups import buckets
from levelbest.stats.problems._taking import DrawnFrom, Samples


def drawn_values(
    samples: DrawnFrom,
    code: IntArray | None,
    sizes: IntArray,
    budgets: Budgets,
    *,
    spend: bool = False,
    n_samples: int | None = None,
    numbers: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """What is taken from the samples drawn, by group (rows) and budget, and the Monte Carlo error of it.

    Budgets count samples or, with ``spend``, what the samples of one problem may cost together. Where these are a part
    of all groups, ``n_samples`` are those of all, and ``numbers`` the numbers of these groups among all.
    """
    orders = orders_for(int(sizes.sum()) if n_samples is None else n_samples)
    value, error = np.full((2, sizes.size, budgets.size), np.nan)
    for where, (worth, rank, answer, cost) in buckets(
        (samples.worth, samples.rank, samples.answer, samples.cost if spend else None), code, sizes
    ):
        number = where if numbers is None else numbers[where]
        coded = None if answer is None else _coded(answer)
        part = Samples(worth, rank, coded, cost, samples.nothing, n_orders=orders, number=number)
        values, error[where] = values_of_costs(part, budgets) if spend else values_of_counts(part, budgets)
        # a mean cannot leave what it is of, but for rounding
        value[where] = np.clip(values, min(worth.min(), samples.nothing), max(worth.max(), samples.nothing))
    return value, error


def _coded(answers: IntArray) -> IntArray:
    """Answers numbered from 0 within each row; -1 stays."""
    bits = answers.shape[1].bit_length()
    keys = np.sort(answers << bits | np.arange(answers.shape[1]), axis=1)
    order, ordered = keys & ((1 << bits) - 1), keys >> bits
    fresh = np.zeros(answers.shape, dtype=np.int64)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    number = np.cumsum(fresh, axis=1) - (ordered[:, :1] < 0)
    codes = np.empty_like(number)
    np.put_along_axis(codes, order, number, axis=1)
    return np.asarray(codes, dtype=np.int64)
