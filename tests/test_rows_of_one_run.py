"""Rows with one id, seed or cluster that score alike are no independent runs: it is asked, and they are averaged.

Where runs are the unit, equal families have a winner in at most .06 of samples; binomial bounds on counts fail in less
than 1 of 1,000 seeds.
"""

import re
import shlex

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous

FAST = {"n_resamples": 199, "direction": "max"}


def evaluations(rng, runs=4, rows=3, between=5.0, *, models="abc", column="seed", better=0.0, ids=None):
    """Several evaluations of each run; the last model is better."""
    table = {"model": [], column: [], "acc": []}
    for place, model in enumerate(models):
        for run in range(runs):
            level = rng.normal(better * (place == len(models) - 1), between)
            table["model"] += [model] * rows
            table[column] += [ids(place * runs + run) if ids else run] * rows
            table["acc"] += rng.normal(level, 1, rows).tolist()
    return table


@pytest.mark.parametrize(
    ("column", "ids"),
    [
        ("seed", None),
        ("train_seed", None),
        ("policy_id", lambda place: f"p{place * 7919:05x}"),
        ("slurm_job_id", lambda place: 48000 + 17 * place),
        ("ckpt", lambda place: f"/ckpt/{place:x}/last.pt"),
        ("run_dir", lambda place: f"runs/2024-01-{place + 1:02d}"),
    ],
)
def test_rows_of_one_run_are_asked_about(column, ids, tmp_path, monkeypatch, capsys):
    table = evaluations(np.random.default_rng(3), column=column, ids=ids)
    with pytest.raises(Ambiguous, match=rf"rows with the same '{column}' have scores more alike than chance"):
        lb.compare(table, **FAST)
    compared = lb.compare(table, configuration=column, **FAST)
    assert (compared.terms.design, compared.pairs[0].n_trials) == ("evaluations", (4, 4))
    assert lb.compare(table, configuration="none", **FAST).pairs[0].n_trials == (12, 12)
    monkeypatch.chdir(tmp_path)
    rows = zip(*table.values(), strict=True)
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in [tuple(table), *rows]))
    assert main(["compare", "t.csv"]) == 1
    first, *_ = re.findall(r"\((--[^()]+)\)", " ".join(capsys.readouterr().err.split()))
    assert main(["compare", "t.csv", *shlex.split(first)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("For a new run:")
    assert "12 rows are 4 runs: each is judged by the mean over its rows" in printed


def test_a_further_score_of_each_row_makes_no_configurations_of_it():
    rng = np.random.default_rng(3)
    table = evaluations(rng) | {"ep_len": rng.integers(100, 900, 36)}
    with pytest.raises(Ambiguous, match="rows with the same 'seed' have scores more alike"):
        lb.compare(table, **FAST)


def test_equal_families_have_no_winner_where_runs_are_the_unit():
    rng, named = np.random.default_rng(5), 0
    for _ in range(200):
        compared = lb.compare(evaluations(rng, 4, 5, 2.0), configuration="seed", **FAST)
        named += any(verdict.verdict in "abc" for pair in compared.pairs for verdict in pair.verdicts)
    assert named <= 24  # of 200 at .06: more in less than 1 of 1,000 seeds


def test_a_better_family_wins_by_its_runs():
    table = evaluations(np.random.default_rng(8), 6, 3, 2.0, models="ab", better=20.0)
    compared = lb.compare(table, configuration="seed", **FAST)
    assert (compared.pairs[0].verdict_at(1), compared.pairs[0].n_trials) == ("b", (6, 6))


def test_rows_that_are_not_alike_are_not_asked_about():
    """Independent rows: asked in at most 1 of 100 samples by the level of the test."""
    rng, asked = np.random.default_rng(6), 0
    for _ in range(300):
        try:
            lb.read_trials(evaluations(rng, between=0.0), direction="max")
        except Ambiguous:
            asked += 1
    assert asked <= 10  # of 300 at .01: more in less than 1 of 1,000 seeds


def tasks(rng, shared, better=0.0):
    """Four tasks of different levels; the runs of one seed are one model where ``shared``."""
    table = {"model": [], "horizon set": [], "seed": [], "acc": []}
    for place, model in enumerate("ab"):
        for seed in range(5):
            worth = rng.normal(0, 3)
            for number, task in enumerate("wxyz"):
                level = worth if shared else rng.normal(0, 3)
                table["model"].append(model)
                table["horizon set"].append(task)
                table["seed"].append(seed)
                table["acc"].append(10 * number + level + better * place + rng.normal())
    return table


def test_one_run_on_all_tasks_is_asked_about_where_the_verdict_depends_on_it():
    asked, named, wrong = 0, 0, 0
    for seed in range(60):
        table = tasks(np.random.default_rng(seed), shared=True)
        try:
            compared = lb.compare(table, task="horizon set", **FAST)
            named += any(verdict.verdict in "ab" for verdict in compared.overall.pairs[0].verdicts)
        except Ambiguous as error:
            asked += "score alike on all tasks of 'horizon set'" in str(error)
        once = lb.compare(table, configuration="seed", task="none", **FAST)
        assert (once.terms.design, once.pairs[0].n_trials) == ("evaluations", (5, 5))
        wrong += once.pairs[0].verdict_at(1) in "ab"
    assert asked > 5  # it would have named a winner among equals
    assert max(named, wrong) <= 10  # of 60 at .06: more in less than 1 of 1,000 seeds
    better = lb.compare(tasks(np.random.default_rng(1), shared=True, better=30.0), task="horizon set", **FAST)
    assert better.overall.pairs[0].verdict_at(1) == "b"  # either way
    lb.compare(tasks(np.random.default_rng(1), shared=False), task="horizon set", **FAST)


def nested(rng, spread):
    """Systems on utterances of speakers, each of whom some systems suit better."""
    rows = []
    for speaker in range(8):
        suits = rng.normal(0, spread, 3)
        for utterance in range(6):
            hard = rng.normal(0, 3)
            for place, system in enumerate("abc"):
                rows.append(
                    (f"spk{speaker:02d}", f"s{speaker}u{utterance}", system, hard + suits[place] + rng.normal())
                )
    columns = ("speaker", "utt_id", "asr", "WER")
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))


def test_what_problems_are_nested_in_is_asked_about():
    rng = np.random.default_rng(2)
    table = nested(rng, 2.0)
    with pytest.raises(Ambiguous, match=r"48 problems in 'utt_id' belong to 8 values of 'speaker'.*cluster='speaker'"):
        lb.compare(table, n_resamples=199)
    assert lb.compare(table, cluster="speaker", n_resamples=199).terms.n_groups == 48
    assert lb.compare(table, cluster="none", n_resamples=199).terms.n_groups == 48
    asked = 0
    for _ in range(200):
        try:
            lb.read_trials(nested(rng, 0.0))
        except Ambiguous:
            asked += 1
    assert asked <= 3  # of 200 at .001: more in less than 1 of 1,000 seeds


def test_a_baseline_of_one_run_beside_seeds_is_named_with_its_score(tmp_path, capsys):
    rng = np.random.default_rng(1)
    rows = [
        f"{name},{seed},{level + rng.normal(0, 0.01):.3f}"
        for name, level in (("lr", 0.7), ("bert", 0.85))
        for seed in range(5)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["system,seed,accuracy", "GPT-4 (reported),,0.951", *rows]))
    assert main(["compare", str(tmp_path / "t.csv")]) == 0
    assert "GPT-4 (reported): one trial (accuracy 0.951), too few to compare" in capsys.readouterr().out


def episodes(rng, rising):
    """Ten episodes of each of five runs of three agents, of which one varies more; returns rise in training only."""
    rows = []
    for agent, noise in (("ppo", 10), ("td3", 10), ("sac", 80)):
        for seed in range(5):
            level = rng.normal(500, 20)
            rows += [(agent, seed, k, level + rising * k + rng.normal(0, noise)) for k in range(10)]
    return dict(zip(("agent", "seed", "episode", "return"), map(list, zip(*rows, strict=True)), strict=True))


def test_episodes_in_which_nothing_gets_better_are_asked_about():
    """The best of ten episodes of the noisy agent is the best of all, and says nothing of it."""
    rng = np.random.default_rng(7)
    table = episodes(rng, 0)
    with pytest.raises(Ambiguous, match=r"do not get better with 'episode'.*configuration='seed' trial='none'"):
        lb.compare(table, **FAST)
    assert lb.compare(table, trial="seed", **FAST).pairs[0].n_trials == (5, 5)
    assert len(lb.read_trials(episodes(rng, 40), direction="max")) == 15  # a training: its best checkpoints
    winners = 0
    for _ in range(60):
        compared = lb.compare(episodes(rng, 0), configuration="seed", trial="none", **FAST)
        assert compared.terms.design == "evaluations"
        winners += any(pair.verdict_at(1) in ("ppo", "td3", "sac") for pair in compared.pairs)
    assert winners <= 10  # of 60 at .06: more in less than 1 of 1,000 seeds


def test_resamples_of_one_result_are_no_runs():
    rng = np.random.default_rng(2)
    table = {"model": ["a", "b"] * 20, "bootstrap": np.repeat(np.arange(20), 2), "accuracy": rng.random(40)}
    with pytest.raises(lb.DataError, match="'bootstrap' numbers resamples of one result"):
        lb.compare(table, **FAST)


def test_a_number_of_configurations_is_no_counter_of_checkpoints():
    """It rises for each seed by equal steps, as checkpoints would; but the settings change with it."""
    rng = np.random.default_rng(3)
    rows = [
        (model, number, rate, seed, rng.normal(0.8 + number / 200, 0.01))
        for model in ("mlp", "kan")
        for number, rate in enumerate(10 ** rng.uniform(-4, -1, 6))
        for seed in range(3)
    ]
    table = dict(zip(("model", "cfg", "lr", "seed", "val_acc"), map(list, zip(*rows, strict=True)), strict=True))
    compared = lb.compare(table, **FAST)
    assert (compared.terms.design, compared.pairs[0].n_trials) == ("configurations", (6, 6))


def columns(names, rows):
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_given_ids_are_runs_however_unequal_their_rows_are():
    rng = np.random.default_rng(4)
    rows = [
        (model, seed, rng.normal(level, 1))
        for model in "ab"
        for seed, level in enumerate(rng.normal(0, 5, 8))
        for _ in range(12 if seed % 2 else 1)
    ]
    compared = lb.compare(columns(("model", "seed", "acc"), rows), configuration="seed", **FAST)
    assert (compared.terms.design, compared.pairs[0].n_trials) == ("evaluations", (8, 8))
    uneven = [caution for caution in compared.cautions if caution.kind == "uneven"]
    assert [caution.value for caution in uneven] == [12.0, 12.0]
    table = columns(("model", "seed", "acc"), [*rows, ("a", None, 0.1), ("a", None, 0.2)])
    alone = lb.compare(table, configuration="seed", **FAST)
    assert alone.pairs[0].n_trials == (10, 8)  # rows without an id are not one run


def test_failures_of_one_seed_are_no_copies():
    rows = [("b", seed, 0.5 + seed / 10 + k / 100) for seed in range(4) for k in range(4)]
    rows += [("a", seed, 0.5 + seed / 10 if k == 0 else None) for seed in range(4) for k in range(4)]
    trials = lb.read_trials(columns(("model", "seed", "acc"), rows), configuration="seed", direction="max")
    assert (len(trials), len(trials.skipped), trials["a"].n_failed) == (32, 0, 12)


def test_runs_of_configurations_are_configurations():
    rng = np.random.default_rng(4)
    rows = [
        (model, number, seed, level + rng.normal(0, 0.1))
        for model in "ab"
        for number, level in enumerate(rng.normal(0, 1, 8))
        for seed in range(3)
    ]
    for name in ("config_id", "init_checkpoint"):  # of each of which all seeds were run
        table = columns(("model", name, "seed", "acc"), [(row[0], f"x{row[1]}", *row[2:]) for row in rows])
        with pytest.raises(Ambiguous, match=rf"runs of one configuration.*configuration='{name}'"):
            lb.compare(table, **FAST)
        compared = lb.compare(table, configuration=name, **FAST)
        assert (compared.terms.design, compared.pairs[0].n_trials) == ("configurations", (8, 8))


def test_evaluations_of_runs_on_several_tasks_and_of_all_problems():
    rng = np.random.default_rng(4)
    levels = {(model, seed): rng.normal(0, 3) for model in "ab" for seed in range(6)}
    rows = [(*run, task, level + rng.normal()) for run, level in levels.items() for task in "wxyz" for _ in range(3)]
    table = columns(("model", "seed", "dataset", "acc"), rows)
    with pytest.raises(Ambiguous, match=r"rows of one run, whose mean counts \(configuration='seed' task='none'"):
        lb.compare(table, **FAST)
    assert lb.compare(table, configuration="seed", task="none", **FAST).pairs[0].n_trials == (6, 6)
    apart = [(*run, task, rng.normal(0, 3), k) for run in levels for task in "wxyz" for k in range(3)]
    apart = [(model, seed, task, level + 0.1 * k) for model, seed, task, level, k in apart]
    over = lb.compare(columns(("model", "seed", "dataset", "acc"), apart), configuration="seed", **FAST)
    assert over.overall.pairs[0].budget.tolist() == [1]  # a new run, on each task


def test_runs_that_do_better_on_all_problems_are_asked_about_where_the_verdict_depends_on_it():
    rng, asked, named = np.random.default_rng(4), 0, 0
    for _ in range(15):
        levels = {(model, seed): rng.normal(0, 3) for model in "ab" for seed in range(6)}
        rows = [(*run, f"q{k}", int(level / 2 + rng.normal() > 0)) for run, level in levels.items() for k in range(40)]
        table = columns(("model", "seed", "question_id", "correct"), rows)
        try:
            named += lb.compare(table, n_resamples=199).pairs[0].verdict_at(1) in ("a", "b")
        except Ambiguous as error:
            asked += "alike on all problems of 'question_id'" in str(error)
    assert asked > 2  # it would have named a winner among equals
    assert named <= 4  # of 15 at .06: more in less than 2 of 1,000 seeds
    assert lb.compare(table, configuration="seed", group="none", **FAST).pairs[0].n_trials == (6, 6)
    assert lb.compare(table, configuration="none", n_resamples=199).terms.n_groups == 40
