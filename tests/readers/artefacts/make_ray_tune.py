"""Write the committed Ray Tune artefact: python make_ray_tune.py [FOLDER], with ``ray[tune]`` installed.

What names the machine (host, address, process, pickled paths) is taken out of the copy that is committed.
"""

import csv
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path

import ray
from ray import tune

TRIALS = [
    {"lr": 0.01, "opt": "adam", "net": {"width": 3}},
    {"lr": 0.02, "opt": "sgd", "net": {"width": 5}},
    {"lr": 0.99, "opt": "sgd", "net": {"width": 7}},  # fails before its first report
    {"lr": 0.04, "opt": "adam", "net": {"width": 9}},  # fails after its first
]


def objective(config):
    for epoch in range(3):
        if config["lr"] > 0.9 or (config["net"]["width"] == 9 and epoch == 1):
            raise RuntimeError("out of memory")
        score = 0.5 + config["lr"] * (1 + epoch - 2 * (epoch == 2))
        tune.report({"val_acc": score, "test": {"acc": score - 0.1}})


def run(home):
    """Run the study below ``home`` and return Ray's own table of it."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    tuner = tune.Tuner(
        objective,
        param_space=tune.grid_search(TRIALS),
        tune_config=tune.TuneConfig(metric="val_acc", mode="max", max_concurrent_trials=1),
        run_config=tune.RunConfig(name="cnn", storage_path=str(home), verbose=0),
    )
    frame = tuner.fit().get_dataframe(filter_metric="val_acc", filter_mode="max")
    ray.shutdown()
    return frame


def scrub(source, target):
    """Copy an experiment folder without pickles and without what names the machine."""
    for file in sorted(source.rglob("*.json")) + sorted(source.rglob("error.txt")) + sorted(source.rglob("*.csv")):
        if file.name.startswith("basic-variant-state"):
            continue
        new = target / file.relative_to(source)
        new.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text()
        if file.name.startswith("experiment_state"):
            state = json.loads(text)
            keep = ("trainable_name", "trial_id", "config", "status", "relative_logdir", "experiment_tag")
            trials = []
            for entry in state["trial_data"]:
                trial, moment = map(json.loads, entry)
                trial = {key: trial[key] for key in keep}
                moment = {key: moment[key] for key in ("start_time", "num_failures")}
                trials.append([json.dumps(trial), json.dumps(moment)])
            runner = {"_metric": state["runner_data"]["_metric"], "_iteration": state["runner_data"]["_iteration"]}
            text = json.dumps({"trial_data": trials, "runner_data": runner, "stats": state["stats"]})
        elif file.name == "result.json":
            lines = [json.loads(line) for line in text.splitlines()]
            for line in lines:
                line.update(hostname="host", node_ip="127.0.0.1", pid=1)
            text = "".join(json.dumps(line) + "\n" for line in lines)
        elif file.name == "error.txt":
            text = text.strip().splitlines()[-1] + "\n"
        elif file.suffix == ".csv":
            rows = list(csv.DictReader(io.StringIO(text)))
            if not rows:
                continue
            out = io.StringIO()
            writer = csv.DictWriter(out, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, "hostname": "host", "node_ip": "127.0.0.1", "pid": 1} for row in rows)
            text = out.getvalue()
        new.write_text(text)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "ray_tune"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        frame = run(home)
        if len(sys.argv) > 1:
            shutil.copytree(Path(home) / "cnn", folder / "cnn")
        else:
            scrub(Path(home) / "cnn", folder / "cnn")
    columns = ["trial_id", "val_acc", "test/acc", "training_iteration"]
    frame[columns].to_json(folder / "expected.json", orient="records", double_precision=15)
    named = {"hostname": "host", "node_ip": "127.0.0.1", "pid": 1, "logdir": "logdir"}
    frame.assign(**{name: value for name, value in named.items() if name in frame}).to_csv(
        folder / "table.csv", index=False
    )
    (folder / "VERSIONS").write_text(f"ray {ray.__version__}\npython {sys.version.split()[0]}\n")
