"""simulate from the command line: a loss stays a loss."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main


@pytest.mark.parametrize(
    ("options", "falls"), [([], True), (["--direction", "min"], True), (["--direction", "max"], False)]
)
def test_the_best_loss_falls_with_n_in_its_own_sign(tmp_path, capsys, options, falls):
    losses = np.random.default_rng(1).normal(2, 0.3, 60)
    path = tmp_path / "losses.csv"
    path.write_text("val_loss\n" + "".join(f"{one:.6f}\n" for one in losses))
    command = ["simulate", "--kde", str(path), "--n", "1,5,20", "--samples", "50", "--interval", "jackknife", "--json"]
    assert main([*command, *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["direction"] == ("min" if falls else "max")
    truth = np.array([point["truth"] for point in document["points"]])
    assert truth[0] == pytest.approx(losses.mean(), abs=0.01)
    assert (np.diff(truth) * (-1 if falls else 1) > 0).all()
    # the spread of 50 trials' estimates around the truth is below 0.15: the estimates are of the same thing
    assert all(abs(point["bias"]) < 0.1 for point in document["points"])


def test_a_failed_trial_has_the_worst_loss(tmp_path, capsys):
    path = tmp_path / "losses.csv"
    path.write_text("val_loss\n" + "".join(f"{one}\n" for one in np.linspace(1, 2, 40)))
    assert main(["simulate", "--kde", str(path), "--n", "1", "--samples", "50", "--fail", "0.5", "--json"]) == 0
    (point,) = json.loads(capsys.readouterr().out)["points"]
    assert point["truth"] > 1.75  # half of them 1.5 in the mean, the others 2 or more
