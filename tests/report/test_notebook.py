"""What a notebook shows: the answer with coloured names, tables whose numbers line up, a picture of the trials."""

import re

import numpy as np
import pytest

import levelbest as lb
from levelbest.trials.colours import TERMINAL


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(level, 0.02, 12) for level in (0.7, 0.8, 0.71)])
    return lb.Trials.from_arrays(scores, family=np.repeat(["<a>", "b", "c"], 12), direction="max")


def test_the_verdict_names_families_in_their_colours(trials):
    compared = lb.compare(trials, n_resamples=199)
    text = compared._repr_html_()
    answer = re.sub("<[^>]+>", "", text[: text.index("</p>")])
    assert answer == compared.summary[0].replace("<", "&lt;").replace(">", "&gt;")
    assert f'<b style="color: {TERMINAL[compared.hues["b"]]}">b</b>' in text
    for name in ("&lt;a&gt;", "b", "c"):  # a mark of its colour stands before each name of the table
        assert re.search(rf'<td [^>]*><span style="color: #\w+">&#9632;</span> {name}</td>', text)
    assert re.search(r'<td style="text-align: right[^>]*>12</td>', text)


def test_trials_have_a_picture(trials):
    text = trials._repr_html_()
    assert text.count("<img ") == 1
    assert "background: white" in text  # readable whatever the notebook's theme is
    assert re.findall(r"<td [^>]*>(\d+)</td>", text) == ["12", "0", "0"] * 3
    nothing = lb.Trials.from_arrays([np.nan, np.nan], direction="max", status=["failed", "failed"])
    assert "<img" not in nothing._repr_html_()


def test_a_pair_has_a_table_for_papers(trials):
    pair = lb.compare(trials, n_resamples=199)["b", "c"]
    assert pair.to_markdown().startswith("| trials | b - c |")
    assert r"\begin{tabular}" in pair.to_latex()
    assert pair._repr_html_().startswith("<p>b is better than c")
