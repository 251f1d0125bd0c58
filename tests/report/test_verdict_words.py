"""The verdict in at most three sentences: it says what the pairs say, and no more."""

import itertools
import re
from dataclasses import replace

import pytest
from comparing import comparison, effect, pair, standing, terms

from levelbest.report.words.answers import comparison_summary, ranges_of, verdict_sentences
from levelbest.report.words.verdicts import claim_sentence, effect_words, winners_words
from levelbest.results.verdict import BEATEN, BEST, NOTHING, POSSIBLE, Span, leading_spans, states_at
from levelbest.trials import Metric

APART, OPEN = "not comparable", "undecided"
THREE = terms(n_pairs=3)
PAIRS = (
    pair("a", "b", (1, 2, "a"), (3, 6, OPEN), (7, 8, APART, "beyond-half"), terms=THREE),
    pair("a", "c", (1, 1, OPEN), (2, 3, "a"), (4, 6, "c"), (7, 8, APART, "beyond-half"), terms=THREE),
    pair("b", "c", (1, 4, OPEN), (5, 6, "c"), (7, 8, APART, "beyond-half"), terms=THREE),
)


def test_a_leader_beats_every_other():
    # a beats both at 2 only; c beats a from 4 on and b from 5 on; b is beaten by a up to 2
    assert leading_spans(comparison(*PAIRS)) == (
        Span(1, 1, ("a", "c")),
        Span(2, 2, ("a",), "a"),
        Span(3, 3, ("a", "b")),
        Span(4, 4, ("b", "c")),
        Span(5, 6, ("c",), "c"),
        Span(7, 8, ()),
    )


@pytest.mark.parametrize(
    ("budget", "states"),
    [(1, [POSSIBLE, BEATEN, POSSIBLE]), (2, [BEST, BEATEN, BEATEN]), (5, [BEATEN, BEATEN, BEST]), (7, [NOTHING] * 3)],
)
def test_where_each_family_stands(budget, states):
    assert list(states_at(PAIRS, ("a", "b", "c"), budget).values()) == states


def test_a_family_that_cannot_be_compared_keeps_others_from_being_best():
    asked = terms(n_pairs=3)
    pairs = (
        pair("a", "b", (1, 9, "a"), terms=asked),
        pair("a", "few", (1, 2, "a"), (3, 9, APART, "beyond-half"), terms=asked),
        pair("b", "few", (1, 2, OPEN), (3, 9, APART, "beyond-half"), terms=asked),
    )
    names = ("a", "b", "few")
    assert states_at(pairs, names, 2) == {"a": BEST, "b": BEATEN, "few": BEATEN}
    assert states_at(pairs, names, 5) == {"a": POSSIBLE, "b": BEATEN, "few": NOTHING}
    assert leading_spans(comparison(*pairs)) == (Span(1, 2, ("a",), "a"), Span(3, 9, ("a", "few")))
    assert verdict_sentences(comparison(*pairs)) == (
        "With 5 trials: a or few (the other is worse).",
        "1 to 2 trials: a; 3 to 9: a or few.",
    )


def test_many_families():
    answer, changes = verdict_sentences(comparison(*PAIRS))
    assert answer == "With 5 trials: c, better than both others."
    assert changes == (
        "2 trials: a; 5 to 6: c; 1: a or c; 3: a or b; 4: b or c; "  # never one of all three
        "from 7 on, 10 trials are too few to tell."
    )


def test_neighbouring_ranges_are_put_together_as_far_as_that_is_true():
    """With 4 to 5 a or b, with 6 a, b or c, with 7 to 8 a or b: c is named where it may be best, and nowhere else."""
    asked = terms(n_pairs=3)
    pairs = (
        pair("a", "b", (1, 3, "a"), (4, 8, OPEN), (9, 9, "b"), terms=asked),
        pair("a", "c", (1, 5, "a"), (6, 6, OPEN), (7, 8, "a"), (9, 9, OPEN), terms=asked),
        pair("b", "c", (1, 5, "b"), (6, 6, OPEN), (7, 9, "b"), terms=asked),
    )
    assert verdict_sentences(comparison(*pairs)) == (
        "With 5 trials: a or b (the other is worse).",
        "1 to 3 trials: a; 9: b; 4 to 8: either, at 6 also c.",
    )
    names = {piece.text for piece in ranges_of(comparison(*pairs)) if piece.is_family}
    assert names == {"a", "b", "c"}


def test_few_who_may_be_best_are_not_lost_among_many():
    """At 1 one of two, at 2 one of five: not 'at 1 to 2 one of five'."""
    asked = terms(n_pairs=10)
    verdicts = {("a", "c"), ("a", "d"), ("a", "e")}
    pairs = [
        pair(x, y, (1, 1, x if (x, y) in verdicts else OPEN), (2, 2, OPEN), terms=asked)
        for x, y in itertools.combinations("abcde", 2)
    ]
    assert verdict_sentences(comparison(*pairs)) == (
        "With 2 trials: any of the five (the data cannot tell them apart).",
        "1 to 2 trials: a or b, at 2 also c, d and e.",
    )


def test_what_stands_behind_it():
    failed = [
        pair(*one.families, (1, 4, OPEN), terms=THREE, n_failed=lost, survives=survives)
        for one, lost, survives in zip(PAIRS, ((0, 1), (0, 1), (1, 1)), (False, True, True), strict=True)
    ]
    assert comparison_summary(comparison(*failed)) == (
        "With 4 trials: any of the three (the data cannot tell them apart).",
        "The same with 1 to 4 trials.",
        "95 % confidence over all budgets and 3 pairs; 10 trials each, 2 of 30 failed (counted as the worst score); "
        "the verdict changes in 1 of 3 pairs with failed trials dropped.",
    )


def test_by_how_much_the_leader_is_ahead_of_the_next():
    asked = terms(n_pairs=3, headline=2, named=True)
    won = effect(0.0211, 0.0142, 0.0279, "a", budget=2, named=True)
    pairs = (
        pair("b", "a", (1, 4, "a"), terms=asked, effect=won.mirrored()),
        pair("a", "c", (1, 4, "a"), terms=asked),
        pair("b", "c", (1, 4, OPEN), terms=asked),
    )
    table = (standing("a", better_than=("b", "c")), standing("b"), standing("c"))
    assert verdict_sentences(comparison(*pairs, standings=table)) == (
        "With 2 trials, tested alone: a, better than both others; ahead of the next, b, by 0.021 (0.014 to 0.028).",
        "The same with 1 to 4 trials.",
    )


def test_two_families_in_the_order_of_budgets():
    two = pair(
        "late",
        "early",
        (1, 3, "early"),
        (4, 5, OPEN),
        (6, 9, "late"),
        (10, 20, APART, "beyond-half"),
        terms=terms(),
        effect=effect(0.0031, -0.0142, 0.0281),
        n_trials=(20, 20),
    )
    assert verdict_sentences(comparison(two)) == (
        "With 5 trials: late or early; late is ahead by 0.003 (-0.014 to 0.028), which may be due to chance.",
        "1 to 3 trials: early; 6 to 9: late; 4 to 5: either; from 10 on, 20 trials are too few to tell.",
    )


def test_the_second_family_ahead_is_named_with_its_own_sign():
    two = pair("a", "b", (1, 5, "b"), terms=terms(), effect=effect(-0.2, -0.3, -0.1, "b"))
    assert verdict_sentences(comparison(two))[0] == "With 5 trials: b, better than a by 0.20 (0.10 to 0.30)."


def test_no_difference_worth_having_is_not_undecided():
    small = effect(0.001, -0.003, 0.004, negligible=True)
    two = pair("a", "b", (1, 5, OPEN, "", True), terms=terms(worth=0.005), effect=small)
    assert verdict_sentences(comparison(two)) == (
        "With 5 trials: a or b; a is ahead by 0.001 (-0.003 to 0.004): no difference worth having.",
        "The same with 1 to 5 trials; no difference worth having (0.005 or more) with 1 to 5.",
    )


def test_seeds_speak_of_a_new_run():
    seeds = terms(design="seeds", unit="run", headline=1)
    won = effect(0.021, 0.014, 0.028, "a", budget=1)
    two = pair("a", "b", (1, 1, "a"), terms=seeds, effect=won, n_trials=(3, 3), basis="t")
    assert comparison_summary(comparison(two)) == (
        "For a new run: a, better than b by 0.021 (0.014 to 0.028).",
        "95 % confidence; 3 runs each, none failed; with so few runs the verdict assumes nearly normal means.",
    )
    still_open = pair("a", "b", (1, 1, OPEN), terms=seeds, effect=effect(-0.01, -0.03, 0.01, budget=1))
    assert verdict_sentences(comparison(still_open)) == (
        "For a new run: a or b; b is ahead by 0.010 (-0.010 to 0.030), which may be due to chance.",
    )


def test_one_budget_takes_one_sentence():
    asked = terms(named=True)
    won = pair("a", "b", (5, 5, "b"), terms=asked, effect=effect(-0.034, -0.057, -0.010, "b", named=True))
    assert verdict_sentences(comparison(won)) == (
        "With 5 trials, tested alone: b, better than a by 0.034 (0.010 to 0.057).",
    )
    still_open = pair("a", "b", (5, 5, OPEN), terms=terms(), effect=effect(0.01, -0.01, 0.03))
    assert verdict_sentences(comparison(still_open)) == (
        "With 5 trials: a or b; a is ahead by 0.010 (-0.010 to 0.030), which may be due to chance.",
    )


def test_what_cannot_be_compared_says_why():
    two = pair("a", "b", (1, 1, APART, "few-trials"), terms=terms(design="seeds", unit="run"), n_trials=(2, 2))
    assert verdict_sentences(comparison(two)) == ("a and b cannot be compared: a family has fewer than 3 trials.",)


def test_an_adaptive_search_is_said_first_with_what_to_do():
    two = pair("a", "b", (1, 50, APART, "adaptive"), terms=terms())
    first, then = comparison_summary(comparison(two))
    assert "one search of a family allows no verdict" in first
    assert then.startswith("Retrain the best of each with fresh seeds")
    assert "repeat each whole search with other seeds" in then


def test_against_a_baseline():
    asked = terms(n_pairs=3)
    pairs = (
        pair("lr", "b", (1, 5, "b"), terms=asked),
        pair("lr", "c", (1, 3, OPEN), (4, 5, "lr"), terms=asked),
        pair("d", "lr", (1, 5, OPEN), terms=asked),
    )
    assert verdict_sentences(comparison(*pairs, baseline="lr")) == (
        "With 5 trials: b is better than lr; c is worse; the data cannot tell d from lr.",
        "Better than lr: b with 1 to 5 trials; worse than lr: c with 4 to 5.",
    )


def test_costs_are_budgets():
    asked = terms(axis="cost", metric=Metric("min", "val", "test", cost="seconds", cost_unit="s"))
    two = pair("a", "b", (60, 3600, "a"), (3600, 7200, OPEN), terms=asked)
    assert verdict_sentences(comparison(two)) == (
        "With a budget of 1.00 min: a, better than b.",
        "1.00 min to 1.00 h: a; 1.00 h to 2.00 h: a or b.",
    )


def test_a_better_best_from_fewer_trials_speaks_for_it_but_is_no_win():
    fewer = pair("a", "b", (1, 5, OPEN), terms=terms(), n_trials=(10, 40), best=(0.9, 0.8))
    assert claim_sentence(fewer) == (
        "As run, the best val is a's (0.9 of 10 trials, against 0.8 of 40), from fewer trials: that favours it, but "
        "one best score is one draw, not a verdict."
    )
    more = pair("a", "b", (1, 5, OPEN), terms=terms(direction="min"), n_trials=(10, 40), best=(0.9, 0.8))
    assert claim_sentence(more) == (
        "As run, the best val is b's (0.8 of 40 trials, against 0.9 of 10), but from more trials: a larger "
        "search finds a better best score even of equal families."
    )
    assert claim_sentence(pair("a", "b", (1, 5, OPEN), terms=terms(), best=(0.9, 0.8))) is None


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((0.0211, 0.0142, 0.0279), "0.021 (0.014 to 0.028)"),
        ((0.0211, 0.0199, 0.0223), "0.0211 (0.0199 to 0.0223)"),
        ((0.0211, 0.0142, float("inf")), "0.02110 (at least 0.01420)"),
        ((0.5, float("-inf"), float("inf")), "0.5000"),
        ((1234.0, 900.0, 1500.0), "1234 (900 to 1500)"),
        ((0.0404, -0.0021, 0.1231), "0.040 (-0.002 to 0.123)"),
    ],
)
def test_effects_have_the_digits_that_their_limits_deserve(limits, words):
    assert effect_words(effect(*limits)) == words


def test_a_limit_that_excludes_zero_is_not_shown_as_zero():
    assert effect_words(effect(0.11, 0.001, 0.21, winner="a")) == "0.11 (more than 0, up to 0.21)"
    assert effect_words(effect(-0.11, -0.21, -0.001, winner="b")) == "-0.11 (less than 0, down to -0.21)"


@pytest.mark.parametrize("name", ["old trials", "clinical_trial_success", "with 3 trials", "the [b]est[/b]"])
def test_names_are_left_as_they_are(name):
    two = pair(name, "b", (1, 5, name), terms=terms(), effect=effect(0.2, 0.1, 0.3, name))
    assert verdict_sentences(comparison(two))[0].startswith(f"With 5 trials: {name}, better than b by ")
    samples = pair(name, "b", (1, 5, name), terms=terms(unit="sample", n_groups=7))
    assert f"{name} is better than b with 1 to 5 samples" in samples.sentence


def test_never_more_than_three_sentences():
    for shown in (comparison(*PAIRS), comparison(PAIRS[0])):
        assert len(verdict_sentences(shown)) <= 3
        assert all(re.search(r"[^.]\.$", sentence) for sentence in comparison_summary(shown))


@pytest.mark.parametrize(
    ("ranges", "given", "words"),
    [
        (((1, 9, OPEN),), {}, "95 % confidence over all budgets and 3 pairs;"),
        (((5, 5, OPEN),), {}, "95 % confidence at 5 trials, over 3 pairs;"),
        (((5, 5, OPEN),), {"n_pairs": 1}, "95 % confidence at 5 trials;"),
        (
            ((1, 9, OPEN),),
            {"named": True},
            "95 % confidence at 5 trials, tested alone, and after that over all budgets and 3 pairs;",
        ),
        (((1, 1, OPEN),), {"unit": "run", "headline": 1}, "95 % confidence over 3 pairs;"),
        (
            ((1, 9, OPEN),),
            {"named": True, "axis": "cost", "design": "cost", "headline": None, "while_running": True},
            "95 % confidence over all budgets and 3 pairs;",
        ),
    ],
)
def test_what_the_confidence_is_over(ranges, given, words):
    """Once 'over all budgets' where one budget was asked for."""
    asked = terms(**({"n_pairs": 3} | given))
    one = pair("a", "b", *ranges, terms=asked)
    start = int(ranges[0][0])
    one = replace(one, budget=one.budget[one.budget >= start])
    assert comparison_summary(comparison(one))[-1].startswith(words)


def test_a_verdict_that_stays_open_has_no_winners_that_change():
    """Once 'the winner changes in 3 of 3 pairs' under 'no family is better'."""
    pairs = [replace(one, survives=False, n_failed=(1, 0)) for one in PAIRS]
    text = " ".join(comparison_summary(comparison(*pairs)))
    assert "winner" not in text
    assert "the verdict changes in 3 of 3 pairs with failed trials dropped" in text
    same = replace(pair("a", "b", (1, 9, OPEN), terms=terms()), survives=True, n_failed=(1, 0))
    assert "the verdict is the same with failed trials dropped" in comparison_summary(comparison(same))[-1]


def test_a_range_is_not_parted_where_its_difference_is_not_worth_having():
    """Once 'with 1 to 5, 6 to 26 and 27 to 60 trials'."""
    asked = terms(n_pairs=2, worth=0.02)
    parts = ((1, 5, "a"), (6, 26, "a", "", True), (27, 60, "a"))
    pairs = [pair("base", "a", *parts, terms=asked), pair("base", "b", (1, 60, OPEN), terms=asked)]
    _, ranges = verdict_sentences(comparison(*pairs, baseline="base"))
    assert ranges == "Better than base: a with 1 to 60 trials."
    assert winners_words(pairs[0]) == "a 1 to 60"
    apart = pair("base", "a", (1, 1, "a"), (5, 5, "a"), terms=asked)  # budgets that were asked for
    assert winners_words(apart) == "a 1, a 5"


def test_seeds_against_a_baseline_say_no_budget():
    asked = terms(n_pairs=2, design="seeds", unit="run", headline=1)
    pairs = [pair("a", "base", (1, 1, "a"), terms=asked), pair("b", "base", (1, 1, "b"), terms=asked)]
    assert verdict_sentences(comparison(*pairs, baseline="base")) == ("For a new run: a and b are better than base.",)


def test_the_best_of_seeds_is_said_once():
    asked = terms(n_pairs=3, design="seeds", unit="run", headline=1)
    found = effect(0.05, 0.03, 0.07, "a", budget=1)
    pairs = [pair(x, y, (1, 1, x), terms=asked, effect=found) for x, y in (("a", "b"), ("a", "c"), ("b", "c"))]
    table = (standing("a", better_than=("b", "c")), standing("b"), standing("c"))
    assert verdict_sentences(comparison(*pairs, standings=table)) == (
        "For a new run: a, better than both others; ahead of the next, b, by 0.050 (0.030 to 0.070).",
    )


def test_a_certain_difference_that_is_not_worth_having_is_said_to_be_none():
    slight = effect(0.03, 0.02, 0.04, "a", negligible=True)
    both = pair("a", "b", (1, 5, "a"), terms=terms(worth=0.2), effect=slight)
    sentences = verdict_sentences(comparison(both))
    assert sentences[0] == ("With 5 trials: a, better than b by 0.030 (0.020 to 0.040): no difference worth having.")
    other = pair("c", "b", (1, 5, OPEN), terms=terms(worth=0.2), effect=effect(0.01, -0.01, 0.03, negligible=True))
    sentences = verdict_sentences(comparison(both, other, baseline="b"))
    assert sentences == (
        "With 5 trials: a is better than b; the data cannot tell c from b; no difference worth having from b: a and c.",
        "Better than b: a with 1 to 5 trials.",
    )


def test_no_cost_has_two_verdicts():
    # at 1 s, the least cost, a is better; 1.002 s reads as 1.00 s too, and from there on it is open
    cost = terms(axis="cost", metric=Metric("max", "val", "test", cost="seconds", cost_unit="s"))
    rows = {
        ((1.0, 1.002, "a"), (1.002, 10.0, OPEN)): "1.00 s: a; more than 1.00 s to 10.0 s: a or b.",
        ((1.0, 10.0, OPEN), (10.0, 10.0, "b")): "10.0 s: b; 1.00 s to less than 10.0 s: a or b.",
        ((1.0, 5.0, OPEN), (5.0, 10.0, "b")): "5.00 s to 10.0 s: b; 1.00 s to 5.00 s: a or b.",
    }
    for ranges, words in rows.items():
        assert verdict_sentences(comparison(pair("a", "b", *ranges, terms=cost)))[1] == words
