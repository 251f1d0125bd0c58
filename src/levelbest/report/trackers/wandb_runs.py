"""Trials as offline runs of Weights & Biases: a project for each family, a run for each trial, nothing sent."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from levelbest.errors import MissingExtra
from levelbest.report.trackers.runs import runs_of
from levelbest.trials import Trials

__all__ = ["write_wandb"]

_HEADER = 7
"""Bytes of a file of W&B that holds nothing yet."""
_MOST_WAITS = 100
_QUIET = {
    "silent": True,
    "console": "off",
    "disable_git": True,
    "disable_code": True,
    "disable_job_creation": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
    "host": "unknown",
}
"""Neither the machine nor the code is recorded: these runs happened elsewhere."""


def write_wandb(trials: Trials, out: str | Path, *, hide: tuple[str, ...] = ()) -> Path:
    """Write each trial as an offline run below a folder; ``wandb sync`` sends them, and nothing else does.

    Parameters
    ----------
    trials
        What to write; their configurations become the configurations of the runs.
    out
        The folder, below which W&B makes its own, ``wandb``.
    hide
        Configuration columns to leave out.
    """
    try:
        import wandb
    except ImportError:
        raise MissingExtra("wandb", "wandb") from None
    folder = Path(out)
    runs = list(runs_of(trials, "W&B", hide))
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for run in runs:
        made = wandb.init(
            project=re.sub(r"[/\\#?%:]", "_", run.family)[:128],
            group=run.family,
            name=run.name,
            config=run.settings,
            dir=str(folder),
            mode="offline",
            reinit="create_new",
            settings=_settings(wandb),
        )
        made.log({**run.scores, "levelbest_status": run.status})
        made.finish(exit_code=0 if run.status in ("ok", "diverged", "running") else 1)
        written.append(made)
    _wait_for(folder, {str(made.id) for made in written})
    return folder


def _wait_for(folder: Path, ids: set[str]) -> None:
    """Until the files of the runs are written, which W&B does a moment after it says that they are finished."""
    sizes: dict[Path, int] = {}
    for _ in range(_MOST_WAITS):
        known = sizes
        sizes = {path: path.stat().st_size for path in folder.glob("wandb/*/run-*.wandb")}
        own = [size for path, size in sizes.items() if path.stem.removeprefix("run-") in ids]
        if sizes == known and all(size > _HEADER for size in own):
            return
        time.sleep(0.05)


def _settings(wandb: Any) -> Any:
    """What this version of W&B knows of the quiet settings."""
    known = getattr(wandb.Settings, "model_fields", _QUIET)
    return wandb.Settings(**{key: value for key, value in _QUIET.items() if key in known})
