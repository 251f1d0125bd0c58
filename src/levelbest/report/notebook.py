"""How notebooks show results."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest._plain import html_table, round_places, round_to_uncertainty, show_number
from levelbest.results import Comparison, Curve

__all__ = ["comparison_html", "curves_html"]


def curves_html(curves: Sequence[Curve]) -> str:
    """Every curve as a sentence and a table, a long one at round budgets."""
    return "".join(_curve_table(curve) for curve in curves)


def _curve_table(curve: Curve) -> str:
    cells = []
    for i in round_places(curve.n.tolist()):
        row = (float(curve.value[i]), float(curve.low[i]), float(curve.high[i]))
        decimals = round_to_uncertainty(*row)
        cells.append([str(curve.n[i]), *(show_number(number, decimals) for number in row)])
    return html_table(["n", "value", "low", "high"], cells, caption=str(curve))


def comparison_html(comparison: Comparison) -> str:
    """Every pair with its verdict."""
    rows = [[" and ".join(pair.families), pair.sentence] for pair in comparison.pairs]
    return html_table(["families", "verdict"], rows, caption=f"{100 * comparison.confidence:g} % confidence")
