"""Tables, checklist and text: names as text everywhere, open questions said, numbers rounded by their uncertainty."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from page_view import HOSTILE, PLAIN, make_view
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker

from levelbest.errors import InputError
from levelbest.readers import read_trials
from levelbest.report.build import build_view
from levelbest.report.paper import checklist
from levelbest.report.tables.table import latex_text
from levelbest.report.terminal.curves import plot_lines
from levelbest.report.view_tables import appendix_tables, families_table, methods_latex, page_table, paper_table


def _macros(latex):
    """Names of all macros in strictly parsed LaTeX."""
    found = []

    def visit(nodes):
        for node in nodes or []:
            if isinstance(node, LatexMacroNode):
                found.append(node.macroname)
            visit(getattr(node, "nodelist", None))
            arguments = getattr(node, "nodeargd", None)
            visit([one for one in (arguments.argnlist if arguments else []) if one is not None])

    visit(LatexWalker(latex, tolerant_parsing=False).get_latex_nodes()[0])
    return found


@pytest.fixture(scope="module")
def view():
    return make_view()


@pytest.mark.parametrize("name", ["families", "appendix", "methods"])
def test_latex_parses_strictly_and_holds_no_foreign_macro(view, name):
    appendix = "\n".join(table.latex() for table in appendix_tables(view))
    latex = {"families": paper_table(view).latex(), "appendix": appendix, "methods": methods_latex(view)}[name]
    allowed = {
        "begin", "end", "caption", "centering", "toprule", "midrule", "bottomrule", "\\", "item", "textbackslash",
        "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "infty",
        "providecommand", "hline", "small", "footnotesize", "scriptsize", "setlength", "tabcolsep",
        "$", "&", "%", "#", "_", "{", "}",
    }  # fmt: skip
    assert set(_macros(latex)) <= allowed
    assert r"\textless{}script\textgreater{}" in latex
    assert "<script>" not in latex


def test_checklist_latex_parses_strictly(view):
    items = checklist.fill_checklist(view, {"code": HOSTILE})
    assert "script" in checklist.checklist_latex(items)
    assert _macros(checklist.checklist_latex(items)).count("item") == len(items)


def test_every_special_character_of_latex_is_escaped():
    assert latex_text("a\\b{c}$d$&%#_~^") == (
        r"a\textbackslash{}b\{c\}\$d\$\&\%\#\_\textasciitilde{}\textasciicircum{}"
    )


def test_markdown_has_one_row_a_family_and_no_html(view):
    text = paper_table(view).markdown()
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert "<script>" not in text
    assert r"\<script\>" in text
    assert "0.75 | 0.65 to 0.85" in text  # two digits of a half width of 0.1


def test_csv_has_full_precision(view):
    rows = list(csv.DictReader(io.StringIO(families_table(view).csv())))
    by_family = {row["family"]: row for row in rows}
    assert set(by_family) == {HOSTILE, PLAIN}
    assert float(by_family[HOSTILE]["value"]) == view.families[0].headline[0]


def test_the_checklist_has_the_ten_items_of_the_paper_in_order():
    asked = [item[1] for item in checklist._ITEMS]
    assert [int(re.match(r"\[D\] (\d+)", one).group(1)) for one in asked if one.startswith("[D]")] == list(range(1, 11))


def test_what_the_trials_tell_is_filled_in_and_the_rest_is_open(view):
    items = {item.key: item for item in checklist.fill_checklist(view, {"code": "at the usual place"})}
    assert items["code"].answer == "at the usual place"
    assert items["code"].source == "answers"
    assert f"{PLAIN}: 4 trials" in items["trials"].answer
    assert "1.00 h per trial" in items["runtime"].answer
    assert "1 of 4" in items["failures"].answer
    assert "8.00 h for the 4 trials" in items["total_cost"].answer
    assert items["infrastructure"].answer is None
    text = checklist.checklist_markdown(tuple(items.values()))
    assert "- [ ] **What computing infrastructure was used?**" in text
    assert "**Open:** name the machine" in text
    assert "- [x] **Where is the code?**" in text


def test_without_a_reported_score_its_item_is_open():
    items = {item.key: item for item in checklist.fill_checklist(make_view(reported=None))}
    assert items["validation"].answer is None


def test_answers_file(tmp_path):
    path = tmp_path / "answers.yaml"
    path.write_text("code: https://example.org/x\nsplits: |\n  80 / 10 / 10,\n  at random\n")
    assert checklist.read_answers(path) == {"code": "https://example.org/x", "splits": "80 / 10 / 10, at random"}
    for text, message in (("coda: x", "did you mean 'code'"), ("- a", "must map"), ("a: [", "is not YAML")):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            checklist.read_answers(path)
    with pytest.raises(InputError, match="cannot be read"):
        checklist.read_answers(tmp_path / "none.yaml")
    path.write_text("x: !!python/object/apply:os.system [echo]")
    with pytest.raises(InputError, match="is not YAML"):
        checklist.read_answers(path)


def test_a_curve_in_the_terminal_rises_where_the_numbers_rise(view):
    line = view.lines_of("mean")[0]
    rows = plot_lines([line], width=40, height=8, unicode=False)
    columns = ["".join(text for text, _ in row) for row in rows[:-1]]
    assert columns[0].startswith("0.75")
    assert columns[-1].startswith("0.50")
    first = [row.index("a") for row in columns if "a" in row]
    assert first == sorted(first, reverse=True)  # higher rows begin further right
    assert "".join(text for text, _ in rows[-1]).split() == ["1", "4"]
    braille = plot_lines([line], width=40, height=8)
    assert any("\u2801" <= text <= "\u28ff" for row in braille for text, _ in row if len(text) == 1)


def test_times_are_no_hyperparameters_and_failed_trials_are_counted():
    """Once start times stood among the values searched, and 24 trials were counted where 25 were run."""
    rng = np.random.default_rng(2)
    start = 1.7e9 + 3600.0 * np.arange(50)
    table = {
        "model": ["a"] * 25 + ["b"] * 25,
        "lr": rng.uniform(1e-5, 1e-2, 50),
        "start_time": start,
        "end_time": start + rng.gamma(5, 100, 50),
        "wall_time": rng.gamma(5, 100, 50),
        "hostname": ["node1", "node2"] * 25,
        "val_acc": [None, *rng.beta(8, 2, 49)],
    }
    report = build_view(read_trials(table), statistics=["mean"], n_resamples=50)
    items = {item.key: item.answer or "" for item in checklist.fill_checklist(report)}
    assert "lr = " in items["bounds"]
    for column in ("time", "node", "hostname"):
        assert column not in items["bounds"]
        assert column not in items["configuration"]
    assert items["trials"].split() == ["a:", "25", "trials;", "b:", "25", "trials"]
    assert "a: 1 of 25; b: 0 of 25" in " ".join(items["failures"].split())


def test_a_table_of_families_lines_up_and_has_the_best_first():
    """Once 0.922 above 0.9207, in the order of the input."""
    view = make_view()
    numbers = {"worse": (0.9207, 0.9143, 0.9259), "best": (0.9370, 0.9354, 0.9385), "wide": (0.922, 0.8837, 0.9424)}
    families = tuple(replace(view.families[1], name=name, headline=found) for name, found in numbers.items())
    shown = page_table(replace(view, families=families))
    rows = shown.rows
    values = [row[shown.heads.index("best of 2")] for row in rows]
    assert [row[0] for row in rows] == ["best", "wide", "worse"]
    assert len({len(value.partition(".")[2]) for value in values}) == 1
