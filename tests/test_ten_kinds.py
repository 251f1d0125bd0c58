"""Ten kinds of data as people have them: the right answer, or the right question and then the answer, in two tries.

The truth of every file is known, and the better family is better by several times what limits are wide, so that a
wrong or an open verdict is no matter of chance (by far less than once in 10,000 draws of these files, whose seeds are
fixed).
"""

import json
import re
import sys

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main


@pytest.fixture
def tried(tmp_path, monkeypatch, capsys):
    """What a command prints to a person: its exit code and its two outputs, as one line each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        code = main([*arguments])
        printed = capsys.readouterr()
        lines = printed.out.splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines), default=0) <= 80
        answer = re.sub(r"\A(chosen .*\n( {7}.*\n)*)+", "", printed.out)
        return code, " ".join(answer.split()), " ".join(printed.err.split())

    return run


def write(path, rows, **options):
    path.write_text("\n".join(rows) + "\n", **options)


def comma(value, digits=2):
    return f"{value:.{digits}f}".replace(".", ",")


# ---- 1, a messy European CSV


def test_german_runs_with_a_failure_a_footer_and_euros(tmp_path, tried):
    rng = np.random.default_rng(1)
    rows = ["Auswertung vom 12.03.2026;;;;", "", "Verfahren;Lauf Nr.;F1-Wert;Kosten (EUR);Status"]
    for name, level in (("Basis", 0.70), ("Größer", 0.76)):
        for run in range(1, 9):
            cost = f"1.{rng.integers(100, 999)},{rng.integers(10, 99)}"
            if (name, run) == ("Basis", 3):
                rows.append(f"{name};{run};k.A.;1.200;fehlgeschlagen")
            else:
                rows.append(f"{name};{run};{comma(rng.normal(level, 0.006), 3)};{cost};fertig")
    rows.append("Summe;;;24.566,10;")
    write(tmp_path / "auswertung.csv", rows, encoding="cp1252")
    code, answer, _ = tried("compare", "auswertung.csv")
    assert code == 0
    assert answer.startswith("For a new run: Größer, better than Basis by 0.0")
    trials = lb.read_trials("auswertung.csv")
    assert {name: len(trials[name]) for name in trials.families} == {"Basis": 8, "Größer": 8}
    assert trials["Basis"].scores().n_failed == 1  # fehlgeschlagen is counted, and not dropped with its row
    assert trials.metric.cost_unit == "EUR"
    assert 1100 < trials.cost.min() < trials.cost.max() < 2000  # 1.895,82 is 1895.82, and 1.200 beside it 1200


def test_french_losses_with_a_mark_and_a_total(tmp_path, tried):
    rng = np.random.default_rng(2)
    rows = ["Méthode;Graine;Perte de test;Durée (s)"]
    for name, level in (("Référence", 0.512), ("Proposée", 0.455), ("Ablation", 0.505)):
        scores = rng.normal(level, 0.006, 6)
        rows += [f"{name};{seed};{comma(score, 4)};{comma(rng.gamma(20, 60), 1)}" for seed, score in enumerate(scores)]
    write(tmp_path / "resultats.csv", [*rows, "Moyenne;;0,4907;1200,0"], encoding="utf-8-sig")
    code, answer, _ = tried("compare", "resultats.csv")
    assert code == 0
    assert answer.startswith("For a new run: Proposée, better than both others")


# ---- 2, Optuna


def search(storage, name, top, sampler, n_trials=25):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", sampler=sampler)
    study.optimize(lambda trial: top - 0.01 * (trial.suggest_float("x", 0, 4) - 2) ** 2, n_trials=n_trials)
    return study.best_value


def test_one_search_that_learns_each_is_no_verdict_and_a_study_to_run(tmp_path, tried):
    optuna = pytest.importorskip("optuna")
    storage = f"sqlite:///{tmp_path / 'tpe.db'}"
    best = {
        name: search(storage, name, top, optuna.samplers.TPESampler(seed=1))
        for name, top in (("resnet", 0.80), ("vit", 0.90))
    }
    code, answer, _ = tried("report", "tpe.db")
    assert code == 0
    assert "one search of a family allows no verdict" in answer
    assert f"vit {best['vit']:.4g}"[:8] in answer
    assert "better than resnet" not in answer
    assert "the study that the report writes, retrain.yaml" in answer
    study = (tmp_path / "report" / "retrain.yaml").read_text()
    assert '"vit"' in study
    assert lb.read_study(tmp_path / "report" / "retrain.yaml").families[0].n_trials == 5


def test_random_searches_are_compared_trial_by_trial(tmp_path, tried):
    optuna = pytest.importorskip("optuna")
    for name, top in (("resnet", 0.80), ("vit", 0.90)):
        search(f"sqlite:///{tmp_path / 'random.db'}", name, top, optuna.samplers.RandomSampler(seed=len(name)))
    code, answer, _ = tried("compare", "random.db")
    assert code == 0
    assert re.match(r"With \d trials: vit, better than resnet by 0\.10", answer)


# ---- 3, reinforcement learning

GAMES = {"Alien": (300, 1500), "Breakout": (2, 80), "Pong": (-21, 35), "Qbert": (200, 8000), "Seaquest": (100, 2000)}


def played(rng, chance, spread=0.02):
    runs = {game: low + wide * rng.normal(chance, spread, 5) for game, (low, wide) in GAMES.items()}
    return {game: scores.round(2).tolist() for game, scores in runs.items()}


def test_games_in_their_own_units(tmp_path, tried):
    rng = np.random.default_rng(3)
    rows = ["game,algorithm,seed,episode_return"]
    for agent, chance in (("DQN", 0.4), ("C51", 0.6)):
        for game, runs in played(rng, chance).items():
            rows += [f"{game},{agent},{seed},{score}" for seed, score in enumerate(runs)]
    write(tmp_path / "atari.csv", rows)
    code, answer, _ = tried("report", "atari.csv")
    assert code == 0
    assert answer.startswith("Over 5 tasks")
    assert "run: C51, better than DQN" in answer
    assert {"iqm.svg", "profiles.svg", "families.tex"} <= {path.name for path in (tmp_path / "report").iterdir()}
    assert "& IQM &" in (tmp_path / "report" / "families.tex").read_text()


def test_scores_of_agents_by_game_in_json(tmp_path, tried):
    rng = np.random.default_rng(4)
    document = {agent: played(rng, chance) for agent, chance in (("DQN", 0.4), ("C51", 0.6))}
    (tmp_path / "scores.json").write_text(json.dumps(document))
    code, _, asked = tried("compare", "scores.json")
    assert code == 1
    assert "the family could be any of 'outer key', 'inner key'" in asked
    code, answer, _ = tried("compare", "scores.json", "--family", "outer key", "--direction", "max")
    assert code == 0
    assert "for a new run: C51, better than DQN" in answer


# ---- 4, samples of a language model


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_samples_with_tokens(kind, tmp_path, tried):
    rng = np.random.default_rng(5)
    rows = []
    for task in ("algebra", "geometry"):
        for problem in range(40):
            ease = rng.uniform(-0.2, 0.2)
            for model, chance in (("small", 0.3), ("big", 0.7)):
                solved = rng.random(3) < chance + ease
                tokens = {"tokens_in": 300, "tokens_out": 1000 if model == "big" else 400}
                rows += [
                    {"model": model, "task": task, "problem": problem, "sample": i, "correct": int(hit), **tokens}
                    for i, hit in enumerate(solved)
                ]
    path = tmp_path / f"samples.{kind}"
    if kind == "csv":
        write(path, [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])
    else:
        write(path, map(json.dumps, rows))
    code, answer, _ = tried("compare", path.name, "--rate", "input=3,output=15")
    assert code == 0
    assert answer.startswith("With 1 sample (pass@1): big, better than small by 0.")
    compared = lb.compare(path.name, cost={"input": 3, "output": 15}, n_resamples=199)
    assert compared.terms.n_groups == 80  # a number is another problem in each task
    solved = np.mean([row["correct"] for row in rows if row["model"] == "big"])
    (spend,) = [spend.value for spend in compared.per_solved if spend.family == "big"]
    assert spend == pytest.approx((300 * 3 + 1000 * 15) / 1e6 / solved)  # dollars for each problem solved


# ---- 5, a paper's numbers


def test_a_claim_in_both_readings(tried):
    code, answer, _ = tried("claim", "base 76.3 ± 0.4 (5), tuned 10", "ours 77.0 ± 0.6 (5), tuned 100")
    assert code == 0
    # Welch's t by hand: 0.7 / sqrt((0.16 + 0.36) / 5) is 2.17 at 6.97 degrees of freedom
    assert "the difference is 0.70 (-0.06 to 1.46) if ± is a standard deviation" in answer
    assert "ours had the larger search, 100 trials against 10" in answer


def test_a_lower_number_is_asked_about_and_not_called_worse(tried):
    given = ("base 23.1 ± 0.2 (5)", "ours 21.4 ± 0.1 (5)")
    code, _, asked = tried("claim", *given)
    assert code == 1
    assert "is a higher score better, or a lower one? ours (21.4) is below base (23.1)" in asked
    code, answer, _ = tried("claim", *given, "--direction", "min")
    assert code == 0
    assert answer.startswith("ours is better than base: by 1.70")


def test_a_table_of_a_paper_in_latex(tmp_path, tried):
    rows = [
        r"\begin{tabular}{lcc} \toprule",
        r"Method & Accuracy & Seeds \\ \midrule",
        r"BERT~\cite{devlin} & $76.3_{\pm 0.4}$ & 5 \\",
        r"\textbf{Ours} & $\mathbf{79.0_{\pm 0.6}}$ & 5 \\ \bottomrule",
        r"\end{tabular}",
    ]
    write(tmp_path / "table.tex", rows)
    code, _, asked = tried("compare", "table.tex")
    assert code == 1
    assert "means with their ±, a row for each method, are judged by levelbest claim table.tex" in asked
    code, answer, _ = tried("claim", "table.tex", "--plus-minus", "sd")
    assert code == 0
    assert answer.startswith("Ours is better than BERT: by 2.70")


# ---- 6, a pilot


def test_a_plan_in_hours_and_euros(tmp_path, tried):
    rng = np.random.default_rng(6)
    rows = ["arch\twidth\tvalid_acc\ta100_hours"]
    for arch, level in (("conv", 0.80), ("mamba", 0.81)):
        rows += [f"{arch}\t{rng.integers(64, 512)}\t{rng.normal(level, 0.02):.4f}\t3.0" for _ in range(20)]
    write(tmp_path / "pilot.tsv", rows)
    code, answer, _ = tried("plan", "pilot.tsv", "--price", "2 EUR", "--out", "power.png")
    assert code == 0
    latest, hours, euros = re.search(
        r"at the latest after ([\d,]+) trials of each \(\w+ ([\d,]+) A100 h, ([\d,]+) EUR\)", answer
    ).groups()
    count, hours, euros = (int(text.replace(",", "")) for text in (latest, hours, euros))
    assert hours == pytest.approx(2 * (count - 20) * 3.0, rel=0.03)  # shown with two digits
    assert euros == pytest.approx(2 * hours, rel=0.03)
    assert (tmp_path / "power.png").stat().st_size > 1000


# ---- 7, the runner

TRAIN = """
import argparse, json, random, sys
parser = argparse.ArgumentParser()
for name in ("model", "lr", "seed"):
    parser.add_argument("--" + name)
given = parser.parse_args()
if given.model == "broken":
    sys.exit("no such model")
noise = random.Random(given.seed).gauss(0, 0.01)
print(json.dumps({"val_acc": {"small": 0.7, "large": 0.8}[given.model] + noise}))
"""


def test_a_study_from_scratch_with_a_mistake(tmp_path, tried):
    (tmp_path / "train.py").write_text(TRAIN)
    family = "  {0}: {{command: '{1} train.py --model {2} --lr {{lr}} --seed {{seed}}', space: {{lr: [0.1, 0.01]}}}}"
    head = ["metric: {selection: val_acc}", "n_trials: 8", "families:"]
    write(tmp_path / "study.yaml", [*head, family.format("small", sys.executable, "small")])
    code, _, asked = tried("run", "study.yaml", "--quiet")
    assert code == 2
    assert "the entry metric: direction is missing" in asked
    head[0] = "metric: {selection: val_acc, direction: max}"
    families = [family.format("small", sys.executable, "small"), family.format("large", sys.executable, "broken")]
    write(tmp_path / "study.yaml", [*head, *families])
    code, _, asked = tried("run", "study.yaml", "--quiet", "--workers", "1")  # with more, a fourth may be under way
    assert code == 1
    assert "the first 3 trials of large failed with the same error: exit code 1: no such model" in asked
    families[1] = family.format("large", sys.executable, "large")
    write(tmp_path / "study.yaml", [*head, *families])
    lb.run_study(lb.read_study("study.yaml"), "study.db", redo=["large"])
    code, answer, _ = tried("compare", "study.db")
    assert code == 0
    assert re.match(r"With \d+ trials?: large-2, better than small", answer)
    assert lb.compare("study.db", n_resamples=199).families == ("small", "large-2")  # large has no score
    whole = lb.verify_ledger("study.db")
    assert whole.whole
    assert {counts.family: counts.n_failed for counts in whole.families} == {"small": 0, "large": 3, "large-2": 0}


def test_draws_from_few_settings_are_trials(tmp_path):
    """With one seed a configuration each trial is drawn: that some settings come again does not make it a design."""
    ledger = tmp_path / "study.db"
    for name, level in (("a", 0.7), ("b", 0.8)):
        lb.run_trials(
            lambda config, seed, level=level: level + 0.001 * config["depth"] + 1e-12 * seed,
            {"depth": [2, 4, 8]},
            n_trials=12,
            family=name,
            ledger=ledger,
            selection="score",
            direction="max",
            progress=False,
        )
    compared = lb.compare(ledger)
    assert compared.terms.design == "trials"
    assert compared["a", "b"].verdict_at(3) == "b"


# ---- 8, dataframes


def frame(rng, levels, n=12):
    return {
        "model": [name for name in levels for _ in range(n)],
        "val_acc": [rng.normal(level, 0.01) for level in levels.values() for _ in range(n)],
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "records", "index"])
def test_a_table_of_any_library(library):
    columns = frame(np.random.default_rng(8), {"a": 0.70, "b": 0.80})
    if library == "polars":
        table = pytest.importorskip("polars").DataFrame(columns)
    else:
        table = pytest.importorskip("pandas").DataFrame(columns)
    if library == "records":
        table = table.to_dict("records")
    if library == "index":
        table = table.set_index("model")
    verdict = lb.compare(table)
    assert verdict["a", "b"].verdict_at(2) == "b"
    assert r"\begin{tabular}" in verdict.to_latex()


def test_guesses_of_a_notebook():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(frame(np.random.default_rng(9), {"a": 0.70, "b": 0.80}))
    assert "expected best val_acc of 10 trials" in str(lb.curve(table, n=10))
    drawn = lb.curve(table[table.model == "a"]).plot(color="red")
    assert drawn.get_lines()[0].get_color() == "red"
    scores = {name: table[table.model == name].val_acc for name in ("a", "b")}
    assert lb.compare(scores, direction="max")["a", "b"].verdict_at(2) == "b"
    uneven = {"resnet": scores["a"][:9], "vit": scores["b"].to_numpy()}
    assert lb.compare(uneven, direction="max")["vit", "resnet"].verdict_at(2) == "vit"
    wide = pandas.DataFrame({name: column.to_numpy() for name, column in scores.items()})
    assert lb.compare(wide, direction="max")["a", "b"].verdict_at(2) == "b"
    with pytest.raises(lb.LevelbestError, match="is a higher 'score' better"):
        lb.compare(wide)


@pytest.mark.parametrize(
    ("guess", "here"),
    [("metric", "selection="), ("alpha", "confidence=0.95"), ("seed", "rng="), ("maximize", "direction=")],
)
def test_words_of_other_libraries_lead_to_ours(guess, here):
    table = frame(np.random.default_rng(10), {"a": 0.70, "b": 0.80})
    with pytest.raises(lb.InputError, match=re.escape(here)):
        lb.compare(table, **{guess: 1})


def test_a_verb_of_the_command_line_leads_to_its_function():
    with pytest.raises(AttributeError, match="did you mean 'plan_trials'"):
        lb.plan  # noqa: B018


# ---- 9, a folder of JSON from several people


def test_several_names_of_one_score(tmp_path, tried):
    rng = np.random.default_rng(11)
    for who, named in (("anna", "accuracy"), ("björn", "test_acc"), ("chen", "acc")):
        for model, level in (("base", 0.80), ("large", 0.90)):
            for seed in range(4):
                path = tmp_path / "runs" / who / f"{model}_{seed}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                document = {"model": model, "seed": seed, "results": {named: rng.normal(level, 0.01)}}
                path.write_text(json.dumps(document))
    code, _, asked = tried("compare", "runs")
    assert code == 1
    option, mapping = re.search(r"\((--map) ([^)\"']+)\)", asked).groups()
    code, answer, _ = tried("compare", "runs", option, mapping)  # as the question writes it
    assert code == 0
    assert re.match(r"With \d trials: large, better than base by 0\.(09|10)", answer)
    assert sum(lb.read_trials("runs", map=mapping).family == 0) == 12


def test_scores_of_two_splits_are_two():
    table = {"model": ["a", "a", "b", "b"], "val_acc": [0.5, None, 0.6, None], "test_acc": [None, 0.5, None, 0.6]}
    assert lb.read_trials(table).metric.selection == "val_acc"


# ---- 10, a classroom

NAMES = ["Jürgen", "Zoë", "Łukasz", "🦊 Fuchs", "Müller, Eva", "O'Brien", "李雷", "Ömer", "Ana", "Lea"]


def test_three_runs_of_each_student(tmp_path, tried):
    rng = np.random.default_rng(12)
    rows = ["Student,Run,Accuracy"]
    for name in NAMES:
        rows += [f'"{name}",{run},{rng.normal(0.95 if name == "Lea" else 0.8, 0.004):.3f}' for run in (1, 2, 3)]
    write(tmp_path / "class.csv", rows, encoding="utf-8")
    code, answer, _ = tried("compare", "class.csv")
    assert code == 0
    assert answer.startswith("For a new run: Lea")
    compared = lb.compare("class.csv")
    against = [compared["Lea", name].verdict_at(1) for name in NAMES[:-1]]
    assert set(against) <= {"Lea", "undecided"}  # three runs, 45 pairs: some may be left open
    assert against.count("Lea") > 5
    equal = [pair for pair in compared.pairs if "Lea" not in pair.families]
    assert {pair.verdict_at(1) for pair in equal} == {"undecided"}


def test_runs_in_columns_and_repetitions_by_letters(tmp_path, tried):
    rng = np.random.default_rng(13)
    levels = {"Blau": 90.0, "Überflieger": 80.0, "α-Team": 70.0}
    wide = [f"{name},{','.join(f'{rng.normal(level, 0.5):.1f}' for _ in range(3))}" for name, level in levels.items()]
    write(tmp_path / "wide.csv", ["Name,Run 1,Run 2,Run 3", *wide], encoding="utf-8")
    code, _, asked = tried("compare", "wide.csv")
    assert code == 1
    assert "is each row a family (--family Name), or a problem (--group Name)?" in asked
    code, answer, _ = tried("compare", "wide.csv", "--family", "Name", "--direction", "max")
    assert code == 0
    assert answer.startswith("For a new run: Blau, better than both others")
    long = [f"{name},{rep},{rng.normal(level, 0.5):.1f}" for name, level in levels.items() for rep in "abc"]
    write(tmp_path / "long.csv", ["team,rep,rmse", *long], encoding="utf-8")
    code, answer, _ = tried("compare", "long.csv")
    assert code == 0
    assert answer.startswith("For a new run: α-Team, better than both others")


def test_a_cheater_is_judged_by_the_attempts(tmp_path, tried):
    """The best of 40 draws of one distribution is no gain over 20 runs of it: no p-value below 40 / 60 is possible."""
    rng = np.random.default_rng(14)
    write(tmp_path / "class.csv", ["Run,Accuracy", *(f"{run},{rng.normal(0.8, 0.01):.4f}" for run in range(20))])
    best = max(rng.normal(0.8, 0.01, 40))
    code, answer, _ = tried("claim", "class.csv", "--claimed", f"{best:.4f}", "--attempts", "40")
    assert code == 1
    assert "p cannot be below 0.667" in answer
