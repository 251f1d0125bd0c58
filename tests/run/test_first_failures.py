"""A study that cannot work stops after three trials and says why, and a family can begin again, on record."""

import sqlite3

import pytest

from levelbest.cli.main import main
from levelbest.readers import read_trials
from levelbest.run.verify import verify_ledger

STUDY = """
seed: 0
metric: {selection: dev, direction: max}
n_trials: 8
families:
  good: {command: "sh good.sh {x}", space: {x: {uniform: [0, 1]}}}
  bad: {command: "sh run.sh {x}", space: {x: {uniform: [0, 1]}}}
"""
PRINTS = """echo '{"dev": '$1'}'"""


def ran(folder, *options):
    return main(["run", str(folder / "s.yaml"), "--quiet", "--workers", "1", *options])


def ended(folder, family):
    connection = sqlite3.connect(folder / "s.db")
    (count,) = connection.execute("SELECT count(*) FROM trials WHERE family = ?", [family]).fetchone()
    connection.close()
    return count


@pytest.fixture
def study(tmp_path):
    (tmp_path / "s.yaml").write_text(STUDY)
    (tmp_path / "good.sh").write_text(PRINTS)
    (tmp_path / "run.sh").write_text("echo no file data-$1.csv >&2; exit 3")
    return tmp_path


def test_the_same_error_three_times_ends_the_session_and_nothing_more_is_spent(study, capsys):
    assert ran(study) == 1
    said = capsys.readouterr().err
    assert "the first 3 trials of bad failed with the same error: exit code 3: no file data-" in said
    assert "--redo bad" in said
    assert (study / "s.db.logs" / said.partition("s.db.logs/")[2].partition(")")[0]).read_text().startswith("no file")
    assert ended(study, "bad") == 3
    assert verify_ledger(study / "s.db").whole
    assert ran(study) == 0  # who runs it again wants to go on
    assert (ended(study, "good"), ended(study, "bad")) == (8, 8)


def test_a_family_begins_again_on_record(study, capsys):
    assert ran(study) == 1
    (study / "run.sh").write_text(PRINTS)
    assert ran(study, "--redo", "bad") == 0
    assert (ended(study, "good"), ended(study, "bad"), ended(study, "bad-2")) == (8, 3, 8)
    assert ran(study) == 0  # the same command means the family that runs now
    assert ended(study, "bad") == 3
    verified = verify_ledger(study / "s.db")
    assert verified.whole
    assert [counts[:3] for counts in verified.families] == [("good", 8, 8), ("bad", 8, 3), ("bad-2", 8, 8)]
    assert {"good", "bad-2"} <= {*read_trials(study / "s.db").families}
    configs = {}
    connection = sqlite3.connect(study / "s.db")
    for family, config in connection.execute("SELECT family, config FROM trials WHERE trial < 3"):
        configs.setdefault(family, []).append(config)
    connection.close()
    assert not {*configs["bad"]} & {*configs["bad-2"]}
    capsys.readouterr()
    assert ran(study, "--redo", "bda") == 2
    assert "bad" in capsys.readouterr().err


@pytest.mark.parametrize(
    "script",
    ["exit $((3 + LEVELBEST_TRIAL % 2))", "echo '{\"dev\": NaN}'", "sleep 9"],
    ids=["different errors", "diverged", "too slow"],
)
def test_other_failures_are_results(study, script):
    (study / "run.sh").write_text(script)
    (study / "s.yaml").write_text(STUDY.replace("n_trials: 8", "n_trials: 4\ntime_limit: 0.3 s"))
    assert ran(study) == 0
    assert ended(study, "bad") == 4


@pytest.mark.parametrize(
    ("metric", "missing"),
    [
        ("{selection: dev}", "metric: direction"),
        ("{direction: max}", "metric: selection"),
        ("null", "metric"),
    ],
)
def test_the_entry_that_is_missing_is_named(study, capsys, metric, missing):
    (study / "s.yaml").write_text(STUDY.replace("{selection: dev, direction: max}", metric))
    assert ran(study) == 2
    assert f"the entry {missing} is missing" in capsys.readouterr().err


def test_the_help_shows_a_study_that_is_one(tmp_path, capsys):
    from levelbest.run.study_file import read_study

    with pytest.raises(SystemExit):
        raise SystemExit(main(["run", "--help"]))
    lines = capsys.readouterr().out.splitlines()
    first = next(k for k, line in enumerate(lines) if line.strip() == "seed: 0")
    last = next(k for k in range(first, len(lines)) if not lines[k].strip())
    (tmp_path / "s.yaml").write_text("\n".join(line.removeprefix("  ") for line in lines[first:last]))
    assert [family.name for family in read_study(tmp_path / "s.yaml").families] == ["cnn", "forest"]
