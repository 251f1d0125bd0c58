"""Results in the shapes of versions that cannot be installed here, as their documentation and sources describe them."""

import json


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
