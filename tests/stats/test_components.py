"""Variance by source, against textbook numbers, enumerated expectations and projections written out."""

from itertools import product

import numpy as np
import pytest

from levelbest.errors import InputError
from levelbest.stats import variance_components

# Davies 1947, Statistical Methods in Research and Production, table 6.3: yield of dyestuff, 6 batches of 5.
DYESTUFF = [
    [1545, 1440, 1440, 1520, 1580], [1540, 1555, 1490, 1560, 1495], [1595, 1550, 1605, 1510, 1560],
    [1445, 1440, 1595, 1465, 1545], [1595, 1630, 1515, 1635, 1625], [1520, 1455, 1450, 1480, 1445],
]  # fmt: skip


def test_dyestuff_has_the_published_components():
    found = variance_components(np.ravel(DYESTUFF), np.repeat(np.arange(6), 5))
    # Bates, Maechler, Bolker, Walker 2015: batch 1764 (sd 42.00), residual 2451 (sd 49.51), mean 1527.5
    assert found["configuration"].variance == pytest.approx(1764.05)
    assert found["seed"].variance == pytest.approx(2451.25)
    assert found["configuration"].sd == pytest.approx(42.00, abs=0.005)
    assert found["seed"].sd == pytest.approx(49.51, abs=0.005)
    assert found.mean == 1527.5
    assert found.share("configuration") == pytest.approx(1764.05 / (1764.05 + 2451.25))
    for source in found.sources:
        assert source.low < source.variance < source.high


def _projected(y, configuration, split):
    """Henderson's third method with dummy columns and least squares, for every source fitted last."""
    dummies = {"configuration": np.equal.outer(configuration, np.unique(configuration)).astype(float)}
    if split is not None:
        dummies["split"] = np.equal.outer(split, np.unique(split)).astype(float)
    ones = np.ones((y.size, 1))

    def residual(names):
        fitted = np.hstack([ones, *(dummies[name] for name in names)])
        return np.eye(y.size) - fitted @ np.linalg.pinv(fitted)

    whole = residual(dummies)
    seeds = y @ whole @ y / round(np.trace(whole))
    variances = {"seed": seeds}
    for name in dummies:
        without = residual([other for other in dummies if other != name])
        gained = without - whole
        df = round(np.trace(gained))
        weight = np.trace(dummies[name].T @ without @ dummies[name])
        variances[name] = (y @ gained @ y - df * seeds) / weight
    return variances


@pytest.mark.parametrize("seed", range(5))
def test_any_counts_agree_with_projections(seed):
    rng = np.random.default_rng(seed)
    configuration = np.r_[np.arange(6), rng.integers(0, 6, 30)]
    split = np.r_[np.arange(6) % 3, rng.integers(0, 3, 30)]
    y = 5 + rng.normal(size=6)[configuration] + rng.normal(size=3)[split] + rng.normal(size=36)
    for labels in (None, split):
        found = variance_components(y, configuration, labels)
        expected = _projected(y, configuration, labels)
        assert {source.name: source.variance for source in found.sources} == pytest.approx(expected)


def _every_outcome(configuration, split):
    """Every outcome of effects that are -1 or 1, each source with variance 1."""
    counts = [len(set(configuration)), len(set(split)), len(configuration)]
    for effects in product((-1, 1), repeat=sum(counts)):
        rows, columns, runs = np.split(np.array(effects), np.cumsum(counts)[:-1])
        yield rows[configuration] + columns[split] + runs


def test_estimates_are_unbiased_over_every_outcome_with_unequal_counts():
    configuration, split = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 0, 1])
    found = [variance_components(y, configuration, split) for y in _every_outcome(configuration, split)]
    for name in ("configuration", "split", "seed"):
        assert np.mean([one[name].variance for one in found]) == pytest.approx(1.0)
    alone = np.zeros(5, dtype=int)
    one_way = [variance_components(y, configuration) for y in _every_outcome(configuration, alone)]
    assert np.mean([one["configuration"].variance for one in one_way]) == pytest.approx(1.0)
    assert min(one["configuration"].variance for one in one_way) < 0  # an estimate kept above 0 could not be unbiased


LAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: np.sqrt(12) * (rng.random(size) - 0.5),
    "gumbel": lambda rng, size: (rng.gumbel(size=size) - np.euler_gamma) / np.sqrt(np.pi**2 / 6),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
}


def _held(law, design, ratio, tables, seed):
    """How often the limits of each source and of the configurations' share hold the truth."""
    rng = np.random.default_rng(seed)
    count, repeats = design
    configuration = np.repeat(np.arange(count), repeats)
    truth = {"configuration": ratio, "seed": 1.0, "share": ratio / (1 + ratio)}
    within = dict.fromkeys(truth, 0)
    for _ in range(tables):
        y = np.sqrt(ratio) * LAWS[law](rng, count)[configuration] + LAWS[law](rng, configuration.size)
        found = variance_components(y, configuration)
        limits = {source.name: (source.low, source.high) for source in found.sources}
        limits["share"] = found.share_limits("configuration")
        for name, (low, high) in limits.items():
            within[name] += low <= truth[name] <= high
    return within


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("law", LAWS)
def test_limits_hold_for_eight_configurations_of_four_seeds(law, ratio):
    within = _held(law, (8, 4), ratio, tables=400, seed=11)
    # With a coverage of .93 fewer than 355 of 400 happen once in 1,000.
    assert min(within.values()) >= 355, within


def test_limits_hold_where_configurations_with_a_long_tail_decide():
    within = _held("exponential", (20, 4), 10.0, tables=1500, seed=12)
    # With a coverage of .93 fewer than 1,364 of 1,500 happen once in 1,000.
    assert min(within.values()) >= 1364, within


def test_one_configuration_unlike_all_others_does_not_make_the_limits_endless():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(8, 4))
    y[0] += 30
    found = variance_components(y.ravel(), np.repeat(np.arange(8), 4))["configuration"]
    # chi-squared with 7 degrees of freedom has its lower quantile at 7 / 4.14; with one degree it would be 1 / 1018.
    assert found.variance * 4.14 < found.high < found.variance * 4.14**2.5


def test_shares_have_limits_that_complement_each_other():
    found = variance_components(np.ravel(DYESTUFF), np.repeat(np.arange(6), 5))
    low, high = found.share_limits("configuration")
    assert found.share_limits("seed") == (1 - high, 1 - low)
    # For normal effects the limits by F = 4.598 with 5 and 24 degrees of freedom are .084 and .848; these leave room
    # for heavier tails.
    assert 0 <= low < 0.084
    assert 0.848 < high < 1
    split = variance_components(np.arange(12.0) % 5, np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4))
    assert np.isnan(split.share_limits("configuration")).all()


def test_limits_move_with_the_scores():
    rng = np.random.default_rng(2)
    y, configuration = rng.normal(size=24), np.repeat(np.arange(6), 4)
    plain, scaled = variance_components(y, configuration), variance_components(0.8 + 0.01 * y, configuration)
    for name in ("configuration", "seed"):
        for number in ("variance", "low", "high"):
            assert getattr(scaled[name], number) == pytest.approx(1e-4 * getattr(plain[name], number))
    order = rng.permutation(24)
    shuffled = variance_components(y[order], configuration[order])
    assert shuffled["configuration"].high == pytest.approx(plain["configuration"].high)


def test_a_split_of_its_own_is_no_source():
    configuration = np.repeat(np.arange(4), 3)
    found = variance_components(np.arange(12.0) % 5, configuration, split=configuration * 3 + np.tile(range(3), 4))
    assert [source.name for source in found.sources] == ["configuration", "seed"]
    nested = variance_components(np.arange(12.0) % 5, configuration, split=configuration // 2)
    assert [source.name for source in nested.sources] == ["configuration", "seed"]


def test_what_cannot_be_told_is_refused():
    with pytest.raises(InputError, match="several runs of a configuration"):
        variance_components([1.0, 2, 3], list("abc"))
    with pytest.raises(InputError, match="at least 2 configurations"):
        variance_components([1.0, 2, 3], list("aaa"))
    with pytest.raises(InputError, match="one value per run, got 2 for 3"):
        variance_components([1.0, 2, 3], list("ab"))
