"""Warnings in words: one sentence for each code and kind, from its facts.

A function below is the sentence of one (code, kind), and its parameters are the facts that
``Caution.of(code, family, value, kind=kind, **facts)`` must give:

    failures                 ""           n_failed, of, failed ("worst" or "drop"), unit
                             no-score     lost, n_trials, n_diverged, n_failed, n_pruned
                             flagged      count, mark
                             left-out     n_trials
                             not-written  tool (whose file does not tell failed trials)
    still-running            ""           n_running, unit
    fixed-sample             ""           n_running, unit
                             stopped      left, planned
    trend                    ""           rho, better
                             sorted       -
    grid                     ""           levels, filled, cells
                             steps        column
                             within       by, inside, n_trials
                             recorded     sampler
                             even         sampler
    adaptive-sampler         ""           sampler
                             searches     n_searches
    nested-seeds             ""           n_trials, configurations, several (of them with more than one),
                                          what ("seeds", "data splits", "runs"; of what there are several)
    averaged-runs            ""           configurations, n_runs, least, most (runs of a configuration)
                             unequal      fewest, richest (families)
    repeated-configurations  ""           repeated, n_trials
                             samples      count, sample, problem
    stops-at-success         ""           problems
                             batches      problems, batch
    few-values               ""           distinct, n_trials
                             one-trial    -
    ties                     ""           share
    outlier                  ""           score, distance, gap
                             worse        score, distance, count
    selection-is-reported    ""           column
                             identical    -
    selection-uncorrelated   ""           rho
                             reversed     rho
    leaky-reported           ""           reported
    missing-reported         ""           reported, known, finished
    no-reported              ""           selection
                             oracle       selection
    unequal-groups           ""           smallest, largest, last=None, total=None, n=None, ends=False
                             left-out     problems (names), total
    beyond-trials            ""           n_trials
                             samples      largest
                             one-sample   column (None where it has no name)
    beyond-horizon           ""           reasons (as of `Interval.reasons`), estimator, method
    extrapolated             ""           n_trials, method
    not-normal               ""           p_value
    paired-design            ""           families (names), shared, what ("configurations", "problems", "seeds")
                             used         by ("configuration", "seed", "configuration and seed")
                             problems     -
    guessed-columns          ""           columns ((role, column) pairs, none where nothing was guessed by name),
                                          direction=None, by=None (the name that tells the direction),
                                          run_cost=None ("sum": over the rows of a run, "last": it never falls)
                             open         role (the argument's name: "reported", "seed_column"), columns
                             primary      task, column, others (scores of the same answers that are not taken)
                             checkpoints  runs, column, counter
                             searches     count, n_families
                             one-each     column, count, n_trials
                             turned       column, direction
                             same-way     column, reported, direction
                             samples      first, last, count
                             lists        column, group
                             rows         group
                             renamed      source, column, count
                             files        count, parts (the columns made of the names of files)
                             arguments    count
                             counts       successes, total, count
                             by-column    columns, rows
    converted-numbers        ""           count, column, how ("percent", "percent-points", "thousands",
                                          "decimal-comma", "clock"), first
    skipped-rows             ""           where, why, count
                             no-family    count, column
                             no-problem   count, column
"""

from __future__ import annotations

from levelbest.cautions import Caution
from levelbest.report.words import choices, doubts  # noqa: F401  (their sentences are registered)
from levelbest.report.words.registry import SENTENCES

__all__ = ["CHOICES", "caution_sentence", "rank", "severity"]

_GRAVE = (
    "adaptive-sampler",
    "stops-at-success",
    "leaky-reported",
    "selection-is-reported",
    "trend",
    "selection-uncorrelated",
    "nested-seeds",
    "outlier",
    "missing-reported",
    "failures",
    "grid",
)
CHOICES = ("averaged-runs", "paired-design", "guessed-columns", "converted-numbers", "skipped-rows")
"""What was chosen for the reader and need not worry anybody who agrees."""


def severity(code: str) -> int:
    """0 for doubts about the conclusion, 1 for limits of it, 2 for choices."""
    return 2 if code in CHOICES else 0 if code in _GRAVE else 1


def rank(code: str) -> tuple[int, int]:
    """Warnings sorted by this have the gravest first and the choices last."""
    order = (_GRAVE, (), CHOICES)[severity(code)]
    return severity(code), order.index(code) if order else 0


def caution_sentence(caution: Caution) -> str:
    """What a warning says, without the family's name."""
    return SENTENCES[caution.code, caution.kind](**dict(caution.facts))
