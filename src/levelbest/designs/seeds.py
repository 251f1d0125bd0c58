"""Several seeds: of one configuration, on data splits that families share or not, or of each configuration tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import ClassVar

import numpy as np

from levelbest._check import IntArray
from levelbest.cautions import Caution
from levelbest.designs._protocol import Request, Table
from levelbest.designs._table import TableDesign, failure_cautions, trial_curve
from levelbest.designs.trials import IndependentTrials, find_pairing, varies
from levelbest.designs.variance import family_variances
from levelbest.errors import InputError
from levelbest.results import Curve, DesignWords, Variances
from levelbest.stats.best import Mean, Sample, new_run_of_best, statistic_named
from levelbest.stats.inference import Contrasts, Hypotheses, run_contrasts, trial_contrasts
from levelbest.trials import BY_ID, Scores, Trials, by_configuration, data_splits, few_again, has_repeats, runs_of

MOST_SEEDS = 50
"""More runs of a family are taken for a search whose settings were not recorded; n = 1 is judged there too."""
_LOOKED_AT_UP_TO = 100_000
"""Rows of a table in which data splits are looked for."""
_OF_TIME = ("trend", "outlier", "repeated-configurations", "nested-seeds")
"""Warnings about rows as a sample in the order of time: hard folds come where they come."""


class Seeds(TableDesign):
    """Runs of one configuration each, compared by the mean of a new run (n = 1)."""

    name: ClassVar[str] = "seeds"
    words = DesignWords(
        unit="run",
        single="a new run",
        ran=(
            "We ran each of {families} {many} times with different random seeds and report the mean {column} of a new "
            "run."
        ),
        estimated="",
    )
    adjustment = "closed"
    headline: int | None = 1
    beyond = ""
    moot: ClassVar[tuple[str, ...]] = ("paired-design", "few-values", "ties", "no-reported", "beyond-horizon")
    """Those about the best of several runs, which is not asked for: equal seed numbers are no pairing, a few runs are
    no few values, and nothing is chosen among them."""

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Where only seeds vary and the best of several runs is not requested."""
        if not asks_for_one_run(request) or request.paired is True:
            return False
        return isinstance(trials, Trials) and only_seeds_vary(trials)

    @property
    def reach(self) -> dict[str, float]:
        """The budget is one run."""
        return dict.fromkeys(self.families, 1.0)

    def budgets(self, pairs: Sequence[tuple[int, int]]) -> IntArray:  # noqa: ARG002
        """One run."""
        return np.ones(1, dtype=np.int64)

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Differences of the mean of a new run."""
        turned = [self.metric.sign * scores.curve_of for scores in self.scores]
        return run_contrasts(turned, hypotheses)


def asks_for_one_run(request: Request) -> bool:
    """Whether the mean of a new run is an answer: the best of several runs is not requested."""
    return request.n in (None, (1,)) and request.headline in (None, 1) and request.statistic == "mean"


def only_seeds_vary(trials: Trials) -> bool:
    """Whether every family is one configuration, run with at most `MOST_SEEDS` seeds, few of them again."""
    if trials.seed is None or trials.group is not None or trials.search is not None:
        return False
    for name in trials.families:
        family = trials[name]
        seeds = {str(seed) for seed in family.seed} if family.seed is not None else set()
        if len(family) > MOST_SEEDS or not few_again(len(seeds), len(family)) or seeds & {"nan", "None", ""}:
            return False
        if any(varies(column) for column in family.configuration.values()):
            return False
    return True


class Averages(Seeds):
    """Runs of one configuration whose unit has several rows, a data split or a run, judged by the mean of these."""

    part: ClassVar[str] = "run"
    """What is averaged."""
    moot: ClassVar[tuple[str, ...]] = (*Seeds.moot, *_OF_TIME)
    unit_of: IntArray
    paired = False

    def _scores(self) -> Sequence[Scores]:
        self.by_run = super()._scores()
        codes = [self.unit_of[self.trials.family == place] for place in range(len(self.families))]
        scores = [
            by_configuration(replace(table, setting=held), by_run)
            for table, held, by_run in zip(self.tables, codes, self.by_run, strict=True)
        ]
        if not self.paired:
            return scores
        # a split whose runs of one family all failed, and are dropped, has no partner
        labels = [held[family_scores.rows] for held, family_scores in zip(codes, scores, strict=True)]
        common = reduce(np.intersect1d, labels)
        places = [np.argsort(held)[np.isin(np.sort(held), common)] for held in labels]
        return [taken(family_scores, rows) for family_scores, rows in zip(scores, places, strict=True)]

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Differences of the mean over splits or runs: within each, where all families have the same."""
        turned = [self.metric.sign * scores.curve_of for scores in self.scores]
        if not self.paired:
            return run_contrasts(turned, hypotheses)
        samples = [Sample(values) for values in turned]
        return trial_contrasts(samples, np.ones(1, dtype=np.int64), hypotheses, paired=True)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """How units were compared, and what they cannot tell; failures are of what is averaged."""
        kept = [c for c in super().cautions if c.code != "failures" or c.kind == "left-out"]
        for name, by_run in zip(self.families, self.by_run, strict=True):
            kept += failure_cautions(name, by_run, self.part)
        return (*kept, *self._about_units())

    def _about_units(self) -> list[Caution]:
        """What the units are."""
        raise NotImplementedError

    def curves(self, request: Request) -> tuple[Curve, ...]:
        """One curve for each family, of the means of units."""
        return tuple(self._curve(place, request) for place in range(len(self.families)))

    def _curve(self, place: int, request: Request) -> Curve:
        table, by_run = self.tables[place], self.by_run[place]
        about = [caution for caution in table.cautions if caution.code not in self.moot]
        about += [caution for caution in self._about_units() if caution.code == "shared-splits" and not caution.kind]
        curve = trial_curve(
            replace(table, cautions=tuple(about)),
            request,
            no_limits=self.excluded.get(self.families[place], ""),
            scores=self.scores[place],
            words=self.words,
        )
        cautions = [caution for caution in curve.cautions if caution.code != "failures"]
        cautions += failure_cautions(self.families[place], by_run, self.part)
        n_runs = by_run.n_trials if self.words.in_parts else None
        return replace(curve, n_runs=n_runs, cautions=tuple(cautions))


class Folds(Averages):
    """Runs of one configuration on each of several data splits; the unit is the split, judged by the mean of its runs.

    Several runs on one split share its difficulty: they are averaged, and count once.
    """

    name: ClassVar[str] = "folds"

    def __init__(self, trials: Trials, request: Request) -> None:
        self.named, self.unit_of = _splits(trials) or ("", np.zeros(len(trials), dtype=np.int64))
        every = [frozenset(self.unit_of[trials.family == place].tolist()) for place in range(len(trials.families))]
        self.shared = reduce(frozenset.intersection, every)
        alike = len(every) > 1 and all(held == self.shared for held in every)
        if request.paired and not alike:
            raise InputError(
                f"a paired comparison needs the same data splits in every family, and those in {self.named!r} are not "
                "in all of them; compare unpaired"
            )
        self.paired = alike and request.paired is not False
        super().__init__(trials, request)
        unit = "fold" if "fold" in self.named.lower() else "data split"
        several = np.unique(np.stack([trials.family, self.unit_of]), axis=1).shape[1] < len(trials)
        self.words = DesignWords(
            unit=unit,
            part=self.part if several else "",
            single=f"a {unit}",
            judged="by the mean over its runs" if several else "",
            scope="for these data",
            ran=(
                "We ran each of {families} on the same {many} " + f"{unit}s" + "{runs} and report the mean {column} "
                f"of a {unit}."
            ),
            estimated="",
        )
        if self.paired:
            self.adjustment = "pairs"

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Where only data splits and seeds vary, and the best of several runs is not requested."""
        if request.while_running or request.axis == "cost" or not asks_for_one_run(request):
            return False
        return isinstance(trials, Trials) and _splits(trials) is not None

    def _about_units(self) -> list[Caution]:
        facts = {"column": self.named, "unit": self.words.unit}
        about = [Caution.of("shared-splits", None, len(self.shared), **facts)]
        if self.request.paired is None and not self.paired and len(self.families) > 1:
            about.insert(0, Caution.of("shared-splits", None, len(self.shared), kind="apart", **facts))
        if self.paired:
            count, several = self.scores[0].n_trials, self.words.in_parts
            about.append(Caution.of("paired-design", None, count, kind="splits", count=count, several=several, **facts))
        return about


class Evaluations(Averages):
    """Runs of one configuration, each evaluated several times; the run is the unit, judged by the mean of its rows."""

    name: ClassVar[str] = "evaluations"
    part: ClassVar[str] = "evaluation"
    words = DesignWords(
        unit="run",
        part="evaluation",
        single="a new run",
        judged="by the mean over its evaluations",
        ran=(
            "We ran each of {families} {many} times, evaluated every run several times, and report the mean {column} "
            "of a new run."
        ),
        estimated="",
    )

    def __init__(self, trials: Trials, request: Request) -> None:
        assert trials.setting is not None
        self.unit_of = trials.setting
        super().__init__(trials, request)

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Where ids of runs are given, no setting varies, and the best of several runs is not requested."""
        if request.while_running or request.axis == "cost" or request.paired is True or not asks_for_one_run(request):
            return False
        if not isinstance(trials, Trials) or trials.group is not None or trials.search is not None:
            return False
        return BY_ID in trials.facts and has_repeats(trials) and len(trials.configuration) == 1

    def _about_units(self) -> list[Caution]:
        about = []
        for name, table, run in zip(self.families, self.tables, self.by_run, strict=True):
            held = np.bincount(runs_of(table, run))
            count, least, most = int(held.size), int(held.min()), int(held.max())
            facts = {"n_runs": count, "n_rows": int(held.sum())}
            about.append(Caution.of("averaged-runs", name, count, kind="evaluations", **facts))
            if least < most:
                facts = {"least": least, "most": most}
                about.append(Caution.of("averaged-runs", name, most / least, kind="uneven", **facts))
        return about


def _splits(trials: Trials) -> tuple[str, IntArray] | None:
    """The column of data splits and the split of each run, where nothing but these and seeds varies within a family."""
    known = None if trials.group is not None or trials.search is not None else data_splits(trials)
    if known is None or len(trials) > _LOOKED_AT_UP_TO:
        return None
    (name, column), family = known, trials.family.astype(np.int64)
    labels, codes = np.unique(column.astype(str), return_inverse=True)
    counts = np.bincount(family * labels.size + codes, minlength=len(trials.families) * labels.size)
    counts = counts.reshape(-1, labels.size)
    held = counts > 0
    if {"nan", "None", ""} & set(labels.tolist()) or held.sum(axis=1).min() < 2 or not held.all(axis=0).any():
        return None
    if counts.max() > MOST_SEEDS or not (_told_apart(trials, family, codes) or np.ptp(counts[held]) == 0):
        return None
    settings = [held_in for key, held_in in trials.configuration.items() if key != name]
    each = [np.flatnonzero(family == place) for place in range(len(trials.families))]
    return None if any(varies(setting[rows]) for setting in settings for rows in each) else (name, codes)


def _told_apart(trials: Trials, family: IntArray, codes: IntArray) -> bool:
    """Whether seeds tell the runs of a family on one split apart."""
    if trials.seed is None:
        return False
    seeds = np.unique(trials.seed.astype(str), return_inverse=True)[1]
    return bool(np.unique(np.stack([family, codes, seeds]), axis=1).shape[1] == len(trials))


class Configurations(IndependentTrials):
    """Random configurations, each run with several seeds; the best of n is chosen by its mean over them.

    A configuration with all its runs is one draw: resampling configurations with their runs carries the luck of the
    seeds along, and resampling seeds within each would count it twice (Davison and Hinkley 1997, section 3.8).
    """

    name: ClassVar[str] = "configurations"
    words = DesignWords(
        unit="configuration",
        part="run",
        judged="by the mean over its runs",
        ran=(
            "We ran {many} configurations{each} of {families}{runs}. A configuration's score is the mean "
            "over its runs; we report {score} as a function of the number of configurations n [1, 2]."
        ),
    )

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Where a configuration of some family has several runs."""
        if request.while_running or request.axis == "cost" or not isinstance(trials, Trials):
            return False
        return trials.group is None and trials.search is None and has_repeats(trials)

    def _scores(self) -> Sequence[Scores]:
        self.by_run = super()._scores()
        scores = [by_configuration(table, by_run) for table, by_run in zip(self.tables, self.by_run, strict=True)]
        pairing = None
        by_id = BY_ID in self.trials.facts and not self.request.paired  # equal ids or seeds are no pairing
        if self.request.paired is not False and len(self.tables) > 1 and not by_id:
            first_runs = [
                replace(table.take(configurations.rows), seed=None)
                for table, configurations in zip(self.tables, scores, strict=True)
            ]
            pairing = find_pairing(first_runs, required=self.request.paired is True)
        if pairing is None:
            return scores
        self.paired = True
        return [taken(configurations, rows) for configurations, rows in zip(scores, pairing.rows, strict=True)]

    @cached_property
    def _runs(self) -> tuple[IntArray, ...]:
        """How many runs each configuration of each family has."""
        return tuple(
            np.bincount(runs_of(table, by_run)) for table, by_run in zip(self.tables, self.by_run, strict=True)
        )

    @cached_property
    def variances(self) -> Variances:
        """How much of the variance between runs comes from configurations, data splits and seeds."""
        return family_variances(self.trials, confidence=self.request.settings.confidence)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What n counts, in place of the advice to count it so; failures are of runs."""
        kept = [c for c in super().cautions if c.code not in ("nested-seeds", "failures") or c.kind == "left-out"]
        if self.paired:
            kept = [caution for caution in kept if caution.code != "paired-design"]
            used = Caution.of("paired-design", None, self.scores[0].n_trials, kind="used", by="configuration")
            kept.append(used)
        for name, by_run in zip(self.families, self.by_run, strict=True):
            kept += failure_cautions(name, by_run, "run")
        return tuple(dict.fromkeys([*kept, *self._averaged()]))

    def _averaged(self) -> list[Caution]:
        """What n counts, for each family; and that means over unequal numbers of runs are not alike."""
        noticed = []
        for name, runs in zip(self.families, self._runs, strict=True):
            count, least, most = (int(number) for number in (runs.size, runs.min(), runs.max()))
            n_runs = int(runs.sum())
            noticed.append(
                Caution.of("averaged-runs", name, count, configurations=count, n_runs=n_runs, least=least, most=most)
            )
        means = [float(runs.mean()) for runs in self._runs]
        if max(means) > 1.5 * min(means):
            fewest, richest = self.families[int(np.argmin(means))], self.families[int(np.argmax(means))]
            noticed.append(
                Caution.of("averaged-runs", None, max(means), kind="unequal", fewest=fewest, richest=richest)
            )
        return noticed

    def curves(self, request: Request) -> tuple[Curve, ...]:
        """The mean over its runs of the best of n configurations, and what a new run of it is expected to score."""
        return tuple(self._curve(place, request) for place in range(len(self.families)))

    def _curve(self, place: int, request: Request) -> Curve:
        name, table, by_run = self.families[place], self.tables[place], self.by_run[place]
        moot = ("nested-seeds", "paired-design")
        noticed = [*(c for c in table.cautions if c.code not in moot), *self._averaged()]
        curve = trial_curve(
            replace(table, cautions=tuple(c for c in noticed if c.family in (None, name))),
            request,
            no_limits=self.excluded.get(name, ""),
            scores=self.scores[place],
            words=self.words,
        )
        new_run = None
        if isinstance(statistic_named(request.statistic), Mean):
            new_run = new_run_of_best(
                by_run.selection,
                runs_of(table, by_run),
                curve.n,
                by_run.reported,
                direction=self.metric.direction,
            )
        cautions = [caution for caution in curve.cautions if caution.code != "failures"]
        cautions += failure_cautions(name, by_run, "run")
        variance = next((variance for variance in self.variances if variance.family == name), None)
        return replace(curve, n_runs=by_run.n_trials, new_run=new_run, variance=variance, cautions=tuple(cautions))


def taken(scores: Scores, rows: IntArray) -> Scores:
    """The scores at these places."""
    reported, cost = (None if column is None else column[rows] for column in (scores.reported, scores.cost))
    return replace(scores, selection=scores.selection[rows], reported=reported, cost=cost, rows=scores.rows[rows])
