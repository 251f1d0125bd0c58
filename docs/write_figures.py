"""Writes the figures of the documentation: ``python docs/write_figures.py``.

Those of the gallery come from its own code blocks.
"""

import re
from importlib import resources
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import levelbest as lb
from levelbest.report.figures.curves import save_figure
from levelbest.report.figures.panels import panel_of_curves
from levelbest.report.figures.report import save_panels

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


if __name__ == "__main__":
    table = resources.files("levelbest") / "data" / "digits.csv"
    digits = lb.read_trials(str(table), **COLUMNS, direction="max", bounds=(0, 1))
    save_panels({"": panel_of_curves(lb.family_curves(digits, simultaneous=True), log=True)}, FIGURES / "digits.svg")
    (FIGURES / "gallery").mkdir(exist_ok=True)
    for name, figure in gallery_figures().items():
        save_figure(figure, FIGURES / "gallery" / f"{name}.svg")
