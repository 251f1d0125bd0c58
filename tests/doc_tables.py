"""The files that the documentation's commands read, made as a reader's own would look."""

import json
from pathlib import Path

import numpy as np


def _write(path, head, rows):
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def write_cv_results(path: Path, parameter: str, top: float) -> None:
    """As ``pandas.DataFrame(search.cv_results_).to_csv(path)`` of scikit-learn writes it."""
    rng = np.random.default_rng(int(100 * top))
    folds = top - 0.1 * rng.random((30, 1)) + 0.01 * rng.standard_normal((30, 3))
    rows = [
        f"{i},0.01,0.0,0.001,0.0,{value:.5g},{{'{parameter}': {value:.5g}}},"
        + ",".join(f"{score:.5f}" for score in (*own, own.mean()))
        + ",0.01,1"
        for i, (own, value) in enumerate(zip(folds, 10 ** rng.uniform(-3, 3, 30), strict=True))
    ]
    head = f",mean_fit_time,std_fit_time,mean_score_time,std_score_time,param_{parameter},params"
    scores = "split0_test_score,split1_test_score,split2_test_score,mean_test_score,std_test_score,rank_test_score"
    _write(path, f"{head},{scores}", rows)


def _write_runs(folder: Path) -> None:
    """Two agents in three games, three runs of five students, and sixty runs of a baseline near .8."""
    rng = np.random.default_rng(1)
    played = [
        f"{game},{agent},{seed},{low + wide * (chance + 0.03 * rng.standard_normal()):.1f}"
        for game, low, wide in (("Pong", -21, 42), ("Qbert", 100, 9000), ("Seaquest", 60, 3000))
        for agent, chance in (("dqn", 0.4), ("c51", 0.6))
        for seed in range(5)
    ]
    _write(folder / "atari.csv", "game,algorithm,seed,episode_return", played)
    names = ("Jürgen", "Zoë", "Lea", "Łukasz", "O'Brien")
    levels = {name: 0.9 if name == "Lea" else 0.8 for name in names}
    marks = [f"{name},{run},{levels[name] + 0.01 * rng.standard_normal():.2f}" for name in names for run in (1, 2, 3)]
    _write(folder / "class.csv", "Student,Run,Accuracy", marks)
    baseline = [f"{i},{0.8 + 0.01 * rng.standard_normal():.4f}" for i in range(60)]
    _write(folder / "baseline.csv", "run,accuracy", baseline)


def write_tables(folder: Path) -> None:
    """seeds.csv, results.csv, repeats.csv, search.csv, wandb.csv, samples.csv, perplexity.csv, searches.csv, tpe.csv,
    svc.csv, tree.csv, atari.csv, class.csv, baseline.csv and runs/."""
    _write_runs(folder)
    write_cv_results(folder / "svc.csv", "C", 0.95)
    write_cv_results(folder / "tree.csv", "max_depth", 0.85)
    rng = np.random.default_rng(0)
    seeds = [
        (name, seed, mean + 0.006 * rng.standard_normal())
        for name, mean in (("base", 0.842), ("large", 0.861))
        for seed in range(5)
    ]
    _write(folder / "seeds.csv", "model,seed,test_acc", [f"{m},{s},{x:.4f}" for m, s, x in seeds])

    trials = []
    for name, top, many in (("cnn", 0.92, 40), ("lr", 0.86, 40)):
        for _ in range(many):
            quality = top - (0.25 if name == "cnn" else 0.08) * rng.random() ** 1.5
            trials.append(
                (name, 10 ** rng.uniform(-4, -1), quality, quality - 0.01 * rng.random(), rng.uniform(0.2, 1.5))
            )
    rows = [f"{m},{lr:.3g},{v:.4f},{t:.4f},{h:.2f}" for m, lr, v, t, h in trials]
    _write(folder / "results.csv", "model,learning_rate,dev_acc,test_acc,gpu_hours", rows)
    _write(
        folder / "wandb.csv",
        "Name,State,model,learning_rate,val_acc,test_acc,Runtime",
        [f"run-{i},finished,{m},{lr:.3g},{v:.4f},{t:.4f},{3600 * h:.0f}" for i, (m, lr, v, t, h) in enumerate(trials)],
    )

    repeats, drawn = [], np.random.default_rng(7)
    for name, level in (("cnn", 0.80), ("vit", 0.86)):
        for _ in range(12):
            lr, worth = 10 ** drawn.uniform(-4, -1), level + 0.02 * drawn.standard_normal()
            for seed in range(3):
                score = worth + 0.01 * drawn.standard_normal()
                repeats.append(f"{name},{lr:.4g},{seed},{score:.4f},{score - 0.01:.4f}")
    _write(folder / "repeats.csv", "model,lr,seed,val_acc,test_acc", repeats)

    samples = []
    for problem in range(60):
        hard = rng.beta(0.7, 1.2)
        for name, better in (("small", 1.0), ("large", 1.35)):
            samples += [f"{name},p{problem},{i},{int(rng.random() < min(1, hard * better))}" for i in range(8)]
    _write(folder / "samples.csv", "model,problem,sample,correct", samples)

    losses = [
        (name, np.exp(base + 0.15 * rng.gamma(1.5)))
        for name, base in (("lstm", 4.1), ("transformer", 3.8))
        for _ in range(30)
    ]
    _write(folder / "perplexity.csv", "model,valid_ppl", [f"{m},{x:.2f}" for m, x in losses])

    searches = []
    for name, top in (("tpe", 0.92), ("evolution", 0.90)):
        for repeat in range(6):
            level = top - 0.1 + 0.004 * rng.standard_normal()
            best = level + 0.1 * (1 - np.exp(-np.arange(20) / 6)) + 0.01 * rng.standard_normal(20)
            searches += [f"{name},{repeat},{i},{score:.4f}" for i, score in enumerate(best)]
    _write(folder / "searches.csv", "model,repeat,trial,val_acc", searches)

    runs = folder / "runs"
    for i, (m, lr, v, t, h) in enumerate(trials):
        (runs / f"run-{i:02d}").mkdir(parents=True)
        document = {"config": {"model": m, "learning_rate": lr}, "metrics": {"val_acc": v, "test_acc": t}, "hours": h}
        (runs / f"run-{i:02d}" / "metrics.json").write_text(json.dumps(document))


def write_optuna(path: Path, sampler: str = "random") -> None:
    """A storage with two studies of 25 trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for number, (name, top) in enumerate((("cnn", 0.92), ("lr", 0.86))):
        chosen = (
            optuna.samplers.RandomSampler(number) if sampler == "random" else optuna.samplers.TPESampler(seed=number)
        )
        study = optuna.create_study(storage=f"sqlite:///{path}", study_name=name, sampler=chosen, direction="maximize")
        study.optimize(lambda trial, top=top: top - 0.05 * abs(trial.suggest_float("x", -2, 2)), n_trials=25)
