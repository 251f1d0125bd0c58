"""More configurations or more seeds: against simulation, closed forms and published power."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError
from levelbest.stats.best import normal_best
from levelbest.stats.budgets import divide_runs, power_of_division


def runs(k, r, families, sd, *, lift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    rows = {"model": [], "lr": [], "seed": [], "acc": []}
    for place, family in enumerate(families):
        for lr in rng.random(k):
            worth = 10 + sd[0] * rng.normal() + lift * place
            rows["model"] += [family] * r
            rows["lr"] += [lr] * r
            rows["seed"] += list(range(r))
            rows["acc"] += (worth + sd[1] * rng.normal(size=r)).tolist()
    return rows


READING = {"family": "model", "selection": "acc", "direction": "max"}


def test_the_error_of_the_mean_is_that_of_simulated_runs():
    rng = np.random.default_rng(1)
    (way,) = divide_runs(1.0, 4.0, 40, (4,))
    drawn = rng.normal(size=(20_000, 10)) + rng.normal(0, 2, size=(20_000, 10, 4)).mean(axis=2)
    assert way.error == pytest.approx(drawn.mean(axis=1).std(), rel=0.02)  # its own error is .5 %


def test_a_new_run_of_the_best_is_that_of_simulated_runs():
    rng = np.random.default_rng(2)
    (way,) = divide_runs(1.0, 4.0, 40, (4,))
    worth = rng.normal(size=(20_000, 10))
    means = worth + rng.normal(0, 2, size=(20_000, 10, 4)).mean(axis=2)
    best = worth[np.arange(20_000), means.argmax(axis=1)]
    assert way.new_run == pytest.approx(best.mean(), abs=0.025)  # four standard errors
    assert way.new_run == pytest.approx(float(normal_best(10)) / np.sqrt(2))


def test_more_configurations_tell_the_mean_and_more_seeds_may_find_the_best():
    ways = divide_runs(1.0, 9.0, 60)
    assert [way.seeds for way in ways] == [1, 2, 3, 4, 5, 8, 10, 20]
    errors = [way.error for way in ways if way.runs == 60]
    assert errors == sorted(errors)  # (1 + 9 / r) r / 60 rises with r
    assert max(ways, key=lambda way: way.new_run).seeds > 1
    quiet = divide_runs(1.0, 0.01, 60)
    assert max(quiet, key=lambda way: way.new_run).seeds == 1


def test_power_is_the_published_one():
    """Cohen 1988, table 2.4.1: 17 of each for 80 % at d = 1; 64 at d = .5. Two pairs share the error."""
    for difference, size in ((1.0, 17), (0.5, 64)):
        (way,) = divide_runs(1.0, 0.0, size, (1,))
        assert power_of_division(difference, (1.0, 0.0), way) == pytest.approx(0.80, abs=0.01)
    (way,) = divide_runs(1.0, 4.0, 80, (4,))
    one, two = (power_of_division(1.0, (1.0, 4.0), way, n_pairs=pairs) for pairs in (1, 2))
    assert two < one < 1


def test_wrong_variances_are_refused():
    with pytest.raises(InputError, match="variance of seed must be a number of at least 0, got -1"):
        divide_runs(1.0, -1.0, 20)


def test_plan_counts_configurations_and_says_how_to_divide():
    plan = lb.plan_trials(runs(12, 4, ("a", "b"), (1.0, 1.0), lift=1.0), **READING, n_resamples=200)
    assert plan.unit == "configuration"
    assert plan.widths[0][1].pilot == (12,)
    sentences = " ".join(plan.sentences)
    assert "12 configurations" in sentences
    assert "trials" not in sentences.replace("independent trials", "")
    first = plan.divisions[0]
    assert (first.now.configurations, first.now.seeds, first.ways[0].runs) == (12, 4, 48)
    (variance, _) = lb.variance(runs(12, 4, ("a", "b"), (1.0, 1.0), lift=1.0), **READING)
    spread = variance["configuration"].variance + variance["seed"].variance / 4
    assert first.now.error == pytest.approx(np.sqrt(spread / 12))
    assert "with 48 runs, 48 x 1 seed give the most precise mean best" in sentences
    (_, _, powers) = plan.division_powers[0]
    assert powers[0][0] == first.now
    assert max(powers, key=lambda way: way[1])[0].seeds == 1


def test_noisy_seeds_are_worth_repeating():
    plan = lb.plan_trials(runs(40, 4, ("a",), (1.0, 4.0), seed=3), **READING, runs=80, n_resamples=200)
    (divided,) = plan.divisions
    assert divided.finding.seeds > 1
    assert "find the best configuration" in plan.sentences[-2]
    assert divided.new_run(divided.finding) > divided.new_run(divided.precise)


def test_the_command_line_divides_runs(tmp_path, capsys):
    rows = runs(10, 3, ("a", "b"), (1.0, 1.0))
    path = tmp_path / "runs.csv"
    table = zip(*rows.values(), strict=True)
    path.write_text("\n".join([",".join(rows), *(",".join(map(str, row)) for row in table)]) + "\n")
    assert main(["plan", str(path), "--runs", "120", "--direction", "max", "--resamples", "100", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["divisions"][0]["now"]["configurations"] == 10
    assert document["divisions"][0]["ways"][0]["configurations"] == 120
    assert document["division_powers"][0]["families"] == ["a", "b"]
