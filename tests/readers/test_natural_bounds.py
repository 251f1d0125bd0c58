"""What the name of a score says of its bounds: limits end there in every form, and the bounds are offered."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.readers.steps.names import natural_bounds
from levelbest.trials import Metric

PERCENT = {"a": [97.1, 98.2, 60.3, 99.9, 91.2], "b": [99.1, 98.9, 50.3, 99.2, 97.2]}


@pytest.fixture
def table(tmp_path):
    def written(name, scale=1.0):
        path = tmp_path / "results.csv"
        rows = [f"{family},{round(score * scale, 5)}" for family, scores in PERCENT.items() for score in scores]
        path.write_text(f"model,{name}\n" + "\n".join(rows) + "\n")
        return str(path)

    return written


@pytest.mark.parametrize(
    ("name", "ends", "bounds"),
    [
        ("val_acc", (0.2, 0.9), (0, 1)),
        ("top-1", (20.0, 90.0), (0, 100)),
        ("test/rmse", (0.2, 3.0), (0, None)),
        ("wer", (0.1, 0.4), (0, None)),  # more words inserted than there are
        ("val_acc", (-0.1, 0.9), (None, None)),
        ("accuracy", (20.0, 190.0), (None, None)),
        ("acc_gain", (0.0, 0.1), (None, None)),
        ("reward", (0.0, 0.9), (None, None)),
        ("loss", (0.1, 0.9), (None, None)),
    ],
)
def test_what_a_name_says(name, ends, bounds):
    assert natural_bounds(name, *ends) == bounds


def test_limits_are_cut_and_those_that_do_not_exist_stay():
    metric = Metric("max", natural=(0.0, 1.0))
    low, high = metric.cut(np.array([-0.2, -np.inf, 0.3]), np.array([1.4, np.inf, 0.5]))
    assert low.tolist() == [0.0, -np.inf, 0.3]
    assert high.tolist() == [1.0, np.inf, 0.5]


@pytest.mark.parametrize(("name", "scale", "most"), [("val_acc", 1.0, 100.0), ("val_f1", 0.01, 1.0)])
def test_no_limit_lies_past_it_and_the_bounds_are_offered(table, capsys, name, scale, most):
    path = table(name, scale)
    assert main(["curve", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    ends = [point[end] for family in document["families"] for point in family["points"] for end in ("low", "high")]
    ends = [end for end in ends if end is not None]
    assert len(ends) > 4
    assert min(ends) >= 0
    assert max(ends) == most  # one of them lay beyond
    assert "natural-bounds" in {warning["code"] for warning in document["warnings"]}
    assert main(["curve", path, "--details"]) == 0
    assert f"--bounds 0 {most:g}" in capsys.readouterr().out
    verdict = lb.compare(lb.read_trials(path))
    for pair in verdict.pairs:
        finite = np.isfinite(pair.low) & np.isfinite(pair.high)
        assert (np.abs(pair.low[finite]) <= most).all()
        assert (np.abs(pair.high[finite]) <= most).all()


def test_bounds_that_are_given_count_and_other_names_say_nothing(table):
    assert lb.read_trials(table("val_acc"), bounds=(0, 200)).metric.natural == (None, None)
    assert lb.read_trials(table("return"), direction="max").metric.natural == (None, None)
