"""What a report is called, and what it says where there is one family."""

from __future__ import annotations

import math
from collections.abc import Sequence

from levelbest.report.view import Family
from levelbest.report.words.phrases import plural
from levelbest.trials import Metric


def family_title(names: Sequence[str], metric: Metric, design: str) -> str:
    """What a report is about: for seeds a new run, else the best of a budget."""
    who = " and ".join(names) if len(names) <= 2 else f"{len(names)} families"
    what = f"{metric.score} of a new run" if design == "seeds" else f"best {metric.score} against the budget"
    return f"{who}: {what}"


def alone_sentence(family: Family, headline: int, score: str, n_groups: int | None, unit: str = "trial") -> str:
    """With one family there is nothing to compare: the headline number is the verdict."""
    value, low, high = family.headline
    at = min(headline, family.n_trials)
    limits = f" ({low:.4g} to {high:.4g})" if math.isfinite(low) and math.isfinite(high) else ""
    failed = f", {plural(family.n_failed, 'run') if unit == 'configuration' else family.n_failed} failed"
    failed = failed if family.n_failed else ""
    over = "" if n_groups is None else f" of {plural(n_groups, 'problem')}"
    head = f"{family.name}: the expected best {score} of {plural(at, unit)} is {value:.4g}{limits}"
    return f"{head}, from {plural(family.n_trials, unit)}{over}{failed}."
