"""compare and claim from the command line: documents, exit codes, sentences."""

import json

import numpy as np
import pytest

from levelbest.cli.main import main


@pytest.fixture
def results(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "results.csv"
    rows = ["model,val_acc,seconds"]
    for model, mean in (("cnn", 0.8), ("lr", 0.6)):
        rows += [f"{model},{rng.normal(mean, 0.05):.6f},{rng.exponential(50) + 5:.3f}" for _ in range(40)]
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def run(capsys, *args):
    code = main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_compare_prints_one_document(capsys, results):
    code, out, _ = run(capsys, "compare", results, "--json", "--resamples", "200")
    document = json.loads(out)
    assert code == 0
    (pair,) = document["comparisons"]
    assert pair["families"] == ["cnn", "lr"]
    first = pair["verdicts"][0]
    assert (first["from"], first["to"], first["verdict"]) == (1.0, 20.0, "cnn")
    assert first["unseen"] == pytest.approx(1 - 0.05 ** (1 / min(pair["n_trials"])))
    assert set(pair["points"][0]) == {"n", "difference", "low", "high"}
    assert all(set(w) == {"code", "family", "value", "message"} for w in document["warnings"])


def test_compare_reads_aloud(capsys, results):
    code, out, _ = run(capsys, "compare", results, "--resamples", "200", "--n", "1,5,20", "--p-values")
    assert code == 0
    flat = " ".join(out.split())
    assert "With 5 trials: cnn, better than lr by" in flat
    assert "The same with 1, 5 and 20 trials." in flat
    assert "Seed 0" in flat


def test_both_failure_policies(capsys, tmp_path):
    path = tmp_path / "r.csv"
    rng = np.random.default_rng(1)
    lines = ["model,val_acc"] + [
        f"{m},{'nan' if i < 3 and m == 'a' else rng.random():}" for m in "ab" for i in range(20)
    ]
    path.write_text("\n".join(lines))
    code, out, _ = run(capsys, "compare", str(path), "--failed", "both", "--json", "--resamples", "200")
    document = json.loads(out)
    assert code == 0
    assert document["failed"] == "worst"
    assert document["other_failure_policy"]["failed"] == "drop"
    code, out, _ = run(capsys, "compare", str(path), "--failed", "both", "--resamples", "200")
    assert "failed trials dropped:" in out


def test_cost_axis(capsys, results):
    code, out, _ = run(
        capsys, "compare", results, "--cost", "seconds", "--axis", "cost", "--budget", "300,600", "--resamples", "100"
    )
    assert code == 0
    assert "The same with 5.00 min to 10.0 min." in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--baseline", "cn"), 2, "did you mean 'cnn'?"),
        (("--where", "model = 'cnn'"), 2, "at least two families, and there is only 'cnn'"),
        (("--axis", "cost", "--cost", "nothing"), 2, "nothing"),
        (("--paired",), 2, "paired design"),
        (("--while-running",), 2, "bounds of the score"),
        (("--budget", "abc"), 2, "not a list of costs"),
        (("--axis", "cost", "--cost", "seconds", "--interval", "gaffke"), 2, "on the cost axis there is no --interval"),
        (("--axis", "cost", "--cost", "seconds", "--paired"), 2, "on the cost axis there is no --paired"),
        (("--while-running", "--paired"), 2, "valid at every look there is no --paired"),
    ],
)
def test_bad_usage_is_one_sentence(capsys, results, arguments, code, message):
    got, _, err = run(capsys, "compare", results, *arguments)
    assert got == code
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("given", "message"),
    [(("--paired",), "over repeated searches there is no --paired"), (("--interval", "t"), "unknown interval")],
)
def test_whole_searches_have_no_pairs_and_few_intervals(capsys, tmp_path, given, message):
    path = tmp_path / "searches.csv"
    rows = [f"{m},{search},.{search}{i}{j}" for j, m in enumerate("ab") for search in range(4) for i in range(5)]
    path.write_text("\n".join(["model,search,val_acc", *rows]) + "\n")
    assert run(capsys, "compare", str(path), "--search", "search", "--resamples", "100")[0] == 0
    code, _, err = run(capsys, "compare", str(path), "--search", "search", *given)
    assert (code, message in err) == (2, True)


def test_a_report_that_rests_on_the_bounds_alone(capsys, results, tmp_path):
    """It compares means over trials alone, and promises no number of trials that the default would need."""
    out = tmp_path / "page.html"
    asked = ("--bounds", "0", "2", "--interval", "gaffke", "--cost", "seconds", "--resamples", "99", "--details")
    code, text, err = run(capsys, "report", results, *asked, "--out", str(out))
    assert (code, err) == (0, "")
    document = json.loads((tmp_path / "page" / "report.json").read_text())
    assert {(pair["statistic"], pair["axis"]) for pair in document["pairs"]} == {("mean", "trials")}
    assert "intervals from the bounds alone need far more trials" in " ".join(text.split())
    assert "would probably decide" not in text


def test_no_cost_column_on_a_cost_axis(capsys, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("model,val_acc\n" + "\n".join(f"{m},{0.1 * i}" for m in "ab" for i in range(9)))
    code, _, err = run(capsys, "compare", str(path), "--axis", "cost")
    assert code == 2
    assert "name its column with --cost" in err


def test_claim_passes_and_fails_with_exit_codes(capsys, results):
    code, out, _ = run(capsys, "claim", results, "--baseline", "lr", "--claimed", "0.9", "--attempts", "2", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["p_value"] == pytest.approx(2 / 42)
    assert document["smallest_possible_p"] == pytest.approx(2 / 42)
    assert (document["attempts"], document["baseline_trials"]) == (2, 40)
    assert document["passed"] is True
    code, out, _ = run(capsys, "claim", results, "--baseline", "lr", "--claimed", "0.6", "--attempts", "2")
    assert code == 1
    assert "not more than luck" in out
    code, out, _ = run(capsys, "claim", results, "--baseline", "lr", "--claimed", "0.99", "--attempts", "20")
    assert code == 1
    assert "these data cannot tell" in out


@pytest.mark.parametrize(
    ("claimed", "said"), [("98", "is 98 a percentage? then claim 0.98"), ("-3", "check the claim and the bounds")]
)
def test_claim_refuses_a_claim_outside_the_bounds(capsys, results, claimed, said):
    claim = ("claim", results, "--baseline", "lr", "--attempts", "2", "--bounds", "0", "1", "--claimed")
    code, out, err = run(capsys, *claim, claimed)
    assert (code, out) == (2, "")
    assert f"must lie within its bounds, 0 to 1, got {claimed}; {said}" in err
    assert run(capsys, *claim, "1")[0] == 0


def test_claim_wants_one_baseline(capsys, results):
    code, _, err = run(capsys, "claim", results, "--claimed", "0.9", "--attempts", "2")
    assert code == 2
    assert "choose by --baseline" in err
    code, _, err = run(capsys, "claim", results, "--baseline", "cnm", "--claimed", "0.9", "--attempts", "2")
    assert code == 2
    assert "did you mean 'cnn'?" in err
    code, _, err = run(capsys, "claim", results, "--baseline", "cnn", "--claimed", "0.9", "--attempts", "0")
    assert code == 2
    assert "attempts must be a whole number of at least 1" in err


def test_reach_is_one_document(capsys, results):
    code, out, _ = run(
        capsys, "reach", results, "--target", "0.85", "--target", "Smith 2019=0.7", "--json", "--resamples", "200",
        "--cost", "seconds",
    )  # fmt: skip
    document = json.loads(out)
    assert code == 0
    assert [(t["family"], t["target"]) for t in document["targets"]] == [
        ("cnn", 0.85), ("cnn", 0.7), ("lr", 0.85), ("lr", 0.7),
    ]  # fmt: skip
    assert {"family", "target", "n", "low", "high", "cost"} <= set(document["targets"][0])
    assert document["targets"][1]["n"] == 1
    assert document["targets"][2]["n"] is None
    assert document["targets"][1]["name"] == "Smith 2019"


def test_reach_refuses_the_wrong_side(capsys, results):
    code, _, err = run(capsys, "reach", results, "--target", "0.1")
    assert code == 2
    assert "worse than every trial" in err
    code, _, err = run(capsys, "reach", results, "--target", "high")
    assert code == 2
    assert "is not a score" in err


def test_curves_over_cost(capsys, results, tmp_path):
    figure = tmp_path / "f.svg"
    args = ["curve", results, "--cost", "seconds", "--axis", "cost", "--resamples", "100"]
    code, out, _ = run(capsys, *args, "--budget", "120,600", "--json", "--out", str(figure))
    document = json.loads(out)
    assert code == 0
    point = document["families"][0]["points"][1]
    assert point["cost"] == 600
    assert {"n", "value", "low", "high", "spread", "mean_cost_value", "nothing_finished"} <= set(point)
    assert point["low"] < point["value"] < point["high"]
    assert figure.exists()
    code, out, _ = run(capsys, *args, "--budget", "120,600", "--workers", "3", "--details")
    assert code == 0
    flat = " ".join(out.split())
    assert "3 workers" in flat
    assert "10.0 min" in flat
    assert "Monte Carlo error" in flat
    code, _, err = run(capsys, *args, "--statistic", "median")
    assert code == 2
    assert "on the cost axis the statistic is the mean" in err
