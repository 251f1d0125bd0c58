"""A report of samples too many to hold: the same view, from values by problem that were read in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from levelbest import __version__, _check
from levelbest.comparisons.large import compare_families
from levelbest.comparisons.results import Comparison
from levelbest.curves import Curve, curves_of_families
from levelbest.group_curves import VerifierEffect
from levelbest.large import LargeFamily, best_by_group_large
from levelbest.report import sections as problems
from levelbest.report.build import family_title, pairs_shown, said_alone
from levelbest.report.paper.methods import REFERENCES, methods_paragraph
from levelbest.report.view import Family, Section, View, line_of
from levelbest.report.words.summary import summary_sentences
from levelbest.stats.problems import average_over_groups, group_interval

__all__ = ["build_large_view"]

_NAN = float("nan")


def build_large_view(
    source: Any,
    *,
    title: str | None = None,
    headline: int = 5,
    baseline: str | None = None,
    confidence: float = 0.95,
    failed: str = "worst",
    published: Mapping[str, float] | None = None,
    n_resamples: int = 2000,
    rng: int = 0,
    **reading: Any,
) -> View:
    """What `build_view` shows of samples with problems, but for the samples themselves and their distribution.

    ``reading`` as `levelbest.large.best_by_group_large`.
    """
    _check.as_count(headline, "headline")
    options: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "rng": rng}
    together: dict[str, Any] = {"together": True, "common": True, "also": headline}
    found = best_by_group_large(source, failed=failed, **together, **reading)
    curves = curves_of_families(found, simultaneous=True, **options)
    headline = min([headline, *(int(one.n[-1]) for one in curves)])
    headline = max(int(n) for n in curves[0].n if n <= headline)
    families = tuple(_family(one, headline, options) for one in found)
    compared: Comparison | None = None
    if len(found) > 1:
        compared = compare_families(found, baseline=baseline, statistic="mean", paired=None, **options)
    metric = found[0].metric
    n_groups = len(set.union(*(set(one.best.groups.tolist()) for one in found)))
    verdict: tuple[str, ...] = said_alone(families, headline, metric.reported or metric.selection, n_groups)
    details: tuple[str, ...] = ()
    pairs = () if compared is None else pairs_shown(compared, "mean", "trials")
    if compared is not None:
        verdict, details = compared.sentences, ()
        if baseline is None or len(families) == 2:
            brief = summary_sentences(
                pairs, families, confidence, failed, "sample", headline=headline, problems=n_groups
            )
            verdict, details = brief, verdict
    effects = _effects(source, found, failed, reading)
    lines = tuple(line_of(one) for one in curves)
    cautions = [c for one in curves for c in one.cautions] + list(() if compared is None else compared.cautions)
    return View(
        title=title or family_title([one.family for one in found], metric),
        verdict=verdict,
        details=details,
        selection=metric.selection,
        reported=metric.reported,
        direction=metric.direction,
        bounds=metric.bounds,
        cost_unit=None,
        confidence=confidence,
        failed=failed,
        seed=rng,
        headline=headline,
        families=families,
        lines=lines,
        pairs=tuple(pairs),
        table={},
        n_rows=sum(one.n_samples for one in found),
        cautions=tuple(dict.fromkeys(cautions)),
        methods=methods_paragraph(curves, headline=headline, weight=reading.get("weight")),
        references=REFERENCES,
        published=dict(published or {}),
        provenance={"levelbest": __version__, "random seed": str(rng), "resamples": str(n_resamples)},
        n_groups=n_groups,
        sections=_sections(source, found, curves, effects, headline, failed, reading, options),
        effect=problems.verifier_lines(effects),
    )


def _family(one: LargeFamily, headline: int, options: dict[str, Any]) -> Family:
    best = one.best
    at = [0, int(np.flatnonzero(best.n == headline)[0])]
    columns = best.by_group[:, at]
    value, n_groups = average_over_groups(columns, best.weights)
    point = replace(best, n=best.n[at], value=value, by_group=columns, n_groups=n_groups)
    limits = group_interval(point, bounds=one.metric.bounds, **options)
    low, high = np.asarray(limits.low), np.asarray(limits.high)
    return Family(
        name=one.family,
        n_trials=one.n_samples,
        n_failed=one.n_failed,
        n_running=0,
        mean=float(value[0]),
        sd=_NAN,
        median=_NAN,
        winner=float(value[0]),
        spearman=_NAN,
        mean_cost=_NAN,
        total_cost=_NAN,
        headline=(float(value[1]), float(low[1]), float(high[1])),
    )


def _effects(
    source: Any, found: Sequence[LargeFamily], failed: str, reading: Mapping[str, Any]
) -> tuple[VerifierEffect, ...]:
    """Oracle, verifier and random pick; the oracle is a second reading, of the reported score alone."""
    if not reading.get("reported"):
        return ()
    # a sample that the verifier has no score of is failed for the oracle too
    alone = {**reading, "selection": reading["reported"], "reported": None, "known_by": reading["selection"]}
    budgets = np.unique(np.concatenate([one.best.n for one in found]))
    oracles = {one.family: one for one in best_by_group_large(source, failed=failed, **alone | {"n": budgets})}
    effects = []
    for one in found:
        oracle = oracles[one.family].best
        known = ~np.isnan(one.best.by_group)
        random, _ = average_over_groups(np.where(known, oracle.by_group[:, :1], np.nan), one.best.weights)
        effects.append(VerifierEffect(one.family, one.best.n, oracle.value[: one.best.n.size], one.best.value, random))
    return tuple(effects)


def _sections(
    source: Any,
    found: Sequence[LargeFamily],
    curves: Sequence[Curve],
    effects: Sequence[VerifierEffect],
    headline: int,
    failed: str,
    reading: Mapping[str, Any],
    options: dict[str, Any],
) -> tuple[Section, ...]:
    sections = []
    if effects:
        sections.append(problems.verifier_section(effects, found[0].metric.selection))
    if all(one.binary for one in found) and found[0].metric.direction == "max":
        together: dict[str, Any] = {"together": True, "common": True, "also": headline, "statistic": "all"}
        every = best_by_group_large(source, failed=failed, **{**reading, **together})
        drawn = curves_of_families(every, statistic="all", simultaneous=True, **options)
        if section := problems.all_table(drawn):
            sections.append(section)
    if curves[0].strata:
        sections.append(problems.stratum_section(curves, headline))
    return (*sections, problems.problem_section(curves))
