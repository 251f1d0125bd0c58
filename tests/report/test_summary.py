"""One sentence for many pairs: it says what the pairs say, and no more."""

from levelbest.report.summary import leaders, summary_sentences
from levelbest.report.view import Family, Pair, Range

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
    assert leaders(PAIRS, ["a", "b", "c"]) == [(1, 1, ""), (2, 2, "a"), (3, 4, ""), (5, 6, "c"), (7, 8, "beyond")]


def test_the_sentence():
    lead, conditions = summary_sentences(PAIRS, [_family("a"), _family("b"), _family("c", 2)], 0.95, "worst")
    assert lead == (
        "a is better than all 2 others at 2 trials; c is better than all 2 others at 5 to 6 trials; none is at 1 and "
        "3 to 4."
    )
    assert conditions == (
        "95 % confidence over all budgets and pairs; 10 trials each, 2 of 30 failed and count as the worst score; "
        "not comparable at 7 to 8 trials, for want of trials."
    )


def test_nobody_leads():
    pairs = [_pair("a", "b", (1, 3, "undecided"))]
    lead, conditions = summary_sentences(pairs, [_family("a"), _family("b")], 0.9, "drop")
    assert lead == "No family is better than all others at any budget."
    assert conditions.startswith("90 % confidence")
