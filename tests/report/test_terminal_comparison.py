"""A comparison on one screen: 80 columns, no colour needed, no cell cut, nothing twice."""

import itertools
import math
import re
import shlex
import subprocess
from dataclasses import replace

import pytest
from comparing import NAN, comparison, effect, pair, standing, terms

from levelbest.cautions import Caution
from levelbest.report.terminal.comparison import print_comparison, strips_of
from levelbest.report.terminal.console import _folded
from levelbest.report.words.answers import answer_of
from levelbest.report.words.plans import next_steps
from levelbest.stats.budgets import Needed

OPEN, APART = "undecided", (61, 120, "not comparable", "beyond-half")


def _printed(capsys, shown, **options):
    print_comparison(shown, **({"details": True} | options))
    return capsys.readouterr().out.splitlines()


def _two(**changes):
    asked = terms(headline=10)
    options = {"terms": asked, "n_trials": (120, 120), "effect": effect(0.021, 0.014, 0.028, "svm", budget=10)}
    one = pair("svm", "mlp", (1, 6, OPEN), (7, 60, "svm"), APART, **(options | changes))
    table = (
        standing("svm", 0.956, 0.951, 0.961, n_trials=120, budget=10),
        standing("mlp", 0.92, 0.91, 0.93, budget=10),
    )
    return comparison(one, standings=table)


def test_every_part_is_there_once(capsys):
    lines = _printed(capsys, _two())
    text = " ".join(" ".join(lines).split())
    assert text.startswith(
        "With 10 trials: svm, better than mlp by 0.021 (0.014 to 0.028). 7 to 60 trials: svm; 1 to 6: svm or mlp;"
    )
    assert "test of the best of 10 trials, which val chooses (mean)" in text
    assert "svm 0.956 0.951 to 0.961 120" in text
    for words in ("95 % confidence", "svm, better than mlp", "are for each family separately", "Seed 0"):
        assert text.count(words) == 1, words
    assert all(len(line) <= 80 for line in lines)
    assert lines == [line.rstrip() for line in lines]


def test_pairs_on_request(capsys):
    assert "svm - mlp" not in " ".join(_printed(capsys, _two()))
    lines = _printed(capsys, _two(), pairs=True)
    assert any("svm - mlp" in line for line in lines)
    assert not any("shows each pair" in line for line in lines)


def _many(count, **changes):
    names = [f"family-{i:02d}" for i in range(count)]
    asked = terms(n_pairs=count * (count - 1) // 2)
    pairs = [
        pair(
            a, b, (1, 4, OPEN), (5, 60, a), APART, terms=asked, n_trials=(120, 120), n_failed=(i % 7, i % 5), **changes
        )
        for i, (a, b) in enumerate(itertools.combinations(names, 2))
    ]
    table = [
        standing(name, 0.9 - i / 1000, 0.89, 0.91, n_trials=120, n_failed=i % 4, better_than=names[i + 1 :])
        for i, name in enumerate(names)
    ]
    lost = [
        Caution.of("failures", name, i % 4, n_failed=i % 4, of=120 + i, failed="worst", unit="trial")
        for i, name in enumerate(names)
        if i % 4
    ]
    ties = [Caution.of("ties", name, 0.5, share=0.5 + i / 200) for i, name in enumerate(names)]
    return comparison(*pairs, standings=tuple(table), cautions=(*lost, *ties))


def test_many_pairs_have_a_row_each(capsys):
    lines = _printed(capsys, _many(4, effect=effect(0.02, -0.01, 0.05)), pairs=True)
    (row,) = [line for line in lines if line.startswith("family-00 - family-01")]
    assert row.split("  ")[1:] == ["family-00 5 to 60", "0.02 (-0.01 to 0.05)"]


def test_five_families_fit_a_screen(capsys):
    lines = _printed(capsys, _many(5), details=False)
    assert len(lines) <= 24
    assert sum(line.startswith("family-") for line in lines) == 9  # a row each, and a strip for those that may be best


def test_forty_five_families_fit_a_screen(capsys):
    lines = _printed(capsys, _many(45), details=False)
    assert len(lines) <= 24
    assert any(re.fullmatch(r"... and \d+ more", line) for line in lines)


def test_forty_five_families_are_a_ranking(capsys):
    lines = _printed(capsys, _many(45))
    assert len(lines) <= 80
    assert all(len(line) <= 80 for line in lines)
    ranked = [line.split() for line in lines if re.match(r" *\d+ +family-", line)]
    assert [row[:2] for row in ranked] == [[str(i + 1), f"family-{i:02d}"] for i in range(45)]


def test_forty_five_families_with_every_remark_and_step_fit_the_width(capsys):
    many = _many(45, effect=effect(0.01, -0.09, 0.11), further=12465, survives=False)
    names = many.families
    more = [
        *(Caution.of("trend", name, 0.3, rho=0.3, better=True) for name in names[:9]),
        *(Caution.of("outlier", name, 0.99, score=0.99, distance=3.5, gap=1.2) for name in names[5:12]),
        *(Caution.of("repeated-configurations", name, 3, repeated=3, n_trials=120) for name in names[::2]),
        *(Caution.of("few-values", name, 7, distinct=7, n_trials=120) for name in names[::3]),
        Caution.of("no-reported", selection="a_selection_score_with_a_long_name"),
        Caution.of("guessed-columns", columns=(("selection", "dev_acc"), ("family", "model")), direction="max", by="x"),
    ]
    lines = _printed(capsys, replace(many, cautions=(*many.cautions, *more)))
    assert all(len(line) <= 80 for line in lines)
    assert len(set(lines) - {""}) == len([line for line in lines if line])  # nothing is printed twice


def test_long_names_lose_their_middle(capsys):
    long = "a-very-long-name-of-a-family-with-its-optimiser-and-its-schedule"
    one = pair(long, "b", (1, 6, OPEN), (7, 60, long), APART, terms=terms(), n_trials=(120, 120))
    table = (standing(long, 0.9, 0.8, 0.95), standing("b", 0.8, 0.7, 0.9))
    lines = _printed(capsys, comparison(one, standings=table))
    assert long in " ".join(lines)  # in the verdict
    assert any(re.match("a-very-.*….*-schedule +0.90", line) for line in lines)
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("name", ["cnn[big]", "lr[/b]", "[red]", ":smile:"])
def test_names_print_as_they_are(capsys, name):
    one = pair(name, "b", (1, 60, name), terms=terms(), effect=effect(0.2, 0.1, 0.3, name))
    lines = _printed(capsys, comparison(one, standings=(standing(name, 0.9), standing("b", 0.8))), pairs=True)
    assert sum(name in line for line in lines) >= 4  # verdict, table, strip, pair


def test_letters_follow_the_verdicts():
    three = terms(n_pairs=3)
    shown = comparison(
        pair("a", "b", (1, 4, "a"), (5, 9, OPEN), terms=three),
        pair("a", "c", (1, 9, "a"), terms=three),
        pair("b", "c", (1, 9, OPEN), terms=three),
    )
    strips = strips_of(shown, ["a", "b", "c"], 9)
    assert dict(strips.rows) == {"a": "BBBBooooo", "b": "----ooooo", "c": "---------"}
    assert strips.axis == "1 3 5 7 9"
    against = comparison(pair("lr", "a", (1, 3, "a"), (4, 6, OPEN), (7, 9, "lr"), terms=terms()), baseline="lr")
    assert dict(strips_of(against, ["a", "lr"], 9).rows) == {"a": "+++ooo---"}


def test_one_budget_has_no_strip(capsys):
    seeds = terms(design="seeds", unit="run", headline=1)
    one = pair("a", "b", (1, 1, "a"), terms=seeds, effect=effect(0.2, 0.1, 0.3, "a", budget=1))
    table = (standing("a", 0.9, 0.8, 0.95, budget=1), standing("b", 0.7, 0.6, 0.8, budget=1))
    lines = _printed(capsys, comparison(one, standings=table))
    assert "test of a new run (mean)" in lines
    assert not any("may be best" in line for line in lines)


def test_the_answer_comes_first_then_doubts_notes_and_choices(capsys):
    cautions = (
        Caution.of("guessed-columns", columns=[("seed", "seed")]),
        Caution.of("ties", "svm", 0.8, share=0.8),
        Caution.of("failures", "svm", 2, n_failed=2, of=9, failed="worst", unit="trial"),
    )
    shown = comparison(*_two().pairs, cautions=cautions)
    lines = _printed(capsys, shown)
    labels = [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in ("doubt", "note", "chosen")]
    assert labels == ["doubt", "note", "chosen"]
    assert lines[0] == str(answer_of(shown))


def test_next_steps_say_what_would_decide_it():
    undecided = pair("a", "b", (1, 9, OPEN), terms=terms(), effect=effect(0.01, -0.01, 0.03), further=37.2)
    (step, *_) = next_steps(comparison(undecided))
    wanted = "a or b? About 38 more trials of each would probably decide"
    assert (step.text, step.command, step.why) == (wanted, "lb.plan_trials(trials, n=5)", "")
    few = Needed(NAN, 24.0, math.inf, 0.95, 5, 5, 0.3, 0.8, (10, 10), code="few")
    (step, *_) = next_steps(comparison(replace(undecided, further=NAN, needed=few)))
    assert step.text == "a or b? Run more: in all perhaps 24 or more trials of each"
    assert step.why == "10 trials are too few to plan from"
    (step, *_) = next_steps(comparison(replace(undecided, further=NAN, needed=replace(few, low=9.0))))
    assert step.text == "a or b? Add more trials of each"
    hopeless = pair("a", "b", (1, 9, OPEN), terms=terms(), effect=effect(1e-6, -0.01, 0.01), further=12465)
    (step, *_) = next_steps(comparison(hopeless))
    # what further trials could tell: 20 times the 10 there are would not do, 4 times would halve the limits
    wanted = "a or b? It may take more than 200 more trials of each"
    assert step.text == wanted
    small = Needed(13_000.0, 12_465.0, math.inf, 0.95, 5, 5, 0.1, 0.8, (10, 10), code="small")
    (alike, *_) = next_steps(comparison(replace(hopeless, needed=small)))
    assert alike.text == "a or b? Even 200 more trials of each would hardly decide"
    assert (
        step.why == "at 5 trials the difference observed is 0.000 (-0.010 to 0.010); 30 would about halve its interval"
    )
    assert step.command == "lb.plan_trials(trials, n=5)"
    decided = pair("a", "b", (1, 9, "a"), terms=terms(), effect=effect(0.1, 0.05, 0.15, "a"), further=0)
    assert not any("decide" in step.text for step in next_steps(comparison(decided)))


def test_next_steps_tell_how_to_choose_n_where_it_chooses_the_winner():
    # [B] 3.3
    def hints(asked, *ranges):
        steps = next_steps(comparison(pair("a", "b", *ranges, terms=asked)))
        return [step for step in steps if step.text.startswith("Say which budget your readers have")]

    crossing = ((1, 3, "a"), (4, 5, OPEN), (6, 9, "b"))
    (hint,) = hints(terms(), *crossing)
    assert "which family is best depends on it" in hint.why
    assert not hints(terms(), (1, 3, OPEN), (4, 9, "b"))  # the winner is the same wherever there is one
    assert not hints(terms(named=True), *crossing)
    assert not hints(terms(axis="cost"), *crossing)
    assert not hints(terms(design="seeds", unit="run", headline=1), (1, 1, "a"))


def test_rivals_of_a_baseline_that_are_not_compared_have_no_best_that_changes(capsys):
    asked = terms(n_pairs=2)
    pairs = (
        pair("base", "a", (1, 3, "base"), (4, 9, "a"), terms=asked),
        pair("base", "b", (1, 3, "base"), (4, 9, OPEN), terms=asked),
    )
    table = (standing("a", 0.9, better_than=("base",)), standing("b", 0.8), standing("base", 0.7, worse_than=("a",)))
    against = comparison(*pairs, baseline="base", standings=table)
    assert not any("depends on it" in step.why for step in next_steps(against))
    print_comparison(against)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = {row[0]: row[-1] for row in rows if row[:1] in (["a"], ["b"], ["base"]) and len(row) == 5}
    assert shown == {"a": "baseline", "b": "-", "base": "(baseline)"}


def test_next_steps_are_about_the_leading_families():
    three = terms(n_pairs=3)
    still_open = effect(0.01, -0.01, 0.03)
    pairs = (
        pair("worst", "best", (1, 9, OPEN), terms=three, effect=still_open, further=2),
        pair("worst", "next", (1, 9, OPEN), terms=three, effect=still_open, further=3),
        pair("best", "next", (1, 9, OPEN), terms=three, effect=still_open, further=31),
    )
    table = (standing("best"), standing("next"), standing("worst"))
    (step, *_) = next_steps(comparison(*pairs, standings=table, possible_best=("worst", "best", "next")))
    wanted = "best or next? About 31 more trials of each would probably decide"
    assert step.text.startswith(wanted)


def test_strips_that_are_all_alike_are_left_out(capsys):
    lines = _printed(capsys, comparison(pair("a", "b", (1, 9, OPEN), terms=terms())))
    assert not any("may be best" in line for line in lines)


def test_next_steps_look_at_failures_that_change_a_verdict_first():
    one = pair("a", "b", (1, 9, "a"), terms=terms(), n_failed=(0, 3), survives=False)
    (step, *_) = next_steps(comparison(one))
    assert (step.text, step.command) == ("Look at the failed trials of b", "lb.compare(trials, failed='drop')")
    assert step.why == "dropped, they would change the verdict"


def test_failures_of_a_third_family_that_change_a_verdict_are_named():
    asked = terms(n_pairs=3)
    pairs = (
        pair("a", "b", (1, 5, "a"), terms=asked, survives=False),
        pair("a", "c", (1, 5, "a"), terms=asked, survives=True, n_failed=(0, 4)),
        pair("b", "c", (1, 5, "undecided"), terms=asked, survives=True, n_failed=(0, 4)),
    )
    (step, *_) = next_steps(comparison(*pairs))
    assert step.text == "Look at the failed trials of c"
    assert step.why == "dropped, they would change 1 verdict"


def test_an_adaptive_search_has_one_thing_to_do():
    one = pair("a", "b", (1, 9, "not comparable", "adaptive"), terms=terms())
    (step,) = next_steps(comparison(one))
    assert step.text.startswith("Repeat each search with other seeds")


def test_a_long_command_is_folded_so_that_a_shell_takes_it():
    command = shlex.join(["levelbest", "plan", "my runs.csv", "--family", "a --b", "--selection", "s" * 20, "--n", "5"])
    lines = _folded(command, 40)
    assert len(lines) > 1
    assert max(map(len, lines)) <= 44
    joined = subprocess.run(
        ["sh", "-c", "printf '%s|' " + "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert joined.stdout.split("|")[:-1] == shlex.split(command)
