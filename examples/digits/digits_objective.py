"""Train one classifier on scikit-learn's bundled digits and score it: what a trial of this example is.

    from digits_objective import objective
    objective({"model": "svm", "scaling": "unit", "kernel": "rbf", "C": 10.0, "gamma": 0.05}, seed=1)

A configuration that scikit-learn refuses raises its error (the trial failed). Training that ends with weights that are
not finite gives scores of NaN (the trial diverged).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

TRAIN, VALIDATION, TEST = 297, 250, 1250
"""Images per part: few to train on, so that configurations differ; the rest of the 1,797 to report on."""
SPLIT_SEED = 20190909

Part = tuple[np.ndarray, np.ndarray]


@cache
def parts() -> dict[str, Part]:
    """The fixed split: the same images train, select and report in every trial."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(SPLIT_SEED).permutation(labels.size)
    train, validation, test = np.split(order, [TRAIN, TRAIN + VALIDATION])
    assert test.size == TEST
    return {name: (images[rows], labels[rows]) for name, rows in
            (("train", train), ("validation", validation), ("test", test))}  # fmt: skip


def objective(config: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Train what ``config`` describes; its validation and test accuracy, and the CPU seconds that training took."""
    data = parts()
    # One thread: the order of floating-point sums, and so the scores, must not depend on the number of cores.
    with threadpool_limits(limits=1), warnings.catch_warnings(), np.errstate(all="ignore"):
        # Stopping after the configured number of passes is part of the configuration, not a fault.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(_scaler(config), _classifier(config, seed))
        began = time.process_time()
        try:
            model.fit(*data["train"])
        except ValueError as error:
            if "non-finite" not in str(error):
                raise
            return {"val_accuracy": np.nan, "test_accuracy": np.nan, "seconds": time.process_time() - began}
        seconds = time.process_time() - began
        return {
            "val_accuracy": _accuracy(model, data["validation"]),
            "test_accuracy": _accuracy(model, data["test"]),
            "seconds": seconds,
        }


def _accuracy(model: ClassifierMixin, part: Part) -> float:
    images, labels = part
    return int((model.predict(images) == labels).sum()) / labels.size


def _scaler(config: Mapping[str, Any]) -> FunctionTransformer | StandardScaler:
    match config["scaling"]:
        case "none":
            return FunctionTransformer()
        case "unit":
            return FunctionTransformer(_by_largest_pixel)
        case "standard":
            return StandardScaler()
    raise ValueError(f"scaling must be none, unit or standard, got {config['scaling']!r}")


def _by_largest_pixel(images: np.ndarray) -> np.ndarray:
    return images / 16


def _classifier(config: Mapping[str, Any], seed: int) -> ClassifierMixin:
    given = {name: value for name, value in config.items() if name not in ("model", "scaling", "layers", "width")}
    match config["model"]:
        case "logistic-regression":
            return LogisticRegression(random_state=seed, max_iter=300, **given)
        case "svm":
            return SVC(random_state=seed, cache_size=50, **given)
        case "random-forest":
            return RandomForestClassifier(random_state=seed, n_jobs=1, **given)
        case "mlp":
            hidden = (config["width"],) * config["layers"]
            # Every pass is made: early stopping on the training loss would hide what the learning rate does.
            return MLPClassifier(
                hidden, random_state=seed, tol=0.0, n_iter_no_change=config["max_iter"], batch_size=20, **given
            )
    raise ValueError(f"model must be logistic-regression, svm, random-forest or mlp, got {config['model']!r}")
