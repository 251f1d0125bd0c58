"""One colour for a family everywhere, told apart by colour-blind readers, with the contrast that text needs."""

import matplotlib
import numpy as np
import pytest

import levelbest as lb
from levelbest.report.build import build_view
from levelbest.report.page.data import page_data
from levelbest.trials.colours import DARK, GREY, LIGHT, TERMINAL

matplotlib.use("Agg")
# Machado, Oliveira, Fernandes 2009, full severity, on linear RGB
BLIND = {
    "nobody": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def linear(colours):
    rgb = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(colours, ground):
    """Of WCAG 2."""
    light, behind = (linear(group) @ [0.2126, 0.7152, 0.0722] for group in (colours, [ground]))
    return (np.maximum(light, behind) + 0.05) / (np.minimum(light, behind) + 0.05)


def oklab(rgb):
    """Ottosson 2020."""
    lms = np.cbrt(
        np.clip(rgb, 0, 1) @ np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]]).T
    )
    return lms @ np.array([[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]).T


@pytest.mark.parametrize(("palette", "ground"), [(LIGHT, "#ffffff"), (DARK, "#161d25"), (DARK, "#1f2933")])
def test_names_can_be_written_in_every_colour(palette, ground):
    assert contrast(palette, ground).min() >= 4.5


def test_a_terminal_of_either_kind_shows_them():
    assert contrast(TERMINAL, "#ffffff").min() >= 3
    assert contrast(TERMINAL, "#000000").min() >= 3


@pytest.mark.parametrize("kind", BLIND)
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_stay_apart_for_every_reader(palette, kind):
    seen = oklab(linear(palette[:GREY]) @ np.transpose(BLIND[kind]))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1) + np.eye(GREY)
    assert apart.min() > 0.045  # about twice what a careful eye tells apart side by side


def rows(families, size=12, seed=3):
    rng = np.random.default_rng(seed)
    scores = np.concatenate([0.5 + 0.02 * k + 0.03 * rng.random(size) for k in range(families)])
    return {"model": np.repeat([f"m{k:02d}" for k in range(families)], size).tolist(), "val_acc": scores.tolist()}


def test_a_family_keeps_its_colour_in_part_of_a_table_and_in_every_result():
    trials = lb.read_trials(rows(3))
    verdict = lb.compare(trials, n_resamples=99)
    assert verdict.hues == trials.hues == {"m00": 0, "m01": 1, "m02": 2}
    assert trials["m02"].hues["m02"] == trials[["m02", "m01"]].hues["m02"] == 2
    alone = lb.curve(trials["m02"], n_resamples=99)
    (line,) = alone.plot(bands=False).get_lines()
    assert line.get_color() == LIGHT[2]
    families = page_data(build_view(trials, n_resamples=99))["families"]
    assert [family["hue"] for family in families] == [0, 1, 2]


def test_of_many_families_the_contenders_have_a_colour_and_the_rest_are_grey():
    verdict = lb.compare(rows(9), n_resamples=199)
    coloured = {name for name, hue in verdict.hues.items() if hue != GREY}
    assert set(verdict.possible_best) <= coloured
    assert len(coloured) <= GREY
    assert verdict.hues["m00"] == GREY  # beaten by all
    assert len({verdict.hues[name] for name in coloured}) == len(coloured)
    # curves alone know no contenders: the six whose best scores are best
    curves = lb.family_curves(rows(9), n_resamples=99)
    assert [curve.family for curve in curves if curve.hue != GREY] == [f"m{k:02d}" for k in range(3, 9)]
    assert all(curve.hue == verdict.hues[curve.family] for curve in curves if curve.family in coloured)


def test_colours_that_are_asked_for():
    verdict = lb.compare(rows(2, seed=1), n_resamples=99)
    winner = verdict.standings[0].family
    thick = verdict.plot(colors={winner: "black"}).get_lines()[-1]
    assert (thick.get_color(), thick.get_linewidth()) == ("black", 3)
    curves = lb.family_curves(rows(2), n_resamples=99)
    assert [line.get_color() for line in curves.plot(colors={"m01": "red"}).get_lines()] == [LIGHT[0], "red"]


def test_a_colour_on_an_axes_is_not_used_again():
    first, second = (lb.curve(lb.read_trials(rows(1, seed=seed)), n_resamples=99) for seed in (1, 2))
    ax = first.plot()
    second.plot(ax, label="again")
    assert [line.get_color() for line in ax.get_lines()] == [LIGHT[0], LIGHT[1]]
