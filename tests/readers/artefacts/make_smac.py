"""Write the committed SMAC3 artefact: python make_smac.py [FOLDER], with ``smac`` installed."""

import re
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from ConfigSpace import ConfigurationSpace
from smac import HyperparameterOptimizationFacade, Scenario


def objective(config, seed=0):
    if config["kernel"] == "poly" and config["C"] > 3:
        raise RuntimeError("out of memory")
    return (config["C"] - 2) ** 2 + 0.01 * (seed % 7)


def search(home, seed):
    """One search of 8 runs; a configuration may be run with two seeds."""
    space = ConfigurationSpace({"C": (0.01, 10.0), "kernel": ["rbf", "poly"]}, seed=seed)
    scenario = Scenario(space, n_trials=8, output_directory=home, name="svm", seed=seed, crash_cost=100.0)
    HyperparameterOptimizationFacade(scenario, objective, overwrite=True, logging_level=50).optimize()


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "smac"
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as home:
        for seed in (1, 2):
            search(Path(home), seed)
        for file in sorted(Path(home).rglob("*.json")):
            if file.name in ("runhistory.json", "scenario.json"):
                target = folder / file.relative_to(home)
                target.parent.mkdir(parents=True, exist_ok=True)
                told = file.read_text().replace(home, "smac3_output")
                target.write_text(re.sub(r'(File \\+")/[^"\\]*/', r"\1", told))  # no folders of this machine
    (folder / "VERSIONS").write_text(f"smac {version('smac')}\npython {sys.version.split()[0]}\n")
