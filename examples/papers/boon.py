"""Reproduce *A Boo(n) for Evaluating Architecture Performance* (Bajgar, Kadlec & Kleindienst 2018), [B].

python examples/papers/boon.py --out papers-out [--data FOLDER]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from _common import Fact, Study, as_reader, digits, panels, resnet, script

import levelbest as lb
from levelbest.report.figures.curves import COLOURS, DASHES
from levelbest.stats import expected_best, gaussian_best, normal_best, normality
from levelbest.stats.best._weights import rank_weights

TITLE = "A Boo(n) for Evaluating Architecture Performance"
WEAK, STRONG = "mlp-seeds", "random-forest"


def constants(study: Study) -> None:
    """Section 3.1.1 and appendix A."""
    study.say("### The best of n normal scores (section 3.1.1)")
    study.table(
        [
            Fact(f"expected best of {n} standard normal scores", published, float(normal_best(n)), digits=3)
            for n, published in ((5, 1.163), (10, 1.539))
        ]
    )


def spearman(a: Any, b: Any) -> float:
    """Rank correlation, ties at their mean rank."""
    from scipy.stats import spearmanr

    return float(spearmanr(a, b)[0])


def iqr_error(scores: Any, n_resamples: int = 5_000) -> tuple[float, float]:
    """The interquartile range and its bootstrap standard deviation ([B] section 4, note 9)."""
    drawn = scores[np.random.default_rng(0).integers(0, scores.size, (n_resamples, scores.size))]
    low, high = np.percentile(drawn, [25, 75], axis=1)
    return float(np.subtract(*np.percentile(scores, [75, 25]))), float((high - low).std(ddof=1))


def anderson(scores: Any) -> str:
    """The Anderson-Darling test of normality in a few words."""
    test = normality(scores)
    return f"{'rejected' if test.rejected else 'not rejected'} (A² {test.statistic:.3f}, p {test.p_value:.2g})"


def pair_of(name: str) -> tuple[Any, Any]:
    """Validation and test accuracy, in percent, of a shipped family's finished trials."""
    scores = digits()[name].scores("drop")
    return 100 * scores.selection, 100 * scores.reported


def distributions(study: Study) -> None:
    """Figure 1: the score distributions, and reported against selection scores."""
    study.say("### How scores vary (figure 1, section 4, appendix C)")
    figure, (left, right) = panels(2)
    for name, colour, marker in ((WEAK, COLOURS[0], "o"), (STRONG, COLOURS[1], "^")):
        valid, test = pair_of(name)
        left.hist(test, bins=24, range=(77, 95), color=colour, alpha=0.6, label=name)
        label = f"Spearman {spearman(valid, test):.2f}"
        right.plot(valid, test, marker, color=colour, markersize=3, alpha=0.5, label=label)
    left.set(xlabel="test accuracy, %", ylabel="trials")
    right.set(xlabel="validation accuracy, %", ylabel="test accuracy, %", ylim=(75, 96))
    left.legend()
    right.legend(loc="lower right")
    see = (
        "Figure 1 in form. With fixed hyperparameters (mlp-seeds) the seed alone moves the test accuracy, and the "
        "validation score hardly says which seed is good; in a random search (random-forest) it does."
    )
    study.figure(figure, "boon-distributions", see)
    facts = []
    for name in (WEAK, STRONG):
        valid, test = pair_of(name)
        width, error = iqr_error(test)
        facts += [
            Fact(f"{name}: IQR of test accuracy, points", None, f"{width:.2f} ± {error:.2f}"),
            Fact(f"{name}: Spearman of validation and test", None, spearman(valid, test)),
            Fact(f"{name}: is the test accuracy normal?", None, anderson(test)),
        ]
    study.say("On the shipped digits study:")
    study.table(facts)
    study.say("On the authors' data:")
    study.table(_as_reader_facts(study) + _resnet_facts(study))


def _as_reader_facts(study: Study) -> list[Fact]:
    found = as_reader(study)
    if found is None:
        return []
    valid, test = found
    width, error = iqr_error(test)
    low, high = np.percentile(test, [5, 95])
    swapped = "the data give the two models' errors the other way round: the paper seems to have swapped them"
    return [
        Fact("AS Reader, fixed hyperparameters: runs", 370, test.size, digits=0),
        Fact("AS Reader: mean test accuracy, %", 63.16, float(test.mean())),
        Fact("AS Reader: standard deviation, points", 0.94, float(test.std(ddof=1))),
        Fact("AS Reader: IQR, points", 1.20, width),
        Fact("AS Reader: bootstrap error of the IQR", 0.12, error, swapped),
        Fact("AS Reader: range from, %", 61.52, float(low), f"the 5 % quantile; the minimum is {test.min():.2f}"),
        Fact("AS Reader: range to, %", 64.60, float(high), f"the 95 % quantile; the maximum is {test.max():.2f}"),
        Fact("AS Reader: Spearman of validation and test", 0.18, spearman(valid, test)),
        Fact("AS Reader: normal?", "not rejected at .05", anderson(test), "p is .05004, on the edge"),
        Fact("AS Reader: median gap of published results / IQR", 1.15 / 1.20, 1.15 / width, "a gap is within luck"),
    ]


def _resnet_facts(study: Study) -> list[Fact]:
    found = resnet(study)
    if found is None:
        return []
    valid, test = found
    width, error = iqr_error(test)
    low, high = np.percentile(test, [5, 95])
    other = "the file that was published holds 74 finished runs, which are not quite those behind the paper's numbers"
    v, u = (expected_best(valid, [1, 5, 50], test, estimator=name) for name in "vu")
    shown = ["; ".join(f"{value:.3f}" for value in curve) for curve in (v, u)]
    return [
        Fact("ResNet: runs", 74, test.size, "figure 2's caption says 75", digits=0),
        Fact("ResNet: mean test accuracy, %", 68.41, float(test.mean()), other),
        Fact("ResNet: standard deviation, points", 0.67, float(test.std(ddof=1)), other),
        Fact("ResNet: IQR, points", 0.98, width, other),
        Fact("ResNet: bootstrap error of the IQR", 0.09, error, "see AS Reader: swapped"),
        Fact("ResNet: range from, %", 67.31, float(low), f"the 5 % quantile; the minimum is {test.min():.2f}"),
        Fact("ResNet: range to, %", 69.41, float(high), f"the 95 % quantile; the maximum is {test.max():.2f}"),
        Fact("ResNet: Spearman of validation and test", 0.10, spearman(valid, test), "the paper and its data differ"),
        Fact("ResNet: normal?", "not rejected at .05", anderson(test)),
        Fact("ResNet: median gap of published results / IQR", 0.86 / 0.98, 0.86 / width, "a gap is within luck"),
        Fact("ResNet: best of 1, 5, 50 by V, %", None, shown[0], "falls again, and rightly: weak correlation"),
        Fact("ResNet: best of 1, 5, 50 by U, %", None, shown[1], "as V, without its bias"),
    ]  # fmt: skip


def aggregates(study: Study) -> None:
    """Figure 2: mean, best single model and Boo_5 with 95 % intervals against the number of experiments."""
    study.say("### Three ways to sum up m experiments (figure 2)")
    sizes = np.array([1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50])
    figure, axes = panels(2)
    facts = []
    for ax, name in zip(axes, (WEAK, STRONG), strict=True):
        found = resampled_summaries(*pair_of(name), sizes, study.count(4_000))
        for i, (kind, (mean, low, high)) in enumerate(found.items()):
            inside = np.isfinite(mean)
            ax.fill_between(sizes, low, high, where=inside, color=COLOURS[i], alpha=0.15, lw=0)
            ax.plot(sizes[inside], mean[inside], color=COLOURS[i], linestyle=DASHES[i], label=kind)
        ax.set(title=name, xlabel="experiments run")
        at = int(np.flatnonzero(sizes == 20)[0])
        widths = {kind: limits[2][at] - limits[1][at] for kind, limits in found.items()}
        shown = ", ".join(f"{kind} {width:.2f}" for kind, width in widths.items())
        claim = {WEAK: "Boo_5 below best single", STRONG: "Boo_5 below best single, and below the mean"}[name]
        facts.append(Fact(f"{name}: width of the 95 % interval at 20 experiments, points", claim, shown))
        best = found["best single model"][0]
        shown = ", ".join(f"{best[int(np.flatnonzero(sizes == m)[0])]:.2f}" for m in (1, 5, 20))
        facts.append(Fact(f"{name}: best single model after 1, 5, 20 experiments, %", None, shown))
    axes[0].set_ylabel("test accuracy, %")
    axes[0].legend(fontsize=7)
    see = (
        "Figure 2 in form, smoothed bootstrap. The best single model is the noisiest summary, and where validation "
        "and test go together (right) it rises with the number of experiments; the expected best of 5 does neither."
    )
    study.figure(figure, "boon-summaries", see)
    facts.append(
        Fact("AS Reader, random search: best single model after 1, 5, 20 experiments, %", "61.3, 63.3, 63.5", "",
             "its 197 runs are not among the files read here")
    )  # fmt: skip
    study.table(facts)
    study.say(
        "What levelbest does by default with the same trials: "
        + " ".join(str(lb.curve(digits()[name], n=[5], n_resamples=study.count(2_000))) for name in (WEAK, STRONG))
    )


def resampled_summaries(valid: Any, test: Any, sizes: Any, n_samples: int, n: int = 5) -> dict[str, tuple[Any, ...]]:
    """Mean and 95 % limits of three summaries over samples of each size from a Gaussian kernel estimate of the pairs.

    [B] note 11: smoothing, because the best of a sample uses few values of the pool. Scott's bandwidth.
    """
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(np.cov(np.stack([valid, test]))) * valid.size ** (-1 / 6)
    out: dict[str, list[Any]] = {"mean": [], "best single model": [], f"best of {n} (V)": []}
    for m in sizes:
        drawn = rng.integers(0, valid.size, (n_samples, m))
        noise = np.tensordot(root, rng.standard_normal((2, n_samples, m)), 1)
        order = np.argsort(valid[drawn] + noise[0], axis=1)
        ranked = np.take_along_axis(test[drawn] + noise[1], order, axis=1)
        boo = ranked @ rank_weights(int(m), np.array([n]), "v")[0] if m >= n else np.full(n_samples, np.nan)
        for kind, values in zip(out, (ranked.mean(axis=1), ranked[:, -1], boo), strict=True):
            out[kind].append((values.mean(), *np.quantile(values, [0.025, 0.975])))
    return {kind: tuple(np.array(column) for column in zip(*rows, strict=True)) for kind, rows in out.items()}


def estimators(study: Study) -> None:
    """Figure 3 and appendix E: the spread of the non-parametric and the Gaussian estimator."""
    study.say("### Which estimator varies less (figure 3, appendix E)")
    sizes = [12, 15, 20, 30, 50, 70, 100]
    figure, axes = panels(2, sharey=True)
    names = {"v": "V ([B] eq. 7)", "u": "U (levelbest's default)", "gaussian": "Gaussian ([B] eq. 6)"}
    for ax, n in zip(axes, (5, 10), strict=True):
        spreads = [estimator_errors(*pair_of(WEAK), m, study.count(400), n) for m in sizes]
        for i, (key, label) in enumerate(names.items()):
            ax.plot(sizes, [one[key][1] for one in spreads], color=COLOURS[i], linestyle=DASHES[i], label=label)
        ax.set(title=f"best of {n}", xlabel="trials")
    axes[0].set_ylabel("SD of the estimate, points")
    axes[0].set_ylim(bottom=0)
    axes[0].legend()
    see = (
        "Figure 3 in form, trials resampled from mlp-seeds. At the paper's n = 5 the three estimators vary alike; at "
        "n = 10 the Gaussian one varies a little less than V, and U most, which is the price of having no bias."
    )
    study.figure(figure, "boon-estimators", see)
    pools = {WEAK: pair_of(WEAK), "AS Reader": as_reader(study)}
    facts = []
    for name, pool in pools.items():
        if pool is None:
            continue
        for n in (5, 10):
            found = estimator_errors(*pool, 50, study.count(1_000), n)
            ratio = f"{found['gaussian'][1] / found['v'][1]:.2f}"
            bias = ", ".join(f"{key.capitalize()} {found[key][0]:+.3f}" for key in names)
            what = f"{name}: SD of Gaussian / SD of V, best of {n} from 50 trials"
            facts.append(Fact(what, "somewhat below 1", ratio, f"the figure does not state its n; bias {bias}"))
    study.table(facts)


def estimator_errors(valid: Any, test: Any, m: int, n_samples: int, n: int = 5) -> dict[str, tuple[float, float]]:
    """Bias and standard deviation of three estimators of the best of n, over samples of m trials from the pool."""
    rng = np.random.default_rng(m)
    # the pool is the population here, drawn from with replacement: its V is the truth
    truth = float(expected_best(valid, n, test, estimator="v"))
    found: dict[str, list[float]] = {"v": [], "u": [], "gaussian": []}
    for _ in range(n_samples):
        rows = rng.integers(0, valid.size, m)
        if np.ptp(valid[rows]) == 0:
            continue  # no correlation exists, and so no Gaussian estimate
        for key in ("v", "u"):
            found[key].append(float(expected_best(valid[rows], n, test[rows], estimator=key)))
        found["gaussian"].append(float(gaussian_best(valid[rows], n, test[rows])))
    return {key: (float(np.mean(values)) - truth, float(np.std(values, ddof=1))) for key, values in found.items()}


def survey(study: Study) -> None:
    """Appendix B needs the papers' texts: the script for it stands beside this one."""
    study.say(
        "### Survey (appendix B)\n\nOf 194 papers at ICLR 2017 the paper found 174 with experiments in a heading (180 "
        "with evaluations), 11 that mention hypothesis tests and 11 that mention confidence intervals. Those texts are "
        "not shipped; `python examples/papers/survey.py FOLDER` counts the same in any folder of texts."
    )


STEPS = (constants, distributions, aggregates, estimators, survey)

if __name__ == "__main__":
    sys.exit(script(TITLE, STEPS, "boon"))
