"""Plans: how many more trials, problems or samples it takes to separate families."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from levelbest import _check
from levelbest.cautions import Caution
from levelbest.designs._input import (
    PairPlaces,
    as_trials,
    pairs_of,
    refuse_judge,
    refuse_leaderboard,
    with_scores,
    without_one_search,
)
from levelbest.designs._protocol import WHOLE, Design, Request, design_of
from levelbest.designs._table import scores_of
from levelbest.designs.seeds import Evaluations, only_seeds_vary
from levelbest.designs.variance import family_variances
from levelbest.errors import DataError, InputError, named
from levelbest.results import DividedRuns, FamilyVariance, TrialPlan, Variances
from levelbest.stats.bands import horizon
from levelbest.stats.best import turned_bounds
from levelbest.stats.budgets import (
    Division,
    Needed,
    as_power,
    divide_runs,
    power_of_division,
    trials_for_width,
)
from levelbest.stats.inference import Contrast, Hypotheses
from levelbest.stats.problems import GroupPlan, SpendWay, divide_spend, plan_groups
from levelbest.trials import Scores, Settings, Trials
from levelbest.trials.problems import too_few_samples

BUDGET = 10
"""The budget planned for where none is named; one run where only seeds vary."""
PILOT = 8
"""Fewest trials from which a width is planned."""
_SIZES = (10, 20, 50, 100, 200, 500)


def plan_trials(
    trials: object,
    *,
    n: int | None = None,
    width: float | None = None,
    power: float = 0.8,
    runs: int | None = None,
    baseline: str | None = None,
    price: float | str | None = None,
    spend: float | None = None,
    confidence: float = Settings.confidence,
    failed: str = Settings.failed,
    missing: str = Settings.missing,
    n_resamples: int = Settings.n_resamples,
    rng: int | None = Settings.rng,
    **reading: object,
) -> TrialPlan:
    """How many trials are needed for narrow intervals and for separating families, with these trials as pilot.

    Every option of the command line is a parameter of the same name.

    Parameters
    ----------
    trials
        Trials, or whatever `read_trials` takes, with its arguments as ``reading``.
    n
        The budget planned for; by default 10, and 1 over problems or where nothing but the seed varies within the
        families.
    width
        The width wanted of the interval for the expected best of ``n``; None: half the present one.
    power
        The chance wanted to certify the difference of each pair at ``n``.
    runs
        Where configurations have several runs: how many of each family there are to divide into configurations and
        seeds; None: as many as there are. Over problems: how many samples of each system there are to divide into
        problems and samples of each.
    baseline
        Separate every other family from this one; None: all from all.
    price
        What one unit of cost costs, such as ``2.5`` or ``"2.5 EUR"`` for a GPU hour: the plan is then in money too.
    spend
        Over problems: what may be spent in all on the two systems of a pair, in the unit of cost, to divide into
        problems and samples of each.
    confidence, failed, missing, n_resamples, rng
        As of `levelbest.trials.Settings`.

    Returns
    -------
    TrialPlan
        Where trials belong to problems: how many problems, or samples of each. Where configurations have several
        runs: how many configurations, and whether more configurations or more seeds tell more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plan = plan_trials(rng.normal(size=40), direction="max", n=5, n_resamples=200)
    >>> plan.widths[0][1].needed > 40
    True
    """
    as_power(power)
    paid, currency = _price(price)
    trials = as_trials(trials, reading)
    refuse_leaderboard(trials)
    table = without_one_search(with_scores(trials, baseline), baseline)
    table.refuse_tasks()
    refuse_judge(table, "a plan")
    over_problems = table.group is not None
    _refuse_spend(spend, runs, over_problems=over_problems)
    settings = Settings(confidence, failed, missing, n_resamples, rng)
    planned = _Planned.of(table, n, width, power, settings)
    variances = family_variances(table, confidence=confidence)
    divisions = tuple(_division(variance, runs, table.metric.sign) for variance in variances)
    pairs = pairs_of(table.families, baseline) if len(table.families) > 1 or baseline is not None else ()
    single = not over_problems and table.search is None  # a trial is what is repeated
    problems, unplanned = planned.problems() if over_problems else ([], [])
    widths, wide = planned.widths() if single else ([], [])
    separations, refused = planned.separations(pairs)
    costs = tuple(_costs(table, separations))
    sizes = sorted({*_SIZES, *(scores.n_trials for scores in planned.scores if 2 <= scores.n_trials <= 1000)})
    return TrialPlan(
        widths=tuple(widths),
        separations=tuple(separations),
        problems=tuple(problems),
        horizons=() if not single else tuple((size, horizon(size, confidence)) for size in sizes),
        confidence=confidence,
        power=power,
        score=table.metric.score,
        seed=rng,
        cautions=planned.cautions,
        unplanned=(*unplanned, *wide, *refused),
        words=planned.design.words,
        divisions=divisions,
        division_powers=tuple(_division_powers(table, pairs, variances, divisions, confidence)),
        costs=costs,
        cost_unit=table.metric.cost_unit or table.metric.cost,
        price=paid,
        currency=currency,
        spend=spend,
        samples=runs if over_problems else None,
        ways=tuple(_ways(separations, dict(problems), dict(costs), spend, runs)),
    )


def _last_budget(design: Design) -> float:
    """The largest budget that families can be compared at; infinite where the design does not say."""
    return max(design.reach.values(), default=float("inf"))


def _refuse_spend(spend: float | None, runs: int | None, *, over_problems: bool) -> None:
    if spend is not None and runs is not None:
        raise InputError(f"a spend ({named('spend')}) or a number of samples ({named('runs')}) is divided: give one")
    if spend is not None and not over_problems:
        raise InputError(
            f"{named('spend')} is divided into problems and samples of each; name the problem ({named('group')})"
        )


def _price(price: float | str | None) -> tuple[float | None, str]:
    """The price of one unit of cost and its currency: ``2.5``, ``2.5 EUR``, ``$2.50``."""
    if price is None:
        return None, ""
    match = re.fullmatch(r"\s*([^\d\s.]*)\s*(\d+(?:\.\d*)?|\.\d+)\s*([^\d\s]*)\s*", str(price))
    if match is None or not float(match[2]) > 0:
        raise InputError(f"{named('price')} is the price of one unit of cost, such as 2.5 or '2.5 EUR', got {price!r}")
    return float(match[2]), match[1] or match[3] or "USD"


@dataclass(frozen=True)
class _Planned:
    """A pilot, and what is planned from it."""

    trials: Trials
    n: int
    width: float | None
    power: float
    settings: Settings
    seeds: bool
    """Nothing but the seed varies: the means of a new run are planned for."""

    @classmethod
    def of(cls, trials: Trials, n: int | None, width: float | None, power: float, settings: Settings) -> _Planned:
        """The same for the budget wanted, or that of the design; an error where the design has no such budget."""
        single = trials.group is not None or _last_budget(design_of(trials, Request(settings=settings))) == 1
        budget = _check.as_count((1 if single else BUDGET) if n is None else n, "n")
        of_runs = budget == 1 and (only_seeds_vary(trials) or Evaluations.fits(trials, Request(settings=settings)))
        planned = cls(trials, budget, width, power, settings, of_runs)
        if budget > 1 and trials.group is None and _last_budget(planned.design) == 1:
            unit = planned.design.words.planned
            raise InputError(f"the only budget here is one {unit}, n = 1, got {budget}; leave out {named('n')}")
        return planned

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Those of the trials that concern a plan."""
        moot = ("no-reported", "nested-seeds", *self.design.moot)
        return tuple(caution for caution in self.trials.cautions if caution.code not in moot)

    @cached_property
    def scores(self) -> list[Scores]:
        """Of each family, by configuration where these have several runs."""
        return scores_of(self.trials, self.settings)

    def widths(self) -> tuple[list[tuple[str, Needed]], list[tuple[str, str, str]]]:
        """Trials of each family until its interval is as narrow as wanted; few seeds can be separated, no more.

        Families whose present width is not known, since resamples of them have no spread, and why.
        """
        planned, unplanned = [], []
        for name, scores in zip(self.trials.families, self.scores, strict=True):
            if self.seeds and scores.n_trials < PILOT:
                continue
            goal = self._for_width(scores, 1.0, 200).now / 2 if self.width is None else self.width
            if self.width is None and np.isinf(goal):
                unplanned.append((name, "", f"too many of its {scores.n_trials} scores are equal"))
            else:
                planned.append((name, self._for_width(scores, goal, self.settings.n_resamples)))
        return planned, unplanned

    def _for_width(self, scores: Scores, goal: float, n_resamples: int) -> Needed:
        with np.errstate(invalid="ignore"):  # resamples without spread: the width is then infinite
            return trials_for_width(
                scores.selection,
                self.n,
                goal,
                reported=scores.reported,
                confidence=self.settings.confidence,
                direction=self.trials.metric.direction,
                n_resamples=n_resamples,
                rng=self.settings.rng,
            )

    @cached_property
    def design(self) -> Design:
        """As trials are compared; the best of several runs is asked for by its budget, where only seeds vary."""
        headline = self.n if self.n > WHOLE else None
        if 1 < self.n <= WHOLE and only_seeds_vary(self.trials):
            headline = min(self.n, *(scores.n_trials for scores in self.scores))
        return design_of(self.trials, Request(settings=self.settings, headline=headline))

    def separations(self, pairs: PairPlaces) -> tuple[list[tuple[str, str, Needed]], list[tuple[str, str, str]]]:
        """Units of each family until the difference of each pair is certified, as the comparison itself says; or why
        it cannot be planned for."""
        families, metric, kept = self.trials.families, self.trials.metric, self.design.excluded
        known = tuple(pair for pair in pairs if not kept.keys() & {families[place] for place in pair})
        if not known:
            return [], []
        bounds, confidence = turned_bounds(metric.bounds, metric.direction), self.settings.confidence
        try:
            hypotheses = Hypotheses(known, confidence, bounds, planned=self.n, power=self.power)
            contrasts = self.design.contrasts(hypotheses).pairs
        except DataError as error:
            if self.trials.group is None:
                raise
            return [], [(" and ".join(families), "", str(error))]
        names = [(families[contrast.pair[0]], families[contrast.pair[1]]) for contrast in contrasts]
        needed = [contrast.needed or self._unknown(contrast) for contrast in contrasts]
        if self.trials.group is not None:
            needed = [units.without_promise for units in needed]
        return [(*pair, units) for pair, units in zip(names, needed, strict=True)], []

    def _unknown(self, contrast: Contrast) -> Needed:
        return Needed.unknown(self.settings.confidence, self.n, self.power, contrast.n_trials)

    def problems(self) -> tuple[list[tuple[str, GroupPlan]], list[tuple[str, str, str]]]:
        """Problems or samples of each until the interval is narrow, also within strata, and which allow no plan."""
        planned, unplanned = [], []
        for name, scores in zip(self.trials.families, self.scores, strict=True):
            table = self.trials[name]
            for label in ("", *sorted(set(table.strata))):
                try:
                    planned.append((f"{name}, {label}" if label else name, self._for_problems(table, scores, label)))
                except (DataError, InputError) as error:
                    if not label:
                        raise
                    unplanned.append((name, label, str(error).removeprefix(f"{name}: ")))
        return planned, unplanned

    def _for_problems(self, table: Trials, scores: Scores, stratum: str) -> GroupPlan:
        from scipy.special import ndtri

        groups = np.zeros(0, dtype=np.int64) if table.group is None else table.group[scores.rows]
        inside = np.flatnonzero(np.array(table.strata)[groups] == stratum) if stratum else np.arange(groups.size)
        groups, selection = groups[inside], scores.selection[inside]
        reported = None if scores.reported is None else scores.reported[inside]
        sizes = np.unique(groups, return_counts=True)[1]
        if self.n > sizes.max():
            raise too_few_samples(table.families[0], sizes, self.n, table.columns.get("group"))
        weights = None if table.weights is None else table.weights[np.unique(groups)]

        def plan(target: float) -> GroupPlan:
            direction = table.metric.direction
            return plan_groups(
                selection, groups, self.n, reported, target=target, direction=direction, others=[1], weights=weights
            )

        if self.width is None:
            now = plan(1.0)
            return plan(now.error / 2) if now.error > 0 else replace(now, target=0.0)
        return plan(self.width / (2 * float(ndtri((1 + self.settings.confidence) / 2))))


def _costs(trials: Trials, separations: Sequence[tuple[str, str, Needed]]) -> Iterator[tuple[str, float]]:
    """What a unit of each family that is compared costs on average; failed trials cost too."""
    if trials.cost is None:
        return
    units = {name: size for *names, needed in separations for name, size in zip(names, needed.pilot, strict=True)}
    for name, size in units.items():
        cost = trials[name].cost
        if cost is not None and np.isfinite(cost).any():
            yield name, float(np.nanmean(cost)) * cost.size / size


def _ways(
    separations: Sequence[tuple[str, str, Needed]],
    plans: Mapping[str, GroupPlan],
    costs: Mapping[str, float],
    spend: float | None,
    runs: int | None,
) -> Iterator[tuple[str, str, tuple[SpendWay, ...]]]:
    """Of each pair over problems: problems by samples of each, for a spend or for so many samples of each system."""
    for first, second, needed in separations if plans and (spend, runs) != (None, None) else ():
        pair = plans[first], plans[second]
        samples = sum(plan.samples for plan in pair) / 2
        price, whole = 1.0, float(runs or 0)
        if spend is not None:
            if not {first, second} <= costs.keys():
                raise InputError(
                    f"a spend ({named('spend')}) needs costs: name their column ({named('cost')}), price tokens "
                    f"({named('rate')}), or say how many samples of each system there are to divide ({named('runs')})"
                )
            # a unit of cost is that of a problem, or of a cluster of them
            price = sum(costs[name] * max(needed.pilot) for name in (first, second)) / (pair[0].n_groups * samples)
            whole = spend
        within = sum(plan.error**2 - plan.floor**2 for plan in pair)
        yield first, second, divide_spend(needed, pair[0].n_groups, samples, within, price, whole)


def _division(variance: FamilyVariance, runs: int | None, sign: float) -> DividedRuns:
    """More configurations or more seeds: one family's runs divided as they are now, and in other ways."""
    configuration, seed = _parts(variance)
    each = max(round(variance.n_runs / variance.n_configurations), 1)
    (now,) = divide_runs(configuration, seed, variance.n_configurations * each, (each,))
    ways = divide_runs(configuration, seed, variance.n_runs if runs is None else runs)
    return DividedRuns(variance.family, variance.components.mean, sign, now, ways)


def _parts(variance: FamilyVariance) -> tuple[float, float]:
    """What configurations and seeds add; data splits count as seeds: a further run has a split of its own too."""
    parts = {source.name: max(source.variance, 0.0) for source in variance.sources}
    return parts["configuration"], parts["seed"] + parts.get("split", 0.0)


def _division_powers(
    trials: Trials, pairs: PairPlaces, variances: Variances, divisions: Sequence[DividedRuns], confidence: float
) -> Iterator[tuple[str, str, tuple[tuple[Division, float], ...]]]:
    """For each pair of families with repeated configurations, the chance to tell their means apart in each way."""
    known = {variance.family: (variance, plan) for variance, plan in zip(variances, divisions, strict=True)}
    for first, second in ((trials.families[a], trials.families[b]) for a, b in pairs):
        if first not in known or second not in known:
            continue
        (variance, plan), (other, _) = known[first], known[second]
        difference = variance.components.mean - other.components.mean
        (configuration, seed), (other_configuration, other_seed) = _parts(variance), _parts(other)
        mean = (configuration + other_configuration) / 2, (seed + other_seed) / 2
        yield (
            first,
            second,
            tuple(
                (way, power_of_division(difference, mean, way, n_pairs=len(pairs), confidence=confidence))
                for way in (plan.now, *plan.ways)
            ),
        )
