"""Reading results: ``read_trials`` finds the reader, chooses the columns and reports what it chose and skipped."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from levelbest.errors import DataError, InputError, named
from levelbest.readers.steps.roles import ReadRequest

if TYPE_CHECKING:
    from levelbest.readers.raw import RawTable, Reader
    from levelbest.readers.steps.roles import ReadRequest
    from levelbest.trials import Trials

__all__ = ["read_trials"]


def read_trials(
    source: object,
    *,
    family: str | Sequence[str] | None = None,
    selection: str | None = None,
    reported: str | None = None,
    cost: str | Mapping[str, float] | None = None,
    task: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    stratum: str | None = None,
    cluster: str | None = None,
    success: str | None = None,
    answer: str | None = None,
    judge: str | None = None,
    trial: str | None = None,
    tied: str = "first",
    search: str | None = None,
    seed_column: str | None = None,
    status: str | None = None,
    configuration: str | Sequence[str] | None = None,
    where: str | None = None,
    map: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,  # noqa: A002
    direction: str | None = None,
    selection_direction: str | None = None,
    bounds: Sequence[float | None] | None = None,
    wide: str | Sequence[str] | None = None,
    spaces: Mapping[str, object] | None = None,
    label: str | Mapping[str, str] | None = None,
    name: Mapping[str, str] | None = None,
    reader: str | None = None,
    keep: bool = False,
    diagnostics: bool = True,
    **options: Any,
) -> Trials:
    """Trials from a file, a folder, a glob, several of them, a dataframe or a mapping of columns.

    Columns that are not named are chosen by the format or by an obvious name, and ``cautions`` of the result says
    which; ``skipped`` lists what was left out, where and why. There are many parameters, one for each role of a column.

    Parameters
    ----------
    source
        What to read.
    family
        The columns that tell families apart; ``"none"`` where no column does.
    selection, reported, cost
        The score that picks the winner, the score claimed of it, and what a trial used up; ``reported="none"`` says
        that there is none. A cost may be prices per million tokens, ``{"input": 3, "output": 15}`` (and ``cached``):
        the dollars of a sample, from its columns of tokens.
    task
        What every family was run on (a game, a data set), each compared by itself; ``"none"`` where a column of such a
        name is a hyperparameter.
    group, weight, stratum, cluster
        The problem that a sample belongs to, and what is said of the problem.
    success
        The condition under which a graded score is a success: ``">= 0.8"`` makes 0 and 1 of scores.
    answer
        What a sample answers: the answers of a problem can vote (``statistic="majority"``, maj@k).
    judge
        A judge's score of every sample; ``label`` is then the column of the label that some of them have, drawn at
        random, and the mean label is estimated from both.
    trial, tied
        The run that a row is a checkpoint of; ``"none"`` where each row is a trial. Of checkpoints that tie at the best
        selection score the ``"first"`` or the ``"last"`` counts.
    search, seed_column, status, configuration
        The search, the seed and the status of a trial, and the columns of its hyperparameters.
    where
        A condition in SQL: only the rows for which it holds are read.
    map
        Columns that are one under several names: ``"acc=accuracy,test_acc"``. Rows with none of them are left out.
    direction, selection_direction
        ``max`` or ``min``, where the names of the scores do not tell.
    bounds
        The lowest and highest possible score.
    wide
        Patterns of columns that hold one sample each.
    spaces
        By family the search space it was drawn from, in the words of a study file: printed as declared, in place of
        what the trials show.
    label, name
        What columns of scores and cost, and families, are called in every output: ``{"test_acc": "Test accuracy"}``,
        ``{"mlp_v2": "MLP"}``.
    reader, options
        The format, and what its reader is told, e.g. ``study="cnn"``.
    keep, diagnostics
        Whether to keep the columns that play no part too, in ``others``; whether to look for what speaks against a
        random sample.

    Returns
    -------
    Trials
        A frozen table with its families, metric, cautions and what was left out.

    Examples
    --------
    >>> trials = read_trials({"model": ["a", "b", "a"], "val_acc": [0.7, 0.9, 0.8]})
    >>> print(trials)
    a: 2 trials; b: 1 trial
    >>> trials.metric.direction
    'max'
    """
    ran: dict[str, Any] = {"task": task, "trial": trial, "tied": tied, "search": search, "status": status}
    sampled: dict[str, Any] = {"group": group, "weight": weight, "stratum": stratum, "cluster": cluster}
    wanted = ReadRequest(
        family=_names(family),
        selection=judge or selection,
        reported=_labels_of(judge, label) or reported,
        cost=cost if isinstance(cost, str) else None,
        seed_column=seed_column,
        configuration=_names(configuration),
        wide=_names(wide),
        where=where,
        direction=direction,
        selection_direction=selection_direction,
        bounds=bounds,
        keep=keep,
        **ran,
        **sampled,
        answer=answer,
    )
    tables = _with_one_name(_tables(source, reader, options, family_given=wanted.family is not None), map)
    trials = _declared(_built(tables, wanted, cost, success), spaces)
    return _called(trials, label, name, judged=judge is not None, diagnostics=diagnostics)


def _built(tables: list[RawTable], wanted: ReadRequest, cost: object, success: str | None) -> Trials:
    """Trials of the tables, with what each row cost where tokens have prices, and successes of graded scores."""
    from dataclasses import replace

    from levelbest.readers.steps.pipeline import build_trials

    if isinstance(cost, Mapping):
        from levelbest.readers.steps.priced import SPENT, as_rates, priced

        rates = as_rates(cost)
        tables, wanted = [priced(table, rates) for table in tables], replace(wanted, cost=SPENT)
    trials = build_trials(tables, wanted)
    if success is None:
        return trials
    from levelbest.readers.steps.success import as_success

    return as_success(trials, success)


def _labels_of(judge: str | None, label: str | Mapping[str, str] | None) -> str | None:
    """The column of labels that a judge is held against; a mapping says what columns are called, and is none."""
    column = label if isinstance(label, str) else None
    if judge is None and column is not None:
        raise InputError(
            f"{named('label', column)} names the column of labels for the scores of a judge: name the judge's "
            f"column too ({named('judge')} COL); to rename a column write {named('label', f'{column}=TEXT')}"
        )
    if judge is not None and column is None:
        raise InputError(
            f"a judge's scores ({named('judge', judge)}) are corrected by labels of some samples: name their column "
            f"({named('label')} COL)"
        )
    return column


def _with_one_name(
    tables: list[RawTable], given: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None
) -> list[RawTable]:
    if given is None:
        return tables
    from levelbest.readers.steps.mapped import as_mapping, with_one_name

    return with_one_name(tables, as_mapping(given))


def _called(
    trials: Trials,
    label: str | Mapping[str, str] | None,
    name: Mapping[str, str] | None,
    *,
    judged: bool,
    diagnostics: bool,
) -> Trials:
    """The trials under the names that their columns and families are to have, and what is to be asked of them."""
    from levelbest.readers.steps.diagnose import with_diagnostics

    if judged:
        trials = _by_judge(trials)
    called = label if isinstance(label, Mapping) else {}
    if called or name:
        from levelbest.trials.labels import relabelled

        trials = relabelled(trials, called, name or {})
    return with_diagnostics(trials) if diagnostics else trials


def _by_judge(trials: Trials) -> Trials:
    """The trials with the fact that their selection score is a judge's."""
    from dataclasses import replace

    if trials.group is None:
        raise InputError("a judge scores samples of problems: name the problem of each sample (group)")
    return replace(trials, facts={**trials.facts, "judge": "yes"})


def _declared(trials: Trials, spaces: Mapping[str, object] | None) -> Trials:
    """The trials with the spaces that their families were drawn from."""
    if spaces is None:
        return trials
    import json
    from dataclasses import replace

    from levelbest._check import nearest_first
    from levelbest._ledger.space import Space

    known = {name: given for name, given in spaces.items() if name in trials.families}
    if not known:
        near = nearest_first(next(iter(spaces), ""), trials.families)
        raise InputError(f"spaces must belong to families of the table, got {', '.join(spaces) or 'none'}; {near}")
    described = {name: given if isinstance(given, Space) else Space(given) for name, given in known.items()}
    facts = {f"space:{name}": json.dumps(space.to_dict()) for name, space in described.items()}
    return replace(trials, facts={**trials.facts, **facts})


def _tables(source: object, reader: str | None, options: dict[str, object], *, family_given: bool) -> list[RawTable]:
    """What the readers make of the sources; ``asked``: the families were asked for."""
    from levelbest.readers.formats._searches import searches_in_arguments
    from levelbest.readers.formats.folder import apart_by_path, arranged
    from levelbest.readers.registry import read_logs, read_path
    from levelbest.readers.tables.files import as_paths, short_names
    from levelbest.readers.tables.frames import is_frame

    source = getattr(source, "cv_results_", source)  # scikit-learn's searches, as they are
    if not isinstance(source, (str, Path)) and is_frame(source):
        _check_options(options, [])
        return [_frame(source)]
    if isinstance(source, bytes) or not isinstance(source, (str, Path, Iterable)):
        raise InputError(f"a source must be a path, a glob, a list of them or a dataframe, got {source!r}")
    paths = as_paths(source)
    if not paths:
        raise InputError("there is nothing to read: the list of files is empty")
    logs = read_logs(paths, reader, options)
    if logs is not None:
        _check_options(options, [logs[1]])
        return logs[0]
    used, by_path = [], []
    for path, name in zip(paths, short_names(paths), strict=True):
        with _named_by_path(path):
            tables_of_path, by = read_path(path, reader, options)
        used.append(by)
        _name_sources(tables_of_path, path, name, inside=by.name == "folder" and len(paths) > 1)
        by_path.append((name, tables_of_path))
    _check_options(options, used)
    tables = [table for _, path_tables in by_path for table in path_tables]
    if not tables:
        raise InputError(f"nothing in {paths[0].name} could be read as trials")
    if len(tables) == 1:
        return tables
    if all(by.name in ("table", "folder") for by in used):
        folder = paths[0] if len(paths) == 1 else Path(os.path.commonpath([path.absolute().parent for path in paths]))
        return arranged(tables, folder.resolve().name or "files", family_given=family_given)
    if len(paths) > 1 and not searches_in_arguments(by_path):
        apart_by_path(by_path)  # where names are alike, a family for each
    return tables


@contextmanager
def _named_by_path(path: Path) -> Iterator[None]:
    """An empty file is named by its path: many files have one name."""
    try:
        yield
    except DataError as error:
        if not str(error).startswith(f"{path.name} holds no rows"):
            raise
        raise DataError(f"{path}{str(error).removeprefix(path.name)}") from None


def _name_sources(tables: Sequence[RawTable], path: Path, name: str, *, inside: bool) -> None:
    """Each table by the name that tells its path apart from the others; ``inside``: below the folder of its path."""
    for table in tables:
        if table.source == path.name:
            table.source = name
        elif inside:
            table.source = f"{name}/{table.source}"


_CALLED_HERE = {
    **dict.fromkeys(("metric", "score", "target", "y"), "selection=, the score that picks the winner, and reported="),
    **dict.fromkeys(("model", "models", "method", "algorithm", "hue"), "family="),
    **dict.fromkeys(("alpha", "level", "significance"), "confidence=0.95"),
    **dict.fromkeys(
        ("seed", "random_state", "random_seed"), "rng=0 for random draws, seed_column= for a column of seeds"
    ),
    **dict.fromkeys(("maximize", "higher_is_better", "mode", "minimize"), "direction='max' or 'min'"),
    **dict.fromkeys(("n_bootstrap", "n_boot", "resamples"), "n_resamples="),
    **dict.fromkeys(("dataset", "env", "game"), "task="),
    **dict.fromkeys(("problem", "question"), "group="),
}
"""Guesses of other libraries' words, and what each is here."""


def _check_options(options: Mapping[str, object], used: Sequence[Reader]) -> None:
    """Every option must be known to some reader that was used: a slip of the pen is not passed over."""
    from levelbest._check import nearest_first
    from levelbest.readers.registry import options_of

    known = list(dict.fromkeys(name for reader in used for name in options_of(reader)))
    for option in options:
        if option not in known:
            who = ", ".join(dict.fromkeys(reader.name for reader in used)) or "dataframe"
            ways = list(inspect.signature(read_trials).parameters)[1:-1]
            hint = _CALLED_HERE.get(option.lower())
            hint = f"here it is {hint}" if hint else nearest_first(option, [*known, *ways])
            raise InputError(f"unknown option {option!r} for {who}; {hint}")


def _frame(source: object) -> RawTable:
    from levelbest.readers.formats.exported import is_cv_results, known_export, mapping_table, with_export, with_roles
    from levelbest.readers.tables.frames import frame_table

    if isinstance(source, Mapping) and is_cv_results(source):
        return mapping_table(source)
    table = frame_table(_as_rows(source) if isinstance(source, Mapping) else source)
    if is_cv_results(table.columns):
        return with_roles(table)
    export = known_export(table.columns)
    return table if export is None else with_export(table, export)


def _as_rows(source: Mapping[Any, Any]) -> object:
    """``{"resnet": [scores], "vit": [scores]}`` as a row for each score, as of JSON; other mappings as they are."""
    from levelbest.readers.formats._shapes import lists_by_name
    from levelbest.readers.steps.names import is_metric

    lists = {str(name): values for name, values in source.items() if hasattr(values, "__len__")}
    texts = any(isinstance(values, (str, bytes)) for values in lists.values())
    if len(lists) < len(source) or texts or any(map(is_metric, lists)):
        return source
    plain = {name: values.tolist() if hasattr(values, "tolist") else list(values) for name, values in lists.items()}
    rows = lists_by_name(plain, "", [])
    return source if rows is None else [row for _, row in rows]


def _names(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name, several, or a comma-separated list of them."""
    if given is None:
        return None
    if isinstance(given, str):
        return tuple(part.strip() for part in given.split(",") if part.strip()) or None
    return tuple(given)
