"""Write the committed Nevergrad artefact: python make_nevergrad.py [FOLDER], with ``nevergrad`` installed."""

import sys
import warnings
from pathlib import Path

import nevergrad as ng
import numpy as np

SPACE = ng.p.Instrumentation(
    ng.p.Log(lower=1e-4, upper=1),
    units=ng.p.Scalar(lower=1, upper=64).set_integer_casting(),
    opt=ng.p.Choice(["adam", "sgd"]),
    w=ng.p.Array(shape=(2,)),
)


def loss(lr, units, opt, w):
    return float("inf") if lr > 0.2 else abs(np.log10(lr) + 2) + units / 64 + (opt == "sgd") + 0.01 * w @ w


def search(optimizer, budget, seed, path):
    """One search, every point of it logged."""
    space = SPACE.copy()
    space.random_state.seed(seed)
    made = optimizer(parametrization=space, budget=budget)
    made.register_callback("tell", ng.callbacks.ParametersLogger(path))
    made.minimize(loss)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "nevergrad"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("log.jsonl", "searches.jsonl"):
        (folder / name).unlink(missing_ok=True)
    for seed, name in enumerate(["RandomSearch", "LHSSearch", "ChainCMAwithLHS"]):
        search(ng.optimizers.registry[name], 4, seed, folder / "log.jsonl")
    for seed in range(3):
        search(ng.optimizers.registry["OnePlusOne"], 3, seed, folder / "searches.jsonl")
    (folder / "VERSIONS").write_text(f"nevergrad {ng.__version__}\npython {sys.version.split()[0]}\n")
