"""Train one classifier on scikit-learn's bundled digits, 1,000 of them, and score it: a trial of the time study.

Three approaches that cost about 2 ms, 20 ms and half a second: each is the one to prefer at some budget of time.
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
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

TRAIN, VALIDATION = 1000, 400
"""Images to train and to select on; the other 397 are reported on."""
SPLIT_SEED = 20190909


@cache
def parts() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """The fixed split: training, validation and test images with their labels."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(SPLIT_SEED).permutation(labels.size)
    return tuple((images[rows] / 16, labels[rows]) for rows in np.split(order, [TRAIN, TRAIN + VALIDATION]))


def objective(config: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Validation and test accuracy of what ``config`` describes, and the CPU seconds that training took."""
    train, validation, test = parts()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Stopping after the configured number of passes is part of the configuration, not a fault.
        warnings.simplefilter("ignore", ConvergenceWarning)
        GaussianNB().fit(*train)  # the first use of scikit-learn in a process is slow, and no trial's own cost
        model = classifier(config, seed)
        began = time.process_time()
        model.fit(*train)
        seconds = time.process_time() - began
        return {
            "val_accuracy": float(model.score(*validation)),
            "test_accuracy": float(model.score(*test)),
            "seconds": seconds,
        }


def classifier(config: Mapping[str, Any], seed: int) -> ClassifierMixin:
    """The approach that a family searches."""
    match config["model"]:
        case "naive-bayes":
            return GaussianNB(var_smoothing=config["var_smoothing"])
        case "logistic-regression":
            return LogisticRegression(C=config["C"], max_iter=200)
        case "network":
            return MLPClassifier(
                (config["width"],) * config["layers"],
                learning_rate_init=config["learning_rate_init"],
                alpha=config["alpha"],
                max_iter=config["max_iter"],
                random_state=seed,
            )
    raise ValueError(f"model must be naive-bayes, logistic-regression or network, got {config['model']!r}")
