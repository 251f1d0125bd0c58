"""Several benchmarks: each by itself, and the mean over them with one verdict."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import DataError
from levelbest.report.tables.sections import benchmarks_table
from levelbest.stats.inference import MacroUnits

SIZES = {"math": 12, "code": 6, "qa": 30}


def samples(lift: float = 0.25, seed: int = 1) -> dict[str, list[object]]:
    """Two models on three benchmarks of unequal size; the columns that an evaluation writes."""
    rng = np.random.default_rng(seed)
    rows = []
    for task, size in SIZES.items():
        rates = rng.beta(2, 2, size) * (1 - lift)
        for model, problem, sample in product(("base", "new"), range(size), range(4)):
            rate = rates[problem] + (lift if model == "new" else 0.0)
            tokens = int(rng.integers(100, 900)), int(rng.integers(50, 500))
            rows.append((model, task, f"{task}-{problem}", sample, int(rng.random() < rate), *tokens))
    names = ("model", "task", "problem", "sample", "correct", "tokens_in", "tokens_out")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def by_hand(table: dict[str, list[object]], model: str) -> float:
    """The mean over tasks of the mean over problems of the mean over samples."""
    means = []
    for task, size in SIZES.items():
        inside = [
            np.mean(
                [
                    c
                    for m, p, c in zip(table["model"], table["problem"], table["correct"], strict=True)
                    if m == model and p == f"{task}-{problem}"
                ]
            )
            for problem in range(size)
        ]
        means.append(np.mean(inside))
    return float(np.mean(means))


@pytest.mark.parametrize("about", ["problems", "suite"])
def test_the_first_try_gives_each_benchmark_and_their_mean(about):
    table = samples()
    compared = lb.compare(table, about=about)
    assert compared.terms.n_tasks == 3
    assert {row.family: row.value for row in compared.standings} == pytest.approx(
        {model: by_hand(table, model) for model in ("base", "new")}
    )
    assert [label for label, _ in compared.strata] == ["code", "math", "qa"]
    assert compared["new", "base"].effect.difference == pytest.approx(by_hand(table, "new") - by_hand(table, "base"))
    assert compared["new", "base"].verdict_at(1) == "new"
    document = compared.to_dict()
    assert (document["n_tasks"], document["about"]) == (3, about)
    assert len(document["strata"][0]["families"]) == 2


def test_a_table_of_models_and_benchmarks_has_marks():
    table = benchmarks_table(lb.compare(samples()))
    names = [column.name for column in table.columns]
    assert names == ["family", "all tasks", "code", "math", "qa"]
    assert table.columns[0].cells == ("new", "base")
    assert "*" in "".join(table.columns[1].marks)


def test_weights_of_problems_are_those_of_benchmarks_too():
    table = samples()
    table["weight"] = [1.0] * len(table["model"])
    alike = lb.compare(table, weight="weight")
    pooled = lb.compare({name: column for name, column in table.items() if name not in ("task", "weight")})
    assert [row.value for row in alike.standings] == pytest.approx([row.value for row in pooled.standings])


def test_a_benchmark_that_a_model_lacks_is_said():
    table = samples()
    keep = [not (m == "base" and t == "code") for m, t in zip(table["model"], table["task"], strict=True)]
    with pytest.raises(DataError, match="code"):
        lb.compare({k: [x for x, kept in zip(v, keep, strict=True) if kept] for k, v in table.items()})


def test_the_error_of_the_mean_is_that_within_tasks():
    """Against the sum over tasks of squared shares times s^2 / m; the exchange against all signs."""
    rng = np.random.default_rng(2)
    differences = rng.normal(0.1, 0.2, (9, 1))
    tasks, shares = np.repeat([0, 1], [6, 3]), np.array([0.5, 0.5])
    units = MacroUnits([differences], [(0, 1)], np.array([1]), None, None, tasks, shares)
    evidence = units.evidence((0, 1), np.array([1]))
    parts = [differences[tasks == t, 0] for t in (0, 1)]
    assert evidence.difference[0] == pytest.approx(np.mean([part.mean() for part in parts]))
    assert evidence.error[0] ** 2 == pytest.approx(sum(part.var(ddof=1) / part.size for part in parts) / 4)
    weighted = np.concatenate([part / part.size for part in parts]) / 2
    every = [abs(np.dot(signs, weighted)) for signs in product((-1, 1), repeat=9)]
    null = units.exchanged((0, 1), None, np.random.default_rng(0))[0, 0]
    observed = units.observed((0, 1), np.array([1]))[0]
    assert np.mean(null >= observed - 1e-9) == pytest.approx(np.mean(np.array(every) >= abs(weighted.sum()) - 1e-12))
