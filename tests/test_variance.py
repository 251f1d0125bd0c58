"""Variance by source for families, in Python, JSON, the terminal and the page."""

import json

import numpy as np
import pytest

import levelbest as lb
from levelbest.cli.main import main
from levelbest.errors import DataError
from levelbest.stats import variance_components


@pytest.fixture
def columns():
    rng = np.random.default_rng(6)
    lr, seed = np.repeat(rng.random(16), 3), np.tile(np.arange(3), 16)
    score = 0.7 + np.repeat(rng.normal(0, 0.03, 16), 3) + rng.normal(0, 0.01, 48)
    return {"model": ["a"] * 24 + ["b"] * 24, "lr": lr, "seed": seed, "val_acc": score, "test_acc": score - 0.01}


READING = {"family": "model", "selection": "val_acc", "reported": "test_acc", "direction": "max"}


def test_families_have_the_components_of_their_runs(columns):
    found = lb.variance(columns, **READING, confidence=0.9)
    for place, own in enumerate(found):
        rows = slice(24 * place, 24 * place + 24)
        expected = variance_components(columns["test_acc"][rows], columns["lr"][rows], confidence=0.9)
        assert own.components == expected
        assert (own.n_configurations, own.n_runs, own.score) == (8, 24, "test_acc")
        assert f"sd {own['seed'].sd:.3g}" in str(own)
    frame = found.to_frame()
    assert list(frame["source"]) == ["configuration", "seed"] * 2
    assert frame["variance"][0] == found[0]["configuration"].variance
    assert (frame["share_low"][0], frame["share_high"][0]) == found[0].components.share_limits("configuration")
    assert repr(found).startswith("Variances(a: configuration ")
    assert found._repr_html_().count("<tr>") == 5
    assert found.plot().get_xticklabels()[1].get_text() == "seed"


def test_curves_comparisons_and_descriptions_carry_them(columns):
    expected = [own.to_dict() for own in lb.variance(columns, **READING)]
    compared = lb.compare(columns, **READING, n_resamples=200)
    assert compared.to_dict()["variances"] == expected
    assert [drawn.to_dict()["variance"] for drawn in lb.family_curves(columns, **READING)] == expected
    assert [own.to_dict()["variance"] for own in lb.describe(columns, **READING)] == expected


def test_a_data_split_is_a_source_of_its_own(columns):
    split = np.tile([0, 1, 2], 16)
    lifted = columns | {"fold": split, "test_acc": columns["test_acc"] + 0.05 * split}
    (first, _) = lb.variance(lifted, **READING)
    assert [source.name for source in first.sources] == ["configuration", "split", "seed"]
    assert first.split == "fold"
    expected = variance_components(lifted["test_acc"][:24], columns["lr"][:24], split[:24])
    assert first["split"].variance == expected["split"].variance > 0.001


def test_runs_without_a_score_are_left_out_and_counted(columns):
    columns["val_acc"][0] = columns["test_acc"][0] = np.nan
    (first, _) = lb.variance(columns, **READING)
    assert (first.n_runs, first.n_failed) == (23, 1)
    expected = variance_components(columns["test_acc"][1:24], columns["lr"][1:24])
    assert first["configuration"].variance == pytest.approx(expected["configuration"].variance)


def test_without_repeats_there_is_nothing_to_tell_apart(columns):
    single = {key: np.asarray(column)[::3] for key, column in columns.items()}
    with pytest.raises(DataError, match="configurations that have several runs each"):
        lb.variance(single, **READING)
    assert lb.describe(single, **READING)[0].variance is None


def test_terminal_page_and_json_show_them(columns, tmp_path, capsys):
    path = tmp_path / "runs.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    (first, _) = lb.variance(columns, **READING)
    shown = f"{first['configuration'].sd:.3g}"
    for command in ("describe", "curve", "compare"):
        assert main([command, str(path), "--details"]) == 0
        printed = capsys.readouterr().out
        start = "by configuration" if command == "describe" else "a  "
        rows = [line for line in printed.splitlines() if line.startswith(start) and "configuration " in line]
        assert rows[0].replace("sd ", "").replace(",", "").split()[2] == shown, printed
    assert main(["compare", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["counted"] == "configuration"
    assert document["variances"][0]["sources"][0]["variance"] == pytest.approx(first["configuration"].variance)
    lb.write_report(lb.read_trials(path), tmp_path / "page.html", n_resamples=200)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Variance by source" in page
    assert page.count(shown) >= 2  # in the sentence and in the table
