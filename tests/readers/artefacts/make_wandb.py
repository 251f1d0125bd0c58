"""Write the committed W&B offline runs: python make_wandb.py [FOLDER [STEPS]], with ``wandb`` installed.

Settings keep the user, the machine and the code out of the files; only the run files themselves are kept.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_ERROR_REPORTING="false")


def write_run(home, i, steps):
    """Run ``i``: 0 ends well, 1 fails, 2 diverges, 3 is killed."""
    import wandb

    settings = wandb.Settings(
        x_disable_meta=True,
        x_disable_stats=True,
        x_disable_machine_info=True,
        console="off",
        disable_git=True,
        save_code=False,
        host="host",
        username="user",
        program="train.py",
        root_dir=str(home),
    )
    config = {"lr": 0.01 * (i + 1), "net": {"width": 2**i, "act": "relu"}, "seed": 10 + i}
    run = wandb.init(project="cnn", name=f"run {i}", group="sweep-a", id=f"trial{i}", config=config, settings=settings)
    for step in range(steps):
        loss = float("nan") if i == 2 else 1 / (step + 1)
        run.log({"val": {"acc": 0.5 + 0.1 * i - 0.02 * (step - 1) ** 2 / steps}, "loss": loss})
    run.summary["test_acc"] = 0.4 + 0.1 * i
    run.config.update({"late": "yes"})
    if i == 3:
        os._exit(3)
    run.finish(exit_code=1 if i == 1 else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        write_run(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        sys.exit()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "wandb"
    steps = sys.argv[2] if len(sys.argv) > 2 else "3"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        for i in range(4):
            subprocess.run([sys.executable, __file__, "--one", home, str(i), steps], cwd=home, check=i != 3)
        for file in sorted(Path(home).glob("wandb/offline-run-*/run-*.wandb")):
            target = folder / "wandb" / file.parent.name
            target.mkdir(parents=True)
            shutil.copy(file, target / file.name)
    from wandb import __version__

    (folder / "VERSIONS").write_text(f"wandb {__version__}\npython {sys.version.split()[0]}\n")
