"""Problems nested in clusters: the cluster is the unit, in every verb, and the product asks where names show it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous, DataError, InputError
from levelbest.readers.parts import read_in_parts
from levelbest.readers.tables.tidy import write_table
from levelbest.stats.inference import SignUnits
from levelbest.stats.problems import expected_best_by_group, group_interval

ROLES = {"family": "model", "group": "instance", "selection": "resolved", "direction": "max"}


def nested(seed: int = 3, repositories: int = 8, issues: int = 6, lift: float = 0.35) -> dict[str, list[object]]:
    """Two systems on issues of repositories; in three repositories the second solves more."""
    rng = np.random.default_rng(seed)
    rows = []
    for model, repository, issue in product("ab", range(repositories), range(issues)):
        chance = 0.4 + (lift if model == "b" and repository < 3 else 0.0)
        name = f"repo{repository}__issue-{issue}"
        rows += [(model, name, f"repo{repository}", run, int(rng.random() < chance)) for run in range(4)]
    return dict(zip(("model", "instance", "repo", "run", "resolved"), map(list, zip(*rows, strict=True)), strict=True))


def test_the_cluster_is_what_is_exchanged():
    """Against the signs of cluster sums by hand: 6 clusters of two problems, one budget."""
    differences = np.array([[0.5], [0.25], [0.0], [0.5], [0.25], [0.25], [0.5], [0.0], [0.75], [0.25], [-0.25], [0.0]])
    clusters = np.repeat(np.arange(6), 2)
    units = SignUnits([differences], [(0, 1)], np.array([1]), None, clusters)
    sums = np.add.reduceat(differences[:, 0], np.arange(0, 12, 2))
    every = [abs(np.dot(signs, sums)) for signs in product((-1, 1), repeat=6)]
    exact = np.mean(np.array(every) >= abs(sums.sum()) - 1e-12)
    null = units.exchanged((0, 1), None, np.random.default_rng(0))[0, 0]
    assert np.mean(null >= units.observed((0, 1), np.array([1]))[0] - 1e-9) == pytest.approx(exact)


def test_an_interval_over_clusters_is_one_over_their_means():
    """Clusters of equal size: the same as an interval over problems that each have the cluster's mean."""
    best = expected_best_by_group(np.tile([0, 0, 1, 0, 1, 1, 1, 1], 5), np.repeat(np.arange(20), 2), [1])
    clusters = np.repeat(np.arange(10), 2)
    together = group_interval(replace(best, clusters=clusters), bounds=(0, 1))
    means = best.by_group.reshape(10, 2).mean(axis=1)
    alone = group_interval(expected_best_by_group(means, np.arange(10), [1]), bounds=(0, 1))
    assert (together.low[0], together.high[0]) == pytest.approx((alone.low[0], alone.high[0]))


def test_names_that_show_what_problems_are_nested_in_are_asked_about():
    table = nested()
    with pytest.raises(Ambiguous, match="cluster") as asked:
        lb.compare(table, **ROLES)
    assert "prefix" in str(asked.value)
    assert "none" in str(asked.value)
    alone, together = (lb.compare(table, cluster=cluster, **ROLES) for cluster in ("none", "prefix"))
    assert alone["a", "b"].decided
    assert not together["a", "b"].decided
    by_column = lb.compare(table, cluster="repo", **ROLES)
    assert by_column.to_dict()["comparisons"] == together.to_dict()["comparisons"]
    assert by_column.to_dict()["n_clusters"] == 8
    assert "48 problems in 8 clusters" in by_column.summary[-1]


def test_nothing_is_asked_where_the_verdict_is_the_same():
    assert not lb.compare(nested(lift=0.0), **ROLES)["a", "b"].decided


def test_a_problem_is_in_one_cluster():
    table = nested()
    table["repo"] = [*table["repo"][:-1], "elsewhere"]
    with pytest.raises(DataError, match="one cluster"):
        lb.compare(table, cluster="repo", **ROLES)
    with pytest.raises(InputError, match="one cluster"):
        lb.Trials.from_arrays([0, 1, 1, 0], group=["p", "p", "q", "q"], cluster=["x", "y", "x", "x"], direction="max")
    with pytest.raises(InputError, match="prefix"):
        lb.compare({**table, "instance": table["run"], "repo": table["repo"]}, cluster="prefix", **ROLES)


def test_tables_in_parts_and_the_command_line_know_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(nested())
    table.to_parquet(tmp_path / "samples.parquet")
    held = lb.compare(nested(), cluster="repo", **ROLES)
    for cluster in ("repo", "prefix"):
        parted = read_in_parts(tmp_path / "samples.parquet", cluster=cluster, **ROLES)
        assert lb.compare(parted)["a", "b"].verdicts == held["a", "b"].verdicts
    with pytest.raises(Ambiguous, match="prefix"):
        lb.compare(read_in_parts(tmp_path / "samples.parquet", **ROLES))
    table.to_csv(tmp_path / "samples.csv", index=False)
    given = [part for key, value in ROLES.items() for part in (f"--{key}", value)]
    assert main(["compare", str(tmp_path / "samples.csv"), *given, "--cluster", "repo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_clusters"] == 8
    assert main(["compare", str(tmp_path / "samples.csv"), *given]) == 1
    assert "--cluster prefix" in capsys.readouterr().err


def test_clusters_survive_joining_and_tidy_tables(tmp_path: Path):
    trials = lb.read_trials(nested(), cluster="repo", **ROLES)
    joined = lb.compare([trials["a"], trials["b"]])
    assert joined["a", "b"].verdicts == lb.compare(trials)["a", "b"].verdicts
    write_table(trials, tmp_path / "tidy.csv")
    assert lb.read_trials(tmp_path / "tidy.csv").clusters == trials.clusters
