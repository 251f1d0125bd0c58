"""Results in the shapes of tools that cannot be installed here, as their documentation and sources describe them."""

import csv
import io
import json

import numpy as np


def smac(folder):
    path = folder / "smac_run"
    path.mkdir()
    runs = [
        [1, None, 7, None, 0.25, 1.5, 1.4, 1, 0.0, 1.5, {}],
        [2, None, 7, None, 2147483647.0, 0.2, 0.1, 2, 1.5, 1.7, {}],
        [3, None, 7, None, 0.125, 2.0, 1.9, 1, 1.7, 3.7, {}],
        [4, None, 7, None, 0.5, 1.0, 0.9, 1, 3.7, 4.7, {}],
    ]
    configs = {str(key): {"C": 0.1 * key, "kernel": "rbf" if key % 2 else "poly"} for key in range(1, 5)}
    document = {"stats": {"submitted": 4, "finished": 4, "running": 0}, "data": runs, "configs": configs}
    (path / "runhistory.json").write_text(json.dumps({**document, "config_origins": dict.fromkeys(configs, "Sobol")}))
    return path


def _text(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def ray_table(folder):
    rng = np.random.default_rng(2)
    rows = [
        {
            "val_acc": rng.random(),
            "trial_id": f"a{trial:04d}",
            "training_iteration": 10,
            "time_total_s": 5.0 + trial,
            "hostname": "secret-host",
            "node_ip": "10.0.0.1",
            "pid": 4711,
            "config/lr": 10 ** rng.uniform(-4, -1),
            "config/layers": int(rng.integers(1, 4)),
            "logdir": "/home/someone/ray_results",
        }
        for trial in range(8)
    ]
    path = folder / "results.csv"
    path.write_text(_text(rows))
    return path
