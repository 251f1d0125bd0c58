"""The certificate of verdicts: small runs of it, and its page."""

import json

import numpy as np
import pytest

from levelbest.simulation.verdict_certificate import (
    CELLS,
    VerdictCell,
    _standard,
    run_cell,
    run_gate,
    write_verdict_certificate,
)


@pytest.mark.parametrize("name", ["norm", "-expon", "beta(8,2)", "quadratic", "beta(8,2) rounded"])
def test_laws_are_standardised(name):
    scores = _standard(name).draw(np.random.default_rng(0), (1, 200_000))[0]
    assert abs(scores.mean()) < 0.02
    assert abs(scores.std() - 1) < 0.02


def test_a_small_run_covers_and_writes_its_page(tmp_path):
    # 60 samples at nominal .95 (certified at .93 or more): fewer than 48 have probability 5e-4 at .93
    cell = VerdictCell(("norm", "beta(8,2)"), 10, "pair")
    found = run_cell(cell, n_samples=60)
    assert found["coverage"] >= 48 / 60
    assert found["false_verdicts"] <= 12 / 60
    equal = run_cell(VerdictCell(("norm", "norm"), 5, "equal"), n_samples=40)
    assert equal["false_verdicts"] == equal["decided"]
    source = tmp_path / "verdicts.json"
    source.write_text(json.dumps({"a": found, "b": equal, "g": run_gate(20, 1, n_samples=200)}))
    write_verdict_certificate(source, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text()
    assert f"| norm, beta(8,2) | 1 to 10 | {found['coverage']:.3f} |" in page
    assert "| 20 | 1 | 0.048 |" in page


def test_the_cells_hold_what_is_promised():
    pairs = [cell for cell in CELLS if cell.kind == "pair" and cell.n_max == 25 and len(cell.laws) == 2]
    assert len(pairs) == 5
    assert len({cell.key for cell in CELLS}) == len(CELLS)
