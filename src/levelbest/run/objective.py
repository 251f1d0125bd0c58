"""Turns what a trial returns (a function's scores, a line of JSON, a metrics file or an exit code) into an outcome.

Standard library only: every worker imports this, and must start fast and use little memory.
"""

from __future__ import annotations

import errno
import importlib
import json
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from levelbest.run.task import Outcome

_SENT = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")
FROM_OUTSIDE = tuple(getattr(signal, name) for name in _SENT if hasattr(signal, name))
"""Signals that someone else sends: the machine, not the model, ended the trial."""
NO_ROOM = frozenset((errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE))
"""Errors that pass: the attempt is lost, and the next may start."""
BROKEN = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EIO", "EROFS", "ESTALE") if hasattr(errno, name)
)
"""Errors of a disk: no trial is to blame, and the next would end in the same way."""
_MOST_SCORES, _MOST_BYTES = 1000, 16_000_000


def load(name: str, folder: str) -> Callable[..., object]:
    """The function that ``module:name`` names; modules of the study's folder are found too."""
    module, _, path = name.partition(":")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    target: object = importlib.import_module(module)
    for part in path.split("."):
        target = getattr(target, part)
    if not callable(target):
        raise TypeError(f"{name} is not a function")
    return target


def call(
    function: Callable[..., object],
    config: Mapping[str, object],
    seed: int,
    on_yield: Callable[[dict[str, float]], None],
) -> dict[str, float]:
    """Scores of one trial: what the function returns, or the last that it yields; each yield is passed on at once."""
    result = function(dict(config), seed)
    if isinstance(result, Iterator):
        last: object = None
        while True:
            try:
                last = next(result)
            except StopIteration as stop:
                result = last if stop.value is None else stop.value
                break
            on_yield(flat(last))
    return flat(result)


def flat(result: object) -> dict[str, float]:
    """Scores by name: a number is called ``score``, nested names are joined by dots, what is no number is left out."""
    if isinstance(result, Mapping):
        scores: dict[str, float] = {}
        for key, value in result.items():
            if isinstance(value, Mapping):
                scores |= {f"{key}.{name}": score for name, score in flat(value).items()}
            elif (number := _number(value)) is not None:
                scores[str(key)] = number
        return dict(list(scores.items())[:_MOST_SCORES])
    number = _number(result)
    if number is None:
        raise TypeError(f"an objective returns a number or a dict of scores, got {type(result).__name__}")
    return {"score": number}


def _number(value: object) -> float | None:
    if isinstance(value, str | bytes) or value is None:
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def last_scores(text: bytes, wanted: str | None) -> dict[str, float] | None:
    """Scores on the last line that is a JSON object (and holds the wanted one, where any does)."""
    last = None
    for line in reversed(text.splitlines()):
        line = line.strip()
        if not (line.startswith(b"{") and line.endswith(b"}")):
            continue
        try:
            scores = flat(json.loads(line))
        except (ValueError, TypeError, RecursionError):
            continue
        if wanted is None or wanted in scores:
            return scores
        last = last if last is not None else scores
    return last


def read_metrics(path: str, before: tuple[int, int, int] | None, wanted: str | None) -> dict[str, float] | str:
    """Scores in a metrics file (a JSON object, or lines of them), or the reason there are none."""
    try:
        if (now := mark(path)) is None:
            return f"wrote no metrics file {os.path.basename(path)}"
        if now == before:
            return f"left the metrics file {os.path.basename(path)} of an earlier run as it was"
        if now[1] > _MOST_BYTES:
            return f"wrote a metrics file of {now[1]} bytes; {_MOST_BYTES} are read at most"
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        if error.errno in BROKEN | NO_ROOM:
            raise  # the machine's doing, not the trial's
        return f"left a metrics file that cannot be read: {error.strerror}"
    try:
        whole = json.loads(text)
        if isinstance(whole, dict):
            return flat(whole)
    except (ValueError, RecursionError):
        pass
    scores = last_scores(text, wanted)
    return f"wrote a metrics file {os.path.basename(path)} that is not JSON" if scores is None else scores


def mark(path: str) -> tuple[int, int, int] | None:
    """What tells a new file from an old one."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


JudgedOutput = tuple[str, dict[str, float | None], str | None]


def verdict_on(raw: Outcome, selection: str | None, report: str) -> JudgedOutput:
    """Status, scores and reason of an attempt, from how its process ended and what it handed over.

    ``raw`` holds ``end`` (exit, signal, timeout, lost, unstarted), ``code``, ``scores``, ``raised`` and ``problem``.
    """
    code, problem = raw.get("code"), raw.get("problem")
    if raw["end"] != "exit":
        return _cut_short(raw)
    if report == "exit":
        return "ok", {selection or "success": float(code == 0)}, None
    if raw.get("raised"):
        return "failed", {}, raw["raised"]
    if code != 0:
        why = f": {problem}" if problem else ""
        return "failed", {}, f"exit code {code}{why}"
    scores: dict[str, float] | None = raw.get("scores")
    if scores is None:
        return "failed", {}, problem or "handed over no scores"
    return _by_scores(scores, selection)


def _cut_short(raw: Outcome) -> JudgedOutput:
    """Of an attempt that did not end by itself."""
    end, code, problem = raw["end"], raw.get("code"), raw.get("problem")
    if end == "lost":
        return "lost", {}, problem or "its worker was lost"
    if end == "timeout":
        return "failed", {}, f"stopped at its time limit of {raw['limit']:g} s"
    if end == "unstarted":
        return "failed", {}, f"could not be started: {problem}"
    name = next((known.name for known in signal.Signals if known == code), f"signal {code}")
    if code not in FROM_OUTSIDE:
        return "failed", {}, f"ended by {name}"
    memory = ", perhaps out of memory" if name == "SIGKILL" else ""
    shell = f" ({problem})" if problem else ""
    return "lost", {}, f"ended by {name} from outside{shell}{memory}"


def _by_scores(scores: dict[str, float], selection: str | None) -> JudgedOutput:
    """Of an attempt that handed over scores; one that is not finite is kept as None."""
    kept = {name: value if math.isfinite(value) else None for name, value in scores.items()}
    if selection is None:
        if any(value is not None for value in kept.values()):
            return "ok", kept, None
        if kept:
            return "diverged", kept, "every score is NaN or infinite"
        return "failed", {}, "no number among its scores"
    if selection not in scores:
        others = ", ".join(list(scores)[:10]) or "no number at all"
        return "failed", kept, f"reported no {selection}; it reported {others}"
    if kept[selection] is None:
        return "diverged", kept, f"{selection} is {'NaN' if math.isnan(scores[selection]) else 'infinite'}"
    return "ok", kept, None
