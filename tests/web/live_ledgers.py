"""Ledgers written record by record, as a runner would while a page is open."""

from pathlib import Path

import numpy as np

from levelbest._ledger.plan import fingerprint_of
from levelbest._ledger.space import Space
from levelbest.run.ledger import Entry, Ledger, logs_folder

HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'
SPACE = Space({"lr": {"uniform": [0, 1]}, "note": HOSTILE})


def opening(
    n_trials: int,
    families: tuple[str, ...],
    direction: str | None = "max",
    bounds: tuple[float | None, ...] = (None, None),
) -> list[Entry]:
    selection = None if direction is None else "dev"
    metric = {"selection": selection, "reported": None, "direction": direction, "bounds": list(bounds)}
    study = {"name": f"study {HOSTILE}", "seed": 3, "levelbest": "0", "metric": metric}
    study["cost"] = {"of": "wall", "unit": "s"}
    entries = [Entry("study", study), Entry("environment", {"python": "3"})]
    for number, name in enumerate(families):
        definition = {"command": ["true"], "space": [[k, v] for k, v in SPACE.to_dict().items()], "seeds": 1}
        body = {"name": name, "definition": definition, "fingerprint": fingerprint_of(definition)}
        entries.append(Entry("family", body, family=number))
        entries.append(Entry("plan", {"n_trials": n_trials}, family=number))
    return [*entries, Entry("session", {"process": 1, "engine": "local", "workers": 2})]


def started(trial: int, family: int = 0) -> Entry:
    config, seed = SPACE.draw(3, family, trial)
    return Entry("start", {"config": config, "seed": seed}, family, trial, 1)


def ended(trial: int, score: float, family: int = 0) -> Entry:
    body = {"scores": {"dev": score}, "wall": 1.0, "cpu": 0.5, "cost": 1.0}
    return Entry("end", body, family, trial, 1, "ok")


def failed(path: Path, trial: int, family: int = 0) -> Entry:
    """A trial that failed, with a log that would like to be a script."""
    place = logs_folder(path) / f"f{family}"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{trial}-1.log").write_bytes(b"first line\n" + HOSTILE.encode() + b"\n\xff\x1b[31mlast line\n")
    body = {"scores": {}, "wall": 1.0, "cpu": 0.5, "cost": 1.0, "reason": f"exit 1: {HOSTILE}"}
    return Entry("end", {**body, "log": f"f{family}/{trial}-1.log"}, family, trial, 1, "failed")


def fill(ledger: Ledger, n_trials: int, n_families: int, *, apart: float = 0.5) -> np.ndarray:
    """Run every trial; scores of each family, best to have the last one."""
    scores = np.random.default_rng(5).normal(size=(n_families, n_trials)) * 0.1
    scores += apart * np.arange(n_families)[:, None]
    for trial in range(n_trials):
        for family in range(n_families):
            ledger.append([started(trial, family)])
            ledger.append([ended(trial, float(scores[family, trial]), family)])
    return scores
