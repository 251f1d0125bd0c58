"""One question, one answer: ``compare`` on the command line and in Python, the report's JSON and the finished live page
agree on every verdict, in any order of families and rows."""

import csv
import json
import re
from importlib import resources

import numpy as np
import pytest
from matplotlib.figure import Figure

import levelbest as lb
from levelbest._ledger.plan import fingerprint_of
from levelbest._ledger.space import Space
from levelbest.cli.main import main
from levelbest.report.words.answers import answer_of, text_of
from levelbest.report.words.phrases import capital
from levelbest.run.ledger import Entry, Ledger
from levelbest.web.data import LiveData

FAST = ["--resamples", "300"]


def _rows(rng, design):
    """Rows of one data set, as a user would have them, and how to read them."""
    shift = {"a": 0.0, "b": 0.6, "c": 0.65}
    rows = []
    reading = ["--family", "model", "--selection", "val", "--direction", "max"]
    if design in ("trials", "unequal", "failures", "bounded", "reported", "min"):
        sizes = {"unequal": (12, 40, 25)}.get(design, (24, 24, 24))
        for name, size in zip("abc", sizes, strict=True):
            for trial in range(size):
                score = shift[name] + rng.normal()
                rows.append({"model": name, "lr": rng.random(), "val": score, "test": score + 0.1 * rng.normal()})
                if design == "failures" and trial % 6 == 0:
                    rows[-1]["val"] = ""
                if design == "bounded":
                    rows[-1]["val"] = 1 / (1 + np.exp(-2 * score))
                if design == "min":
                    rows[-1]["val"] = -score
        reading += ["--reported", "test"] if design == "reported" else []
        reading += ["--bounds", "0", "1", "--reported", "none"] if design == "bounded" else []
        if design == "min":
            reading[reading.index("max")] = "min"
    elif design == "seeds":
        for name in "abc":
            rows += [{"model": name, "seed": s, "val": 2 * shift[name] + 0.5 * rng.normal()} for s in range(6)]
        reading += ["--seed-column", "seed"]
    elif design == "pairs":
        for i in range(20):
            base = rng.normal()
            rows += [{"model": m, "lr": i + 0.5, "val": base + shift[m] + 0.3 * rng.normal()} for m in "abc"]
    elif design == "problems":
        for problem in range(15):
            ease = rng.random()
            for name in "abc":
                chance = np.clip(ease + 0.5 * shift[name] - 0.2, 0, 1)
                rows += [{"model": name, "problem": problem, "val": int(rng.random() < chance)} for _ in range(4)]
        reading += ["--group", "problem"]
    elif design == "searches":
        for name in "abc":
            for search in range(4):
                rows += [{"model": name, "search": search, "val": shift[name] + rng.normal()} for _ in range(8)]
        reading += ["--search", "search"]
    return rows, reading


def _write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def _verdicts(comparisons):
    """By pair, whichever comes first; not the sentences, which follow the order of the families."""
    return {
        frozenset(pair["families"]): [(row["from"], row["to"], row["verdict"]) for row in pair["verdicts"]]
        for pair in comparisons
    }


def _printed(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


DESIGNS = ("trials", "unequal", "failures", "bounded", "reported", "min", "seeds", "pairs", "problems", "searches")


def _no_figures(*_):
    return {"curves": Figure()}


def _shown(page):
    """The verdicts of the mean over trials that a page's script draws."""
    data = json.loads(re.search(r'<script type="application/json" id="view-data">(.*?)</script>', page, re.DOTALL)[1])
    names, drawn = [family["name"] for family in data["families"]], data["kinds"]["mean/trials"]
    shown = {}
    for first, second, place, *_ in drawn["pairs"]:
        families = [names[first], names[second]]
        words = {0: families[0], 1: families[1], -1: "undecided", -2: "not comparable"}
        shown[frozenset(families)] = [(start, end, words[side]) for start, end, side in drawn["verdicts"][place]]
    return shown


@pytest.mark.parametrize("design", DESIGNS)
def test_every_way_to_ask_gives_the_same_verdicts(tmp_path, capsys, monkeypatch, design):
    rng = np.random.default_rng(DESIGNS.index(design))
    rows, reading = _rows(rng, design)
    path = _write(tmp_path / "r.csv", rows)
    document = _printed(capsys, "compare", path, *reading, *FAST)
    verdicts = _verdicts(document["comparisons"])
    assert len(verdicts) == 3
    assert document["design"] == (design if design in ("seeds", "pairs", "problems", "searches") else "trials")
    if design != "trials":  # one report with its figures; the others are the same without the time they take
        monkeypatch.setattr("levelbest.report.write.report_figures", _no_figures)
    report = _printed(capsys, "report", path, *reading, *FAST, "--out", str(tmp_path / "page.html"))
    assert _verdicts(report["comparisons"]) == verdicts
    beside = json.loads((tmp_path / "page" / "report.json").read_text())
    assert _verdicts(beside["comparisons"]) == verdicts
    drawn = {
        frozenset(pair["families"]): [(row["start"], row["end"], row["verdict"]) for row in pair["ranges"]]
        for pair in report["pairs"]
        if (pair["statistic"], pair["axis"]) == ("mean", "trials")
    }
    assert drawn == verdicts
    assert _shown((tmp_path / "page.html").read_text()) == verdicts
    names = {"--seed-column": "seed_column"}
    flags = {flag: i for i, flag in enumerate(reading) if flag.startswith("--")}
    named = {names.get(flag, flag[2:]): reading[i + 1] for flag, i in flags.items()}
    if "bounds" in named:
        named["bounds"] = (0, 1)
    assert _verdicts(lb.compare(path, n_resamples=300, **named).to_dict()["comparisons"]) == verdicts
    # any order of rows and families; where the order of rows is what was run (searches), that of families alone
    order = {name: i for i, name in enumerate("cab")}
    if design == "searches":
        mixed = sorted(rows, key=lambda row: order[row["model"]])
    else:
        mixed = sorted([rows[i] for i in rng.permutation(len(rows))], key=lambda row: order[row["model"]])
    turned = _printed(capsys, "compare", _write(tmp_path / "mixed.csv", mixed), *reading, *FAST)
    assert _verdicts(turned["comparisons"]) == verdicts


def _ledger(path, design, *, order):
    """A finished study whose rows are those of a data set, the families planned in the given order."""
    rows, _ = _rows(np.random.default_rng(DESIGNS.index(design)), design)
    ends = [0, 1] if design == "bounded" else [None, None]
    metric = {
        "selection": "val",
        "reported": "test" if design == "reported" else None,
        "direction": "min" if design == "min" else "max",
        "bounds": ends,
    }
    study = {"name": "s", "seed": 3, "levelbest": "0", "metric": metric, "cost": {"of": "wall", "unit": "s"}}
    entries = [Entry("study", study), Entry("environment", {"python": "3"})]
    by_family = {name: [row for row in rows if row["model"] == name] for name in order}
    for number, (name, own) in enumerate(by_family.items()):
        definition = {"command": ["true"], "space": [["lr", {"uniform": [0, 1]}]], "seeds": 1}
        body = {"name": name, "definition": definition, "fingerprint": fingerprint_of(definition)}
        entries.append(Entry("family", body, family=number))
        entries.append(Entry("plan", {"n_trials": len(own)}, family=number))
    entries.append(Entry("session", {"process": 1, "engine": "local", "workers": 2}))
    space = Space({"lr": {"uniform": [0, 1]}})
    for number, own in enumerate(by_family.values()):
        for trial, row in enumerate(own):
            scores = {key: float(row[key]) for key in ("val", "test") if key in row and row[key] != ""}
            body = {"scores": scores, "wall": 1.0, "cpu": 0.5, "cost": 1.0}
            ended = "ok" if "val" in scores else "failed"
            config, seed = space.draw(3, number, trial)
            entries.append(Entry("start", {"config": config, "seed": seed}, number, trial, 1))
            entries.append(Entry("end", body, number, trial, 1, ended))
    with Ledger.create(path, entries):
        pass
    return path


@pytest.mark.parametrize("design", ["trials", "unequal", "failures", "bounded", "reported", "min", "pairs"])
def test_the_finished_live_page_gives_the_verdicts_of_compare(tmp_path, capsys, monkeypatch, design):
    monkeypatch.setattr("levelbest.report.write.report_figures", _no_figures)
    path = _ledger(tmp_path / "s.db", design, order="abc")
    live = LiveData(path)
    page = live.report()
    live.close()
    document = _printed(capsys, "compare", str(path))
    verdicts = _verdicts(document["comparisons"])
    assert len(verdicts) == 3
    assert _shown(page) == verdicts
    compared = lb.compare(path)
    assert _verdicts(compared.to_dict()["comparisons"]) == verdicts
    answer, text = answer_of(compared), re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert all(part in text for part in (capital(answer.where), text_of(answer.names), *compared.summary[1:]))
    turned = lb.compare(_ledger(tmp_path / "turned.db", design, order="cab"))
    assert _verdicts(turned.to_dict()["comparisons"]) == verdicts


# ---- the seed of the draws


def _borderline(rng, **columns):
    """Three families about two standard errors apart: verdicts that a few draws more or less would change."""
    rows = 3 * 24
    shift = np.repeat([0.0, 0.035, 0.07], 24)
    score = np.clip(0.6 + shift + 0.08 * rng.standard_normal(rows), 0, 1).round(3)
    return {"model": np.repeat(["a", "b", "c"], 24), "val": score} | columns


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"statistic": "median"},
        {"reported": "test", "statistic": "median"},
        {"axis": "cost", "cost": "hours"},
        {"reported": "val", "interval": "gaffke"},
        {"group": "problem"},
        {"group": "problem", "paired": False},
    ],
    ids=str,
)
def test_the_seed_changes_no_verdict(asked):
    rng = np.random.default_rng(77)
    table = _borderline(rng, hours=rng.exponential(1, 72), lr=rng.random(72))
    table["test"] = table["val"] + 0.03 * rng.standard_normal(72)
    if "group" in asked:
        table["problem"] = np.tile(np.arange(12), 6)
    said = set()
    for seed in range(6):
        compared = lb.compare(table, family="model", selection="val", direction="max", bounds=(0, 1), rng=seed, **asked)
        said.add(tuple((pair.families, pair.verdicts) for pair in compared.pairs))
    assert len(said) == 1


@pytest.mark.parametrize("asked", [{"statistic": "median"}, {"axis": "cost"}], ids=str)
def test_the_seed_changes_no_verdict_of_the_shipped_results(asked):
    """Medians gave 17 answers to 20 seeds, and costs 2, while the draws that decide depended on the seed."""
    table = lb.read_trials(str(resources.files("levelbest") / "data" / "digits.csv"))
    said = {
        tuple((pair.families, pair.verdicts) for pair in lb.compare(table, rng=seed, **asked).pairs) for seed in (0, 1)
    }
    assert len(said) == 1


@pytest.mark.parametrize("design", ["trials", "problems"])
def test_no_seed_decides_what_is_worth_having(design):
    rng = np.random.default_rng(7)
    rows, _ = _rows(rng, design)
    columns = {name: [row[name] for row in rows if row["model"] != "c"] for name in rows[0]}
    reading = {"selection": "val", "direction": "max"} | ({"group": "problem"} if design == "problems" else {})
    reading |= {"reported": "none"} if design == "trials" else {}
    for worth in (0.2, 0.4, 0.8, 1.6):
        verdicts = {
            lb.compare(columns, **reading, worth=worth, rng=seed, n_resamples=199).pairs[0].verdicts
            for seed in range(3)
        }
        assert len(verdicts) == 1


def test_curves_over_cost_are_those_of_the_command(tmp_path, capsys):
    rng = np.random.default_rng(5)
    rows = [f"{name},{rng.random()},{rng.exponential(60)}" for name in "ab" for _ in range(20)]
    asked = {
        "family": "model",
        "selection": "acc",
        "cost": "seconds",
        "axis": "cost",
        "budget": [200, 400],
        "workers": 2,
    }
    words = ["--budget", "200,400", *(f"--{name}={asked[name]}" for name in asked if name != "budget"), "--json", *FAST]
    for names in ("ab", "a"):
        path = tmp_path / f"{names}.csv"
        path.write_text("\n".join(["model,acc,seconds", *(row for row in rows if row[0] in names)]) + "\n")
        assert main(["curve", str(path), *words]) == 0
        said = json.loads(capsys.readouterr().out)["families"]
        drawn = lb.family_curves(str(path), **asked, n_resamples=300)
        assert [own.to_dict() for own in drawn] == said
    assert lb.curve(str(path), **asked, n_resamples=300).to_dict() == said[0]
    assert [point["cost"] for point in said[0]["points"]] == [200, 400]
