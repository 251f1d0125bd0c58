"""One table, five ways to write it: the same headings and decimals everywhere."""

import csv
import io

import numpy as np
import pytest

import levelbest as lb
from levelbest.report.tables.table import Table, costs, counts, limits, numbers, shares, texts

NAN, INF = float("nan"), float("inf")
TABLE = Table(
    (
        texts("family", ["a_b", "=1+1"]),
        counts("trials", [12, 3], "n_trials"),
        numbers("best of 5", [0.51234, NAN], 2, "value", ["", " (n = 3)"]),
        limits("95 %", [(0.4, 0.6), (0.1, INF)], 2),
        costs("cost", [7200.0, None], "s"),
        shares("share", [0.5, NAN]),
    ),
    note="A note.",
)


def test_cells_are_read_the_same_everywhere():
    assert TABLE.rows == [
        ("a_b", "12", "0.51", "0.40 to 0.60", "2.00 h", "50 %"),
        ("=1+1", "3", "– (n = 3)", "0.10 to ∞", "", ""),
    ]
    assert TABLE.kinds == "tnnnnn"
    assert "| a\\_b | 12 | 0.51 | 0.40 to 0.60 | 2.00 h | 50 % |" in TABLE.markdown()
    assert ">0.40 to 0.60</td>" in TABLE.html()


def test_in_latex_a_family_has_the_mark_of_its_colour():
    latex = TABLE.latex({"a_b": "#ff0080"})
    assert r"\familymark{1.000,0.000,0.502}a\_b &" in latex
    assert latex.count(r"\familymark{") == 1  # the other has no colour
    assert r"\providecommand{\familymark}" in latex
    assert "familymark" not in TABLE.latex()


def test_latex_needs_no_package_and_has_intervals_in_brackets():
    latex = TABLE.latex()
    assert r"\begin{tabular}{lrrrrr}" in latex
    assert r"Family & Trials & Best of 5 & 95 \% & Cost & Share \\" in latex
    assert r"a\_b & 12 & 0.51 & [0.40, 0.60] & 2.00 h & 50 \% \\" in latex
    assert r"-- (n = 3) & [0.10, $\infty$]" in latex
    for rule in ("toprule", "midrule", "bottomrule"):  # before its first use, where booktabs is not loaded
        assert latex.index(rf"\providecommand{{\{rule}}}{{\hline}}") < latex.index(r"\begin{table}")
    negative = Table((texts("pair", ["a-1"]), limits("95 %", [(-0.5, 0.25)], 2)))
    assert r"a-1 & [$-$0.50, 0.25] \\" in negative.latex()


def test_csv_has_every_digit_and_no_formula():
    first, second = csv.DictReader(io.StringIO(TABLE.csv()))
    assert (first["value"], first["low"], first["high"], first["n_trials"]) == ("0.51234", "0.4", "0.6", "12")
    assert (second["family"], second["value"], second["high"], second["cost"]) == ("'=1+1", "", "", "")


def test_parts_and_choices_of_a_table():
    assert TABLE.only("family", "value").heads == ("family", "best of 5")
    assert TABLE.part([1]).rows == TABLE.rows[1:]


@pytest.mark.parametrize("kind", ["markdown", "latex"])
def test_curves_and_verdicts_go_into_a_paper(kind):
    rng = np.random.default_rng(0)
    family = ["a"] * 10 + ["b"] * 10
    trials = lb.Trials.from_arrays(rng.normal(size=20), direction="max", family=family)
    results = [lb.curve(trials["a"], n_resamples=199), lb.family_curves(trials, n_resamples=199)]
    results.append(lb.compare(trials, n_resamples=199))
    for result in results:
        text = getattr(result, f"to_{kind}")()
        assert "95" in text
        assert text.count("\n") > 4
    terminal = results[-1]._repr_html_()
    for cell in results[-1].to_markdown().splitlines()[2].strip("| ").split(" | "):
        assert cell.replace("\\", "") in terminal  # the same digits in a notebook
