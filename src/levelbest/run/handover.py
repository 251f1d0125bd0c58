"""Sends a function to a fresh interpreter where forking this process would be unsafe. Standard library only.

A fork copies locks, but not the threads that would release them: in a process with other threads a forked trial could
wait forever. Each trial then has its own interpreter, which finds its function by the module's name, by running the
script that defines it again up to the call of the runner (as ``multiprocessing`` does, under the name ``__mp_main__``),
or in a pickle, if cloudpickle is installed.
"""

from __future__ import annotations

import base64
import importlib
import os
import pickle
import sys
import threading
import types
from collections.abc import Callable, Mapping
from typing import NotRequired, TypedDict

from levelbest.run.standby import seed_everything

MAIN = "__mp_main__"
defining = False
"""Whether this process runs a script for the functions that it defines."""


class HandedOver(TypedDict):
    """Where a function is to be found: by its name in a module, in a script, or in a pickle."""

    path: list[str]
    """Where modules are looked for."""
    arguments: list[str]
    """What the script was called with."""
    module: str
    name: str
    script: NotRequired[str]
    pickled: NotRequired[str]


class Defined(BaseException):
    """The script has come to the call of the runner: what it calls it with is defined."""


def other_threads() -> list[str]:
    """The names of the threads of Python's besides this one: a fork would stop them, whatever locks they hold."""
    return [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]


def given(function: Callable[..., object]) -> HandedOver | str:
    """Where a fresh interpreter finds a function, or why it does not."""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__qualname__", "<function>")
    known: HandedOver = {"path": list(sys.path), "arguments": sys.argv[1:], "module": module, "name": name}
    if "<" not in name and module not in ("", "__main__", MAIN):
        return known
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if "<" not in name and script and os.path.isfile(script):
        return {**known, "script": os.path.abspath(script)}
    try:
        import cloudpickle
    except ImportError:
        return "it is defined neither in a module nor at the top of a script, and cloudpickle is not there"
    try:
        return {**known, "pickled": base64.b64encode(cloudpickle.dumps(function)).decode()}
    except Exception as error:  # whatever the objects it refers to raise
        return f"it cannot be pickled: {type(error).__name__}: {error}"


def find(where: HandedOver) -> Callable[..., object]:
    """The function, in a fresh interpreter."""
    sys.path[:] = where["path"]
    if "pickled" in where:
        loaded: Callable[..., object] = pickle.loads(base64.b64decode(where["pickled"]))
        return loaded
    target: object
    if "script" in where:
        target = _script(where["script"], where["arguments"])
    else:
        target = importlib.import_module(where["module"])
    for part in where["name"].split("."):
        target = getattr(target, part)
    if not callable(target):
        raise TypeError(f"{where['name']} is not a function")
    return target


def _script(path: str, arguments: list[str]) -> types.ModuleType:
    """The script's own module, run up to where it calls the runner."""
    global defining  # set for the length of one call, in a process that runs nothing else
    module = types.ModuleType(MAIN)
    module.__file__ = path
    sys.modules[MAIN] = sys.modules["__main__"] = module
    sys.argv = [path, *arguments]
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    defining = True
    try:
        exec(code, module.__dict__)
    except Defined:
        pass
    finally:
        defining = False
    return module


class Later:
    """A function that is found where it is called: in the process of the trial."""

    def __init__(self, where: HandedOver) -> None:
        self._where = where

    def __call__(self, config: Mapping[str, object], seed: int) -> object:
        """Find it, and call it."""
        function = find(self._where)
        seed_everything(seed)  # the generators of what was imported just now
        return function(config, seed)

    def problem(self) -> str | None:
        """Why it cannot be found, tried in a process that ends; None where it can."""
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                find(self._where)
            except BaseException as error:
                os.write(writes, f"{self._where['name']} cannot be imported: {type(error).__name__}: {error}".encode())
            finally:
                os._exit(0)
        os.close(writes)
        with open(reads, "rb") as answer:
            text = answer.read().decode("utf-8", "replace")
        os.waitpid(child, 0)
        return text or None


def all_given(functions: Mapping[str, Callable[..., object]]) -> dict[str, HandedOver] | str:
    """Where all of them are found, or why one is not."""
    places: dict[str, HandedOver] = {}
    for key, function in functions.items():
        place = given(function)
        if isinstance(place, str):
            return f"{key}: {place}"
        places[key] = place
    return places
