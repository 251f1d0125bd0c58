"""Public names that are imported on first use, so that ``import levelbest`` stays light."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping


def lazy_names(
    package: str, names: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` for a package whose public names live in these modules."""
    homes = {name: module for module, several in names.items() for name in several}

    def __getattr__(name: str) -> object:
        if name in homes:
            value = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
            setattr(sys.modules[package], name, value)  # found there from now on
            return value
        near = [known for known in homes if name in known.split("_")]  # plan: plan_trials
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name)

    def __dir__() -> list[str]:
        return sorted(homes)

    return __getattr__, __dir__, sorted(homes)
