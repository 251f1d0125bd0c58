"""A loop that keeps what improves: its rule against a naive second one, its ledger against kills and edits."""

import contextlib
import json
import math
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import DataError, InputError
from levelbest.run.keeping import Keeping
from levelbest.run.ledger import Entry
from levelbest.run.verify import verify_ledger
from levelbest.web.data import LiveData

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from forging import append, damage, rewrite  # noqa: E402

sys.path.insert(0, str(HERE.parents[1] / "benchmarks" / "gates"))
import loops  # noqa: E402


def saffron_levels(p_values: list[float], alpha: float, wealth: float, share: float) -> list[float]:
    """SAFFRON's levels (Ramdas et al. 2018, eq. 6), one test after the other, as the paper writes them."""

    def gamma(j: int) -> float:
        return 0.4374901658 * j**-1.6

    levels: list[float] = []
    for t in range(1, len(p_values) + 1):
        rejected = [i for i in range(1, t) if p_values[i - 1] <= levels[i - 1]]
        candidates = [i for i in range(1, t) if p_values[i - 1] <= share]
        level = wealth * gamma(t - len(candidates))
        for j, tau in enumerate(rejected):
            since = sum(i > tau for i in candidates)
            level += (alpha - wealth if j == 0 else alpha) * gamma(t - tau - since)
        levels.append(min(share, (1 - share) * level))
    return levels


def naive_loop(scores: list[list[float]], pools: "list[list[float]]") -> list[tuple[str, float | None]]:
    """The rule in plain words: each candidate's sixteen possible runs, and baseline runs whenever they are due."""
    answers, p_values, tests, pool = [], [], 0, pools.pop(0)
    wanted = 16
    for runs in scores:
        while len(pool) < wanted:
            pool = pool + pools.pop(0)
        ahead = np.mean(pool) + 0.5 * np.std(pool, ddof=1)
        if runs[0] <= ahead or np.mean(runs[1:4]) <= ahead:
            answers.append(("discard", None))
            continue
        p_values.append(float(stats.ttest_ind(runs[4:16], pool, alternative="greater").pvalue))
        tests += 1
        level = saffron_levels(p_values, 0.05, 0.025, 0.25)[-1]
        kept = p_values[-1] <= level
        answers.append(("keep" if kept else "discard", level))
        wanted += 4
        if kept:
            pool, wanted = [], 16
    return answers


@pytest.mark.parametrize("seed", range(4))
def test_the_rule_is_that_of_a_second_naive_implementation(seed):
    rng = np.random.default_rng(seed)
    scores = [list(rng.standard_normal(16) + rng.choice([0, 1.2, 2.5])) for _ in range(40)]
    loop, given, pools = Keeping(), [], []
    for place, runs in enumerate(scores):
        while missing := loop.missing:
            pools.append(list(rng.standard_normal(missing)))
            for score in pools[-1]:
                loop.run_baseline(score)
        for score in runs:
            answer = loop.run_candidate(f"c{place}", score)
            if answer["answer"] != "again":
                break
        given.append((answer["answer"], answer["level"]))
    first = [pools.pop(0) + pools.pop(0)]  # two show the noise, fourteen fill the pool
    wanted = naive_loop(scores, first + pools)
    assert [answer for answer, _ in given] == [answer for answer, _ in wanted]
    assert {answer for answer, _ in given} == {"keep", "discard"}
    for (_, level), (_, other) in zip(given, wanted, strict=True):
        assert (level is None) == (other is None)
        assert level is None or math.isclose(level, other, rel_tol=1e-9)


def test_loops_keep_little_that_is_false_and_most_that_is_large():
    """60 null loops with a false keep each with probability .05 at most: 9 or more in .3 % of such runs. At +2 sd 20
    candidates of 200 are real on average; 12 loops kept 18 each in long simulations, with an error of .6."""
    null = loops.cell("levelbest loop", "normal", 0.0, 60, 0)
    assert null["any_false"] * 60 <= 8
    assert null["runs"] < 700
    assert loops.cell("levelbest loop", "normal", 2.0, 12, 1)["true_keeps"] >= 16


def pool(path: Path, rng: np.random.Generator, **how: object) -> lb.Loop:
    loop = lb.Loop(path, direction="max", **how)
    for score in rng.standard_normal(16):
        state = loop.baseline(float(score))
    assert state.missing == 0
    return loop


def test_a_ledger_holds_the_state(tmp_path, capsys):
    """What a loop answers does not depend on whether it was reopened: the ledger is its only state."""
    rng = np.random.default_rng(5)
    loop, rule = pool(tmp_path / "l.db", np.random.default_rng(1)), Keeping()
    for score in np.random.default_rng(1).standard_normal(16):
        rule.run_baseline(float(score))
    for name, effect in (("none", -3.0), ("large", 4.0)):
        for score in rng.standard_normal(16) + effect:
            decision = lb.Loop(tmp_path / "l.db").candidate(name, float(score))
            wanted = rule.run_candidate(name, float(score))
            assert (decision.answer, decision.again) == (wanted["answer"], wanted["again"])
            assert lb.Loop(tmp_path / "l.db").candidate(name) == decision
            if decision.final:
                break
    assert decision.answer == "keep"
    state = loop.state
    assert (state.kept, state.baseline, state.missing) == (("large",), "large", 2)
    assert verify_ledger(tmp_path / "l.db").loop.kept == ("large",)
    assert "large" in str(verify_ledger(tmp_path / "l.db"))
    with pytest.raises(InputError, match="kept already"):
        loop.candidate("large", 9.0)
    with pytest.raises(InputError, match="record 2 more"):
        loop.candidate("next", 9.0)
    with pytest.raises(InputError, match="since its first run"):
        lb.Loop(tmp_path / "l.db", direction="min").baseline(1.0)
    assert main(["loop", str(tmp_path / "l.db"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == ["large"]


def test_the_command_answers_with_its_exit_code(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def loop(*words: str) -> tuple[int, list[str]]:
        code = main(["loop", "l.db", *words])
        return code, capsys.readouterr().out.splitlines()

    assert main(["loop", "l.db", "--baseline", "--score", "1"]) == 2  # which way is better?
    assert "--direction" in capsys.readouterr().err
    loop("--baseline", "--score", "0.71", "--direction", "min", "--metric", "val_loss")
    said = loop("--baseline", "--score", "0.71")[1]
    assert "overfitting the validation set" in " ".join(" ".join(said).split())
    assert loop("--candidate", "worse", "--score", "0.72")[0] == 1
    code, said = loop("--candidate", "better", "--score", "0.70")
    assert (code, said[0]) == (3, "again 2")
    loop("--candidate", "better", "--score", "0.70")
    code, said = loop("--candidate", "better", "--score", "0.70")
    assert (code, said[0]) == (0, "keep")
    assert loop("--candidate", "broken", "--failed", "out of memory")[0] == 1
    code, said = loop("--candidate", "noisy", "--score", "0.69")
    code, said = loop("--candidate", "noisy", "--score", "0.695")
    assert (code, said[0]) == (1, "discard")
    assert "noisy after all" in " ".join(said)
    assert main(["loop", "l.db", "--candidate", "late", "--score", "0.6"]) == 2  # the pool is needed now
    assert "13 more" in capsys.readouterr().err


def test_several_agents_write_one_ledger(tmp_path):
    """Each waits for the other; a candidate whose baseline was replaced meanwhile is to be offered again."""
    pool(tmp_path / "l.db", np.random.default_rng(2))
    words = [
        sys.executable,
        "-c",
        "import sys, levelbest as lb\nfor i in range(8): lb.Loop(sys.argv[1]).baseline(i / 8)",
    ]
    agents = [subprocess.Popen([*words, str(tmp_path / "l.db")]) for _ in range(2)]
    assert [agent.wait(60) for agent in agents] == [0, 0]
    state = lb.Loop(tmp_path / "l.db").state
    assert state.n_baseline == 32
    assert verify_ledger(tmp_path / "l.db").whole
    rule = Keeping()
    for score in np.random.default_rng(3).standard_normal(16):
        rule.run_baseline(float(score))
    assert rule.run_candidate("slow", 5.0)["answer"] == "again"
    for score in 5 + np.random.default_rng(4).standard_normal(16):
        fast = rule.run_candidate("fast", float(score))
    assert fast["answer"] == "keep"
    while rule.missing:
        rule.run_baseline(5 + 0.1 * rule.missing)
    assert rule.run_candidate("slow", 9.0)["reason"] == "moved"


AGENT = """
import sys, json
import numpy as np, levelbest as lb
path, agent = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(agent)
for k in range(4):
    for score in rng.standard_normal(16) + 0.8:
        decision = lb.Loop(path).candidate(f"a{agent}-{k}", float(score))
        print(json.dumps([decision.candidate, decision.answer, decision.level]), flush=True)
        if decision.final:
            break
"""


def test_candidates_of_several_agents_overlap(tmp_path):
    """Three agents, one of them killed: every answer is in the ledger, and each follows from the runs before it."""
    path = tmp_path / "l.db"
    pool(path, np.random.default_rng(11), confidence=0.999)  # a level that nothing passes: no baseline is replaced
    for score in np.random.default_rng(12).standard_normal(64):  # a pool for all that come to the last stage
        lb.Loop(path).baseline(float(score))
    lines: list[str] = []
    with contextlib.ExitStack() as stack:
        words = [sys.executable, "-c", AGENT, str(path)]
        agents = [
            stack.enter_context(subprocess.Popen([*words, str(n)], stdout=subprocess.PIPE, text=True)) for n in range(3)
        ]
        lines.append(agents[0].stdout.readline())
        agents[0].send_signal(signal.SIGKILL)
        for agent in agents:
            lines += agent.stdout.readlines()
    assert [agent.returncode for agent in agents] == [-signal.SIGKILL, 0, 0]
    state = lb.Loop(path).state
    last = {name: (answer, level) for name, answer, level in map(json.loads, lines)}
    recorded = {attempt.candidate: (attempt.answer, attempt.level) for attempt in state.attempts}
    assert recorded.keys() - last.keys() <= {"a0-0", "a0-1", "a0-2", "a0-3"}  # recorded, killed before it was printed
    for name, answer in last.items():
        assert recorded[name] == answer or name.startswith("a0")
    assert {f"a{n}-{k}" for n in (1, 2) for k in range(4)} <= recorded.keys()
    assert verify_ledger(path).whole


def test_nothing_more_is_wanted_of_a_candidate_whose_baseline_was_replaced(tmp_path):
    """Two open at once, the metric without noise: one is kept, and the other need not be run again."""
    loop = lb.Loop(tmp_path / "l.db", direction="max")
    for _ in range(2):
        loop.baseline(1.0)
    assert loop.candidate("slow", 1.5).answer == "again"
    assert [loop.candidate("quick", 2.0).answer for _ in range(3)] == ["again", "again", "keep"]
    assert (loop.candidate("slow").answer, loop.candidate("slow").reason) == ("discard", "moved")
    assert loop.candidate("slow", 1.5).reason == "moved"
    noisy = pool(tmp_path / "n.db", np.random.default_rng(2))
    assert noisy.candidate("slow", 9.0).answer == "again"
    while (decision := noisy.candidate("quick", 9.0 + 0.01 * np.random.default_rng(3).random())).answer == "again":
        pass
    assert decision.answer == "keep"
    assert noisy.state.missing == 2  # the new baseline has no runs yet, and that is no concern of the open candidate
    assert noisy.candidate("slow", 9.0).reason == "moved"
    assert verify_ledger(tmp_path / "n.db").whole


KILLED = """
import sys, itertools
import levelbest as lb
loop = lb.Loop(sys.argv[1], direction="max")
for i in itertools.count():
    state = loop.baseline(i % 7 + i / 1000)
    print(state.n_runs, flush=True)
"""


def test_kill_9_loses_no_attempt(tmp_path):
    """Whatever was answered is in the ledger, wherever the process was killed, and the next call goes on."""
    path, rng = tmp_path / "l.db", np.random.default_rng(0)
    for _ in range(3):
        agent = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
        answered = [agent.stdout.readline()]
        until = time.monotonic() + rng.uniform(0.02, 0.2)
        while time.monotonic() < until:
            answered.append(agent.stdout.readline())
        agent.send_signal(signal.SIGKILL)
        answered += agent.stdout.readlines()
        agent.stdout.close()
        agent.wait()
        recorded = lb.Loop(path).state.n_runs
        assert recorded - int(answered[-1]) in (0, 1)  # one may be in the ledger before its answer was printed
        assert verify_ledger(path).whole


def test_an_edited_ledger_is_refused(tmp_path, capsys):
    path = tmp_path / "l.db"
    loop = pool(path, np.random.default_rng(1))
    loop.candidate("a", -2.0)
    edited, forged = Path(shutil.copy(path, tmp_path / "e.db")), Path(shutil.copy(path, tmp_path / "f.db"))
    damage(edited, "UPDATE records SET body = replace(body, '-2.0', '9.0') WHERE kind = 'end'")
    with pytest.raises(DataError, match="does not match its hash"):
        lb.Loop(edited).baseline(1.0)
    assert main(["verify", str(edited)]) == 1
    # whole chains: one decides twice, one answers what its runs do not give
    number = len(verify_ledger(path).families) - 1
    body = {"answer": "keep", "reason": "shown", "n_runs": 1, "again": 0, "p_value": 0.001, "level": 0.01}
    append(forged, [Entry("decision", body, number)])
    problems = verify_ledger(forged).problems
    assert any("decided already" in problem for problem in problems)
    with pytest.raises(DataError):
        lb.Loop(forged).baseline(1.0)
    rewritten = Path(shutil.copy(path, tmp_path / "r.db"))
    rewrite(rewritten, lambda rows: [[*row[:-1], row[-1].replace('"below"', '"moved"')] for row in rows])
    assert any("does not follow its rule" in problem for problem in verify_ledger(rewritten).problems)
    with pytest.raises(DataError, match="does not follow its rule"):
        lb.Loop(rewritten).baseline(1.0)
    capsys.readouterr()


def test_report_and_serve_show_it(tmp_path, capsys):
    loop = pool(tmp_path / "l.db", np.random.default_rng(1))
    loop.candidate("first <b>", -2.0)
    loop.candidate("second", 3.0)
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "l.db"), "--out", str(page)]) == 0
    assert "2 attempts in 18 runs; kept none." in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert "first &lt;b&gt;" in text
    assert "<b>" not in text.replace("<body>", "")
    assert loop.state.head in text
    assert "default-src &#x27;none&#x27;" in text  # nothing is loaded from anywhere
    assert "<script" not in text
    live = LiveData(tmp_path / "l.db")
    state = json.loads(live.state())
    assert state["verdict"] == "2 attempts in 18 runs; kept none."
    assert "SAFFRON" in state["conditions"]
    assert live.report() == text
    live.close()
    assert loop.state.to_frame().shape[0] == 2
    assert "second" in loop.state.to_markdown()
    assert "second" in loop.state._repr_html_()
