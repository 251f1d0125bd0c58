"""Write the committed Syne Tune artefact: python make_syne_tune.py [FOLDER], with ``syne-tune[basic]`` installed.

What names the machine is not in the two files that are kept.
"""

import argparse
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path


def train():
    """What Syne Tune runs for each trial: this file again, with a configuration."""
    from syne_tune import Reporter

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    parser.add_argument("--layers", type=int)
    args, _ = parser.parse_known_args()
    report = Reporter()
    for epoch in range(3):
        report(epoch=epoch + 1, val_loss=(args.lr - 0.1) ** 2 + 1 / (epoch + 1 + args.layers))


def search(seed):
    """One random search of four trials or more."""
    from syne_tune import StoppingCriterion, Tuner
    from syne_tune.backend import LocalBackend
    from syne_tune.config_space import loguniform, randint
    from syne_tune.optimizer.baselines import RandomSearch

    space = {"lr": loguniform(1e-4, 1), "layers": randint(1, 4)}
    Tuner(
        trial_backend=LocalBackend(entry_point=__file__),
        scheduler=RandomSearch(space, metrics=["val_loss"], random_seed=seed),
        stop_criterion=StoppingCriterion(max_num_trials_finished=4),
        n_workers=1,
        sleep_time=0.1,
        tuner_name="mlp",
    ).run()


if __name__ == "__main__":
    if "--lr" in sys.argv:
        train()
        raise SystemExit
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "syne_tune"
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ["SYNETUNE_FOLDER"] = home
        search(1)
        for file in sorted(Path(home).rglob("*")):
            if file.name in ("results.csv.zip", "metadata.json"):
                target = folder / file.relative_to(home)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    (folder / "VERSIONS").write_text(f"syne-tune {version('syne-tune')}\npython {sys.version.split()[0]}\n")
