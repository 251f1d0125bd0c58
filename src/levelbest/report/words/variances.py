"""Variance by source in words and cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest.report.words.phrases import level, listed, plural
from levelbest.results import FamilyVariance
from levelbest.stats.checks import VarianceSource

_PLURALS = {"configuration": "configurations", "split": "data splits", "seed": "seeds"}


def variance_sentence(variance: FamilyVariance) -> str:
    """Which part of the variance each source has, the largest first."""
    shared = sorted(variance.sources, key=lambda source: -source.variance)
    parts = [
        f"{share_words(variance, source)} {'comes ' * (i == 0)}from {_PLURALS[source.name]} "
        f"(sd {source.sd:.3g}, {ends_words(source)})"
        for i, source in enumerate(shared)
    ]
    return f"{variance.family}: of the variance of {variance.score} between runs, {listed(parts)}."


def variance_heading(variances: Sequence[FamilyVariance]) -> str:
    """What the numbers of the table are."""
    first = variances[0]
    counts = [
        f"{plural(variance.n_configurations, 'configuration')}, {plural(variance.n_runs, 'run')}"
        for variance in variances
    ]
    each = (
        counts[0]
        if len(set(counts)) == 1
        else "; ".join(f"{variance.family}: {words}" for variance, words in zip(variances, counts, strict=True))
    )
    lost = sum(variance.n_failed for variance in variances)
    failed = f"; {plural(lost, 'run')} without a score left out" if lost else ""
    return (
        f"what makes the {first.score} of runs differ: standard deviation by source, with {level(first.confidence)} "
        f"limits for each separately ({each}{failed})"
    )


def variance_facts(variance: FamilyVariance) -> list[tuple[str, str]]:
    """A line for each source."""
    return [
        (f"by {source.name}", f"sd {source.sd:.3g}, {ends_words(source)}, {share_words(variance, source)} of variance")
        for source in variance.sources
    ]


def share_words(variance: FamilyVariance, source: VarianceSource) -> str:
    """Its part of the variance, with limits; a dash where it is not known."""
    share = variance.components.share(source.name)
    if math.isnan(share):
        return "–"
    low, high = variance.components.share_limits(source.name)
    limits = "" if math.isnan(low) else f" ({100 * low:.0f} to {100 * high:.0f} %)"
    return f"{100 * share:.0f} %{limits}"


def ends_words(source: VarianceSource) -> str:
    """The limits of its standard deviation."""
    return " to ".join(f"{math.sqrt(max(limit, 0.0)):.3g}" for limit in (source.low, source.high))


def source_words(variance: FamilyVariance, source: VarianceSource) -> str:
    """The name of a source, with the column that tells data splits apart."""
    return f"{source.name} ({variance.split})" if variance.split is not None and source.name == "split" else source.name
