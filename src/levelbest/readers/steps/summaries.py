"""Summary numbers, as papers write them: ``ours 77.0 ± 0.6 (5 seeds), tuned 100``, or a table with a row for each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from levelbest import _check
from levelbest.errors import Ambiguous, DataError, InputError, called, named
from levelbest.readers.raw import Cells, RawTable, is_numeric, texts
from levelbest.readers.steps.cells import as_numbers, is_series
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.names import direction_of, is_metric, tokens, word_set
from levelbest.stats.budgets import Summary

__all__ = ["MeanColumns", "direction_in", "has_summaries", "interval_columns", "is_summary_table", "is_summary_text"]
__all__ += ["mean_columns", "refuse_summaries", "rows_where", "summaries_of", "summary_of"]

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
_SPREAD = ("±", "+-", "+/-", "pm", "plus_minus", "spread", "error")
_TUNED_COLUMNS = ("tuned", "trials", "n_trials", "search", "configurations", "tuning_trials")
_MEAN_WORDS = word_set("mean average avg")
_SPREAD_WORDS = {
    "sd": (("standard", "deviation"), ("std", "dev"), ("std", "deviation"), ("sd",), ("std",), ("stdev",), ("stddev",)),
    "se": (("standard", "error"), ("std", "err"), ("std", "error"), ("se",), ("sem",), ("stderr",)),
}
"""What a header calls the spread of a mean, the longest first: ``acc_std``, ``Accuracy (std. dev.)``."""
_ENDS = {"low": word_set("low lower lo lcl lb"), "high": word_set("high upper hi ucl ub")}
_RUN_WORDS, _OF_RUNS = word_set("seeds runs repeats repetitions folds nseeds nruns"), word_set("n num number of no")


@dataclass(frozen=True)
class MeanColumns:
    """The columns of a mean and of its spread: ``acc_mean`` and ``acc_std``."""

    mean: str
    kind: str
    """``sd``, ``se`` or ``spread``, a ± that is not explained."""
    spread: str


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
    return has_summaries(table.columns)


def has_summaries(columns: Mapping[str, Cells]) -> bool:
    """Whether a table has means with their spread: in cells with ±, or as columns ``mean`` and ``sd``."""
    return bool(mean_columns(columns)) or bool(_with_spread(columns))


def mean_columns(columns: Mapping[str, Cells]) -> list[MeanColumns]:
    """The columns of means beside their spread: ``mean`` and ``sd``, ``Accuracy (mean)`` and ``Accuracy (std)``."""
    spreads = [(name, *spread) for name in columns if (spread := _spread_of(name)) is not None]
    spreads.sort(key=lambda known: ("sd", "se", "spread").index(known[1]))
    means: dict[str, MeanColumns] = {}
    for name, kind, words in spreads:
        mean = _mean_of(columns, words, [spread for spread, *_ in spreads])
        unsure = _plain(name) == "error" and mean is not None and tokens(mean) not in (("mean",), ("score",))
        if mean is not None and not unsure and _holds_numbers(columns[name]):
            means.setdefault(mean, MeanColumns(mean, kind, name))
    return list(means.values())


def _spread_of(name: str) -> tuple[str, tuple[str, ...]] | None:
    """Which spread a column is by its name, and the words of what it is of; None where it is none."""
    if _plain(name) in _SPREAD:
        return "spread", ()
    if "±" in name:
        return "spread", tokens(name)
    words = tokens(name)
    for kind, spellings in _SPREAD_WORDS.items():
        for spelling in spellings:
            for at in range(len(words) - len(spelling) + 1):
                if words[at : at + len(spelling)] == spelling:
                    return kind, words[:at] + words[at + len(spelling) :]
    return None


def _mean_of(columns: Mapping[str, Cells], words: tuple[str, ...], spreads: Sequence[str]) -> str | None:
    """The column of the mean whose spread has these words; of a bare ``std`` the mean, the score or the only metric."""
    free = [name for name in columns if name not in spreads and _holds_numbers(columns[name])]
    by_words = {tokens(name): name for name in reversed(free)}
    by_words |= {
        tuple(word for word in tokens(name) if word not in _MEAN_WORDS): name
        for name in reversed(free)
        if set(tokens(name)) & _MEAN_WORDS
    }
    metrics = [name for name in free if is_metric(name)]
    bare = by_words.get(()) or by_words.get(("score",)) or (metrics[0] if len(metrics) == 1 else None)
    return by_words.get(words) if words else bare


def _holds_numbers(cells: Cells) -> bool:
    return not is_series(cells) and bool(np.isfinite(as_numbers(cells).values).any())


def interval_columns(columns: Mapping[str, Cells]) -> tuple[str, str] | None:
    """The columns of the ends of an interval, by their names (``ci_low``, ``ci_high``); None where there are none."""
    low, high = (
        {
            tuple(word for word in tokens(name) if word not in words): name
            for name in columns
            if set(tokens(name)) & words and _holds_numbers(columns[name])
        }
        for words in _ENDS.values()
    )
    return next(((low[rest], high[rest]) for rest in low if rest in high), None)


def summaries_of(
    table: RawTable, reading: str | None = None, score: str | None = None, runs: Sequence[int] | None = None
) -> list[Summary]:
    """A summary for each row; ``reading`` says what a column ± is whose name does not tell.

    ``score`` is the column that is meant where several have means with their ±, ``runs`` the number of runs of each row
    where no column has it: one for all rows, or one each.
    """
    column = _the_score(table, score)
    columns = _columns(table, column)
    names = texts(columns["name"]) if "name" in columns else [f"row {row + 1}" for row in range(table.n_rows)]
    known = next((pair for pair in mean_columns(table.columns) if pair.mean == column), None)
    if known is None:
        halves = [_AFTER.search(str(cell)) for cell in texts(table.columns[str(column)])]
        mean, spread = ([_read(half[part]) for half in halves if half] for part in ("mean", "spread"))
        kind = reading
    else:
        mean, spread = _numbers(table.columns[known.mean]), _numbers(table.columns[known.spread])
        kind = reading if known.kind == "spread" else known.kind
    n = _numbers(columns["n"]) if "n" in columns else _given_runs(table, runs)
    tuned = _numbers(columns["tuned"]) if "tuned" in columns else [float("nan")] * table.n_rows
    return [
        # a number of runs that is none is refused by the summary itself
        Summary(str(name), a, b, runs_of, None if np.isnan(trials) else trials, kind)  # type: ignore[arg-type]
        for name, a, b, runs_of, trials in zip(names, mean, spread, n, tuned, strict=True)
    ]


def refuse_summaries(table: Merged, selection: str) -> None:
    """Raise where the score of a table with a row for each family is a mean beside its spread, or has an interval."""
    pair = next((pair for pair in mean_columns(table.columns) if pair.mean == selection), None)
    if pair is not None:
        what = "standard errors" if pair.kind == "se" else "standard deviations"
        raise DataError(
            f"{table.source} has means and {what} of runs ({pair.mean!r} and {pair.spread!r}), one row for each of "
            f"{table.n_rows} families, and no single runs, which are what is compared here; such numbers are compared "
            f"by {called('claim')}"
        )
    ends = interval_columns(table.columns)
    if ends is not None:
        low, score, high = (as_numbers(table.columns[name]).values for name in (ends[0], selection, ends[1]))
        if not ((low <= score) & (score <= high)).all():
            return
        raise DataError(
            f"{table.source} has one score with an interval ({ends[0]!r} to {ends[1]!r}) for each of {table.n_rows} "
            f"families, and no single runs: give those, or means with the standard deviation and the number of their "
            f"runs (columns mean, std and n), which are compared by {called('claim')}"
        )


def rows_where(table: RawTable, where: str) -> RawTable:
    """The rows for which a condition holds."""
    from levelbest.readers.steps.conditions import matching_rows

    kept = np.flatnonzero(matching_rows(where, table.columns, table.n_rows, table.source))
    if not kept.size:
        raise InputError(f"{named('where', where)} leaves none of {table.n_rows} rows")
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
    """The column of means with their ±, or beside one of it: the one that was named, else the only one."""
    known = [*_with_spread(table.columns), *(pair.mean for pair in mean_columns(table.columns))]
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


def _counts_runs(name: str) -> bool:
    """``n``, ``Seeds``, ``n_runs``, ``# of seeds``."""
    words = set(tokens(name))
    return words == {"n"} or bool(words & _RUN_WORDS and words <= _RUN_WORDS | _OF_RUNS)


def _columns(table: RawTable, score: str | None) -> dict[str, Cells]:
    """The columns of names, numbers of runs and of trials, by their names; those of scores are none of names."""
    by_name = {_plain(name): name for name in table.columns}
    counts = [name for name in table.columns if _counts_runs(name)]
    tuned = [by_name[name] for name in _TUNED_COLUMNS if name in by_name]
    parts = {part: table.columns[known[0]] for part, known in (("n", counts), ("tuned", tuned)) if known}
    summed = [*_with_spread(table.columns), *([] if score is None else [score])]
    words = [name for name, cells in table.columns.items() if not np.isfinite(as_numbers(cells).values).any()]
    named = next((by_name[name] for name in _NAMES if name in by_name), None)
    if (name := named or next((name for name in words if name not in summed), None)) is not None:
        parts["name"] = table.columns[name]
    return parts


def _numbers(cells: Cells) -> list[float]:
    return [float(value) for value in as_numbers(cells).values]
