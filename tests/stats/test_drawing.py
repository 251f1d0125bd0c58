"""What is taken from samples drawn, against every subset and every order; spend per solved; judges with labels."""

import functools
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from levelbest.stats.problems import (
    GroupBest,
    _drawing,
    all_of_k,
    expected_best_by_group,
    expected_spend,
    group_interval,
    judged_mean,
    pass_at_k,
    ratio_interval,
)
from levelbest.stats.problems._drawing import values_of_costs, values_of_counts
from levelbest.stats.problems._taking import Samples

NOTHING = -0.5


def _taken(rank, worth, answer, drawn):
    """What the samples drawn come to, by the definition."""
    if not drawn:
        return NOTHING
    if answer is None:
        best = max(rank[i] for i in drawn)
        return np.mean([worth[i] for i in drawn if rank[i] == best])
    votes = {}
    for i in drawn:
        if answer[i] >= 0:
            votes[answer[i]] = votes.get(answer[i], 0) + 1
    if not votes:
        return NOTHING
    leaders = [name for name, count in votes.items() if count == max(votes.values())]
    return np.mean([np.mean([worth[i] for i in range(len(worth)) if answer[i] == name]) for name in leaders])


def _within(rank, worth, answer, cost, budget):
    """The mean over all orders of the samples finished within a budget."""
    values = []
    for order in itertools.permutations(range(len(worth))):
        left, drawn = budget * (1 + 1e-9), []
        for i in order:
            if cost[i] > left:
                break
            left -= cost[i]
            drawn.append(i)
        values.append(_taken(rank, worth, answer, drawn))
    return np.mean(values)


@pytest.fixture(params=["best", "vote"])
def samples(request):
    rng = np.random.default_rng(11)
    shape = (4, 6)
    worth, rank = rng.integers(0, 2, shape).astype(float), rng.integers(0, 3, shape).astype(float)
    answer, cost = rng.integers(-1, 3, shape), rng.integers(1, 5, shape).astype(float)
    vote = request.param == "vote"
    return Samples(worth, None if vote else rank, answer if vote else None, cost, NOTHING)


def _rows(samples):
    for p in range(samples.worth.shape[0]):
        yield (
            None if samples.rank is None else samples.rank[p],
            samples.worth[p],
            None if samples.answer is None else samples.answer[p],
            samples.cost[p],
        )


def test_numbers_of_samples_agree_with_every_subset(samples):
    value, error = values_of_counts(samples, np.arange(1, 8))
    assert (error[:, :6] == 0).all()
    assert np.isnan(value[:, 6]).all()  # 7 of 6 samples
    for p, (rank, worth, answer, _) in enumerate(_rows(samples)):
        for n in range(1, 7):
            truth = np.mean([_taken(rank, worth, answer, some) for some in itertools.combinations(range(6), n)])
            assert value[p, n - 1] == pytest.approx(truth, abs=1e-12)


def test_budgets_of_cost_agree_with_every_order(samples):
    budgets = np.array([0.5, 2.0, 4.0, 7.0, 40.0])
    value, _ = values_of_costs(samples, budgets)
    assert np.isnan(value[:, 4]).all()  # everything is finished: with more samples more might have been
    for p, (rank, worth, answer, cost) in enumerate(_rows(samples)):
        for at, budget in enumerate(budgets[:4]):
            assert value[p, at] == pytest.approx(_within(rank, worth, answer, cost, budget), abs=1e-12)


def test_random_orders_agree_with_subsets_within_their_error(samples, monkeypatch):
    """Of 24 differences over the Monte Carlo error none is above 5: by chance once in 70,000 runs."""
    budgets = np.array([2.0, 4.0, 7.0])
    exact = values_of_costs(samples, budgets)[0]
    monkeypatch.setattr(_drawing, "SUBSETS_UP_TO", 0)
    drawn, error = values_of_costs(samples, budgets)
    assert (np.abs(drawn - exact) <= 5 * error + 1e-9).all()
    counts, _ = values_of_counts(samples, np.array([1, 6]))
    monkeypatch.setattr(_drawing, "SUBSETS_UP_TO", 10)
    assert counts == pytest.approx(values_of_counts(samples, np.array([1, 6]))[0], abs=1e-12)  # one, and all: no chance


def test_the_order_of_the_samples_plays_no_part(samples, monkeypatch):
    monkeypatch.setattr(_drawing, "SUBSETS_UP_TO", 0)
    order = np.random.default_rng(0).permutation(6)
    columns = {name: column[:, order] for name, column in samples._columns.items()}
    turned = Samples(**columns, nothing=NOTHING)
    budgets = np.array([2.0, 4.0])
    assert np.array_equal(values_of_costs(samples, budgets)[0], values_of_costs(turned, budgets)[0])


@pytest.mark.parametrize("stop", [True, False])
def test_expected_spend_agrees_with_every_order(stop):
    rng = np.random.default_rng(2)
    for _ in range(6):
        right, cost = rng.random(5) < 0.4, rng.exponential(size=5)
        for n in (1, 2, 5):
            spends = []
            for order in itertools.permutations(range(5)):
                spent = 0.0
                for i in order[:n]:
                    spent += cost[i]
                    if stop and right[i]:
                        break
                spends.append(spent)
            ones, sizes = np.array([right.sum()]), np.array([5])
            value = expected_spend(cost[right].sum()[None], cost[~right].sum()[None], ones, sizes, n, stop=stop)
            assert value[0] == pytest.approx(np.mean(spends), abs=1e-12)


def test_a_ratio_without_successes_has_no_upper_limit():
    nothing = ratio_interval(np.ones(5), np.zeros(5))
    assert nothing.value == np.inf
    assert nothing.high == np.inf
    rare = ratio_interval(np.ones(20), np.r_[1.0, np.zeros(19)])
    assert rare.value == pytest.approx(20)
    assert rare.low < 20 < rare.high


def test_spend_per_solved_covers():
    """40 problems, 300 samples: .94 or more is expected; fewer than 272 has a chance below .005 at .94."""
    rng = np.random.default_rng(7)
    rates = np.linspace(0.05, 0.95, 400)
    truth = (2 - rates).mean() * np.exp(0.125) / rates.mean()
    covered = 0
    for _ in range(300):
        rate = rng.choice(rates, 40)
        spent = (2 - rate) * np.exp(rng.normal(0, 0.5, 40))
        solved = rng.binomial(8, rate) / 8
        limits = ratio_interval(spent, solved, n_resamples=400)
        covered += limits.low <= truth <= limits.high
    assert covered >= 272


def test_a_perfect_judge_is_as_good_as_labels_and_a_useless_one_does_no_harm():
    rng = np.random.default_rng(4)
    code, sizes = np.repeat(np.arange(60), 6), np.full(60, 6)
    label = (rng.random(360) < rng.beta(1, 1, 60)[code]).astype(float)
    some = np.where(rng.random(360) < 0.3, label, np.nan)
    perfect = judged_mean(label, some, code, sizes)
    assert perfect.weight == pytest.approx(1, abs=0.2)
    assert perfect.value == pytest.approx(label.mean(), abs=0.02)
    useless = judged_mean(rng.random(360), some, code, sizes)
    assert useless.value == pytest.approx(np.nanmean(some), abs=0.05)


def test_with_every_label_a_judge_changes_nothing():
    rng = np.random.default_rng(5)
    code, sizes = np.repeat(np.arange(20), 5), np.full(20, 5)
    label = (rng.random(100) < 0.6).astype(float)
    judged = judged_mean(np.clip(label + rng.normal(0, 0.3, 100), 0, 1), label, code, sizes)
    means = label.reshape(20, 5).mean(axis=1)
    assert judged.value == pytest.approx(means.mean(), abs=1e-12)
    assert judged.error == pytest.approx(means.std(ddof=1) / np.sqrt(20), abs=1e-9)
    assert judged.labels_for(0.5) is None


def test_the_values_of_problems_are_the_jackknifes():
    rng = np.random.default_rng(6)
    code, sizes = np.repeat(np.arange(12), 5), np.full(12, 5)
    label = (rng.random(60) < 0.5).astype(float)
    judge = np.where(rng.random(60) < 0.8, label, 1 - label)
    some = np.where(rng.random(60) < 0.5, label, np.nan)
    judged = judged_mean(judge, some, code, sizes)
    without = []
    for i in range(12):
        keep = code != i
        names, left = np.unique(code[keep], return_inverse=True)
        without.append(judged_mean(judge[keep], some[keep], left, sizes[names]).value)
    by_hand = 12 * judged.value - 11 * np.array(without)
    labelled = np.unique(code[np.isfinite(some)]).size
    fitted = np.sqrt(labelled / (labelled - 2))  # two numbers: the mean and the judge's weight
    assert judged.weight > 0
    assert judged.by_problem - judged.value == pytest.approx(fitted * (by_hand - by_hand.mean()), abs=1e-9)


def test_labels_that_are_all_alike_leave_open_that_a_problem_has_others():
    """20 problems, one label each, all right, of a judge that says nothing else: a further problem whose labels are
    all wrong would have the value 0, and the limit below is that of 20 successes of 20 (Clopper and Pearson)."""
    code, sizes = np.repeat(np.arange(20), 2), np.full(20, 2)
    label = np.tile([1.0, np.nan], 20)
    judged = judged_mean(np.ones(40), label, code, sizes, bounds=(0, 1))
    assert judged.ends == (0.0, 1.0)
    values = judged.by_problem[:, None]
    best = GroupBest(np.array([1]), values.mean(axis=0), values, np.array([20]), np.arange(20), sizes, None, "max")
    limits = group_interval(best, method="imagined", bounds=judged.ends, n_resamples=20_000)
    assert limits.low[0] == pytest.approx(0.025 ** (1 / 20), abs=0.01)
    assert limits.high[0] == 1


# ---- eight samples and four answers, by exact fractions


def _exactly(rank, worth, answer, drawn):
    """What the samples drawn come to, as a fraction: those that tie share the choice."""
    if not drawn:
        return Fraction(-1, 2)
    if answer is None:
        best = max(rank[i] for i in drawn)
        taken = [worth[i] for i in drawn if rank[i] == best]
        return Fraction(int(sum(taken)), len(taken))
    votes = Counter(answer[i] for i in drawn if answer[i] >= 0)
    leaders = [name for name, count in votes.items() if count == max(votes.values())]
    if not leaders:
        return Fraction(-1, 2)
    of_answer = {name: [int(w) for w, a in zip(worth, answer, strict=True) if a == name] for name in leaders}
    return sum(Fraction(sum(w), len(w)) for w in of_answer.values()) / len(leaders)


def _spent(worth, cost, n, *, stop):
    """The mean over all orders of what up to n samples cost, the next of which is any of those that are left."""

    def further(left, number):
        if number == 0 or not left:
            return Fraction(0)
        more = (int(cost[i]) + (0 if stop and worth[i] == 1 else further(left - {i}, number - 1)) for i in left)
        return Fraction(sum(more)) / len(left)

    return further(frozenset(range(len(worth))), n)


def _finished_within(rank, worth, answer, cost, budget):
    """The mean over all orders of the samples finished within a budget."""

    @functools.cache
    def further(drawn, left):
        others = [i for i in range(len(worth)) if i not in drawn]
        here = _exactly(rank, worth, answer, drawn)
        if not others:
            return here
        after = (further(drawn | {i}, left - cost[i]) if cost[i] <= left else here for i in others)
        return Fraction(sum(after)) / len(others)

    return further(frozenset(), int(budget))


@pytest.mark.parametrize("vote", [False, True])
def test_eight_samples_and_four_answers_agree_with_enumeration(vote):
    rng = np.random.default_rng(17)
    shape = (6, 8)
    worth, rank = rng.integers(0, 2, shape).astype(float), rng.integers(0, 3, shape).astype(float)
    answer, cost = rng.integers(-1, 4, shape), rng.integers(1, 4, shape).astype(float)
    samples = Samples(worth, None if vote else rank, answer if vote else None, cost, NOTHING)
    counts, budgets = np.arange(1, 9), np.array([2.0, 3.0, 6.0])
    by_count, by_cost = values_of_counts(samples, counts)[0], values_of_costs(samples, budgets)[0]
    for p in range(6):
        given = (None, worth[p], answer[p].tolist()) if vote else (rank[p], worth[p], None)
        for n in counts:
            subsets = [_exactly(*given, some) for some in itertools.combinations(range(8), n)]
            assert by_count[p, n - 1] == pytest.approx(float(sum(subsets) / len(subsets)), abs=1e-12)
        for at, budget in enumerate(budgets):
            truth = _finished_within(*given, cost[p].astype(int).tolist(), budget)
            assert by_cost[p, at] == pytest.approx(float(truth), abs=1e-12)


@pytest.mark.parametrize("stop", [True, False])
def test_the_spend_of_eight_samples_agrees_with_enumeration(stop):
    rng = np.random.default_rng(18)
    for wins in (0, 1, 3, 8):
        worth, cost = rng.permutation(np.arange(8) < wins).astype(float), rng.integers(1, 9, 8).astype(float)
        sums = [np.array([cost[worth == which].sum()]) for which in (1, 0)]
        for n in (1, 3, 5):
            value = expected_spend(*sums, np.array([wins]), np.array([8]), n, stop=stop)[0]
            assert value == pytest.approx(float(_spent(worth, cost, n, stop=stop)), abs=1e-12)


def test_all_of_k_and_the_best_of_k_agree_with_enumeration_up_to_eight_samples():
    rng = np.random.default_rng(19)
    for size in range(1, 9):
        right, verifier = rng.integers(0, 2, size), rng.integers(0, 3, size)
        for k in range(1, size + 1):
            subsets = list(itertools.combinations(range(size), k))
            every = Fraction(sum(all(right[i] for i in some) for some in subsets), len(subsets))
            any_ = Fraction(sum(any(right[i] for i in some) for some in subsets), len(subsets))
            picked = sum(_exactly(verifier, right, None, some) for some in subsets) / len(subsets)
            assert float(np.asarray(all_of_k([right.sum()], size, [k])).item()) == pytest.approx(
                float(every), abs=1e-12
            )
            assert float(np.asarray(pass_at_k([right.sum()], size, [k])).item()) == pytest.approx(
                float(any_), abs=1e-12
            )
            best = expected_best_by_group(verifier, np.zeros(size, dtype=int), [k], reported=right.astype(float))
            assert best.value[0] == pytest.approx(float(picked), abs=1e-12)
