"""The search spaces of the five families, and how draw i of a family is made from its seed alone.

Needs NumPy only. Every parameter that is active is drawn in the order it is declared, from the one generator
``numpy.random.default_rng([seed, family number, i])``, by the primitive of its kind; the trial's own seed comes last.

    uniform       low + (high - low) * rng.random()
    loguniform    exp(log low + (log high - log low) * rng.random())
    integer       rng.integers(low, high, endpoint=True)
    log-integer   floor(exp(log low + (log(high + 1) - log low) * rng.random())), at most high
    choice        the option whose share of the cumulated weights holds rng.random()
    constant      draws nothing
    (seed)        rng.integers(2**31)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

Parameter = Mapping[str, Any]
Space = Mapping[str, Parameter]


def uniform(low: float, high: float, **when: Any) -> Parameter:
    return {"kind": "uniform", "low": low, "high": high, **when}


def loguniform(low: float, high: float, **when: Any) -> Parameter:
    return {"kind": "loguniform", "low": low, "high": high, **when}


def integer(low: int, high: int, **when: Any) -> Parameter:
    return {"kind": "integer", "low": low, "high": high, **when}


def log_integer(low: int, high: int, **when: Any) -> Parameter:
    return {"kind": "log-integer", "low": low, "high": high, **when}


def choice(*options: Any, weights: list[float] | None = None, **when: Any) -> Parameter:
    return {"kind": "choice", "options": list(options), "weights": weights or [1.0] * len(options), **when}


def constant(value: Any) -> Parameter:
    return {"kind": "constant", "value": value}


# A parameter with ``when`` is active only where the named parameter, declared before it, has one of these values.
# The position of a family is its number.
FAMILIES: dict[str, Space] = {
    "logistic-regression": {
        "model": constant("logistic-regression"),
        "scaling": choice("none", "unit", "standard"),
        "solver": choice("lbfgs", "saga", weights=[1.0, 2.0]),
        # lbfgs cannot fit an l1 penalty: those configurations raise, as they do for whoever searches this space.
        "l1_ratio": choice(0.0, 1.0, weights=[3.0, 1.0]),
        "C": loguniform(1e-4, 1e2),
    },
    "svm": {
        "model": constant("svm"),
        "scaling": choice("none", "unit", "standard"),
        "kernel": choice("rbf", "poly", "sigmoid", "linear", weights=[3.0, 1.0, 1.0, 1.0]),
        "C": loguniform(1e-2, 1e3),
        "gamma": loguniform(1e-6, 1.0, when={"kernel": ["rbf", "poly", "sigmoid"]}),
        "degree": integer(2, 5, when={"kernel": ["poly"]}),
    },
    "random-forest": {
        "model": constant("random-forest"),
        "scaling": constant("none"),
        "n_estimators": log_integer(10, 300),
        "criterion": choice("gini", "entropy"),
        "max_features": uniform(0.02, 0.6),
        "min_samples_leaf": log_integer(1, 8),
        "bootstrap": choice(True, False),
    },
    "mlp": {
        "model": constant("mlp"),
        "scaling": choice("none", "unit", "standard"),
        "layers": integer(1, 3),
        "width": log_integer(16, 256),
        "activation": choice("relu", "tanh"),
        "solver": choice("sgd", "adam", weights=[2.0, 1.0]),
        "learning_rate_init": loguniform(1e-4, 1e2),
        "momentum": uniform(0.5, 0.99, when={"solver": ["sgd"]}),
        "alpha": loguniform(1e-5, 1e2),
        "max_iter": log_integer(10, 100),
    },
    "mlp-seeds": {
        "model": constant("mlp"),
        "scaling": constant("unit"),
        "layers": constant(1),
        "width": constant(64),
        "activation": constant("relu"),
        "solver": constant("adam"),
        "learning_rate_init": constant(0.003),
        "alpha": constant(0.0001),
        "max_iter": constant(40),
    },
}


def draw_trial(seed: int, family: int, i: int) -> tuple[dict[str, Any], int]:
    """Configuration and seed of draw ``i`` of family number ``family``; no other draw has any say in it."""
    rng = np.random.default_rng([seed, family, i])
    config: dict[str, Any] = {}
    for name, parameter in list(FAMILIES.values())[family].items():
        if all(config.get(other) in values for other, values in parameter.get("when", {}).items()):
            config[name] = draw_value(parameter, rng)
    return config, int(rng.integers(2**31))


def draw_value(parameter: Parameter, rng: np.random.Generator) -> Any:
    """One value of one parameter."""
    low, high = parameter.get("low"), parameter.get("high")
    match parameter["kind"]:
        case "constant":
            return parameter["value"]
        case "uniform":
            return low + (high - low) * rng.random()
        case "loguniform":
            return math.exp(math.log(low) + (math.log(high) - math.log(low)) * rng.random())
        case "integer":
            return int(rng.integers(low, high, endpoint=True))
        case "log-integer":
            drawn = math.exp(math.log(low) + (math.log(high + 1) - math.log(low)) * rng.random())
            return min(high, math.floor(drawn))
        case "choice":
            share = np.cumsum(parameter["weights"]) / np.sum(parameter["weights"])
            return parameter["options"][int(np.searchsorted(share, rng.random(), side="right"))]
    raise ValueError(f"unknown kind of parameter {parameter['kind']!r}")
