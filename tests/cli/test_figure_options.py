"""The scale of a figure of curves, and published scores in the colour of their family."""

import numpy as np
import pytest
from click.testing import CliRunner

from levelbest import family_curves, read_trials
from levelbest.cli.main import cli
from levelbest.errors import InputError
from levelbest.report.figures.curves import line_style
from levelbest.report.figures.panels import draw_lines, panel_of_curves


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{name},{score:.4f},{cost:.2f}" for name in ("cnn", "rnn") for score, cost in rng.random((20, 2)) + 0.1]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["model,val_acc,seconds", *rows]))
    return path


@pytest.mark.parametrize("command", ["curve", "compare", "report"])
def test_each_option_changes_the_figure(table, tmp_path, command):
    run, drawn = CliRunner(), {}
    options = [[], ["--log"], ["--published", "cnn=0.9"], ["--published", "Smith 2019=0.9"]]
    for i, extra in enumerate(options):
        out = tmp_path / (f"{i}.html" if command == "report" else f"{i}.svg")
        written = out if command != "report" else tmp_path / str(i) / "curves.svg"
        told = run.invoke(
            cli, [command, str(table), "--direction", "max", "--resamples", "200", "--out", str(out), *extra]
        )
        assert told.exit_code == 0, told.output
        drawn[i] = written.read_bytes()
    assert len(set(drawn.values())) == len(options)


def test_a_published_score_has_the_colour_of_its_family(table):
    curves = family_curves(read_trials(str(table), direction="max"))
    ax = draw_lines(panel_of_curves(curves, published={"rnn": 0.8, "Smith 2019": 0.7}))
    lines = [line for line in ax.lines if line.get_label() != "_crossing"]
    dashed = {float(line.get_ydata()[0]): line.get_color() for line in lines if len(set(line.get_ydata())) == 1}
    assert dashed[0.8] == line_style(1)[0]
    assert dashed[0.7] == "0.35"
    assert "rnn, published" in [text.get_text() for text in ax.texts]


def test_a_published_score_is_a_name_and_a_number(table):
    for wrong in ("0.9", "=0.9", "a=b"):
        told = CliRunner().invoke(cli, ["curve", str(table), "--published", wrong])
        assert isinstance(told.exception, InputError)


def test_the_page_knows_the_scale_and_the_published_scores(table, tmp_path):
    for option, first in (("--log", "log"), ("--linear", "linear"), ("--seed=0", "linear")):
        page = tmp_path / f"{first}{option}.html"
        told = CliRunner().invoke(
            cli, ["report", str(table), "--resamples", "200", "--out", str(page), option, "--published", "cnn=0.91"]
        )
        assert told.exit_code == 0, told.output
        text = page.read_text()
        assert f'name="scale" value="{first}" checked' in text
        assert '"published":{"cnn":0.91}' in text


def test_runs_of_seeds_have_the_published_score_in_their_row(tmp_path):
    rows = [f"{name},{seed},{score}" for name in ("a", "b") for seed, score in enumerate((0.7, 0.72, 0.75, 0.74))]
    path = tmp_path / "seeds.csv"
    path.write_text("\n".join(["model,seed,test_acc", *rows]))
    plain, marked = tmp_path / "plain.svg", tmp_path / "marked.svg"
    for out, extra in ((plain, []), (marked, ["--published", "b=0.8"])):
        told = CliRunner().invoke(cli, ["compare", str(path), "--out", str(out), *extra])
        assert told.exit_code == 0, told.output
    assert "published" in marked.read_text()
    assert "published" not in plain.read_text()
