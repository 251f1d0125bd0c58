"""Write the committed AMLTK artefact: python make_amltk.py [FOLDER], with ``amltk`` installed."""

import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from amltk.optimization import History, Metric, Trial
from amltk.store import PathBucket


def history(metrics, bucket):
    """Five trials, the fourth of which fails."""
    reports = History()
    for place in range(5):
        config = {"lr": 0.1 * place, "opt": "adam" if place % 2 else "sgd"}
        trial = Trial.create(
            name=f"trial_{place}", config=config, metrics=metrics, seed=place + 1, bucket=bucket, summary={"epochs": 3}
        )
        with trial.profile("fit"):
            time.sleep(0.01)
        if place == 3:
            try:
                raise ValueError("out of memory")
            except ValueError as error:
                reports.add(trial.fail(error))
        else:
            reports.add(trial.success(**{metric.name: 0.5 + 0.1 * place for metric in metrics}))
    return reports


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "amltk"
    folder.mkdir(parents=True, exist_ok=True)
    accuracy, loss = Metric("accuracy", minimize=False, bounds=(0, 1)), Metric("loss", minimize=True)
    with tempfile.TemporaryDirectory() as home:
        for name, metrics in (("one_metric", [accuracy]), ("two_metrics", [accuracy, loss])):
            frame = history(metrics, PathBucket(Path(home))).df()
            frame["bucket"], frame["traceback"] = "bucket", "NA"
            frame.to_csv(folder / f"{name}.csv")
    (folder / "VERSIONS").write_text(f"amltk {version('amltk')}\npython {sys.version.split()[0]}\n")
