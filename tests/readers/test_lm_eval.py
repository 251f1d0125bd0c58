"""lm-evaluation-harness' sample files, against the averages in its own results files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.formats.lm_eval import READERS

READER, _ = READERS

HOME = Path(__file__).parent / "artefacts" / "lm_eval"
FILES = sorted(HOME.glob("*/samples_*.jsonl"))
RESULTS = sorted(HOME.glob("*/results_*.json"))


def moment(path):
    return path.stem.rsplit("_", 1)[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_samples_average_to_the_results(path):
    assert READER.recognises(path)
    (table,) = READER.read(path)
    task = table.columns["task"][0]
    (results,) = [json.loads(one.read_text()) for one in RESULTS if moment(one) == moment(path)]
    published = results["results"][task]
    metrics = [key for key in published if "," in key and "stderr" not in key]
    assert metrics
    for key in metrics:
        assert table.columns[key].mean() == pytest.approx(published[key], rel=1e-12)
        assert table.facts[f"direction:{key}"] == "max"
    assert table.n_rows == published["sample_len"] == 6  # one row per document, whatever the filters
    assert set(table.columns["model"]) == {"org/dummy"}
    assert set(table.columns["seed"]) == {results["config"]["random_seed"]}


def test_a_folder_is_a_table_for_each_task():
    assert READER.recognises(HOME)
    tables = READER.read(HOME)
    assert [set(table.columns["system"]) for table in tables] == [{"org/dummy"}] * 2
    assert [set(table.columns["task"]) for table in tables] == [{"mini_choice"}, {"mini_words"}]
    assert [table.n_rows for table in tables] == [12, 12]  # six documents, two runs
    choice = read_trials(HOME, where="task == 'mini_choice'", selection="acc,none")
    assert len(choice.groups) == 6
    assert len(choice) == 12
    assert choice.metric.direction == "max"
    assert sorted(set(choice.order.tolist())) == [0, 1]
    assert sorted(set(choice.seed.tolist())) == [1, 2]


def test_one_file_needs_no_options():
    trials = read_trials(FILES[0])
    assert trials.families == ("org/dummy",)
    assert trials.metric.selection == "acc,none"
    with pytest.raises(InputError, match="exact_match,strict"):
        read_trials(FILES[-1])


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(HOME / "org__dummy", tmp_path / "org__dummy"))


def test_without_the_results_file_the_folder_names_the_model(copy):
    for path in copy.glob("results_*"):
        path.unlink()
    (table,) = READER.read(copy / FILES[0].name)
    assert set(table.columns["model"]) == {"org__dummy"}
    assert "seed" not in table.columns
    assert not any(fact.startswith("direction") for fact in table.facts)


def test_a_model_named_by_its_path_is_named_by_the_last_part(copy):
    for path in copy.glob("results_*"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "model_name": "/home/someone/my-model"}))
    (table,) = READER.read(copy / FILES[0].name)
    assert set(table.columns["model"]) == {"my-model"}


def test_odd_lines_are_listed(copy):
    path = copy / FILES[0].name
    lines = path.read_text().splitlines()
    first = json.loads(lines[0])
    listed = {**json.loads(lines[1]), "acc": [0.5, 3]}
    path.write_text("\n".join([lines[0], json.dumps(listed), lines[0], "{cut", json.dumps({"doc": 1})]) + "\n")
    (table,) = READER.read(path)
    why = {one.where.rpartition(", ")[2]: one.why for one in table.skipped}
    assert "occurred before" in why["line 3"]
    assert "not read" in why["line 4"]
    assert "no doc_id" in why["line 5"]
    assert any("not a single number in 1 samples" in one.why for one in table.skipped)
    assert table.columns["status"].tolist() == ["ok", "failed"]
    assert table.columns["acc,none"][0] == first["acc"]


def test_files_of_older_versions(tmp_path):
    """Before 0.4.3 a line listed neither its metrics nor its filter."""
    path = tmp_path / "samples_old.jsonl"
    lines = [json.loads(line) for line in FILES[0].read_text().splitlines()]
    for line in lines:
        del line["metrics"], line["filter"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (old,), (new,) = READER.read(path), READER.read(FILES[0])
    np.testing.assert_array_equal(old.columns["acc,none"], new.columns["acc,none"])
    assert set(old.columns["task"]) == {"old"}


def test_what_is_no_sample_file(tmp_path):
    path = tmp_path / "samples_x.jsonl"
    path.write_text('{"doc_id": 1}\n')
    assert not READER.recognises(path)
    assert not READER.recognises(tmp_path / "absent.jsonl")
    path.write_text("")
    with pytest.raises(DataError, match="holds no samples"):
        READER.read(path)
    other = tmp_path / "other"
    other.mkdir()
    assert not READER.recognises(other)


@pytest.fixture
def scored(tmp_path):
    """Results files of two models, without samples: each of the three tasks has other metrics."""
    for model, accuracy in (("a", 0.3), ("b", 0.4)):
        results = {
            "arc": {"alias": "arc", "acc,none": accuracy, "acc_stderr,none": 0.01, "acc_norm,none": accuracy + 0.1},
            "gsm8k": {"exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.02},
            "wikitext": {"word_perplexity,none": 12.0, "bits_per_byte,none": 0.7, "bits_per_byte_stderr,none": "N/A"},
        }
        higher = {"arc": {"acc": True, "acc_norm": True}, "wikitext": {"word_perplexity": False}}
        document = {"results": results, "higher_is_better": higher, "config": {"random_seed": 3}}
        (tmp_path / model).mkdir()
        path = tmp_path / model / "results_2026-01-01T00-00-00.json"
        path.write_text(json.dumps({**document, "model_name": f"org/{model}"}))
    return tmp_path


def test_results_alone_are_read_by_the_score_that_is_plainly_meant(scored):
    trials = read_trials(scored)
    assert trials.families == ("org/a / arc", "org/b / arc", "org/a / gsm8k", "org/b / gsm8k")
    assert trials.selection.tolist() == [0.3, 0.4, 0.5, 0.5]
    assert set(trials.seed.tolist()) == {3}
    (chosen,) = [one for one in trials.cautions if one.kind == "primary"]
    assert (chosen.fact("column"), chosen.fact("others")) == ("acc,none", ("acc_norm,none",))
    (left_out,) = [one for one in trials.skipped if one.where.startswith("wikitext")]  # neither is plainly meant
    assert "no single score" in left_out.why
    other = read_trials(scored, selection="acc_norm,none", where="task == 'arc'")
    assert other.selection.tolist() == [0.4, 0.5]


def test_a_results_file_of_the_harness_is_read_without_options():
    trials = read_trials(RESULTS[0])
    assert trials.families == ("org/dummy / mini_choice",)
    published = json.loads(RESULTS[0].read_text())["results"]["mini_choice"]["acc,none"]
    assert trials.selection.tolist() == [published]
    assert trials.metric.selection == "acc,none"
    assert [one.where for one in trials.skipped] == ["mini_words"]  # two filters, and neither is plainly meant
