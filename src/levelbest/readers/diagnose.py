"""Is it a random sample? Each doubt is a warning with a code, a number and a sentence; none changes a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from levelbest.cautions import Caution
from levelbest.trials import STATUSES, Trials

__all__ = ["diagnose", "with_diagnostics"]

_OK = STATUSES.index("ok")


def with_diagnostics(trials: Trials) -> Trials:
    """The trials with every diagnostic's warning added to those of the reading."""
    return replace(trials, cautions=(*trials.cautions, *diagnose(trials)))


def diagnose(trials: Trials) -> tuple[Caution, ...]:
    """All warnings about these trials, family by family."""
    found: list[Caution] = []
    if trials.skipped:
        count = len(trials.skipped)
        found.append(
            Caution(
                "skipped-rows",
                f"{count} thing{'s' * (count != 1)} could not be read and were left out",
                value=float(count),
            )
        )
    for code, name in enumerate(trials.families):
        mine = trials.family == code
        status = trials.status[mine]
        n_trials = int(np.count_nonzero(status != STATUSES.index("running")))
        kinds = {s: int(np.count_nonzero(status == STATUSES.index(s))) for s in ("failed", "diverged", "pruned")}
        lost = sum(kinds.values())
        if lost:
            listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
            found.append(
                Caution("failures", f"{lost} of {n_trials} trials have no score ({listed})", name, float(lost))
            )
        running = int(np.count_nonzero(status == STATUSES.index("running")))
        if running:
            found.append(
                Caution("still-running", f"{running} trials are still running and are left out", name, float(running))
            )
        if trials.reported is not None:
            ok = status == _OK
            known = int(np.count_nonzero(ok & np.isfinite(trials.reported[mine])))
            if known < int(ok.sum()):
                found.append(
                    Caution(
                        "missing-reported",
                        f"the reported score {trials.metric.reported!r} is known for {known} of {int(ok.sum())} "
                        "finished trials only",
                        name,
                        float(known),
                    )
                )
    if trials.reported is None and not any(one.code == "selection-is-reported" for one in trials.cautions):
        found.append(
            Caution(
                "no-reported",
                f"there is no separate reported score: curves are of {trials.metric.selection!r}, which also picks "
                "the winner",
            )
        )
    return tuple(found)
