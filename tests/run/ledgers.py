"""Ledgers written record by record, without running anything."""

from pathlib import Path

from levelbest._ledger.plan import fingerprint_of
from levelbest._ledger.space import Space
from levelbest.run.ledger import Entry, Ledger

SPACE = Space({"lr": {"loguniform": [1e-4, 1e-1]}, "units": {"integer": [8, 64]}})


def opening(n_trials: int, families: tuple[str, ...] = ("cnn",), seed: int = 3) -> list[Entry]:
    metric = {"selection": "dev", "reported": "test", "direction": "max", "bounds": [0, 1]}
    study = {"name": "s", "seed": seed, "levelbest": "0", "metric": metric, "cost": {"of": "wall", "unit": "s"}}
    entries = [Entry("study", study), Entry("environment", {"python": "3"})]
    for number, name in enumerate(families):
        definition = {"command": ["true"], "space": [[k, v] for k, v in SPACE.to_dict().items()], "seeds": 1}
        body = {"name": name, "definition": definition, "fingerprint": fingerprint_of(definition)}
        entries.append(Entry("family", body, family=number))
        entries.append(Entry("plan", {"n_trials": n_trials}, family=number))
    entries.append(Entry("session", {"process": 1, "engine": "local", "workers": 2}))
    return entries


def started(trial: int, family: int = 0, attempt: int = 1, seed: int = 3) -> Entry:
    config, trial_seed = SPACE.draw(seed, family, trial)
    return Entry("start", {"config": config, "seed": trial_seed}, family, trial, attempt)


def ended(trial: int, family: int = 0, attempt: int = 1, status: str = "ok", dev: float | None = None) -> Entry:
    scores = {"dev": (trial % 97) / 97 if dev is None else dev, "test": 0.5} if status == "ok" else {}
    body = {"scores": scores, "wall": 1.0 + trial, "cpu": 0.5, "cost": 1.0 + trial}
    if status != "ok":
        body["reason"] = f"made to be {status}"
    return Entry("end", body, family, trial, attempt, status)


def make(path: Path, n_trials: int = 10, finished: int = 10) -> Ledger:
    ledger = Ledger.create(path, opening(n_trials))
    for trial in range(finished):
        ledger.append([started(trial)])
        ledger.append([ended(trial)])
    return ledger
