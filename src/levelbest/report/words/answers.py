"""The verdict of a comparison: the answer at one budget, where it changes, and what it is based on.

A sentence is a list of pieces (`Piece`), so that each output can colour the names of the families.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from levelbest._plain import show_ranges
from levelbest.report.words.methods import fixed_sentence
from levelbest.report.words.phrases import (
    UNTOLD,
    BudgetRange,
    all_others,
    beaten_words,
    capital,
    condition_sentence,
    count_word,
    listed,
    with_budgets,
)
from levelbest.report.words.verdicts import (
    MAY_BE_CHANCE,
    at_effect,
    best_found_words,
    beyond_clauses,
    by_label,
    claim_sentence,
    effect_words,
    reason_words,
    rival,
    worth_words,
)
from levelbest.results import NOT_COMPARABLE, UNDECIDED, Comparison, PairComparison, Verdict
from levelbest.results.verdict import Span, leading_spans

MOST_NAMED = 4
"""So many contenders are named; of more the first three."""
_MOST_RANGES, _MOST_EXTRA = 5, 2
"""Of more ranges only those with a best family are listed; of other contenders within a range so many."""


@dataclass(frozen=True)
class Piece:
    """A piece of a sentence: words, or the name of a family."""

    text: str
    is_family: bool = False


Pieces = tuple[Piece, ...]


@dataclass(frozen=True)
class Answer:
    """The direct answer at one budget.

    Examples
    --------
    >>> str(Answer("with 5 trials", (Piece("cnn", True),), (Piece(", better than both others"),)))
    'With 5 trials: cnn, better than both others.'
    """

    where: str
    """``with 5 trials``; empty where there is nothing to say of a budget."""
    names: Pieces
    """``mlp-seeds or svm``; empty where nothing can be compared."""
    rest: Pieces = ()
    """`` (the other three are worse)``."""

    @property
    def pieces(self) -> Pieces:
        """The whole sentence."""
        before = (Piece(f"{capital(self.where)}: "),) if self.where else ()
        return (*before, *self.names, *self.rest, Piece("."))

    def __str__(self) -> str:
        return text_of(self.pieces)


def text_of(pieces: Iterable[Piece]) -> str:
    """The sentence as plain text."""
    return "".join(piece.text for piece in pieces)


def verdict_sentences(comparison: Comparison) -> tuple[str, ...]:
    """The answer at the headline budget, where it changes, and who was not searched."""
    if is_adaptive(comparison):
        return (
            "A search that learns from its own trials is one observation, however many trials it has: one search of "
            "a family allows no verdict.",
            *best_found_words(comparison),
            "Retrain the best of each with fresh seeds and compare those runs; or repeat each whole search with other "
            "seeds, at least 3 times, and compare the searches.",
        )
    sentences = [str(answer_of(comparison)), text_of(ranges_of(comparison))]
    if len(comparison.pairs) == 1:
        sentences.append(claim_sentence(comparison.pairs[0]) or "")
    sentences.append(fixed_sentence(comparison.spaces))
    return tuple(sentence for sentence in sentences if sentence)


def comparison_summary(comparison: Comparison) -> tuple[str, ...]:
    """The verdict first, then what stands behind it."""
    sentences = verdict_sentences(comparison)
    return sentences if is_adaptive(comparison) else (*sentences, condition_sentence(comparison))


def is_adaptive(comparison: Comparison) -> bool:
    """Whether a family is one search that learns from its own trials, so that there is no verdict."""
    return "adaptive" in _reasons(comparison)


def answer_of(comparison: Comparison) -> Answer:
    """Who may be best at the headline budget, and by how much, or how many others are beaten there."""
    if is_adaptive(comparison):
        return Answer("", (), (Piece("No verdict: a search that learns from its own trials is one observation"),))
    if all(not pair.decided and _is_apart(pair) for pair in comparison.pairs):
        reasons = listed(map(reason_words, _reasons(comparison)))
        which = listed(comparison.families) if len(comparison.families) == 2 else "The families"
        return Answer("", (), (Piece(f"{which} cannot be compared: {reasons}"),))
    where = _where(comparison)
    if comparison.baseline is not None and len(comparison.pairs) > 1:
        return Answer(where, _against_baseline(comparison))
    names = contenders_at_headline(comparison)
    if not names:
        verdicts = [_verdict_at_headline(comparison, pair) for pair in comparison.pairs]
        codes = dict.fromkeys(part.reason for part in verdicts if part is not None)
        return Answer(where, (), (Piece(f"no answer, since {listed(map(reason_words, codes))}"),))
    shown = any_of(names, len(comparison.families))
    if len(comparison.families) == 2:
        return Answer(where, shown, _of_two(comparison.pairs[0], names))
    beaten = len(comparison.families) - len(names)
    if best_at_headline(comparison) is not None:
        return Answer(where, shown, (Piece(f", better than {all_others(beaten)}"), *_lead(comparison)))
    return Answer(where, shown, (Piece(beaten_words(beaten)),))


def contenders_at_headline(comparison: Comparison) -> tuple[str, ...]:
    """Those that no other is better than at the headline budget, in the order of the table."""
    order = {row.family: place for place, row in enumerate(comparison.standings)}
    span = _span_at_headline(comparison)
    return () if span is None else tuple(sorted(span.contenders, key=lambda name: order.get(name, len(order))))


def best_at_headline(comparison: Comparison) -> str | None:
    """The family that is better than all others at the headline budget."""
    span = _span_at_headline(comparison)
    return None if span is None else span.best


def ranges_of(comparison: Comparison) -> Pieces:
    """Where the answer changes: who is best at which budgets, where it is open between whom, where nothing is known.

    Neighbouring ranges with different contenders are put together only as far as it stays true: those that may be best
    in all of them, and where another may be, too.
    """
    if comparison.terms.words.single or is_adaptive(comparison):
        return ()
    if comparison.baseline is not None and len(comparison.pairs) > 1:
        return _ranges_against_baseline(comparison)
    spans = leading_spans(comparison)
    known = [span for span in spans if span.contenders]
    if not known or (len(spans) == 1 and spans[0].start == spans[0].end):
        return ()
    clauses = _Clauses(comparison, [(span.start, span.end) for span in spans])
    if len({(span.contenders, span.best) for span in known}) == 1 and _span_at_headline(comparison) in known:
        if known[0].start < known[-1].end:
            budgets = clauses.budgets([(span.start, span.end) for span in known], unit=True)
            clauses.add([Piece(f"the same with {budgets}")])
    else:
        _add_changes(clauses, known)
    for text in [*_not_worth_having(clauses), *_beyond(spans, comparison)]:
        clauses.add([Piece(text)])
    return clauses.sentence()


def _not_worth_having(clauses: _Clauses) -> list[str]:
    """Of two families: where no difference worth having is left."""
    pairs, terms = clauses.comparison.pairs, clauses.comparison.terms
    if len(pairs) > 1 or terms.worth is None:
        return []
    ranges = by_label(pairs[0].verdicts, negligible=True).get(UNDECIDED, [])
    shown = clauses.budgets(ranges, unit=not clauses.clauses) if ranges else ""
    return [f"no difference worth having ({terms.worth:.2g} or more) with {shown}"] if shown else []


class _Clauses:
    """Clauses of one sentence over budgets: the first one says what they count."""

    def __init__(self, comparison: Comparison, parts: Sequence[BudgetRange]) -> None:
        self.comparison, self.parts = comparison, parts
        self.clauses: list[list[Piece]] = []

    def budgets(self, ranges: Sequence[BudgetRange], *, unit: bool) -> str:
        """``1 to 3 and 9 trials``."""
        terms = self.comparison.terms
        shown = listed(show_ranges(ranges, terms.axis, terms.cost_unit, self.parts))
        return terms.words.count(1 if shown == "1" else 2, shown) if unit and not terms.over_cost else shown

    def add(self, pieces: Sequence[Piece]) -> None:
        self.clauses.append(list(pieces))

    def at(self, ranges: Sequence[BudgetRange], pieces: Sequence[Piece]) -> None:
        """``4 to 8: mlp-seeds or svm``."""
        self.add([Piece(f"{self.budgets(ranges, unit=not self.clauses)}: "), *pieces])

    def sentence(self) -> Pieces:
        if not self.clauses:
            return ()
        pieces = [piece for i, clause in enumerate(self.clauses) for piece in ([Piece("; ")] if i else []) + clause]
        first = pieces[0]
        return (first if first.is_family else Piece(capital(first.text)), *pieces[1:], Piece("."))


def _add_changes(clauses: _Clauses, known: Sequence[Span]) -> None:
    """A clause for every range with a best family, then for those that are open."""
    won: dict[str, list[BudgetRange]] = {}
    for span in known:
        if span.best is not None:
            won.setdefault(span.best, []).append((span.start, span.end))
    blocks, leaders = _open_blocks(known), set(won)
    either = len(leaders) == 2 and all(set(_common(block)) == leaders for block in blocks)
    for name, ranges in won.items():
        clauses.at(ranges, [Piece(name, True)])
    if sum(map(len, won.values())) + len(blocks) > _MOST_RANGES:
        if blocks:
            clauses.add([Piece("at the other budgets it is undecided" if won else "the answer depends on the budget")])
        return
    for block in blocks:
        ends = (block[0].start, block[-1].end)
        clauses.at([ends], _open_names(block, clauses, either=either))


def _open_blocks(known: Sequence[Span]) -> list[list[Span]]:
    """Neighbouring ranges without a best family that can be spoken of together."""
    blocks: list[list[Span]] = []
    for span in known:
        if span.best is not None:
            continue
        last = blocks[-1] if blocks else []
        follows = bool(last) and last[-1] is known[known.index(span) - 1] and span.start - last[-1].end <= 1
        if follows and len(_common([*last, span])) > 1:
            last.append(span)
        else:
            blocks.append([span])
    return blocks


def _common(block: Sequence[Span]) -> tuple[str, ...]:
    """Those that may be best in every range of a block."""
    return tuple(name for name in block[0].contenders if all(name in span.contenders for span in block))


def _open_names(block: Sequence[Span], clauses: _Clauses, *, either: bool) -> Pieces:
    """Who may be best in all of a block, by name or as ``either`` of the two before, and where another may be, too."""
    common, n_families = _common(block), len(clauses.comparison.families)
    further = [(span, [name for name in span.contenders if name not in common]) for span in block]
    further = [(span, names) for span, names in further if names]
    pieces = [Piece("either")] if either else list(any_of(common, n_families))
    if len(common) == 1 and not further:  # no other is comparable there that it has not beaten
        pieces.append(Piece(" of those that can be compared"))
    if len(further) > _MOST_EXTRA:
        return (*pieces, Piece(", and others at some of these budgets"))
    ranges: dict[tuple[str, ...], list[BudgetRange]] = {}
    for span, names in further:
        ranges.setdefault(tuple(names), []).append((span.start, span.end))
    for some, where in ranges.items():
        pieces += [Piece(f", at {clauses.budgets(where, unit=False)} also "), *any_of(some, n_families, last="and")]
    return tuple(pieces)


def any_of(names: Sequence[str], n_families: int, last: str = "or") -> Pieces:
    """``a or b``, ``a, b, c or 4 more``, ``any of the five``."""
    if len(names) == n_families > 2:
        return (Piece(f"any of the {count_word(n_families)}"),)
    more = len(names) - MOST_NAMED + 1 if len(names) > MOST_NAMED else 0
    shown = [Piece(name, True) for name in names[: len(names) - more]] + ([Piece(f"{more} more")] if more else [])
    pieces: list[Piece] = []
    for i, piece in enumerate(shown):
        between = "" if i == 0 else f" {last} " if i == len(shown) - 1 else ", "
        pieces += [*([Piece(between)] if between else []), piece]
    return tuple(pieces)


def _of_two(pair: PairComparison, names: Sequence[str]) -> Pieces:
    """By how much one of two is better, or ahead."""
    effect, (first, second) = pair.effect, pair.families
    if not math.isfinite(effect.difference):
        beaten = (Piece(", better than "), Piece(rival(pair, names[0]), True))
        return beaten if len(names) == 1 else (Piece(UNTOLD),)
    if effect.winner == second or (effect.winner is None and effect.difference < 0):
        effect, first, second = effect.mirrored(), second, first
    by = f"by {effect_words(effect)}{worth_words(effect)}"
    if effect.winner is not None:
        return (Piece(", better than "), Piece(second, True), Piece(f" {by}"))
    ahead = (Piece("; "), Piece(first, True), Piece(f" is ahead {by}{'' if worth_words(effect) else MAY_BE_CHANCE}"))
    return ahead if effect.difference else (Piece(f"; no difference was seen: {effect_words(effect)}"),)


def _lead(comparison: Comparison) -> Pieces:
    """By how much the best is ahead of the next."""
    first, second, *_ = comparison.standings or (None, None)
    if first is None or second is None or first.family != best_at_headline(comparison):
        return ()
    effect = comparison.pair(first.family, second.family).effect
    by = Piece(f", by {effect_words(effect)}{worth_words(effect)}")
    known = math.isfinite(effect.difference)
    return (Piece("; ahead of the next, "), Piece(second.family, True), by) if known else ()


def _against_baseline(comparison: Comparison) -> Pieces:
    """``b is better than lr; c is worse; the data cannot tell d from lr``."""
    baseline = comparison.baseline or ""
    groups: dict[str, list[str]] = {"better": [], "worse": [], UNDECIDED: [], NOT_COMPARABLE: []}
    for pair in comparison.pairs:
        part, other = _verdict_at_headline(comparison, pair), rival(pair, baseline)
        verdict = NOT_COMPARABLE if part is None else part.verdict
        groups[{other: "better", baseline: "worse"}.get(verdict, verdict)].append(other)
    clauses: list[Pieces] = []
    for word in ("better", "worse"):
        if names := groups[word]:
            than = (Piece(" than "), Piece(baseline, True)) if not clauses else ()
            clauses.append((*any_of(names, 0, "and"), Piece(f" {'is' if len(names) == 1 else 'are'} {word}"), *than))
    if names := groups[UNDECIDED]:
        unclear = (Piece("the data cannot tell "), *any_of(names, 0), Piece(" from "), Piece(baseline, True))
        clauses.append(unclear)
    if names := groups[NOT_COMPARABLE]:
        clauses.append((*any_of(names, 0, "and"), Piece(" cannot be compared with "), Piece(baseline, True)))
    if names := [rival(pair, baseline) for pair in comparison.pairs if pair.effect.negligible]:
        worth = (Piece("no difference worth having from "), Piece(baseline, True), Piece(": "))
        clauses.append((*worth, *any_of(names, 0, "and")))
    return tuple(piece for i, clause in enumerate(clauses) for piece in ((Piece("; "),) if i else ()) + clause)


def _ranges_against_baseline(comparison: Comparison) -> Pieces:
    """Who is better or worse than the baseline at which budgets, where that is anywhere."""
    baseline = comparison.baseline or ""
    spans = [(part.start, part.end) for pair in comparison.pairs for part in pair.verdicts]
    clauses = _Clauses(comparison, spans)
    unit = True
    for word in ("better", "worse"):
        pieces: list[Piece] = []
        for pair in comparison.pairs:
            other = rival(pair, baseline)
            ranges = by_label(pair.verdicts).get(other if word == "better" else baseline, [])
            if ranges:
                shown, unit = clauses.budgets(ranges, unit=unit), False
                pieces += [Piece(", ")] if pieces else []
                pieces += [Piece(other, True), Piece(f" with {shown}")]
        if pieces:
            clauses.add([Piece(f"{word} than "), Piece(baseline, True), Piece(": "), *pieces])
    return clauses.sentence()


def _beyond(spans: Sequence[Span], comparison: Comparison) -> list[str]:
    smallest = min(count for pair in comparison.pairs for count in pair.n_trials)
    if len(comparison.pairs) == 1:
        return beyond_clauses(comparison.pairs[0].verdicts, comparison.terms, smallest)
    as_verdicts = [Verdict(s.start, s.end, s.verdict, "" if s.contenders else "beyond-half") for s in spans]
    return beyond_clauses(as_verdicts, comparison.terms, smallest)


def _headline(comparison: Comparison) -> float:
    """The budget of the answer: that of the effects, or the nearest that was compared."""
    budget = comparison.pairs[0].effect.budget
    ranges = [(part.start, part.end) for pair in comparison.pairs for part in pair.verdicts]
    return min((min(max(budget, start), end) for start, end in ranges), key=lambda inside: abs(inside - budget))


def _where(comparison: Comparison) -> str:
    """``with 5 trials``, and whether it was tested alone."""
    budget, effect = _headline(comparison), comparison.pairs[0].effect
    if budget == effect.budget:
        return at_effect(effect, comparison.terms).rstrip(",")
    return with_budgets([(budget, budget)], comparison.terms)


def _span_at_headline(comparison: Comparison) -> Span | None:
    budget = _headline(comparison)
    here = [span for span in leading_spans(comparison) if span.start <= budget <= span.end]
    return min(here, key=lambda span: span.best is None, default=None)


def _verdict_at_headline(comparison: Comparison, pair: PairComparison) -> Verdict | None:
    budget = _headline(comparison)
    here = [part for part in pair.verdicts if part.start <= budget <= part.end]
    return min(here, key=lambda part: not part.decided, default=None)


def _is_apart(pair: PairComparison) -> bool:
    return all(part.verdict == NOT_COMPARABLE for part in pair.verdicts)


def _reasons(comparison: Comparison) -> dict[str, None]:
    return dict.fromkeys(verdict.reason for pair in comparison.pairs for verdict in pair.verdicts)
