"""Samples read in parts: the same bits whatever the memory and whoever reads them."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from levelbest.cli.main import main
from levelbest.designs.compare import compare
from levelbest.designs.curve import curve, family_curves
from levelbest.errors import DataError, InputError, MissingExtra
from levelbest.readers import read_trials
from levelbest.readers.parts import _ranking as parts
from levelbest.readers.parts import read_in_parts
from levelbest.readers.tables.engine import connect
from levelbest.trials import Trials

OPTIONS = {"group": "problem", "selection": "verifier", "reported": "correct", "direction": "max"}


def large_curves(source, *, n=None, n_resamples=200, failed="worst", **reading):
    """The curves of samples that are read in parts."""
    return family_curves(read_in_parts(source, **reading), n=n, n_resamples=n_resamples, failed=failed)


def write(path, **columns):
    """A Parquet file from lists, in the order given."""
    names = list(columns)
    rows = ", ".join(
        "(" + ", ".join("NULL" if v is None else f"'{v}'" if isinstance(v, str) else f"{v!r}" for v in row) + ")"
        for row in zip(*columns.values(), strict=True)
    )
    kinds = ", ".join(f"{name}::{_kind(columns[name])} AS {name}" for name in names)
    connect().execute(
        f"COPY (SELECT {kinds} FROM (VALUES {rows}) AS t({', '.join(names)})) TO '{path}' (FORMAT parquet)"
    )
    return str(path)


def _kind(values):
    return "VARCHAR" if isinstance(values[0], str) else "INTEGER" if isinstance(values[0], int) else "DOUBLE"


def samples(seed=0, n_problems=23, text=True):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, n_problems)
    code = rng.permutation(np.repeat(np.arange(n_problems), sizes))
    correct = (rng.random(code.size) < rng.random(n_problems)[code]).astype(float)
    verifier = np.round(correct + rng.normal(0, 1, code.size), 1)
    problem = [f"p{i:02d}" for i in code] if text else [int(i) * 7 - 20 for i in code]
    return problem, verifier.tolist(), correct.tolist()


@pytest.mark.parametrize(
    "given",
    [
        ("--status", "state"),
        ("--map", "right=correct"),
        ("--selection-direction", "min"),
        ("--reader-option", "study=a"),
        ("--judge", "verifier"),
    ],
)
def test_an_option_that_parts_do_not_have_is_refused(given, tmp_path, capsys):
    path = write(tmp_path / "a.parquet", problem=["p", "q"], correct=[1.0, 0.0], state=["failed", "ok"])
    options = ("--group", "problem", "--selection", "correct", "--direction", "max", "--memory", "1GB")
    assert main(["curve", path, *options, *given]) == 2
    assert f"samples that are read in parts have no {given[0]};" in capsys.readouterr().err


def test_a_majority_of_samples_without_an_answer_is_refused(tmp_path, capsys):
    path = write(tmp_path / "a.parquet", problem=["p", "p", "q"], correct=[1.0, 0.0, 1.0], said=["", "none", ""])
    options = ("--group", "problem", "--selection", "correct", "--direction", "max", "--answer", "said")
    assert main(["curve", path, *options, "--memory", "1GB", "--statistic", "majority"]) == 2
    assert "a majority needs the answer of each sample" in capsys.readouterr().err


@pytest.mark.parametrize("text", [True, False])
def test_parts_give_the_numbers_of_the_whole(tmp_path, monkeypatch, text):
    problem, verifier, correct = samples(text=text)
    half = len(problem) // 2
    files = [
        write(
            tmp_path / f"s-{i:05d}-of-00002.parquet",
            problem=problem[part],
            verifier=verifier[part],
            correct=correct[part],
        )
        for i, part in enumerate((slice(0, half), slice(half, None)))
    ]
    trials = Trials.from_arrays(verifier, reported=correct, group=problem, direction="max", family="whole")
    whole = curve(trials, n_resamples=200)
    (once,) = large_curves(files, n_resamples=200, **OPTIONS)
    assert once.value == pytest.approx(whole.value, abs=1e-12)
    assert once.problems.n_groups.tolist() == whole.problems.n_groups.tolist()
    assert once.method == "gaffke"
    monkeypatch.setattr(parts, "_ROWS_AT_ONCE", 20)
    (chunked,) = large_curves(files, n_resamples=200, **OPTIONS)
    monkeypatch.setattr(parts, "BYTES", 2_000_000)  # a part holds fifty samples
    (parted,) = large_curves(files, n_resamples=200, memory="200MB", **OPTIONS)
    assert chunked.value == pytest.approx(once.value, abs=1e-12)
    assert parted.problems.by_group.tobytes() == chunked.problems.by_group.tobytes()
    assert parted.low.tobytes() == chunked.low.tobytes()


@pytest.mark.parametrize("direction", ["max", "min"])
def test_counts_are_enough_for_zeros_and_ones(tmp_path, direction):
    problem, _, correct = samples(1)
    scores = [None if i % 11 == 0 else value for i, value in enumerate(correct)]
    path = write(tmp_path / "s.parquet", problem=problem, score=[*scores[1:], scores[0]])
    problem = [*problem]
    values = [np.nan if v is None else v for v in [*scores[1:], scores[0]]]
    for failed in ("worst", "drop"):
        trials = Trials.from_arrays(values, group=problem, direction=direction)
        whole = curve(trials, failed=failed, n_resamples=200)
        (found,) = large_curves(
            path, group="problem", selection="score", direction=direction, failed=failed, n_resamples=200
        )
        assert found.value == pytest.approx(whole.value, abs=1e-12)
        assert found.n_failed == whole.n_failed > 0
        assert any(c.code == "failures" for c in found.cautions)


def test_failed_samples_with_a_verifier(tmp_path):
    problem, verifier, correct = samples(2)
    verifier = [0.5, *(None if i % 7 == 0 else v for i, v in enumerate(verifier[1:]))]
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    values = [np.nan if v is None else v for v in verifier]
    trials = Trials.from_arrays(values, reported=correct, group=problem, direction="max")
    for failed in ("worst", "drop"):
        whole = curve(trials, failed=failed, n_resamples=200)
        (found,) = large_curves(path, failed=failed, n_resamples=200, **OPTIONS)
        assert found.value == pytest.approx(whole.value, abs=1e-12)


def test_from_the_command_line_with_families(tmp_path, capsys):
    problem, verifier, correct = samples(3)
    model = ["a" if i % 2 else "b" for i in range(len(problem))]
    path = write(tmp_path / "s.parquet", model=model, problem=problem, verifier=verifier, correct=correct)
    common = ["--family", "model", "--group", "problem", "--selection", "verifier", "--reported", "correct"]
    assert main(["curve", path, *common, "--direction", "max", "--memory", "1GB", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["family"] for one in document["families"]] == ["a", "b"]
    assert main(["curve", path, *common, "--memory", "1GB"]) == 2
    assert "need --direction" in capsys.readouterr().err
    assert main(["curve", path, *common, "--direction", "max", "--memory", "1GB", "--statistic", "median"]) == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"memory": "1"}, InputError, "at least 200MB, written like 4GB, got '1'"),
        ({"group": "problm"}, InputError, "no column 'problm'; did you mean 'problem'"),
        ({"engine": "spark"}, InputError, "unknown engine 'spark'"),
        ({"where": "nothing > 3"}, InputError, "no column 'nothing'"),
        ({"where": "true); SELECT (true"}, InputError, "must be one condition"),
        ({"where": "verifier >"}, InputError, "must be one condition.*got 'verifier >'"),
        ({"where": "verifier > 1e9"}, DataError, "none of 0 samples has a score"),
        ({"n": 100}, InputError, "at most the samples of a problem, 8, got 100"),
    ],
)
def test_what_is_refused(tmp_path, options, error, message):
    problem, verifier, correct = samples(4)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    with pytest.raises(error, match=message):
        large_curves(path, **(OPTIONS | options))


def test_other_files_and_missing_scores_are_refused(tmp_path):
    text = tmp_path / "s.csv"
    text.write_text("problem,verifier,correct\n1,2,3\n")
    with pytest.raises(InputError, match=r"must be Parquet, got s\.csv"):
        large_curves(str(text), **OPTIONS)
    path = write(tmp_path / "s.parquet", problem=["a", "a"], verifier=[0.5, 1.0], correct=[1.0, None])
    with pytest.raises(DataError, match="known for 1 of 2 finished samples; say how to treat the others"):
        large_curves(path, **OPTIONS)


def test_without_ray_it_says_how_to_get_it(tmp_path, monkeypatch):
    problem, verifier, correct = samples(5)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"levelbest\[ray\]"):
        large_curves(path, engine="ray", **OPTIONS)


@pytest.mark.long
def test_two_workers_give_the_same_bits_as_none(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    problem, verifier, correct = samples(6, n_problems=60)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    monkeypatch.setattr(parts, "_ROWS_AT_ONCE", 60)
    monkeypatch.setattr(parts, "BYTES", 1_000_000)
    (alone,) = large_curves(path, memory="200MB", **OPTIONS)
    (both,) = large_curves(path, memory="200MB", engine="ray", workers=2, **OPTIONS)
    assert both.problems.by_group.tobytes() == alone.problems.by_group.tobytes()
    assert both.low.tobytes() == alone.low.tobytes()


def two_systems(tmp_path, seed=7, **more):
    """Two systems on mostly the same problems, with weights, strata and sample ids."""
    problem, verifier, correct = samples(seed, n_problems=30)
    place: dict[tuple[str, str], int] = {}
    model = ["a" if i % 2 else "b" for i in range(len(problem))]
    ids = []
    for key in zip(model, problem, strict=True):
        ids.append(place.get(key, 0))
        place[key] = ids[-1] + 1
    columns = {"model": model, "problem": problem, "sample": ids, "verifier": verifier, "correct": correct}
    columns["level"] = ["easy" if p < "p15" else "hard" for p in problem]
    columns["points"] = [1.0 + int(p[1:]) % 3 for p in problem]
    columns |= more
    return write(tmp_path / "s.parquet", **columns), columns


NAMED = ["--family", "model", "--group", "problem", "--direction", "max"]
VERIFIED = [*NAMED, "--selection", "verifier", "--reported", "correct"]


@pytest.mark.parametrize("more", [[], ["--weight", "points", "--stratum", "level"], ["--statistic", "all"]])
@pytest.mark.parametrize("named", [VERIFIED, [*NAMED, "--selection", "correct"]])
def test_curves_and_comparisons_are_those_of_the_whole(tmp_path, capsys, monkeypatch, named, more):
    path, _ = two_systems(tmp_path)
    monkeypatch.setattr(parts, "_ROWS_AT_ONCE", 20)
    documents = {}
    for command in ("curve", "compare"):
        for memory in ([], ["--memory", "1GB"]):
            assert main([command, path, *named, *more, *memory, "--resamples", "500", "--json"]) == 0
            documents[command, bool(memory)] = json.loads(capsys.readouterr().out)
    for whole in documents["curve", False]["families"]:
        (large,) = (one for one in documents["curve", True]["families"] if one["family"] == whole["family"])
        for key in ("n_trials", "n_groups", "weighted", "statistic"):
            assert large[key] == whole[key]
        for one, other in zip(large["points"], whole["points"], strict=True):
            assert one["value"] == pytest.approx(other["value"], abs=1e-12)
            assert one["n_groups"] == other["n_groups"]
            assert one["high"] == pytest.approx(other["high"], abs=0.04)  # problems in another order: other draws
        strata = [[(s["stratum"], s["points"][0]["value"]) for s in of.get("strata", [])] for of in (large, whole)]
        assert [name for name, _ in strata[0]] == [name for name, _ in strata[1]]
        assert [value for _, value in strata[0]] == pytest.approx([value for _, value in strata[1]], abs=1e-12)
    large, whole = documents["compare", True], documents["compare", False]
    pair, same = large["comparisons"][0], whole["comparisons"][0]
    sign = 1 if pair["families"] == same["families"] else -1
    assert len(pair["points"]) == len(same["points"])
    for one, other in zip(pair["points"], same["points"], strict=True):
        assert one["difference"] == pytest.approx(sign * other["difference"], abs=1e-12)
    assert sorted(pair["n_trials"]) == sorted(same["n_trials"])
    assert pair["paired"] is True
    assert [one["stratum"] for one in large.get("strata", [])] == [one["stratum"] for one in whole.get("strata", [])]
    codes = [sorted(c["code"] for c in one["warnings"] if c["code"] != "guessed-columns") for one in (large, whole)]
    assert set(codes[0]) - set(codes[1]) == set()


def test_failures_and_problems_apart_are_said_of_large_tables(tmp_path, capsys):
    path, columns = two_systems(tmp_path)
    columns["verifier"] = [None if i % 9 == 0 and i else v for i, v in enumerate(columns["verifier"])]
    columns["problem"] = [
        f"{p}x" if p == "p03" and m == "a" else p for p, m in zip(columns["problem"], columns["model"], strict=True)
    ]
    path = write(tmp_path / "t.parquet", **columns)
    whole, large = [], []
    for memory, said in (([], whole), (["--memory", "1GB"], large)):
        assert main(["compare", path, *VERIFIED, *memory, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        said += [c["message"] for c in document["warnings"] if c["code"] in ("failures", "unequal-groups")]
        said.append(sorted(document["comparisons"][0]["n_failed"]))
        assert document["comparisons"][0]["survives_other_failure_policy"] is not None
    assert any("p03x" in str(one) and "they are left out of the comparison" in str(one) for one in large)
    assert any("samples failed and are counted as the worst score" in str(one) for one in large)
    assert large[-1] == whole[-1]
    assert main(["compare", path, *VERIFIED, "--memory", "1GB", "--paired"]) == 2
    assert "are not in every family (" in " ".join(capsys.readouterr().err.split())
    assert main(["compare", path, *VERIFIED, "--memory", "1GB", "--unpaired", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"][0]["paired"] is False


def test_repeated_sample_ids_of_large_tables(tmp_path, capsys):
    path, columns = two_systems(tmp_path)
    last = {name: [*column, column[0]] for name, column in columns.items()}
    path = write(tmp_path / "twice.parquet", **last)
    for named in (VERIFIED, [*NAMED, "--selection", "correct"]):
        for more in ([], ["--trial", "sample"], ["--seed-column", "sample"]):
            assert main(["curve", path, *named, "--memory", "1GB", *more]) == 1
            said = " ".join(capsys.readouterr().err.split())
            first = f"(first: {columns['sample'][0]} of problem {columns['problem'][0]})"
            assert f"1 sample id occurs more than once within a problem, with the same scores {first}" in said
    last["verifier"][-1] += 1
    path = write(tmp_path / "other.parquet", **last)
    assert main(["curve", path, *VERIFIED, "--memory", "1GB", "--details"]) == 0
    assert "they count as separate samples" in " ".join(capsys.readouterr().out.split())
    # a whole file twice
    path, _ = two_systems(tmp_path)
    again = write(tmp_path / "copy.parquet", **columns)
    assert main(["curve", path, again, *VERIFIED, "--memory", "1GB"]) == 1
    assert "was a file read twice?" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*VERIFIED, "--weight", "verifier"], "a problem has one weight"),
        ([*VERIFIED, "--stratum", "model2"], "there is no column 'model2'"),
        ([*VERIFIED, "--search", "points"], "have no --search"),
        ([*NAMED, "--selection", "verifier", "--statistic", "all"], "is for scores 0 and 1 with direction max"),
        ([*VERIFIED, "--n", "500"], "n must be at most the samples of a problem"),
    ],
)
def test_what_large_tables_do_not_have(tmp_path, capsys, options, message):
    path, _ = two_systems(tmp_path)
    assert main(["curve", path, *options, "--memory", "1GB"]) in (1, 2)
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("missing", ["drop", "worst", "selection"])
def test_missing_reported_scores_of_large_tables(tmp_path, capsys, missing):
    _, columns = two_systems(tmp_path)
    columns["correct"] = [0.0, *(None if i % 6 == 0 else v for i, v in enumerate(columns["correct"][1:]))]
    path = write(tmp_path / "t.parquet", **columns)
    documents = []
    for memory in ([], ["--memory", "1GB"]):
        options = [*VERIFIED, "--missing-reported", missing, "--resamples", "300", "--json"]
        assert main(["curve", path, *options, *memory]) == 0
        found = json.loads(capsys.readouterr().out)["families"]
        documents.append(sorted(found, key=lambda one: one["family"]))
    for one, other in zip(*documents, strict=True):
        assert (one["family"], one["n_trials"], one["n_failed"]) == (
            other["family"],
            other["n_trials"],
            other["n_failed"],
        )
        for key in ("value", "low", "high"):
            assert [p[key] for p in one["points"]] == pytest.approx([p[key] for p in other["points"]], abs=1e-9)


def test_one_sample_each_in_a_large_table(tmp_path, capsys):
    path = write(tmp_path / "s.parquet", problem=[f"p{i}" for i in range(9)], correct=[float(i % 2) for i in range(9)])
    options = ["--group", "problem", "--selection", "correct", "--direction", "max", "--memory", "1GB"]
    assert main(["curve", path, *options, "--n", "4"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "every one of the 9 problems of 'problem' has one sample, so the best of n = 4 is unknown" in said
    assert main(["curve", path, *options]) == 0
    assert "every problem of 'problem' has one sample" in " ".join(capsys.readouterr().out.split())


def test_a_report_of_a_large_table_is_that_of_the_whole(tmp_path, capsys):
    path, _ = two_systems(tmp_path)
    documents = []
    for i, memory in enumerate(([], ["--memory", "1GB"])):
        out = tmp_path / f"page{i}.html"
        more = ["--weight", "points", "--stratum", "level", "--headline", "2", "--resamples", "500"]
        assert main(["report", path, *VERIFIED, *more, *memory, "--out", str(out), "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    whole, large = documents
    assert [one["title"] for one in large["sections"]] == [one["title"] for one in whole["sections"]]
    assert large["n_groups"] == whole["n_groups"]
    assert large["headline"] == whole["headline"] == 2
    for one in large["families"]:
        (same,) = (other for other in whole["families"] if other["name"] == one["name"])
        assert one["n_trials"] == same["n_trials"]
        assert one["headline"][0] == pytest.approx(same["headline"][0], abs=1e-12)
        assert one["winner"] == pytest.approx(same["winner"], abs=1e-12)
    rows = [sorted(tuple(row) for row in view["sections"][0]["rows"] if row[1] in "12") for view in documents]
    assert rows[0] == rows[1]  # oracle, verifier and random
    assert "weighted by points" in large["methods"]
    page = (tmp_path / "page1.html").read_text(encoding="utf-8")
    assert "What the verifier gains" in page
    assert "Every sample" not in page
    assert 'id="figure-distributions"' not in page
    assert not (tmp_path / "page1" / "trials.csv").exists()
    assert (tmp_path / "page1" / "families.tex").exists()
    alone = ["--group", "problem", "--selection", "correct", "--direction", "max", "--memory", "1GB"]
    only = ["--where", "model = 'a'", "--out", str(tmp_path / "page2.html")]
    assert main(["report", path, *alone, *only]) == 0
    assert "pass@1 (correct) is" in " ".join(capsys.readouterr().out.split())


def test_each_file_is_a_family_as_when_it_is_held(tmp_path, capsys):
    problem, _, correct = samples(11)
    half = len(problem) // 2
    for name, part in (("model_A", slice(0, half)), ("model_B", slice(half, None))):
        write(tmp_path / f"{name}.parquet", problem=problem[part], correct=correct[part])
    files = [str(tmp_path / f"model_{one}.parquet") for one in "AB"]
    options = ["--group", "problem", "--selection", "correct", "--direction", "max", "--json"]
    documents = []
    for memory in ([], ["--memory", "1GB"]):
        assert main(["curve", *files, *options, *memory]) == 0
        documents.append(json.loads(capsys.readouterr().out)["families"])
    whole, large = documents
    assert [one["family"] for one in large] == [one["family"] for one in whole] == ["model_A", "model_B"]
    for one, other in zip(large, whole, strict=True):
        assert [p["value"] for p in one["points"]] == pytest.approx([p["value"] for p in other["points"]], abs=1e-12)
    assert main(["compare", *files, *options, "--memory", "1GB"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"][0]["families"] == ["model_A", "model_B"]


def test_parts_of_one_table_are_one_family_held_or_not(tmp_path, capsys):
    problem, _, correct = samples(11)
    half = len(problem) // 2
    for i, part in enumerate((slice(0, half), slice(half, None))):
        write(tmp_path / f"run-{i:05d}-of-00002.parquet", problem=problem[part], correct=correct[part])
    for memory in ([], ["--memory", "1GB"]):
        options = ["--group", "problem", "--selection", "correct", "--direction", "max", "--json", *memory]
        assert main(["curve", str(tmp_path / "run-*.parquet"), *options]) == 0
        (one,) = json.loads(capsys.readouterr().out)["families"]
        assert (one["family"], one["n_trials"]) == ("run", len(problem))


def test_a_problem_has_one_name_in_files_that_store_it_differently(tmp_path):
    columns = {"correct": [0.0, 1.0, 1.0, 1.0]}
    files = [
        write(tmp_path / "a.parquet", problem=[1, 1, 2, 2], **columns),
        write(tmp_path / "b.parquet", problem=["1", "1", "2", "2"], **columns),
    ]
    options = {"group": "problem", "selection": "correct", "direction": "max"}
    assert [one.problems.groups.tolist() for one in large_curves(files, **options)] == [["1", "2"], ["1", "2"]]


def test_columns_may_have_any_name(tmp_path):
    path, columns = two_systems(tmp_path)
    plain = large_curves(path, family="model", **OPTIONS)
    odd = dict.fromkeys(("id", "g", "r", "s", "v", "ok", "other"), columns["level"])
    odd["id"] = [None if i else "x" for i in range(len(columns["model"]))]
    path = write(tmp_path / "odd.parquet", **columns, **odd)
    named = large_curves(path, family="model", **OPTIONS)
    assert [one.problems.value.tolist() for one in named] == [one.problems.value.tolist() for one in plain]
    # an id that is missing elsewhere does not hide that a sample repeats
    again = {name: [*column, column[-1]] for name, column in (columns | odd).items()}
    with pytest.raises(DataError, match="more than once within a problem"):
        large_curves(write(tmp_path / "again.parquet", **again), family="model", **OPTIONS)
    for name in ("id", "g"):
        renamed = {(name if key == "model" else key): column for key, column in columns.items()}
        path = write(tmp_path / f"{name}.parquet", **renamed)
        found = large_curves(path, family=name, **OPTIONS)
        assert [one.problems.value.tolist() for one in found] == [one.problems.value.tolist() for one in plain]


@pytest.mark.parametrize("failed", ["worst", "drop"])
def test_the_oracle_fails_where_the_verifier_does(tmp_path, capsys, failed):
    path, columns = two_systems(tmp_path)
    lost = [p == "p03" or (i % 5 == 0 and i > 0) for i, p in enumerate(columns["problem"])]
    columns["verifier"] = [None if gone else v for gone, v in zip(lost, columns["verifier"], strict=True)]
    columns["verifier"][0] = columns["verifier"][0] or 0.5
    columns["correct"] = [1.0 if gone else c for gone, c in zip(lost, columns["correct"], strict=True)]
    path = write(tmp_path / "lost.parquet", **columns)
    rows = []
    for i, memory in enumerate(([], ["--memory", "1GB"])):
        out = ["--out", str(tmp_path / f"page{i}.html"), "--headline", "1", "--resamples", "300", "--json"]
        assert main(["report", path, *VERIFIED, "--failed", failed, *memory, *out]) == 0
        section = json.loads(capsys.readouterr().out)["sections"][0]
        rows.append(sorted(tuple(row) for row in section["rows"] if row[1] in ("1", "2")))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 4


def test_small_and_negative_problem_numbers(tmp_path):
    problem, verifier, correct = samples(12, text=False)  # -20 to 134 by sevens
    code = [one // 7 * 11 - 97 for one in problem]
    path = write(tmp_path / "wide.parquet", problem=code, verifier=verifier, correct=correct)
    connect().execute(
        f"COPY (SELECT * REPLACE (problem::TINYINT AS problem) FROM '{path}' WHERE problem BETWEEN -128 AND 127) "
        f"TO '{tmp_path / 'small.parquet'}' (FORMAT parquet)"
    )
    (wide,) = large_curves(path, where="problem BETWEEN -128 AND 127", **OPTIONS)
    (small,) = large_curves(str(tmp_path / "small.parquet"), **OPTIONS)
    assert small.problems.groups.tolist() == wide.problems.groups.tolist()
    assert min(map(int, wide.problems.groups)) < -100
    assert max(map(int, wide.problems.groups)) > 100
    assert small.problems.by_group.tobytes() == wide.problems.by_group.tobytes()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (["high", "low"], "a finite number, and 'p0.' has 'high' in 'w'"),
        ([float("inf"), 1.0], "a finite number, and 'p0.' has inf in 'w'"),
        ([float("nan"), 1.0], "a finite number, and 'p0.' has nan in 'w'"),
    ],
)
def test_weights_that_are_no_numbers_are_refused(tmp_path, weight, message):
    problem, verifier, correct = samples(13)
    column = [str(weight[int(p[1:]) > 3]) for p in problem]
    path = write(tmp_path / "text.parquet", problem=problem, verifier=verifier, correct=correct, w=column)
    if not isinstance(weight[0], str):
        text, path = path, str(tmp_path / "w.parquet")
        connect().execute(f"COPY (SELECT * REPLACE (w::DOUBLE AS w) FROM '{text}') TO '{path}' (FORMAT parquet)")
    with pytest.raises(DataError, match=message):
        large_curves(path, weight="w", **OPTIONS)


def test_the_engine_is_left_as_it_was(tmp_path):
    problem, verifier, correct = samples(14)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    asked = "SELECT current_setting('memory_limit')"
    before = connect().execute(asked).fetchone()
    large_curves(path, memory="200MB", **OPTIONS)
    with pytest.raises(InputError):
        large_curves(path, memory="200MB", where="nothing > 3", **OPTIONS)
    assert connect().execute(asked).fetchone() == before
    kinds = connect().execute("SELECT type_name FROM duckdb_types() WHERE type_name LIKE 'levelbest%'").fetchall()
    assert kinds == []


def test_two_tables_are_read_at_once(tmp_path):
    paths = []
    for name in "pq":
        problem, verifier, correct = samples(15)
        problem = [name + one for one in problem]
        paths.append(write(tmp_path / f"{name}.parquet", problem=problem, verifier=verifier, correct=correct))

    def values(path):
        return large_curves(path, **OPTIONS)[0].problems.by_group.tobytes()

    alone = [values(path) for path in paths]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(values, paths * 10)) == alone * 10


def test_a_condition_writes_nothing(tmp_path):
    problem, verifier, correct = samples(16)
    path = write(tmp_path / "s.parquet", problem=problem, verifier=verifier, correct=correct)
    made = tmp_path / "made.csv"
    for where in (f"true); COPY (SELECT 1) TO '{made}'; SELECT (true", f"true; COPY (SELECT 1) TO '{made}'"):
        with pytest.raises(InputError, match="one condition"):
            large_curves(path, where=where, **OPTIONS)
    assert not made.exists()
    (some,) = large_curves(path, where="problem = 'p00' OR problem = 'p01'", **OPTIONS)
    assert some.problems.groups.tolist() == ["p00", "p01"]


def _priced(tmp_path, n_problems=30, most=25):
    """Samples with answers and tokens, of 4 to 25 a problem: every subset for some, random orders for others."""
    rng = np.random.default_rng(5)
    rows = {name: [] for name in ("model", "problem", "correct", "verifier", "answer", "tokens_in", "tokens_out")}
    for model, extra in (("small", 0.0), ("large", 0.2)):
        for problem in rng.permutation(n_problems):
            rate = min(rng.beta(1, 1) + extra, 1)
            for _ in range(rng.integers(4, most + 1)):
                right = rng.random() < rate
                rows["model"].append(model)
                rows["problem"].append(f"p{problem}")
                rows["correct"].append(float(right) if rng.random() < 0.95 else None)
                rows["verifier"].append(float(np.round(right + rng.normal(), 1)))
                rows["answer"].append("A" if right else str(rng.choice(["B", "C", ""])))
                rows["tokens_in"].append(int(rng.integers(100, 400)))
                rows["tokens_out"].append(int(rng.integers(50, 900)))
    return write(tmp_path / "samples.parquet", **rows)


@pytest.mark.parametrize("failed", ["worst", "drop"])
@pytest.mark.parametrize("reported", [None, "correct"])
def test_money_and_votes_in_parts_give_the_numbers_of_the_whole(tmp_path, monkeypatch, failed, reported):
    path = _priced(tmp_path)
    selection = "verifier" if reported else "correct"
    reading = {"family": "model", "group": "problem", "selection": selection, "reported": reported, "direction": "max"}
    reading |= {"cost": {"input": 3, "output": 15}, "answer": "answer"}
    monkeypatch.setattr(parts, "_ROWS_AT_ONCE", 60)  # so that there are several
    inside = read_in_parts(path, **reading, memory="1GB")
    whole = read_trials(path, **reading)
    how = {"failed": failed, "missing": "worst", "n_resamples": 200}
    for more in ({"axis": "cost"}, {"statistic": "majority"}, {"axis": "cost", "statistic": "majority"}, {}):
        both = (
            sorted(family_curves(table, **more, **how), key=lambda curve: curve.family) for table in (inside, whole)
        )
        for first, second in zip(*both, strict=True):
            assert first.family == second.family
            for name in ("value", "low", "high", "monte_carlo_error", "nothing_finished", "cost"):
                if hasattr(first, name):
                    assert np.array(getattr(first, name)) == pytest.approx(np.array(getattr(second, name)), abs=1e-12)
    answers = [compare(table, n=[1, 2], **how).to_dict() for table in (inside, whole)]
    assert answers[0]["comparisons"][0]["verdicts"] == answers[1]["comparisons"][0]["verdicts"]
    if reported is None:
        first, second = (
            {row["family"]: [row["value"], row["low"], row["high"]] for row in answer["spend_per_solved"]}
            for answer in answers
        )
        assert sorted(first) == sorted(second) == ["large", "small"]
        for name, limits in first.items():
            assert limits == pytest.approx(second[name], rel=1e-9)


def test_a_cost_that_is_missing_or_negative_is_refused_in_parts_as_in_whole(tmp_path):
    options = {"group": "problem", "selection": "correct", "direction": "max", "cost": "cost"}
    columns = {"problem": ["a", "a", "b", "b"], "correct": [1.0, 0.0, 1.0, 0.0]}
    lacking = write(tmp_path / "lacking.parquet", **columns, cost=[1.0, 2.0, None, 1.0])
    with pytest.raises(InputError, match="needs the cost of every sample"):
        family_curves(read_in_parts(lacking, **options), axis="cost")
    negative = write(tmp_path / "negative.parquet", **columns, cost=[1.0, 2.0, -3.0, 1.0])
    with pytest.raises(DataError, match="a cost is at least 0, got -3"):
        family_curves(read_in_parts(negative, **options), axis="cost")
