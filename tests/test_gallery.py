"""The gallery runs as it stands: eleven figures from the eleven blocks beside them."""

import importlib.util
from pathlib import Path

import matplotlib
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("write_figures", DOCS / "write_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_is_drawn_by_the_lines_beside_it(script):
    from matplotlib import pyplot

    figures = script.gallery_figures()
    assert next(iter(figures)) == "ribbon"
    assert len(figures) == 11
    for name, figure in figures.items():
        assert all(ax.get_lines() or ax.patches for ax in figure.axes), name
        figure.canvas.draw()
    # the numbers are those of the results: the first figure holds one line a family, up to all of its trials
    first = figures["curves"].axes[0]
    assert {line.get_label(): line.get_xdata()[-1] for line in first.get_lines()} == dict.fromkeys(
        ("logistic-regression", "svm", "random-forest", "mlp", "mlp-seeds"), 120
    )
    pyplot.close("all")


def test_blocks_are_short_and_pictures_are_there(script):
    (preamble, nothing), *blocks = script.gallery_blocks()
    assert nothing == ""
    assert "import levelbest as lb" in preamble
    for code, name in blocks:
        assert len(code.strip().splitlines()) <= 10, name
        assert (DOCS / "figures" / "gallery" / f"{name}.svg").stat().st_size > 5000
    kept = {path.stem for path in (DOCS / "figures" / "gallery").glob("*.svg")}
    assert kept == {name for _, name in blocks}
