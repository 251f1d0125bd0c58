"""The ``levelbest`` command, and ``python -m levelbest``.

Settings of the whole process are made here and not in ``levelbest.cli``, which other programs may call: Ctrl-C shows no
traceback, characters that the terminal cannot encode are replaced, closed streams are tolerated, results do not depend
on the number of threads, and cyclic garbage is collected less often.
"""

import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_interrupted = False


def main() -> NoReturn:
    """Run the command line and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it was started to ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # so early there is nothing to tidy up
    gc.set_threshold(50_000)  # nearly all that is allocated by then are modules and results, which are kept
    _compute_on_one_thread(sys.argv[1:])
    from levelbest._cores import this_is_a_command
    from levelbest.cli.main import main as run
    from levelbest.cli.main import tell

    this_is_a_command()
    _open_streams()
    sys.unraisablehook = _say_nothing_of_interrupts
    code = 130
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, _interrupt_once)
        code = run()
    except KeyboardInterrupt:
        pass
    except Exception:
        if not _interrupted:  # a class being made, a module being loaded and DuckDB fail each in a way of its own
            raise
        tell("stopped", code)
    finally:
        if signal.getsignal(signal.SIGINT) is _interrupt_once:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


def _interrupt_once(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """The first Ctrl-C unwinds what is under way; a second, while that takes its time, ends the process at once."""
    global _interrupted
    _interrupted = True
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise KeyboardInterrupt


def _say_nothing_of_interrupts(unraisable: "sys.UnraisableHookArgs") -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _compute_on_one_thread(arguments: list[str]) -> None:
    """The same bytes whatever OMP_NUM_THREADS says: how a sum is shared among threads decides its last digits.

    Read by the libraries of linear algebra as they are loaded. Not where trials are run, which inherit the environment
    and compute with as many threads as they are given.
    """
    if arguments[:1] != ["run"] and "--run" not in arguments:
        os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "MKL", "BLIS")}


def _open_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
