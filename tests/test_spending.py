"""Samples of language models through the public verbs: money, votes and judges."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import levelbest as lb
from levelbest.cli.main import cli, main
from levelbest.errors import InputError
from levelbest.readers.parts import read_in_parts


def _table(tmp_path, *, problems=20, samples=6, seed=0):
    rng = np.random.default_rng(seed)
    rows = ["model,problem,sample,answer,correct,tokens_in,tokens_out"]
    for model, extra, length in (("cheap", 0.0, 100), ("large", 0.2, 300)):
        for problem in range(problems):
            rate = min(rng.beta(1, 1) + extra, 1)
            for sample in range(samples):
                right = rng.random() < rate
                answer = "A" if right else rng.choice(["B", "C"])
                rows.append(f"{model},p{problem},{sample},{answer},{int(right)},200,{length + rng.integers(50)}")
    path = tmp_path / "samples.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def _run(*arguments):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


OPTIONS = ("--group", "problem", "--rate", "input=3,output=15", "--answer", "answer")


def test_tokens_are_priced_per_million(tmp_path):
    trials = lb.read_trials(_table(tmp_path), group="problem", cost={"input": 3, "output": 15})
    frame = lb.read_trials(_table(tmp_path), group="problem", cost={"input": 3, "output": 15}, keep=True)
    assert trials.metric.cost_unit == "$"
    tokens = frame.others["tokens_out"].astype(float)
    assert trials.cost == pytest.approx((3 * 200 + 15 * tokens) / 1e6, rel=1e-12)


@pytest.mark.parametrize(
    ("rate", "message"), [("output", "input=3"), ("words=3", "input=3"), ("cached=1", "no column of cached tokens")]
)
def test_a_price_that_cannot_be_applied_is_refused(tmp_path, rate, message, capsys):
    assert main(["describe", str(_table(tmp_path)), "--group", "problem", "--rate", rate]) in (1, 2)
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("names", "price"),
    [
        # OpenAI's names: a prompt counts what was read from a cache; Anthropic's: the input does not
        ("prompt_tokens,cached_tokens,completion_tokens", 3 * 60 + 0.3 * 40),
        ("input_tokens,cache_read_input_tokens,output_tokens", 3 * 100 + 0.3 * 40),
    ],
)
@pytest.mark.parametrize("memory", [[], ["--memory", "1GB"]])
def test_cached_tokens_are_priced_as_their_names_say(tmp_path, names, price, memory):
    pandas = pytest.importorskip("pandas")
    tokens = dict(zip(names.split(","), ([100] * 40, [40.0] * 20 + [None] * 20, [20] * 40), strict=True))
    table = {"model": ["m"] * 40, "problem": [f"p{i // 4}" for i in range(40)], "correct": [i % 2 for i in range(40)]}
    path = tmp_path / "samples.parquet"
    pandas.DataFrame(table | tokens).to_parquet(path)
    named = ("--family", "model", "--group", "problem", "--selection", "correct", "--direction", "max")
    curve = json.loads(
        _run("curve", path, *named, "--rate", "input=3,output=15,cached=0.3", "--json", "--n", "1", *memory)
    )
    # half the samples say nothing of a cache: they used none
    wanted = ((price + 15 * 20) + (3 * 100 + 15 * 20)) / 2 / 1e6
    assert curve["families"][0]["points"][0]["cost"] == pytest.approx(wanted, rel=1e-9)


def test_systems_are_compared_at_equal_spend_where_both_have_samples_left(tmp_path):
    document = json.loads(_run("compare", _table(tmp_path), *OPTIONS, "--axis", "cost", "--json"))
    (pair,) = document["comparisons"]
    spends = [point["n"] for point in pair["points"]]
    # a sample of the large model costs half a cent, six of the cheap one 1.5 cents together
    assert all(0.005 < spend < 0.016 for spend in spends)
    assert {row["verdict"] for row in pair["verdicts"]} <= {"cheap", "large", "undecided", "not comparable"}


def test_a_curve_over_spend_is_the_mean_over_problems_of_every_order(tmp_path):
    trials = lb.read_trials(_table(tmp_path, problems=4, samples=4), group="problem", cost={"input": 3, "output": 15})
    budget = 0.004
    curve = lb.curve(trials["cheap"], axis="cost", budget=[budget])
    part = trials["cheap"]
    values = []
    for problem in range(4):
        rows = np.flatnonzero(part.group == problem)
        finished = []
        for order in itertools.permutations(rows):
            spent = np.cumsum(part.cost[list(order)])
            drawn = [row for row, cost in zip(order, spent, strict=True) if cost <= budget]
            finished.append(max((part.selection[row] for row in drawn), default=0.0))
        values.append(np.mean(finished))
    assert curve.value[0] == pytest.approx(np.mean(values), abs=1e-12)


def test_the_answer_of_most_is_a_statistic_and_of_one_sample_it_is_pass_at_1(tmp_path):
    trials = lb.read_trials(_table(tmp_path), group="problem", answer="answer")
    votes, best = (lb.curve(trials["large"], statistic=name) for name in ("majority", "mean"))
    assert votes.value[0] == pytest.approx(best.value[0], abs=1e-12)
    assert (votes.value <= best.value + 1e-12).all()  # pass@k needs one right sample, maj@k most of them
    assert "maj@6" in votes.sentence()
    with pytest.raises(InputError, match="answer"):
        lb.curve(lb.read_trials(_table(tmp_path), group="problem")["large"], statistic="majority")


def test_spend_per_solved_stands_beside_the_families(tmp_path):
    document = json.loads(_run("compare", _table(tmp_path), *OPTIONS, "--n", "1", "--json"))
    spends = {row["family"]: row for row in document["spend_per_solved"]}
    trials = lb.read_trials(_table(tmp_path), group="problem", cost={"input": 3, "output": 15})
    for name, row in spends.items():
        part = trials[name]
        assert row["value"] == pytest.approx(part.cost.mean() / part.selection.mean(), rel=1e-9)
        assert row["low"] < row["value"] < row["high"]
    assert "per solved" in _run("compare", _table(tmp_path), *OPTIONS, "--n", "1")


def test_problems_without_an_answer_are_worth_nothing_by_majority():
    """A problem whose samples all have no answer scores 0 at any n; a family without any answer is refused."""
    rows = [
        {"model": model, "problem": f"p{problem}", "sample": sample, "right": 1, "answer": None if problem else ""}
        for model in "ab"
        for problem in range(2)
        for sample in range(3)
    ]
    named = {"group": "problem", "family": "model", "selection": "right", "direction": "max", "answer": "answer"}
    with pytest.raises(InputError, match="a majority needs the answer of each sample"):
        lb.curve(lb.read_trials(rows, **named)["a"], statistic="majority")
    answered = [row | {"answer": "x"} for row in rows if row["problem"] == "p1"]
    answered += [row | {"problem": "p2", "sample": 3} for row in answered[::3]] + [
        row for row in rows if row["problem"] == "p0" and row["sample"] < 2
    ]  # p0 has two samples and no answer, p1 three, p2 one
    curve = lb.curve(lb.read_trials(answered, **named)["a"], statistic="majority", n=[1])
    assert curve.value.tolist() == pytest.approx([2 / 3])


def _judged(tmp_path):
    rng = np.random.default_rng(1)
    rows = ["model,problem,sample,judge,human"]
    for model, extra in (("a", 0.0), ("b", 0.3)):
        for problem in range(30):
            rate = min(rng.beta(1, 1) + extra, 1)
            for sample in range(6):
                right = rng.random() < rate
                judge = right if rng.random() < 0.8 else not right
                rows.append(f"{model},p{problem},{sample},{int(judge)},{int(right) if rng.random() < 0.4 else ''}")
    path = tmp_path / "judged.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


JUDGED = ("--group", "problem", "--judge", "judge", "--label", "human", "--direction", "max")


@pytest.mark.parametrize(
    ("verb", "options", "message"),
    [
        (lb.compare, {"about": "suite"}, "verdicts are for problems like these; give about= problems"),
        (lb.compare, {"statistic": "majority"}, "the statistic is 'mean' \\(the average .{30,60}, got 'majority'"),
        (lb.compare, {"task": "sample"}, "over several tasks does not take a judge .* pool the problems"),
        (lb.plan_trials, {}, "a plan does not take a judge"),
        (lb.gate, {"baseline": "a", "candidate": "b"}, "a gate does not take a judge"),
    ],
)
def test_what_takes_no_judge_says_so(verb, options, message, tmp_path):
    judged = {"group": "problem", "judge": "judge", "label": "human", "direction": "max"}
    with pytest.raises(InputError, match=message):
        verb(_judged(tmp_path), **judged, **options)


def test_a_judge_is_corrected_by_the_labels(tmp_path):
    path = _judged(tmp_path)
    output = _run("compare", path, *JUDGED, "--details")
    assert "is corrected to" in " ".join(output.split())
    assert "drawn at random" in " ".join(output.split())
    document = json.loads(_run("compare", path, *JUDGED, "--json"))
    assert [warning["code"] for warning in document["warnings"]].count("judged") == 2
    with pytest.raises(InputError, match="judge"):
        lb.read_trials(path, group="problem", judge="judge")


def test_samples_to_be_labelled_are_drawn_from_those_without_a_label(tmp_path):
    path, out = _judged(tmp_path), tmp_path / "to_label.csv"
    output = _run("plan", path, *JUDGED, "--labels", "25", "--out", out)
    assert "25 of" in output
    drawn = lb.read_trials(out)
    assert len(drawn) == 25
    again = tmp_path / "again.csv"
    _run("plan", path, *JUDGED, "--labels", "25", "--out", again)
    assert again.read_bytes() == out.read_bytes()


def _priced(seed=5):
    """Four systems: the last is worse than the third and costs twice as much; each other one is better and dearer."""
    rng = np.random.default_rng(seed)
    base = rng.beta(1.2, 1.2, 60)
    rows = {"model": [], "problem": [], "correct": [], "dollars": []}
    for model, extra, cost in (("nano", -0.3, 0.002), ("mini", 0.0, 0.01), ("large", 0.3, 0.05), ("old", 0.0, 0.2)):
        for problem in range(60):
            rate = np.clip(base[problem] + extra, 0.02, 0.98)
            for _ in range(4):
                rows["model"].append(model)
                rows["problem"].append(f"p{problem}")
                rows["correct"].append(float(rng.random() < rate))
                rows["dollars"].append(cost * np.exp(rng.normal(0, 0.3)))
    return rows


def test_who_is_beaten_in_score_and_cost_is_off_the_front():
    verdict = lb.compare(_priced(), group="problem", cost="dollars", n=[1])
    assert verdict.outdone == {"old": "large"}
    ax = verdict.plot(kind="pareto")
    marks = {
        text.get_text(): line.get_markerfacecolor() == "white"
        for text in ax.texts
        for line in ax.lines
        if line.get_marker() == "o" and (line.get_xdata()[0], line.get_ydata()[0]) == text.xy
    }
    assert marks == {"nano": False, "mini": False, "large": False, "old": True}
    spends = {spend.family: spend.value for spend in verdict.per_solved}
    steps = next(line for line in ax.lines if line.get_linestyle() == "--")
    assert list(steps.get_xdata()) == sorted(spends[name] for name in ("nano", "mini", "large"))
    assert ax.get_ylabel().strip() == "pass@1"


def test_a_picture_of_spend_needs_costs_and_stands_on_the_page(tmp_path):
    rows = _priced()
    without = {name: column for name, column in rows.items() if name != "dollars"}
    with pytest.raises(InputError, match="needs the cost of every sample"):
        lb.compare(without, group="problem", n=[1]).plot(kind="pareto")
    lb.write_report(rows, tmp_path / "page.html", group="problem", cost="dollars", n_resamples=200)
    assert "against what a solved problem costs" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "human"), "--label human names the column of labels for the scores of a judge"),
        (("--judge", "judge"), "a judge's scores (--judge judge) are corrected by labels of some samples"),
        (("--judge", "judge", "--label", "human", "--label", "judge=Judge"), "'human' alone is the column of labels"),
    ],
)
def test_the_two_meanings_of_label_are_told_apart(tmp_path, capsys, options, message):
    assert main(["compare", str(_judged(tmp_path)), "--group", "problem", "--direction", "max", *options]) in (1, 2)
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_ribbon_names_who_may_be_the_best_and_its_budgets_in_dollars(tmp_path):
    pytest.importorskip("matplotlib")
    trials = lb.read_trials(_table(tmp_path), group="problem", cost={"input": 3, "output": 15})
    ax = lb.compare(trials, axis="cost", n_resamples=200).plot(kind="ribbon")
    written = [text.get_text() for text in ax.texts]
    assert ax.get_xlabel() == "spend on each problem"
    assert {"cheap", "large", "cheap or large"} & set(written)
    # a bare dollar sign would begin a formula
    assert all("$" not in text.replace(r"\$", "") for text in written)
    assert any(r"\$0.0" in text for text in written)


def test_samples_without_a_cost_are_said_and_counted(tmp_path):
    """No spend is shown where some samples have no cost, and none is made up."""
    path = _table(tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], lines[1].rpartition(",")[0] + ",", *lines[2:]]) + "\n", encoding="utf-8")
    verdict = lb.compare(lb.read_trials(path, group="problem", cost={"input": 3, "output": 15}), n_resamples=200)
    (caution,) = [caution for caution in verdict.cautions if caution.code == "missing-costs"]
    assert (caution.family, caution.value) == ("cheap", 1)
    with pytest.raises(InputError, match=r"needs the cost of every sample; 1 of 120 have none"):
        lb.curve(lb.read_trials(path, group="problem", cost={"input": 3, "output": 15})["cheap"], axis="cost")


@pytest.mark.parametrize("priced", [True, False])
def test_samples_without_a_cost_are_said_and_counted_in_parts(tmp_path, priced):
    """As in memory; a family in which no sample has a cost has no costs, which is no doubt."""
    pandas = pytest.importorskip("pandas")
    costs = [None, *[0.25 if priced else None] * 39, *[0.5] * 40]
    table = {"model": ["a"] * 40 + ["b"] * 40, "problem": [f"p{i // 4 % 10}" for i in range(80)]}
    pandas.DataFrame(table | {"correct": [i % 2 for i in range(80)], "dollars": costs}).to_parquet(
        tmp_path / "s.parquet"
    )
    roles = {"family": "model", "group": "problem", "selection": "correct", "direction": "max", "cost": "dollars"}
    whole, parts = (
        lb.compare(read(tmp_path / "s.parquet", **roles), n_resamples=200) for read in (lb.read_trials, read_in_parts)
    )
    for verdict in (whole, parts):
        lacking = [(caution.family, caution.value) for caution in verdict.cautions if caution.code == "missing-costs"]
        assert lacking == ([("a", 1)] if priced else [])


@pytest.mark.parametrize("right", [0, 1])
def test_two_systems_that_score_alike_are_not_called_ahead(right):
    table = {
        "model": ["a"] * 60 + ["b"] * 60,
        "problem": [f"p{i // 4 % 15}" for i in range(120)],
        "correct": [right] * 120,
    }
    verdict = str(lb.compare(table, n_resamples=200).summary)
    assert "ahead" not in verdict
    assert "no difference was seen: 0.0" in verdict


def test_a_judge_with_labels_has_a_page(tmp_path):
    """The page, the table and the curve say the mean label, and none that the judge chose a sample."""
    rng = np.random.default_rng(3)
    rows = ["model,problem,sample,judge,human"]
    for model in "ab":
        for problem, rate in enumerate(rng.beta(1, 1, 20)):
            for sample in range(4):
                right = int(rng.random() < rate)
                labelled = str(right) if rng.random() < 0.3 else ""
                rows.append(f"{model},p{problem},{sample},{right if rng.random() < 0.8 else 1 - right},{labelled}")
    path = tmp_path / "judged.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ("--judge", "judge", "--label", "human", "--direction", "max")
    page = tmp_path / "page.html"
    _run("report", path, *options, "--out", page)
    shown = json.loads((tmp_path / "page" / "report.json").read_text(encoding="utf-8"))
    compared = json.loads(_run("compare", path, *options, "--json"))
    assert shown["comparisons"] == compared["comparisons"]
    assert "human of one sample" in page.read_text(encoding="utf-8")
    curve = _run("curve", path, *options)
    assert "mean label (human) of 20 problems" in curve
    assert "chosen by judge" not in curve
    assert "have a label" in " ".join(curve.split())
    assert "need to be told" not in _run("describe", path, *options)


def test_the_page_has_the_answer_of_most_beside_pass_at_k(tmp_path):
    trials = lb.read_trials(_table(tmp_path, problems=8, samples=4), group="problem", answer="answer")
    report = lb.write_report(trials, tmp_path / "page.html", n_resamples=200)
    assert [section.title for section in report.view.sections][:2] == ["pass^k", "maj@k"]
    wanted = lb.curve(trials["cheap"], statistic="majority", n_resamples=200).value
    shown = [line for line in report.view.lines if line.statistic == "majority" and line.family == "cheap"]
    np.testing.assert_allclose(shown[0].value, wanted, atol=1e-12)
