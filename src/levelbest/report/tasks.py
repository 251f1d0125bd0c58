"""From trials on several tasks or data sets to one view: what holds over all of them, and the view of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from levelbest.designs import Request
from levelbest.designs._input import with_scores
from levelbest.designs.tasks import Tasks, over_tasks, split_tasks
from levelbest.errors import InputError
from levelbest.report.build import build_view, provenance_of
from levelbest.report.tables.results import variance_section
from levelbest.report.tables.sections import aggregate_section, improvement_section
from levelbest.report.tables.table import Table, texts
from levelbest.report.view import ShownFamily, View, hidden_columns, line_of, trial_table
from levelbest.report.words.answers import verdict_sentences
from levelbest.report.words.curves import family_title
from levelbest.report.words.methods import REFERENCES, methods_paragraph, parameter_texts
from levelbest.report.words.phrases import condition_sentence
from levelbest.report.words.tasks import (
    STANDARD,
    TASK_REFERENCE,
    overall_sentence,
    task_methods,
)
from levelbest.results import TaskComparison
from levelbest.trials import Settings, Trials
from levelbest.trials.spaces import search_spaces


def build_task_view(
    trials: Trials,
    *,
    task_directions: Mapping[str, str] | None = None,
    title: str | None = None,
    hide: Iterable[str] = (),
    **options: Any,
) -> View:
    """The view over tasks, which are the groups of the trials; ``options`` are those of `build_view`."""
    if options.get("paired") or options.get("comparing") is False:
        raise InputError("over tasks, families are compared unpaired; leave other options out")
    hidden = hidden_columns(trials, hide)
    kept = with_scores(trials, options.get("baseline"))
    settings = Settings(
        **{key: options[key] for key in ("confidence", "failed", "missing", "n_resamples", "rng") if key in options}
    )
    request = Request.of(baseline=options.get("baseline"), paired=False, settings=settings)
    design = Tasks(split_tasks(kept, task_directions), request)
    if len(design.tasks) < 2:
        raise InputError(f"a report over tasks needs at least two, got {len(design.tasks)}; leave the column out")
    published = dict(options.pop("published", None) or {})
    views = {
        name: build_view(
            table,
            hide=[key for key in hide if key in table.configuration],
            published=published_on(name, published, tuple(design.tasks)),
            **(options | {"paired": False}),
        )
        for name, table in design.tasks.items()
    }
    compared = {
        name: replace(view.comparison, variances=view.variances)
        for name, view in views.items()
        if view.comparison is not None
    }
    result = over_tasks(design, compared)
    view = _view(trials, result, views, hidden, settings)
    return replace(view, title=title or view.title, log=options.get("log"))


def published_on(task: str, published: Mapping[str, float], tasks: Sequence[str]) -> dict[str, float]:
    """The published scores of one task: ``TASK/NAME`` where the name has a task, and those that name none."""
    shown = {}
    for name, score in published.items():
        where, _, rest = name.partition("/")
        if where == task and rest:
            shown[rest] = score
        elif where not in tasks:
            shown[name] = score
    return shown


def _view(
    trials: Trials, result: TaskComparison, views: Mapping[str, View], hidden: frozenset[str], settings: Settings
) -> View:
    overall, metric = result.overall, trials.metric
    headline = overall.terms.headline or 1
    methods = methods_paragraph(result.curves, overall, headline=headline)
    verdicts = [" ".join(verdict_sentences(compared)) for compared in result.tasks.values()]
    each = (texts("task", result.tasks), texts("verdict", verdicts))
    return View(
        title=f"{family_title(overall.families, metric, overall.terms.words)}, {len(views)} tasks",
        verdict=(overall_sentence(result), condition_sentence(overall)),
        details=() if len(overall.pairs) == 1 else overall.sentences,
        selection=metric.selection,
        reported=metric.reported if settings.missing != "selection" else None,
        direction="max",
        bounds=(None, None),
        cost_unit=metric.cost_unit,
        confidence=settings.confidence,
        failed=settings.failed,
        seed=settings.rng or 0,
        headline=headline,
        families=tuple(_family(trials, result, views, name, hidden) for name in overall.families),
        lines=tuple(line_of(curve) for curve in result.curves),
        pairs=overall.pairs,
        table=trial_table(trials, hidden),
        n_rows=len(trials),
        cautions=tuple(dict.fromkeys(caution for view in views.values() for caution in view.cautions)),
        methods=f"{methods} {task_methods(result)}",
        references=(*REFERENCES, TASK_REFERENCE),
        words=overall.terms.words,
        provenance=provenance_of(trials, settings),
        sections=(
            aggregate_section(result),
            improvement_section(result),
            Table(each, "Each task", "The verdict of each task separately."),
            *([variance_section(result.variances)] if result.variances else []),
        ),
        comparison=overall,
        scale=STANDARD,
        tasks={name: replace(view, hues=overall.hues) for name, view in views.items()},
        over_tasks=result,
        hues=overall.hues,
    )


def _family(
    trials: Trials, result: TaskComparison, views: Mapping[str, View], name: str, hidden: frozenset[str]
) -> ShownFamily:
    """A row of the table: the mean over tasks in standard deviations; winners have their tasks beside them."""
    standing = next(standing for standing in result.overall.standings if standing.family == name)
    rows = {task: next(row for row in view.families if row.name == name) for task, view in views.items()}
    cost = float(np.sum([row.total_cost for row in rows.values()]))
    chosen: dict[str, list[str]] = {}
    for task, row in rows.items():
        for key, value in row.assignment.items():
            chosen.setdefault(key, []).append(f"{task}: {value}")
    space = search_spaces(trials[name])[0].without(hidden)
    return ShownFamily(
        name,
        standing.n_trials,
        standing.n_failed,
        standing.n_running,
        headline=(standing.value, standing.low, standing.high),
        mean_cost=cost / standing.n_trials,
        total_cost=cost,
        assignment={key: "; ".join(values) for key, values in chosen.items()},
        space=parameter_texts(space),
        declared=space.declared,
    )
