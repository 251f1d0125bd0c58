"""Write the committed MLflow artefacts: python make_mlflow.py [FOLDER], with ``mlflow`` installed.

In the committed copies users and paths are blanked, and tables that hold no runs are dropped from the database.
"""

import os
import shutil
import sqlite3
import sys
import tarfile
import tempfile
from pathlib import Path

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow
from mlflow import MlflowClient

KEPT = ("experiments", "runs", "params", "metrics", "latest_metrics", "tags", "alembic_version")


def write_runs(uri):
    """Two experiments: runs that end, fail, stay open, are nested or deleted; and a table as MLflow reads it."""
    mlflow.set_tracking_uri(uri)
    client = MlflowClient(uri)
    cnn, lstm = client.create_experiment("cnn search"), client.create_experiment("lstm")
    begin = 1_700_000_000_000
    parent = client.create_run(cnn, start_time=begin, run_name="sweep")
    for i in range(5):
        tags = {"mlflow.parentRunId": parent.info.run_id, "note": f"n{i}"}
        run = client.create_run(cnn, start_time=begin + 1000 * i, run_name=f"run {i}", tags=tags).info.run_id
        client.log_param(run, "lr", 0.01 * (i + 1))
        client.log_param(run, "opt/name", "adam" if i % 2 else "sgd")
        client.log_param(run, "seed", i)
        for epoch in range(3):
            score = 0.5 + 0.1 * i - 0.02 * (epoch - 1) ** 2
            client.log_metric(run, "val/acc", score, step=epoch, timestamp=begin + 10 * epoch)
        client.log_metric(run, "test_acc", 0.4 + 0.1 * i)
        if i == 2:
            client.log_metric(run, "loss", float("nan"))
            client.log_metric(run, "worst", float("inf"))
        if i != 4:  # the last one is still running
            client.set_terminated(run, "FAILED" if i == 3 else "FINISHED", end_time=begin + 1000 * i + 2500)
    client.set_terminated(parent.info.run_id, end_time=begin + 60_000)
    gone = client.create_run(lstm, start_time=begin, run_name="gone").info.run_id
    client.delete_run(gone)
    kept = client.create_run(lstm, start_time=begin + 5, run_name="kept").info.run_id
    client.log_metric(kept, "val/acc", 0.25)
    client.set_terminated(kept, "KILLED", end_time=begin + 1005)
    return mlflow.search_runs(search_all_experiments=True)


def scrub_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table not in KEPT and not table.startswith("sqlite_"):
                connection.execute(f'DROP TABLE "{table}"')
        connection.execute("UPDATE runs SET user_id = '', artifact_uri = ''")
        connection.execute("UPDATE experiments SET artifact_location = ''")
        connection.execute("DELETE FROM tags WHERE key IN ('mlflow.user', 'mlflow.source.name')")
        connection.commit()
        connection.execute("PRAGMA page_size = 512")
        connection.execute("VACUUM")
    connection.close()


def scrub_folder(path):
    for file in path.rglob("meta.yaml"):
        lines = file.read_text().splitlines()
        private = ("user_id:", "artifact_uri:", "artifact_location:")
        file.write_text("".join(f"{line}\n" for line in lines if not line.startswith(private)))
    for file in [*path.rglob("mlflow.user"), *path.rglob("mlflow.source.name")]:
        file.unlink()


def plain(member):
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "mlflow"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        for name, uri in (("mlflow.db", f"sqlite:///{home}/mlflow.db"), ("mlruns", f"file://{home}/mlruns")):
            frame = write_runs(uri)
            wanted = [c for c in frame.columns if c.startswith(("metrics.", "params.", "status", "run_id"))]
            frame[wanted].to_json(folder / f"expected_{name}.json", orient="records", double_precision=15)
            if name == "mlruns":
                shutil.copytree(Path(home) / name, folder / name)
            else:
                shutil.copy(Path(home) / name, folder / name)
    if len(sys.argv) == 1:
        scrub_database(folder / "mlflow.db")
        scrub_folder(folder / "mlruns")
        with tarfile.open(folder / "mlruns.tar.gz", "w:gz") as archive:  # sixty files of a line each
            archive.add(folder / "mlruns", arcname="mlruns", filter=plain)
        shutil.rmtree(folder / "mlruns")
    (folder / "VERSIONS").write_text(f"mlflow {mlflow.__version__}\npython {sys.version.split()[0]}\n")
