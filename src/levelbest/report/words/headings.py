"""What a table's numbers are, in words that introduce their terms."""

from __future__ import annotations

from levelbest._plain import show_cost
from levelbest.report.words.phrases import drawn_words, plural
from levelbest.results import Terms


def best_of(terms: Terms, budget: float) -> str:
    """The head of the column: ``best of 5``, ``within 2 h`` or ``a new run``."""
    if terms.axis == "cost":
        return f"within {show_cost(budget, terms.cost_unit)}"
    return "a new run" if terms.unit == "run" else f"best of {budget:g}"


def table_heading(terms: Terms, budget: float) -> str:
    """``test_accuracy of the best of 5 trials, which val_accuracy chooses``."""
    metric = terms.metric
    what = f"{terms.statistic}-quantile" if terms.statistic[:1].isdigit() else terms.statistic
    if terms.unit == "run":
        return f"{metric.score} of a new run ({what})"
    chosen = f", which {metric.selection} chooses" if metric.reported else ""
    if terms.axis == "cost":
        return f"{metric.score} of the best within {show_cost(budget, terms.cost_unit)}{chosen} ({what})"
    unit = plural(int(budget), terms.unit)
    unit += drawn_words(terms.unit)
    unit += ", by the mean over its runs" if terms.design == "configurations" else ""
    over = "" if terms.n_groups is None else f" of a problem, over {plural(terms.n_groups, 'problem')}"
    if terms.statistic == "all":
        return f"chance that all of {unit}{over} succeed ({metric.score})"
    return f"{metric.score} of the best of {unit}{over}{chosen} ({what})"
