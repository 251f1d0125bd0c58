"""From trials to a view: curves, comparisons and tables of a report, each computed once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from levelbest import __version__
from levelbest._check import FloatArray
from levelbest._plain import cell_text
from levelbest.cautions import Caution
from levelbest.designs import Design, Request, design_of
from levelbest.designs._assemble import assemble, points_at
from levelbest.designs._input import departures, is_registered, pairs_of, with_scores
from levelbest.designs._protocol import FIRST_SHOWN
from levelbest.designs.compare import compare_request
from levelbest.designs.curve import curves_beside
from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.selecting import verifier_effects
from levelbest.errors import DataError, called
from levelbest.report.tables import sections as problems
from levelbest.report.tables.results import variance_section
from levelbest.report.tables.table import Table
from levelbest.report.view import ShownFamily, View, floats, hidden_columns, line_of, trial_table, verifier_lines
from levelbest.report.words.curves import alone_sentence, family_title
from levelbest.report.words.methods import REFERENCES, methods_paragraph, parameter_texts
from levelbest.report.words.phrases import alone_words
from levelbest.results import Comparison, Curve, FamilyCostCurve, Standing, VerifierEffect
from levelbest.trials import Settings, Trials, by_configuration
from levelbest.trials.problems import ProblemTable
from levelbest.trials.spaces import is_known, machine_columns, search_spaces

_ENOUGH_FOR_COST = 5
_FOR_THREADS = 2_000
"""Trials from which several threads are worth their switching: with 600 a page takes a tenth longer without them, and a
tenth less of the processor."""

MOST_COMPARED = 50_000
"""Trials up to which every statistic, and costs, are compared; of more the statistic of the verdict alone. Medians of
reported scores and costs take up to ten times as long as the verdict, and so would the page."""


def build_view(
    trials: Trials | ProblemTable,
    *,
    title: str | None = None,
    headline: int | None = None,
    worth: float | None = None,
    interval: str = "default",
    paired: bool | None = None,
    baseline: str | None = None,
    statistics: Iterable[str] = ("mean", "median"),
    published: Mapping[str, float] | None = None,
    log: bool | None = None,
    hide: Iterable[str] = (),
    about: str = "problems",
    comparing: bool = True,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int = 0,
) -> View:
    """Curves with simultaneous bands, comparisons, tables and sentences for every family in the trials.

    Every option of the command line is a parameter of the same name. ``statistics`` are those of the curves,
    the first one also that of the verdict; ``comparing`` False leaves comparisons out; ``log`` puts budgets on a log
    scale or not, None where curves are long; ``hide`` names configuration columns that stay out of the report.
    """
    request = Request.of(
        headline=headline,
        worth=worth,
        interval=interval,
        paired=paired,
        baseline=baseline,
        about=about,
        simultaneous=True,
        settings=Settings(confidence, failed, missing, n_resamples, rng),
    )
    scored = with_scores(trials, baseline)
    if comparing and len(scored.families) > 1:
        pairs_of(scored.families, baseline)  # what is refused is refused before anything is drawn
    made = _Made(scored, request.with_registered(scored), tuple(statistics), comparing)
    view = _view(made, trials, hidden_columns(trials, hide))
    return replace(view, title=title or view.title, published=dict(published or {}), log=log)


def _view(made: _Made, trials: Trials | ProblemTable, hidden: frozenset[str]) -> View:
    """Everything that was made, as it is shown; ``trials`` are all, those of families without a score among them."""
    table, settings, comparison = made.table, made.request.settings, made.comparison
    if comparison is not None:
        comparison = replace(comparison, spaces=tuple(space.without(hidden) for space in comparison.spaces))
    named = ""
    if made.request.headline is not None:
        named = alone_words(registered=is_registered(table, replace(made.request, statistic=made.statistics[0])))
    families = tuple(_family(made, name, hidden) for name in made.table.families)
    first, budget = families[0], min(made.headline, families[0].n_trials)
    standing = Standing(first.name, first.n_trials, first.n_failed, first.n_running, budget, *first.headline)
    alone = alone_sentence(standing, table.metric.score, made.n_groups, made.curves[0].words)
    methods = methods_paragraph(
        made.curves,
        comparison,
        headline=made.headline,
        named=named,
        n_searches=len(table.searches) if isinstance(table, Trials) and table.search is not None else None,
        weight=table.columns.get("weight"),
    )
    return View(
        title=family_title(made.table.families, table.metric, made.design.words),
        verdict=(*((alone,) if comparison is None else comparison.summary), *made.left_out),
        details=() if comparison is None or len(comparison.pairs) == 1 else comparison.sentences,
        selection=table.metric.selection,
        reported=table.metric.reported if settings.missing != "selection" else None,
        direction=table.metric.direction,
        bounds=made.design.metric.bounds,
        cost_unit=table.metric.cost_unit,
        confidence=settings.confidence,
        failed=settings.failed,
        seed=settings.rng or 0,
        headline=made.headline,
        named=named,
        families=families,
        lines=(*map(line_of, [*made.curves, *made.beside]), *map(line_of, made.computed.cost_curves)),
        pairs=tuple(
            replace(pair, terms=replace(pair.terms, statistic=statistic))  # by the name that its curves have
            for (statistic, _), result in made.comparisons.items()
            for pair in result.pairs
        ),
        table=trial_table(trials, hidden) if isinstance(trials, Trials) else {},
        n_rows=len(trials) if isinstance(trials, Trials) else sum(family.n_trials for family in families),
        uncompared=made.uncompared,
        cautions=made.cautions,
        methods=methods,
        references=REFERENCES,
        words=made.design.words,
        units={name: floats(scores) for name, scores in made.design.unit_scores.items()} if made.single else {},
        provenance=provenance_of(table, settings),
        n_groups=made.n_groups,
        sections=made.sections(),
        effect=verifier_lines(made.effects, made.design.words),
        comparison=comparison,
        variances=tuple(made.design.variances),
        hues=made.design.hues if comparison is None else dict(made.design.hues) | dict(comparison.hues),
    )


class _Computed(NamedTuple):
    """The comparison and the curves over cost, and both over trials, statistic by statistic."""

    over_cost: Comparison | None
    cost_curves: tuple[FamilyCostCurve, ...]
    compared: list[Comparison | None]
    drawn: list[tuple[Curve | FamilyCostCurve, ...]]


@dataclass(frozen=True)
class _Made:
    """Everything that a report shows of its trials; each is computed when it is first asked for, and once."""

    table: Trials | ProblemTable
    request: Request
    wanted: tuple[str, ...]
    comparing: bool

    @cached_property
    def design(self) -> Design:
        return design_of(self.table, replace(self.request, statistic=self.statistics[0]))

    @cached_property
    def statistics(self) -> tuple[str, ...]:
        """Over problems, searches and seeds there is one statistic, the mean, and so for limits of Gaffke's type."""
        plain = isinstance(self.table, Trials) and self.table.group is None and self.table.search is None
        of_means = self.single or (self.request.interval == "gaffke" and "mean" in self.wanted)
        return self.wanted if plain and not of_means else ("mean",)

    @cached_property
    def single(self) -> bool:
        """Whether all that is said is about one new unit, as where runs differ by their seed alone."""
        request = replace(self.request, statistic="mean")
        return "mean" in self.wanted and bool(design_of(self.table, request).words.single)

    @property
    def many(self) -> bool:
        """Whether there are too many trials to compare more than the verdict needs."""
        return isinstance(self.table, Trials) and len(self.table) > MOST_COMPARED

    @property
    def uncompared(self) -> tuple[str, ...]:
        """The calls that compare what is drawn and not compared here."""
        if not self.many or self.comparison is None:
            return ()
        further = [called("compare", statistic=name) for name in self.statistics[1:]]
        return (*further, *([called("compare", axis="cost")] if self.computed.cost_curves else []))

    @cached_property
    def computed(self) -> _Computed:
        """Curves of every statistic and over cost, and the comparisons, the longest first. Of many trials on as many
        cores as there are: NumPy lets go of the interpreter while it computes."""
        requests = [replace(self.request, statistic=statistic) for statistic in self.statistics]
        if isinstance(self.table, Trials) and len(self.table) < _FOR_THREADS:
            return _Computed(*self._over_cost(), [*map(self._compare, requests)], [*map(self._draw, requests)])
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            # each in this context, so that messages name arguments as their reader writes them
            cost = pool.submit(copy_context().run, self._over_cost)
            compared = [pool.submit(copy_context().run, self._compare, request) for request in requests]
            drawn = [pool.submit(copy_context().run, self._draw, request) for request in requests]
            return _Computed(*cost.result(), [job.result() for job in compared], [job.result() for job in drawn])

    def _over_cost(self) -> tuple[Comparison | None, tuple[FamilyCostCurve, ...]]:
        """Of families with enough trials whose costs are all known; None and nothing where they share no budget."""
        table, settings = self.table, self.request.settings
        if not isinstance(table, Trials) or table.cost is None or table.group is not None or table.search is not None:
            return None, ()
        kept = []
        for name in table.families if "mean" in self.statistics else ():
            scores = table[name].scores(settings.failed, missing=settings.missing)
            cost = np.zeros(0) if scores.cost is None else scores.cost
            if scores.n_trials >= _ENOUGH_FOR_COST and np.isfinite(cost).all() and cost.max() > 0:
                kept.append(name)
        if not kept:
            return None, ()
        request = replace(self.request, axis="cost", headline=None, interval="default", paired=None, p_values=False)
        try:
            design = design_of(table[kept], request)
            curves = tuple(curve for curve in design.curves(request) if isinstance(curve, FamilyCostCurve))
        except DataError:
            return None, ()
        compared = self.comparing and not self.many and self.request.interval == "default"  # no others over cost
        if compared and len(kept) > 1 and request.baseline in (None, *kept):
            with suppress(DataError):  # they share no budget
                return assemble(design, survival=False, standings=False), curves
        return None, curves

    def _compare(self, request: Request) -> Comparison | None:
        """Of all but the verdict the pairs alone are shown, and of many trials none."""
        further = request.statistic != self.statistics[0]
        if not self.comparing or len(self.table.families) < 2 or (further and self.many):
            return None
        return compare_request(self.table, request, pairs_only=further)

    def _draw(self, request: Request) -> tuple[Curve | FamilyCostCurve, ...]:
        """With bands over all budgets; of seeds, where there is one, with limits for each, as in their tables."""
        drawn = replace(request, simultaneous=not self.single)
        return design_of(self.table, drawn).curves(drawn)

    @property
    def comparisons(self) -> dict[tuple[str, str], Comparison]:
        """By statistic and axis, cost last."""
        computed = self.computed
        kinds = [*((statistic, "trials") for statistic in self.statistics), ("mean", "cost")]
        results = zip(kinds, [*computed.compared, computed.over_cost], strict=True)
        return {kind: result for kind, result in results if result is not None}

    @property
    def left_out(self) -> list[str]:
        """A sentence for every family that is in no comparison."""
        lost = [caution for caution in self.cautions if caution.kind in ("left-out", "one-trial")]
        return [f"{caution}." for caution in lost if caution.family is not None]

    @property
    def comparison(self) -> Comparison | None:
        """The one that the verdict is of."""
        return self.comparisons.get((self.statistics[0], "trials"))

    @property
    def curves(self) -> list[Curve]:
        """Over numbers of trials, of every statistic and family."""
        return [curve for several in self.computed.drawn for curve in several if isinstance(curve, Curve)]

    @cached_property
    def headline(self) -> int:
        """The budget of the numbers in the table."""
        if self.comparison is not None and self.comparison.terms.headline is not None:
            return self.comparison.terms.headline
        last = min(int(curve.n[-1]) for curve in self.curves)
        return min(self.request.headline or self.design.headline or FIRST_SHOWN, last)

    @cached_property
    def points(self) -> dict[str, tuple[float, float, float, float]]:
        """Each family's budget, value and pointwise limits at the headline budget."""
        standings = () if self.comparison is None else self.comparison.standings
        points = {row.family: (row.budget, row.value, row.low, row.high) for row in standings}
        if set(points) == set(self.table.families):
            return points
        return dict(zip(self.table.families, points_at(self.design, float(self.headline)), strict=True))

    @property
    def n_groups(self) -> int | None:
        of_problems = self.design.problems if isinstance(self.design, ProblemsDesign) else ()
        return len({label for problems in of_problems for label in problems.labels}) or None

    @cached_property
    def effects(self) -> tuple[VerifierEffect, ...]:
        """Oracle, verifier and random pick, where a verifier selects among the samples of a problem."""
        if self.n_groups is None or self.design.metric.reported is None or not self.design.chooses:
            return ()
        return verifier_effects(self.table, settings=self.request.settings)

    @cached_property
    def beside(self) -> list[Curve]:
        return curves_beside(self.design) if isinstance(self.design, ProblemsDesign) else []

    def sections(self) -> tuple[Table, ...]:
        """What there is to say of problems, or of the variance between runs."""
        design = self.design
        if design.variances:
            return (variance_section(design.variances),)
        if not isinstance(design, ProblemsDesign):
            return ()
        sections = [problems.problem_section(self.curves, self.table.columns)]
        if self.comparison is not None and self.comparison.terms.n_tasks is not None:
            sections.insert(0, problems.benchmarks_table(self.comparison))
        elif self.curves[0].strata:
            sections.insert(0, problems.stratum_section(self.curves, self.headline))
        sections[:0] = problems.sections_beside(self.beside)
        sections[:0] = [problems.verifier_section(self.effects, design.metric.selection)] if self.effects else []
        return tuple(sections)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """All warnings, without the advice to compare in pairs where that was done."""
        lost = [caution for caution in self.table.cautions if caution.kind == "left-out"]
        moot = self.design.moot if self.single else ()
        of_curves = [caution for curve in self.curves for caution in curve.cautions if caution.code not in moot]
        of_pairs = [caution for result in self.comparisons.values() for caution in result.cautions]
        used = any(caution.code == "paired-design" and caution.kind for caution in of_pairs)
        departed = departures(self.table, replace(self.request, statistic=self.statistics[0]))
        every = dict.fromkeys([*lost, *of_curves, *of_pairs, *departed])
        advice = {caution for caution in every if used and caution.code == "paired-design" and not caution.kind}
        return tuple(caution for caution in every if caution not in advice)


def _family(made: _Made, name: str, hidden: frozenset[str]) -> ShownFamily:
    """One row of the table of families: what the design tells of it, and what its trials do themselves."""
    counted = {counts.family: counts for counts in made.design.counts}[name]
    row = ShownFamily(name, counted.n_trials, counted.n_failed, counted.n_running, headline=made.points[name][1:])
    if made.n_groups is not None:
        first = next(curve for curve in made.curves if curve.family == name)
        row = replace(row, mean=float(first.value[0]), winner=float(first.value[0]))
    if not isinstance(made.table, Trials):
        return row
    trials, settings = made.table[name], made.request.settings
    scores = trials.scores(settings.failed, missing=settings.missing)
    if made.design.words.in_parts:
        scores = by_configuration(trials, scores)
    winner = int(np.argmax(trials.metric.sign * scores.selection))
    place = int(scores.rows[winner])
    mean_cost, total_cost = _costs(scores.cost)
    shown = {key: column for key, column in trials.configuration.items() if key not in hidden}
    space = search_spaces(trials)[0].without(hidden)
    return replace(
        row,
        mean=float(scores.curve_of.mean()),
        sd=float(scores.curve_of.std(ddof=1)) if scores.n_trials > 1 else row.sd,
        median=float(np.median(scores.curve_of)),
        winner=float(scores.curve_of[winner]) if trials.group is None else row.winner,
        chosen=float(scores.selection[winner]) if trials.group is None else row.chosen,
        spearman=trials.spearman if scores.reported is not None else row.spearman,
        mean_cost=mean_cost,
        total_cost=total_cost,
        assignment={
            key.removeprefix("config."): cell_text(column[place])
            for key, column in shown.items()
            if is_known(column[place])
        },
        path="" if trials.path is None else str(trials.path[place] or ""),
        space=parameter_texts(space),
        declared=space.declared,
    )


def _costs(cost: FloatArray | None) -> tuple[float, float]:
    """Mean and total, undefined where no cost is known."""
    known = np.zeros(0) if cost is None else cost[np.isfinite(cost)]
    return (float(known.mean()), float(known.sum())) if known.size else (float("nan"), float("nan"))


def provenance_of(table: Trials | ProblemTable, settings: Settings) -> dict[str, str]:
    """What the report was made of and by."""
    rows = {"levelbest": __version__, "random seed": str(settings.rng), "resamples": str(settings.n_resamples)}
    more = " and more" if len(table.source) > 5 else ""
    rows |= {"read from": ", ".join(table.source[:5]) + more} if table.source else {}
    if table.columns:
        rows["columns"] = ", ".join(f"{role} = {column}" for role, column in table.columns.items())
    if isinstance(table, Trials):
        if left_out := machine_columns(table):
            rows["left out, since they identify a machine"] = ", ".join(left_out)
        rows |= {"ledger head": table.facts["ledger:head"]} if "ledger:head" in table.facts else {}
    return rows
