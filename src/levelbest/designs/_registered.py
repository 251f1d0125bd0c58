"""Checks whether a comparison is the one for which the headline budget was registered before the first trial.

A budget should be chosen before the results are seen ([B] section 3.3). If trials, families or pairs are then left out,
failures dropped or another statistic used, the budget does not count as registered, only as tested alone.
"""

from __future__ import annotations

import numpy as np

from levelbest.cautions import Caution
from levelbest.designs._protocol import Request, Table
from levelbest.trials import OK, Trials


def is_registered(trials: Table, request: Request) -> bool:
    """Whether the budget tested alone was registered, for these trials and this question."""
    registered = trials.registered if isinstance(trials, Trials) else None
    return registered is not None and registered.n == request.named and not departures(trials, request)


def departures(trials: Table, request: Request) -> tuple[Caution, ...]:
    """How the comparison departs from what was registered, if the registered budget is used; otherwise empty."""
    registered = trials.registered if isinstance(trials, Trials) else None
    if not isinstance(trials, Trials) or registered is None or registered.n != request.named:
        return ()
    noticed, n, settings = [], registered.n, request.settings
    for name in trials.families:
        run, here = registered.trials[name][0], trials[name]
        if len(here) < run:
            left = run - len(here)
            noticed.append(Caution.of("registered", name, left, kind="trials", left=left, run=run, n=n))
        if settings.failed == "drop" and here.n_failed:
            noticed.append(Caution.of("registered", name, here.n_failed, kind="failed", n_failed=here.n_failed, n=n))
        lost = 0 if here.reported is None else int(np.isnan(here.reported[here.status == OK]).sum())
        if lost and settings.missing != "refuse":
            noticed.append(Caution.of("registered", name, lost, kind="missing", lost=lost, n=n))
    # A family without a score, or with a single trial, is left out by no choice of the reader's.
    left_out = [
        name
        for name, (run, scored) in registered.trials.items()
        if name not in trials.families and scored > 0 and run > 1
    ]
    if left_out:
        noticed.append(Caution.of("registered", None, len(left_out), kind="families", families=left_out, n=n))
    if request.baseline is not None and len(trials.families) > 2:
        noticed.append(Caution.of("registered", kind="baseline", baseline=request.baseline, n=n))
    if request.statistic != "mean":
        noticed.append(Caution.of("registered", kind="statistic", statistic=request.statistic, n=n))
    return tuple(noticed)
