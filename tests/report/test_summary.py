"""One sentence for many pairs: it says what the pairs say, and no more."""

from dataclasses import replace

import pytest

from levelbest.report.view import Family, Pair, Range
from levelbest.report.words.summary import BEYOND, contenders, leaders, summary_sentences

NAN = float("nan")


def _pair(a, b, *ranges):
    return Pair((a, b), "mean", "trials", (), (), (), (), tuple(Range(*one) for one in ranges), "")


def _family(name, failed=0):
    return Family(name, 10, failed, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, (NAN, NAN, NAN))


PAIRS = [
    _pair("a", "b", (1, 2, "a"), (3, 6, "undecided"), (7, 8, "not comparable")),
    _pair("a", "c", (1, 1, "undecided"), (2, 3, "a"), (4, 6, "c"), (7, 8, "not comparable")),
    _pair("b", "c", (1, 4, "undecided"), (5, 6, "c"), (7, 8, "not comparable")),
]


def test_a_leader_beats_every_other():
    # a beats both only at 2; c beats a from 4 and b from 5, but b is never beaten by a beyond 2
    assert leaders(PAIRS, ["a", "b", "c"]) == [(1, 1, ""), (2, 2, "a"), (3, 4, ""), (5, 6, "c"), (7, 8, BEYOND)]


def test_the_sentences():
    families = [_family("a"), _family("b"), _family("c", 2)]
    lead, conditions = summary_sentences(PAIRS, families, 0.95, "worst")
    assert lead == (
        "a is better than all 2 others at 2 trials; c is better than all 2 others at 5 to 6 trials; undecided at 1 and "
        "3 to 4."
    )
    assert conditions == (
        "95 % confidence over all budgets and pairs; 10 trials each, 2 of 30 failed and count as the worst score; "
        "not comparable at 7 to 8 trials, for want of trials."
    )


@pytest.mark.parametrize(
    ("n", "left", "said"),
    [
        (1, ["a", "c"], "At 1 trial the best is one of a and c."),
        (2, ["a"], None),
        (3, ["a", "b"], "At 3 trials the best is one of a and b."),
        (5, ["c"], None),  # c beats both: the lead says so already
        (7, [], None),  # nothing can be compared
    ],
)
def test_contenders_are_those_whom_nobody_beats(n, left, said):
    assert contenders(PAIRS, ["a", "b", "c"], n) == left
    families = [_family("a"), _family("b"), _family("c")]
    sentences = summary_sentences(PAIRS, families, 0.95, "worst", headline=n)
    assert (sentences[1] if said else None) == said
    assert len(sentences) == (3 if said else 2)


def test_nothing_decided_at_the_headline():
    pairs = [_pair(a, b, (1, 4, "undecided")) for a, b in (("a", "b"), ("a", "c"), ("b", "c"))]
    sentences = summary_sentences(pairs, [_family("a"), _family("b"), _family("c")], 0.95, "worst", headline=3)
    assert sentences[:2] == (
        "No family is better than all others at any budget.",
        "At 3 trials nothing is decided yet.",
    )


def test_two_families_are_named_in_the_order_of_budgets():
    pair = replace(
        _pair("late", "early", (1, 3, "early"), (4, 5, "undecided"), (6, 9, "late")),
        claim="As run, early found the better score.",
        survives=False,
    )
    lead, conditions, claim = summary_sentences([pair], [_family("late", 1), _family("early")], 0.9, "worst")
    assert lead == (
        "early is better than late at 1 to 3 trials; late is better than early at 6 to 9 trials; undecided at 4 to 5."
    )
    assert conditions == (
        "90 % confidence over all budgets; 10 trials each, 1 of 20 failed and count as the worst score; "
        "the winner changes with failed trials dropped."
    )
    assert claim == "As run, early found the better score."


def test_nobody_leads():
    pairs = [_pair("a", "b", (1, 3, "undecided"))]
    lead, conditions = summary_sentences(pairs, [_family("a"), _family("b")], 0.9, "drop")
    assert lead == "Undecided between a and b at 1 to 3 trials."
    assert conditions.startswith("90 % confidence")
    beyond = [_pair("a", "b", (1, 3, "not comparable"))]
    assert summary_sentences(beyond, [_family("a"), _family("b")], 0.9, "drop")[0] == "a and b cannot be compared."


def test_what_cannot_be_compared_is_said_with_its_reason():
    ranges = (Range(1, 30, "not comparable", "scores without spread"),)
    flat = replace(PAIRS[0], families=("a", "b"), ranges=ranges)
    said = " ".join(summary_sentences([flat], [_family("a"), _family("b")], 0.95, "worst"))
    assert "not comparable at 1 to 30 trials, scores without spread" in said
    assert "for want" not in said
