"""Figures: the right numbers on the right axes, the same bytes twice, hostile names as text."""

import numpy as np
import pytest

from levelbest.curves import family_curves
from levelbest.errors import InputError
from levelbest.report.figures.curves import draw_curves, new_axes, save_curves
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
    assert draw_curves(found, ax) is ax
    for line, one in zip(ax.get_lines(), found, strict=False):
        np.testing.assert_array_equal(line.get_xdata(), one.n)
        np.testing.assert_array_equal(line.get_ydata(), one.value)


def test_the_cost_axis_has_readable_units(found):
    ax = draw_curves(found, axis="cost", log=True)
    np.testing.assert_allclose(ax.get_lines()[0].get_xdata(), 60.0 * found[0].n)
    assert ax.xaxis.get_major_formatter()(600, 0) == "10 min"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_same_bytes_twice(found, tmp_path, ending):
    first = save_curves(found, tmp_path / f"a.{ending}").read_bytes()
    assert first == save_curves(found, tmp_path / f"b.{ending}").read_bytes()
    if ending == "svg":
        text = first.decode()
        assert "<script>" not in text
        assert "$a_b$ &lt;script&gt;" in text


def test_bad_choices(found, tmp_path):
    with pytest.raises(InputError, match="unknown figure format 'jpg'"):
        save_curves(found, tmp_path / "a.jpg")
    with pytest.raises(InputError, match="unknown axis"):
        draw_curves(found, axis="dollars")
    with pytest.raises(InputError, match="cannot be written"):
        save_curves(found, tmp_path / "nowhere" / "a.png")


def test_differences_mark_the_certified_budgets():
    from page_view import make_view

    from levelbest.report.figures.differences import draw_differences

    pair = make_view().pairs_of("mean")[0]
    ax = draw_differences([pair])
    zero, curve, certified = ax.get_lines()
    assert list(zero.get_ydata()) == [0, 0]
    np.testing.assert_array_equal(curve.get_ydata(), pair.difference)
    # the band excludes zero at 1, 3 and 4
    np.testing.assert_array_equal(np.isfinite(certified.get_ydata()), [True, False, True, True])


def test_many_names_fit_into_one_column():
    rng = np.random.default_rng(0)
    names = [f"model number {i}" for i in range(17) for _ in range(6)]
    trials = Trials.from_arrays(rng.random(len(names)), family=names, direction="max")
    ax = draw_curves(family_curves(trials, n_resamples=99), ax=new_axes(3.3))
    figure = ax.figure
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == 3.3
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 17
    drawn = [legend.get_window_extent(), ax.yaxis.label.get_window_extent(), ax.xaxis.label.get_window_extent()]
    assert all(figure.bbox.x0 <= one.x0 and one.x1 <= figure.bbox.x1 for one in drawn)
    assert all(figure.bbox.y0 <= one.y0 and one.y1 <= figure.bbox.y1 for one in drawn)
    assert not legend.get_window_extent().overlaps(ax.xaxis.label.get_window_extent())
