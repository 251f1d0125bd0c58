"""Reproduce *Show Your Work: Improved Reporting of Experimental Results* (Dodge et al. 2019), [D].

    python examples/papers/show_your_work.py --out papers-out

The paper's own runs are not at hand: its figures are made in form, from the shipped digits study.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from _common import Fact, Study, digits, panels, script, time_study

import levelbest as lb
from levelbest.report.figures.curves import DASHES
from levelbest.stats import cost_curve, expected_best, spread_of_best
from levelbest.trials.colours import LIGHT as COLOURS

TITLE = "Show Your Work: Improved Reporting of Experimental Results"
STEADY, STRONG = "random-forest", "svm"
SEARCHED = ("logistic-regression", "svm", "random-forest", "mlp")
OTHER = "other models and data (the shipped study), same kind of figure"
KEEN = 10  # trials behind a number that we pretend was published


def validation(name: str) -> Any:
    """A shipped family's validation scores, failed trials as 0, and the seconds of each ([D] reports validation)."""
    return digits()[name].scores("worst", missing="selection")


def shaded(ax: Any, x: Any, scores: Any, colour: str, dash: Any, label: str) -> Any:
    """The curve of V with plus or minus one standard deviation of the best, within the observed range ([D] 3.3)."""
    n = np.arange(1, scores.size + 1)
    value = np.asarray(expected_best(scores, n, estimator="v"))
    spread = np.asarray(spread_of_best(scores, n, estimator="v"))
    inside = np.maximum(value - spread, scores.min()), np.minimum(value + spread, scores.max())
    ax.fill_between(x, *inside, color=colour, alpha=0.15, lw=0)
    ax.plot(x, value, color=colour, linestyle=dash, label=label)
    return value


def crossing(study: Study) -> None:
    """Figure 1: two families cross as the budget grows."""
    study.say("### Who is better depends on the budget (figure 1)")
    figure, (ax,) = panels(1)
    values = {}
    for i, name in enumerate((STEADY, STRONG)):
        scores = validation(name).selection[:50]
        values[name] = shaded(ax, np.arange(1, 51), scores, COLOURS[i], DASHES[i], name)
    ax.set(xlabel="hyperparameter assignments", ylabel="expected validation accuracy", xscale="log", ylim=(0.5, 1))
    first = int(np.argmax(values[STRONG] > values[STEADY])) + 1
    ax.axvline(first, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.annotate(f"{first} trials", (first, 0.52), xytext=(4, 0), textcoords="offset points", color="0.35")
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.legend(loc="lower right")
    see = (
        f"Like figure 1: 50 trials each, shading of one standard deviation within the observed range. Left of the "
        f"dashed budget {STEADY} is ahead, and varies less; from {first} trials on {STRONG} is: who is better depends "
        "on the budget."
    )
    study.figure(figure, "show-crossing", see)
    verdict = lb.compare(digits()[[STEADY, STRONG]], missing="selection", n_resamples=max(200, study.count(1_000)))
    study.compare(
        "figure 1, analogue", [Fact("budget from which the strong family is ahead", "10 trials", f"{first}", OTHER)]
    )
    study.say(f"The default answer of levelbest to the same question, from all 120 trials: {verdict.pairs[0].sentence}")


def time_axis(study: Study) -> None:
    """Figure 2: the budget as time, on a log scale."""
    study.say("### The budget as time (figure 2)")
    table = time_study()
    figure, (left, right) = panels(2, sharey=True)
    scaled, within = {}, {}
    for i, name in enumerate(table.families):
        scores = table[name].scores("worst", missing="selection")
        n = np.arange(1, scores.n_trials + 1)
        value = np.asarray(expected_best(scores.selection, n, estimator="v"))
        left.plot(n, value, color=COLOURS[i], linestyle=DASHES[i], label=name)
        right.plot(n * scores.cost.mean(), value, color=COLOURS[i], linestyle=DASHES[i])
        scaled[name] = n * scores.cost.mean(), value
        exact = cost_curve(scores.selection, scores.cost, worst=0.0, n_orders=max(500, study.count(2_000)))
        right.plot(exact.budget, exact.value, color=COLOURS[i], linewidth=0.7, alpha=0.7)
        within[name] = exact.budget, exact.value
    left.set(xscale="log", xlabel="trials", ylabel="expected validation accuracy", ylim=(0.85, 0.99))
    right.set(xscale="log", xlabel="seconds of training", xlim=(0.0015, 60))
    left.legend(fontsize=7)
    see = (
        "Like figure 2, three approaches on the digits data. Left, per trial, the network is ahead at every number "
        "of trials. Right, per second of training (trials times their average duration), each approach is preferable "
        "at some budget: naive Bayes first, then logistic regression, then the network. Thin lines: levelbest's "
        "curve of what actually finishes within the time."
    )
    study.figure(figure, "show-time", see)
    facts = []
    for label, curves in (("trials times their mean cost", scaled), ("what actually finishes", within)):
        shown = "; ".join(f"{name} from {start:.3g} s" for name, start in preferred(curves))
        facts.append(Fact(f"who is ahead at which time, by {label}", "each approach somewhere", shown, OTHER))
    study.compare("figure 2, analogue", facts)


def preferred(curves: dict[str, tuple[Any, Any]]) -> list[tuple[str, float]]:
    """The family that is ahead, and from which budget on; a curve counts for nothing before its first point."""
    grid = np.geomspace(min(x[0] for x, _ in curves.values()), max(x[-1] for x, _ in curves.values()), 2_000)
    names = list(curves)
    ahead = np.argmax([np.interp(grid, x, y, left=-np.inf) for x, y in curves.values()], axis=0)
    starts = np.flatnonzero(np.diff(ahead, prepend=-1))
    return [(names[ahead[at]], float(grid[at])) for at in starts]


def budgets_to_match(study: Study) -> None:
    """Figure 3: how many trials until the expected best matches a reported number."""
    study.say("### Trials needed to match a reported number (figure 3)")
    figure, (ax,) = panels(1)
    matched = []
    for i, name in enumerate(SEARCHED):
        scores = validation(name).selection
        n = np.arange(1, scores.size + 1)
        value = np.asarray(expected_best(scores, n, estimator="v"))
        target = float(scores[:KEEN].max())
        reached = np.flatnonzero(value >= target)
        ax.plot(n, value, color=COLOURS[i], linestyle=DASHES[i], label=name)
        ax.axhline(target, color=COLOURS[i], linewidth=0.7, linestyle=(0, (4, 3)))
        needed = str(reached[0] + 1) if reached.size else f"not within {scores.size}"
        matched.append(f"{name} {needed}")
    ax.set(xscale="log", xlabel="trials", ylabel="expected validation accuracy", ylim=(0.84, 0.97))
    ax.legend()
    see = (
        f"Like figure 3. Dashed: what a paper would report after {KEEN} trials of each family. The budget at which "
        "the curve meets its dashed line differs greatly between families: a single reported number does not show "
        "whether it was luck."
    )
    study.figure(figure, "show-match", see)
    what = f"trials until the expected best matches the reported score (ours: the best of the first {KEEN})"
    study.compare("figure 3, analogue", [Fact(what, "2 (n-gram), 20 (DGEM)", ", ".join(matched), OTHER)])


def shading(study: Study) -> None:
    """Figure 4: shading within the observed range."""
    study.say("### Shading that stays within what was observed (figure 4)")
    scores = validation("mlp")
    figure, (ax,) = panels(1)
    seconds = np.arange(1, scores.n_trials + 1) * scores.cost.mean()
    value = shaded(ax, seconds, scores.selection, COLOURS[0], "-", "mlp")
    target = float(scores.selection[:KEEN].max())
    ax.axhline(target, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set(xlabel="seconds of training", ylabel="expected validation accuracy", xlim=(0, 25), ylim=(0.8, 1))
    reached = np.flatnonzero(value >= target)
    if reached.size:
        ax.plot(seconds[reached[0]], value[reached[0]], "o", color="0.2", markersize=5)
    spent = f"{seconds[reached[0]]:.0f} s ({reached[0] + 1} trials)" if reached.size else "not within the data"
    see = (
        f"Like figure 4: mlp. Dashed: the best of its first {KEEN} trials; the expected best matches it after "
        f"{spent}, where the dot is. The shading ends at the best score observed, which an unclipped band would exceed."
    )
    study.figure(figure, "show-range", see)
    study.compare(
        "figure 4, analogue", [Fact("budget that matches the reported score", "18 days, 55 trials", spent, OTHER)]
    )


def closed_form(study: Study) -> None:
    """Section 3.2: the closed form has the bootstrap's finite-sample error and none of its resampling error."""
    scores, n = validation("mlp").selection, 10
    exact = float(expected_best(scores, n, estimator="v"))
    spread = float(spread_of_best(scores, n, estimator="v"))
    rng = np.random.default_rng(0)
    facts = []
    for k in (100, 1_000, 10_000):
        repeats = study.count(200)
        means = [rng.choice(scores, (k, n)).max(axis=1).mean() for _ in range(repeats)]
        error = float(np.sqrt(np.mean((np.array(means) - exact) ** 2)))
        what = f"error that {k:,} resamples add to the expected best of 10 (shipped mlp search)"
        facts.append(Fact(what, "none as K grows", f"{error:.5f}", f"spread / √K is {spread / np.sqrt(k):.5f}"))
    facts.append(Fact("the same, of the closed form", "none", "none", f"both aim at V, {exact:.5f}"))
    study.compare("section 3.2", facts)


def checklist(study: Study) -> None:
    """Text box 1, and how much of it one table of trials answers."""
    from levelbest.report.build import build_view
    from levelbest.report.paper.checklist import fill_checklist

    table = digits()[["random-forest", "svm"]]
    table = table.take(np.arange(len(table)) % 120 < 30)  # thirty trials of each tell as much about the items
    resamples = max(200, study.count(1_000))
    view = build_view(table, comparing=False, statistics=("mean",), n_resamples=resamples)
    items = [item for item in fill_checklist(view) if item.asked_by.startswith("[D]")]
    known = sum(bool(item.answer) for item in items)
    asked = " ".join(item.question for item in items if not item.answer)
    ours = f"{known} of {len(items)} from the table of trials alone"
    why = f"`levelbest checklist` asks the rest: {asked} `--survey FOLDER` makes a table like table 1"
    study.compare("text box 1, table 1", [Fact("items answered", "all, by none of 50 papers of EMNLP 2018", ours, why)])


CASES = (
    ("figure 1", "LR ahead of the CNN up to", "10 trials", "the 50 validation accuracies of each classifier on SST-5"),
    (
        "figure 1",
        "budget at which the CNN is expected to reach .395",
        "16 trials",
        "the CNN's 50 validation accuracies",
    ),
    (
        "figure 2",
        "GloVe preferable below",
        "2 h",
        "the validation scores and durations of the three BCN searches on SST-5",
    ),
    ("figure 2", "ELMo, frozen, preferable", "6 h to 1 day", "the same"),
    ("figure 2", "ELMo, fine-tuned, preferable, for example at", "10 days", "the same"),
    ("figure 3", "SciTail: n-gram baseline matches its reported score after", "2 trials", "its validation accuracies"),
    ("figure 3", "SciTail: DGEM matches its reported score after", "20 trials", "its validation accuracies"),
    ("figure 4", "BiDAF matches its reported score after", "55 trials", "its validation scores on SQuAD"),
    ("figure 4", "BiDAF, the same in time", "18 days", "its validation scores, and the duration of each trial"),
)
"""Every budget that [D]'s case studies publish, and what it takes to compute it again."""


def cases(study: Study) -> None:
    """Sections 4.2 to 4.4: the published budgets, and what is missing for each."""
    for where, what, published, lacking in CASES:
        study.compare(where, [Fact(what, published, "", f"missing: {lacking}")])
    hours = f"{24 * 18 / 55:.1f} h"
    study.compare("figure 4", [Fact("a trial of BiDAF, by the two numbers above", None, hours, "18 days / 55 trials")])
    study.say(
        "Neither the paper nor its code includes the trials behind its figures, so these cannot be recomputed; with "
        "a table of trials `levelbest reach FILE --target 0.395 --out reach.svg` gives trials, "
        "with `--axis cost` time. The figures below are from the shipped results."
    )


STEPS = (cases, crossing, time_axis, budgets_to_match, shading, closed_form, checklist)

if __name__ == "__main__":
    sys.exit(script(TITLE, STEPS, "show_your_work"))
