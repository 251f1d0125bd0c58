"""What a table was read as: the columns and their parts, directions and units, the design of each family."""

from __future__ import annotations

from textwrap import fill

from levelbest.readers.steps.designs import ReadDesign, designs_of
from levelbest.report.words.phrases import listed, plural, shortened
from levelbest.trials import Trials

_WIDTH = 80


def read_as(trials: Trials) -> dict[str, object]:
    """The reading as plain data: roles, units, settings and designs."""
    metric = trials.metric
    return {
        "columns": dict(trials.columns),
        "metric": {
            "selection": metric.selection,
            "reported": metric.reported,
            "direction": metric.direction,
            "bounds": list(metric.bounds),
            "cost": metric.cost,
            "cost_unit": metric.cost_unit,
        },
        "settings": list(trials.configuration),
        "designs": [design.to_dict() for design in designs_of(trials)],
    }


def reading_lines(trials: Trials, most: int | None = None) -> list[str]:
    """The same in words, as a terminal shows it; ``most`` lines of each."""
    metric = trials.metric
    better = "higher" if metric.direction == "max" else "lower"
    parts = [f"{role} = {column!r}" for role, column in trials.columns.items()]
    parts.append(f"{better} is better")
    if metric.cost is not None:
        parts.append(f"cost in {metric.cost_unit}" if metric.cost_unit else "cost in an unknown unit")
    if trials.configuration:
        parts.append(f"settings {shortened([repr(name) for name in trials.configuration], 6)}")
    by_words: dict[str, list[str]] = {}
    for design in designs_of(trials):
        by_words.setdefault(_design(design), []).append(design.family)
    alone = len(by_words) == 1
    designs = [words if alone else f"{shortened(names, 4)}: {words}" for words, names in by_words.items()]
    rows = (f"{'read':<6} {', '.join(parts)}", f"{'design':<6} {'; '.join(designs)}")
    indent = " " * 7
    return [
        fill(row, _WIDTH, subsequent_indent=indent, break_long_words=False, max_lines=most, placeholder=" ...")
        for row in rows
    ]


def _design(design: ReadDesign) -> str:
    units, n_trials = design.units, design.n_trials
    several = plural(n_trials, "trial")
    return {
        "trials": "independent trials, as far as the table shows",
        "seeds": f"{several}, {plural(units, 'configuration')} with several {listed(design.repeats)}",
        "grid": f"{several}, a grid",
        "repeats": f"{several}, some of the same configuration",
        "search": f"{several} of one search that learns",
        "searches": f"{several} in {plural(units, 'search')}",
        "problems": f"{plural(n_trials, 'sample')} of {plural(units, 'problem')}",
    }[design.kind]
