"""The methods paragraph: what was done, in sentences ready for a paper, with references."""

from __future__ import annotations

from collections.abc import Sequence

from levelbest import __version__
from levelbest.report.words.intervals import interval_name
from levelbest.report.words.phrases import counted, drawn_words, level, plural, run_word
from levelbest.report.words.verdicts import adjustment_words
from levelbest.results import Comparison, Curve

REFERENCES = (
    "O. Bajgar, R. Kadlec, J. Kleindienst. A Boo(n) for Evaluating Architecture Performance. ICML 2018.",
    "J. Dodge, S. Gururangan, D. Card, R. Schwartz, N. A. Smith. Show Your Work: Improved Reporting of Experimental "
    "Results. EMNLP-IJCNLP 2019.",
    "R. Tang, J. Lee, J. Xin, X. Liu, Y. Yu, J. Lin. Showing Your Work Doesn't Always Work. ACL 2020.",
    "N. Lourie, K. Cho, H. He. Show Your Work with Confidence: Confidence Bands for Tuning Curves. NAACL 2024.",
)


def methods_paragraph(
    curves: Sequence[Curve],
    comparison: Comparison | None = None,
    *,
    headline: int,
    named: bool = False,
    n_searches: int | None = None,
    weight: str | None = None,
) -> str:
    """One paragraph: sample, score, estimator, intervals, comparisons, failures, seed.

    ``curves`` are those of every family, of one or several statistics; ``headline`` is the budget of the headline
    number, ``named`` in advance or not; ``n_searches`` is known where the unit is the whole search, and ``weight`` is
    the column that problems are weighted by.
    """
    first = curves[0]
    families = list({curve.family: curve for curve in curves}.values())
    by_seeds = comparison is not None and comparison.terms.design == "seeds"
    sentences = _sample(families, n_searches)
    if by_seeds:
        sentences = [
            f"We ran each of {plural(len(families), 'family')} {_runs(families)} times with different random seeds and "
            f"report the mean {first.score} of a new run."
        ]
    if weight is not None:
        sentences.append(f"Problems are weighted by {weight}.")
    for statistic, what in () if by_seeds else (("mean", "expectation"), ("median", "median")):
        drawn = next((curve for curve in curves if curve.statistic == statistic), None)
        if drawn is not None:
            kind, over = ("Bands", "for all n at once") if drawn.simultaneous else ("Limits", "for each n")
            cited = f"({interval_name(drawn.method)})" + (" [4]" if statistic == "median" else "")
            sentences.append(f"{kind} for the {what} hold at {level(drawn.confidence)} {over} {cited}.")
    if comparison is not None:
        sentences.append(_compared(comparison))
    lost = sum(curve.n_failed for curve in families)
    total = sum(curve.n_trials if curve.n_runs is None else curve.n_runs for curve in families)
    unit = run_word(first.unit)
    many = f"{lost:,} of {plural(total, unit, f'{total:,}')}"
    sentences.append(f"{many} failed and were {counted(first.failed)}." if lost else f"No {unit} failed.")
    advance = ", named in advance" if named else ""
    if not by_seeds:
        sentences.append(f"The headline number is the best of n = {headline}{advance}.")
    sentences.append(f"Computed with levelbest {__version__}, seed {first.seed}.")
    return " ".join(sentences)


def _runs(families: Sequence[Curve]) -> str:
    """How many trials a family has, or from how many to how many."""
    counts = sorted({curve.n_trials for curve in families})
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _sample(families: Sequence[Curve], n_searches: int | None) -> list[str]:
    """What was run, what is reported, and the estimator."""
    first = families[0]
    many = _runs(families)
    each = " each" if len(families) > 1 else ""
    alone = "picked by the score itself, as an oracle would"
    if first.problems is None:
        alone = "validation only: the same score selects and is reported"
    score = f"the best {first.selection} ({alone})"
    if first.reported:
        score = f"the {first.reported} of the {first.unit} with the best {first.selection}"
    ties = "tied selection scores share their weight [1]"
    if first.problems is not None:
        n_problems = int(first.problems.groups.size)
        return [
            f"We drew {many} samples{each} of {plural(n_problems, 'problem', f'{n_problems:,}')} with "
            f"{plural(len(families), 'system')} and report {score} among n samples of a problem, averaged "
            "over problems.",
            "Within each problem the value is the unbiased estimate over all subsets of n samples (pass@k for 0/1 "
            f"scores) [3]; {ties}; intervals and comparisons resample problems.",
        ]
    unit, drawn = f"{first.unit}s", drawn_words(first.unit)
    ran = (
        f"We ran {many} {unit}{each} of {plural(len(families), 'family')} and report {score} as a function of the "
        f"number of {unit} n{drawn} [1, 2]."
    )
    if first.n_runs is not None:
        score = score.replace("the best ", "the best mean ") if first.reported is None else score
        runs = sum(curve.n_runs or 0 for curve in families)
        return [
            f"We ran {many} configurations{each} of {plural(len(families), 'family')}, {runs:,} runs in all. A "
            f"configuration's score is the mean over its runs; we report {score} as a function of the number of "
            "configurations n [1, 2].",
            f"Expected values are the unbiased estimate over all subsets of n configurations [3]; {ties}.",
        ]
    if n_searches is not None:
        unit = f"The unit is the whole search, of which there are {n_searches}"
        return [ran, f"{unit}: values are the mean over a family's searches of the best so far."]
    return [ran, f"Expected values are the unbiased estimate over all subsets of n {unit} [3]; {ties}."]


def _compared(comparison: Comparison) -> str:
    terms = comparison.terms
    what = "means of a new run" if terms.design == "seeds" else "curves"
    over = "all pairs" if terms.design == "seeds" else "all budgets and pairs"
    how = adjustment_words(terms)
    worth = ""
    if terms.worth is not None:
        worth = f" Differences below {terms.worth:.2g} were not considered worth having."
    return (
        f"Families are compared by the difference of their {what}{f' ({how})' if how else ''}; a family is called "
        f"better only where that excludes equality at {level(terms.confidence)} over {over}.{worth}"
    )
