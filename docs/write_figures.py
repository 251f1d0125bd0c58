"""Writes the figures of the documentation: ``python docs/write_figures.py``.

Those of the gallery come from its own code blocks.
"""

import re
from importlib import resources
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure

import levelbest as lb
from levelbest.report.figures.curves import save_figure
from levelbest.report.figures.panels import panel_of_curves
from levelbest.report.figures.report import save_panels
from levelbest.trials.colours import LIGHT

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
COLUMNS = {"family": "family", "selection": "val_accuracy", "reported": "test_accuracy", "cost": "seconds"}


def gallery_blocks() -> list[tuple[str, str]]:
    """The code blocks of the gallery in their order, each with the name of the figure that follows it, or none."""
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```\n\n(?:!\[[^\]]*\]\(figures/gallery/([\w-]+)\.svg\))?", text, re.S | re.M)
    return [(code, name) for code, name in found]


def gallery_figures() -> dict[str, Any]:
    """Run the gallery from top to bottom; the figures by name."""
    names: dict[str, Any] = {}
    figures = {}
    for code, name in gallery_blocks():
        exec(compile(code, f"gallery.md: {name or 'preamble'}", "exec"), names)
        if name:
            figures[name] = names["ax"].figure
    return figures


_MARKS = {
    "levelbest": ("o", LIGHT[0]),
    "percentile bootstrap": ("s", LIGHT[1]),
    "opda": ("^", LIGHT[2]),
    "scorio": ("D", LIGHT[3]),
}
"""By the word that a method's name begins with."""


def coverages() -> list[tuple[str, float, float]]:
    """Of each cell of the tables: the method, its coverage, and its width beside that of the percentile bootstrap."""
    text = (DOCS / "who-covers-tables.md").read_text(encoding="utf-8")
    cells: dict[tuple[str, str, int], tuple[float, float]] = {}
    for row in re.findall(r"^\| (.*) \|$", text, flags=re.M):
        data, method, *rest = row.split(" | ")
        for place, cell in enumerate(re.findall(r"([\d.]+) \(([\d.]+)\)", " ".join(rest))):
            cells[data, method, place] = float(cell[0]), float(cell[1])
    usual = {(data, place): width for (data, method, place), (_, width) in cells.items() if method.startswith("perc")}
    return [(method, share, width / usual[data, at]) for (data, method, at), (share, width) in cells.items()]


def who_covers() -> Figure:
    """Coverage against width, a mark for each cell."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.add_subplot()
    for name, (mark, colour) in _MARKS.items():
        rows = [(width, share) for method, share, width in coverages() if method.startswith(name)]
        ax.scatter(*zip(*rows, strict=True), marker=mark, color=colour, alpha=0.85, label=name, zorder=3)
    ax.axhline(0.95, color="#555555", linewidth=1, linestyle=(0, (4, 2)))
    ax.annotate("promised: .95", (0.35, 0.955), ha="left", va="bottom", fontsize=9, color="#555555")
    ax.set(xlabel="width of the interval (percentile bootstrap = 1)", ylabel="how often it covers the truth")
    ax.set(xlim=(0.3, 3), ylim=(-0.03, 1.04))
    ax.legend(frameon=False, loc="center right")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    table = resources.files("levelbest") / "data" / "digits.csv"
    digits = lb.read_trials(str(table), **COLUMNS, direction="max", bounds=(0, 1))
    save_panels({"": panel_of_curves(lb.family_curves(digits, simultaneous=True), log=True)}, FIGURES / "digits.svg")
    figure = Figure(figsize=(8, 2), layout="constrained")
    lb.compare(digits).plot(figure.add_subplot(), kind="ribbon")
    save_figure(figure, FIGURES / "ribbon.svg")
    save_figure(who_covers(), FIGURES / "who-covers.svg")
    (FIGURES / "gallery").mkdir(exist_ok=True)
    for name, figure in gallery_figures().items():
        save_figure(figure, FIGURES / "gallery" / f"{name}.svg")
