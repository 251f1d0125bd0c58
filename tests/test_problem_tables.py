"""Samples by problem: the same whether the table is held or read in parts, and as counted by hand."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from levelbest.designs import Request
from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.selecting import verifier_effects
from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.parts import read_in_parts
from levelbest.readers.tables.engine import connect
from levelbest.stats import all_of_k, pass_at_k
from levelbest.stats.inference import Hypotheses
from levelbest.trials import Settings, Trials
from levelbest.trials.problems import problems_of

COLUMNS = {"family": "model", "group": "problem", "direction": "max"}
VERIFIED = COLUMNS | {"selection": "verifier", "reported": "correct"}
ORACLE = COLUMNS | {"selection": "correct"}
PAIR = Hypotheses(((0, 1),), bounds=(0, 1))


def table(tmp_path, seed=0, lose=0, hide=0, blank=0, text=True):
    """Two systems on mostly the same problems of unequal sizes; some samples failed, unreported or of no problem."""
    rng = np.random.default_rng(seed)
    rows = []
    for model in ("base", "new"):
        for p in range(12):
            if (model, p) in (("base", 3), ("new", 7)):
                continue
            for s in range(int(rng.integers(3, 7))):
                correct = float(rng.random() < 0.2 + 0.05 * p)
                name = f"'p{p}'" if text else str(p)
                rows.append(
                    [f"'{model}'", name, s, round(correct + rng.normal(), 1), correct, f"'{'ab'[p % 2]}'", p % 3]
                )
    for i in rng.permutation(len(rows))[: lose + hide + blank]:
        rows[i][(3 if lose > 0 else 4 if hide > 0 else 1)] = "NULL"
        lose, hide = lose - 1, hide - (lose <= 0)
    listed = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    path = tmp_path / "samples.parquet"
    names = "model, problem, sample, verifier, correct, level, points"
    connect().execute(f"COPY (SELECT * FROM (VALUES {listed}) AS t({names})) TO '{path}' (FORMAT parquet)")
    return str(path)


def both(path, **columns):
    """The table held, and the table read in parts."""
    return read_trials(path, diagnostics=False, **columns), read_in_parts(path, **columns)


@pytest.mark.parametrize("columns", [VERIFIED, ORACLE])
@pytest.mark.parametrize("failed", ["worst", "drop"])
@pytest.mark.parametrize("text", [True, False])
def test_held_and_in_parts_are_one_table(tmp_path, columns, failed, text):
    path = table(tmp_path, lose=9 if columns is VERIFIED else 0, blank=4, text=text)
    settings = Settings(failed=failed)
    held, parted = (problems_of(t, settings) for t in both(path, weight="points", stratum="level", **columns))
    assert [own.family for own in held] == [own.family for own in parted] == ["base", "new"]
    for one, other in zip(held, parted, strict=True):
        for name in ("labels", "sizes", "ones", "weights", "strata"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
        assert (one.metric, one.binary) == (other.metric, other.binary)
        assert (one.n_failed, one.n_samples, dict(one.failed_in)) == (
            other.n_failed,
            other.n_samples,
            dict(other.failed_in),
        )
        budgets = np.arange(1, one.sizes.max() + 1)
        for statistic in ("mean", "all"):
            mine, theirs = one.best(budgets, statistic), other.best(budgets, statistic)
            assert mine.by_group == pytest.approx(theirs.by_group, abs=1e-12, nan_ok=True)
        assert one.oracle(budgets).by_group == pytest.approx(other.oracle(budgets).by_group, abs=1e-12, nan_ok=True)


def test_rows_of_no_problem_are_left_out_and_said_in_both(tmp_path):
    path = table(tmp_path, blank=5)
    for own in (read_trials(path, **ORACLE), read_in_parts(path, **ORACLE)):
        samples = sum(one.n_samples for one in problems_of(own, Settings()))
        assert samples == connect().execute(f"SELECT count(problem) FROM '{path}'").fetchone()[0]
        design = ProblemsDesign(own, Request())
        said = [c for c in design.cautions if c.code == "skipped-rows"]
        assert sum(c.value for c in said) == 5
        assert all("no problem in 'problem'" in c.sentence for c in said)


@pytest.mark.parametrize("missing", ["drop", "worst", "selection"])
def test_samples_without_a_reported_score_count_alike(tmp_path, missing):
    path = table(tmp_path, hide=8)
    settings = Settings(missing=missing)
    held, parted = (problems_of(t, settings) for t in both(path, **VERIFIED))
    for one, other in zip(held, parted, strict=True):
        budgets = np.arange(1, one.sizes.max() + 1)
        assert one.n_failed == other.n_failed
        assert one.best(budgets).by_group == pytest.approx(other.best(budgets).by_group, abs=1e-12, nan_ok=True)
    for own in both(path, **VERIFIED):
        with pytest.raises(DataError, match="say how to treat the others"):
            problems_of(own, Settings())


@pytest.mark.parametrize("paired", [None, False])
def test_curves_and_contrasts_are_the_same_bits_but_for_rounding(tmp_path, paired):
    path = table(tmp_path, lose=5)
    asked = Request(paired=paired, settings=Settings(n_resamples=300))
    held, parted = (ProblemsDesign(t, asked) for t in both(path, weight="points", stratum="level", **VERIFIED))
    for one, other in zip(held.curves(asked), parted.curves(asked), strict=True):
        for column in ("n", "value", "low", "high"):
            assert getattr(one, column) == pytest.approx(getattr(other, column), abs=1e-9, nan_ok=True)
        assert [(s.label, s.best.value.tolist()) for s in one.strata] == [
            (s.label, pytest.approx(s.best.value.tolist())) for s in other.strata
        ]
    one, other = (design.contrasts(PAIR).pairs[0] for design in (held, parted))
    assert one.certified.tolist() == other.certified.tolist()
    assert one.low == pytest.approx(other.low, abs=1e-9)
    assert held.counts == parted.counts
    assert held.n_groups == parted.n_groups == (10 if paired is None else 12)
    assert [label for label, _ in held.strata()] == [label for label, _ in parted.strata()] == ["a", "b"]
    for (_, mine), (_, theirs) in zip(held.strata(), parted.strata(), strict=True):
        assert mine.counts == theirs.counts
        assert mine.contrasts(PAIR).pairs[0].difference == pytest.approx(theirs.contrasts(PAIR).pairs[0].difference)
    codes = [
        sorted({(c.code, c.kind, c.family) for c in d.cautions if c.code != "guessed-columns"}) for d in (held, parted)
    ]
    assert codes[0] == codes[1]


def test_what_a_verifier_brings_is_that_by_hand(tmp_path):
    path = table(tmp_path, lose=4)
    held, parted = (verifier_effects(t) for t in both(path, **VERIFIED))
    for one, other in zip(held, parted, strict=True):
        for column in ("oracle", "verifier", "random"):
            assert getattr(one, column) == pytest.approx(getattr(other, column), abs=1e-12)
    trials = read_trials(path, diagnostics=False, **VERIFIED)["base"]
    solved = [(r, trials.group == g) for g in np.unique(trials.group) for r in [trials.reported]]
    counts = [(int(np.nansum(r[m] * np.isfinite(trials.selection[m]))), int(m.sum())) for r, m in solved]
    expected = np.nanmean([pass_at_k([c], [m], held[0].n)[0] for c, m in counts], axis=0)
    assert held[0].oracle == pytest.approx(expected, abs=1e-12)


def test_failures_count_as_the_worst_bound_whatever_it_is(tmp_path):
    path = table(tmp_path, hide=9)
    for bounds in ((0, 1), (-2, 1), None):
        held, parted = (problems_of(t, Settings()) for t in both(path, bounds=bounds, **ORACLE))
        for one, other in zip(held, parted, strict=True):
            assert one.binary == other.binary == (bounds != (-2, 1))
            budgets = np.arange(1, one.sizes.max() + 1)
            assert one.best(budgets).by_group == pytest.approx(other.best(budgets).by_group, abs=1e-12, nan_ok=True)


def test_neither_the_order_of_rows_nor_that_of_families_changes_a_verdict():
    rng = np.random.default_rng(1)
    rate = rng.beta(2, 2, 25)
    scores = (rng.random((2, 25, 6)) < np.stack([rate, np.clip(rate + 0.2, 0, 1)])[..., None]).astype(float).ravel()
    family = np.repeat(["base", "new"], 150)
    group = np.tile(np.repeat([str(i) for i in range(25)], 6), 2)
    found = []
    for seed in range(4):
        rows = np.arange(300) if seed == 0 else np.random.default_rng(seed).permutation(300)
        trials = Trials.from_arrays(scores[rows], family=family[rows], group=group[rows], direction="max")
        design = ProblemsDesign(trials, Request(settings=Settings(n_resamples=300)))
        contrast = design.contrasts(PAIR).pairs[0]
        sign = 1 if design.families == ("base", "new") else -1
        found.append((sign * contrast.certified).tolist())
        assert sign * contrast.difference[0] == pytest.approx(scores[:150].mean() - scores[150:].mean())
    assert found[1:] == found[:1] * 3


def test_threads_that_ask_for_different_budgets_get_their_own(tmp_path):
    parted = read_in_parts(table(tmp_path), **VERIFIED)
    own = problems_of(parted, Settings())[0]
    whole = own.values(np.arange(1, 7))
    asked = [np.arange(1, 1 + k) for k in (1, 2, 3, 4, 5, 6)] * 10
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(own.values, asked))
    for budgets, values in zip(asked, found, strict=True):
        assert values == pytest.approx(whole[:, : budgets.size], nan_ok=True)


def test_all_of_n_and_what_is_refused(tmp_path):
    path = table(tmp_path)
    held, parted = both(path, **ORACLE)
    for own in (held, parted):
        one = problems_of(own, Settings())[0]
        budgets = np.arange(1, 4)
        assert one.best(budgets, "all").by_group == pytest.approx(all_of_k(one.ones, one.sizes, budgets), nan_ok=True)
        for asked, message in (
            (Request(statistic="median"), r"'all' \(of the chance that all of n succeed"),
            (Request(estimator="v"), "the unbiased one, got 'v'"),
            (Request(interval="bca"), "interval over problems 'bca'"),
            (Request(axis="cost"), "the axis is 'trials'"),
            (Request(while_running=True), "while samples arrive"),
        ):
            with pytest.raises(InputError, match=message):
                ProblemsDesign(own, asked)
        with pytest.raises(InputError, match="base: n must be at most the samples of a problem, 6, got 50"):
            ProblemsDesign(own, Request()).curves(Request(n=(50,)))
        with pytest.raises(InputError, match="are not in every family"):
            ProblemsDesign(own, Request(paired=True)).kept  # noqa: B018
    real = replace(held, selection=held.selection + 0.5)
    with pytest.raises(InputError, match="is for scores 0 and 1 with direction max"):
        ProblemsDesign(real, Request(statistic="all")).curves(Request(statistic="all"))


def test_the_budget_named_in_advance_is_compared(tmp_path):
    held, parted = both(table(tmp_path), **ORACLE)
    for own in (held, parted):
        design = ProblemsDesign(own, Request(headline=4, n=(1, 2)))
        assert design.budgets.tolist() == [1, 2, 4]
        assert design.contrasts(replace(PAIR, headline=4)).pairs[0].effect.n == 4
        assert ProblemsDesign(own, Request()).headline == 1


def test_the_number_of_a_sample_goes_by_the_same_names_held_or_not(tmp_path):
    rows = "('a', 1, 0.0), ('a', 2, 1.0), ('a', 2, 1.0), ('b', 1, 1.0), ('b', 2, 0.0)"
    path = tmp_path / "twice.parquet"
    connect().execute(
        f"COPY (SELECT * FROM (VALUES {rows}) AS t(problem, attempt, correct)) TO '{path}' (FORMAT parquet)"
    )
    for own in both(str(path), group="problem", selection="correct", direction="max"):
        with pytest.raises(DataError, match="1 sample id occurs more than once within a problem"):
            problems_of(own, Settings())
