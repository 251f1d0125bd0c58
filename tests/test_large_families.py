"""Families read in parts against the same families held: what is left out, what must agree, where they are compared."""

import json

import pytest

from levelbest.cli.main import main
from levelbest.designs.compare import compare
from levelbest.designs.curve import family_curves
from levelbest.errors import DataError, InputError
from levelbest.readers import read_trials
from levelbest.readers.parts import read_in_parts
from levelbest.readers.tables.engine import connect
from levelbest.report.build import build_view

OPTIONS = {"family": "model", "group": "problem", "selection": "correct", "direction": "max"}


READING = ("family", "group", "selection", "reported", "direction", "weight", "stratum", "where")


def _parted(path, options):
    return read_in_parts(path, **{key: options.pop(key) for key in READING if key in options})


def compare_large(path, **options):
    """The comparison of samples that are read in parts."""
    return compare(_parted(path, options), **options)


def build_large_view(path, **options):
    """The report of samples that are read in parts."""
    return build_view(_parted(path, options), **options)


def table(tmp_path, columns, n_problems=12, samples=8, condition="true"):
    """Systems a and b on numbered problems; ``columns`` are further ones in SQL, of model, problem and sample."""
    path = tmp_path / "s.parquet"
    connect().execute(
        f"COPY (SELECT *, {columns} FROM (SELECT model, p AS problem, s AS sample, "
        "CAST((p * 7 + s * 5 + length(model) * 3 + (p * s) % 5 + (model = 'b')::INT) % 3 = 0 AS DOUBLE) AS correct "
        f"FROM (VALUES ('a'), ('b')) AS m(model), range({n_problems}) AS t(p), range({samples}) AS u(s)) "
        f"WHERE {condition} ORDER BY model, problem, sample) TO '{path}' (FORMAT parquet)"
    )
    return str(path)


def messages(found, code):
    return [caution.sentence for caution in found.cautions if caution.code == code]


def test_rows_of_no_problem_or_family_are_counted(tmp_path):
    path = table(tmp_path, "nullif(problem, 3) AS task, nullif(model, CASE WHEN sample = 0 THEN 'b' END) AS who")
    first, second = family_curves(read_in_parts(path, **(OPTIONS | {"group": "task"})))
    for one in (first, second):
        assert one.n_trials == 88
        assert messages(one, "skipped-rows") == ["8 rows have no problem in 'task' and are left out"]
    first, second = family_curves(read_in_parts(path, **(OPTIONS | {"family": "who"})))
    assert (first.n_trials, second.n_trials) == (96, 84)
    assert messages(first, "skipped-rows") == ["12 rows have no who and are left out"]
    found = compare_large(path, n_resamples=200, **(OPTIONS | {"group": "task"}))
    assert len(messages(found, "skipped-rows")) == 2


@pytest.mark.parametrize("failed", ["worst", "drop"])
def test_strata_count_their_own_failures(tmp_path, failed):
    lost = "CASE WHEN problem < 6 AND sample < 2 OR problem = 4 AND model = 'a' THEN NULL ELSE correct END AS solved"
    path = table(tmp_path, f"{lost}, CASE WHEN problem < 6 THEN 'easy' ELSE 'hard' END AS level")
    options = OPTIONS | {"selection": "solved", "stratum": "level"}
    large = compare_large(path, failed=failed, n_resamples=200, **options)
    whole = compare(read_trials(path, **options), failed=failed, n_resamples=200)
    assert [label for label, _ in large.strata] == ["easy", "hard"]
    for (_, one), (_, other) in zip(large.strata, whole.strata, strict=True):
        assert one.pairs[0].n_failed == other.pairs[0].n_failed
        assert one.pairs[0].n_trials == other.pairs[0].n_trials
    assert large.strata[0][1].pairs[0].n_failed == (18, 12)
    assert "none failed" not in large.strata[0][1].pairs[0].sentence
    assert "none failed" in large.strata[1][1].pairs[0].sentence


@pytest.mark.parametrize(
    ("column", "role", "message"),
    [
        ("CASE WHEN model = 'a' AND problem = 2 THEN 50.0 ELSE 1.0 END", "weight", "one weight, and 2 has 50.0 in"),
        ("CASE WHEN model = 'a' AND problem = 2 THEN 'x' ELSE 'y' END", "stratum", "one stratum, and 2 has x in"),
    ],
)
def test_families_that_say_different_things_of_a_problem_are_refused(tmp_path, column, role, message):
    path = table(tmp_path, f"{column} AS said")
    with pytest.raises(DataError, match=f"a problem has one {role}"):
        read_trials(path, **{role: "said"}, **OPTIONS)
    with pytest.raises(DataError, match=message):
        compare_large(path, **{role: "said"}, **OPTIONS)


@pytest.mark.parametrize("paired", [None, False])
def test_budgets_are_those_of_the_problems_compared(tmp_path, paired):
    # each system has many samples of problems that the other one has not
    alone = "(sample < 3 OR model = 'a' AND problem < 5 OR model = 'b' AND problem >= 7)"
    apart = "NOT (model = 'a' AND problem >= 8) AND NOT (model = 'b' AND problem < 4)"
    path = table(tmp_path, "1 AS one", condition=f"{alone} AND {apart}")
    options = {"paired": paired, "n_resamples": 200}
    large = compare_large(path, **options, **OPTIONS).pairs[0]
    whole = compare(read_trials(path, **OPTIONS), **options).pairs[0]
    assert large.budget.tolist() == whole.budget.tolist()
    assert large.difference == pytest.approx(whole.difference, abs=1e-12, nan_ok=True)
    most = 8
    with pytest.raises(InputError):
        compare_large(path, n=most + 1, **options, **OPTIONS)


def test_a_family_with_too_few_samples_is_named(tmp_path):
    path = table(tmp_path, "CASE WHEN model = 'a' AND sample < 2 THEN 'c' ELSE model END AS who", samples=9)
    options = OPTIONS | {"family": "who"}
    for found in (lambda: compare_large(path, n=4, **options), lambda: compare(read_trials(path, **options), n=4)):
        with pytest.raises(InputError, match="c: n must be at most the samples of a problem, 2, got 4"):
            found()


def test_the_headline_is_the_one_that_was_asked_for(tmp_path, capsys):
    path = table(tmp_path, "((problem * 31 + sample * 17) % 97) / 97 AS score", n_problems=4, samples=300)
    options = OPTIONS | {"selection": "score", "reported": "correct"}
    for more in ({}, {"where": "model = 'a'"}):
        large = build_large_view(path, headline=50, n_resamples=200, **options, **more)
        assert large.headline == 50
        assert "n = 50" in large.methods
    whole = build_view(read_trials(path, **options), headline=50, n_resamples=200)
    large = build_large_view(path, headline=50, n_resamples=200, **options)
    for one, other in zip(large.families, whole.families, strict=True):
        assert one.headline[0] == pytest.approx(other.headline[0], abs=1e-12)
    named = ["--family", "model", "--group", "problem", "--selection", "correct", "--direction", "max"]
    out = ["--out", str(tmp_path / "page.html"), "--headline", "50", "--resamples", "200", "--json", "--memory", "1GB"]
    assert main(["report", path, *named, *out]) == 0
    assert json.loads(capsys.readouterr().out)["headline"] == 50
