"""Sentences of what was chosen for the reader (`levelbest.report.words.cautions` says how they are written)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from levelbest.errors import named
from levelbest.report.words.phrases import shortened


def _paired(families: Sequence[str], shared: int, what: str) -> str:
    """``what`` is shared: configurations, problems or seeds."""
    return f"{shortened(families)} share {shared} {what}: a paired design, to be compared pair by pair"


def _averaged(configurations: int, n_runs: int, least: int, most: int) -> str:
    """``least`` and ``most`` runs of a configuration."""
    each = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"{n_runs} runs are {configurations} configurations with {each} runs each: n counts configurations, each "
        "judged by the mean over its runs"
    )


def _guessed(
    columns: Sequence[tuple[str, str]],
    direction: str | None = None,
    by: str | None = None,
    run_cost: str | None = None,
) -> str:
    """Roles with their columns; the direction and the name it is known by; the cost of a run, ``sum`` or ``last``."""
    parts = [f"{role} = {column!r}" for role, column in columns]
    if direction is not None:
        parts.append(f"direction = {direction} (by the name {by!r})")
    if run_cost is not None:
        how = "the sum over its rows" if run_cost == "sum" else "its last value, since it never falls within a run"
        parts.append(f"cost of a run = {how}")
    return f"by name: {', '.join(parts)}"


def _open(role: str, columns: Sequence[str]) -> str:
    """``role`` by the name of its argument."""
    names = shortened([repr(name) for name in columns], 12)
    return f"not chosen, since the names leave it open: {names} could be the {role} ({named(role)})"


def _primary(task: str, column: str, others: Sequence[str]) -> str:
    """``others`` are scores of the same answers that are not taken."""
    names = shortened([repr(name) for name in others], 6)
    return f"the score of {task} is {column!r}, and not {names} ({named('selection')})"


def _searches(count: int, n_families: int) -> str:
    of = "one family" if n_families == 1 else f"{n_families} families"
    return (
        f"{count} studies whose names differ in the number of a seed or run, or in the time, are searches of {of} "
        f"({named('search')} none if they are trials)"
    )


def _turned(column: str, direction: str) -> str:
    other = "lower" if direction == "max" else "higher"
    return (
        f"a {other} {column!r} is better and the reported score points the other way: the selection score is negated, "
        f"and direction = {direction}"
    )


def _same_way(column: str, reported: str, direction: str) -> str:
    way = "higher" if direction == "max" else "lower"
    return (
        f"the name {column!r} does not tell which way is better: a {way} one is taken to be, as for {reported!r} "
        f"({named('selection_direction')})"
    )


def _files(count: int, parts: Sequence[str]) -> str:
    """``parts`` are the columns made of the names of files."""
    names = f", told apart by {shortened([repr(part) for part in parts], 6)} in their names" if parts else ""
    return f"each of {count} files is one run, and all are one table{names}"


def _family_columns(columns: Sequence[str], rows: str) -> str:
    names = shortened([repr(name) for name in columns], 6)
    return f"each column is a family ({names}), and each row one {rows}: a trial of every family"


_HOW = {
    "percent": "with percent signs (divided by 100)",
    "percent-points": "with percent signs (not divided by 100, since numbers without the sign are larger than 1)",
    "thousands": "with thousands commas",
    "decimal-comma": "with decimal commas",
    "clock": "in hours, minutes and seconds (read as seconds)",
}


def _converted(count: int, column: str, how: str, first: str) -> str:
    numbers = "1 number" if count == 1 else f"{count:,} numbers"
    return f"{numbers} in {column!r} {'is' if count == 1 else 'are'} written {_HOW[how]}, e.g. {first!r}"


def _skipped(where: str, why: str, count: int) -> str:
    return f"left out: {where}: {why}{f', and {count - 1} more' if count > 1 else ''}"


def _no_family(count: int, column: str) -> str:
    return (
        f"1 row has no {column} and is left out" if count == 1 else f"{count:,} rows have no {column} and are left out"
    )


def _no_problem(count: int, column: str) -> str:
    return _no_family(count, f"problem in {column!r}")


CHOSEN: dict[tuple[str, str], str | Callable[..., str]] = {
    ("paired-design", "used"): "compared pair by pair: every trial has a partner with the same {by} in every family",
    ("paired-design", "problems"): "compared problem by problem: samples of the same problem in every family",
    ("averaged-runs", "unequal"): (
        "configurations of {richest} have more runs than those of {fewest}, so that the luck of their seeds weighs "
        "less in their means: the best of n is flattered less"
    ),
    ("guessed-columns", "checkpoints"): (
        "rows are checkpoints of the {runs} runs in {column!r}, as {counter!r} rises within them: each run is one "
        "trial, at its best checkpoint by the selection score ({named[trial]} none if each row is a trial)"
    ),
    ("guessed-columns", "one-each"): (
        "{column!r} has {count} values in {n_trials} rows: it tells trials apart and not families, so that all are "
        "one family ({named[family]} {column} if each is one)"
    ),
    ("guessed-columns", "samples"): ("by name: the {count} columns {first!r} to {last!r} are samples: one trial each"),
    ("guessed-columns", "lists"): "each item of the lists in {column!r} is one sample of its {group}: one trial each",
    ("guessed-columns", "rows"): "each row is one problem, named by {group!r}",
    ("guessed-columns", "arguments"): (
        "the {count} sources name the same families: each source is a family of its own ({named[family]})"
    ),
    ("guessed-columns", "counts"): (
        "{successes!r} of {total!r} samples were successes: {count} samples, one trial each"
    ),
    ("guessed-columns", "renamed"): (
        "{source}: {count} columns are named {column!r}; the later ones are read as {column!r} (2) on"
    ),
    ("paired-design", ""): _paired,
    ("averaged-runs", ""): _averaged,
    ("guessed-columns", ""): _guessed,
    ("guessed-columns", "open"): _open,
    ("guessed-columns", "primary"): _primary,
    ("guessed-columns", "searches"): _searches,
    ("guessed-columns", "turned"): _turned,
    ("guessed-columns", "same-way"): _same_way,
    ("guessed-columns", "files"): _files,
    ("guessed-columns", "by-column"): _family_columns,
    ("converted-numbers", ""): _converted,
    ("skipped-rows", ""): _skipped,
    ("skipped-rows", "no-family"): _no_family,
    ("skipped-rows", "no-problem"): _no_problem,
}
