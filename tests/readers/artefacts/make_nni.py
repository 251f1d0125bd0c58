"""Write the committed NNI artefact: python make_nni.py [FOLDER], with ``nni`` installed (it runs a web server).

Paths are taken out of the copy of the database that is committed.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from importlib.metadata import version
from pathlib import Path

TRIAL = """
    import nni
    given = nni.get_next_parameter()
    if given["lr"] > 0.5:
        raise RuntimeError("out of memory")
    for epoch in range(2):
        nni.report_intermediate_result(given["lr"] + 0.1 * epoch)
    nni.report_final_result({"default": given["lr"] + 0.01 * given["layers"], "test": given["lr"] - 0.05})
"""


def run(home, folder):
    """One experiment of 6 trials, some of which fail, and its two exports."""
    from nni.experiment import Experiment

    experiment = Experiment("local")
    config = experiment.config
    config.experiment_name = "mlp"
    config.trial_command = f"{sys.executable} trial.py"
    config.trial_code_directory = str(home / "code")
    config.search_space = {
        "lr": {"_type": "uniform", "_value": [0, 0.7]},
        "layers": {"_type": "choice", "_value": [1, 2, 3]},
    }
    config.tuner.name = "TPE"
    config.tuner.class_args = {"optimize_mode": "maximize", "seed": 1}
    config.max_trial_number, config.trial_concurrency = 6, 1
    config.experiment_working_directory = str(home / "experiments")
    experiment.run(port=18391, wait_completion=True)
    nnictl = Path(sys.executable).with_name("nnictl")
    for kind in ("json", "csv"):
        out = folder / f"export.{kind}"
        subprocess.run([nnictl, "experiment", "export", experiment.id, "-f", out, "-t", kind], check=True)
    experiment.stop()


def scrub(source, target):
    """A small copy of the database without paths."""
    shutil.copyfile(source, target)
    connection = sqlite3.connect(target)
    connection.execute("UPDATE TrialJobEvent SET logPath = ''")
    text = connection.execute("SELECT params FROM ExperimentProfile ORDER BY revision DESC LIMIT 1").fetchone()[0]
    plan = json.loads(text)
    kept = {key: plan[key] for key in ("experimentName", "experimentType", "searchSpace", "tuner", "maxTrialNumber")}
    connection.execute("UPDATE ExperimentProfile SET params = ?, logDir = ''", (json.dumps(kept),))
    connection.commit()
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA page_size = 512")
    connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "nni"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "mlp" / "db").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.environ["HOME"] = name
        (home / "code").mkdir()
        (home / "code" / "trial.py").write_text(textwrap.dedent(TRIAL))
        run(home, folder)
        database = next(home.glob("experiments/_latest/db/nni.sqlite"))
        scrub(database, folder / "mlp" / "db" / "nni.sqlite")
    (folder / "VERSIONS").write_text(f"nni {version('nni')}\npython {sys.version.split()[0]}\n")
