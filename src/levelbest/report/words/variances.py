"""Variance by source in words and cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest.report.view import Section
from levelbest.report.words.phrases import level, listed, plural
from levelbest.results import FamilyVariance
from levelbest.stats.checks import Source

_PLURALS = {"configuration": "configurations", "split": "data splits", "seed": "seeds"}


def variance_sentence(variance: FamilyVariance) -> str:
    """Which part of the variance each source has, the largest first."""
    shared = sorted(variance.sources, key=lambda source: -source.variance)
    parts = [
        f"{_share(variance, source)} {'comes ' * (i == 0)}from {_PLURALS[source.name]} "
        f"(sd {source.sd:.3g}, {_ends(source)})"
        for i, source in enumerate(shared)
    ]
    return f"{variance.family}: of the variance of {variance.score} between runs, {listed(parts)}."


def variance_heading(variances: Sequence[FamilyVariance]) -> str:
    """What the numbers of the table are."""
    first = variances[0]
    counts = [f"{plural(own.n_configurations, 'configuration')}, {plural(own.n_runs, 'run')}" for own in variances]
    each = (
        counts[0]
        if len(set(counts)) == 1
        else "; ".join(f"{own.family}: {words}" for own, words in zip(variances, counts, strict=True))
    )
    lost = sum(own.n_failed for own in variances)
    failed = f"; {plural(lost, 'run')} without a score left out" if lost else ""
    return (
        f"what makes the {first.score} of runs differ: standard deviation by source, with {level(first.confidence)} "
        f"limits for each by itself ({each}{failed})"
    )


def variance_section(variances: Sequence[FamilyVariance]) -> Section:
    """The table for a page."""
    heads, rows = variance_table(variances)
    sentences = " ".join(map(variance_sentence, variances))
    note = f"{sentences} Limits hold at {level(variances[0].confidence)} for each source by itself."
    return Section("Variance by source", note, tuple(heads), tuple(map(tuple, rows)))


def variance_table(variances: Sequence[FamilyVariance]) -> tuple[list[str], list[list[str]]]:
    """A row for each family and source."""
    heads = ["family", "source", "sd", level(variances[0].confidence), "share of variance"]
    rows = []
    for own in variances:
        for source in own.sources:
            name = source.name if own.split is None or source.name != "split" else f"split ({own.split})"
            rows.append([own.family, name, f"{source.sd:.3g}", _ends(source), _share(own, source)])
    return heads, rows


def variance_facts(variance: FamilyVariance) -> list[tuple[str, str]]:
    """A line for each source."""
    return [
        (f"by {source.name}", f"sd {source.sd:.3g}, {_ends(source)}, {_share(variance, source)} of variance")
        for source in variance.sources
    ]


def _share(variance: FamilyVariance, source: Source) -> str:
    share = variance.components.share(source.name)
    if math.isnan(share):
        return "–"
    low, high = variance.components.share_limits(source.name)
    limits = "" if math.isnan(low) else f" ({100 * low:.0f} to {100 * high:.0f} %)"
    return f"{100 * share:.0f} %{limits}"


def _ends(source: Source) -> str:
    """The limits of its standard deviation."""
    return " to ".join(f"{math.sqrt(max(limit, 0.0)):.3g}" for limit in (source.low, source.high))
