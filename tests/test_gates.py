"""A gate with three answers, claims that trials must certify, and both from a fresh project."""

import json
import os
import subprocess
import sys
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import levelbest as lb
from levelbest.cli.main import main
from levelbest.designs.gate import _times
from levelbest.errors import DataError, InputError
from levelbest.stats.problems import holm, run_spread, worse_p_values
from levelbest.testing import assert_better, assert_not_worse

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "gates"))
import suites

HOW = {"family": "version", "group": "problem", "selection": "score", "direction": "max", "bounds": (0, 1)}


def test_p_values_of_problems_are_exact():
    """Fisher's test for 0/1, all permutations for scores; Holm as its paper has it."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        a, b = rng.binomial(1, 0.8, 6).astype(float), rng.binomial(1, 0.2, 5).astype(float)
        wanted = stats.fisher_exact([[a.sum(), 6 - a.sum()], [b.sum(), 5 - b.sum()]], alternative="greater")[1]
        if a.mean() > b.mean():
            assert np.isclose(worse_p_values([a], [b], 1.0)[0], wanted)
    a, b = rng.random(5) + 1, rng.random(4)
    pool = np.concatenate([a, b])
    sums = [pool[list(chosen)].sum() for chosen in combinations(range(9), 5)]
    assert np.isclose(worse_p_values([a], [b], 0.05)[0], np.mean(np.array(sums) >= a.sum() - 1e-9))
    p_values = np.array([0.001, 0.02, 0.03, 0.5])
    adjusted = holm(p_values)
    for level in (0.004, 0.05, 0.06, 0.2):  # step by step: reject while the k-th smallest is at most level / (4 - k)
        rejected = 0
        while rejected < 4 and p_values[rejected] <= level / (4 - rejected) + 1e-15:
            rejected += 1
        assert (adjusted <= level + 1e-15).sum() == rejected


def gate(kind, problems, runs, graded, seed, **how):
    table = suites.suite(kind, problems, runs, graded, np.random.default_rng(seed))
    return lb.gate(table, baseline="old", candidate="new", **HOW, **how)


def test_three_answers():
    broken = [gate("broken", 20, 10, False, seed) for seed in range(3)]
    assert [decided.decision for decided in broken].count("regressed") >= 2
    same = [gate("same", 20, 10, False, seed) for seed in range(3)]
    assert [decided.decision for decided in same].count("inconclusive") >= 2
    assert all(decided.further > 0 or np.isnan(decided.further) for decided in same if decided.decision != "pass")
    assert gate("same", 20, 10, False, 1, worth=0.2).decision == "pass"
    assert same[0].pair.families == ("new", "old")


def test_equal_suites_are_seldom_red():
    """24 suites, at most 5 % red each: 6 or more in .1 % of such runs. None that loses more than it may should pass: 10
    suites, at most 5 % each: 4 or more in .1 %."""
    red = [gate("same", 10, 3, graded, [7, i]).decision == "regressed" for i in range(12) for graded in (False, True)]
    assert sum(red) <= 5
    passed = [gate("loss", 20, 10, True, [8, i]).decision == "pass" for i in range(10)]
    assert sum(passed) <= 3


def test_a_broken_problem_is_named():
    rng = np.random.default_rng(0)
    old, new = np.ones((30, 12)), np.ones((30, 12))
    old[1:] = rng.random((29, 12)) < 0.8
    new[1:] = rng.random((29, 12)) < 0.85
    new[0] = 0
    names = [f"t{i}" for i in range(30) for _ in range(12)]
    table = {"version": ["old"] * 360 + ["new"] * 360, "problem": names * 2, "score": [*old.ravel(), *new.ravel()]}
    decided = lb.gate(table, baseline="old", candidate="new", **HOW)
    assert (decided.decision, [row.problem for row in decided.broken]) == ("regressed", ["t0"])
    assert decided.broken[0].p_value == pytest.approx(30 / 2704156)  # 1 / C(24, 12), the smallest of 30


def test_seeds_and_losses_need_bounds_to_pass():
    """That runs differ little does not show that none can fail."""
    rng = np.random.default_rng(3)
    table = {"model": ["a"] * 8 + ["b"] * 8, "seed": [*range(8)] * 2, "loss": 2 + 0.001 * rng.standard_normal(16)}
    how = {"baseline": "a", "candidate": "b", "family": "model", "selection": "loss", "direction": "min"}
    with pytest.raises(InputError, match="how large a loss"):
        lb.gate(table, **how)
    decided = lb.gate(table, worth=0.1, **how)
    assert decided.decision == "inconclusive"
    assert "without the bounds of the score" in str(decided)
    assert (
        lb.gate({**table, "loss": [*table["loss"][:8], *table["loss"][8:] + 1]}, worth=0.1, **how).decision
        == "regressed"
    )


def test_the_spread_of_runs_is_one_where_scores_are_exchanged():
    """All assignments of each problem's scores to runs: the ratio is 1 on average; and 4 where 4 problems agree."""
    scores = np.array([[0.0, 1.0, 1.0], [0.2, 0.4, 0.9], [1.0, 0.0, 0.0]])
    orders = list(permutations(range(3)))
    ratios = [
        run_spread([np.stack([scores[0], scores[1][list(a)], scores[2][list(b)]])], np.ones(3)).ratio
        for a in orders
        for b in orders
    ]
    assert np.mean(ratios) == pytest.approx(1)
    together = run_spread([np.tile([0.0, 1.0, 1.0, 0.0], (4, 1))], np.ones(4))
    assert together.ratio == pytest.approx(4)
    assert together.p_value == pytest.approx(stats.chi2.sf(12, 3))


def test_runs_whose_problems_fall_together_are_compared_as_runs():
    """Equal versions; a run of old in ten, two of new, has a bad day: 20 problems say so 20 times, and it is one."""
    rng = np.random.default_rng(1)
    days = np.full((2, 10), 0.9)
    days[0, :1], days[1, :2] = 0.2, 0.2
    table = suites.as_table(*(suites.with_days(10, each, rng) for each in days))
    unknown = lb.gate({**table, "run": ["x"] * 400}, baseline="old", candidate="new", **HOW)
    assert (unknown.run_spread, unknown.whole_runs) == (None, False)
    assert "name the column that identifies the run" in str(unknown)
    decided = lb.gate(table, baseline="old", candidate="new", **HOW)
    assert decided.whole_runs
    assert decided.pair.n_trials == (10, 10)
    assert decided.decision == "inconclusive"
    assert "Scores within a run are correlated" in str(decided)
    scores = np.array(table["score"]).reshape(2, 20, 10)
    assert decided.pair.effect.difference == pytest.approx(scores[1].mean() - scores[0].mean())
    assert decided.pair.effect.high - decided.pair.effect.low > unknown.pair.effect.high - unknown.pair.effect.low


def test_a_problem_without_a_run_of_the_candidate_lets_nothing_pass():
    """Neither a suite whose worst tests were deleted, nor one in which they were renamed."""
    rng = np.random.default_rng(0)
    table = suites.as_table(*(np.full((12, 30), 1.0) for _ in range(2)))
    assert lb.gate(table, baseline="old", candidate="new", **HOW).decision == "pass"
    names = np.array(table["problem"], dtype=object)
    names[(np.array(table["version"]) == "new") & (names == "t3")] = "t3 (new)"
    renamed = lb.gate({**table, "problem": names.tolist()}, baseline="old", candidate="new", **HOW)
    assert (renamed.decision, renamed.absent, renamed.n_problems) == ("inconclusive", ("t3",), 11)
    assert "new has no run of 1 problem of old (t3)" in str(renamed)
    order = rng.permutation(720)
    shuffled = {name: [column[i] for i in order] for name, column in table.items()}
    assert lb.gate(shuffled, baseline="old", candidate="new", **HOW).decision == "pass"
    twice = {name: [*column, *column[:360]] for name, column in table.items()}
    with pytest.raises(DataError, match="more than once within a problem"):
        lb.gate(twice, baseline="old", candidate="new", **HOW)
    other = {**table, "problem": [f"{v} {p}" for v, p in zip(table["version"], table["problem"], strict=True)]}
    with pytest.raises(DataError, match="no problem in common"):
        lb.gate(other, baseline="old", candidate="new", **HOW)


def test_a_problem_that_only_the_candidate_has_is_not_compared():
    table = suites.suite("same", 10, 10, False, np.random.default_rng(3))
    keep = np.array([(v, p) != ("old", "t3") for v, p in zip(table["version"], table["problem"], strict=True)])
    fewer = {name: [cell for cell, there in zip(cells, keep, strict=True) if there] for name, cells in table.items()}
    decided = lb.gate(fewer, baseline="old", candidate="new", **HOW)
    assert (decided.added, decided.absent, decided.n_problems) == (("t3",), (), 9)
    assert "1 problem (t3) with runs of new only: not compared." in str(decided)


def test_failed_runs_are_counted_and_said():
    table = suites.as_table(np.ones((5, 8)), np.ones((5, 8)))
    table["score"][40:43] = np.nan
    decided = lb.gate(table, baseline="old", candidate="new", **HOW)
    assert decided.pair.effect.difference == pytest.approx(-3 / 40)
    assert "Runs that failed: 3 of new." in str(decided)


def write(path: Path, kind: str) -> None:
    table = suites.suite(kind, 20, 10, False, np.random.default_rng(4))
    rows = zip(table["version"], table["problem"], table["run"], table["score"].astype(int), strict=True)
    path.write_text("version,problem,run,score\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")


def test_so_many_further_runs_decide():
    """Limits that narrow with the root of the runs, and a rest that falls with their number, fit exactly then."""
    for width, unseen, room in ((0.1, 0.0, 0.05), (0.1, 0.2, 0.05), (0.0, 0.3, 0.1)):
        times = _times(width, unseen, room)
        assert np.isclose(width / np.sqrt(times) + unseen / times, room)
    assert np.isinf(_times(0.1, 0.0, 0.0))
    how = {"baseline": "old", "candidate": "new", "direction": "max", "bounds": (0, 1), "worth": 0.05}
    decided = []
    for i in range(24):
        rng = np.random.default_rng([9, i])

        def runs(n, rng=rng):
            scores = np.r_[rng.normal(0.7, 0.05, n), rng.normal(0.65, 0.05, n)]
            return {"version": ["old"] * n + ["new"] * n, "score": scores}

        first = runs(10)
        gate = lb.gate(first, family="version", selection="score", **how)
        if gate.decision != "inconclusive":
            continue
        more = runs(int(np.ceil(gate.further)))
        both = {name: np.r_[first[name], more[name]] for name in first}
        decided.append(lb.gate(both, family="version", selection="score", **how).decision == "regressed")
    # the number is for .8; twelve or so are inconclusive at first: fewer than half of them decided in .3 % of such runs
    assert len(decided) >= 6
    assert np.mean(decided) >= 0.5


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "broken.csv", "broken")
    write(tmp_path / "same.csv", "same")
    options = ["--baseline", "old", "--candidate", "new", "--family", "version", "--group", "problem"]
    options += ["--selection", "score", "--direction", "max"]
    assert main(["gate", "broken.csv", *options]) == 1
    screen = capsys.readouterr().out
    assert screen.startswith("regressed: new is worse than old on exactly these problems.")
    assert len(screen.splitlines()) <= 24
    assert max(map(len, screen.splitlines())) <= 80
    assert main(["gate", "same.csv", *options, "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["decision"], document["about"], document["worth"]) == ("inconclusive", "suite", 0.05)
    assert main(["gate", "same.csv", *options, "--worth", "0.3", "--markdown"]) == 0
    assert "### ✅ pass: new is not worse than old by 0.3" in capsys.readouterr().out
    claim = ["compare", "same.csv", *options[4:], "--about", "suite", "--require", "new not worse than old by 0.3"]
    assert main(claim) == 0
    assert "\ncertified: new not worse" in capsys.readouterr().out
    assert main([*claim, "--require", "new better than old", "--json"]) == 1
    judged = json.loads(capsys.readouterr().out)["requirements"]
    assert [each["certified"] for each in judged] == [True, False]
    assert main([*claim, "--require", "new is nice"]) == 2
    assert "a claim reads" in capsys.readouterr().err


def test_claims_are_certified_or_not():
    runs = {"model": ["a"] * 6 + ["b"] * 6, "seed": [*range(6)] * 2}
    runs["acc"] = [0.81, 0.82, 0.80, 0.83, 0.82, 0.81, 0.70, 0.71, 0.74, 0.73, 0.72, 0.71]
    how = {"family": "model", "selection": "acc", "direction": "max"}
    assert assert_better(runs, "a", "b", **how).certified
    assert assert_better(runs, "a", "b", by=0.05, **how)
    with pytest.raises(AssertionError, match=r"NOT certified: a better than b by 0\.2"):
        assert_better(runs, "a", "b", by=0.2, **how)
    with pytest.raises(AssertionError, match=r"NOT certified: b not worse than a by 0\.01"):
        assert_not_worse(runs, "b", "a", by=0.01, **how)
    with pytest.raises(InputError, match="'not worse' needs how much"):
        lb.require(runs, "a not worse than b", **how)


WORKFLOW = (Path(__file__).parents[1] / "docs" / "gates.md").read_text(encoding="utf-8")


PROJECT = """[project]
name = "fresh"
version = "0"

[tool.pytest.ini_options]
testpaths = ["tests"]
filterwarnings = ["error"]
"""
EVALUATE = """import argparse, csv, random

parser = argparse.ArgumentParser()
parser.add_argument("--runs", type=int)
parser.add_argument("--out")
given = parser.parse_args()
chance = {{"old": 0.95, "new": {new}}}
random.seed(1)
with open(given.out, "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["version", "problem", "run", "score"])
    for version in chance:
        for problem in range(40):
            for run in range(given.runs):
                rows.writerow([version, f"test_{{problem}}", run, int(random.random() < chance[version])])
"""


@pytest.mark.parametrize(
    ("new", "answer", "code"), [(0.6, "regressed", 1), (0.95, "pass", 0), (0.92, "inconclusive", 0)]
)
def test_a_fresh_project_runs_the_documented_workflow(tmp_path, new, answer, code):
    """The steps of the workflow file of docs/gates.md, and a test with the helper, in a project of their own."""
    import yaml

    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "evaluate.py").write_text(EVALUATE.format(new=new))
    (tmp_path / "tests").mkdir()
    workflow = yaml.safe_load(WORKFLOW.split("```yaml\n")[1].split("```")[0])
    (job,) = workflow["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step and not step["run"].startswith("pip install")]
    path = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    path["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary.md")

    def ran(words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, env=path, capture_output=True, text=True, check=False)

    assert len(steps) == 2
    done = [ran(["bash", "-e", "-c", step]) for step in steps]
    assert [step.returncode for step in done] == [0, code], done[-1].stderr
    assert answer in (tmp_path / "summary.md").read_text()
    helper = WORKFLOW.split("```python\n# test_results.py\n")[1].split("```")[0]
    (tmp_path / "tests" / "test_results.py").write_text(helper)
    tested = ran([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"])
    assert tested.returncode == (0 if answer == "pass" else 1), tested.stdout
    assert ("NOT certified: new not worse than old by 0.05" in tested.stdout) == (answer != "pass")


def shown(name: str) -> str:
    return WORKFLOW.split(f"<!-- {name} -->\n")[1].split(f"\n<!-- end of {name} -->")[0]


@pytest.mark.parametrize("name", ["loops", "audits", "stops"])
def test_the_tables_of_the_page_are_those_of_the_results(name):
    from importlib import import_module

    script, page = import_module(name), import_module("_page")
    assert shown(name) == script.table(page.load(name)["cells"])


def test_the_tables_of_suites_are_those_of_the_results():
    from certificate import load

    results = load(suites.RESULTS)
    assert results.keys() == {cell.key for cell in suites.cells()}
    for name, table in suites.tables(results).items():
        assert shown(name) == table
