"""Assembles a comparison from the results of a design; the only place where verdicts are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from levelbest.cautions import Caution
from levelbest.designs._input import PairPlaces, departures, is_registered, pairs_of
from levelbest.designs._protocol import Design
from levelbest.errors import DataError, InputError
from levelbest.results import (
    NOT_COMPARABLE,
    BestFound,
    Comparison,
    ComparisonTerms,
    Effect,
    PairComparison,
    Standing,
    Verdict,
    crossings_of,
    verdict_ranges,
    winners,
)
from levelbest.results.verdict import contenders_of
from levelbest.stats.inference import Contrast, Contrasts, Hypotheses, undefined
from levelbest.trials import OK, Trials
from levelbest.trials.colours import MOST_COLOURED, contender_hues
from levelbest.trials.spaces import SearchSpace, is_known

_NOTHING = Contrasts((), "none")
"""The answer of a design where no pair can be compared."""


def assemble(design: Design, *, survival: bool = True, standings: bool = True) -> Comparison:
    """The comparison that a design answers: pairs, verdicts, effects and, where they are wanted, standings.

    With ``survival`` the verdicts are looked at under the other failure policy too, and within strata.
    """
    pairs = pairs_of(design.families, design.request.baseline)
    hypotheses = _hypotheses(design, pairs)
    contrasts = _completed(design, pairs, hypotheses, design.contrasts(hypotheses) if hypotheses.pairs else _NOTHING)
    budget = _effect_budget(design, contrasts)
    terms = _terms(design, len(pairs), budget)
    others = _other_winners(design, pairs) if survival else None
    compared = []
    for places, contrast in zip(pairs, contrasts.pairs, strict=True):
        pair = design.more(_pair(design, terms, contrast, contrasts.method, budget), places)
        if others is not None:
            pair = replace(pair, survives=winners(pair.verdicts) == others[places])
        compared.append(pair)
    spaces = design.spaces if standings else ()
    departed = departures(design.trials, design.request) if standings else ()
    ranked, possible = _standings(design, compared, points_at(design, budget) if standings else [])
    best_found, cautions = _best_found(design) if standings else (), design.cautions
    if best_found and len(best_found) == len(ranked):  # nothing but searches: the best first, and no pairs
        order = [winner.family for winner in best_found]
        ranked = tuple(sorted(ranked, key=lambda row: order.index(row.family)))
        cautions = tuple(caution for caution in cautions if caution.code != "paired-design")
    comparison = Comparison(
        terms=terms,
        families=design.families,
        pairs=tuple(compared),
        standings=ranked,
        baseline=design.request.baseline,
        possible_best=possible,
        cautions=(*cautions, *departed, *_space_cautions(spaces)),
        spaces=spaces,
        best_found=best_found,
        per_solved=design.per_solved(budget) if standings else (),
        variances=design.variances,
        observed=design.observed,
        noises=design.noises if standings else (),
        strata=tuple(_within_strata(design)) if survival else (),
        hues=design.hues,
    )
    if len(design.families) <= MOST_COLOURED or not standings:
        return comparison
    return replace(comparison, hues=contender_hues(design.hues, contenders_of(comparison)))


def _best_found(design: Design) -> tuple[BestFound, ...]:
    """The winner of each family that is one search that learns, the best first."""
    trials, sign = design.trials, design.metric.sign
    adaptive = [name for name, reason in design.excluded.items() if reason == "adaptive"]
    if not isinstance(trials, Trials):
        return ()
    winners_of = []
    for table in (trials[name] for name in adaptive):
        rows = np.flatnonzero(table.status == OK)
        if not rows.size:
            continue
        best = int(rows[np.argmax(sign * table.selection[rows])])
        scores = table.selection if table.reported is None else table.reported
        settings = {key: column[best] for key, column in table.configuration.items() if is_known(column[best])}
        winners_of.append(BestFound(table.families[0], len(table), float(scores[best]), settings))
    return tuple(sorted(winners_of, key=lambda winner: -sign * winner.value))


def _space_cautions(spaces: Sequence[SearchSpace]) -> list[Caution]:
    """One fixed configuration beside searches, and whose space it is a point of ([D] section 5)."""
    searched = [space for space in spaces if space.searched]
    noticed = []
    for fixed in (space for space in spaces if space.fixed and searched):
        within = [space.family for space in searched if space.holds(fixed)]
        point = Caution.of("fixed-configuration", fixed.family, kind="point", within=within)
        noticed.append(point if within else Caution.of("fixed-configuration", fixed.family))
    return noticed


def _hypotheses(design: Design, pairs: PairPlaces) -> Hypotheses:
    """What is asked of the design: of the pairs whose families both have limits."""
    request = design.request
    return Hypotheses(
        pairs=tuple((a, b) for a, b in pairs if not {design.families[a], design.families[b]} & set(design.excluded)),
        confidence=request.settings.confidence,
        bounds=design.metric.turned_bounds,
        headline=request.named,
        worth=request.worth,
        method=request.interval,
        shown=None if request.axis == "cost" else design.headline,
    )


def _completed(design: Design, pairs: PairPlaces, hypotheses: Hypotheses, answered: Contrasts) -> Contrasts:
    """The answer for all pairs; of those with a family that has no limits the reason."""
    sizes = [counts.n_trials for counts in design.counts]
    why = [design.excluded.get(name, "") for name in design.families]
    by_pair = {(a, b): undefined((a, b), (sizes[a], sizes[b]), hypotheses, why[a] or why[b]) for a, b in pairs}
    by_pair |= {contrast.pair: contrast for contrast in answered.pairs}
    return replace(answered, pairs=tuple(by_pair[pair] for pair in pairs))


def _effect_budget(design: Design, contrasts: Contrasts) -> float:
    """Where families are set side by side: the budget tested alone, else the design's own."""
    budgets = np.unique(np.concatenate([contrast.n[_comparable(contrast)] for contrast in contrasts.pairs]))
    if not budgets.size:  # nothing can be compared: side by side all the same, where all were run so long
        last = int(min(design.reach.values(), default=1.0))
        requested = design.request.budget if design.request.axis == "cost" else design.request.n
        budgets = np.arange(1, max(last, 1) + 1) if requested is None else np.array(requested)
    if (named_budget := design.request.named) is not None and design.request.axis == "trials":
        return float(named_budget)
    wanted = _most_comparable(contrasts) if design.headline is None else design.headline
    inside = budgets[budgets <= wanted]
    return float(inside[-1] if inside.size else budgets[0])


def _most_comparable(contrasts: Contrasts) -> float:
    """The largest of the budgets at which most pairs can be compared ([D] figure 2: families differ in cost)."""
    every, counts = np.unique(
        np.concatenate([contrast.n[_comparable(contrast)] for contrast in contrasts.pairs]), return_counts=True
    )
    return float(every[counts == counts.max()][-1]) if every.size else np.inf


def _terms(design: Design, n_pairs: int, budget: float) -> ComparisonTerms:
    request = design.request
    return ComparisonTerms(
        design=design.name,
        words=design.words,
        metric=design.metric,
        settings=request.settings,
        n_pairs=n_pairs,
        statistic=design.statistic,
        axis=request.axis,
        adjustment=design.adjustment,
        headline=None if request.axis == "cost" else int(budget),
        named=request.named is not None,
        registered=is_registered(design.trials, request),
        worth=request.worth,
        while_running=request.while_running,
        n_groups=design.n_groups,
        n_clusters=design.n_clusters,
        n_tasks=design.n_tasks,
        weighted=design.weighted,
        workers=request.workers,
    )


def _comparable(contrast: Contrast) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    low, high = contrast.low, contrast.high
    return ~(np.isnan(low) | np.isnan(high)) & ~(np.isinf(low) & np.isinf(high))


def _pair(design: Design, terms: ComparisonTerms, contrast: Contrast, method: str, budget: float) -> PairComparison:
    a, b = contrast.pair
    low, high = design.metric.cut_differences(contrast.low, contrast.high)
    contrast = replace(contrast, low=low, high=high)
    first, second = design.counts[a], design.counts[b]
    families = first.family, second.family
    best = None if first.best is None or second.best is None else (first.best, second.best)
    searches = None
    if first.n_searches is not None and second.n_searches is not None:
        searches = first.n_searches, second.n_searches
    effect, further, needed = _effect(contrast, families, budget), contrast.further, contrast.needed
    if contrast.basis == "gaffke":  # what is needed is known of the default test alone
        further, needed = 0.0 if effect.winner is not None or effect.negligible else np.nan, None
    return PairComparison(
        families=families,
        terms=terms,
        budget=contrast.n,
        difference=contrast.difference,
        low=contrast.low,
        high=contrast.high,
        p_value=contrast.p_value,
        verdicts=_verdicts(design, contrast, families),
        effect=effect,
        further=further,
        needed=needed,
        basis=contrast.basis,
        method=method,
        paired=design.paired,
        n_trials=(first.n_trials, second.n_trials),
        n_failed=(first.n_failed, second.n_failed),
        n_searches=searches,
        best=best,
        crossings=crossings_of(contrast.n, contrast.difference, contrast.certified),
        reasons=contrast.reasons,
        unseen=contrast.unseen,
        equal_p=contrast.equal_p if design.request.p_values and np.isfinite(contrast.equal_p) else None,
    )


def _verdicts(design: Design, contrast: Contrast, families: tuple[str, str]) -> tuple[Verdict, ...]:
    """Ranges of budgets with one verdict; past the budgets compared, to where the families were run, there is none."""
    request = design.request
    inside = [reason for reason in contrast.reasons if reason not in ("unsettled", "beyond-half")]
    far = contrast.reach
    lacking = ~_comparable(contrast)
    past = lacking & (contrast.n > far) & ("beyond-half" in contrast.reasons)
    here = inside[0] if inside else "no-limits" if (lacking & ~past).any() else "beyond-half"
    if lacking[~past].any() and here == "no-limits":
        past = np.zeros_like(past)  # limits end before half the trials
    verdicts = verdict_ranges(
        contrast.n,
        contrast.certified,
        _comparable(contrast),
        families,
        reason=[(design.beyond or "beyond-half") if far_off else here for far_off in past],
        negligible=contrast.negligible,
        spacing="continuous" if request.axis == "cost" else "grid" if request.n is None else "asked",
    )
    ends = [design.reach.get(name, 0.0) for name in families]
    if request.n is not None:
        return verdicts
    if design.beyond and not lacking.all():
        return _to_the_end(verdicts, max(ends), min(far, max(ends)) if past.any() else None, design.beyond)
    if lacking.all() and len(verdicts) == 1:
        return (replace(verdicts[0], end=max(verdicts[0].end, *ends)),)
    return verdicts


def _to_the_end(verdicts: tuple[Verdict, ...], most: float, limit: float | None, reason: str) -> tuple[Verdict, ...]:
    """The ranges with the last one drawn out to what was run; ``limit`` is the last budget that has limits."""
    rows = list(verdicts)
    if limit is not None:
        for i, (row, after) in enumerate(pairwise(rows)):
            if row.verdict != NOT_COMPARABLE == after.verdict and row.start <= limit < row.end:
                # between the last budget compared and the next of the grid
                rows[i], rows[i + 1] = replace(row, end=limit), replace(after, start=limit + 1.0)
    last = rows[-1]
    if last.verdict == NOT_COMPARABLE:
        rows[-1] = replace(last, end=max(most, last.end))
    elif last.end < most:
        rows.append(Verdict(last.end + 1, most, NOT_COMPARABLE, reason))
    return tuple(rows)


def _effect(contrast: Contrast, families: tuple[str, str], budget: float) -> Effect:
    """By how much at one budget, as the band has it: the test of that budget alone, where there is one."""
    places = np.flatnonzero(contrast.n == budget)
    if not places.size:
        nowhere = float("nan")
        return Effect(budget, nowhere, nowhere, nowhere, nowhere, None, False, False)
    there = contrast.at(int(places[0]))
    return Effect(
        budget=budget,
        difference=there.difference,
        low=there.low,
        high=there.high,
        p_value=there.p_value,
        winner=families[0] if there.certified > 0 else families[1] if there.certified < 0 else None,
        negligible=there.negligible,
        named=there.named,
        floor=there.floor,
        ceiling=there.ceiling,
    )


def _standings(
    design: Design, pairs: Sequence[PairComparison], points: Sequence[tuple[float, float, float, float]]
) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    """The families from best to worst at the effects' budget, and those below which no other is certified."""
    above = {name: [] for name in design.families}  # type: dict[str, list[str]]
    below = {name: [] for name in design.families}  # type: dict[str, list[str]]
    for pair in pairs:
        if (winner := pair.effect.winner) is not None:
            loser = pair.families[1] if winner == pair.families[0] else pair.families[0]
            above[winner].append(loser)
            below[loser].append(winner)
    nothing = (float("nan"),) * 3  # of one search that learns no budget but its own can be spoken of
    points = [
        (at, *(nothing if design.excluded.get(name) == "adaptive" else limits))
        for name, (at, *limits) in zip(design.families, points, strict=False)
    ]
    standings = [
        Standing(
            family=counts.family,
            n_trials=counts.n_trials,
            n_failed=counts.n_failed,
            n_running=counts.n_running,
            budget=at,
            value=value,
            low=low,
            high=high,
            better_than=tuple(above[counts.family]),
            worse_than=tuple(below[counts.family]),
        )
        for counts, (at, value, low, high) in zip(design.counts if points else (), points, strict=True)
    ]
    sign = design.metric.sign
    ranked = sorted(
        standings,
        key=lambda standing: (-sign * standing.value if np.isfinite(standing.value) else np.inf, standing.family),
    )
    return tuple(ranked), tuple(name for name in design.families if not below[name])


def points_at(design: Design, budget: float) -> list[tuple[float, float, float, float]]:
    """Each family's value with pointwise limits at the budget, or at its last one where it was not run so long."""
    request = design.request
    ends = {name: min(budget, design.ends.get(name, budget)) for name in design.families}
    if request.axis == "cost":
        drawn = design.curves(replace(request, budget=tuple(sorted({*ends.values()})), simultaneous=False))
        # what a cheaper family has reached is the least that it reaches with more
        points = [(curve.point(ends[curve.family]), ends[curve.family] < budget) for curve in drawn]
        return [_at_least(point, design.metric.direction) if short else point for point, short in points]
    wanted = {int(end) for end in ends.values()} - {0}
    return [
        curve.point(budget) for curve in design.curves(replace(request, n=tuple(sorted(wanted)), simultaneous=False))
    ]


def _at_least(point: tuple[float, float, float, float], direction: str) -> tuple[float, float, float, float]:
    """A value that is carried on to larger budgets: open on the better side."""
    at, value, low, high = point
    return (at, value, low, float("inf")) if direction == "max" else (at, value, float("-inf"), high)


def _other_winners(design: Design, pairs: PairPlaces) -> dict[tuple[int, int], list[str]] | None:
    """Who wins under the other failure policy; None where nothing failed or that policy leaves nothing to compare."""
    if not any(counts.n_failed for counts in design.counts):
        return None
    try:
        other = design.with_settings(design.request.settings.other_policy)
        hypotheses = _hypotheses(other, pairs)
        contrasts = _completed(other, pairs, hypotheses, other.contrasts(hypotheses) if hypotheses.pairs else _NOTHING)
    except (DataError, InputError):
        return None
    names = design.families
    return {
        places: winners(_verdicts(other, contrast, (names[places[0]], names[places[1]])))
        for places, contrast in zip(pairs, contrasts.pairs, strict=True)
    }


def _within_strata(design: Design) -> list[tuple[str, Comparison]]:
    """The same comparison within each stratum; one that no two families share has none."""
    inside = []
    for label, part in design.strata():
        try:
            inside.append((label, assemble(part, survival=False)))
        except (DataError, InputError):
            continue
    return inside
