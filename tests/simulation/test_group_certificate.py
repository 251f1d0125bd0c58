"""The certificate over problems: its truth, its seed, its page."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "coverage" / "problems.py"


@pytest.fixture(scope="module")
def certificate():
    spec = importlib.util.spec_from_file_location("coverage_of_problems", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("scale", [1.0, 0.7])
def test_the_truth_is_the_mean_over_rates(certificate, scale):
    laws = [*certificate.LAWS, certificate.HARD, certificate.EASY, certificate.NEVER, certificate.ALWAYS]
    for law in laws:
        rates = law.draw(400_000, np.random.default_rng(0))
        for k in (1, 4, 16):
            # the standard error of the mean of values within 0 to 1 is below .0008: .004 is five of them
            assert law.truth(k, scale) == pytest.approx(np.mean(1 - (1 - scale * rates) ** k), abs=0.004)


def test_a_cell_is_decided_by_its_seed_and_written(certificate, tmp_path):
    cells = [next(cell for cell in certificate.CELLS if cell.what == what) for what in ("plain", "mixed", "verdict")]
    one, same, other = (certificate.run_cell(cells[0], n_sets=5, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one["width"] != other["width"]
    strata = next(cell for cell in certificate.CELLS if cell.law.startswith("strata"))
    found = [one, *(certificate.run_cell(cell, n_sets=3) for cell in (*cells[1:], strata))]
    source, page = tmp_path / "problems.json", tmp_path / "page.md"
    source.write_text(json.dumps(dict(enumerate(found))))
    certificate.write_certificate(source, page)
    written = page.read_text()
    for row in ("| default | ", "| beta(.3,.7) | 8 | 16 |", "| stratum 1 | ", "| beta(2,2) | 15 | 0.2 |"):
        assert row in written
