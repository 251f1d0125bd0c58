"""A lesson for students: how "our best of n" rises while the model stays the same, and which summaries can be trusted.

The scores are normal with the mean and the spread of A Boo(n)'s AS Reader ([B] section 4: 370 runs, 63.16 % and .94);
samples have 50 trials, as in [T]'s simulations.
"""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from levelbest._write import make_folder, write_bytes
from levelbest.report.figures.curves import figure_bytes, figure_of, new_axes, open_frame, own_style
from levelbest.simulation.battery import Simulation, simulate
from levelbest.simulation.distributions import named_distribution
from levelbest.stats.best import normal_best
from levelbest.trials.colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEAN, SPREAD = 63.16, 0.94
N_TRIALS, BUDGETS = 50, (1, 2, 5, 10, 15, 20, 25, 30, 35, 40)


def write_lesson(folder: Path, *, seed: int = 0, n_samples: int = 400) -> Path:
    """Write three figures and a page that shows them; the page is returned."""
    normal = named_distribution(f"norm({MEAN},{SPREAD})")
    drawn = partial(
        simulate, normal, N_TRIALS, BUDGETS, n_samples=n_samples, n_resamples=299, seed=seed, use_bounds=False
    )
    ours, draws = drawn(methods=("default",)), drawn(methods=("percentile",), estimator="v")
    make_folder(folder)
    parts = []
    with own_style():
        for name, (ax, heading, text) in {
            "rises": _rises(),
            "bias": _bias(ours, draws),
            "coverage": _coverage(ours, draws),
        }.items():
            picture = figure_bytes(figure_of(ax), "svg")
            write_bytes(folder / f"{name}.svg", picture)
            svg = picture.decode()[picture.decode().index("<svg") :]
            parts.append(f"<section><h2>{escape(heading)}</h2>{svg}<p>{escape(text)}</p></section>")
    return write_bytes(folder / "lesson.html", _PAGE.format(body="\n".join(parts)).encode())


def _rises() -> tuple[Axes, str, str]:
    """The expected best of n normal scores ([B] 3.1.1)."""
    n = np.arange(1, 101)
    best = MEAN + SPREAD * np.asarray(normal_best(n))
    ax = new_axes()
    ax.plot(n, best, color=LIGHT[0])
    ax.axhline(MEAN, color="0.4", linewidth=0.8, linestyle=":")
    for count in (1, 5, 10, 100):
        ax.plot([count], [best[count - 1]], "o", color=LIGHT[0], markersize=4)
        ax.annotate(
            f"best of {count}: {best[count - 1]:.2f}", (count, best[count - 1]), (4, -10), textcoords="offset points"
        )
    ax.set_xscale("log")
    ax.set_xlabel("models that we tried")
    ax.set_ylabel("expected score of our best, %")
    open_frame(ax)
    five, ten = (float(np.asarray(normal_best(count))) for count in (5, 10))
    text = (
        f"Every run is the same model: {MEAN} % on average, and {SPREAD} points of luck. The best of 5 is expected "
        f"{five:.3f} standard deviations above the mean, the best of 10 {ten:.3f}: more runs give a higher best score."
    )
    return ax, "Our best of n rises, and the model stays the same", text


def _bias(ours: Simulation, draws: Simulation) -> tuple[Axes, str, str]:
    """[T] figure 3: V falls below the truth as n nears the number of trials, U does not."""
    ax, n = new_axes(), np.array(BUDGETS)
    for place, (label, simulated) in enumerate((("V", draws), ("U", ours))):
        ax.plot(
            n,
            simulated.mean_estimate - simulated.truth,
            color=LIGHT[1 - place],
            marker="o",
            markersize=3,
            label=label,
        )
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.set_xlabel(f"n, of {N_TRIALS} trials")
    ax.set_ylabel("mean estimate minus truth, points")
    ax.legend(frameon=False)
    open_frame(ax)
    low, off = (abs(float(simulated.mean_estimate[-1] - simulated.truth[-1])) for simulated in (draws, ours))
    text = (
        f"V, the mean over draws with replacement, is {low:.2f} points too low at n = {n[-1]}, and falls below the "
        f"truth in {100 * draws.below_truth[-1]:.0f} of 100 samples; U, over all subsets, is off by {off:.2f}: "
        "chance."
    )
    return ax, "V is too low, U is not", text


def _coverage(ours: Simulation, draws: Simulation) -> tuple[Axes, str, str]:
    """[T] figure 4: the percentile bootstrap covers ever less often."""
    ax, n = new_axes(), np.array(BUDGETS)
    shares = {"percentile bootstrap of V": draws.covered["percentile"], "levelbest": ours.covered["default"]}
    for place, (label, share) in enumerate(shares.items()):
        ax.plot(n, share, color=LIGHT[1 - place], marker="o", markersize=3, label=label)
    ax.axhline(0.95, color="0.3", linewidth=0.8, linestyle=":")
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"n, of {N_TRIALS} trials")
    ax.set_ylabel("share of intervals that hold the truth")
    ax.legend(frameon=False)
    open_frame(ax)
    theirs, levelbest = (100 * float(share[BUDGETS.index(20)]) for share in shares.values())
    text = (
        f"Both say 95 %. At n = 20 the percentile interval holds the truth in {theirs:.0f} of 100 samples (the paper "
        f"found about 70), that of levelbest in {levelbest:.0f}."
    )
    return ax, "An interval that fails, and one that does not", text


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>How good is our best model?</title>
<style>body {{ font: 18px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
svg {{ width: 100%; height: auto; }} section {{ break-inside: avoid; }}</style></head>
<body><h1>How good is our best model?</h1>
{body}
<p>References: O. Bajgar, R. Kadlec, J. Kleindienst, A Boo(n) for Evaluating Architecture Performance, 2018; J. Dodge et
al., Show Your Work, 2019; R. Tang et al., Showing Your Work Doesn't Always Work, 2020.</p>
</body></html>
"""
