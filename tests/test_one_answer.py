"""One question, one answer: ``compare`` on the command line and in Python, the report's JSON and the finished live page
agree on every verdict, in any order of families and rows."""

import csv
import json
import re

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.report.build import build_view
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


@pytest.mark.parametrize("design", DESIGNS)
def test_every_way_to_ask_gives_the_same_verdicts(tmp_path, capsys, design):
    rng = np.random.default_rng(DESIGNS.index(design))
    rows, reading = _rows(rng, design)
    path = _write(tmp_path / "r.csv", rows)
    document = _printed(capsys, "compare", path, *reading, *FAST)
    verdicts = _verdicts(document["comparisons"])
    assert len(verdicts) == 3
    assert document["design"] == (design if design in ("seeds", "pairs", "problems", "searches") else "trials")
    names = {"--seed-column": "seed_column", "--bounds": "bounds"}
    flags = {flag: i for i, flag in enumerate(reading) if flag.startswith("--")}
    named = {names.get(flag, flag[2:]): reading[i + 1] for flag, i in flags.items()}
    if "bounds" in named:
        named["bounds"] = (0, 1)
    if design == "trials":  # through all files once; the document is the same without them
        report = _printed(capsys, "report", path, *reading, *FAST, "--out", str(tmp_path / "page.html"))
    else:
        report = build_view(lb.read_trials(path, **named), n_resamples=300).to_dict()
    assert _verdicts(report["comparisons"]) == verdicts
    shown = {
        frozenset(pair["families"]): [(row["start"], row["end"], row["verdict"]) for row in pair["ranges"]]
        for pair in report["pairs"]
        if (pair["statistic"], pair["axis"]) == ("mean", "trials")
    }
    assert shown == verdicts
    assert _verdicts(lb.compare(path, n_resamples=300, **named).to_dict()["comparisons"]) == verdicts
    # any order of rows and families; where the order of rows is what was run (searches), that of families alone
    order = {name: i for i, name in enumerate("cab")}
    if design == "searches":
        mixed = sorted(rows, key=lambda row: order[row["model"]])
    else:
        mixed = sorted([rows[i] for i in rng.permutation(len(rows))], key=lambda row: order[row["model"]])
    turned = _printed(capsys, "compare", _write(tmp_path / "mixed.csv", mixed), *reading, *FAST)
    assert _verdicts(turned["comparisons"]) == verdicts


def test_the_finished_live_page_gives_the_verdict_of_compare(tmp_path):
    rng = np.random.default_rng(11)
    path = tmp_path / "s.db"
    metric = {"selection": "dev", "reported": None, "direction": "max", "bounds": [None, None]}
    study = {"name": "s", "seed": 3, "levelbest": "0", "metric": metric, "cost": {"of": "wall", "unit": "s"}}
    entries = [Entry("study", study), Entry("environment", {"python": "3"})]
    for number, name in enumerate("ab"):
        definition = {"command": ["true"], "space": [["lr", {"uniform": [0, 1]}]], "seeds": 1}
        entries.append(Entry("family", {"name": name, "definition": definition, "fingerprint": "f"}, family=number))
        entries.append(Entry("plan", {"n_trials": 20}, family=number))
    entries.append(Entry("session", {"process": 1, "engine": "local", "workers": 2}))
    for trial in range(20):
        for family in range(2):
            config = {"config": {"lr": float(rng.random())}, "seed": trial}
            body = {"scores": {"dev": 0.8 * family + rng.normal()}, "wall": 1.0, "cpu": 0.5, "cost": 1.0}
            entries += [Entry("start", config, family, trial, 1), Entry("end", body, family, trial, 1, "ok")]
    with Ledger.create(path, entries):
        pass
    live = LiveData(path)
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", live.report()))
    live.close()
    assert lb.compare(path).summary[0] in page
