"""The chapter on configurations and seeds: its code runs, and prints what the page says."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_chapter_prints_what_it_shows():
    spec = importlib.util.spec_from_file_location("write_configurations", DOCS / "write_configurations.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page, names = script.written()
    assert page == (DOCS / "configurations.md").read_text(encoding="utf-8"), "run: python docs/write_configurations.py"
    # The laws are known: configurations vary with an sd of .02 and seeds with .5 x .015 and .008, together .011.
    for variance in names["variances"]:
        assert variance["configuration"].low < 0.02**2 < variance["configuration"].high
        assert variance["seed"].low < 0.0075**2 + 0.008**2 < variance["seed"].high
    assert names["trials"].setting is not None
