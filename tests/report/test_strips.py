"""Strips read off the pairs: the best, those who may be, and how far it reaches; by hand and by enumeration."""

import itertools
import random
from dataclasses import replace

from page_view import compared, make_view, many_families

from levelbest.report.build import build_view
from levelbest.report.figures.report import report_figures
from levelbest.report.page.html import render_page
from levelbest.results import Verdict
from levelbest.results.verdict import Span, spans_of
from levelbest.trials import Trials

NAMES = ("a", "b", "c")


def _pair(first, second, *ranges, axis="trials"):
    return compared((first, second), "mean", axis, (), (), (), (), [Verdict(*one) for one in ranges])


def test_the_winner_the_undecided_and_the_end():
    pairs = [
        _pair("a", "b", (1, 3, "a"), (4, 9, "undecided"), (10, 12, "not comparable")),
        _pair("a", "c", (1, 5, "a"), (6, 8, "c"), (9, 12, "not comparable")),
        _pair("b", "c", (1, 6, "undecided"), (7, 8, "c"), (9, 12, "not comparable")),
    ]
    assert spans_of(pairs, NAMES) == (
        Span(1, 3, ("a",), "a"),
        Span(4, 5, ("a", "b")),
        Span(6, 6, ("b", "c")),
        Span(7, 8, ("c",), "c"),
        Span(9, 9, ("a", "b", "c")),
        Span(10, 12, ()),
    )


def test_every_budget_against_a_count_of_its_own():
    """A stupid second way: at each budget look up each pair and count wins."""
    rng = random.Random(5)
    for _ in range(50):
        pairs = []
        for both in itertools.combinations(NAMES, 2):
            cuts = sorted(rng.sample(range(2, 20), 3))
            kinds = [rng.choice([*both, "undecided", "not comparable"]) for _ in range(4)]
            edges = zip([1, *cuts], [*(cut - 1 for cut in cuts), 20], kinds, strict=True)
            pairs.append(_pair(*both, *edges))
        spans = spans_of(pairs, NAMES)
        assert spans[0].start == 1
        assert spans[-1].end == 20
        for n in range(1, 21):
            (span,) = [part for part in spans if part.start <= n <= part.end]
            found = [next(part.verdict for part in pair.verdicts if part.start <= n <= part.end) for pair in pairs]
            wins = {name: found.count(name) for name in NAMES}
            if set(found) == {"not comparable"}:
                assert span == Span(span.start, span.end, ())
            elif 2 in wins.values():
                assert span.verdict == max(wins, key=wins.get)
            else:
                beaten = set()
                for pair, verdict in zip(pairs, found, strict=True):
                    if verdict in pair.families:
                        beaten |= set(pair.families) - {verdict}
                assert span.verdict == "undecided"
                # where verdicts go round in a circle anyone may be the best
                assert span.contenders == (tuple(name for name in NAMES if name not in beaten) or NAMES)


def test_costs_that_meet_belong_to_the_verdict_that_decides():
    ranges = ((0.5, 1.45, "undecided"), (1.45, 1.45, "a"), (1.45, 3.0, "undecided"))
    pair = _pair("a", "b", *ranges, axis="cost")
    spans = spans_of([pair], NAMES[:2])
    assert tuple((part.start, part.end, part.verdict) for part in spans) == ranges
    assert pair.verdict_at(1.45) == "a"  # a thick line in a figure agrees with the table


def test_against_a_baseline_every_rival_has_a_strip():
    view = many_families(3)
    rivals = replace(view, pairs=view.pairs[:2])  # the third, of the rivals with each other, is left out
    strips = rivals.strips("mean", "trials")
    assert [(strip.label, strip.spans[-1].verdict) for strip in strips] == [
        ("model 0 and model 1", "model 1"),
        ("model 0 and model 2", "model 2"),
    ]


def test_reach_and_seeds():
    view = make_view()
    assert view.reach("mean", "trials") == 4
    assert view.reach("mean", "cost") is None  # no pairs, and no horizon is known
    assert not view.single
    runs = Trials.from_arrays(
        [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], family=list("aaabbb"), seed=[1, 2, 3, 1, 2, 3], direction="max"
    )
    seeds = build_view(runs)
    assert seeds.single == "a new run"
    assert seeds.strips("mean", "trials") == ()  # the verdict is about one run
    standing = {own.family: (own.low, own.high) for own in seeds.comparison.standings}
    shown = {line.family: (line.low[0], line.high[0]) for line in seeds.lines_of("mean", "trials")}
    assert shown == standing  # the page's limits of one run are those of the terminal's table
    assert seeds.reach("mean", "trials") is None
    assert "of a new run" in seeds.title  # and so is the page
    assert "against the budget" not in seeds.title
    assert list(report_figures(seeds, runs)) == ["runs", "differences"]  # one budget: no chart over budgets
    text = render_page(seeds, {"runs": b"<svg/>", "differences": b"<svg/>"})
    places = [text.index(mark) for mark in ('id="verdict"', 'id="runs"', 'id="standing"', 'id="pairs"')]
    assert places == sorted(places)  # the runs are the first picture
    assert 'id="curves"' not in text
    assert 'id="matrix"' not in text
    assert "validation only" not in text  # nothing is selected among runs of one configuration
    assert seeds.statistics == ("mean",)
    assert not {"no-reported", "few-values", "beyond-horizon"} & {caution.code for caution in seeds.cautions}
