"""From the certificate's results to its page and to the table shipped with the package."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from levelbest.simulation.battery import clopper_pearson
from levelbest.simulation.certificate import CELLS, RESAMPLES, SEED

__all__ = ["coverage_page", "coverage_table", "write_certificate"]

_TITLES = {
    "bounded mean": "Mean curve, one score column, bounds known",
    "mean": "Mean curve, one score column, no bounds",
    "reported mean": "Mean curve, selected by one score and reported by another",
    "quantile": "Median curve, one score column, pointwise",
    "quantile band": "Median curve, one score column, simultaneous over the budgets",
    "reported median": "Median curve, selected by one score and reported by another",
    "bounded mean band": "Mean curve, one score column, bounds known, simultaneous over the budgets",
    "mean band": "Mean curve, one score column, no bounds, simultaneous over the budgets",
    "reported mean band": "Mean curve, selected by one score and reported by another, simultaneous over the budgets",
}


def write_certificate(results: Path, page: Path, table: Path) -> None:
    """Write the page and the table of lowest coverages."""
    cells = list(json.loads(results.read_text(encoding="utf-8")).values())
    page.write_text(coverage_page(cells), encoding="utf-8")
    table.write_text(json.dumps({"kinds": coverage_table(cells)}, indent=0) + "\n", encoding="utf-8")


def coverage_table(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """kind -> method -> n_trials -> n / n_trials -> lowest coverage over the laws, where the interval is defined."""
    kinds: dict[str, Any] = {}
    for cell in cells:
        for method, found in cell["methods"].items():
            sizes = kinds.setdefault(cell["kind"], {}).setdefault(method, {})
            shares = sizes.setdefault(str(cell["n_trials"]), {})
            for n, covered, defined in zip(cell["n"], found["coverage"], found["defined"], strict=True):
                if defined < 0.5:
                    continue
                share = f"{n / cell['n_trials']:g}"
                shares[share] = min(shares.get(share, 1.0), covered)
    return kinds


def coverage_page(cells: list[dict[str, Any]]) -> str:
    """The certificate as Markdown."""
    samples = sorted({cell["n_samples"] for cell in cells})
    low, high = clopper_pearson(0.95, samples[-1])
    lines = [
        "# The coverage certificate",
        "",
        f"Every interval, nominal 95 %, on laws that hurt: {samples[-1]:,} samples a cell, {RESAMPLES} resamples each, "
        f"seed {SEED}. A true coverage of .950 shows as {low:.3f} to {high:.3f} in 95 % of the cells. An interval that "
        "is undefined for a sample counts as not covering, and a dash means that it is undefined for most.",
        "",
        "Written from `benchmarks/coverage/results.json` by `python -m levelbest.simulation.certificate write`; the "
        "results themselves by `python -m levelbest.simulation.certificate run --jobs 2`.",
        "",
    ]
    for cell in CELLS:
        here = [one for one in cells if one["kind"] == cell.kind]
        if here:
            lines += [f"## {_TITLES[cell.kind]}", ""]
            lines += _worst(here) if len(cell.methods) > 1 else []
            lines += _by_law(here, cell.methods[0], simultaneous=cell.simultaneous)
    return "\n".join(lines).rstrip() + "\n"


def _worst(cells: list[dict[str, Any]]) -> list[str]:
    """One table per number of trials: the lowest coverage over the laws, method by budget."""
    lines = []
    for size in sorted({cell["n_trials"] for cell in cells}):
        here = [cell for cell in cells if cell["n_trials"] == size]
        budgets = here[0]["n"]
        lines += [f"Lowest coverage over {len(here)} laws, {size} trials:", ""]
        lines += [_row(["interval", *(f"n = {n}" for n in budgets)]), _row(["---"] + ["---:"] * len(budgets))]
        for method in here[0]["methods"]:
            lines.append(
                _row([f"**{method}**" if method == "default" else method, *_lowest(here, method, len(budgets))])
            )
        lines.append("")
    return lines


def _lowest(cells: list[dict[str, Any]], method: str, size: int) -> list[str]:
    shown = []
    for i in range(size):
        found = [cell["methods"][method] for cell in cells]
        defined = [one["coverage"][i] for one in found if one["defined"][i] >= 0.5]
        shown.append(_share(min(defined)) if defined else "–")
    return shown


def _by_law(cells: list[dict[str, Any]], method: str, *, simultaneous: bool) -> list[str]:
    """The method in use, law by law."""
    by_size: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for cell in cells:
        by_size[cell["n_trials"]].append(cell)
    lines = []
    for size, here in sorted(by_size.items()):
        budgets = here[0]["n"]
        heads = ["law", "all budgets at once"] if simultaneous else ["law", *(f"n = {n}" for n in budgets)]
        lines += [f"{method}, {size} trials, law by law:", "", _row(heads), _row(["---"] + ["---:"] * (len(heads) - 1))]
        for cell in here:
            found = cell["methods"][method]
            if simultaneous:
                lines.append(_row([cell["law"], _share(found["jointly"])]))
                continue
            pairs = zip(found["coverage"], found["defined"], strict=True)
            lines.append(_row([cell["law"], *(_share(c) if d >= 0.5 else "–" for c, d in pairs)]))
        lines.append("")
    return lines


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.000"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
