"""``levelbest claim`` from a text, from options, from a table and from runs: one answer, one screen."""

import json

import pandas as pd
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import InputError

BASE, OURS = "base 76.3 ± 0.4 (5), tuned 10", "ours 77.0 ± 0.6 (5), tuned 100"


def run(capsys, *args):
    code = main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_reviewers_numbers_on_one_screen(capsys):
    code, out, _ = run(capsys, "claim", BASE, OURS)
    flat = " ".join(out.split())
    assert code == 0
    assert len(out.splitlines()) <= 24
    assert max(map(len, out.splitlines())) <= 80
    # SciPy's Welch interval for sd 0.4 and 0.6: -0.063 to 1.463; with 0.4 and 0.6 as standard errors: -1.006 to 2.406
    assert "0.70 (-0.06 to 1.46) if ± is a standard deviation, 0.7 (-1.0 to 2.4) if it is a standard error" in flat
    # the best of 100 standard normal scores is 2.5076, of 10 it is 1.5388: .9688 x .5099 = .494, 71 % of .7
    assert "0.35 to 0.49 (50 to 71 %)" in flat
    assert "Ask whether ± is a standard deviation" in flat
    assert "Tune base with 100 trials too" in flat
    assert "Higher is better (--direction)" in flat


def test_the_document_has_both_readings(capsys):
    code, out, _ = run(capsys, "claim", BASE, OURS, "--json")
    document = json.loads(out)
    (claim,) = document["claims"]
    assert code == 0
    assert document["baseline"] == {"name": "base", "mean": 76.3, "spread": 0.4, "n": 5, "tuned": 10, "reading": None}
    assert [own["reading"] for own in claim["readings"]] == ["sd", "se"]
    assert claim["readings"][0]["low"] == pytest.approx(-0.06325, abs=1e-5)
    assert claim["readings"][0]["searches"][0]["share"] == pytest.approx(0.9688 * 0.50990 / 0.7, abs=1e-4)
    assert lb.claim(BASE, OURS).to_dict()["claims"] == document["claims"]


@pytest.mark.parametrize(
    "texts",
    [
        ("base: 76.3 +/- 0.4 (5 seeds), tuned with 10 trials", "ours: 77.0 +/- 0.6 (5 seeds), tuned with 100 trials"),
        ("base 76,3 ± 0,4 (n = 5), tuned=10", "ours 77,0 ± 0,6 (n = 5), tuned=100"),
        (r"base $76.3 \pm 0.4$ (5 runs, 10 trials)", r"ours $77.0 \pm 0.6$ (5 runs, 100 trials)"),
        ("base 76.3% ± 0.4% over 5 seeds, search of 10 configurations", "ours 77% ± .6% over 5 seeds, search of 100"),
        ("base 76.3 +- 0.4, n=5, tuned 10", "ours 77.0 +- 0.6, n=5, tuned 100"),
    ],
)
def test_as_people_write_it(texts):
    assert lb.claim(*texts).to_dict()["claims"] == lb.claim(BASE, OURS).to_dict()["claims"]


def test_a_word_tells_what_the_spread_is():
    judged = lb.claim("ResNet-50 76.3 (sd 0.4, n = 5)", "ViT-B/16 77.0, std 0.6 (5 seeds)")
    assert [own.reading for own in judged.pairs[0].readings] == ["sd"]
    assert (judged.baseline.name, judged.pairs[0].claim.name) == ("ResNet-50", "ViT-B/16")
    judged = lb.claim("a 76.3 ± 0.4 (5), standard error", "b 77.0 ± 0.6 (5), standard error")
    assert [own.reading for own in judged.pairs[0].readings] == ["se"]
    with pytest.raises(InputError, match="give both in one way"):
        lb.claim("a 76.3 sd 0.4 (5)", "b 77.0 se 0.6 (5)")


def test_options_and_tables_give_the_same_answer(capsys, tmp_path):
    numbers = ("--mean", "76.3", "77.0", "--sd", "0.4", "0.6", "--runs", "5", "5", "--tuned", "10", "100")
    _, out, _ = run(capsys, "claim", *numbers, "--json")
    wanted = lb.claim(BASE, OURS, plus_minus="sd").to_dict()["claims"][0]["readings"]
    assert json.loads(out)["claims"][0]["readings"] == wanted
    table = tmp_path / "table.csv"
    for text in (
        "model,mean,sd,n,tuned\nbase,76.3,0.4,5,10\nours,77.0,0.6,5,100\n",
        "Method;mean;std;seeds;trials\nbase;76,3;0,4;5;10\nours;77,0;0,6;5;100\n",
    ):
        table.write_text(text)
        _, out, _ = run(capsys, "claim", str(table), "--json")
        assert json.loads(out)["claims"][0]["readings"] == wanted
    table.write_text("method,accuracy,seeds,tuned\nbase,76.3 ± 0.4,5,10\nours,77.0 ± 0.6,5,100\n")
    _, out, _ = run(capsys, "claim", str(table), "--plus-minus", "sd", "--json")
    assert json.loads(out)["claims"][0]["readings"] == wanted
    frame = pd.DataFrame({"name": ["base", "ours"], "mean": [76.3, 77.0], "sd": [0.4, 0.6], "n": [5, 5]})
    assert lb.claim(frame).pairs[0].readings[0].low == pytest.approx(wanted[0]["low"])


@pytest.mark.parametrize("beside", ["loss", "error bars", "latency"])
def test_only_the_column_of_the_score_says_which_way_is_better(beside):
    rows = {"name": ["base", "ours"], "mean": [76.3, 77.9], "sd": [0.4, 0.5], "n": [5, 5], beside: ["CE", "MSE"]}
    assert lb.claim(rows).pairs[0].readings[0].difference == pytest.approx(1.6)
    losses = {"name": ["base", "ours"], "test loss": ["77.9 ± 0.5 (5)", "76.3 ± 0.4 (5)"], "score": ["a", "b"]}
    assert lb.claim(losses, plus_minus="sd", runs=5).pairs[0].readings[0].difference == pytest.approx(1.6)


@pytest.mark.parametrize("runs", [[5, 3, 9], [5, 3, 3, 3]])
def test_there_are_as_many_numbers_of_runs_as_rows(runs):
    rows = {"name": ["base", "ours"], "mean": [76.3, 77.9], "sd": [0.4, 0.5]}
    with pytest.raises(InputError, match="must have a number for each of 2 rows"):
        lb.claim(rows, runs=runs)
    assert [lb.claim(rows, runs=some).pairs[0].claim.n for some in (5, [5], [5, 3], (7, 7))] == [5, 5, 3, 7]


def test_several_claims_share_the_confidence():
    rows = {"name": ["a", "b", "c"], "mean": [1.0, 2.0, 3.0], "sd": [1.0, 1.0, 1.0], "n": [9, 9, 9]}
    judged = lb.claim(rows, baseline="b", direction="max")
    assert [pair.claim.name for pair in judged.pairs] == ["a", "c"]
    alone = lb.claim({key: [value[1], value[2]] for key, value in rows.items()}, confidence=0.975)
    assert judged.pairs[1].readings[0].low == alone.pairs[0].readings[0].low
    assert "95 % confidence over 2 claims" in str(judged)
    assert len(judged.to_frame()) == 2
    assert "b" in judged.to_markdown() or judged.to_latex()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("claim", "ours is better"), "there is no mean with its ± in 'ours is better'"),
        (("claim", "a 1.0 ± 0.1", "b 2.0 ± 0.1"), "there is no number of runs"),
        (("claim", "a 1.0 ± 0.1 (5)"), "add the other"),
        (("claim",), "there is nothing to judge"),
        (("claim", "--mean", "1", "2", "--runs", "5", "5"), "--mean, --sd (or --se), --runs"),
        (("claim", "--claimed", "1"), "--claimed needs FILE"),
        (("claim", "a 1 ± 1 (3)", "b 2 ± 1 (3)", "--runs", "50", "50"), "--runs is for tables"),
        (("claim", "a 1 ± 1 (3)", "b 2 ± 1 (3)", "--where", "x > 1"), "--where is for tables"),
        (("claim", "a 1 ± 1 (3)", "b 2 ± 1 (3)", "--search-sd", "-1"), "--search-sd is a standard deviation"),
    ],
)
def test_what_is_lacking_is_said(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_one_run_allows_no_answer(capsys):
    code, _, err = run(capsys, "claim", "a 1.0 ± 0.1 (1)", "b 2.0 ± 0.1 (5)")
    assert code == 1
    assert "one run has no standard deviation" in err


def test_runs_of_a_baseline_need_both_numbers(capsys, tmp_path):
    path = tmp_path / "baseline.csv"
    path.write_text("val_acc\n" + "\n".join(f"0.{80 + i}" for i in range(19)))
    code, out, _ = run(capsys, "claim", str(path), "--claimed", "0.999", "--attempts", "1", "--json")
    assert code == 0
    assert json.loads(out)["p_value"] == pytest.approx(1 / 20)
    code, _, err = run(capsys, "claim", str(path), "--claimed", "0.999")
    assert code == 2
    assert "give --attempts too" in err
    code, _, err = run(capsys, "claim", str(path))
    assert code == 2
    assert "no columns mean, sd (or se) and n" in err
    assert "--claimed and --attempts" in err


def test_samples_of_problems_are_no_runs(capsys, tmp_path):
    """The mean over a benchmark is not compared with single 0/1 samples."""
    path = tmp_path / "samples.csv"
    rows = [f"p{problem},{sample},{(problem + sample) % 2}" for problem in range(10) for sample in range(5)]
    path.write_text("problem,sample,correct\n" + "\n".join(rows))
    code, out, err = run(capsys, "claim", str(path), "--claimed", "0.7", "--attempts", "3", "--group", "problem")
    assert (code, out) == (1, "")
    assert "these are samples of problems" in err
