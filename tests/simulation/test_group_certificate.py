"""The certificate over problems: its truth, its seed, its page."""

import json

import numpy as np
import pytest

from levelbest.simulation.group_certificate import LAWS, run_cell, write_group_certificate


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("scale", [1.0, 0.7])
def test_the_truth_is_the_mean_over_rates(law, scale):
    rates = law.draw(400_000, np.random.default_rng(0))
    for k in (1, 4, 16):
        # the standard error of the mean of values within 0 to 1 is below .0008: .004 is five of them
        assert law.truth(k, scale) == pytest.approx(np.mean(1 - (1 - scale * rates) ** k), abs=0.004)


def test_a_cell_is_decided_by_its_seed_and_written(tmp_path):
    one, same, other = (run_cell(LAWS[0], 20, 16, n_samples=5, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one["width"] != other["width"]
    source, page = tmp_path / "groups.json", tmp_path / "page.md"
    source.write_text(json.dumps({"one": one}))
    write_group_certificate(source, page)
    assert "| gaffke | " in page.read_text()
    assert "| beta(.3,.7) | 20 | 16 |" in page.read_text()
