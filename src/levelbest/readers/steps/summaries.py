"""Summary numbers, as papers write them: ``ours 77.0 ± 0.6 (5 seeds), tuned 100``, or a table with a row for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from levelbest import _check
from levelbest.errors import Ambiguous, InputError, named
from levelbest.readers.raw import Cells, RawTable, is_numeric, texts
from levelbest.readers.steps.cells import as_numbers, is_series
from levelbest.readers.steps.names import direction_of
from levelbest.stats.budgets import Summary

__all__ = ["direction_in", "has_summaries", "is_summary_table", "is_summary_text", "rows_where", "summaries_of"]
__all__ += ["summary_of"]

_NUMBER = r"[-+−]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][-+]?\d+)?"
_SD = r"sd|s\.d\.|std(?:[ .]?dev)?\.?|stdev|standard deviation"
_SE = r"se|s\.e\.|sem|stderr|standard error(?: of the mean)?"
_AFTER = re.compile(
    rf"(?P<mean>{_NUMBER})\s*%?\s*(?:±|\+/[-−]|\+[-−]|\\pm|(?:[,;(]\s*)?(?P<kind>{_SD}|{_SE})\s*[=:]?)\s*"
    rf"(?P<spread>{_NUMBER})\s*%?",
    re.IGNORECASE,
)
_KINDS = (
    ("sd", re.compile(rf"\b(?:{_SD})(?!\w)", re.IGNORECASE)),
    ("se", re.compile(rf"\b(?:{_SE})(?!\w)", re.IGNORECASE)),
)
_TUNED = re.compile(
    r"\b(?:tuned|search(?:ed)?|tuning|budget)\b\D*?(\d+)(?:\s*(?:trials|configurations|configs))?"
    r"|(\d+)\s*(?:trials|configurations|configs)\b",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\(\s*(\d+)\b|\b(?:n|seeds|runs|repeats|repetitions|folds)\s*[=:]\s*(\d+)"
    r"|(\d+)\s*(?:random\s+)?(?:seeds|runs|repeats|repetitions|folds)\b",
    re.IGNORECASE,
)
_FORM = "'ours 77.0 ± 0.6 (5), tuned 100': the mean, ±, the number of runs, and the trials it was tuned with"
_NAMES = ("name", "model", "family", "method", "algorithm", "system", "approach")
_COLUMNS: Mapping[str, Sequence[str]] = {
    "mean": ("mean", "average", "avg", "score"),
    "sd": ("sd", "std", "stdev", "std_dev", "standard_deviation"),
    "se": ("se", "sem", "stderr", "std_err", "standard_error"),
    "spread": ("±", "+-", "+/-", "pm", "plus_minus", "spread", "error"),
    "n": ("n", "seeds", "runs", "n_seeds", "n_runs", "repeats", "repetitions"),
    "tuned": ("tuned", "trials", "n_trials", "search", "configurations", "tuning_trials"),
}


def is_summary_text(text: str) -> bool:
    """Whether a text has a mean with what stands after its ±."""
    return _AFTER.search(text) is not None


def summary_of(text: str, name: str, reading: str | None = None) -> Summary:
    """What a text says of one method; ``name`` is for one that has no name, ``reading`` for a ± that is not explained.

    Examples
    --------
    >>> summary_of("ResNet-50: 77.0 ± 0.6 (5 seeds), tuned with 100 trials", "claim")
    Summary(name='ResNet-50', mean=77.0, spread=0.6, n=5, tuned=100, reading=None)
    """
    match = _AFTER.search(text)
    if match is None:
        raise InputError(f"there is no mean with its ± in {text!r}; write {_FORM}")
    rest = text[match.end() :]
    kind = next((kind for kind, words in _KINDS if words.search(match["kind"] or rest)), reading)
    tuned = _TUNED.search(rest)
    runs = _RUNS.search(rest if tuned is None else rest[: tuned.start()] + rest[tuned.end() :])
    if runs is None:
        raise InputError(f"there is no number of runs in {text!r}; write {_FORM}")
    trials = None if tuned is None else _whole(tuned)
    called = text[: match.start()].strip(" \t:=,;$(") or name
    return Summary(called, _read(match["mean"]), _read(match["spread"]), _whole(runs), trials, kind)


def _read(number: str) -> float:
    return float(number.replace(",", ".").replace("−", "-"))


def _whole(match: re.Match[str]) -> int:
    return int(next(group for group in match.groups() if group is not None))


def is_summary_table(table: RawTable) -> bool:
    """Whether its rows are means with their ±, and not single trials."""
    columns = _columns(table, None)
    return bool(_with_spread(table.columns)) or ("mean" in columns and bool(columns.keys() & {"sd", "se", "spread"}))


def has_summaries(columns: Mapping[str, Cells]) -> bool:
    """Whether a table has means with their spread: in cells with ±, or as columns ``mean`` and ``sd``."""
    by_name = set(map(_plain, columns))
    named_so = {"mean", "average", "avg"} & by_name and by_name & {*_COLUMNS["sd"], *_COLUMNS["se"]}
    return bool(named_so) or bool(_with_spread(columns))


def summaries_of(
    table: RawTable, reading: str | None = None, score: str | None = None, runs: Sequence[int] | None = None
) -> list[Summary]:
    """A summary for each row; ``reading`` says what a column ± is whose name does not tell.

    ``score`` is the column that is meant where several have means with their ±, ``runs`` the number of runs of each row
    where no column has it: one for all rows, or one each.
    """
    columns = _columns(table, _the_score(table, score))
    names = texts(columns["name"]) if "name" in columns else [f"row {row + 1}" for row in range(table.n_rows)]
    if "both" in columns:
        halves = [_AFTER.search(str(cell)) for cell in texts(columns["both"])]
        mean, spread = ([_read(half[part]) for half in halves if half] for part in ("mean", "spread"))
        kind = reading
    else:
        kind = next((kind for kind in ("sd", "se") if kind in columns), None)
        mean, spread = _numbers(columns["mean"]), _numbers(columns[kind or "spread"])
        kind = kind or reading
    n = _numbers(columns["n"]) if "n" in columns else _given_runs(table, runs)
    tuned = _numbers(columns["tuned"]) if "tuned" in columns else [float("nan")] * table.n_rows
    return [
        # a number of runs that is none is refused by the summary itself
        Summary(str(name), a, b, runs_of, None if np.isnan(trials) else trials, kind)  # type: ignore[arg-type]
        for name, a, b, runs_of, trials in zip(names, mean, spread, n, tuned, strict=True)
    ]


def rows_where(table: RawTable, where: str) -> RawTable:
    """The rows for which a condition holds."""
    from levelbest.readers.steps.conditions import matching_rows

    kept = np.flatnonzero(matching_rows(where, table.columns, table.n_rows, table.source))
    if not kept.size:
        raise InputError(f"{named('where')} {where!r} leaves none of {table.n_rows} rows")
    return RawTable(table.source, {name: cells[kept] for name, cells in table.columns.items()})


def _given_runs(table: RawTable, runs: Sequence[int] | None) -> list[float]:
    if runs is None:
        raise InputError(
            f"{table.source} does not say of how many runs its means are: add a column n, or give {named('runs')}"
        )
    each = list(runs[:1]) * table.n_rows if len(set(runs)) == 1 else list(runs)
    if len(each) != table.n_rows:
        raise InputError(f"{named('runs')} must have a number for each of {table.n_rows} rows, got {list(runs)}")
    return [float(count) for count in each]


def _the_score(table: RawTable, score: str | None) -> str | None:
    """The column of means with their ±: the one that was named, else the only one."""
    known = _with_spread(table.columns)
    if score is not None:
        return _check.as_choice(score, known, named("selection"))
    if len(known) > 1:
        either = " or ".join(map(repr, known))
        raise Ambiguous(f"{table.source} has means with their ± in {either}: choose one with {named('selection')}")
    return known[0] if known else None


def _with_spread(columns: Mapping[str, Cells]) -> list[str]:
    """The columns in which every cell is a mean with its ±."""
    worded = (name for name, cells in columns.items() if not (is_numeric(cells) or is_series(cells)))
    return [name for name in worded if all(is_summary_text(str(cell)) for cell in texts(columns[name]))]


def direction_in(table: RawTable, score: str | None) -> str | None:
    """Which way is better, by the name of the column of means with their ±: ``Perplexity`` says min."""
    column = _the_score(table, score)
    return None if column is None else direction_of(column)[0]


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _columns(table: RawTable, score: str | None) -> dict[str, Cells]:
    """The columns by the part that they play, by their names; ``both`` has the mean with its ± in one cell."""
    by_name = {_plain(name): name for name in table.columns}
    parts = {
        part: table.columns[by_name[known]]
        for part, names in _COLUMNS.items()
        if (known := next((name for name in names if name in by_name), None)) is not None
    }
    if score is not None:
        parts["both"] = table.columns[score]
    summed = _with_spread(table.columns)
    words = [name for name, cells in table.columns.items() if not np.isfinite(as_numbers(cells).values).any()]
    named = next((by_name[name] for name in _NAMES if name in by_name), None)
    if (name := named or next((name for name in words if name not in summed), None)) is not None:
        parts["name"] = table.columns[name]
    return parts


def _numbers(cells: Cells) -> list[float]:
    return [float(value) for value in as_numbers(cells).values]
