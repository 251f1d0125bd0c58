"""Write the committed Optuna artefacts: python make_optuna.py (from this folder, with Optuna installed).

``write_studies`` is also what the tests call to get fresh ones.
"""

import sqlite3
import sys
from pathlib import Path

import optuna
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend


def write_studies(storage):
    """One study with every state, one to be minimised, one with two objectives, one empty."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
        layers = trial.suggest_int("layers", 1, 3)
        kind = trial.suggest_categorical("kind", ["adam", "sgd", None])
        if trial.number == 3:
            raise RuntimeError("out of memory")
        for step in range(3):
            trial.report(0.1 * step + lr, step)
            if trial.number == 5 and step == 1:
                raise optuna.TrialPruned
        trial.set_user_attr("test", {"acc": 0.5 + lr, "seed": trial.number})
        return 0.5 + lr - 0.01 * layers + (0.05 if kind == "adam" else 0.0)

    study = optuna.create_study(
        storage=storage, study_name="cnn", direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1)
    )
    study.optimize(objective, n_trials=8, catch=(RuntimeError,))
    study.add_trial(
        optuna.trial.create_trial(
            value=float("inf"),
            params={"lr": 0.01},
            distributions={"lr": optuna.distributions.FloatDistribution(1e-4, 1e-1, log=True)},
        )
    )
    study.ask()  # never told: running
    study.enqueue_trial({"lr": 0.02})  # never asked for: waiting

    grid = optuna.create_study(
        storage=storage,
        study_name="grid",
        direction="minimize",
        sampler=optuna.samplers.GridSampler({"depth": [1, 2, 3], "flag": [True, False]}, seed=0),
    )
    grid.optimize(lambda t: t.suggest_int("depth", 1, 3) + (0.5 if t.suggest_categorical("flag", [True, False]) else 0))

    two = optuna.create_study(
        storage=storage,
        study_name="two objectives",
        directions=["minimize", "maximize"],
        sampler=optuna.samplers.NSGAIISampler(seed=0, population_size=4),
    )
    two.optimize(lambda t: (t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1)), n_trials=6)
    optuna.create_study(storage=storage, study_name="empty")


if __name__ == "__main__":
    folder = Path(__file__).parent / "optuna"
    for old in folder.glob("study.*"):
        old.unlink()
    write_studies(RDBStorage(f"sqlite:///{folder / 'study.db'}"))
    write_studies(JournalStorage(JournalFileBackend(str(folder / "study.journal"))))
    with sqlite3.connect(folder / "study.db") as connection:  # small pages: most tables hold a few rows
        connection.execute("PRAGMA page_size = 512")
        connection.execute("VACUUM")
    (folder / "VERSIONS").write_text(f"optuna {optuna.__version__}\npython {sys.version.split()[0]}\n")
