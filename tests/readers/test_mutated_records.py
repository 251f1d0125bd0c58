"""Records of tools with one value changed, cut or of another kind: each is a trial still, or is named as skipped.

The default suite changes 130 records; with ``--long`` it is 3,000.
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import levelbest as lb
from levelbest.errors import LevelbestError

sys.path.insert(0, str(Path(__file__).parent))
import logs

HERE = Path(__file__).parent / "artefacts"
JUNK = [None, "", "x", "NaN", -1, 1e308, True, [], {}, [1, 2], {"a": 1}, "0.5", float("inf"), float("nan"), 10**400]


def listed(path):
    """The records of a JSON list, and how to write them back."""
    document = json.loads(path.read_text())
    return document, lambda records: json.dumps(records)


def in_lines(path):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return records, lambda changed: "".join(json.dumps(record) + "\n" for record in changed)


def in_smac(path):
    history = json.loads(path.read_text())
    return history["data"], lambda records: json.dumps({**history, "data": records})


def in_evalplus(path):
    document = json.loads(path.read_text())
    samples = [(task, sample) for task, own in document["eval"].items() for sample in own]
    tasks = [task for task, _ in samples]

    def write(records):
        by_task = {}
        for task, sample in zip(tasks, records, strict=True):
            by_task.setdefault(task, []).append(sample)
        return json.dumps({**document, "eval": by_task})

    return [sample for _, sample in samples], write


def in_every_eval_ever(path):
    document = json.loads(path.read_text())
    return document["evaluation_results"], lambda records: json.dumps({**document, "evaluation_results": records})


def below(*keys):
    """Records in a list at a path of keys."""

    def found(path):
        document = json.loads(path.read_text())
        owner = document
        for key in keys[:-1]:
            owner = owner[key]

        def write(records):
            owner[keys[-1]] = records
            return json.dumps(document)

        return owner[keys[-1]], write

    return found


# name -> a file or what makes one, how its records are found, and what reading it takes
FORMATS = {
    "nevergrad": ("nevergrad/log.jsonl", in_lines, {}),
    "smac": ("smac/svm/1/runhistory.json", in_smac, {}),
    "nni-export": ("nni/export.json", listed, {"direction": "max"}),
    "evalplus": ("evalplus/some-model_eval_results.json", in_evalplus, {}),
    "bigcodebench": ("bigcodebench/some-model--bigcodebench-complete_eval_results.json", in_evalplus, {}),
    "helm": (
        str(next(HERE.glob("helm/*/per_instance_stats.json")).relative_to(HERE)),
        listed,
        {"selection": "exact_match", "perturbed": True},
    ),
    "every-eval-ever samples": ("every_eval_ever/sums/org/small/result.jsonl", in_lines, {"direction": "max"}),
    "every-eval-ever results": (
        "every_eval_ever/sums/org/small/result.json",
        in_every_eval_ever,
        {"direction": "max"},
    ),
    "tau2-bench": (lambda home: logs.tau2(home) / "gpt-5_airline.json", below("simulations"), {}),
    "terminal-bench": (lambda home: logs.terminal_bench(home) / "run-m1" / "results.json", below("results"), {}),
    "promptfoo": (logs.promptfoo, below("results", "results"), {"selection": "success"}),
    "deepeval": (lambda home: logs.deepeval(home) / "gpt-4o.json", below("testCases"), {}),
}


def places(value, path=()):
    """The paths of all values inside, the containers among them."""
    found = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, part in inner for place in places(part, (*path, key))]


def changed(record, rng):
    """A copy with one value replaced by junk or taken out; sometimes junk in place of the whole."""
    record = copy.deepcopy(record)
    paths = places(record)
    if not paths or rng.random() < 0.05:
        return JUNK[int(rng.integers(len(JUNK)))]
    path = paths[int(rng.integers(len(paths)))]
    owner = record
    for key in path[:-1]:
        owner = owner[key]
    if rng.random() < 0.3:
        del owner[path[-1]]
    else:
        owner[path[-1]] = JUNK[int(rng.integers(len(JUNK)))]
    return record


def check(seed, folder):
    """Whether it was read; raises where a record is neither a trial nor named."""
    rng = np.random.default_rng(seed)
    source, find, options = FORMATS[list(FORMATS)[seed % len(FORMATS)]]
    whole = source(folder / "whole") if callable(source) else HERE / source
    path = folder / whole.name
    records, write = find(whole)
    victim = int(rng.integers(len(records)))
    records = [changed(record, rng) if place == victim else record for place, record in enumerate(records)]
    path.write_text(write(records))
    try:
        trials = lb.read_trials(path, **options)
    except LevelbestError:
        return False
    assert len(trials) + len(trials.skipped) >= len(records), (records[victim], trials.skipped)
    finite = trials.selection[trials.status == 0]
    assert np.isfinite(finite).all()
    return True


def test_records_with_one_value_changed(tmp_path):
    """Refusing all would pass otherwise: nearly all can be read."""
    assert sum(check(seed, tmp_path) for seed in range(130)) >= 110


@pytest.mark.long
def test_many_records_with_one_value_changed(tmp_path):
    assert sum(check(seed, tmp_path) for seed in range(1000, 4000)) >= 2500
