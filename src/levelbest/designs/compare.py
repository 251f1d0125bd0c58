"""Compare families: who is better at which budget."""

from __future__ import annotations

import numpy.typing as npt

from levelbest import _check
from levelbest.designs._assemble import assemble
from levelbest.designs._input import as_table, comparable, pairs_of
from levelbest.designs._protocol import Request, Table, design_of
from levelbest.results import Comparison, TaskComparison
from levelbest.stats.bands import interval_methods
from levelbest.trials import Settings, Trials


def compare(
    trials: object,
    *,
    baseline: str | None = None,
    n: npt.ArrayLike | None = None,
    headline: int | None = None,
    worth: float | None = None,
    statistic: str | float = "mean",
    interval: str = "default",
    paired: bool | None = None,
    axis: str = "trials",
    budget: npt.ArrayLike | None = None,
    workers: int = 1,
    p_values: bool = False,
    while_running: bool = False,
    about: str = "problems",
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> Comparison | TaskComparison:
    """Who is better at which budget: every family against the ``baseline``, or all against all.

    Every option of the command line is a parameter of the same name.

    Parameters
    ----------
    trials
        Trials, several tables of them, or whatever `read_trials` takes, with its arguments as ``reading``.
    baseline
        The family that all others are compared with; None: all with all.
    n
        Budgets; None: all up to half the trials of the smaller family. One budget alone is tested by itself.
    headline
        A budget that is tested alone, first and at full confidence. None: the one that the trials' ledger has
        registered, where it has.
    worth
        The smallest difference worth having: limits within (-worth, worth) say that there is none.
    statistic
        ``mean``, ``median``, a quantile's probability or a registered statistic.
    interval
        One of ``interval_methods("differences")``: ``default``, or ``gaffke``, whose limits and verdicts rest on the
        bounds of the score alone.
    paired
        None pairs trials where every one has a partner with the same configuration (problem, data split) in every
        family, and says so; True insists, by equal seeds too; False does not.
    axis, budget, workers
        ``cost`` compares at budgets of cost, with so many trials at once, instead of numbers of trials.
    p_values
        Also compute permutation p-values for equal distributions.
    while_running
        Limits that hold at every look at a search that still runs.
    about
        Over problems: ``problems``, which these stand for (the problem is what is exchanged and drawn), or ``suite``,
        exactly these problems (their samples are).
    confidence, failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    Comparison
        The verdicts hold for all pairs and budgets together, at the stated confidence. Where the trials belong to
        repeated searches the unit is the whole search; where nothing but the seed varies within the families, and no
        family has more than 50 runs, the question is the mean of a new run. Where there are several tasks (games, data
        sets), a `TaskComparison`: each task by itself, and all of them together.

    Examples
    --------
    Ten kinds of data (docs/you-have.md has each with its file)::

        lb.compare("results.csv")                                # a row for each trial: a random search, or seeds
        lb.compare("export.csv", where="status = 'finished'")    # a spreadsheet: semicolons, decimal commas, percent
        lb.compare(df, family="model", selection="val_acc", reported="test_acc")                       # a dataframe
        lb.compare("study.db")                                   # Optuna; a sampler that learns is one observation
        lb.compare("atari.csv", task="game")                     # reinforcement learning: games, runs, scores
        lb.compare("samples.jsonl", group="problem", cost="tokens")         # answers of a language model
        lb.compare("pilot.csv", cost="gpu_hours", axis="cost")   # at equal cost; lb.plan_trials says how many more
        lb.compare("study.db")                                   # a ledger, which `levelbest run study.yaml` wrote
        lb.compare("runs/*/metrics.json")                        # a folder of JSON
        lb.claim("base 76.3 ± 0.4 (5)", "ours 77.0 ± 0.6 (5)")   # a paper's numbers

    The answer prints as sentences, and ``verdict["a", "b"]`` is one pair of it:

    >>> runs = {"model": ["a"] * 5 + ["b"] * 5, "seed": [*range(5), *range(5)],
    ...         "acc": [.81, .82, .80, .83, .82, .70, .71, .74, .73, .72]}
    >>> verdict = compare(runs, family="model", selection="acc", direction="max")
    >>> verdict["a", "b"].verdict_at(1)
    'a'
    """
    request = Request.of(
        n=n,
        statistic=statistic,
        budget=budget,
        interval=_check.as_choice(interval, interval_methods("differences"), "interval for differences"),
        paired=paired,
        axis=axis,
        workers=workers,
        p_values=p_values,
        while_running=while_running,
        about=about,
        baseline=baseline,
        headline=headline,
        worth=worth,
        settings=Settings(confidence, failed, missing, n_resamples, rng),
    )
    table = as_table(trials, reading)
    if isinstance(table, Trials) and table.task is not None and len(table.tasks) > 1:
        from levelbest.designs.tasks import compare_each, split_tasks

        return compare_each(split_tasks(table), request)
    table = comparable(table, baseline)
    pairs_of(table.families, baseline)
    return assemble(design_of(table, request.with_registered(table)))


def compare_request(trials: Table, request: Request, *, pairs_only: bool = False) -> Comparison:
    """The comparison of these trials that was asked for; of some its pairs are all that is wanted."""
    trials = comparable(trials, request.baseline)
    pairs_of(trials.families, request.baseline)
    return assemble(
        design_of(trials, request.with_registered(trials)), survival=not pairs_only, standings=not pairs_only
    )
