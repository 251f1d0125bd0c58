"""Files as laboratories leave them, each once read in a wrong way or asked about in vain: the answer is known."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import Ambiguous
from levelbest.readers.steps.cells import as_numbers
from levelbest.readers.steps.names import direction_of

FAST = {"n_resamples": 199}


def runs(levels, many, spread=0.01, seed=0):
    """Scores by family, ten spreads apart: a verdict against the better one is no matter of chance."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(level, spread, many) for name, level in levels.items()}


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_history_of_keras_is_one_run(tmp_path):
    for name, scores in runs({"cnn": 0.8, "mlp": 0.7}, 4).items():
        for seed, score in enumerate(scores):
            history = {"loss": [1, 0.5], "accuracy": [0.5, 0.9], "val_loss": [1.1, 0.6], "val_accuracy": [0.4, score]}
            write(tmp_path / "histories" / f"{name}_seed{seed}.json", [json.dumps(history)])
    compared = lb.compare(tmp_path / "histories", **FAST)
    assert compared.terms.design == "seeds"
    assert compared["cnn", "mlp"].verdict_at(1) == "cnn"


def test_logs_named_after_seeds(tmp_path):
    for name, scores in runs({"td3": 100.0, "ddpg": 70.0}, 5, 1.0).items():
        for seed, score in enumerate(scores):
            rows = [f"{1000 * step},{score * step / 5:.2f}" for step in range(1, 6)]
            write(tmp_path / "logs" / f"{name}_s{seed}.csv", ["timestep,eval_reward", *rows])
    trials = lb.read_trials(tmp_path / "logs")
    assert len(trials) == 10  # one for each log
    assert sorted({*trials.seed}) == [0, 1, 2, 3, 4]
    assert "s" not in trials.configuration
    assert lb.compare(trials, **FAST)["td3", "ddpg"].verdict_at(1) == "td3"


def test_sizes_in_names_are_no_seeds(tmp_path):
    for size in (32, 64, 128):
        write(tmp_path / "runs" / f"net_s{size}.json", [json.dumps({"val_acc": 0.5 + size / 1000})])
    assert "s" in lb.read_trials(tmp_path / "runs").configuration


def test_tests_by_their_ids_are_problems(tmp_path):
    rng = np.random.default_rng(1)
    solved = {name: rng.random(80) < chance for name, chance in (("m1", 0.4), ("m2", 0.9))}
    rows = [f"{name},t{i},{'PASS' if hit else 'FAIL'}" for name in solved for i, hit in enumerate(solved[name])]
    trials = lb.read_trials(write(tmp_path / "tests.csv", ["model,test_id,outcome", *rows]))
    assert trials.columns["group"] == "test_id"
    assert lb.compare(trials, **FAST)["m1", "m2"].verdict_at(1) == "m2"


def test_columns_aligned_by_spaces(tmp_path):
    scores = runs({"cnn": 0.7, "vit": 0.8}, 5)
    rows = [f"{name:7s} {seed:4d}  {score:.4f}" for name in scores for seed, score in enumerate(scores[name])]
    compared = lb.compare(write(tmp_path / "runs.txt", ["model   seed  accuracy", *rows]), **FAST)
    assert compared["cnn", "vit"].verdict_at(1) == "vit"


@pytest.mark.parametrize(("name", "direction"), [("Top-1 error (%)", "min"), ("top5", "max"), ("Top-1 acc.", "max")])
def test_an_error_of_the_best_guess_is_an_error(name, direction):
    table = {"model": ["a", "a", "b", "b"], name: [24.1, 24.3, 30.2, 30.1]}
    assert lb.read_trials(table).metric.direction == direction


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.895,82", "1.200", "12.345.678,9"], [1895.82, 1200, 12345678.9]),
        (["1.895", "1.200"], [1.895, 1.2]),  # nothing says that the point parts thousands
        (["0,5", "1.234"], [0.5, 1.234]),
        (["1.234.567", "1.200"], [1234567, 1200]),
        (["k.A.", "3,5", "–"], [np.nan, 3.5, np.nan]),
    ],
)
def test_points_of_thousands(cells, numbers):
    assert as_numbers(np.array(cells, dtype=object)).values == pytest.approx(numbers, nan_ok=True)


@pytest.mark.parametrize("word", ["Mittelwert", "Summe", "Moyenne", "Promedio", "Gesamt:", "平均"])
def test_summary_rows_in_other_languages(word, tmp_path):
    scores = runs({"alt": 0.7, "neu": 0.8}, 12)
    rows = [f"{name};{score:.4f}" for name in scores for score in scores[name]]
    total = np.mean([*scores["alt"], *scores["neu"]]) * (24 if word in ("Summe", "Gesamt:") else 1)
    trials = lb.read_trials(write(tmp_path / "t.csv", ["Modell;Genauigkeit", *rows, f"{word};{total:.4f}"]))
    assert trials.families == ("alt", "neu")
    assert [row.why[:12] for row in trials.skipped] == ["it is a summ"]


def test_what_may_have_been_a_trial_is_named_before_titles(tmp_path):
    rows = ["Results of March,,", "", "model,seed,accuracy", "a,0,0.71", "a,1,pending review", "a,2,0.72", "b,0,0.81"]
    trials = lb.read_trials(write(tmp_path / "t.csv", [*rows, "b,1,0.82", "b,2,0.83", "a,3,0.7"]))
    (lost,) = [caution for caution in trials.cautions if caution.code == "skipped-rows"]
    assert (dict(lost.facts)["where"], dict(lost.facts)["count"]) == ("t.csv, line 5", 2)


def test_families_in_columns_beside_data_sets(tmp_path, capsys):
    rng = np.random.default_rng(2)
    hard = rng.normal(0, 0.05, 20)
    rows = [f"ds{i},{0.7 + x:.3f},{0.8 + x:.3f}" for i, x in enumerate(hard)]
    path = str(write(tmp_path / "wide.csv", ["Dataset,LogReg,XGB", *rows]))
    assert main(["compare", path]) == 1
    assert "where each of these columns is a family, say --family columns" in capsys.readouterr().err
    compared = lb.compare(path, family="columns", direction="max", **FAST)
    assert compared.terms.n_groups == 20
    assert compared["LogReg", "XGB"].verdict_at(1) == "XGB"
    with pytest.raises(Ambiguous):  # a split is no family
        lb.compare({"train": [0.9, 0.8, 0.7], "val": [0.5, 0.6, 0.7], "lr": [0.1, 0.2, 0.3]}, **FAST)


def test_a_claim_over_several_data_sets_is_of_one(tmp_path):
    rows = ["a,base,80,0.5,5", "a,ours,82,0.5,5", "b,base,60,0.5,5", "b,ours,60.1,0.5,5"]
    path = write(tmp_path / "summary.csv", ["dataset,method,mean,std,n", *rows])
    with pytest.raises(Ambiguous, match="'base' occurs in 2 rows"):
        lb.claim(path)
    judged = lb.claim(path, where="dataset = 'a'")
    assert [pair.claim.name for pair in judged.pairs] == ["ours"]
    assert judged.pairs[0].readings[0].difference == pytest.approx(2)


MARKDOWN = """
| Method   | A             |         B |
|:---------|:-:            |-----------|
| base     | 1.0 ± 0.1     | 5.0 ± 0.1 |
| **ours** | **1.5 ± 0.1** | 5.1 ± 0.1 |
"""
LATEX = r"""
\begin{tabular}{lcc} \toprule
Method & A & B \\ \midrule
base & $1.0_{\pm 0.1}$ & $5.0 \pm 0.1$ \\
\textbf{ours} & $\mathbf{1.5_{\pm 0.1}}$ & $5.1 \pm 0.1$ \\ \bottomrule
\end{tabular}
"""


@pytest.mark.parametrize(
    ("name", "text", "column", "difference"), [("table.md", MARKDOWN, "A", 0.5), ("table.tex", LATEX, "B", 0.1)]
)
def test_printed_tables_of_several_scores(name, text, column, difference, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(Ambiguous, match="has means with their ± in 'A' or 'B': choose one with selection="):
        lb.claim(path, runs=5)
    with pytest.raises(lb.InputError, match="does not say of how many runs"):
        lb.claim(path, selection=column)
    judged = lb.claim(path, selection=column, runs=5)
    assert (judged.baseline.name, judged.pairs[0].claim.name) == ("base", "ours")
    assert judged.pairs[0].readings[0].difference == pytest.approx(difference)


def test_of_several_printed_tables_one_is_chosen(tmp_path):
    one = "| model | seed | acc |\n|---|---|---|\n| a | 0 | 0.7 |\n| b | 0 | 0.8 |\n"
    path = tmp_path / "notes.md"
    path.write_text(f"# Notes\n\n{one}\nText.\n\n{one.replace('0.8', '0.9')}")
    with pytest.raises(Ambiguous, match="has 2 tables"):
        lb.read_trials(path)
    assert lb.read_trials(path, table="2").selection.tolist() == [0.7, 0.9]
    with pytest.raises(lb.InputError, match="a number from 1 to 2"):
        lb.read_trials(path, table="3")


def test_a_refused_session_leaves_the_ledger_closed(tmp_path):
    ledger = tmp_path / "study.db"
    asked = {"n_trials": 2, "ledger": ledger, "selection": "x", "direction": "max", "progress": False}
    lb.run_trials(lambda config, _: {"x": config["x"]}, {"x": {"uniform": [0, 1]}}, **asked)
    with pytest.raises(lb.DataError, match="changed after it began"):
        lb.run_trials(lambda config, _: {"x": config["x"]}, {"x": {"uniform": [0, 2]}}, **asked)
    assert not lb.verify_ledger(ledger).log_absent


@pytest.mark.parametrize("head", ["config_id,budget,loss", "config_id,epoch,loss", "trial_id,rung,val_loss"])
def test_rungs_of_a_configuration_are_checkpoints(head, tmp_path):
    rows = [f"{place},{budget},{1 / budget + place / 1000:.4f}" for place in range(20) for budget in (1, 3, 9)]
    trials = lb.read_trials(write(tmp_path / "rungs.csv", [head, *rows]))
    assert trials.selection == pytest.approx([1 / 9 + place / 1000 for place in range(20)], abs=1e-4)


def test_a_long_printed_table_is_read_to_its_end(tmp_path):
    rows = [f"| {'ab'[place % 2]} | {place / 40000} | {'note' * 40} |" for place in range(30_000)]  # 5 MiB
    trials = lb.read_trials(write(tmp_path / "notes.md", ["| model | val_acc | notes |", "|---|---|---|", *rows]))
    assert (len(trials), trials.selection.max()) == (30_000, 29_999 / 40_000)


@pytest.mark.parametrize("runs", ["seed", "rep"])
def test_a_budget_of_runs_without_a_name_is_asked_about(runs, tmp_path):
    rows = [f"{family},{run},{budget},.{run}{budget}" for family in "ab" for run in range(1, 7) for budget in (10, 20)]
    path = write(tmp_path / "budgets.csv", [f"method,{runs},budget,acc", *rows])
    with pytest.raises(Ambiguous, match="'budget' goes up from row to row: does it count the checkpoints of 12 runs"):
        lb.read_trials(path)
    assert [len(lb.read_trials(path, trial=trial)) for trial in ("none", runs)] == [24, 12]


def test_a_leaderboard_is_no_sample_of_one_family(tmp_path):
    rows = [f"{place},team {place},{0.9 - place / 100:.2f}" for place in range(1, 21)]
    path = write(tmp_path / "leaderboard.csv", ["Rank,TeamName,Accuracy", *rows])
    with pytest.raises(Ambiguous, match="'TeamName' differs in nearly every row"):
        lb.read_trials(path)
    assert len(lb.read_trials(path, family="none").families) == 1


STYLED = r"""
\begin{tabular}{llc}
\toprule
 & \multicolumn{2}{c}{Test} \\
Model & Seed & Accuracy $\uparrow$ \\
\midrule
\multicolumn{3}{l}{\textit{Baselines}} \\
\multirow{3}{*}{CNN} & 1 & \cellcolor{green!20}81.2 \\
 & 2 & \textbf{\underline{82.1}} \\
 & 3 & \phantom{1}80.4\textsuperscript{2} \\
\rowcolor{gray!10} & 1 & \cellcolor[gray]{0.9}$\mathbf{71.2}^{*}$ \\
\rowcolor{gray!10} & 2 & \textcolor{red}{72.1}\tnote{1} \\
\rowcolor{gray!10}\multirow{-3}{*}{MLP~\cite{x}} & 3 & {\color{red} 70.4} \\
\bottomrule
\end{tabular}
"""


def test_the_styles_of_a_latex_table_are_no_part_of_its_numbers(tmp_path):
    trials = lb.read_trials(write(tmp_path / "t.tex", [STYLED]))
    scores = {name: trials[name].selection.tolist() for name in trials.families}
    assert scores == {"CNN": [81.2, 82.1, 80.4], "MLP": [71.2, 72.1, 70.4]}
    assert trials.metric.direction == "max"


def test_an_unknown_macro_does_not_continue_a_number(tmp_path):
    rows = [f"{name} & {seed} & 8{seed}\\sd{{3}} \\\\" for name in "ab" for seed in (1, 2)]
    table = ["\\begin{tabular}{lcc}", "Model & Seed & Accuracy \\\\", *rows, "\\end{tabular}"]
    with pytest.raises(lb.InputError, match="'Accuracy' holds words such as '81 3', and no numbers"):
        lb.read_trials(write(tmp_path / "t.tex", table))


@pytest.mark.parametrize("cell", ["OOM", "79.9%"])
def test_a_word_or_sign_in_a_column_of_seeds_does_not_cost_the_column(cell, tmp_path):
    rows = ["resnet,81.2,82.0,81.9,82.2", f"vgg,79.2,78.1,79.5,{cell}", "mlp,69.2,68.1,69.9,69.8"]
    table = write(tmp_path / "t.csv", ["model,seed 1,seed 2,seed 3,seed 4", *rows])
    trials = lb.read_trials(table, direction="max")
    assert [len(trials[name]) for name in trials.families] == [4, 4, 4]
    assert trials["vgg"].scores().n_failed == (cell == "OOM")
    assert trials["resnet"].selection.tolist() == [81.2, 82.0, 81.9, 82.2]


TURNED = {
    None: "perplexity reduction,error-free rate,1 - accuracy,100-F1,accuracy drop,pass rate drop,attack success rate,"
    "steps to success,not solved,WER improvement",
    "max": "1-shot accuracy,top-1 acc,f1 gain,adversarial accuracy,label-free accuracy,text_to_sql_acc,val_acc_1",
    "min": "neg_accuracy,error increase,WER (%),val_loss,1-step error",
}


@pytest.mark.parametrize(("name", "direction"), [(name, way) for way in TURNED for name in TURNED[way].split(",")])
def test_a_name_that_turns_its_metric_is_asked_about(name, direction):
    assert direction_of(name)[0] == direction


@pytest.mark.parametrize("mark", [-1, -999])
def test_a_number_that_stands_for_no_score_is_asked_about(mark, tmp_path):
    scores = runs({"a": 0.7, "b": 0.8}, 8)
    rows = [f"{name},{seed},{score:.4f}" for name in scores for seed, score in enumerate(scores[name])]
    table = write(tmp_path / "t.csv", ["model,seed,val_loss", *rows, f"b,9,{mark}"])
    with pytest.raises(Ambiguous, match=f"1 score of 'val_loss' is exactly {mark} and all others between"):
        lb.read_trials(table)
    assert len(lb.read_trials(table, where=f"val_loss <> {mark}")) == 16


def test_summaries_among_the_rows_and_copies_are_no_runs(tmp_path):
    scores = runs({"a": 0.7, "b": 0.8}, 5)
    rows = {name: [f"{name},{seed},{score:.4f}" for seed, score in enumerate(scores[name])] for name in scores}
    summed = [row for name in rows for row in (*rows[name], f"{name},avg,0.7", f"{name},std,0.01")]
    trials = lb.read_trials(write(tmp_path / "t.csv", ["model,seed,acc", *summed]))
    assert [len(trials[name]) for name in trials.families] == [5, 5]
    assert {row.why for row in trials.skipped} == {"it is a summary of other rows ('avg' in 'seed')"}
    twice = [*rows["a"], *rows["b"]] * 2
    trials = lb.read_trials(write(tmp_path / "t.csv", ["model,seed,acc", *twice]))
    assert [len(trials[name]) for name in trials.families] == [5, 5]
    assert all(row.why.startswith("a copy: it repeats another row") for row in trials.skipped)
    part = [*rows["a"], *rows["a"], *rows["b"], f"b,0,{scores['b'][0] + 0.001:.4f}"]  # a seed run again is no copy
    trials = lb.read_trials(write(tmp_path / "t.csv", ["model,seed,acc", *part]))
    assert [len(trials[name]) for name in trials.families] == [5, 6]
    tied = [f"{name},{seed},{solved}" for name in "ab" for seed, solved in enumerate("0110100110")]
    again = write(tmp_path / "t.csv", ["model,seed,solved", *tied, tied[3], tied[4]])  # so may two runs
    assert len(lb.read_trials(again)) == 22


def test_limits_beside_a_score_are_no_settings(tmp_path):
    scores = runs({"a": 0.7, "b": 0.8}, 5)
    rows = [f"{name},{k},{x:.3f},{x - 0.02:.3f},{x + 0.02:.3f}" for name in scores for k, x in enumerate(scores[name])]
    table = write(tmp_path / "t.csv", ["model,seed,acc,ci_low,ci_high", *rows])
    assert lb.compare(table, **FAST).terms.design == "seeds"
