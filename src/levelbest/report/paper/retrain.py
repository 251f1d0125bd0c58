"""Writes a study file that retrains the best configuration of each search with fresh seeds, for comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from levelbest.report.words.plans import RETRAINED
from levelbest.report.words.verdicts import plain_setting
from levelbest.results import Comparison


def retrain_study(comparison: Comparison) -> str:
    """The best configuration of every search that learns, as a study of seeds; the command is the reader's to fill in.

    Values are written as JSON, which YAML reads as it is.
    """
    metric = comparison.terms.metric
    scores = {"selection": metric.selection.lstrip("-"), "reported": metric.reported, "direction": metric.direction}
    lines = [
        "# The best configuration of each search, trained again with fresh seeds: these runs can be compared.",
        "# 1. Put your training command in place of `python train.py`; {args} is `--name value` for each parameter.",
        f"#    It ends by printing its scores as one line of JSON: {json.dumps({scores['selection']: 0.9})}",
        "# 2. levelbest run retrain.yaml",
        "# 3. levelbest compare retrain.db",
        "seed: 0",
        f"metric: {json.dumps({key: value for key, value in scores.items() if value})}",
        f"n_trials: {RETRAINED}",
        "families:",
    ]
    for winner in comparison.best_found:
        name = json.dumps(winner.family)
        lines += [
            f"  {name}:",
            f"    command: {json.dumps('python train.py --model {family} {args} --seed {seed}')}",
            f"    space: {json.dumps(_settings(winner.configuration))}",
        ]
    return "\n".join(lines) + "\n"


def _settings(configuration: Mapping[str, object]) -> dict[str, object]:
    """Plain values by the name of each hyperparameter."""
    values = {plain_setting(name): value for name, value in configuration.items()}
    return {name: _plain(value.item() if isinstance(value, np.generic) else value) for name, value in values.items()}


def _plain(value: object) -> object:
    """A whole number as one, whatever a table made of it."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
