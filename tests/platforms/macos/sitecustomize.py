"""macOS with Python 3.11 or 3.12, as far as a Linux can be one: what that lacks is taken away before anything runs.

Every interpreter that finds this folder on its path is one, workers included.
"""

import builtins
import contextlib
import os
import select
import sys

for module, names in (
    (os, ("waitid", "pidfd_open", "memfd_create", "sched_getaffinity", "sched_setaffinity", "posix_fadvise")),
    (select, ("epoll",)),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
import fcntl  # noqa: E402

for name in ("F_OFD_SETLK", "F_OFD_GETLK", "F_OFD_SETLKW"):
    if hasattr(fcntl, name):
        delattr(fcntl, name)

_open, _listdir, _isdir = builtins.open, os.listdir, os.path.isdir


def _hidden(path, caller):
    """Whether a file of /proc is asked for; psutil, with which tests look at processes, has its own ways on macOS."""
    in_proc = isinstance(path, str | os.PathLike) and os.fspath(path).startswith("/proc")
    return in_proc and not caller.f_globals.get("__name__", "").startswith("psutil")


def _without_proc(call, absent):
    def instead(path=".", *arguments, **more):
        return absent(path) if _hidden(path, sys._getframe(1)) else call(path, *arguments, **more)

    return instead


def _missing(path):
    raise FileNotFoundError(2, "No such file or directory", path)


builtins.open = _without_proc(_open, _missing)
os.listdir = _without_proc(_listdir, _missing)
os.path.isdir = _without_proc(_isdir, lambda _: False)
with contextlib.suppress(ImportError):
    from levelbest.run import processes

    processes._prctl = None  # nothing is adopted, and nothing dies with its parent
