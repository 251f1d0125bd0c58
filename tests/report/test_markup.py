"""Tables, checklist and text: names as text everywhere, open questions said, numbers rounded by their uncertainty."""

import csv
import io
import re

import pytest
from page_view import HOSTILE, PLAIN, make_view
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker

from levelbest.errors import InputError
from levelbest.report.paper import checklist, markup
from levelbest.report.terminal.plot import plot_lines


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


@pytest.mark.parametrize("name", ["families_latex", "appendix_latex", "methods_latex"])
def test_latex_parses_strictly_and_holds_no_foreign_macro(view, name):
    latex = getattr(markup, name)(view)
    allowed = {
        "begin", "end", "caption", "centering", "toprule", "midrule", "bottomrule", "\\", "item", "textbackslash",
        "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "textquotedbl", "infty",
        "$", "&", "%", "#", "_", "{", "}",
    }  # fmt: skip
    assert set(_macros(latex)) <= allowed
    assert r"\textless{}script\textgreater{}" in latex
    assert "<script>" not in latex


def test_checklist_latex_parses_strictly(view):
    items = checklist.fill_checklist(view, {"code": HOSTILE})
    assert "script" in markup.checklist_latex(items)
    assert _macros(markup.checklist_latex(items)).count("item") == len(items)


def test_every_special_character_of_latex_is_escaped():
    assert markup.latex_text("a\\b{c}$d$&%#_~^") == (
        r"a\textbackslash{}b\{c\}\$d\$\&\%\#\_\textasciitilde{}\textasciicircum{}"
    )


def test_markdown_has_one_row_a_family_and_no_html(view):
    text = markup.families_markdown(view)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert "<script>" not in text
    assert r"\<script\>" in text
    assert "0.75 | 0.65 to 0.85" in text  # two digits of a half width of 0.1


def test_csv_has_full_precision(view):
    rows = list(csv.DictReader(io.StringIO(markup.families_csv(view))))
    assert [row["family"] for row in rows] == [HOSTILE, PLAIN]
    assert float(rows[0]["value"]) == view.families[0].headline[0]


def test_the_checklist_has_the_ten_items_of_the_paper_in_order():
    asked = [item[1] for item in checklist._ITEMS]
    assert [int(re.match(r"\[D\] (\d+)", one).group(1)) for one in asked if one.startswith("[D]")] == list(range(1, 11))


def test_what_the_trials_tell_is_filled_in_and_the_rest_is_open(view):
    items = {item.key: item for item in checklist.fill_checklist(view, {"code": "at the usual place"})}
    assert items["code"].answer == "at the usual place"
    assert items["code"].source == "answers"
    assert f"{PLAIN}: 4 trials" in items["trials"].answer
    assert "1.00 h a trial" in items["runtime"].answer
    assert "1 of 4" in items["failures"].answer
    assert "8.00 h for the 4 trials" in items["total_cost"].answer
    assert items["infrastructure"].answer is None
    text = markup.checklist_markdown(tuple(items.values()))
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
