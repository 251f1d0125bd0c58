"""Sentences of what was chosen for the reader (`levelbest.report.words.cautions` says how they are written)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from levelbest.errors import named

_HOW = {
    "percent": "with percent signs (divided by 100)",
    "percent-points": "with percent signs (not divided by 100, since numbers without the sign are larger than 1)",
    "thousands": "with thousands commas",
    "decimal-comma": "with decimal commas",
    "clock": "in hours, minutes and seconds (read as seconds)",
    "verdict": "in words (1 for what passed, 0 for what did not)",
}


def _guessed(
    columns: Sequence[tuple[str, str]], direction: str | None = None, by: str | None = None, run_cost: str | None = None
) -> str:
    """Roles with their columns; the direction and the name it is known by; the cost of a run, ``sum`` or ``last``."""
    parts = [f"{role} = {column!r}" for role, column in columns]
    if direction is not None:
        parts.append(f"direction = {direction} (by the name {by!r})")
    if run_cost is not None:
        how = "the sum over its rows" if run_cost == "sum" else "its last value, since it never falls within a run"
        parts.append(f"cost of a run = {how}")
    return f"by name: {', '.join(parts)}"


def _nameless(count: int, what: str) -> str:
    return f"1 row has no {what} and is left out" if count == 1 else f"{count:,} rows have no {what} and are left out"


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
    ("guessed-columns", "episodes"): (
        "each of {count} folders is one run, scored by the mean reward of its last {window} episodes: an episode is "
        "no trial"
    ),
    ("guessed-columns", "arguments"): (
        "the {count} sources name the same families: each source is a family of its own ({named[family]})"
    ),
    ("guessed-columns", "counts"): (
        "{successes!r} of {total!r} samples were successes: {count} samples, one trial each"
    ),
    ("guessed-columns", "renamed"): (
        "{source}: {count} columns are named {column!r}; the later ones are read as {column!r} (2) on"
    ),
    ("paired-design", ""): "{families} share {shared} {what}: a paired design, to be compared pair by pair",
    ("averaged-runs", ""): lambda configurations, n_runs, least, most: (
        f"{n_runs} runs are {configurations} configurations with {least if least == most else f'{least} to {most}'} "
        "runs each: n counts configurations, each judged by the mean over its runs"
    ),
    ("guessed-columns", ""): _guessed,
    ("guessed-columns", "open"): lambda role, columns: (
        f"not chosen, since the names leave it open: {columns:12} could be the {role} ({named(role)})"
    ),
    ("guessed-columns", "primary"): "the score of {task} is {column!r}, and not {others:6} ({named[selection]})",
    ("guessed-columns", "searches"): lambda count, n_families: (
        f"{count} studies whose names differ in the number of a seed or run, or in the time, are searches of "
        f"{'one family' if n_families == 1 else f'{n_families} families'} ({named('search')} none if they are trials)"
    ),
    ("guessed-columns", "turned"): lambda column, direction: (
        f"a {'lower' if direction == 'max' else 'higher'} {column!r} is better and the reported score points the other "
        f"way: the selection score is negated, and direction = {direction}"
    ),
    ("guessed-columns", "same-way"): lambda column, reported, direction: (
        f"the name {column!r} does not tell which way is better: a {'higher' if direction == 'max' else 'lower'} one "
        f"is taken to be, as for {reported!r} ({named('selection_direction')})"
    ),
    ("guessed-columns", "files"): lambda count, parts: (
        f"each of {count} files is one run, and all are one table"
        + (f", told apart by {parts:6} in their names" if parts else "")
    ),
    ("guessed-columns", "by-column"): (
        "each column is a family ({columns:6}), and each row one {rows}: a trial of every family"
    ),
    ("converted-numbers", ""): lambda count, column, how, first: (
        f"{'1 number' if count == 1 else f'{count:,} numbers'} in {column!r} {'is' if count == 1 else 'are'} written "
        f"{_HOW[how]}, e.g. {first!r}"
    ),
    ("skipped-rows", ""): lambda where, why, count: (
        f"left out: {where}: {why}{f', and {count - 1} more' if count > 1 else ''}"
    ),
    ("skipped-rows", "no-family"): lambda count, column: _nameless(count, column),
    ("skipped-rows", "no-problem"): lambda count, column: _nameless(count, f"problem in {column!r}"),
}
