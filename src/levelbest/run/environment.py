"""What a study ran on: code version, packages, machine. Captured once; a later session records what differs.

Nothing here names a person or a host, and no environment variable is read.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import subprocess
from pathlib import Path

import levelbest


def capture_environment(folder: Path) -> dict[str, object]:
    """Facts about the code in ``folder``, the packages and the machine."""
    return {
        "levelbest": levelbest.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "memory": _memory(),
        "gpus": _gpus(),
        "code": _code(folder),
        "packages": _packages(),
    }


def _code(folder: Path) -> dict[str, object] | None:
    """The version of the code by git, and whether the tree was clean; None where there is no repository."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    status = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "clean": None if status is None else status == ""}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@functools.lru_cache(maxsize=1)
def _packages() -> dict[str, str]:
    from importlib import metadata

    packages: dict[str, str] = {}
    for distribution in metadata.distributions():
        with contextlib.suppress(Exception):  # a broken installation of someone's is no reason not to run
            packages.setdefault(distribution.metadata["Name"].lower(), distribution.version)
    return dict(sorted(packages.items()))


def _processor() -> str | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _gpus() -> list[str]:
    folder = Path("/proc/driver/nvidia/gpus")
    try:
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(folder.glob("*/information"))]
    except OSError:
        return []
    lines = [line for text in texts for line in text.splitlines()]
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
