"""What is left of earlier attempts at a trial is ended before the next one starts."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest.errors import DataError
from levelbest.run.engines.slurm import cancel_marked
from levelbest.run.processes import end_marked

__all__ = ["end_earlier"]


def end_earlier(marks: Sequence[str]) -> None:
    """End the processes on this machine and the jobs in a queue that bear one of these marks.

    Workers end what they started, and guards what workers leave; this is for the case that all of them were killed.
    """
    if not marks:
        return
    cancel_marked(list(marks))
    if left := end_marked(marks):
        raise DataError(
            f"process {left[0]} of an earlier attempt at a trial cannot be ended, and two attempts must not run "
            "side by side; end it and run the same command again"
        )
