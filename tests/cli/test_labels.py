"""Labels people mean: columns and families under other names, figures of a paper's width, human ticks."""

import re

import numpy as np
import pytest

import levelbest as lb
from levelbest._plain import show_count
from levelbest.cli.main import main
from levelbest.errors import InputError


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(4)
    rows = [f"{name},{score:.4f},{score - 0.01:.4f}" for name in ("mlp_v2", "svm") for score in rng.random(12)]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["model,val_acc,test_acc", *rows]))
    return path


def test_every_output_has_the_words_that_were_given(table, tmp_path, capsys):
    words = ["--label", "test_acc=Test accuracy", "--name", "mlp_v2=MLP, second version"]
    page = tmp_path / "page.html"
    given = ["report", str(table), *words, "--paper", "icml", "--out", str(page), "--resamples", "99"]
    assert main(given) == 0
    told, text = capsys.readouterr().out, page.read_text(encoding="utf-8")
    for output in (told, text, (tmp_path / "page" / "families.md").read_text(encoding="utf-8")):
        assert "MLP, second version" in output
        assert "mlp_v2" not in output.replace("--name", "").replace("mlp_v2=MLP", "")
    assert "Test accuracy" in text
    widths = {
        name: float(re.search(r'width="([\d.]+)pt"', (tmp_path / "page" / f"{name}.svg").read_text())[1])
        for name in ("curves", "differences", "distributions")
    }
    assert set(widths.values()) == {3.25 * 72}  # a column of ICML


def test_the_numbers_are_the_same_under_other_names(table):
    plain = lb.compare(str(table), n_resamples=99)
    other = lb.compare(str(table), label={"val_acc": "Validation"}, name={"svm": "SVM"}, n_resamples=99)
    assert other.families == ("mlp_v2", "SVM")
    assert other.terms.metric.selection == "Validation"
    np.testing.assert_array_equal(plain.pairs[0].difference, other.pairs[0].difference)
    assert list(other.hues.values()) == list(plain.hues.values())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": {"tset_acc": "x"}}, "test_acc"),
        ({"name": {"smv": "x"}}, "svm"),
        ({"name": {"svm": "mlp_v2"}}, "two families would have one name"),
    ],
)
def test_what_cannot_be_renamed_is_said(table, given, message):
    with pytest.raises(InputError, match=message):
        lb.read_trials(str(table), **given)


def test_a_test_score_is_not_called_validation(tmp_path):
    rows = {"model": ["a"] * 8 + ["b"] * 8, "test_acc": np.linspace(0.1, 0.9, 16).tolist(), "lr": [*range(16)]}
    page = lb.write_report(rows, tmp_path / "r.html", n_resamples=99).page.read_text(encoding="utf-8")
    figure = (tmp_path / "r" / "curves.svg").read_text(encoding="utf-8")
    assert "validation only" not in figure + page.split('id="view-data"')[0].split('id="warnings"')[0]
    rows["val_acc"] = rows.pop("test_acc")
    assert "validation only" in lb.read_trials(rows)._repr_html_()


def test_counts_as_people_write_them():
    assert [show_count(n) for n in (1, 9999, 10_000, 12_500, 3_000_000)] == ["1", "9999", "10k", "12.5k", "3M"]
