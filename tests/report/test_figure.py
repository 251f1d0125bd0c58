"""Figures: the right numbers on the right axes, the same bytes twice, hostile names as text."""

from dataclasses import replace

import numpy as np
import pytest

from levelbest.designs.curve import family_curves
from levelbest.errors import InputError
from levelbest.report.figures.axes import draw_curves
from levelbest.report.figures.curves import new_axes
from levelbest.report.figures.panels import Panel, draw_lines, panel_of_curves
from levelbest.report.figures.report import save_panels
from levelbest.report.view import line_of
from levelbest.trials import Trials


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    trials = Trials.from_arrays(
        rng.beta(8, 2, 60),
        family=["$a_b$ <script>"] * 30 + ["plain"] * 30,
        direction="max",
        cost=[60.0] * 60,
        cost_unit="s",
    )
    return family_curves(trials, n_resamples=199)


def test_lines_hold_the_curves(found):
    ax = new_axes()
    assert draw_lines(panel_of_curves(found), ax) is ax
    for line, one in zip(ax.get_lines(), found, strict=False):
        np.testing.assert_array_equal(line.get_xdata(), one.n)
        np.testing.assert_array_equal(line.get_ydata(), one.value)


def test_the_cost_axis_has_readable_units(found):
    over_cost = [replace(line_of(one), axis="cost", x=tuple(60.0 * one.n)) for one in found]
    ax = draw_lines(Panel(tuple(over_cost), "score", cost_unit="s"))
    np.testing.assert_allclose(ax.get_lines()[0].get_xdata(), 60.0 * found[0].n)
    assert ax.xaxis.get_major_formatter()(600, 0) == "10 min"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_same_bytes_twice(found, tmp_path, ending):
    first = save_panels({"": panel_of_curves(found)}, tmp_path / f"a.{ending}").read_bytes()
    assert first == save_panels({"": panel_of_curves(found)}, tmp_path / f"b.{ending}").read_bytes()
    if ending == "svg":
        text = first.decode()
        assert "<script>" not in text
        assert "$a_b$ &lt;script&gt;" in text


def test_bad_choices(found, tmp_path):
    with pytest.raises(InputError, match="unknown figure format 'jpg'"):
        save_panels({"": panel_of_curves(found)}, tmp_path / "a.jpg")
    with pytest.raises(InputError, match="cannot be written"):
        save_panels({"": panel_of_curves(found)}, tmp_path / "nowhere" / "a.png")


def test_differences_mark_the_budgets_with_a_verdict():
    from page_view import make_view

    from levelbest.report.figures.verdicts import draw_pairs

    pair = make_view().pairs_of("mean")[0]
    ax = draw_pairs(new_axes(), [pair])
    zero, curve, *decided = ax.get_lines()
    assert list(zero.get_ydata()) == [0, 0]
    np.testing.assert_array_equal(curve.get_ydata(), pair.difference)
    # the verdicts name the second family at 1, the first at 3 and 4
    budgets = [np.flatnonzero(np.isfinite(line.get_ydata())).tolist() for line in decided]
    assert budgets == [[2, 3], [0]]


def test_thick_lines_say_what_the_table_says():
    """The verdicts decide, not the limits beside them: a verdict may lean on a test that limits do not show."""
    from page_view import PLAIN, make_view

    from levelbest.report.figures.verdicts import difference_figure, draw_pairs
    from levelbest.results import Verdict

    pair = make_view().pairs_of("mean")[0]
    told = replace(pair, verdicts=(Verdict(1, 2, PLAIN), Verdict(3, 4, "undecided")))
    _, _, decided = draw_pairs(new_axes(), [told]).get_lines()
    np.testing.assert_array_equal(np.isfinite(decided.get_ydata()), [True, True, False, False])
    nowhere = np.full(4, np.nan)
    assert difference_figure([replace(pair, low=nowhere, high=nowhere)]) is None  # no empty figure


def test_lines_beyond_the_verdicts_are_thin_and_have_no_band(found):
    whole, cut = (draw_lines(replace(panel_of_curves(found[:1]), reach=reach)) for reach in (None, 10))
    assert [line.get_xdata()[-1] for line in whole.get_lines()] == [30]
    within, beyond = cut.get_lines()
    assert (within.get_xdata()[-1], beyond.get_xdata()[0], beyond.get_xdata()[-1]) == (10, 10, 30)
    assert within.get_linewidth() > beyond.get_linewidth()
    assert max(path.vertices[:, 0].max() for path in cut.collections[0].get_paths()) == 10


def test_figures_of_the_page_follow_the_dark_scheme():
    from levelbest.report.figures.curves import themed
    from levelbest.trials.colours import DARK, LIGHT

    svg = f'<svg xmlns="x"><path style="fill: #ffffff"/><path style="stroke: {LIGHT[1]}; fill: #000000"/></svg>'
    text = themed(svg.encode()).decode()
    assert f"var(--k1,{LIGHT[1]})" in text
    assert f"--k1:{DARK[1]};" in text
    assert "var(--gff,transparent)" in text  # the ground is the page's
    assert "--g00:#e8edf2" in text  # black ink turns light


def test_the_page_and_the_figures_share_one_palette():
    from levelbest.report.page.html import asset
    from levelbest.trials.colours import DARK, LIGHT

    light, dark, *_ = (part for part in asset("page.css").split("--c0: ")[1:])
    for style, colours in ((light, LIGHT), (dark, DARK)):
        assert style.startswith(colours[0])
        assert all(f"--c{i}: {colour};" in f"--c0: {style}" for i, colour in enumerate(colours))


def test_many_names_fit_into_one_column():
    rng = np.random.default_rng(0)
    names = [f"model number {i}" for i in range(17) for _ in range(6)]
    trials = Trials.from_arrays(rng.random(len(names)), family=names, direction="max")
    ax = draw_curves(new_axes(3.3), family_curves(trials, n_resamples=99), bands=False, log=False, at_ends=True)
    figure = ax.figure
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == 3.3
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 17
    drawn = [legend.get_window_extent(), ax.yaxis.label.get_window_extent(), ax.xaxis.label.get_window_extent()]
    assert all(figure.bbox.x0 <= one.x0 and one.x1 <= figure.bbox.x1 for one in drawn)
    assert all(figure.bbox.y0 <= one.y0 and one.y1 <= figure.bbox.y1 for one in drawn)
    assert not legend.get_window_extent().overlaps(ax.xaxis.label.get_window_extent())
