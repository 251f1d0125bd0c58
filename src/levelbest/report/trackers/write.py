"""``write_trials``: trials as a table, or as runs of a tracker."""

from __future__ import annotations

from pathlib import Path

from levelbest import _check
from levelbest.readers.tables.tidy import FORMATS, write_table
from levelbest.trials import Trials

TRACKERS = ("mlflow", "wandb")


def write_trials(trials: Trials, path: str | Path, *, kind: str | None = None, hide: tuple[str, ...] = ()) -> Path:
    """Write trials as a tidy table, or to a tracker's files on this machine.

    Parameters
    ----------
    trials
        What to write.
    path
        The file, or for trackers the store or folder: ``mlflow.db`` or ``mlruns``, the folder of W&B's offline runs.
    kind
        ``csv``, ``jsonl`` or ``parquet``, which the path's ending says as well; ``mlflow`` and ``wandb``, a run for
        each trial, which need these packages and send nothing.
    hide
        Configuration columns to leave out.

    Returns
    -------
    Path
        Where it was written. Reading a table back gives the same trials; a file appears whole or not at all.

    Examples
    --------
    >>> import levelbest as lb, tempfile
    >>> trials = lb.read_trials({"model": ["a", "b"], "val_acc": [0.7, 0.9]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = lb.write_trials(trials, folder + "/trials.csv")
    ...     print(lb.read_trials(path))
    a: 1 trial; b: 1 trial
    """
    if kind is None or kind in FORMATS:
        return write_table(trials, path, kind=kind, hide=hide)
    _check.as_choice(kind, (*FORMATS, *TRACKERS), "kind")
    from levelbest.report.trackers.runs import write_mlflow, write_wandb

    return (write_mlflow if kind == "mlflow" else write_wandb)(trials, path, hide=hide)
