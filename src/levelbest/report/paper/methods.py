"""The methods paragraph: what was done, in sentences ready for a paper, with references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from levelbest import __version__
from levelbest.report.view import Line
from levelbest.trials import Trials

__all__ = ["REFERENCES", "methods_paragraph"]

REFERENCES = (
    "O. Bajgar, R. Kadlec, J. Kleindienst. A Boo(n) for Evaluating Architecture Performance. ICML 2018.",
    "J. Dodge, S. Gururangan, D. Card, R. Schwartz, N. A. Smith. Show Your Work: Improved Reporting of Experimental "
    "Results. EMNLP-IJCNLP 2019.",
    "R. Tang, J. Lee, J. Xin, X. Liu, Y. Yu, J. Lin. Showing Your Work Doesn't Always Work. ACL 2020.",
    "N. Lourie, K. Cho, H. He. Show Your Work with Confidence: Confidence Bands for Tuning Curves. NAACL 2024.",
)


def methods_paragraph(
    trials: Trials, lines: Sequence[Line], *, headline: int, confidence: float, failed: str, seed: int
) -> str:
    """One paragraph: sample, score, estimator, intervals, comparisons, failures, seed."""
    metric = trials.metric
    counts = [trials[name].n_trials for name in trials.families]
    many = f"{counts[0]}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
    lost = trials.n_failed
    alone = (
        "(validation only: the same score selects and is reported)"
        if trials.group is None
        else "(picked by the score itself, as an oracle would)"
    )
    score = (
        f"the {metric.reported} of the trial with the best {metric.selection}"
        if metric.reported
        else f"the best {metric.selection} {alone}"
    )
    mean = next((line for line in lines if line.statistic == "mean" and line.axis == "trials"), None)
    median = next((line for line in lines if line.statistic == "median" and line.axis == "trials"), None)
    each = " each" if len(counts) > 1 else ""
    who = "families" if len(counts) > 1 else "family"
    sentences = [
        f"We ran {many} trials{each} of {len(counts)} {who} and report {score} as a function of the number of trials n "
        "[1, 2].",
        "Expected values are the unbiased estimate over all subsets of n trials [3]; tied selection scores share their "
        "weight [1].",
    ]
    if trials.group is not None:
        problems = np.unique(trials.group).size
        sentences[:2] = [
            f"We drew {many} samples{each} of {problems} problems with {len(counts)} "
            f"{'systems' if len(counts) > 1 else 'system'} and report {score.replace('trial', 'sample')} among n "
            "samples of a problem, averaged over problems.",
            "Within each problem the value is the unbiased estimate over all subsets of n samples (pass@k for 0/1 "
            "scores) [3]; tied selection scores share their weight [1]; intervals and comparisons resample problems.",
        ]
    if trials.group is not None and trials.weights is not None:
        sentences.append(f"Problems are weighted by {trials.columns.get('weight', 'given weights')}.")
    if trials.search is not None:
        searches = np.unique(trials.search).size
        sentences[1] = (
            f"The unit is the whole search, of which there are {searches}: values are the mean over a family's "
            "searches of the best so far."
        )
    if mean is not None and not mean.simultaneous:
        sentences.append(f"Limits hold at {100 * confidence:g} % for each n ({mean.note or mean.method}).")
    elif mean is not None:
        sentences.append(
            f"Bands for the expectation hold at {100 * confidence:g} % for all n at once ({mean.note or mean.method})."
        )
    if median is not None:
        sentences.append(f"Bands for the median: {median.note or median.method} [4].")
    if len(counts) > 1:
        sentences.append(
            "Families are compared by simultaneous bands for the difference of their curves; a family is called better "
            "only at budgets where the band excludes zero."
        )
    how = "counted as the worst score" if failed == "worst" else "dropped"
    word = "trial" if trials.group is None else "sample"
    sentences.append(f"{lost} of {trials.n_trials} {word}s failed and were {how}." if lost else f"No {word} failed.")
    sentences.append(
        f"The headline number is the best of n = {headline}, fixed in advance. Computed with levelbest {__version__}, "
        f"seed {seed}."
    )
    return " ".join(sentences)
