"""Nevergrad's log, read against its own lines."""

import json
from pathlib import Path

import pytest

import levelbest as lb

HERE = Path(__file__).parent / "artefacts" / "nevergrad"


def lines(name):
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_every_point_is_a_trial_of_its_optimizer():
    trials = lb.read_trials(HERE / "log.jsonl")
    points = lines("log.jsonl")
    assert trials.families == ("RandomSearch", "LHSSearch", "ChainCMAwithLHS")
    assert trials.metric.direction == "min"
    told = [point["#loss"] for point in points if point["#loss"] < 5e20]
    assert trials.selection[trials.status == 0].tolist() == told
    assert (len(trials), trials.n_failed) == (len(points), 1)  # a loss of infinity was written as 5e20
    assert trials.configuration["parameters.units"].tolist() == [point["units"] for point in points]
    assert trials.configuration["parameters.w.1"].tolist() == [point["w"][1] for point in points]
    assert set(trials.configuration) == {f"parameters.{name}" for name in ("0", "opt", "units", "w.0", "w.1")}


def test_what_learns_is_told_from_what_draws():
    doubts = {(c.family, c.code) for c in lb.read_trials(HERE / "log.jsonl").cautions}
    assert ("RandomSearch", "adaptive-sampler") not in doubts
    assert {("LHSSearch", "grid"), ("ChainCMAwithLHS", "adaptive-sampler")} <= doubts
    assert ("ChainCMAwithLHS", "grid") not in doubts


def test_searches_begin_where_the_count_begins_again():
    trials = lb.read_trials(HERE / "searches.jsonl")
    assert trials.columns["search"] == "search"
    assert trials.search.tolist() == [search for search in range(3) for _ in range(3)]


def test_several_losses_ask_for_one(tmp_path):
    log = tmp_path / "log.json"
    points = [{**point, "#losses#0": 1.0 * place, "#losses#1": 2.0} for place, point in enumerate(lines("log.jsonl"))]
    log.write_text("".join(json.dumps(point) + "\n" for point in points) + "{broken\n")
    assert lb.read_trials(log, selection="losses.0").selection.tolist() == [float(x) for x in range(len(points))]
    assert [lost.where for lost in lb.read_trials(log, selection="losses.0").skipped] == ["log.json, line 13"]
    with pytest.raises(lb.LevelbestError, match="selection"):
        lb.read_trials(log)
