"""Writes the figures of the README and the index from the shipped results: ``python docs/write_figures.py``."""

from importlib import resources
from pathlib import Path

import levelbest as lb
from levelbest.report.figures.curves import save_curves

if __name__ == "__main__":
    table = resources.files("levelbest") / "data" / "digits.csv"
    chosen = {"family": "family", "selection": "val_accuracy", "reported": "test_accuracy", "cost": "seconds"}
    trials = lb.read_trials(str(table), **chosen, direction="max", bounds=(0, 1))
    curves = lb.family_curves(trials, simultaneous=True)
    save_curves(curves, Path(__file__).parent / "figures" / "digits.svg", log=True)
