"""Trials: a random sample of each family, independent of the others or in pairs, compared by the best of n."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from levelbest._check import FloatArray, IntArray
from levelbest.cautions import Caution
from levelbest.designs._protocol import Request, Table
from levelbest.designs._table import TableDesign
from levelbest.errors import InputError, named
from levelbest.results import TRIALS, DesignWords, PairComparison
from levelbest.stats.inference import (
    Contrasts,
    Hypotheses,
    TrialUnits,
    chance_better,
    reach_of,
    relative_improvement,
    trial_contrasts,
)
from levelbest.trials import OK, RUNNING, Scores, Trials

_GRIDS = ("", "steps", "recorded")
"""Kinds of the warning that call all of a family a grid."""
_SHOWN = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000)
"""The budgets of the side tables, where those compared are many."""


class IndependentTrials(TableDesign):
    """Every trial is a draw from its family's distribution."""

    name: ClassVar[str] = "trials"

    def __init__(self, trials: Trials, request: Request) -> None:
        super().__init__(trials, request)
        self._units: dict[bytes, TrialUnits] = {}
        grids = {c.family for c in trials.cautions if c.code == "grid" and c.kind in _GRIDS}
        if self.words == TRIALS and trials.families and grids.issuperset(trials.families):
            self.words = DesignWords(unit="grid point", drawn="drawn at random")

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:  # noqa: ARG003
        """Where nothing else does."""
        return True

    def contrasts(self, hypotheses: Hypotheses) -> Contrasts:
        """Differences of the curves."""
        return trial_contrasts(
            self.samples,
            self.budgets(hypotheses.pairs),
            hypotheses,
            statistic=self.request.statistic,
            paired=self.paired,
        )

    def more(self, pair: PairComparison, places: tuple[int, int]) -> PairComparison:
        """Who wins how often, and by what share."""
        first, second = (self.samples[place] for place in places)
        budgets = pair.budget.astype(np.int64)
        shown = budgets[budgets <= min(pair.n_trials)]
        if not shown.size:
            return pair
        if shown.size > 12:
            shown = shown[np.isin(shown, _SHOWN) | (shown == shown[-1])]
        chance = chance_better(first, second, shown)
        pair = replace(pair, chance=tuple(zip(map(float, shown), map(float, chance), strict=True)))
        if self.statistic == "mean" and min(pair.n_trials) > 1:
            inside = shown[shown <= reach_of(first)]
            inside = inside[inside <= reach_of(second)]
            rows = zip(inside, *self._ratios(places, inside), strict=True)
            known = [row for row in rows if np.isfinite(row[1])]
            pair = replace(pair, relative=tuple((float(n), float(r), float(lo), float(hi)) for n, r, lo, hi in known))
        return pair

    def _ratios(self, places: tuple[int, int], n: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        if not n.size:
            return np.empty(0), np.empty(0), np.empty(0)
        key = n.tobytes()
        if key not in self._units:  # each family is drawn once, for all of its pairs
            self._units[key] = TrialUnits(self.samples, n)
        return relative_improvement(self._units[key], places, self.request.settings.confidence)


class Pairs(IndependentTrials):
    """Entry i of every family is the same pair, which is resampled and swapped as a whole."""

    name: ClassVar[str] = "pairs"
    paired = True
    moot = ("paired-design",)  # the advice to use pairs

    @classmethod
    def fits(cls, trials: Table, request: Request) -> bool:
        """Where pairs are asked for, or every trial has its partners."""
        if request.paired is False or not isinstance(trials, Trials) or len(trials.families) < 2:
            return False
        if not trials.configuration and trials.seed is None and request.paired is None:
            return False  # nothing to pair by: found out without cutting out the families
        tables = [trials[name] for name in trials.families]
        return find_pairing(tables, required=request.paired is True) is not None

    def _scores(self) -> Sequence[Scores]:
        settings = self.request.settings
        self.pairing = find_pairing(self.tables, required=True) or Pairing("", ())
        tables = [table.take(rows) for table, rows in zip(self.tables, self.pairing.rows, strict=True)]
        scores = [table.scores("worst", missing=settings.missing) for table in tables]
        if settings.failed == "drop":
            # a pair with a failure on either side is dropped whole
            kept = np.flatnonzero(np.logical_and.reduce([table.status == OK for table in tables]))
            lost = [family_scores.n_failed for family_scores in scores]
            scores = [table.take(kept).scores("worst", missing=settings.missing) for table in tables]
            scores = [
                replace(family_scores, n_failed=k, failed="drop") for family_scores, k in zip(scores, lost, strict=True)
            ]
        if len({family_scores.n_trials for family_scores in scores}) > 1:
            raise InputError(
                "a paired design needs a reported score on both sides of every pair, and some are missing; compare "
                "unpaired or say that a missing one counts as the worst score"
            )
        return scores

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """That pairs were used, in place of the advice to use them."""
        used = Caution.of("paired-design", None, self.scores[0].n_trials, kind="used", by=self.pairing.by)
        return (*super().cautions, used)


class Pairing(NamedTuple):
    """For each family the rows of its trials, so that entry i of every family is the same pair."""

    by: str
    rows: tuple[IntArray, ...]


_COUNTERS = frozenset(("run", "trial", "index", "idx", "id", "number", "name", "repetition", "iteration", "row"))
"""A column whose name has no other words numbers the trials: equal numbers are no equal configurations."""


def _counts(name: str) -> bool:
    return set(re.findall("[a-z]+", name.lower())) <= _COUNTERS


def find_pairing(families: Sequence[Trials], *, required: bool = False) -> Pairing | None:
    """Pairs by configuration and seed; only where every trial of every family has its partners.

    A column is part of the configuration that pairs if it is known for all trials and takes the same values in every
    family; one of them must vary. Equal seed numbers alone are no pairing unless it is ``required``. None where there
    is no such pairing; with ``required`` an error says why.
    """
    try:
        return _pairing(families, required)
    except InputError:
        if required:
            raise
        return None


def _pairing(families: Sequence[Trials], required: bool) -> Pairing:
    settings = _paired_settings(families, counters=required)
    seeds = [family.seed for family in families]
    same_seeds = all(seed is not None for seed in seeds) and _same_values([np.asarray(seed) for seed in seeds])
    if not settings and not (required and same_seeds):
        raise InputError(
            "a paired design needs the same configurations, seeds or problems in every family, and no column holds "
            f"the same values in all of them; name {named('group')} or {named('seed_column')}, or compare unpaired"
        )
    by = " and ".join([*(["configuration"] if settings else []), *(["seed"] if same_seeds else [])])
    places = [_rows_by_key(family, settings, by, seeded=same_seeds) for family in families]
    common = set.intersection(*map(set, places))
    for family, rows in zip(families, places, strict=True):
        if len(rows) > len(common):
            odd = next(key for key in rows if key not in common)
            alone = f"{len(rows) - len(common)} of {len(rows)} trials of {family.families[0]}"
            raise _unmatched(f"{alone} have no partner with the same {by} (first: {', '.join(odd)[:80]})")
    return Pairing(by, tuple(np.array([rows[key] for key in sorted(common)], dtype=np.int64) for rows in places))


def _paired_settings(families: Sequence[Trials], *, counters: bool) -> list[str]:
    """The settings that take the same values in every family, and vary; ``counters``: columns that count trials too."""
    shared = sorted(set.intersection(*(set(family.configuration) for family in families)))
    return [
        name
        for name in shared
        if (counters or not _counts(name))
        and _same_values([family.configuration[name] for family in families])
        and any(varies(family.configuration[name]) for family in families)
    ]


def _rows_by_key(family: Trials, settings: Sequence[str], by: str, *, seeded: bool) -> dict[tuple[str, ...], int]:
    """The row of each finished trial by its settings and, where it pairs, its seed."""
    columns = [family.configuration[name] for name in settings] + ([np.asarray(family.seed)] if seeded else [])
    keys = zip(*(map(str, column) for column in columns), strict=True)
    rows = {key: row for row, key in enumerate(keys) if family.status[row] != RUNNING}
    if len(rows) < int(np.count_nonzero(family.status != RUNNING)):
        raise _unmatched(f"{family.families[0]} has several trials with the same {by}")
    return rows


def _unmatched(why: str) -> InputError:
    return InputError(f"a paired design needs one trial of each family per pair, and {why}; compare unpaired")


def varies(column: npt.NDArray[np.generic]) -> bool:
    """Whether a column holds more than one value."""
    return len({str(value) for value in column}) > 1


def _same_values(columns: Sequence[npt.NDArray[np.generic]]) -> bool:
    """Whether all columns hold the same values, equally often, and none is missing."""
    if len({column.size for column in columns}) > 1:
        return False  # without a look at what may be millions of values
    if len({column.dtype for column in columns}) == 1 and columns[0].dtype.kind in "iuf":
        numbers = [np.sort(column) for column in columns]
        return not np.isnan(numbers[0]).any() and all(np.array_equal(column, numbers[0]) for column in numbers[1:])
    counts = [Counter(map(str, column)) for column in columns]
    return all(count == counts[0] for count in counts[1:]) and not {"nan", "None", ""} & counts[0].keys()
