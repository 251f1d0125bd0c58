"""How a trial ended, in the words of many tools, as one of ours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from levelbest.readers.columns import Cells, as_codes
from levelbest.trials import STATUSES

__all__ = ["FLAGS", "as_statuses", "status_of"]

_WORDS = {
    "ok": "ok success successful succeeded finished finish complete completed done terminated ended exited passed "
    "evaluated good",
    "failed": "failed fail failure error errored exception crashed crash killed timeout timed_out oom out_of_memory "
    "memoryout memory_out aborted abort preempted cancelled canceled lost interrupted bad no_score "
    "runtimeerror cuda_oom",
    "diverged": "diverged divergence nan inf infinite exploded unstable",
    "pruned": "pruned prune early_stopped stopped_early stopped",
    "running": "running run pending queued waiting in_progress scheduled paused unfinished active created started "
    "not_evaluated starting submitted",
}
WORDS = {word: status for status, words in _WORDS.items() for word in words.split()}

FLAGS = {"diverged": "diverged", "nan": "diverged", "failed": "failed", "crashed": "failed", "failure": "failed"}
"""Words in the name of a true-or-false column that marks trials that went wrong."""


def status_of(text: str) -> str | None:
    """Our status for a tool's word; None where it is no status word."""
    word = text.strip().lower().rsplit(".", 1)[-1].replace("-", "_").replace(" ", "_")
    return WORDS.get(word)


def as_statuses(column: Cells) -> tuple[npt.NDArray[np.uint8], dict[str, int]]:
    """The status code of each row (an empty cell is ok: the score decides), and unknown words with their counts."""
    names, codes = as_codes(column)
    table = np.zeros(len(names) + 1, dtype=np.uint8)
    unknown: dict[str, int] = {}
    for code, name in enumerate(names):
        status = status_of(name)
        if status is None and name.strip():
            unknown[name] = int(np.count_nonzero(codes == code))
        table[code] = STATUSES.index(status or "ok")
    return table[codes], unknown
