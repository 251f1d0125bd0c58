"""Claims made by summary numbers, in words."""

from __future__ import annotations

import math

from levelbest._plain import round_to_uncertainty, show_number, show_with_limits
from levelbest.errors import named
from levelbest.report.words.phrases import level, listed, plural
from levelbest.report.words.plans import Step
from levelbest.results import Claim, ClaimedPair
from levelbest.stats.budgets import ClaimReading, SearchGain

READ = {"sd": "standard deviation", "se": "standard error"}


def claim_sentences(claim: Claim) -> tuple[str, ...]:
    """For each claim what such runs show and what the larger search explains; then what that assumes."""
    verdicts = [_verdict(claim, pair) for pair in claim.pairs]
    searches = [_search(claim, pair) for pair in claim.pairs]
    return (*_together(claim, verdicts, searches), *_assumptions(claim))


def claim_answer(claim: Claim) -> tuple[str, ...]:
    """The same without the assumptions; of several claims without the numbers, which a table has."""
    searches = [_search(claim, pair) for pair in claim.pairs]
    if len(claim.pairs) == 1:
        return (_verdict(claim, claim.pairs[0]), *searches)
    return _together(claim, [_who(claim)], searches)


def _together(claim: Claim, verdicts: list[str], searches: list[str]) -> tuple[str, ...]:
    """Verdicts and what is said of searches: once, where of no claim it is known how large its search was."""
    if len(claim.pairs) > 1 and not any(_is_tuned(claim, pair) for pair in claim.pairs):
        return (*verdicts, f"The number of tuning trials is not stated, and {_UNKNOWN}")
    if len(verdicts) < len(searches):
        return (*verdicts, *searches)
    return tuple(sentence for pair in zip(verdicts, searches, strict=True) for sentence in pair)


def _who(claim: Claim) -> str:
    """The claims by their verdicts, without numbers."""
    verdicts = {
        "better": [pair for pair in claim.pairs if pair.decided == {1}],
        "worse": [pair for pair in claim.pairs if pair.decided == {-1}],
        "better or not, depending on what ± means": [pair for pair in claim.pairs if len(pair.decided) > 1],
        "not shown to be better": [pair for pair in claim.pairs if pair.decided == {0}],
    }
    parts = [f"{word}: {listed([pair.claim.name for pair in pairs])}" for word, pairs in verdicts.items() if pairs]
    return f"Against {claim.baseline.name}, {'; '.join(parts)}."


_UNKNOWN = "a larger search alone gives a better best score: how much of the difference it explains is unknown."


def _is_tuned(claim: Claim, pair: ClaimedPair) -> bool:
    return claim.baseline.tuned is not None and pair.claim.tuned is not None


def claim_assumptions(claim: Claim) -> str:
    """What the numbers assume, in one paragraph."""
    return " ".join(_assumptions(claim))


def difference_words(reading: ClaimReading) -> str:
    """``0.70 (-0.06 to 1.46)``."""
    return show_with_limits(reading.difference, reading.low, reading.high)


def _verdict(claim: Claim, pair: ClaimedPair) -> str:
    name, base = pair.claim.name, claim.baseline.name
    by = _either(pair, [difference_words(reading) for reading in pair.readings])
    if pair.decided == {1}:
        return f"{name} is better than {base}: by {by}."
    if pair.decided == {-1}:
        return f"{name} is worse than {base}: the difference, where more is better, is {by}."
    if len(pair.decided) > 1:
        word = {1: "better", -1: "worse", 0: "not shown"}
        by = _either(pair, [f"{word[reading.decided]}, {difference_words(reading)}," for reading in pair.readings])
        return f"Whether {name} is better than {base} depends on what ± means: {by}."
    return f"It is not shown that {name} is better than {base}: the difference is {by}."


def _either(pair: ClaimedPair, words: list[str]) -> str:
    """``0.70 (-0.06 to 1.46) if ± is a standard deviation, 0.7 (-1.0 to 2.4) if it is a standard error``."""
    if len(pair.readings) == 1 or len(set(words)) == 1:
        return words[0]
    return ", ".join(
        f"{text} if {'it' if place else '±'} is a {READ[reading.reading]}"
        for place, (text, reading) in enumerate(zip(words, pair.readings, strict=True))
    )


def _search(claim: Claim, pair: ClaimedPair) -> str:
    base, other = claim.baseline, pair.claim
    if base.tuned is None or other.tuned is None:
        lacking = listed([summary.name for summary in (base, other) if summary.tuned is None])
        return f"How many trials {lacking} had for tuning is not stated, and {_UNKNOWN}"
    if base.tuned == other.tuned:
        return f"Both were tuned with {plural(base.tuned, 'trial')}: the size of the search explains nothing."
    larger, smaller = sorted((base, other), key=lambda summary: -(summary.tuned or 0))
    sizes = f"{larger.name} had the larger search, {plural(larger.tuned, 'trial')} against {smaller.tuned}"
    gains = [_range(reading) for reading in pair.readings]
    if larger is base:
        return f"{sizes}, which, under the assumptions below, hides this much of a gain: {_either(pair, gains)}."
    if not pair.readings[0].difference > 0:
        return f"{sizes}, and is still not ahead."
    shares = [f"{gain} ({explained_words(reading)})" for gain, reading in zip(gains, pair.readings, strict=True)]
    return f"{sizes}; under the assumptions below, that alone explains this much of the gain: {_either(pair, shares)}."


def _range(reading: ClaimReading) -> str:
    """``0.35 to 0.49``, over the noise of validation."""
    decimals = round_to_uncertainty(reading.difference, reading.low, reading.high)
    gains = sorted({show_number(abs(search.gain), decimals) for search in reading.searches}, key=float)
    return " to ".join(gains)


def explained_words(reading: ClaimReading) -> str:
    """``50 to 71 %``, ``all``: of the difference."""
    shares = sorted(search.share for search in reading.searches)
    if not shares or math.isnan(shares[0]) or shares[0] < 0:
        return ""
    if shares[0] >= 1:
        return "all"
    ends = list(dict.fromkeys(f"{100 * share:.0f}" if share < 1 else "all" for share in (shares[0], shares[-1])))
    return f"{ends[0]} % to all" if "all" in ends else f"{' to '.join(ends)} %"


def _assumptions(claim: Claim) -> list[str]:
    several = "" if len(claim.pairs) == 1 else f" over {plural(len(claim.pairs), 'claim')}"
    parts = [
        f"{level(claim.confidence)} confidence{several}, Welch's t, assuming nearly normal runs; for new runs of "
        "these configurations, not for other data or searches."
    ]
    searches = [reading.searches for pair in claim.pairs for reading in pair.readings if reading.searches]
    if searches and any(search.gain for pair_searches in searches for search in pair_searches):
        parts.append(_assumed(claim, searches))
    better = "higher" if claim.direction == "max" else "lower"
    parts.append(f"{better.capitalize()} is better ({named('direction')}).")
    return parts


def _assumed(claim: Claim, searches: list[tuple[SearchGain, ...]]) -> str:
    of = f"a standard deviation of {claim.search_sd:g}" if claim.search_sd is not None else _like_runs(searches)
    noise = "with as much noise (first number) or none (second)"
    if claim.noise is not None:
        noise = f"with a noise of {claim.noise:g}"
    return f"Assumed: trials of both searches are normal with a common mean and {of}; validation selects {noise}."


def _like_runs(searches: list[tuple[SearchGain, ...]]) -> str:
    sds = dict.fromkeys(
        f"{search.sd:.2g} (between {search.sd_low:.2g} and {search.sd_high:.2g})" for search, *_ in searches
    )
    return f"the sd of the runs, {' or '.join(sds) if len(sds) < 3 else 'both pooled'}"


def claim_steps(claim: Claim) -> tuple[Step, ...]:
    """What would be needed to know."""
    steps = []
    pairs = claim.pairs
    if any(len(pair.readings) > 1 for pair in pairs):
        text = f"Ask whether ± is a standard deviation or a standard error ({named('plus_minus')})"
        steps.append(Step(text))
    steps += [step for pair in pairs[:1] for step in (_about_search(claim, pair), _about_runs(pair)) if step]
    return tuple(steps)


def _about_search(claim: Claim, pair: ClaimedPair) -> Step | None:
    base, other = claim.baseline, pair.claim
    if base.tuned is None or other.tuned is None:
        return Step(
            f"Ask how many trials each was tuned with, and add it: '{other.name} {other.mean:g} ± "
            f"{other.spread:g} ({other.n}), tuned N'"
        )
    if base.tuned == other.tuned:
        return None
    smaller, larger = sorted((base, other), key=lambda summary: summary.tuned or 0)
    needed = [search.explains_all for reading in pair.readings for search in reading.searches]
    text = (
        f"Tune {smaller.name} with {larger.tuned} trials too; or get the trials of both searches, which compare "
        "evaluates at equal numbers"
    )
    if smaller is other or not needed or math.isnan(needed[0]):
        return Step(text)
    ends = list(dict.fromkeys(f"{sd:#.2g}" for sd in sorted(needed)))
    ends = ends if len(ends) < 2 else [ends[0], ends[-1]]
    return Step(text, why=f"an sd of the trials of {' to '.join(ends)} explains the whole gain ({named('search_sd')})")


def _about_runs(pair: ClaimedPair) -> Step | None:
    if all(reading.decided for reading in pair.readings):
        return None
    many = [f"{reading.if_true:g}" if math.isfinite(reading.if_true) else "too many" for reading in pair.readings]
    goal = f"in {100 * pair.readings[0].needed.goal:.0f} of 100 cases"
    return Step(f"Run more seeds: this many of each would show such a difference {goal}: {_either(pair, many)}")
