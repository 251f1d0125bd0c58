"""Attributes of problems: mappings by problem, clusters, and clusters inferred from names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from levelbest._check import Column
from levelbest.errors import InputError

PREFIX = "prefix"
"""Clusters that stand before a mark in the names of problems: ``repo`` of ``repo__123``."""
UNCLUSTERED = "unclustered"
"""The fact that problems were said to stand by themselves."""
_MARKS = ("__", "::", "/")
_FEWEST = 6
"""Clusters: with fewer no exchange of systems within clusters can decide, and they are rather kinds of problems."""
_TOGETHER, _NUMBERED = 0.8, 0.9
"""Shares of the problems that must have another of their cluster, and a number behind the mark."""


def nested_in(names: Sequence[str], *, is_given: bool = False) -> tuple[str, ...] | None:
    """The cluster of each problem, where names make it nearly certain; otherwise None.

    Parameters
    ----------
    names
        Of the problems.
    is_given
        Whether it is known that names begin with their cluster: then the mark is all they need.

    Examples
    --------
    >>> nested_in([f"repo{i}__{j}" for i in range(6) for j in range(3)])[::5]
    ('repo0', 'repo1', 'repo3', 'repo5')
    >>> nested_in(["HumanEval/0", "HumanEval/1", "HumanEval/2"]) is None
    True
    """
    for mark in _MARKS:
        if not all(mark in name for name in names):
            continue
        heads, _, tails = zip(*(name.rpartition(mark) for name in names), strict=True)
        if is_given:
            return heads
        sizes = Counter(heads)
        together = sum(size for size in sizes.values() if size > 1) / len(names)
        numbered = sum(any(map(str.isdigit, tail)) for tail in tails) / len(names)
        if len(sizes) >= _FEWEST and together >= _TOGETHER and numbered >= _NUMBERED and 2 * len(sizes) <= len(names):
            return heads
    return None


def cluster_names(
    given: Sequence[object] | Column, group: npt.NDArray[np.int32] | None, groups: tuple[str, ...]
) -> tuple[str, ...]:
    """The cluster of each group, which all its trials must share."""
    if group is None:
        raise InputError("cluster needs problems: name the problem of each trial with group=")
    if len(given) != group.size:
        raise InputError(f"every column needs one value per trial: cluster has {len(given)} of {group.size}")
    names: dict[int, str] = {}
    for code, label in zip(group.tolist(), given, strict=True):
        if names.setdefault(code, str(label)) != str(label):
            raise InputError(f"a problem is in one cluster, and {groups[code]!r} is in {names[code]} and {label}")
    return tuple(names[code] for code in range(len(groups)))


def each_group(given: Mapping[object, object], groups: tuple[str, ...], name: str) -> list[object]:
    """The value of a mapping for each group, in the order of the groups."""
    if not groups:
        raise InputError(f"{name} need problems: name the problem of each trial with group=")
    known = {str(key): value for key, value in given.items()}
    missing = [label for label in groups if label not in known]
    if missing:
        listed = ", ".join(missing[:5])
        raise InputError(f"{name} must name every group, and {len(missing)} of {len(groups)} are missing: {listed}")
    return [known[label] for label in groups]
