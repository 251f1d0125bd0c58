"""Many problems: pass@k in exact fractions, the best of n by enumeration, and what is undefined."""

import tracemalloc
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from levelbest.errors import InputError
from levelbest.stats import all_of_k, expected_best, expected_best_by_group, group_interval, group_variance, pass_at_k
from levelbest.stats.inference import Hypotheses
from levelbest.stats.problems import problem_contrasts
from levelbest.stats.problems._groups import group_values, repeated_samples


@pytest.mark.parametrize("samples", [1, 2, 7, 16, 100, 1000, 10_000])
def test_pass_at_k_equals_the_formula_in_fractions(samples):
    grid = sorted({0, 1, 2, 3, samples // 7, samples // 2, samples - 2, samples - 1, samples} & set(range(samples + 1)))
    ks = [k for k in grid if k >= 1]
    found = pass_at_k(grid, samples, ks)
    every = all_of_k(grid, samples, ks)
    for i, c in enumerate(grid):
        for j, k in enumerate(ks):
            whole = comb(samples, k)
            assert found[i, j] == pytest.approx(float(1 - Fraction(comb(samples - c, k), whole)), rel=1e-12, abs=1e-300)
            assert every[i, j] == pytest.approx(float(Fraction(comb(c, k), whole)), rel=1e-10, abs=1e-12)
            assert abs(every[i, j] - float(Fraction(comb(c, k), whole))) < 1e-12


def test_one_correct_of_sixteen_is_found_by_sixteen():
    # resampling with replacement, as some tools do, gives 1 - (15/16)^16 = .644
    assert pass_at_k(1, 16, 16) == 1.0
    assert pass_at_k(1, 16, 8) == pytest.approx(0.5, abs=1e-15)


def test_an_unsolved_problem_is_zero_without_a_sign():
    found = pass_at_k([3, 0, 4], 4, [1, 2, 4])
    np.testing.assert_array_equal(found[1], 0)
    assert not np.signbit(found).any()


def test_shapes_follow_problems_then_k():
    assert isinstance(pass_at_k(3, 10, 2), float)
    assert pass_at_k([3, 4], 10, 2).shape == (2,)
    assert pass_at_k(3, 10, [1, 2, 3]).shape == (3,)
    assert pass_at_k([3, 4], [10, 12], [1, 2, 3]).shape == (2, 3)


def test_k_above_a_problems_samples_is_undefined_not_one():
    found = pass_at_k([2, 2], [2, 5], [2, 3])
    assert np.isnan(found[0, 1])
    assert found[0, 0] == 1.0
    assert found[1, 1] == pytest.approx(0.9)
    with pytest.raises(InputError, match="unknown, not 1"):
        pass_at_k(2, 2, 3)


@pytest.mark.parametrize(
    ("correct", "samples", "message"),
    [
        ([0.5], 3, "expected maximum"),
        ([4], 3, "at most samples, got 4 of 3"),
        ([-1], 3, "at least 0"),
        ([True], 3, "sum them first"),
        ([np.nan], 3, "whole numbers"),
        ([[1, 2]], 3, "one number per problem"),
        ([0], 0, "at least 1"),
        ([], 3, "at least one problem"),
    ],
)
def test_counts_that_are_no_counts(correct, samples, message):
    with pytest.raises(InputError, match=message):
        pass_at_k(correct, samples, 1)


def enumerated(selection, reported, n, direction):
    """Every draw of n, the best chosen by selection score, tied best ones equally likely."""
    pick = max if direction == "max" else min
    total = Fraction(0)
    draws = list(combinations(range(len(selection)), n))
    for draw in draws:
        best = pick(selection[i] for i in draw)
        tied = [Fraction(reported[i]) for i in draw if selection[i] == best]
        total += sum(tied, Fraction(0)) / len(tied)
    return total / len(draws)


problems = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-4, 4)), min_size=1, max_size=6), min_size=1, max_size=5
)


@given(problems, st.sampled_from(["max", "min"]), st.randoms())
def test_best_of_n_with_a_verifier_equals_enumeration(table, direction, shuffle):
    rows = [(g, s, r) for g, samples in enumerate(table) for s, r in samples]
    shuffle.shuffle(rows)
    group, selection, reported = map(list, zip(*rows, strict=True))
    best = expected_best_by_group(selection, [f"p{g}" for g in group], None, reported, direction=direction)
    assert best.n.tolist() == list(range(1, max(map(len, table)) + 1))
    for g, samples in enumerate(table):
        for j, n in enumerate(best.n):
            value = best.by_group[g, j]
            if n > len(samples):
                assert np.isnan(value)
            else:
                truth = enumerated([s for s, _ in samples], [r for _, r in samples], int(n), direction)
                assert value == pytest.approx(float(truth), abs=1e-12)
    for j, n in enumerate(best.n):
        allowed = [g for g, samples in enumerate(table) if len(samples) >= n]
        assert best.n_groups[j] == len(allowed)
        assert best.value[j] == pytest.approx(float(np.mean(best.by_group[allowed, j])), abs=1e-12)


@given(problems, st.sampled_from(["max", "min"]))
def test_each_group_is_the_expected_best_of_its_samples(table, direction):
    group = [g for g, samples in enumerate(table) for _ in samples]
    scores = [float(r) for samples in table for _, r in samples]
    best = expected_best_by_group(scores, group, None, direction=direction)
    for g, samples in enumerate(table):
        mine = [float(r) for _, r in samples]
        one = expected_best(mine, np.arange(1, len(mine) + 1), direction=direction)
        assert best.by_group[g, : len(mine)] == pytest.approx(one, abs=1e-12)


def test_many_sizes_and_chunks_agree_with_one_group_at_a_time(monkeypatch):
    from levelbest.stats.problems import _groups as groups

    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 40, 60)
    group = rng.permutation(np.repeat(np.arange(60), sizes))
    verifier, correct = rng.integers(0, 6, group.size).astype(float), rng.random(group.size)
    monkeypatch.setattr(groups, "_SAMPLES_AT_ONCE", 64)
    best = expected_best_by_group(verifier, group, [1, 3, 20], correct)
    for g in range(60):
        mine = group == g
        allowed = best.n <= sizes[g]
        one = expected_best(verifier[mine], best.n[allowed], correct[mine]) if allowed.any() else []
        assert best.by_group[g, allowed] == pytest.approx(one, rel=1e-12)
        assert np.isnan(best.by_group[g, ~allowed]).all()


def test_two_values_take_the_short_way_to_the_same_numbers():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 12)
    scores = (rng.random(240) < 0.3) * 5.0 - 2.0
    for direction in ("max", "min"):
        short = expected_best_by_group(scores, group, None, direction=direction)
        long = expected_best_by_group(scores, group, None, scores, direction=direction)
        assert short.by_group == pytest.approx(long.by_group, abs=1e-12)


def test_weights_and_strata():
    group = ["a"] * 2 + ["b"] * 2 + ["c"] * 2
    scores = [0, 1, 1, 1, 0, 0]
    plain = expected_best_by_group(scores, group, [1, 2])
    assert plain.value == pytest.approx([0.5, 2 / 3])
    heavy = expected_best_by_group(scores, group, [1, 2], weights={"a": 2, "b": 1, "c": 1})
    assert heavy.value == pytest.approx([0.5, 0.75])
    parts = expected_best_by_group(scores, group, [1, 2], strata={"a": "hard", "b": "easy", "c": "hard"}).by_stratum()
    assert list(parts) == ["easy", "hard"]
    assert parts["hard"].value == pytest.approx([0.25, 0.5])
    assert parts["hard"].groups.tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 3}, "at most the number of trials, 2"),
        ({"weights": {"a": 1.0}}, "1 of 2 are missing: b"),
        ({"weights": [1.0]}, "one per group"),
        ({"weights": [0.0, 0.0]}, "not all 0"),
        ({"strata": {"b": 1}}, "1 of 2 are missing: a"),
        ({"group": ["a", "b"]}, "each of the 4 samples"),
        ({"group": [1.0, 1.0, 2.0, np.nan]}, "1 are missing"),
    ],
)
def test_groups_that_do_not_fit(options, message):
    arguments = {"group": ["a", "a", "b", "b"], "n": 1} | options
    with pytest.raises(InputError, match=message):
        expected_best_by_group([0, 1, 1, 0], **arguments)


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from([0.0, 1.0, np.nan])), min_size=1, max_size=9
    )
)
def test_repeated_samples_as_a_dictionary_finds_them(rows):
    group, ids, scores = (np.array(column) for column in zip(*rows, strict=True))
    seen: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(group.tolist(), ids.tolist(), strict=True)):
        seen.setdefault(key, []).append(row)
    twice = [found for found in seen.values() if len(found) > 1]
    result = repeated_samples(group, ids, [scores])
    same = all(len({str(scores[row]) for row in found}) == 1 for found in twice)
    if not twice or (np.unique(ids).size < 2 and not same):
        assert result is None
        return
    assert result.count == len(twice)
    assert result.row == min(one for found in twice for one in found[1:])
    assert result.same == same
    assert repeated_samples(group, ids.astype(str), [scores]) == result


@pytest.mark.parametrize("reproducible", [False, True])
@pytest.mark.parametrize("score", [1.0, 0.9, -0.7])
def test_no_rounding_leaves_the_scores_of_a_problem(reproducible, score):
    # weights over 20, 32 or 64 samples sum to 1 + 2e-16 at some budgets: a solved problem is worth 1 all the same
    rng = np.random.default_rng(0)
    for size in range(2, 65):
        sizes = np.full(3, size)
        chosen, told = rng.random(3 * size).round(1), np.full(3 * size, score)
        told[-size:] = 0.0
        code = np.repeat(np.arange(3), size)
        by_group = group_values(chosen, told, code, sizes, np.arange(1, size + 1), "max", reproducible=reproducible)
        assert (by_group[:2] == score).all()
        assert (by_group[2] == 0).all()


def test_no_rounding_leaves_two_scores():
    # 0.3 + (0.9 - 0.3) > 0.9
    for pair in ((0.1, 0.7), (-0.7, -0.1), (0.3, 0.9), (-0.3, 0.1)):
        for direction in ("max", "min"):
            scores = np.array([pair[0]] * 4 + [pair[1]] * 4)
            best = expected_best_by_group(scores, np.repeat([0, 1], 4), direction=direction)
            assert best.by_group.min() >= pair[0]
            assert best.by_group.max() <= pair[1]


def test_large_problems_are_weighed_a_few_budgets_at_a_time():
    rng = np.random.default_rng(0)
    size = 200_000
    sizes, budgets = np.array([size]), np.unique(np.geomspace(1, size, 100).round().astype(np.int64))
    chosen, told = rng.random(size), rng.random(size)
    tracemalloc.start()
    try:
        found = group_values(chosen, told, None, sizes, budgets, "max", reproducible=True)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 80e6 < budgets.size * size * 8
    assert kept < 10e6
    assert found[0, [0, -1]] == pytest.approx([told.mean(), told[chosen.argmax()]], abs=1e-12)
    some = [1, 30, 60]
    assert found[0, some] == pytest.approx(expected_best(chosen, budgets[some], told), abs=1e-12)


def test_a_problem_of_weight_0_is_no_problem():
    """Limits over problems need two of them, and one that counts nothing is none."""
    solved, problem = [1, 0, 1, 1, 0, 1, 0, 0], ["p"] * 4 + ["q"] * 4
    best = expected_best_by_group(solved, problem, [1, 2], weights={"p": 1.0, "q": 0.0})
    assert np.isnan(group_interval(best, n_resamples=199).low).all()


def test_a_problem_of_weight_nought_is_none_to_a_plan():
    rng = np.random.default_rng(4)
    problem = np.repeat(np.arange(12), 6)
    scores = rng.normal(size=12)[problem] + rng.normal(size=problem.size)
    counted = problem < 5
    weights = np.where(np.arange(12) < 5, [1.0, 2, 1, 3, 1] + [0.0] * 7, 0.0)
    with_them, without = (
        group_variance(scores[rows], problem[rows], [1, 3], weights=own)
        for rows, own in ((slice(None), weights), (counted, weights[:5]))
    )
    for name in ("error", "between", "within", "n_groups", "samples"):
        assert getattr(with_them, name) == pytest.approx(getattr(without, name), rel=1e-12), name
    assert np.isnan(group_variance(scores, problem, 1, weights=[1.0] + [0.0] * 11).error).all()


def test_systems_are_compared_at_one_list_of_budgets():
    problem = np.repeat(np.arange(6), 4)
    scores = np.random.default_rng(0).random(problem.size)
    systems = [expected_best_by_group(scores, problem, n) for n in ([1, 2], [1, 4])]
    for paired in (True, False):
        with pytest.raises(InputError, match="at the same budgets n"):
            problem_contrasts(systems, Hypotheses(((0, 1),)), paired=paired)
        with pytest.raises(InputError, match="unknown method 'gafke'; did you mean 'gaffke'"):
            problem_contrasts(systems[:1] * 2, Hypotheses(((0, 1),), method="gafke"), paired=paired)
