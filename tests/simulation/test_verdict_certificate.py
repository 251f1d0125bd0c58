"""The certificate of verdicts: a small run of it, its laws, and its page."""

import json
import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "coverage" / "verdicts.py"


@pytest.fixture(scope="module")
def program():
    sys.path.insert(0, str(PROGRAM.parent))
    try:
        yield runpy.run_path(str(PROGRAM), run_name="verdicts")
    finally:
        sys.path.remove(str(PROGRAM.parent))


def test_true_curves_are_those_of_many_draws(program):
    cell = program["Cell"]("bounded", ("triangular", "arcsine"), (10, 10))
    rng = np.random.default_rng(0)
    best = (
        rng.triangular(0, 0.5, 1, (100_000, 5)).max(axis=1).mean() - rng.beta(0.5, 0.5, (100_000, 5)).max(axis=1).mean()
    )
    # the mean of 100,000 differences has a standard error of .0007
    assert cell.truth()[0, 4] == pytest.approx(best, abs=0.003)
    exact = 1 - 0.7**5 - (1 - 0.4**5)
    zero_one = program["Cell"]("bounded", ("0/1 .3", "0/1 .6"), (10, 10))
    assert zero_one.truth()[0, 4] == pytest.approx(exact, abs=1e-4)


def test_the_cells_are_those_promised(program):
    cells = program["_cells"]()
    assert len({cell.key for cell in cells}) == len(cells)
    # eight laws at five pairs of counts, and trials at 100 against 1,000 too
    for kind, families, count in (("equal", 2, 48), ("equal", 5, 40), ("equal seeds", 2, 40), ("equal seeds", 5, 40)):
        assert sum(cell.kind == kind and len(cell.sizes) == families for cell in cells) == count


def test_a_short_run_goes_on_where_it_stopped_and_writes_its_page(program, tmp_path, monkeypatch):
    few = [cell for cell in program["_cells"]() if cell.sizes in ((5, 5), (3, 3), (10, 10))][:3]
    seeds = [cell for cell in program["_cells"]() if cell.kind == "seeds" and cell.sizes == (3, 3)]
    small = [*few, *seeds, program["Cell"]("bounded", ("triangular", "arcsine"), (10, 10), bounds=(0.0, 1.0))]
    monkeypatch.setitem(program["run"].__globals__, "_cells", lambda: small)
    path = tmp_path / "verdicts.json"
    program["run"](path, (2,), 10)
    first = json.loads(path.read_text())
    program["run"](path, (4,), 10)
    results = program["load"](path)
    assert {cell.key: results[cell.key].samples for cell in small} == {
        cell.key: math.ceil(4 * cell.share) for cell in small
    }
    assert all(results[key].numbers["winner"] == 4 for key in first if key.startswith("equal"))
    from verdicts_page import write_page

    write_page(results, small, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert "## Equal laws, two families" in page
    assert f"| 3 3 | 8 sd | {results[seeds[0].key].mean('decided'):.3f} |" in page
    assert "| triangular, arcsine | 10 10 | default |" in page
    assert "| 20 | 1 | 0.048 |" in page
