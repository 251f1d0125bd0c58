"""What outsiders rely on: commands, options, method names, JSON shapes, warning codes and exit codes stay as they are.

The lists are those of the product's design; more may be added beside them, nothing may go.
"""

import json

import numpy as np
import pytest

from levelbest.cautions import CODES
from levelbest.cli.main import cli, main
from levelbest.stats.bands import interval_methods


def words(text):
    return set(text.split())


COMMANDS = words("demo report describe curve compare reach plan claim run serve verify simulate checklist convert")
READING = words(
    "--family --selection --reported --cost --group --trial --search --seed-column --where --direction --bounds"
)
OPTIONS = {
    "describe": "--json --out",
    "curve": "--failed --statistic --estimator --interval --simultaneous --confidence --n --axis --seed --json",
    "compare": "--failed --statistic --interval --confidence --n --axis --baseline --seed --json --out",
    "report": "--failed --confidence --baseline --seed --json --out --hide",
    "reach": "--failed --statistic --confidence --axis --seed --json",
    "plan": "--failed --confidence --n --seed --json",
}
METHODS = words("default gaffke studentised percentile basic bca smoothed jackknife gaussian exact")
WARNINGS = words(
    "failures trend repeated-configurations grid adaptive-sampler nested-seeds stops-at-success few-values ties "
    "selection-is-reported selection-uncorrelated leaky-reported missing-reported no-reported unequal-groups outlier "
    "beyond-trials beyond-horizon extrapolated fixed-sample not-normal paired-design guessed-columns "
    "converted-numbers skipped-rows still-running"
)
CURVE = words("family n_trials n_failed statistic estimator direction interval points")
POINT = words("n value low high spread cost")
DESCRIBED = words("family n_trials n_failed mean sd median iqr min max spearman reported_mean reported_sd")
SIMULATED = words("n truth mean_estimate bias below_truth coverage coverage_low coverage_high mean_width")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    rng = np.random.default_rng(5)
    rows = ["model,val_acc,test_acc,gpu_hours"]
    for model, mean in (("cnn", 0.8), ("lr", 0.6)):
        scores = rng.normal(mean, 0.05, 24)
        rows += [f"{model},{score:.5f},{score - 0.01 * rng.random():.5f},{1 + rng.random():.3f}" for score in scores]
    path = tmp_path_factory.mktemp("pinned") / "results.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def printed(capsys, *args):
    assert main([*args, "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_commands_and_options():
    with cli.make_context("levelbest", ["--help"], resilient_parsing=True) as context:
        assert set(cli.list_commands(context)) >= COMMANDS
        for name, wanted in OPTIONS.items():
            command = cli.get_command(context, name)
            assert {text for option in command.params for text in option.opts} >= READING | words(wanted), name


def test_methods_and_warning_codes():
    assert {*interval_methods(), "default"} >= METHODS
    assert WARNINGS <= CODES


def test_curve_describe_reach_documents(capsys, results):
    document = printed(capsys, "curve", results, "--resamples", "99")
    assert {"families", "warnings"} <= document.keys()
    for family in document["families"]:
        assert family.keys() >= CURVE
        assert family["interval"].keys() >= {"method", "confidence", "simultaneous"}
        assert all(point.keys() >= POINT for point in family["points"])
    document = printed(capsys, "describe", results)
    assert {"families", "skipped", "warnings"} <= document.keys()
    assert all(family.keys() >= DESCRIBED for family in document["families"])
    document = printed(capsys, "reach", results, "--target", "0.7", "--resamples", "99")
    assert all(row.keys() >= {"family", "target", "n", "low", "high", "cost"} for row in document["targets"])


def test_compare_document(capsys, results):
    document = printed(capsys, "compare", results, "--resamples", "99", "--n", "1,5")
    assert {"comparisons", "warnings"} <= document.keys()
    (pair,) = document["comparisons"]
    assert pair["families"] == ["cnn", "lr"]
    assert all(set(point) == {"n", "difference", "low", "high"} for point in pair["points"])
    assert pair["points"][0]["difference"] > 0  # the first family's score minus the second's
    for verdict in pair["verdicts"]:
        assert verdict.keys() >= {"from", "to", "verdict", "unseen"}
        assert verdict["verdict"] in ("cnn", "lr", "undecided", "not comparable")
    assert all(set(warning) == {"code", "family", "value", "message"} for warning in document["warnings"])


def test_claim_and_simulate_documents(capsys, results):
    document = printed(
        capsys, "claim", results, "--baseline", "lr", "--claimed", "0.9", "--attempts", "3", "--selection", "val_acc"
    )
    assert document.keys() >= {"p_value", "attempts", "baseline_trials", "smallest_possible_p"}
    document = printed(
        capsys, "simulate", "--law", "norm", "--trials", "8", "--n", "1,2", "--samples", "3", "--resamples", "99"
    )
    assert document.keys() >= {"law", "n_trials", "points"}
    assert all(point.keys() >= SIMULATED for point in document["points"])


def test_exit_codes(capsys, results, tmp_path):
    assert main(["describe", results]) == 0
    empty = tmp_path / "empty.csv"
    empty.write_text("model,val_acc\n")
    assert main(["describe", str(empty)]) == 1
    assert main(["describe", results, "--no-such-option"]) == 2
    assert "Traceback" not in capsys.readouterr().err
