"""Write the committed Keras Tuner artefact: python make_keras_tuner.py [FOLDER], with it (``[bayesian]``) and Keras.

No network is trained: ``run_trial`` may return any numbers, and those are what the tuner stores.
"""

import os
import re
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "numpy")
import keras_tuner


class Tuner(keras_tuner.RandomSearch):
    """A random search over two settings, in which one trial fails."""

    def run_trial(self, trial):
        settings = trial.hyperparameters
        lr, units = settings.Float("lr", 1e-4, 1e-1, sampling="log"), settings.Int("units", 32, 256, step=32)
        if trial.trial_id.endswith("4"):
            raise keras_tuner.errors.FailedTrialError("out of memory")
        return [{"val_accuracy": 0.5 + lr + units / 1000, "val_loss": 1 - lr - repeat / 100} for repeat in range(2)]


class Bayesian(keras_tuner.BayesianOptimization):
    """The same with a sampler that learns."""

    run_trial = Tuner.run_trial


def search(home, name, objective, tuner=Tuner):
    """One search; of eleven trials, so that trial_10 stands before trial_2 in a listing."""
    tuner(
        objective=objective,
        max_trials=11 if tuner is Tuner else 5,
        seed=1,
        directory=home,
        project_name=name,
        overwrite=True,
        max_consecutive_failed_trials=3,
    ).search()


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "keras_tuner"
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as home:
        search(home, "accuracy", "val_accuracy")
        search(home, "loss", keras_tuner.Objective("val_loss", "min"), Bayesian)
        for file in sorted(Path(home).rglob("*.json")):
            if file.name in ("trial.json", "oracle.json"):
                target = folder / file.relative_to(home)
                target.parent.mkdir(parents=True, exist_ok=True)
                told = file.read_text()
                target.write_text(re.sub(r'(File \\+")/[^"\\]*/', r"\1", told))  # no folders of this machine
    (folder / "VERSIONS").write_text(f"keras-tuner {version('keras-tuner')}\npython {sys.version.split()[0]}\n")
