"""Results on one's own Axes and in notebooks: the right numbers, nothing global changed, names as text."""

import base64
import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

import levelbest as lb
from levelbest.designs.compare import compare
from levelbest.errors import MissingExtra
from levelbest.results import CurveSet, Verdict

matplotlib.use("Agg")
HOSTILE = "<b>$x_1$</b>"


def _trials(names, size=24, **more):
    rng = np.random.default_rng(8)
    scores = np.concatenate([rng.beta(8, 4 - k % 3, size) for k, _ in enumerate(names)])
    return lb.Trials.from_arrays(scores, family=np.repeat(names, size), direction="max", bounds=(0, 1), **more)


@pytest.fixture
def plt():
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def curves():
    return CurveSet(lb.family_curves(_trials(["cnn", HOSTILE]), n_resamples=99))


@pytest.fixture(scope="module")
def comparison():
    return compare(_trials(["a", "b", "c"]), n_resamples=199)


def test_lines_are_drawn_as_asked_for(plt, curves, comparison):
    _, ax = plt.subplots()
    curves[0].plot(ax, color="black", linestyle="--", lw=3, label="ours")
    (line,) = ax.get_lines()
    assert (line.get_color(), line.get_linestyle(), line.get_linewidth()) == ("black", "--", 3)
    assert line.get_label() == "ours"
    assert ax.collections[0].get_facecolor()[0][:3].tolist() == [0, 0, 0]
    ax = comparison.plot(alpha=0.5)
    assert {line.get_alpha() for line in ax.get_lines() if not line.get_label().startswith("_")} == {0.5}


def test_several_curves_on_ones_own_axes(plt, curves):
    before = dict(matplotlib.rcParams)
    _, ax = plt.subplots()
    assert curves[0].plot(ax) is ax
    assert curves[1].plot(ax, bands=False, log=False) is ax
    first, second = ax.get_lines()
    for line, curve in ((first, curves[0]), (second, curves[1])):
        np.testing.assert_array_equal(line.get_xdata(), curve.n)
        np.testing.assert_array_equal(line.get_ydata(), curve.value)
        assert line.get_label() == curve.family
    assert first.get_color() != second.get_color()
    assert len(ax.collections) == 1  # one band
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cnn", HOSTILE]
    assert len(plt.get_fignums()) == 1
    assert dict(matplotlib.rcParams) == before


def test_a_set_of_curves_is_one_figure_with_names_at_the_ends(plt, curves):
    ax = curves.plot()
    assert len(plt.get_fignums()) == 1
    assert [line.get_label() for line in ax.get_lines()] == ["cnn", HOSTILE]
    assert {text.get_text() for text in ax.texts} == {"cnn", HOSTILE.replace("$", r"\$")}
    ax.figure.canvas.draw()  # no formula in a name


def test_a_band_that_explodes_does_not_drown_the_picture(plt, curves):
    wild = replace(curves[0], low=np.where(curves[0].n > 20, -1e6, curves[0].low))
    low, high = wild.plot(plt.subplots()[1]).get_ylim()
    rise = np.ptp(wild.value)
    assert high - low < 6 * rise + 1


def test_a_comparison_is_thick_where_there_is_a_verdict(plt, comparison):
    pair = comparison.pairs[0]
    told = (Verdict(1, 3, pair.families[0]), Verdict(4, 24, "undecided"))
    ax = replace(comparison, pairs=(replace(pair, verdicts=told),), standings=()).plot(plt.subplots()[1])
    zero, thin, thick = ax.get_lines()
    assert list(zero.get_ydata()) == [0, 0]
    known = np.isfinite(pair.low) & np.isfinite(pair.high)
    np.testing.assert_array_equal(thin.get_ydata(), pair.difference[known])
    np.testing.assert_array_equal(np.isfinite(thick.get_ydata()), pair.budget[known] <= 3)


def test_the_leading_family_comes_first_and_stands_for_many(plt):
    found = compare(_trials(list("abcde"), 12), n_resamples=199)
    labels = [text.get_text() for text in found.plot(plt.subplots()[1]).get_legend().get_texts()]
    leader = found.standings[0].family
    assert len(labels) == 4  # of ten pairs those of the leader
    assert all(label.startswith(f"{leader} − ") for label in labels)


def test_seeds_are_rows_with_limits(plt):
    found = compare(_trials(["a", "b", "c"], 6, seed=np.tile(np.arange(6.0), 3)))
    assert found.terms.design == "seeds"
    ax = found.plot(plt.subplots()[1])
    rows = [label.get_text() for label in ax.get_yticklabels()]
    best = [one.family for one in found.standings]
    assert rows == [f"{best[0]} − {best[1]}", f"{best[0]} − {best[2]}", f"{best[1]} − {best[2]}"]
    pair = found.pair(best[0], best[1])
    drawn = [line.get_xdata() for line in ax.get_lines()[1:3]]
    np.testing.assert_allclose(np.concatenate(drawn), [pair.low[0], pair.high[0], pair.difference[0]])


def _pictures(text):
    return [base64.b64decode(found) for found in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)]


@pytest.mark.parametrize("which", ["curve", "curves", "comparison"])
def test_notebooks_show_a_picture_and_a_short_table(plt, curves, comparison, which):
    shown = {"curve": curves[1], "curves": curves, "comparison": comparison}[which]
    text = shown._repr_html_()
    (picture,) = _pictures(text)
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert text == shown._repr_html_()  # the same bytes
    assert 2 <= text.count("<tr>") <= 16
    assert "<b>" not in text  # names are text
    assert plt.get_fignums() == []
    if which == "comparison":
        assert all(one in text for one in ("better than", comparison.standings[0].family))
    else:
        assert "&lt;b&gt;" in text


def test_plans_targets_and_descriptions_in_notebooks_and_as_frames(plt):
    pytest.importorskip("pandas")
    trials = _trials([HOSTILE, "b"])
    plan, reached = lb.plan_trials(trials, n=2, n_resamples=99), lb.reach(trials, [0.7], n_resamples=99)
    for shown, n_rows in ((plan, 4), (reached, 3)):
        text = shown._repr_html_()
        assert text.count("<tr>") == n_rows
        assert "&lt;b&gt;" in text
        assert "<b>" not in text  # names are text
    assert all(str(target) in reached._repr_html_().replace("&lt;", "<").replace("&gt;", ">") for target in reached)
    frame = plan.to_frame()
    assert frame["goal_of"].tolist() == ["power", "width", "width"]
    assert frame["needed"].tolist()[1:] == [own.needed for _, own in plan.widths]
    assert frame["low"].tolist()[0] == plan.separations[0][2].low
    described = lb.describe(replace(trials, reported=trials.selection / 2, metric=replace(trials.metric, reported="t")))
    (picture,) = _pictures(described[0]._repr_html_())
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    frame = described[0].to_frame()
    assert frame["score"].tolist() == ["selection", "t"]
    assert frame["mean"].tolist() == pytest.approx([described[0].mean, described[0].mean / 2])
    assert plt.get_fignums() == []


def test_a_comparison_over_tasks_is_drawn_and_shown(plt):
    trials = _trials(["a", "b"])
    found = lb.compare_tasks(
        {"x": trials, "y": replace(trials, selection=trials.selection**2)}, n=[1, 2], n_resamples=99
    )
    ax = found.plot(plt.subplots()[1])
    assert ax.get_ylabel() == "difference in\nselection (sd from each task's mean)"
    difference = found.overall.pairs[0].difference
    np.testing.assert_allclose(np.abs(ax.get_lines()[1].get_ydata()), np.abs(difference))
    assert found.summary[0].startswith("Over 2 tasks")
    text = found._repr_html_()
    assert len(_pictures(text)) == 1
    assert text.count("<p>") == len(found.summary)
    assert text.count("<tr>") == 3


@pytest.mark.parametrize("library", ["pandas", "polars", "neither"])
def test_three_lines_from_a_dataframe_to_a_figure_and_back(plt, monkeypatch, tmp_path, library):
    rows = {"model": ["cnn"] * 10 + ["lr"] * 10, "val_acc": np.linspace(0.5, 0.9, 20).tolist()}
    if library == "neither":
        source = tmp_path / "results.csv"
        lines = [f"{a},{b}" for a, b in zip(*rows.values(), strict=True)]
        source.write_text("\n".join(["model,val_acc", *lines]))
        monkeypatch.setitem(sys.modules, "polars", None)
    else:
        source = pytest.importorskip(library).DataFrame(rows)
    if library != "pandas":
        monkeypatch.setitem(sys.modules, "pandas", None)
    curves = CurveSet(lb.family_curves(lb.read_trials(source), n_resamples=99))
    ax = curves.plot(plt.subplots()[1])
    assert [line.get_label() for line in ax.get_lines()] == ["cnn", "lr"]
    if library == "neither":
        with pytest.raises(MissingExtra, match="pandas or polars"):
            curves.to_frame()
    else:
        frame = curves.to_frame()
        assert type(frame).__module__.split(".")[0] == library
        assert frame["value"].to_list() == [*curves[0].value, *curves[1].value]
